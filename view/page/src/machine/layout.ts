// SPDX-License-Identifier: BSD-3-Clause
// Where each part of the machine stands, in four layouts:
//
//   blueprint  the room as it is: cabinets on the floor (at the map's places, pulled apart until
//              they do not overlap), racks side by side in them, blades above each other
//   topdown    a floor plan: each cabinet's nodes unfolded on the floor, so that none hides another
//   rackfront  every rack of the machine in one row, seen from the front
//   line       every node in one line, its cores in a column above it
//
// Sizes are computed upward (cores, sockets, nodes, ...), places downward. A core is 1 wide.
import { Machine } from './hierarchy';

export type LayoutName = 'blueprint' | 'topdown' | 'rackfront' | 'line';
export const LAYOUTS: { name: LayoutName; label: string; preset: string }[] = [
  { name: 'blueprint', label: 'Blueprint', preset: 'iso' },
  { name: 'topdown', label: 'Top-down', preset: 'top' },
  { name: 'rackfront', label: 'Rack front', preset: 'front' },
  { name: 'line', label: 'Line', preset: 'front' },
];

// Six numbers for each box: centre x, y, z and width, height, depth.
export type Boxes = Float32Array;
export interface Layout {
  name: LayoutName;
  cabinet: Boxes;
  rack: Boxes;
  blade: Boxes;
  node: Boxes;
  socket: Boxes;
  socketNode: Int32Array;
  core: Boxes;
  bounds: { min: [number, number, number]; max: [number, number, number] };
}

const GAP = { core: 0.8, socket: 0.5, node: 0.8, blade: 0.6, rack: 0.8, cabinet: 8 };

export function setBox(boxes: Boxes, at: number, x: number, y: number, z: number, w: number, h: number, d: number) {
  boxes.set([x, y, z, w, h, d], at * 6);
}

// Children of each parent, in order.
function grouped(parent: Int32Array, parents: number): number[][] {
  const groups: number[][] = Array.from({ length: parents }, () => []);
  parent.forEach((of, at) => {
    if (of >= 0) groups[of].push(at);
  });
  return groups;
}

interface NodeShape {
  w: number;
  h: number;
  d: number;
  place: (x: number, y: number, z: number) => void; // the node's centre
}

class Builder {
  readonly layout: Layout;
  private readonly socketStart: Int32Array;
  readonly shapes: NodeShape[] = [];

  constructor(
    readonly machine: Machine,
    readonly name: LayoutName,
  ) {
    const nodes = machine.node.name.length;
    this.socketStart = new Int32Array(nodes + 1);
    for (let node = 0; node < nodes; ++node)
      this.socketStart[node + 1] = this.socketStart[node] + machine.node.sockets[node];
    const sockets = this.socketStart[nodes];
    const socketNode = new Int32Array(sockets);
    for (let node = 0; node < nodes; ++node)
      socketNode.fill(node, this.socketStart[node], this.socketStart[node + 1]);
    this.layout = {
      name,
      cabinet: new Float32Array(machine.cabinet.name.length * 6),
      rack: new Float32Array(machine.rack.name.length * 6),
      blade: new Float32Array(machine.blade.name.length * 6),
      node: new Float32Array(nodes * 6),
      socket: new Float32Array(sockets * 6),
      socketNode,
      core: new Float32Array(machine.core.node.length * 6),
      bounds: { min: [0, 0, 0], max: [0, 0, 0] },
    };
    for (let node = 0; node < nodes; ++node) this.shapes.push(this.shapeOf(node));
  }

