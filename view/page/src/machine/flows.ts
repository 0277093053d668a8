// SPDX-License-Identifier: BSD-3-Clause
// What is drawn between the processes: messages of a stretch of time, summed by pair of things (two
// ranks, two nodes, two cabinets) and class. Collectives are here as the messages that were really
// sent for them, so they are open: a broadcast is its tree.
import { MachineAnswer, TrafficAnswer } from './answers';

export type Family = 'blocking' | 'collective' | 'one-sided' | 'io' | 'library';
export const FAMILIES: { name: Family; label: string }[] = [
  { name: 'blocking', label: 'point-to-point' },
  { name: 'collective', label: 'inside collectives' },
  { name: 'one-sided', label: 'one-sided and partitioned' },
  { name: 'io', label: 'file access' },
  { name: 'library', label: "the library's own" },
];
export function familyOf(name: string): Family {
  if (name === 'point-to-point') return 'blocking';
  if (name === 'one-sided' || name === 'partitioned') return 'one-sided';
  if (name === 'io') return 'io';
  if (name === 'library') return 'library';
  return 'collective';
}

export interface Flow {
  source: number; // of the level's things
  destination: number;
  family: Family;
  messages: number;
  bytes: number;
  ranks: [number, number]; // one pair of ranks behind it, to name it
  classes: Map<number, number>; // class, messages
}
export interface Chosen {
  classes?: Set<number>; // undefined: all
  ranks?: Set<number>; // both ends must be in it
  pairs?: Set<string>; // "3>4": only these
}
export const pairKey = (source: number, destination: number) => `${source}>${destination}`;

// Rows of the bins [fromBin, toBin). `thingOf` says what a rank is drawn as; -1: not at all.
// Messages within a thing are left out: they have no way to be drawn on.
export function flowsOf(
  traffic: TrafficAnswer,
  classes: MachineAnswer['classes'],
  fromBin: number,
  toBin: number,
  thingOf: (rank: number) => number,
  chosen: Chosen = {},
): Flow[] {
  const rows = traffic.flows;
  const found = new Map<string, Flow>();
  for (let row = lowerBound(rows.bin, fromBin); row < rows.bin.length && rows.bin[row] < toBin; ++row) {
    const source = rows.source[row];
    const destination = rows.destination[row];
    const message = rows.class[row];
    if (chosen.classes && !chosen.classes.has(message)) continue;
    if (chosen.ranks && !(chosen.ranks.has(source) && chosen.ranks.has(destination))) continue;
    if (chosen.pairs && !chosen.pairs.has(pairKey(source, destination))) continue;
    const from = thingOf(source);
    const to = thingOf(destination);
    if (from < 0 || to < 0 || from === to) continue;
    const family = familyOf(classes[message]?.name ?? '');
    const key = `${from} ${to} ${family}`;
    let flow = found.get(key);
    if (!flow) {
      flow = { source: from, destination: to, family, messages: 0, bytes: 0, ranks: [source, destination], classes: new Map() };
      found.set(key, flow);
    }
    flow.messages += rows.messages[row];
    flow.bytes += rows.bytes[row];
    flow.classes.set(message, (flow.classes.get(message) ?? 0) + rows.messages[row]);
  }
  return [...found.values()].sort((a, b) => b.messages - a.messages || b.bytes - a.bytes);
}

// Of an ascending list: the first position whose value is at least `value`.
export function lowerBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Half the width of a tube, in widths of a core: by the count of messages, as a logarithm.
export function thickness(messages: number): number {
  return 0.035 * (1 + Math.log10(Math.max(1, messages)));
}

export interface Activity {
  share: Float32Array; // by rank: 0 to 1, how much of the bins it spent in MPI calls
  function: Int32Array; // by rank: where it was longest; -1: nowhere
}
export function activityOf(traffic: TrafficAnswer, fromBin: number, toBin: number, ranks: number): Activity {
  const rows = traffic.activity;
  const share = new Float32Array(ranks);
  const longest = new Float64Array(ranks);
  const where = new Int32Array(ranks).fill(-1);
  const span = ((traffic.to_ns - traffic.from_ns) / traffic.bins) * Math.max(1, toBin - fromBin);
  for (let row = lowerBound(rows.bin, fromBin); row < rows.bin.length && rows.bin[row] < toBin; ++row) {
    const rank = rows.rank[row];
    if (!(rank >= 0 && rank < ranks)) continue;
    share[rank] += rows.busy_ns[row] / span;
    if (rows.busy_ns[row] > longest[rank]) {
      longest[rank] = rows.busy_ns[row];
      where[rank] = rows.function[row];
    }
  }
  for (let rank = 0; rank < ranks; ++rank) share[rank] = Math.min(1, share[rank]);
  return { share, function: where };
}

// Which bins a stretch of time covers, whole bins.
export function binsOf(traffic: TrafficAnswer, from: number, to: number): [number, number] {
  const width = (traffic.to_ns - traffic.from_ns) / traffic.bins;
  if (!(width > 0)) return [0, traffic.bins];
  const first = Math.floor((from - traffic.from_ns) / width);
  const last = Math.ceil((to - traffic.from_ns) / width);
  return [Math.max(0, first), Math.min(traffic.bins, Math.max(first + 1, last))];
}
