// SPDX-License-Identifier: BSD-3-Clause
// One state of a running job (fathom-live/1, docs/live.md) as the page shows it.
export interface Pending {
  kind: string;
  peer?: number | string;
  tag?: number | string;
  bytes?: number;
}
export interface ThreadState {
  thread: number;
  function: string;
  place: string;
  since_s: number;
  calls: number;
  communicator?: number;
  collective?: number;
  root?: number | string;
  bytes?: number;
  pending?: Pending[];
}
export interface RankState {
  rank: number;
  host: string;
  pid: number;
  state: string;
  sample_age_s: number;
  mpi_s: number;
  waiting_s: number;
  elapsed_s: number;
  sent: number;
  sent_bytes: number;
  received: number;
  received_bytes: number;
  threads: ThreadState[];
}
export interface PairState {
  from: number;
  to: number;
  kind: string;
  sent: number;
  sent_bytes: number;
  received: number;
  received_bytes: number;
}
export interface JobState {
  run: string;
  program: string;
  taken_at_s: number;
  world_size: number;
  communicators: { id: number; name: string }[];
  ranks: RankState[];
  pairs: PairState[];
  hosts_late: string[];
  verdict: { cause: string; hung: boolean; culprits: number[]; victims: number[]; since_s?: number; text: string };
}

// What a thread does now, in words: "MPI_Recv from 9, tag 7 at halo.f90:88, for 41 s".
export function doing(thread: ThreadState, job: JobState): string {
  const since = `for ${secondsText(thread.since_s)}`;
  const place = thread.place ? ` at ${thread.place}` : '';
  if (!thread.function) return `computes, ${since}${thread.place ? `, since its call at ${thread.place}` : ''}`;
  const parts = [thread.function];
  if (thread.collective) {
    const communicator = job.communicators.find((entry) => entry.id === thread.communicator);
    parts[0] += ` #${thread.collective}${communicator ? ` on ${communicator.name}` : ''}`;
  }
  const pending = thread.pending ?? [];
  if (!thread.collective && pending.length > 0) {
    const some = pending.slice(0, 3).map(pendingText).join('; ');
    parts.push(some + (pending.length > 3 ? `; and ${pending.length - 3} more` : ''));
  }
  return `${parts.join(' ')}${place}, ${since}`;
}
function pendingText(pending: Pending): string {
  const direction = pending.kind.includes('send') ? 'to' : 'from';
  const peer = pending.peer === undefined ? 'unknown' : pending.peer === 'any' ? 'any rank' : String(pending.peer);
  const tag = pending.tag === undefined ? '' : `, tag ${pending.tag}`;
  return `${direction} ${peer}${tag}`;
}
export function secondsText(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${Math.round(seconds * 1e3)} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

export type SortBy = 'waiting' | 'mpi' | 'sent' | 'rank';
// As `fathom top` sorts; ties by rank.
export function sortedRanks(job: JobState, by: SortBy): RankState[] {
  const value = (rank: RankState) =>
    by === 'waiting' ? rank.waiting_s : by === 'mpi' ? rank.mpi_s / (rank.elapsed_s || 1) : by === 'sent' ? rank.sent_bytes : 0;
  return [...job.ranks].sort((a, b) => value(b) - value(a) || a.rank - b.rank);
}

export interface LiveMatrix {
  size: number; // cells on a side
  ranks: number; // of a cell
  bytes: Float64Array; // row by row: source, destination
  total: number;
  most: number;
}
// Bytes sent by pair, in at most `most` x `most` cells of neighbouring ranks.
export function matrixOf(job: JobState, kind: string, most = 256): LiveMatrix {
  const ranks = Math.max(1, Math.ceil(job.world_size / most));
  const size = Math.max(1, Math.ceil(job.world_size / ranks));
  const bytes = new Float64Array(size * size);
  let total = 0;
  for (const pair of job.pairs) {
    if (kind !== '' && pair.kind !== kind) continue;
    const row = Math.floor(pair.from / ranks);
    const column = Math.floor(pair.to / ranks);
    if (!(row < size && column < size)) continue;
    bytes[row * size + column] += pair.sent_bytes;
    total += pair.sent_bytes;
  }
  return { size, ranks, bytes, total, most: bytes.reduce((a, b) => Math.max(a, b), 0) };
}
export function kindsOf(job: JobState): string[] {
  return [...new Set(job.pairs.map((pair) => pair.kind))].sort();
}
// What the ranks do, counted: "MPI_Wait" 5, "" (computing) 3; the most common first.
export function activities(job: JobState): { name: string; ranks: number }[] {
  const counts = new Map<string, number>();
  for (const rank of job.ranks) {
    const name = rank.threads[0]?.function ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, ranks]) => ({ name, ranks })).sort((a, b) => b.ranks - a.ranks || (a.name < b.name ? -1 : 1));
}

// Unix time at which MPI_Init had ended in the first rank, from which windows of a running job count.
export function begunAt(job: JobState): number | null {
  const moments = job.ranks.filter((rank) => rank.elapsed_s > 0).map((rank) => job.taken_at_s - rank.sample_age_s - rank.elapsed_s);
  return moments.length > 0 ? Math.min(...moments) : null;
}

// What the ranks did between two states: the numbers of the later one less those of the earlier one. A rank or pair
// that the earlier one does not know keeps its own.
export function between(earlier: JobState, later: JobState): JobState {
  const rankBefore = new Map(earlier.ranks.map((rank) => [rank.rank, rank]));
  const name = (pair: PairState) => `${pair.from} ${pair.to} ${pair.kind}`;
  const pairBefore = new Map(earlier.pairs.map((pair) => [name(pair), pair]));
  const less = <T extends object>(now: T, before: T | undefined, columns: (keyof T)[]): T => {
    if (!before) return now;
    const found = { ...now };
    for (const column of columns) found[column] = Math.max(0, Number(now[column]) - Number(before[column])) as T[keyof T];
    return found;
  };
  return {
    ...later,
    ranks: later.ranks.map((rank) => less(rank, rankBefore.get(rank.rank), ['mpi_s', 'waiting_s', 'elapsed_s', 'sent', 'sent_bytes', 'received', 'received_bytes'])),
    pairs: later.pairs.map((pair) => less(pair, pairBefore.get(name(pair)), ['sent', 'sent_bytes', 'received', 'received_bytes'])),
  };
}
