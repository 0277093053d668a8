// SPDX-License-Identifier: BSD-3-Clause
// What the server answers, as docs/view-protocol.md says it.

export interface Run {
  run: number;
  path: string;
  name: string;
  state: 'ended' | 'running' | 'lost' | 'unknown';
  sentence: string;
  error: string;
  has_trace: boolean;
  has_profile: boolean;
  live: boolean;
  ranks: number;
  application: string;
}

export interface TimelineLayout {
  levels: number;
  rows: number;
  rows_per_tile: number;
  /** how many ranks a line of a tile may have, the fewest first */
  groups?: number[];
  bins_per_tile: number;
  from_ns: number;
  bin_ns: number[];
  columns: number[];
  ready: string[];
  problem?: string;
  building?: { what: string; share: number };
}

export interface Meta {
  run: number;
  name: string;
  path: string;
  application: string;
  seconds: number;
  ranks: number;
  hosts: string[];
  processes: {
    rank: number[];
    host: number[];
    pid: number[];
    threads?: number[];
    first_ns?: number[];
    last_ns?: number[];
    socket?: number[];
    numa?: number[];
    affinity?: string[];
    complete?: boolean[];
    problems?: string[][];
  };
  functions?: { name: string[]; group: string[] };
  communicators?: { id: number; name: string; made_by: string; size: number; internal: boolean }[];
  classes?: { name: string[]; hidden: boolean[] };
  phases?: string[];
  wait_kinds?: string[];
  span?: { from_ns: number; to_ns: number };
  program?: { from_ns: number; to_ns: number };
  /** the moment of the trace from which the running job counted (the page Live) */
  started_ns?: number;
  events?: number;
  has_trace: boolean;
  has_profile: boolean;
  trace_level?: string;
  timeline: TimelineLayout | null;
}

export interface Where {
  class?: string;
  function?: string;
  caller?: string;
  file?: string;
  line?: number;
  phase?: string;
  communicator?: number;
}

export interface Finding {
  id: number;
  kind: string;
  analysis?: string;
  seconds: number | null;
  severity: 'info' | 'warning' | 'critical';
  strength?: number;
  confidence?: number;
  count?: number;
  culprits?: number[];
  victims?: number[];
  pairs?: { source: number; destination: number }[];
  where?: Where;
  symptoms?: { kind: string; seconds: number; count: number; victims?: number[]; where?: Where; text?: string }[];
  windows?: { from_s: number; to_s: number }[];
  summary: string;
  advice?: string;
}

export type Columns = Record<string, (number | string | boolean | null)[]>;

export interface Messages {
  messages: {
    source: number[];
    destination: number[];
    sent_ns: number[];
    received_ns: number[];
    bytes: number[];
    tag: number[];
    communicator: number[];
    class?: string[];
    wait_ns: number[];
  };
  shown: number;
  more: number;
}

export interface CallTree {
  tree: { id: number[]; parent: number[]; name: string[]; file: string[]; line: number[]; kind: string[]; calls: number[]; ns: number[]; wait_ns: number[]; bytes: number[] };
  /** not of the chosen window */
  whole_run?: boolean;
}

/** The places that single calls name. */
export interface SitesAnswer {
  sites: { id: number[]; function: string[]; file: string[]; line: number[] };
}

export interface PathAnswer {
  path: { process: number[]; begin_ns: number[]; end_ns: number[]; function: number[] };
  more: number;
}
