// SPDX-License-Identifier: BSD-3-Clause
// The picture of the machine: a canvas, the pointer on it, and the loop that draws it. Draws only when
// something changed, so that a page that stands still costs nothing.
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawsWith, Pen } from '../shell/picture';
import { sized, useWidth } from '../shell/sketch';
import { usePalette } from '../shell/theme';
import { hideTip, showTip } from '../shell/tip';
import { meter } from '../timeline/frames';
import { cameraText, moved, turned, zoomed } from './camera';
import { machineColours } from './colours';
import { draw2d, drawNames, hitAt } from './draw2d';
import type { Renderer3d } from './draw3d';
import type { MachineModel } from './model';
import { Scene, tipOf } from './scene';

interface Chunk {
  Renderer3d: typeof Renderer3d;
  missingWebGL: () => string;
}
// A file of its own, so that only those who open 3-D load it.
const loadChunk = (): Promise<Chunk> => import(/* @vite-ignore */ new URL('machine3d.js', document.baseURI).href) as Promise<Chunk>;

interface Properties {
  model: MachineModel;
  three: boolean;
  // Why 3-D cannot be shown.
  refuse: (sentence: string) => void;
  canvasRef: { current: HTMLCanvasElement | null };
  // After each drawing, for what stands beside it.
  drawn: (scene: Scene) => void;
  // The camera stands still at a new place.
  settled: (camera: string) => void;
}

const still = matchMedia('(prefers-reduced-motion: reduce)');

export function Stage({ model, three, refuse, canvasRef, drawn, settled }: Properties) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const names = useRef<HTMLCanvasElement>(null); // WebGL draws no text
  const page = usePalette();
  const [renderer, setRenderer] = useState<Renderer3d | null>(null);
  const height = Math.max(320, Math.min(Math.round(width * 0.56), Math.round(innerHeight * 0.62)));

  useEffect(() => {
    if (!three) return;
    let made: Renderer3d | null = null;
    let gone = false;
    loadChunk()
      .then((chunk) => {
        if (gone || !canvas.current) return;
        const missing = chunk.missingWebGL();
        if (missing) return refuse(missing);
        made = new chunk.Renderer3d(canvas.current);
        setRenderer(made);
      })
      .catch((error: unknown) => !gone && refuse(`3-D cannot be opened here (${String((error as Error).message ?? error)}); the 2-D picture shows the same machine.`));
    return () => {
      gone = true;
      made?.dispose();
      setRenderer(null);
    };
  }, [three]);

  useEffect(() => {
    canvasRef.current = canvas.current;
  });

  useEffect(() => {
    const node = canvas.current;
    if (!node || width === 0) return;
    model.resize(width, height);
    const palette = machineColours(page);
    let frame = 0;
    let lastPulse = 0;
    let camera = cameraText(model.camera);
    let changedAt = 0;
    let drawnCamera = camera;
    let scene: Scene | null = null;
    // While it moves, as much is drawn as there is time for; once it rests, all of it.
    let moving = 1;
    let painted = 0;
    let quality = 1;
    const paint = (now: number, whole: boolean) => {
      const began = performance.now();
      const gap = now - painted;
      if (!whole && gap < 250) moving = gap > 30 ? Math.max(1 / 16, moving / 1.6) : gap < 22 ? Math.min(1, moving * 1.1) : moving;
      painted = now;
      quality = whole || three || gap >= 250 ? 1 : moving;
      scene = model.scene(palette, quality);
      const pulse = still.matches ? 0 : now;
      const current = scene;
      if (renderer) {
        renderer.resize(width, height, window.devicePixelRatio || 1);
        renderer.draw(current, model.camera, pulse);
        if (names.current) {
          const pen = sized(names.current, width, height);
          pen.clearRect(0, 0, width, height);
          drawNames(pen as unknown as Pen, current, model.projection);
          drawsWith(names.current, (other) => drawNames(other, current, model.projection));
        }
      } else if (three && names.current) {
        // The 2-D picture stays until the 3-D one is there.
        draw2d(sized(names.current, width, height) as unknown as Pen, current, model.projection, pulse);
      } else if (!three) {
        const pen = sized(node, width, height) as unknown as Pen;
        draw2d(pen, current, model.projection, pulse, quality);
        drawsWith(node, (other) => draw2d(other, current, model.projection, pulse));
      }
      meter.note(now, performance.now() - began, 0);
      drawn(current);
      node.dataset.camera = cameraText(model.camera);
      node.dataset.quality = quality.toFixed(2);
      node.dataset.frames = String(Number(node.dataset.frames ?? 0) + 1);
    };
    const loop = (now: number) => {
      frame = requestAnimationFrame(loop);
      // Halos pulse, but not at the cost of a processor: 12 times a second.
      const pulses = !still.matches && scene !== null && scene.halos.length > 0 && now - lastPulse > 80;
      if (!model.advance(now) && !pulses) {
        if (quality < 1 && now - painted > 150) paint(now, true);
        const text = cameraText(model.camera);
        if (text !== camera && now - changedAt > 400) settled((camera = text));
        return;
      }
      changedAt = model.flying ? now : changedAt || now;
      if (cameraText(model.camera) !== camera) changedAt = now;
      const moves = cameraText(model.camera) !== drawnCamera || model.clock.playing;
      drawnCamera = cameraText(model.camera);
      lastPulse = now;
      paint(now, !moves);
    };
    model.repaint();
    frame = requestAnimationFrame(loop);
    const kept = keepScene(node, () => scene);
    return () => {
      cancelAnimationFrame(frame);
      kept();
    };
  }, [model, width, height, page, renderer, three]);

  return (
    <div ref={box} class="sketch stage">
      <canvas
        key={three ? 'three' : 'two'}
        ref={canvas}
        tabIndex={0}
        role="img"
        data-renderer={three ? (renderer ? '3d' : 'loading') : '2d'}
        style={{ height: `${height}px`, width: '100%', display: 'block', touchAction: 'none' }}
        aria-label={`The machine: ${model.machine.node.name.length} nodes, ${model.answer.host.length} ranks. Letters w a s d move, q and e zoom, arrows turn.`}
        {...pointer(model, canvas)}
        onKeyDown={(event: KeyboardEvent) => key(model, event)}
      />
      {three && <canvas ref={names} class="names" aria-hidden="true" />}
    </div>
  );
}

