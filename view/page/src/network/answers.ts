// SPDX-License-Identifier: BSD-3-Clause
// What the server answers to the page Network.

export type Kind = 'torus' | 'mesh' | 'hyperx' | 'tree' | 'dragonfly' | 'graph';

export interface NetworkAnswer {
  cluster: string;
  kind: Kind;
  extent: number[]; // of a grid, by dimension; else empty
  nodes: {
    name: string[];
    host: number[]; // 1: a host
    level: number[]; // steps to the nearest host
    point: number[]; // of a switch on a grid: its number there; -1
    group: number[]; // of a switch of a dragonfly; -1
    ranks: number[]; // slots of a host
  };
  links: { source: number[]; target: number[]; capacity: number[]; latency: number[]; host: number[] };
  relative: boolean; // capacities are relative to each other: congestion has no unit
  runs: NetworkRun[]; // one for each placement
}

// One simulation. `result` is the object that `fathom simulate --json` prints for it, unchanged.
export interface NetworkRun {
  placement: string;
  result: {
    routing: string;
    model: string;
    seconds?: number;
    max_congestion?: number;
    imbalance?: number;
    links: { source: string; target: string; capacity: number; traffic: number; flows?: number; utilisation?: number }[];
    [name: string]: unknown;
  };
  rank_host: number[]; // by rank: its node
  interval_s: number; // 0: the model has no time
  // By interval: what each link carried, sparse columns.
  carried: { link: number[]; interval: number[]; bytes: number[] };
}

// What the chosen part of the job's traffic puts on links: /api/network with only=chosen.
export interface ChosenAnswer {
  runs: { placement: string; link: number[]; bytes: number[] }[];
}

export interface LinkAnswer {
  link: number;
  flows: { source: number[]; destination: number[]; bytes: number[]; share: number[] }; // hosts
  pairs: { source: number[]; destination: number[]; bytes: number[]; messages: number[] }; // ranks
  more_flows: number;
  more_pairs: number;
  bytes: number; // of all flows
}
