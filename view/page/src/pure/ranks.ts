// SPDX-License-Identifier: BSD-3-Clause
// Sets of ranks as text, in the way of the command line: "0-3,7".

/** The ranks of `text`, ascending, each once; null if it is not such a text. */
export function parseRanks(text: string): number[] | null {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,7})\s*(?:-\s*(\d{1,7})\s*)?$/.exec(part);
    if (!match) return null;
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (last < first || last - first > 2_000_000) return null;
    for (let rank = first; rank <= last; ++rank) found.add(rank);
  }
  return [...found].sort((a, b) => a - b);
}

/** The shortest text of `ranks`, which need not be sorted. */
export function formatRanks(ranks: readonly number[]): string {
  const sorted = [...new Set(ranks)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end]! + 1) ++end;
    parts.push(end === at ? `${sorted[at]}` : `${sorted[at]}${end === at + 1 ? ',' : '-'}${sorted[end]}`);
    at = end + 1;
  }
  return parts.join(',');
}
