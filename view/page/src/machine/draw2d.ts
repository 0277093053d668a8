// SPDX-License-Identifier: BSD-3-Clause
// The machine on Canvas 2-D: a complete renderer, for the many desktops without WebGL. Things are
// drawn from the farthest to the nearest; cores of one colour go into one path, because setting a
// colour costs more than a rectangle.
import { font } from '../pure/font';
import type { Pen } from '../shell/picture';
import { Projection, Projected, Vec } from './camera';
import { Scene, Hit, Palette, Tube, Arc, Halo } from './scene';
import { Bow, pointOn } from './tubes';
import { thickness } from './flows';

const SEGMENTS = 14;
const corner: Projected = { x: 0, y: 0, depth: 0, scale: 0 };

// "#rrggbb" between two others; `part` in 16 steps, so that few colours occur.
export function mixed(from: string, to: string, part: number): string {
  const step = Math.round(Math.max(0, Math.min(1, part)) * 16) / 16;
  const channel = (at: number) => {
    const a = parseInt(from.slice(at, at + 2), 16);
    const b = parseInt(to.slice(at, at + 2), 16);
    return Math.round(a + (b - a) * step).toString(16).padStart(2, '0');
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

const STEPS = 16;
const tables = new WeakMap<Palette, { bright: string[]; dim: string[] }>();
// The colours of shares, made once: a frame asks for them a hundred thousand times.
function glowing(palette: Palette): { bright: string[]; dim: string[] } {
  let found = tables.get(palette);
  if (!found) {
    const bright = Array.from({ length: STEPS + 1 }, (_, step) => mixed(palette.core, palette.glow, step / STEPS));
    tables.set(palette, (found = { bright, dim: bright.map((colour) => mixed(colour, palette.background, 0.75)) }));
  }
  return found;
}

export function coreColour(scene: Scene, core: number): string {
  const { palette } = scene;
  const rank = scene.machine.core.rank[core];
  if (rank < 0) return palette.idle;
  const table = glowing(palette);
  const step = Math.round(scene.activity.share[rank] * STEPS);
  return (scene.bright && !scene.bright.has(rank) ? table.dim : table.bright)[step];
}

const means = new WeakMap<Scene['activity'], Float32Array>();
// The mean of a node's ranks. -1: it has none.
export function meanShare(scene: Scene, node: number): number {
  let kept = means.get(scene.activity);
  if (!kept) {
    kept = Float32Array.from(scene.machine.node.name, (_, at) => mean(scene, at));
    means.set(scene.activity, kept);
  }
  return kept[node];
}
function mean(scene: Scene, node: number): number {
  const { firstCore } = scene.machine.node;
  let sum = 0;
  let ranks = 0;
  for (let core = firstCore[node]; core < firstCore[node + 1]; ++core) {
    const rank = scene.machine.core.rank[core];
    if (rank < 0) continue;
    sum += scene.activity.share[rank];
    ++ranks;
  }
  return ranks > 0 ? sum / ranks : -1;
}
export function nodeColour(scene: Scene, node: number): string {
  const share = meanShare(scene, node);
  if (share < 0) return scene.palette.idle;
  const table = glowing(scene.palette);
  const step = Math.round(share * STEPS);
  if (!scene.bright) return table.bright[step];
  const { firstCore } = scene.machine.node;
  for (let core = firstCore[node]; core < firstCore[node + 1]; ++core)
    if (scene.bright.has(scene.machine.core.rank[core])) return table.bright[step];
  return table.dim[step];
}

class Painter {
  constructor(
    readonly context: Pen,
    readonly projection: Projection,
    readonly palette: Palette,
    readonly quality = 1,
  ) {}

  // Whether slanted parts are drawn as upright rectangles.
  get coarse() {
    return this.quality <= 0.5;
  }

  // The twelve edges of a box, into the open path. Not at all if a corner is behind the eye.
  edges(boxes: Float32Array, at: number) {
    const base = at * 6;
    if (boxes[base + 3] === 0) return;
    const xs: number[] = [];
    const ys: number[] = [];
    for (let number = 0; number < 8; ++number) {
      const half = (axis: number) => (number & (1 << axis) ? 0.5 : -0.5) * boxes[base + 3 + axis];
      this.projection.point(boxes[base] + half(0), boxes[base + 1] + half(1), boxes[base + 2] + half(2), corner);
      if (corner.depth <= 0.1) return;
      xs.push(corner.x);
      ys.push(corner.y);
    }
    for (let from = 0; from < 8; ++from) {
      for (let axis = 0; axis < 3; ++axis) {
        const to = from | (1 << axis);
        if (to === from) continue;
        this.context.moveTo(xs[from], ys[from]);
        this.context.lineTo(xs[to], ys[to]);
      }
    }
  }

  // A small box as a rectangle, which looks the same at that size and costs a tenth. False: it is large.
  speck(boxes: Float32Array, at: number, colour: string): boolean {
    const base = at * 6;
    this.projection.point(boxes[base], boxes[base + 1], boxes[base + 2], corner);
    const width = boxes[base + 3] * corner.scale;
    if (corner.depth <= 0.1 || width > (this.coarse ? 60 : 14)) return corner.depth <= 0.1;
    const steep = Math.abs(Math.sin(this.projection.state.pitch));
    const height = (boxes[base + 4] * (1 - steep) + boxes[base + 5] * steep) * corner.scale;
    this.context.fillStyle = colour;
    this.context.fillRect(corner.x - width / 2, corner.y - height / 2, Math.max(1, width), Math.max(1, height));
    return true;
  }

  // The outline of a box as seen (convex hull of its corners), into the open path.
  outline(boxes: Float32Array, at: number): boolean {
    const base = at * 6;
    const points: [number, number][] = [];
    for (let number = 0; number < 8; ++number) {
      const half = (axis: number) => (number & (1 << axis) ? 0.5 : -0.5) * boxes[base + 3 + axis];
      this.projection.point(boxes[base] + half(0), boxes[base + 1] + half(1), boxes[base + 2] + half(2), corner);
      if (corner.depth <= 0.1) return false;
      points.push([corner.x, corner.y]);
    }
    const hull = hullOf(points);
    hull.forEach(([x, y], index) => (index === 0 ? this.context.moveTo(x, y) : this.context.lineTo(x, y)));
    this.context.closePath();
    return true;
  }

  bow(bow: Bow, width: number, colour: string, alpha: number, arrow: boolean) {
    const point: Vec = [0, 0, 0];
    const { context } = this;
    let scale = 0;
    context.beginPath();
    let x = 0;
    let y = 0;
    let before: [number, number] = [0, 0];
    let end = -1; // the step at whose point the open path ends
    const segments = this.coarse ? SEGMENTS / 2 : SEGMENTS;
    for (let step = 0; step <= segments; ++step) {
      pointOn(bow, step / segments, point);
      this.projection.point(point[0], point[1], point[2], corner);
      if (corner.depth <= 0.1) return;
      before = [x, y];
      [x, y] = [corner.x, corner.y];
      scale = Math.max(scale, corner.scale);
      if (step === 0) continue;
      const part = clipped(before[0], before[1], x, y, this.projection.width, this.projection.height);
      if (!part) continue;
      if (end !== step - 1 || part[0] !== before[0] || part[1] !== before[1]) context.moveTo(part[0], part[1]);
      context.lineTo(part[2], part[3]);
      if (part[2] === x && part[3] === y) end = step;
    }
    const pixels = Math.max(0.8, Math.min(14, 2 * width * scale));
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = pixels;
    context.stroke();
    if (arrow && pixels > 1) {
      const angle = Math.atan2(y - before[1], x - before[0]);
      const size = pixels * 1.4 + 4;
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
      context.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45));
      context.fill();
    }
    context.globalAlpha = 1;
  }
}

