// SPDX-License-Identifier: BSD-3-Clause
// Draws a network coloured by load. The two directions of a cable are two lines, each on the right of
// its way, because they carry different loads. Links without a number are thin and grey; the hottest
// come last, so that nothing hides them, and are numbered.
import type { Pen } from '../shell/picture';
import { font, textScale } from '../pure/font';
import { NetworkAnswer } from './answers';
import { Places } from './layout';

export interface NetworkPalette {
  background: string;
  text: string;
  idle: string;
  host: string;
  node: string;
  selected: string;
  scale: (part: number) => string; // of the load, 0 to 1
}
export interface NetworkScene {
  answer: NetworkAnswer;
  places: Places;
  load: Float64Array; // by link; NaN: no number
  most: number; // the load that has the strongest colour
  hottest: number[];
  selected: number; // link; -1
  marked: Set<number>; // nodes of the chosen ranks
  lit: Set<number> | null; // links that are not dimmed; null: all
}
export interface View {
  width: number;
  height: number;
  zoom: number;
  x: number; // of the picture's middle, in the network's places
  y: number;
}

const MARGIN = 34;
const MOST_LINKS = 30_000; // drawn in a frame, the most loaded first

export function toPixels(view: View, x: number, y: number): [number, number] {
  const side = Math.min(view.width, view.height) - 2 * MARGIN;
  const wide = Math.min(view.width - 2 * MARGIN, side * 1.7);
  return [view.width / 2 + (x - view.x) * wide * view.zoom, view.height / 2 + (y - view.y) * side * view.zoom];
}
export function fromPixels(view: View, px: number, py: number): [number, number] {
  const side = Math.min(view.width, view.height) - 2 * MARGIN;
  const wide = Math.min(view.width - 2 * MARGIN, side * 1.7);
  return [view.x + (px - view.width / 2) / wide / view.zoom, view.y + (py - view.height / 2) / side / view.zoom];
}

// The two ends and the middle of a link's line, in pixels.
export function lineOf(scene: NetworkScene, view: View, link: number): number[] {
  const { answer, places } = scene;
  const source = answer.links.source[link];
  const target = answer.links.target[link];
  const [ax, ay] = toPixels(view, places.x[source], places.y[source]);
  const [bx, by] = toPixels(view, places.x[target], places.y[target]);
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const side = 1.8;
  const ox = (-(by - ay) / length) * side;
  const oy = ((bx - ax) / length) * side;
  const bend = places.bend[link] * length;
  return [ax + ox, ay + oy, (ax + bx) / 2 + ox + (ox / side) * bend, (ay + by) / 2 + oy + (oy / side) * bend, bx + ox, by + oy];
}

export function drawNetwork(context: Pen, scene: NetworkScene, view: View, palette: NetworkPalette) {
  const { answer } = scene;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, view.width, view.height);
  const order = [...answer.links.source.keys()].sort((a, b) => (scene.load[a] || 0) - (scene.load[b] || 0));
  for (const link of order.slice(-MOST_LINKS)) drawLink(context, scene, view, palette, link);
  drawNodes(context, scene, view, palette);
  // Nearer to where the link begins, so that those of a cable's two directions do not hide each other.
  scene.hottest.forEach((link, at) => badge(context, palette, ...pointAt(lineOf(scene, view, link), 0.36), String(at + 1)));
}

function drawLink(context: Pen, scene: NetworkScene, view: View, palette: NetworkPalette, link: number) {
  const load = scene.load[link];
  const line = lineOf(scene, view, link);
  const used = load > 0;
  const part = used && scene.most > 0 ? Math.min(1, load / scene.most) : 0;
  const paths = link === scene.selected ? [{ colour: palette.selected, width: 7 }] : [];
  paths.push({ colour: used ? palette.scale(part) : palette.idle, width: used ? 1 + 3 * part : 0.6 });
  context.globalAlpha = !scene.lit || scene.lit.has(link) ? 1 : 0.15;
  for (const { colour, width } of paths) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(line[0], line[1]);
    context.bezierCurveTo(...cubic(line));
    context.stroke();
  }
  context.globalAlpha = 1;
}

// A point of the curve, `part` of the way along it.
function pointAt(line: number[], part: number): [number, number] {
  const rest = 1 - part;
  const [a, b, c] = [rest * rest, 2 * rest * part, part * part];
  return [a * line[0] + b * line[2] + c * line[4], a * line[1] + b * line[3] + c * line[5]];
}

