// SPDX-License-Identifier: BSD-3-Clause
// The machine as a tree: cabinets, racks (chassis), blades, nodes, sockets, cores.
//
// With a map, hosts stand where it says; hosts that it does not name follow in a cabinet of their
// own, because leaving them out would hide ranks. Without one, hosts are in the natural order of
// their names. Every rank has a core, also when more ranks than cores run on a node.
//
// Columns instead of objects: a machine with 100,000 ranks then costs a few megabytes.
import { MachineAnswer, PyriteMap, PyriteNode } from './answers';

export const HOSTS_IN_A_ROW = 32; // of a cabinet that no map describes

export interface Level {
  name: string[];
  parent: Int32Array; // number in the level above; -1: none
}
export interface Machine {
  title: string;
  mapped: boolean;
  cabinet: Level & { x: Float64Array; z: Float64Array; placed: boolean };
  rack: Level;
  blade: Level; // parent: rack. Racks without blades have none
  node: Level & { rack: Int32Array; sockets: Int32Array; firstCore: Int32Array }; // parent: blade or -1
  core: { node: Int32Array; socket: Int32Array; rank: Int32Array; bound: Uint8Array };
  coreOfRank: Int32Array;
  nodeOfRank: Int32Array;
  notes: string[]; // sentences about what is known of the placement
}

const natural = new Intl.Collator('en', { numeric: true });
export const byName = (a: string, b: string) => natural.compare(a, b);

// "0-3,8" -> [0, 1, 2, 3, 8]; the first `most` of them.
export function processors(list: string, most = 1024): number[] {
  const found: number[] = [];
  for (const part of list.split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (!range) continue;
    const last = Number(range[2] ?? range[1]);
    for (let at = Number(range[1]); at <= last && found.length < most; ++at) found.push(at);
  }
  return found;
}

interface NodePlan {
  host: string;
  rack: number;
  blade: number;
  cpus: number;
  coresPerCpu: number;
}

class Plan {
  cabinets: { name: string; x: number; z: number }[] = [];
  racks: { name: string; cabinet: number }[] = [];
  blades: { name: string; rack: number }[] = [];
  nodes: NodePlan[] = [];
  seen = new Set<string>();

  cabinet(name: string, x = NaN, z = NaN) {
    return this.cabinets.push({ name, x, z }) - 1;
  }
  rack(name: string, cabinet: number) {
    return this.racks.push({ name, cabinet }) - 1;
  }
  node(host: string, rack: number, blade = -1, cpus = 0, coresPerCpu = 0) {
    if (this.seen.has(host)) return;
    this.seen.add(host);
    this.nodes.push({ host, rack, blade, cpus, coresPerCpu });
  }
}

const count = (value: unknown, most: number) =>
  typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), most) : 0;
const named = (id: unknown, word: string, number: number) =>
  typeof id === 'string' && id !== '' ? id : `${word} ${typeof id === 'number' ? id : number}`;
// The objects of a list; a damaged map may hold anything.
const list = <T>(value: T[] | undefined): T[] => (Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : []);

function addMap(plan: Plan, map: PyriteMap) {
  const add = (node: PyriteNode, rack: number, blade: number) => {
    if (typeof node?.hostname !== 'string') return;
    plan.node(node.hostname, rack, blade, count(node.cpus, 64), count(node.cores_per_cpu, 1024));
  };
  const inOrder = (nodes: PyriteNode[] | undefined) =>
    list(nodes)
      .map((node, at) => ({ node, slot: node?.slot ?? node?.x_offset ?? at }))
      .sort((a, b) => a.slot - b.slot)
      .map((entry) => entry.node);
  list(map.cabinets).forEach((cabinet, cabinetAt) => {
    const number = plan.cabinet(named(cabinet.id, 'cabinet', cabinetAt), cabinet.x, cabinet.z);
    list(cabinet.racks).forEach((rack, rackAt) => {
      const rackNumber = plan.rack(named(rack.id, 'rack', rackAt), number);
      const blades = [...list(rack.blades)].sort((a, b) => (a.y_offset ?? 0) - (b.y_offset ?? 0));
      blades.forEach((blade, bladeAt) => {
        const name = named(blade.id, 'blade', bladeAt);
        const bladeNumber = plan.blades.push({ name, rack: rackNumber }) - 1;
        inOrder(blade.nodes).forEach((node) => add(node, rackNumber, bladeNumber));
      });
      inOrder(rack.nodes).forEach((node) => add(node, rackNumber, -1));
    });
  });
}

// Hosts without a place of their own: in rows of HOSTS_IN_A_ROW.
function addHosts(plan: Plan, hosts: string[], beside: boolean) {
  for (let from = 0; from < hosts.length; from += HOSTS_IN_A_ROW) {
    const row = hosts.slice(from, from + HOSTS_IN_A_ROW);
    const name = row.length === 1 ? row[0] : `${row[0]} to ${row[row.length - 1]}`;
    const cabinet = plan.cabinet(beside ? `not on the map: ${name}` : name);
    const rack = plan.rack(name, cabinet);
    row.forEach((host) => plan.node(host, rack));
  }
}

// A map may name hosts with or without their domain.
function shortName(host: string) {
  return /^[\d.]+$/.test(host) ? host : host.split('.')[0];
}

