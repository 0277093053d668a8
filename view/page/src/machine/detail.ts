// SPDX-License-Identifier: BSD-3-Clause
// How much of the machine a frame draws. A machine with 100,000 ranks has more parts than a canvas
// without a GPU can fill in a frame, and more than there are pixels: parts that are too small to be
// told apart are drawn as the thing that holds them.
import { Layout } from './layout';
import { Projection, Projected } from './camera';
import { Machine } from './hierarchy';

export type DetailLevel = 'cabinet' | 'node' | 'core';
export const MOST_PARTS = 12_000; // of one frame
const LEAST_PIXELS = { core: 2.2, node: 1.2 }; // below, a part cannot be told from its neighbour

export interface Visible {
  level: DetailLevel;
  cabinets: number[];
  nodes: number[]; // empty at level cabinet
  detailed: Set<number>; // nodes whose cores are drawn; at level core only
}

const at: Projected = { x: 0, y: 0, depth: 0, scale: 0 };

// Whether a box may be in the picture.
function seen(boxes: Float32Array, number: number, projection: Projection): boolean {
  const base = number * 6;
  const radius = Math.hypot(boxes[base + 3], boxes[base + 4], boxes[base + 5]) / 2;
  return projection.sees(boxes[base], boxes[base + 1], boxes[base + 2], radius);
}

// The nodes of each cabinet, in order.
export function nodesOfCabinets(machine: Machine): number[][] {
  const lists: number[][] = machine.cabinet.name.map(() => []);
  machine.node.rack.forEach((rack, node) => {
    const cabinet = machine.rack.parent[rack] ?? -1;
    if (cabinet >= 0) lists[cabinet].push(node);
  });
  return lists;
}

// What to draw: the finest level whose parts are large enough and not more than MOST_PARTS.
// A layout without cabinets (line) has no coarser level than nodes; there neighbouring nodes that
// fall on the same pixels are left to the renderer, which skips what it has just drawn.
export function visibleParts(
  machine: Machine,
  layout: Layout,
  nodesOf: number[][],
  projection: Projection,
  budget = MOST_PARTS,
  coreBudget = budget,
): Visible {
  const boxed = layout.name !== 'line';
  const cabinets: number[] = [];
  const nodes: number[] = [];
  for (let cabinet = 0; cabinet < nodesOf.length; ++cabinet) {
    if (boxed && !seen(layout.cabinet, cabinet, projection)) continue;
    cabinets.push(cabinet);
    for (const node of nodesOf[cabinet]) if (seen(layout.node, node, projection)) nodes.push(node);
  }
  // What the camera looks at decides the level; what is far behind it is drawn coarser.
  const [x, y, z] = projection.state.target;
  const scale = projection.point(x, y, z, at).scale;
  if (scale >= LEAST_PIXELS.core) {
    const near = nodes
      .map((node) => ({ node, depth: projection.point(layout.node[node * 6], layout.node[node * 6 + 1], layout.node[node * 6 + 2], at).depth }))
      .sort((a, b) => a.depth - b.depth)
      .slice(0, budget);
    const detailed = new Set<number>();
    let cores = 0;
    for (const { node } of near) {
      cores += machine.node.firstCore[node + 1] - machine.node.firstCore[node];
      if (cores > coreBudget && detailed.size > 0) break;
      detailed.add(node);
    }
    if (detailed.size > 0) return { level: 'core', cabinets, nodes: near.map(({ node }) => node), detailed };
  }
  const width = nodes.length > 0 ? layout.node[nodes[0] * 6 + 3] : 1;
  const none = new Set<number>();
  if ((nodes.length <= budget && scale * width >= LEAST_PIXELS.node) || !boxed || cabinets.length <= 1)
    return { level: 'node', cabinets, nodes: nodes.length <= budget ? nodes : thinned(nodes, budget), detailed: none };
  return { level: 'cabinet', cabinets, nodes: [], detailed: none };
}

// Evenly spread ones; only where nothing coarser exists.
export function thinned(all: number[], most: number): number[] {
  const step = all.length / most;
  return Array.from({ length: most }, (_, index) => all[Math.floor(index * step)]);
}
