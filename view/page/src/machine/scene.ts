// SPDX-License-Identifier: BSD-3-Clause
// What a frame shows, before any renderer: both draw the same scene, so that everything seen in 3-D
// is there without WebGL too.
import { Machine } from './hierarchy';
import { Layout } from './layout';
import { DetailLevel, Visible } from './detail';
import { Activity, Family, Flow } from './flows';
import { Bow, bowOf, centre } from './tubes';
import { Mark } from './overlay';
import { Vec } from './camera';

export const MOST_TUBES = 600; // drawn in a frame; the text says how many more there are

export interface Palette {
  background: string;
  text: string;
  line: string; // edges of cabinets, racks, blades
  node: string;
  idle: string; // a core without a rank
  core: string; // a rank outside MPI
  glow: string; // a rank in MPI calls all of the time
  selected: string;
  family: Record<Family, string>;
  severity: { critical: string; warning: string; info: string; other: string };
}

export interface Tube {
  bow: Bow;
  flow: Flow;
  dim: boolean;
}
export interface Halo {
  at: Vec;
  radius: number;
  mark: Mark;
}
export interface Arc {
  bow: Bow;
  mark: Mark;
}
export interface Scene {
  machine: Machine;
  layout: Layout;
  visible: Visible;
  activity: Activity;
  tubes: Tube[];
  moreTubes: number;
  halos: Halo[];
  arcs: Arc[];
  selectedRank: number; // -1: none
  bright: Set<number> | null; // ranks that are not dimmed; null: all
  palette: Palette;
}

// As what a rank is drawn at a level of detail; -1: nowhere.
export function thingOf(machine: Machine, level: DetailLevel, rank: number): number {
  if (level === 'core') return machine.coreOfRank[rank] ?? -1;
  const node = machine.nodeOfRank[rank] ?? -1;
  if (level === 'node' || node < 0) return node;
  return machine.rack.parent[machine.node.rack[node]] ?? -1;
}
export function boxesOf(layout: Layout, level: DetailLevel): Float32Array {
  return level === 'core' ? layout.core : level === 'node' ? layout.node : layout.cabinet;
}

// On the front or top of the thing, so that tubes end where they are seen.
export function anchorOf(layout: Layout, level: DetailLevel, thing: number): Vec {
  const boxes = boxesOf(layout, level);
  const [x, y, z] = centre(boxes, thing);
  if (layout.name === 'topdown') return [x, y + boxes[thing * 6 + 4] / 2, z];
  return [x, y, z + boxes[thing * 6 + 5] / 2];
}

export function tubesOf(layout: Layout, level: DetailLevel, flows: Flow[], bright: Set<number> | null): Tube[] {
  return flows.slice(0, MOST_TUBES).map((flow) => {
    const from = anchorOf(layout, level, flow.source);
    const to = anchorOf(layout, level, flow.destination);
    const far = Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) > 40;
    const dim = bright !== null && !(bright.has(flow.ranks[0]) && bright.has(flow.ranks[1]));
    return { bow: bowOf(from, to, far ? 0.2 : 0.12), flow, dim };
  });
}

// Marks of findings on their ranks and between them.
export function markedOf(machine: Machine, layout: Layout, level: DetailLevel, marks: Mark[]): { halos: Halo[]; arcs: Arc[] } {
  const halos: Halo[] = [];
  const arcs: Arc[] = [];
  const done = new Set<string>();
  // The most important mark of a place comes first (overlay.ts) and is the one that is drawn.
  for (const mark of marks) {
    const things = mark.ranks.map((rank) => thingOf(machine, level, rank));
    if (things.some((thing) => thing < 0)) continue;
    const key = things.join('>');
    if (done.has(key)) continue;
    done.add(key);
    if (mark.kind === 'rank') {
      const boxes = boxesOf(layout, level);
      const base = things[0] * 6;
      const radius = Math.max(boxes[base + 3], boxes[base + 4], boxes[base + 5]) * 0.75;
      halos.push({ at: anchorOf(layout, level, things[0]), radius, mark });
    } else if (things[0] !== things[1]) {
      arcs.push({ bow: bowOf(anchorOf(layout, level, things[0]), anchorOf(layout, level, things[1]), 0.3), mark });
    }
  }
  return { halos, arcs };
}

export interface Hit {
  kind: DetailLevel;
  thing: number;
  rank: number; // of a core; -1: idle, or not a core
}

// The text of a tip, one line each. Names come from the run: the page shows them as text only.
export function tipOf(scene: Scene, hit: Hit, functionName: (number: number) => string): string[] {
  const { machine } = scene;
  if (hit.kind === 'cabinet') {
    return [machine.cabinet.name[hit.thing]];
  }
  const node = hit.kind === 'core' ? machine.core.node[hit.thing] : hit.thing;
  const ranks: number[] = [];
  for (let core = machine.node.firstCore[node]; core < machine.node.firstCore[node + 1]; ++core)
    if (machine.core.rank[core] >= 0) ranks.push(machine.core.rank[core]);
  ranks.sort((a, b) => a - b);
  const place = placeText(machine, node);
  if (hit.kind === 'node') {
    const some = ranks.slice(0, 8).join(', ') + (ranks.length > 8 ? ' …' : '');
    return [`host ${machine.node.name[node]}`, ranks.length ? `${ranks.length} ranks: ${some}` : 'no rank of this job', ...place];
  }
  const within = hit.thing - machine.node.firstCore[node];
  const lines = [hit.rank < 0 ? 'idle core' : `rank ${hit.rank}`, `host ${machine.node.name[node]}`];
  lines.push(`socket ${machine.core.socket[hit.thing]}, core ${within}${hit.rank >= 0 && !machine.core.bound[hit.thing] ? ' (not bound, or unknown)' : ''}`);
  if (hit.rank >= 0) {
    const where = scene.activity.function[hit.rank];
    lines.push(where >= 0 ? `in ${functionName(where)}, ${Math.round(scene.activity.share[hit.rank] * 100)} % in MPI` : 'outside MPI');
  }
  return [...lines, ...place];
}

export function placeText(machine: Machine, node: number): string[] {
  const rack = machine.node.rack[node];
  const blade = machine.node.parent[node];
  const parts: string[] = [];
  if (machine.mapped) {
    const cabinet = machine.rack.parent[rack];
    if (cabinet >= 0) parts.push(machine.cabinet.name[cabinet]);
    if (rack >= 0) parts.push(machine.rack.name[rack]);
    if (blade >= 0) parts.push(machine.blade.name[blade]);
  }
  return parts.length ? [parts.join(' · ')] : [];
}
