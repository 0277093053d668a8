// SPDX-License-Identifier: BSD-3-Clause
// Where the nodes of a network stand, by its kind: grids at their coordinates, trees in levels,
// dragonflies as groups on a circle, everything else as springs pull it. Places are in a square of
// side 1, y downward.
import { NetworkAnswer } from './answers';

export interface Places {
  x: Float64Array;
  y: Float64Array;
  // Links that a picture bends, because they pass under others: the wrap-around of a torus, rows of
  // a HyperX. By link; 0: straight, else which way and how much.
  bend: Float64Array;
}

const MOST_FOR_SPRINGS = 300; // switches; springs are quadratic in them

// Coordinates of a point of a grid, the last dimension running fastest.
export function coordinates(extent: number[], point: number): number[] {
  const at = new Array<number>(extent.length);
  for (let dimension = extent.length - 1; dimension >= 0; --dimension) {
    at[dimension] = point % extent[dimension];
    point = Math.floor(point / extent[dimension]);
  }
  return at;
}

// Even dimensions go to the right and odd ones down; of several in one direction, the later ones
// repeat the picture of the earlier ones with a gap between.
export function gridPlace(extent: number[], at: number[]): [number, number] {
  const out: [number, number] = [0, 0];
  const pitch: [number, number] = [1, 1];
  at.forEach((value, dimension) => {
    const axis = dimension % 2;
    out[axis] += value * pitch[axis];
    pitch[axis] *= extent[dimension] + 0.8;
  });
  return out;
}

function normalised(x: Float64Array, y: Float64Array) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  x.forEach((value, at) => {
    left = Math.min(left, value);
    right = Math.max(right, value);
    top = Math.min(top, y[at]);
    bottom = Math.max(bottom, y[at]);
  });
  const spanX = right - left || 1;
  const spanY = bottom - top || 1;
  x.forEach((value, at) => {
    x[at] = right > left ? (value - left) / spanX : 0.5;
    y[at] = bottom > top ? (y[at] - top) / spanY : 0.5;
  });
}

interface Shape {
  answer: NetworkAnswer;
  switches: number[];
  hostsOf: Map<number, number[]>; // by switch: the hosts linked to it (each host once)
  neighbours: Map<number, number[]>; // between switches
}

function shapeOf(answer: NetworkAnswer): Shape {
  const switches: number[] = [];
  answer.nodes.host.forEach((host, node) => {
    if (!host) switches.push(node);
  });
  const hostsOf = new Map<number, number[]>();
  const neighbours = new Map<number, number[]>();
  const has = new Set<number>();
  const push = (map: Map<number, number[]>, key: number, value: number) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  answer.links.source.forEach((source, link) => {
    const target = answer.links.target[link];
    const sourceHost = answer.nodes.host[source];
    const targetHost = answer.nodes.host[target];
    if (!sourceHost && !targetHost) push(neighbours, source, target);
    if (sourceHost && !targetHost && !has.has(source)) {
      has.add(source);
      push(hostsOf, target, source);
    }
  });
  return { answer, switches, hostsOf, neighbours };
}

// Hosts round their switch, on the side away from (cx, cy) if it is given.
function placeHosts(shape: Shape, x: Float64Array, y: Float64Array, radius: number, centre?: [number, number]) {
  for (const [at, hosts] of shape.hostsOf) {
    const outward = centre ? Math.atan2(y[at] - centre[1], x[at] - centre[0]) : Math.PI * 0.25;
    const fan = centre ? Math.min(Math.PI, 0.35 * hosts.length) : 2 * Math.PI * (1 - 1 / hosts.length);
    hosts.forEach((host, index) => {
      const angle = outward + (hosts.length > 1 ? fan * (index / (hosts.length - 1) - 0.5) : 0);
      x[host] = x[at] + radius * Math.cos(angle);
      y[host] = y[at] + radius * Math.sin(angle);
    });
  }
}

function grid(shape: Shape, x: Float64Array, y: Float64Array, bend: Float64Array) {
  const { answer } = shape;
  for (const node of shape.switches) {
    const place = gridPlace(answer.extent, coordinates(answer.extent, Math.max(0, answer.nodes.point[node])));
    [x[node], y[node]] = place;
  }
  placeHosts(shape, x, y, 0.28);
  answer.links.source.forEach((source, link) => {
    const target = answer.links.target[link];
    if (answer.nodes.host[source] || answer.nodes.host[target]) return;
    const a = coordinates(answer.extent, answer.nodes.point[source]);
    const b = coordinates(answer.extent, answer.nodes.point[target]);
    const far = a.some((value, dimension) => Math.abs(value - b[dimension]) > 1);
    if (far) bend[link] = 0.22;
  });
}

