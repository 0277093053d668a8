// SPDX-License-Identifier: BSD-3-Clause
// The tables call x size: how many calls of each MPI function name how many bytes, of the whole run
// and of the window that is shown.
import { binEdge } from '../pure/format';
import { SizesAnswer } from './answers';

export interface SizeTable {
  heads: string[]; // of the bins
  rows: { name: string; calls: number[]; unsized: number; total: number }[]; // most calls first
  columns: number[]; // sums
  most: number; // of a cell
  total: number;
}

export function sizeTable(answer: SizesAnswer): SizeTable {
  const { edges } = answer;
  const heads = edges.map((low, at) => {
    if (at === edges.length - 1) return `≥ ${binEdge(low)}`;
    return at === 0 ? `< ${binEdge(edges[1])}` : `${binEdge(low)} to ${binEdge(edges[at + 1])}`;
  });
  const rows = answer.functions
    .map((name, at) => {
      const calls = answer.calls[at];
      const unsized = answer.unsized[at];
      return { name, calls, unsized, total: calls.reduce((sum, value) => sum + value, unsized) };
    })
    .filter((row) => row.total > 0)
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
  const columns = edges.map((_, bin) => rows.reduce((sum, row) => sum + row.calls[bin], 0));
  return {
    heads,
    rows,
    columns,
    most: Math.max(0, ...rows.map((row) => Math.max(...row.calls))),
    total: rows.reduce((sum, row) => sum + row.total, 0),
  };
}

// How dark a cell is, 0 to 1: by the logarithm, because counts span many magnitudes.
export function shade(value: number, most: number): number {
  return value <= 0 || most <= 0 ? 0 : (1 + Math.log10(value)) / (1 + Math.log10(most));
}
