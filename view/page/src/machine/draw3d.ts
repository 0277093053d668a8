// SPDX-License-Identifier: BSD-3-Clause
// The same scene with three.js. This file is a chunk of its own that is fetched when 3-D is opened,
// so that nobody else loads the library. Cores, nodes and pieces of tubes are instances of one shape
// each: a frame is then a handful of draw calls, also for 100,000 cores.
import {
  AmbientLight,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  Object3D,
  PerspectiveCamera,
  Quaternion,
  Scene as ThreeScene,
  TorusGeometry,
  Vector3,
  WebGLRenderer,
} from 'three';
import { CameraState, eyeOf, FIELD_OF_VIEW, Vec } from './camera';
import { coreColour, markColour, mixed, nodeColour } from './draw2d';
import { thickness } from './flows';
import { MOST_TUBES, Scene } from './scene';
import { Bow, pointOn } from './tubes';

const PIECES = 8; // of a tube
const MOST_ARCS = 400;
const UP = new Vector3(0, 1, 0);

// Why 3-D cannot be shown, or "" if it can.
export function missingWebGL(): string {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return 'This browser has no WebGL here, so there is no 3-D; the 2-D picture shows the same machine.';
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return '';
}

export class Renderer3d {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly camera = new PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI, 1, 0.5, 1e7);
  private cores?: InstancedMesh;
  private nodes?: InstancedMesh;
  private lines?: LineSegments;
  private selected?: LineSegments;
  private readonly pieces: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly rings: InstancedMesh;
  private built?: Scene['layout'];
  private colours = '';

  // Throws if the context cannot be made.
  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.scene.add(new AmbientLight(0xffffff, 1.6));
    const light = new DirectionalLight(0xffffff, 1.6);
    light.position.set(0.5, 1, 0.8);
    this.scene.add(light);
    const plain = () => new MeshBasicMaterial({ transparent: true, opacity: 0.85 });
    const most = (MOST_TUBES + MOST_ARCS) * PIECES;
    this.pieces = new InstancedMesh(new CylinderGeometry(1, 1, 1, 6, 1, true), plain(), most);
    this.heads = new InstancedMesh(new ConeGeometry(1, 2, 8), plain(), MOST_TUBES + MOST_ARCS);
    this.rings = new InstancedMesh(new TorusGeometry(1, 0.06, 6, 32), plain(), MOST_ARCS);
    for (const mesh of [this.pieces, this.heads, this.rings]) {
      mesh.frustumCulled = false; // its bounds change with each frame
      mesh.count = 0;
      this.scene.add(mesh);
    }
  }

  resize(width: number, height: number, ratio: number) {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  draw(scene: Scene, camera: CameraState, now_ms: number) {
    const key = `${scene.palette.background}${scene.palette.line}`;
    if (this.built !== scene.layout || this.colours !== key) this.build(scene);
    this.colours = key;
    this.paint(scene);
    this.tubes(scene);
    this.marks(scene, now_ms);
    this.select(scene);
    this.scene.background = new Color(scene.palette.background);
    this.camera.position.set(...eyeOf(camera));
    this.camera.near = Math.max(0.1, camera.distance / 1000);
    this.camera.far = camera.distance * 100 + 1e4;
    this.camera.updateProjectionMatrix();
    this.camera.lookAt(...camera.target);
    this.renderer.render(this.scene, this.camera);
  }

  dispose() {
    for (const mesh of [this.cores, this.nodes, this.lines, this.selected, this.pieces, this.heads, this.rings])
      this.remove(mesh);
    this.renderer.dispose();
  }

  private remove(mesh?: InstancedMesh | LineSegments) {
    if (!mesh) return;
    this.scene.remove(mesh);
    mesh.geometry.dispose();
    (Array.isArray(mesh.material) ? mesh.material : [mesh.material]).forEach((material) => material.dispose());
  }

  private build(scene: Scene) {
    for (const mesh of [this.cores, this.nodes, this.lines]) this.remove(mesh);
    const { layout } = scene;
    this.cores = boxes(layout.core, new MeshLambertMaterial());
    this.nodes = boxes(layout.node, new MeshLambertMaterial({ transparent: true, opacity: 0.75, depthWrite: false }));
    const edges: number[] = [];
    for (const list of [layout.cabinet, layout.rack, layout.blade]) for (let at = 0; at < list.length / 6; ++at) addEdges(edges, list, at);
    this.nodes.renderOrder = -1; // else they would veil the tubes before them
    this.lines = segments(edges, scene.palette.line);
    this.scene.add(this.cores, this.nodes, this.lines);
    this.built = layout;
  }

  private paint(scene: Scene) {
    const colour = new Color();
    const { cores, nodes } = this;
    if (!cores || !nodes) return;
    for (let core = 0; core < cores.count; ++core) cores.setColorAt(core, colour.set(coreColour(scene, core)));
    const { detailed } = scene.visible;
    for (let node = 0; node < nodes.count; ++node)
      nodes.setColorAt(node, colour.set(!detailed.has(node) ? nodeColour(scene, node) : scene.palette.node));
    for (const mesh of [cores, nodes]) if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  private tubes(scene: Scene) {
    const put = new Pieces(this.pieces, this.heads);
    const { palette } = scene;
    for (const tube of scene.tubes) {
      const colour = palette.family[tube.flow.family];
      put.bow(tube.bow, thickness(tube.flow.messages), tube.dim ? mixed(colour, palette.background, 0.8) : colour);
    }
    for (const arc of scene.arcs.slice(0, MOST_ARCS)) put.bow(arc.bow, 0.05, markColour(palette, arc.mark.reason));
    put.finish();
  }

  private marks(scene: Scene, now_ms: number) {
    const colour = new Color();
    const halos = scene.halos.slice(0, MOST_ARCS);
    const grow = 1 + 0.15 * (0.5 + 0.5 * Math.sin(now_ms / 300));
    const object = new Object3D();
    halos.forEach((halo, at) => {
      object.position.set(...halo.at);
      object.scale.setScalar(halo.radius * grow);
      // Towards the camera, as in 2-D.
      object.quaternion.copy(this.camera.quaternion);
      object.updateMatrix();
      this.rings.setMatrixAt(at, object.matrix);
      this.rings.setColorAt(at, colour.set(markColour(scene.palette, halo.mark.reason)));
    });
    this.rings.count = halos.length;
    this.rings.instanceMatrix.needsUpdate = true;
    if (this.rings.instanceColor) this.rings.instanceColor.needsUpdate = true;
  }

  private select(scene: Scene) {
    this.remove(this.selected);
    this.selected = undefined;
    const core = scene.machine.coreOfRank[scene.selectedRank] ?? -1;
    if (core < 0) return;
    const edges: number[] = [];
    addEdges(edges, scene.layout.core, core, 1.25);
    this.selected = segments(edges, scene.palette.selected);
    this.scene.add(this.selected);
  }
}

function boxes(list: Float32Array, material: MeshLambertMaterial): InstancedMesh {
  const count = list.length / 6;
  const mesh = new InstancedMesh(new BoxGeometry(1, 1, 1), material, count);
  const matrix = new Matrix4();
  for (let at = 0; at < count; ++at) {
    const [x, y, z, w, h, d] = list.subarray(at * 6, at * 6 + 6);
    mesh.setMatrixAt(at, matrix.makeScale(w, h, d).setPosition(x, y, z));
  }
  mesh.frustumCulled = false;
  return mesh;
}

function addEdges(into: number[], list: Float32Array, at: number, grow = 1) {
  const [x, y, z, w, h, d] = list.subarray(at * 6, at * 6 + 6);
  if (w === 0) return;
  const point = (corner: number): Vec => [
    x + (corner & 1 ? 0.5 : -0.5) * w * grow,
    y + (corner & 2 ? 0.5 : -0.5) * h * grow,
    z + (corner & 4 ? 0.5 : -0.5) * d * grow,
  ];
  for (let from = 0; from < 8; ++from)
    for (const axis of [1, 2, 4]) if (!(from & axis)) into.push(...point(from), ...point(from | axis));
}

function segments(points: number[], colour: string): LineSegments {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
  const lines = new LineSegments(geometry, new LineBasicMaterial({ color: new Color(colour) }));
  lines.frustumCulled = false;
  return lines;
}

// Writes bows into the instances of cylinders and cones.
class Pieces {
  private piece = 0;
  private head = 0;
  private readonly from = new Vector3();
  private readonly to = new Vector3();
  private readonly along = new Vector3();
  private readonly turn = new Quaternion();
  private readonly size = new Vector3();
  private readonly matrix = new Matrix4();
  private readonly colour = new Color();

  constructor(
    private readonly cylinders: InstancedMesh,
    private readonly cones: InstancedMesh,
  ) {}

  bow(bow: Bow, width: number, colour: string) {
    this.colour.set(colour);
    this.from.set(...pointOn(bow, 0));
    for (let at = 1; at <= PIECES; ++at) {
      this.to.set(...pointOn(bow, at / PIECES));
      this.along.subVectors(this.to, this.from);
      const length = this.along.length();
      this.turn.setFromUnitVectors(UP, this.along.divideScalar(length || 1));
      this.from.addScaledVector(this.along, length / 2);
      this.matrix.compose(this.from, this.turn, this.size.set(width, length, width));
      this.cylinders.setMatrixAt(this.piece, this.matrix);
      this.cylinders.setColorAt(this.piece++, this.colour);
      this.from.copy(this.to);
    }
    const tip = Math.max(width * 2.2, 0.16);
    this.matrix.compose(this.from.addScaledVector(this.along, -tip), this.turn, this.size.setScalar(tip));
    this.cones.setMatrixAt(this.head, this.matrix);
    this.cones.setColorAt(this.head++, this.colour);
  }

  finish() {
    this.cylinders.count = this.piece;
    this.cones.count = this.head;
    for (const mesh of [this.cylinders, this.cones]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}