function planOf(answer: MachineAnswer, notes: string[]): { plan: Plan; nodeOfHost: Int32Array } {
  const plan = new Plan();
  if (answer.map) addMap(plan, answer.map);
  const known = new Map<string, number>();
  plan.nodes.forEach((node, at) => {
    known.set(node.host, at);
    if (!known.has(shortName(node.host))) known.set(shortName(node.host), at);
  });
  const find = (host: string) => known.get(host) ?? known.get(shortName(host));
  const left = answer.hosts.filter((host) => find(host) === undefined).sort(byName);
  if (answer.map && left.length > 0) {
    notes.push(
      `${left.length} of ${answer.hosts.length} hosts are not on the map; they are beside it.`,
    );
  }
  if (!answer.map) notes.push('There is no map of the machine: hosts are in the order of their names.');
  const before = plan.nodes.length;
  addHosts(plan, left, answer.map !== null);
  for (let at = before; at < plan.nodes.length; ++at) known.set(plan.nodes[at].host, at);
  return { plan, nodeOfHost: Int32Array.from(answer.hosts, (host) => find(host) ?? -1) };
}

interface Cell {
  socket: number;
  rank: number;
  bound: boolean;
}

// The cores of one node, socket by socket. A rank that is bound to one processor gets the core of
// that number where the map says how many there are; all others are in the order of their first
// processor, then of their rank.
function cellsOf(node: NodePlan, ranks: number[], answer: MachineAnswer): Cell[] {
  const first = ranks.map((rank) => processors(answer.cores[rank] ?? '', 2));
  const sockets = Math.max(1, node.cpus, ...ranks.map((rank) => (answer.socket[rank] ?? -1) + 1));
  const bySocket: { rank: number; processor: number; bound: boolean }[][] = [];
  for (let socket = 0; socket < sockets; ++socket) bySocket.push([]);
  ranks.forEach((rank, at) => {
    const bound = first[at].length === 1;
    const processor = first[at][0] ?? Infinity;
    let socket = answer.socket[rank] ?? -1;
    if (socket < 0) socket = bound && node.coresPerCpu ? Math.floor(processor / node.coresPerCpu) : 0;
    bySocket[Math.min(Math.max(socket, 0), sockets - 1)].push({ rank, processor, bound });
  });
  const cells: Cell[] = [];
  bySocket.forEach((members, socket) => {
    members.sort((a, b) => a.processor - b.processor || a.rank - b.rank);
    const size = Math.max(node.coresPerCpu, members.length, ranks.length === 0 ? 1 : 0);
    const row: (Cell | null)[] = new Array(size).fill(null);
    const rest = members.filter((member) => {
      const at = member.processor - socket * node.coresPerCpu;
      if (!member.bound || !(at >= 0 && at < node.coresPerCpu) || row[at]) return true;
      row[at] = { socket, rank: member.rank, bound: true };
      return false;
    });
    let free = 0;
    for (const member of rest) {
      while (row[free]) ++free;
      row[free] = { socket, rank: member.rank, bound: member.bound };
    }
    row.forEach((cell) => cells.push(cell ?? { socket, rank: -1, bound: false }));
  });
  return cells;
}

export function machineOf(answer: MachineAnswer): Machine {
  const notes: string[] = [];
  if (answer.map_problem) notes.push(answer.map_problem);
  const { plan, nodeOfHost } = planOf(answer, notes);
  const size = answer.host.length;
  const ranksOf: number[][] = plan.nodes.map(() => []);
  const nodeOfRank = new Int32Array(size).fill(-1);
  for (let rank = 0; rank < size; ++rank) {
    const node = nodeOfHost[answer.host[rank]] ?? -1;
    nodeOfRank[rank] = node;
    if (node >= 0) ranksOf[node].push(rank);
  }
  const cells: Cell[] = [];
  const cellNode: number[] = [];
  const firstCore = new Int32Array(plan.nodes.length + 1);
  const sockets = new Int32Array(plan.nodes.length);
  plan.nodes.forEach((node, at) => {
    firstCore[at] = cells.length;
    for (const cell of cellsOf(node, ranksOf[at], answer)) {
      cells.push(cell);
      cellNode.push(at);
      sockets[at] = Math.max(sockets[at], cell.socket + 1);
    }
  });
  firstCore[plan.nodes.length] = cells.length;
  const coreOfRank = new Int32Array(size).fill(-1);
  let unbound = 0;
  cells.forEach((cell, at) => {
    if (cell.rank < 0) return;
    coreOfRank[cell.rank] = at;
    if (!cell.bound) ++unbound;
  });
  if (unbound > 0) {
    notes.push(
      `${unbound} of ${size} ranks were not bound to one core, or it is not known: ` +
        'they stand on their node in the order of their numbers.',
    );
  }
  const placed =
    plan.cabinets.length > 0 &&
    plan.cabinets.every((entry) => Number.isFinite(entry.x) && Number.isFinite(entry.z));
  return {
    title: answer.map?.metadata?.system_name ?? '',
    mapped: answer.map !== null,
    cabinet: {
      name: plan.cabinets.map((entry) => entry.name),
      parent: new Int32Array(plan.cabinets.length).fill(-1),
      x: Float64Array.from(plan.cabinets, (entry) => entry.x),
      z: Float64Array.from(plan.cabinets, (entry) => entry.z),
      placed,
    },
    rack: {
      name: plan.racks.map((entry) => entry.name),
      parent: Int32Array.from(plan.racks, (entry) => entry.cabinet),
    },
    blade: {
      name: plan.blades.map((entry) => entry.name),
      parent: Int32Array.from(plan.blades, (entry) => entry.rack),
    },
    node: {
      name: plan.nodes.map((entry) => entry.host),
      parent: Int32Array.from(plan.nodes, (entry) => entry.blade),
      rack: Int32Array.from(plan.nodes, (entry) => entry.rack),
      sockets,
      firstCore,
    },
    core: {
      node: Int32Array.from(cellNode),
      socket: Int32Array.from(cells, (cell) => cell.socket),
      rank: Int32Array.from(cells, (cell) => cell.rank),
      bound: Uint8Array.from(cells, (cell) => (cell.bound ? 1 : 0)),
    },
    coreOfRank,
    nodeOfRank,
    notes,
  };
}