  // `up`: cores are laid out in x and y (seen from the front), else in x and z (seen from above).
  private shapeOf(node: number): NodeShape {
    const { machine, layout } = this;
    const first = machine.node.firstCore[node];
    const last = machine.node.firstCore[node + 1];
    const sockets = Math.max(1, machine.node.sockets[node]);
    const counts = new Int32Array(sockets);
    for (let core = first; core < last; ++core) ++counts[machine.core.socket[core]];
    const most = Math.max(1, ...counts);
    const pitch = 1 + GAP.core;
    // In a line, cores stand above each other; otherwise in rows, wider than high.
    const columns = this.name === 'line' ? 1 : Math.ceil(Math.sqrt(most * (this.flat ? 1 : 2)));
    const rows = Math.ceil(most / columns);
    const socketW = columns * pitch + GAP.core;
    const socketH = rows * pitch + GAP.core;
    const w = sockets * (socketW + GAP.socket) + GAP.socket;
    const across = socketH + 2 * GAP.socket;
    const h = this.flat ? 1.6 : across;
    const d = this.flat ? across : 1.6;
    const place = (x: number, y: number, z: number) => {
      setBox(layout.node, node, x, y, z, w, h, d);
      const seen = new Int32Array(sockets);
      const left = (socket: number) =>
        x - w / 2 + GAP.socket + socket * (socketW + GAP.socket) + socketW / 2;
      for (let socket = 0; socket < machine.node.sockets[node]; ++socket) {
        setBox(layout.socket, this.socketStart[node] + socket, left(socket), y, z, socketW,
          this.flat ? 1.3 : socketH, this.flat ? socketH : 1.3); // prettier-ignore
      }
      for (let core = first; core < last; ++core) {
        const socket = machine.core.socket[core];
        const at = seen[socket]++;
        const cx = left(socket) - socketW / 2 + GAP.core + (at % columns) * pitch + 0.5;
        const row = Math.floor(at / columns) * pitch + 0.5 + GAP.core - socketH / 2;
        // In a line the first core is at the bottom; elsewhere rows are read from the top.
        if (this.flat) setBox(layout.core, core, cx, y + 0.6, z + row, 1, 0.6, 1);
        else setBox(layout.core, core, cx, this.name === 'line' ? y + row : y - row, z + 0.6, 1, 1, 0.6);
      }
    };
    return { w, h, d, place };
  }

  get flat() {
    return this.name === 'topdown';
  }
}

interface Block {
  w: number;
  h: number;
  d: number;
  place: (x: number, y: number, z: number) => void; // centre
}

function row(parts: Block[], gap: number, box: (x: number, y: number, z: number, w: number, h: number, d: number) => void, margin = gap): Block {
  const w = parts.reduce((sum, part) => sum + part.w, 0) + gap * Math.max(0, parts.length - 1) + 2 * margin;
  const h = Math.max(0, ...parts.map((part) => part.h)) + 2 * margin;
  const d = Math.max(0, ...parts.map((part) => part.d)) + 2 * margin;
  return {
    w,
    h,
    d,
    place(x, y, z) {
      box(x, y, z, w, h, d);
      let left = x - w / 2 + margin;
      for (const part of parts) {
        part.place(left + part.w / 2, y, z);
        left += part.w + gap;
      }
    },
  };
}

// Above each other, the first at the bottom, as blades are numbered.
function stack(parts: Block[], gap: number, box: Parameters<typeof row>[2]): Block {
  const h = parts.reduce((sum, part) => sum + part.h, 0) + gap * (parts.length + 1);
  const w = Math.max(0, ...parts.map((part) => part.w)) + 2 * gap;
  const d = Math.max(0, ...parts.map((part) => part.d)) + 2 * gap;
  return {
    w,
    h,
    d,
    place(x, y, z) {
      box(x, y, z, w, h, d);
      let bottom = y - h / 2 + gap;
      for (const part of parts) {
        part.place(x, bottom + part.h / 2, z);
        bottom += part.h + gap;
      }
    },
  };
}

// On the floor, row by row, as near to a square as whole rows allow.
function floor(parts: Block[], gap: number, box: Parameters<typeof row>[2]): Block {
  const columns = Math.max(1, Math.ceil(Math.sqrt(parts.length)));
  const cellW = Math.max(0, ...parts.map((part) => part.w)) + gap;
  const cellD = Math.max(0, ...parts.map((part) => part.d)) + gap;
  const rows = Math.ceil(parts.length / columns);
  const w = Math.min(columns, parts.length) * cellW + gap;
  const d = rows * cellD + gap;
  const h = Math.max(0, ...parts.map((part) => part.h)) + gap;
  return {
    w,
    h,
    d,
    place(x, y, z) {
      box(x, y, z, w, h, d);
      parts.forEach((part, at) => {
        const column = at % columns;
        part.place(
          x - w / 2 + gap + column * cellW + (cellW - gap) / 2,
          y,
          z - d / 2 + gap + Math.floor(at / columns) * cellD + (cellD - gap) / 2,
        );
      });
    },
  };
}

// The map's coordinates, stretched until neighbours in the same row or column do not overlap.
export function spread(values: Float64Array, extent: number): Float64Array {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  let nearest = Infinity;
  for (let at = 1; at < distinct.length; ++at) nearest = Math.min(nearest, distinct[at] - distinct[at - 1]);
  const scale = Number.isFinite(nearest) && nearest > 0 ? Math.max(extent / nearest, 1e-9) : 1;
  return values.map((value) => (value - (distinct[0] ?? 0)) * scale);
}