// The same curve with two control points: pens of pictures know only that.
function cubic([ax, ay, mx, my, bx, by]: number[]): [number, number, number, number, number, number] {
  return [ax + (2 / 3) * (mx - ax), ay + (2 / 3) * (my - ay), bx + (2 / 3) * (mx - bx), by + (2 / 3) * (my - by), bx, by];
}

function drawNodes(context: Pen, scene: NetworkScene, view: View, palette: NetworkPalette) {
  const { answer, places } = scene;
  const count = answer.nodes.name.length;
  const size = Math.max(1.2, Math.min(7, (view.zoom * Math.min(view.width, view.height)) / 14 / Math.sqrt(count)));
  for (let node = 0; node < count; ++node) {
    const [x, y] = toPixels(view, places.x[node], places.y[node]);
    if (x < -9 || y < -9 || x > view.width + 9 || y > view.height + 9) continue;
    const host = answer.nodes.host[node] === 1;
    context.fillStyle = scene.marked.has(node) ? palette.selected : host ? palette.host : palette.node;
    context.beginPath();
    if (host) context.arc(x, y, size * 0.75, 0, 2 * Math.PI);
    else context.rect(x - size, y - size, 2 * size, 2 * size);
    context.fill();
  }
  if (count > 120 / Math.max(0.2, 1 / view.zoom)) return;
  drawNames(context, scene, view, palette, size);
}

// Names of switches above them, of hosts below, on a patch of the background; those that find no room are left out.
function drawNames(context: Pen, scene: NetworkScene, view: View, palette: NetworkPalette, size: number) {
  const { answer, places } = scene;
  const tall = 13 * textScale();
  const taken: number[][] = [];
  context.font = font(11);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const order = [...answer.nodes.name.keys()].sort((a, b) => answer.nodes.host[a] - answer.nodes.host[b] || a - b);
  for (const node of order) {
    const [x, at] = toPixels(view, places.x[node], places.y[node]);
    if (x < 0 || at < 0 || x > view.width || at > view.height) continue;
    const text = answer.nodes.name[node];
    const half = context.measureText(text).width / 2 + 2;
    const y = answer.nodes.host[node] === 1 ? at + size + tall / 2 + 1 : at - size - tall / 2 - 1;
    if (taken.some(([tx, ty, thalf]) => Math.abs(tx - x) < thalf + half && Math.abs(ty - y) < tall)) continue;
    taken.push([x, y, half]);
    context.fillStyle = palette.background;
    context.globalAlpha = 0.8;
    context.fillRect(x - half, y - tall / 2, 2 * half, tall);
    context.globalAlpha = 1;
    context.fillStyle = palette.text;
    context.fillText(text, x, y);
  }
  context.textBaseline = 'alphabetic';
}

function badge(context: Pen, palette: NetworkPalette, x: number, y: number, text: string) {
  context.font = font(11, 700);
  context.textAlign = 'center';
  context.fillStyle = palette.background;
  context.strokeStyle = palette.text;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, 8 * textScale(), 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  context.fillStyle = palette.text;
  context.fillText(text, x, y + 4);
}

// The link whose line is nearest to a point, within 8 pixels; of several, the most loaded. -1: none.
export function linkAt(scene: NetworkScene, view: View, px: number, py: number): number {
  let found = -1;
  let best = 8;
  for (let link = 0; link < scene.answer.links.source.length; ++link) {
    const line = lineOf(scene, view, link);
    const distance = distanceTo(line, px, py);
    const closer = distance < best - 0.5;
    const hotter = distance < best + 0.5 && found >= 0 && (scene.load[link] || 0) > (scene.load[found] || 0);
    if (closer || hotter) {
      best = Math.min(best, distance);
      found = link;
    }
  }
  return found;
}

function distanceTo(line: number[], px: number, py: number): number {
  let nearest = Infinity;
  let [x, y] = [line[0], line[1]];
  const steps = 8;
  for (let step = 1; step <= steps; ++step) {
    const part = step / steps;
    const rest = 1 - part;
    const nx = rest * rest * line[0] + 2 * rest * part * line[2] + part * part * line[4];
    const ny = rest * rest * line[1] + 2 * rest * part * line[3] + part * part * line[5];
    const length = (nx - x) ** 2 + (ny - y) ** 2;
    const along = length > 0 ? Math.max(0, Math.min(1, ((px - x) * (nx - x) + (py - y) * (ny - y)) / length)) : 0;
    nearest = Math.min(nearest, Math.hypot(px - x - along * (nx - x), py - y - along * (ny - y)));
    [x, y] = [nx, ny];
  }
  return nearest;
}