// Level 0 (hosts) at the bottom; each level spread over the width in the order of the node below.
function levels(shape: Shape, x: Float64Array, y: Float64Array) {
  const { answer } = shape;
  const byLevel = new Map<number, number[]>();
  answer.nodes.level.forEach((level, node) => byLevel.set(level, [...(byLevel.get(level) ?? []), node]));
  const highest = Math.max(0, ...byLevel.keys());
  // Hosts in the order of their switches, so that no cable of a host crosses another.
  const hosts: number[] = [];
  const order = [...(byLevel.get(1) ?? [])];
  const seen = new Set<number>();
  for (const node of order) for (const host of shape.hostsOf.get(node) ?? []) if (!seen.has(host)) { seen.add(host); hosts.push(host); } // prettier-ignore
  for (const host of byLevel.get(0) ?? []) if (!seen.has(host)) hosts.push(host);
  byLevel.set(0, hosts);
  for (const [level, nodes] of byLevel) {
    nodes.forEach((node, at) => {
      x[node] = (at + 0.5) / nodes.length;
      y[node] = highest === 0 ? 0.5 : 1 - level / highest;
    });
  }
}

function groups(shape: Shape, x: Float64Array, y: Float64Array) {
  const members = new Map<number, number[]>();
  for (const node of shape.switches) {
    const group = shape.answer.nodes.group[node];
    members.set(group, [...(members.get(group) ?? []), node]);
  }
  const count = members.size;
  const radius = count > 1 ? Math.min(0.4, (2.2 * Math.PI) / (count * 2)) : 0.5;
  [...members.keys()].sort((a, b) => a - b).forEach((group, at) => {
    const angle = (2 * Math.PI * at) / count - Math.PI / 2;
    const cx = count > 1 ? Math.cos(angle) : 0;
    const cy = count > 1 ? Math.sin(angle) : 0;
    const nodes = members.get(group)!;
    nodes.forEach((node, index) => {
      const turn = angle + (2 * Math.PI * index) / nodes.length;
      x[node] = cx + radius * 0.55 * Math.cos(turn);
      y[node] = cy + radius * 0.55 * Math.sin(turn);
    });
  });
  placeHosts(shape, x, y, radius * 0.25, [0, 0]);
}

function circle(shape: Shape, x: Float64Array, y: Float64Array) {
  shape.switches.forEach((node, at) => {
    const angle = (2 * Math.PI * at) / shape.switches.length - Math.PI / 2;
    x[node] = Math.cos(angle);
    y[node] = Math.sin(angle);
  });
  placeHosts(shape, x, y, 0.14, [0, 0]);
}

// Fruchterman and Reingold (Software: Practice and Experience 21, 1991), from a circle, without any
// random number: the same network gives the same picture.
function springs(shape: Shape, x: Float64Array, y: Float64Array) {
  circle(shape, x, y);
  const nodes = shape.switches;
  if (nodes.length < 3) return;
  const ideal = Math.sqrt(4 / nodes.length);
  const fx = new Float64Array(x.length);
  const fy = new Float64Array(y.length);
  for (let step = 0, steps = 120; step < steps; ++step) {
    fx.fill(0);
    fy.fill(0);
    for (let a = 0; a < nodes.length; ++a) {
      for (let b = a + 1; b < nodes.length; ++b) {
        const [i, j] = [nodes[a], nodes[b]];
        const dx = x[i] - x[j];
        const dy = y[i] - y[j];
        const square = Math.max(dx * dx + dy * dy, 1e-9);
        const force = (ideal * ideal) / square;
        fx[i] += dx * force;
        fy[i] += dy * force;
        fx[j] -= dx * force;
        fy[j] -= dy * force;
      }
    }
    for (const [from, others] of shape.neighbours) {
      for (const to of others) {
        const dx = x[from] - x[to];
        const dy = y[from] - y[to];
        const force = Math.hypot(dx, dy) / ideal / 2; // each cable is here in both directions
        fx[from] -= dx * force;
        fy[from] -= dy * force;
        fx[to] += dx * force;
        fy[to] += dy * force;
      }
    }
    const most = 0.15 * (1 - step / steps);
    for (const node of nodes) {
      const length = Math.hypot(fx[node], fy[node]) || 1;
      x[node] += (fx[node] / length) * Math.min(length, most);
      y[node] += (fy[node] / length) * Math.min(length, most);
    }
  }
  placeHosts(shape, x, y, ideal * 0.35, [0, 0]);
}

export function placesOf(answer: NetworkAnswer): Places {
  const count = answer.nodes.name.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const bend = new Float64Array(answer.links.source.length);
  const shape = shapeOf(answer);
  if (shape.switches.length === 0) {
    answer.nodes.name.forEach((_, at) => {
      x[at] = Math.cos((2 * Math.PI * at) / count);
      y[at] = Math.sin((2 * Math.PI * at) / count);
    });
  } else if (answer.extent.length > 0) grid(shape, x, y, bend);
  else if (answer.kind === 'dragonfly') groups(shape, x, y);
  else if (answer.kind === 'tree') levels(shape, x, y);
  else if (shape.switches.length <= MOST_FOR_SPRINGS) springs(shape, x, y);
  else circle(shape, x, y);
  normalised(x, y);
  // Room for bows round the outside.
  if (bend.some((value) => value !== 0)) {
    x.forEach((value, at) => (x[at] = 0.1 + 0.8 * value));
    y.forEach((value, at) => (y[at] = 0.1 + 0.8 * value));
  }
  return { x, y, bend };
}