const scenes = new WeakMap<HTMLCanvasElement, () => Scene | null>();
function keepScene(node: HTMLCanvasElement, scene: () => Scene | null): () => void {
  scenes.set(node, scene);
  return () => void scenes.delete(node);
}

function pointer(model: MachineModel, canvas: { current: HTMLCanvasElement | null }) {
  const place = (event: PointerEvent | WheelEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const hit = (event: PointerEvent) => {
    const scene = canvas.current && scenes.get(canvas.current)?.();
    return scene ? { scene, found: hitAt(scene, model.projection, ...place(event)) } : null;
  };
  const drag = dragOf(canvas);
  return {
    onPointerDown: (event: PointerEvent) => {
      drag.start = drag.last = [event.clientX, event.clientY];
      drag.pans = event.shiftKey || event.button === 1 || event.button === 2;
      canvas.current!.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      if (drag.last) {
        const [dx, dy] = [event.clientX - drag.last[0], event.clientY - drag.last[1]];
        drag.last = [event.clientX, event.clientY];
        hideTip();
        model.setCamera(drag.pans ? moved(model.camera, dx, dy, model.height) : turned(model.camera, dx, dy));
        return;
      }
      const at = hit(event);
      if (at?.found) showTip(tipOf(at.scene, at.found, (number) => model.functionName(number)).join('\n'), event.clientX, event.clientY);
      else hideTip();
    },
    onPointerUp: (event: PointerEvent) => {
      const start = drag.start;
      drag.start = drag.last = undefined;
      if (!start || Math.hypot(event.clientX - start[0], event.clientY - start[1]) > 4) return;
      const at = hit(event);
      if (!at?.found) return;
      if (at.found.rank >= 0) {
        model.select(at.found.rank);
        model.flyToRanks([at.found.rank], performance.now());
        return;
      }
      // A node or cabinet: all its ranks.
      const ranks = ranksIn(model, at.found.kind, at.found.thing);
      if (ranks.length > 0) model.flyToRanks(ranks, performance.now());
    },
    onPointerLeave: () => hideTip(),
    onContextMenu: (event: Event) => event.preventDefault(),
    onWheel: (event: WheelEvent) => {
      event.preventDefault();
      model.setCamera(zoomed(model.camera, Math.exp(Math.sign(event.deltaY) * Math.min(0.4, Math.abs(event.deltaY) * 0.002))));
    },
  };
}

interface Drag {
  start?: [number, number];
  last?: [number, number];
  pans?: boolean;
}
const drags = new WeakMap<object, Drag>();
// Survives renderings, which make new handlers.
function dragOf(owner: object): Drag {
  let found = drags.get(owner);
  if (!found) drags.set(owner, (found = {}));
  return found;
}

export function ranksIn(model: MachineModel, kind: string, thing: number): number[] {
  const { machine } = model;
  return [...machine.nodeOfRank.keys()].filter((rank) => {
    const node = machine.nodeOfRank[rank];
    if (node < 0) return false;
    return kind === 'cabinet' ? machine.rack.parent[machine.node.rack[node]] === thing : kind === 'node' ? node === thing : machine.coreOfRank[rank] === thing;
  });
}

function key(model: MachineModel, event: KeyboardEvent) {
  const step = 40;
  const moves: Record<string, () => void> = {
    ArrowLeft: () => model.setCamera(turned(model.camera, -step, 0)),
    ArrowRight: () => model.setCamera(turned(model.camera, step, 0)),
    ArrowUp: () => model.setCamera(turned(model.camera, 0, step)),
    ArrowDown: () => model.setCamera(turned(model.camera, 0, -step)),
    ' ': () => {
      model.clock.toggle();
      model.touch();
    },
  };
  const move = event.ctrlKey || event.altKey || event.metaKey ? undefined : moves[event.key];
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  move();
}