function placeCabinets(machine: Machine, cabinets: Block[], upright: boolean) {
  const w = Math.max(0, ...cabinets.map((cabinet) => cabinet.w)) + GAP.cabinet;
  const d = Math.max(0, ...cabinets.map((cabinet) => cabinet.d)) + GAP.cabinet;
  const columns = Math.max(1, Math.ceil(Math.sqrt((cabinets.length * d) / w)));
  let xs: Float64Array = Float64Array.from(cabinets, (_, at) => (at % columns) * w);
  let zs: Float64Array = Float64Array.from(cabinets, (_, at) => Math.floor(at / columns) * d);
  const { x, z, placed } = machine.cabinet;
  const places = new Set<string>();
  if (placed) x.forEach((value, at) => places.add(`${value} ${z[at]}`));
  // A map that puts two cabinets at the same place is of no use for their places.
  if (placed && places.size === cabinets.length) {
    xs = spread(x, w);
    zs = spread(z, d);
  }
  cabinets.forEach((cabinet, at) => cabinet.place(xs[at], upright ? cabinet.h / 2 : 0, zs[at]));
}

function boundsOf(layout: Layout) {
  const { min, max } = layout.bounds;
  min.fill(Infinity);
  max.fill(-Infinity);
  for (const boxes of [layout.cabinet, layout.node]) {
    for (let at = 0; at < boxes.length; at += 6) {
      if (boxes[at + 3] === 0) continue;
      for (let axis = 0; axis < 3; ++axis) {
        min[axis] = Math.min(min[axis], boxes[at + axis] - boxes[at + 3 + axis] / 2);
        max[axis] = Math.max(max[axis], boxes[at + axis] + boxes[at + 3 + axis] / 2);
      }
    }
  }
  if (!Number.isFinite(min[0])) {
    min.fill(-1);
    max.fill(1);
  }
}

export function layoutOf(machine: Machine, name: LayoutName): Layout {
  const builder = new Builder(machine, name);
  const { layout, shapes } = builder;
  const into = (boxes: Boxes, at: number) => (x: number, y: number, z: number, w: number, h: number, d: number) =>
    setBox(boxes, at, x, y, z, w, h, d);
  if (name === 'line') {
    let left = 0;
    for (const shape of shapes) {
      shape.place(left + shape.w / 2, shape.h / 2, 0);
      left += shape.w + GAP.node;
    }
    boundsOf(layout);
    return layout; // no boxes around nodes: a line has no cabinets
  }
  const arrange = builder.flat ? floor : row;
  const nodesOfBlade = grouped(machine.node.parent, machine.blade.name.length);
  const bladesOfRack = grouped(machine.blade.parent, machine.rack.name.length);
  const looseOfRack: number[][] = machine.rack.name.map(() => []);
  machine.node.parent.forEach((blade, node) => {
    if (blade < 0) looseOfRack[machine.node.rack[node]].push(node);
  });
  const racksOfCabinet = grouped(machine.rack.parent, machine.cabinet.name.length);
  const rackBlock = (rack: number): Block => {
    const blades = bladesOfRack[rack].map((blade) =>
      arrange(nodesOfBlade[blade].map((node) => shapes[node]), GAP.node, into(layout.blade, blade)),
    );
    const loose: Block[] = looseOfRack[rack].map((node) => shapes[node]);
    const join = builder.flat ? floor : stack;
    return join([...blades, ...loose], GAP.blade, into(layout.rack, rack));
  };
  if (name === 'rackfront') {
    // One row of racks, cabinet after cabinet; all stand on the floor.
    let left = 0;
    racksOfCabinet.forEach((racks, cabinet) => {
      const blocks = racks.map(rackBlock);
      const start = left;
      for (const block of blocks) {
        block.place(left + block.w / 2, block.h / 2, 0);
        left += block.w + GAP.rack;
      }
      const height = Math.max(0, ...blocks.map((block) => block.h));
      const depth = Math.max(0, ...blocks.map((block) => block.d));
      const end = blocks.length > 0 ? left - GAP.rack : left;
      if (blocks.length > 0)
        setBox(layout.cabinet, cabinet, (start + end) / 2, height / 2, 0, end - start + 1, height + 1, depth + 1);
      left += GAP.rack;
    });
  } else {
    const cabinets = racksOfCabinet.map((racks, cabinet) =>
      arrange(racks.map(rackBlock), GAP.rack, into(layout.cabinet, cabinet)),
    );
    placeCabinets(machine, cabinets, name === 'blueprint');
  }
  boundsOf(layout);
  return layout;
}
