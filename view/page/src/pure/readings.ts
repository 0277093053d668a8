// SPDX-License-Identifier: BSD-3-Clause
// What answers of the server mean to the pages, in one shape, whatever a run has: a run without sizes has no
// sizes, a whole run no end of its window. Numbers are passed on as they are.

export interface Strip {
  from_ns: number;
  bin_ns: number;
  bins: number;
  groups: string[];
  ns: number[][];
  wait_ns: number[];
  messages: number[];
  bytes: number[];
  all_ns: number;
}

type Loose = Record<string, unknown>;
const numbers = (value: unknown): number[] => (Array.isArray(value) ? (value as number[]) : []);
const texts = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);
const object = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

export const inMpi = 'in MPI';

/** By group of functions where the answer tells them apart, else all of MPI as one group. */
export function readStrip(answer: Loose): Strip {
  const groups = texts(answer['groups']);
  const hasGroups = groups.length > 0 && Array.isArray(answer['ns']);
  return {
    from_ns: number(answer['from_ns'], 0),
    bin_ns: number(answer['bin_ns'], 1),
    bins: number(answer['bins'], 0),
    groups: hasGroups ? groups : [inMpi],
    ns: hasGroups ? (answer['ns'] as number[][]) : [numbers(answer['mpi_ns'])],
    wait_ns: numbers(answer['wait_ns']),
    messages: numbers(answer['messages']),
    bytes: numbers(answer['bytes'] ?? answer['bytes_in']),
    all_ns: number(answer['all_ns'], 0),
  };
}

export interface SizeBin {
  low: number;
  messages: number;
}

export interface Window {
  from_ns: number;
  to_ns: number;
  all_ns: number;
  mpi_ns: number;
  computing_ns: number;
  wait_ns: number;
  by_rank: { rank: number; mpi_ns: number; wait_ns: number; caused_ns: number; bytes_sent: number; bytes_received: number; messages_sent: number; messages_received: number }[];
  functions: { name: string; group: string; calls: number; ns: number; bytes: number }[];
  waits: { rank: number; awaited: number; kind: string; function: string; place: string; ns: number; count: number }[];
  waits_more: number;
  traffic: { bytes: number; messages: number };
  sizes: SizeBin[];
  matrix: { source: number[]; destination: number[]; bytes: number[]; messages: number[] };
  matrix_more: number;
  limits: string[];
}

function sizesOf(answer: Loose): SizeBin[] {
  const bins: SizeBin[] = [];
  const add = (columns: Loose, low: string) => numbers(columns[low]).forEach((value, at) => bins.push({ low: value, messages: number(numbers(columns['messages'])[at], 0) }));
  const sizes = object(answer['sizes']);
  add(sizes, 'size');
  add(sizes, 'low_bytes');
  add(object(answer['size_bins']), 'low');
  return bins;
}

/** `groupOf` names the group of a function; `chosen` are the ranks that were asked for; null: all. */
export function readWindow(answer: Loose, end: number, groupOf: (name: string) => string, chosen: ReadonlySet<number> | null): Window {
  const by = object(answer['by_rank']);
  const at = (columns: Loose, name: string, row: number) => number(numbers(columns[name])[row], 0);
  const functions = object(answer['functions']);
  const waits = object(answer['waits']);
  const traffic = object(answer['traffic']);
  const matrix = object(answer['matrix']);
  return {
    from_ns: number(answer['from_ns'], 0),
    to_ns: number(answer['to_ns'], end),
    all_ns: number(answer['all_ns'], 0),
    mpi_ns: number(answer['mpi_ns'], 0),
    computing_ns: number(answer['computing_ns'], 0),
    wait_ns: number(answer['wait_ns'], 0),
    by_rank: numbers(by['rank']).map((rank, row) => ({
      rank, mpi_ns: at(by, 'mpi_ns', row), wait_ns: at(by, 'wait_ns', row), caused_ns: at(by, 'caused_ns', row), bytes_sent: at(by, 'bytes_sent', row),
      bytes_received: at(by, 'bytes_received', row), messages_sent: at(by, 'messages_sent', row), messages_received: at(by, 'messages_received', row),
    })).filter((row) => !chosen || chosen.has(row.rank)),
    functions: texts(functions['name']).map((name, row) => ({ name, group: texts(functions['group'])[row] ?? groupOf(name), calls: at(functions, 'calls', row), ns: at(functions, 'ns', row), bytes: at(functions, 'bytes', row) })),
    waits: numbers(waits['rank']).map((rank, row) => {
      const file = texts(waits['file'])[row] ?? '';
      return { rank, awaited: at(waits, 'awaited', row), kind: texts(waits['kind'])[row] ?? '', function: texts(waits['function'])[row] ?? '', place: file ? `${file.replace(/^.*\//, '')}:${at(waits, 'line', row)}` : '', ns: at(waits, 'ns', row), count: at(waits, 'count', row) };
    }),
    waits_more: number(answer['waits_more'], 0),
    traffic: { bytes: number(traffic['bytes'], 0), messages: number(traffic['messages'], 0) },
    sizes: sizesOf(answer),
    matrix: { source: numbers(matrix['source']), destination: numbers(matrix['destination']), bytes: numbers(matrix['bytes']), messages: numbers(matrix['messages']) },
    matrix_more: number(answer['matrix_more'], 0),
    limits: texts(answer['limits']),
  };
}