const MARGIN = 40; // pixels round the picture
// The part of a line that may be seen; null: none. Near to the eye, lines are millions of pixels long, and a canvas
// takes seconds to put that many dashes where nobody sees them. Liang and Barsky, ACM Transactions on Graphics 3(1), 1984.
export function clipped(x0: number, y0: number, x1: number, y1: number, width: number, height: number): [number, number, number, number] | null {
  let [first, last] = [0, 1];
  const [dx, dy] = [x1 - x0, y1 - y0];
  for (const [step, room] of [[-dx, x0 + MARGIN], [dx, width + MARGIN - x0], [-dy, y0 + MARGIN], [dy, height + MARGIN - y0]] as const) {
    if (step === 0) {
      if (room < 0) return null;
    } else if (step < 0) first = Math.max(first, room / step);
    else last = Math.min(last, room / step);
  }
  if (first > last) return null;
  return [first > 0 ? x0 + first * dx : x0, first > 0 ? y0 + first * dy : y0, last < 1 ? x0 + last * dx : x1, last < 1 ? y0 + last * dy : y1];
}

// Andrew's monotone chain.
export function hullOf(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const cross = (o: [number, number], a: [number, number], b: [number, number]) =>
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list: [number, number][]) => {
    const chain: [number, number][] = [];
    for (const point of list) {
      while (chain.length > 1 && cross(chain[chain.length - 2], chain[chain.length - 1], point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

// `now_ms` moves the pulse of the halos; the same moment gives the same picture. Filling slanted shapes and drawing
// curves is what costs a canvas without a GPU its time, so a picture that moves has fewer of them: `quality`, 1 or less.
export function draw2d(context: Pen, scene: Scene, projection: Projection, now_ms: number, quality = 1) {
  const { palette, visible } = scene;
  const painter = new Painter(context, projection, palette, quality);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, projection.width, projection.height);
  drawFrames(painter, scene);
  if (visible.level === 'cabinet') drawCabinets(painter, scene);
  else drawNodes(painter, scene);
  for (const tube of scene.tubes.slice(0, Math.max(40, scene.tubes.length * quality))) drawTube(painter, tube);
  const pulse = 0.5 + 0.5 * Math.sin(now_ms / 300);
  for (const arc of scene.arcs) drawArc(painter, arc);
  for (const halo of scene.halos) drawHalo(painter, halo, pulse);
  if (scene.selectedRank >= 0) drawSelected(painter, scene);
  if (quality > 0.5) drawLabels(painter, scene);
}

function drawFrames(painter: Painter, scene: Scene) {
  const { context, palette } = painter;
  const { layout, machine, visible } = scene;
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const cabinet of visible.cabinets) painter.edges(layout.cabinet, cabinet);
  if (visible.level !== 'cabinet') {
    const shown = new Set(visible.cabinets);
    machine.rack.parent.forEach((cabinet, rack) => shown.has(cabinet) && painter.edges(layout.rack, rack));
    if (!painter.coarse) machine.blade.parent.forEach((rack, blade) => shown.has(machine.rack.parent[rack]) && painter.edges(layout.blade, blade));
  }
  context.stroke();
}

function drawCabinets(painter: Painter, scene: Scene) {
  const { context } = painter;
  const order = [...scene.visible.cabinets];
  const share = new Float64Array(scene.machine.cabinet.name.length);
  const nodes = new Int32Array(scene.machine.cabinet.name.length);
  scene.machine.node.rack.forEach((rack, node) => {
    const mean = meanShare(scene, node);
    if (mean < 0) return;
    const cabinet = scene.machine.rack.parent[rack];
    share[cabinet] += mean;
    ++nodes[cabinet];
  });
  for (const cabinet of order) {
    context.beginPath();
    if (!painter.outline(scene.layout.cabinet, cabinet)) continue;
    context.fillStyle = nodes[cabinet] ? mixed(painter.palette.core, painter.palette.glow, share[cabinet] / nodes[cabinet]) : painter.palette.idle;
    context.fill();
  }
}

function drawNodes(painter: Painter, scene: Scene) {
  const { context, projection, palette } = painter;
  const { layout, machine, visible } = scene;
  const far = visible.nodes.map((node) => {
    projection.point(layout.node[node * 6], layout.node[node * 6 + 1], layout.node[node * 6 + 2], corner);
    return { node, depth: corner.depth };
  });
  far.sort((a, b) => b.depth - a.depth);
  for (const { node } of far) {
    const detailed = visible.detailed.has(node);
    if (!detailed && painter.speck(layout.node, node, nodeColour(scene, node))) continue;
    context.beginPath();
    if (!painter.outline(layout.node, node)) continue;
    context.fillStyle = detailed ? palette.node : nodeColour(scene, node);
    context.fill();
    if (!detailed) continue;
    context.strokeStyle = palette.line;
    context.lineWidth = 0.7;
    context.stroke();
    for (let core = machine.node.firstCore[node]; core < machine.node.firstCore[node + 1]; ++core) {
      projection.point(layout.core[core * 6], layout.core[core * 6 + 1], layout.core[core * 6 + 2], corner);
      if (corner.depth <= 0.1) continue;
      context.fillStyle = coreColour(scene, core);
      if (corner.scale > 9 && !painter.coarse) {
        context.beginPath();
        if (painter.outline(layout.core, core)) context.fill();
      } else {
        const size = Math.max(1, corner.scale);
        context.fillRect(corner.x - size / 2, corner.y - size / 2, size, size);
      }
    }
  }
}

function drawTube(painter: Painter, tube: Tube) {
  painter.bow(tube.bow, thickness(tube.flow.messages), painter.palette.family[tube.flow.family], tube.dim ? 0.12 : 0.75, true);
}

export function markColour(palette: Palette, reason: string): string {
  if (reason === 'critical' || reason === 'warning' || reason === 'info') return palette.severity[reason];
  return palette.severity.other;
}
// Colour alone would not tell eight reasons apart: the line's pattern does.
export const DASHES: Record<string, number[]> = {
  critical: [], warning: [10, 4], info: [3, 4], 'ping-pong': [12, 3, 2, 3], root: [6, 6], pattern: [2, 5], 'top-link': [16, 6], 'top-rank': [1, 3], // prettier-ignore
};

function drawArc(painter: Painter, arc: Arc) {
  painter.context.setLineDash(DASHES[arc.mark.reason]);
  painter.bow(arc.bow, 0.05, markColour(painter.palette, arc.mark.reason), 0.9, true);
  painter.context.setLineDash([]);
}

function drawHalo(painter: Painter, halo: Halo, pulse: number) {
  const { context, projection, palette } = painter;
  projection.point(halo.at[0], halo.at[1], halo.at[2], corner);
  if (corner.depth <= 0.1) return;
  const radius = Math.max(5, halo.radius * corner.scale) * (1 + 0.15 * pulse);
  if (radius < projection.width) context.setLineDash(DASHES[halo.mark.reason]);
  context.strokeStyle = markColour(palette, halo.mark.reason);
  context.lineWidth = 2;
  context.beginPath();
  context.arc(corner.x, corner.y, radius, 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
}

function drawSelected(painter: Painter, scene: Scene) {
  const { context, palette } = painter;
  const core = scene.machine.coreOfRank[scene.selectedRank] ?? -1;
  if (core < 0) return;
  context.strokeStyle = palette.selected;
  context.lineWidth = 2.5;
  context.beginPath();
  painter.edges(scene.layout.core, core);
  context.stroke();
}

// Dark or light, whichever stands out from "#rrggbb".
export function inkOn(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111111' : '#ffffff';
}

// The names alone, over a picture that has none.
export function drawNames(context: Pen, scene: Scene, projection: Projection) {
  drawLabels(new Painter(context, projection, scene.palette), scene);
}

// Names where there is room for them.
function drawLabels(painter: Painter, scene: Scene) {
  const { context, projection, palette } = painter;
  const { layout, machine, visible } = scene;
  context.fillStyle = palette.text;
  context.font = font(11);
  context.textAlign = 'center';
  const label = (text: string, boxes: Float32Array, at: number) => {
    const base = at * 6;
    projection.point(boxes[base], boxes[base + 1] + boxes[base + 4] / 2, boxes[base + 2] + boxes[base + 5] / 2, corner);
    const room = boxes[base + 3] * corner.scale;
    if (corner.depth <= 0.1 || room < 30) return;
    const letters = Math.floor(room / 6);
    context.fillText(text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text, corner.x, corner.y - 4);
  };
  if (visible.level === 'core' && visible.detailed.size <= 400)
    visible.detailed.forEach((node) => label(machine.node.name[node], layout.node, node));
  else if (layout.name !== 'line') visible.cabinets.forEach((cabinet) => label(machine.cabinet.name[cabinet], layout.cabinet, cabinet));
  if (visible.level !== 'core') return;
  let drawn = 0;
  for (const node of visible.detailed) {
    for (let core = machine.node.firstCore[node]; core < machine.node.firstCore[node + 1] && drawn < 500; ++core) {
      const rank = machine.core.rank[core];
      if (rank < 0) continue;
      projection.point(layout.core[core * 6], layout.core[core * 6 + 1], layout.core[core * 6 + 2], corner);
      if (corner.depth <= 0.1 || corner.scale < 16) continue;
      context.fillStyle = inkOn(coreColour(scene, core));
      context.fillText(String(rank), corner.x, corner.y + 4);
      ++drawn;
    }
  }
}

// What is under the pointer: the nearest part whose picture holds the point.
export function hitAt(scene: Scene, projection: Projection, x: number, y: number): Hit | null {
  const { layout, machine, visible } = scene;
  let found: Hit | null = null;
  let depth = Infinity;
  const offer = (boxes: Float32Array, at: number, hit: () => Hit) => {
    const base = at * 6;
    projection.point(boxes[base], boxes[base + 1], boxes[base + 2], corner);
    if (corner.depth <= 0.1 || corner.depth >= depth) return;
    const reach = (Math.max(boxes[base + 3], boxes[base + 4], boxes[base + 5]) * corner.scale) / 2 + 1;
    if (Math.abs(corner.x - x) > reach || Math.abs(corner.y - y) > reach) return;
    depth = corner.depth;
    found = hit();
  };
  if (visible.level === 'cabinet') {
    for (const cabinet of visible.cabinets) offer(layout.cabinet, cabinet, () => ({ kind: 'cabinet', thing: cabinet, rank: -1 }));
    return found;
  }
  if (visible.level === 'core')
    for (const node of visible.detailed)
      for (let core = machine.node.firstCore[node]; core < machine.node.firstCore[node + 1]; ++core)
        offer(layout.core, core, () => ({ kind: 'core', thing: core, rank: machine.core.rank[core] }));
  if (found) return found;
  for (const node of visible.nodes) offer(layout.node, node, () => ({ kind: 'node', thing: node, rank: -1 }));
  return found;
}
