// SPDX-License-Identifier: BSD-3-Clause
// The load of links: of the whole simulation, and of a moment of it.
//
// What a link carries at a moment is what it carried in the interval of the simulator that holds the
// moment, over what it could have carried. Without times (model load) there is only the whole.
import { NetworkAnswer, NetworkRun } from './answers';

// Bytes of each link of the whole, in the network's order. The results may leave out links of hosts
// and name links by their ends; parallel links come in the order of the network.
export function totals(answer: NetworkAnswer, run: NetworkRun): Float64Array {
  const bytes = new Float64Array(answer.links.source.length).fill(NaN);
  const byEnds = new Map<string, number[]>();
  answer.links.source.forEach((source, link) => {
    const key = JSON.stringify([answer.nodes.name[source], answer.nodes.name[answer.links.target[link]]]);
    const list = byEnds.get(key);
    if (list) list.push(link);
    else byEnds.set(key, [link]);
  });
  for (const entry of run.result.links) {
    const link = byEnds.get(JSON.stringify([entry.source, entry.target]))?.shift();
    if (link !== undefined) bytes[link] = entry.traffic;
  }
  return bytes;
}

// Congestion, bytes over capacity, of each link; NaN where the results have no number.
export function congestions(answer: NetworkAnswer, bytes: Float64Array): Float64Array {
  return bytes.map((value, link) => value / answer.links.capacity[link]);
}

export function intervalCount(run: NetworkRun): number {
  return run.carried.interval.reduce((most, at) => Math.max(most, at + 1), 0);
}
export function intervalAt(run: NetworkRun, seconds: number): number {
  if (!(run.interval_s > 0)) return 0;
  return Math.max(0, Math.min(intervalCount(run) - 1, Math.floor(seconds / run.interval_s)));
}

// Bytes of each link in one interval.
export function carriedIn(answer: NetworkAnswer, run: NetworkRun, interval: number): Float64Array {
  const bytes = new Float64Array(answer.links.source.length);
  const { link, interval: at, bytes: carried } = run.carried;
  for (let row = 0; row < link.length; ++row) if (at[row] === interval) bytes[link[row]] += carried[row];
  return bytes;
}

// The part of each link's capacity that is in use, 0 to 1. The last interval may be cut short by the
// end of the run.
export function useOf(answer: NetworkAnswer, run: NetworkRun, interval: number): Float64Array {
  const seconds = run.result.seconds ?? 0;
  const length = Math.min(run.interval_s, seconds - interval * run.interval_s);
  const bytes = carriedIn(answer, run, interval);
  return bytes.map((value, link) => (length > 0 ? value / answer.links.capacity[link] / length : 0));
}

// The links with the most, highest first.
export function hottest(values: Float64Array, count: number): number[] {
  const order = [...values.keys()].filter((link) => values[link] > 0);
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, count);
}
