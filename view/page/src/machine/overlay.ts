// SPDX-License-Identifier: BSD-3-Clause
// The overlay: findings on the machine, as halos round ranks and arcs between them. Which of them
// are shown is chosen by filters and limits; where several meet, the most important is drawn.
export interface Cards {
  summary: Record<string, number>;
  patterns: Pattern[];
  issues: Issue[];
  top_ranks_by_out_bytes: { rank: number; bytes: number; messages: number }[];
  top_ranks_by_in_bytes: { rank: number; bytes: number; messages: number }[];
  top_ranks_by_touch_bytes: { rank: number; bytes: number }[];
  top_links: TopLink[];
  collective_roots: { root: number; events: number; bytes: number; calls: Record<string, number> }[];
  barrier_spreads: { barrier_index: number; t_min: number; t_max: number; spread: number; comm: number }[];
  time_windows: TimeWindow[];
}
export interface Pattern {
  type: string;
  description: string;
  strength: number;
  ranks: number[];
  pairs: [number, number][];
  metrics: { share?: number; root?: number; [name: string]: unknown };
}
export interface Issue {
  type: string;
  severity: string;
  score: number;
  description: string;
  ranks: number[];
  victims: number[];
  pairs: [number, number][];
  windows: [number, number][];
  advice: string;
  metrics: { seconds: number | null; count?: number; [name: string]: unknown };
}
export interface TopLink {
  comm: number;
  sender: number;
  receiver: number;
  messages: number;
  bytes: number;
  calls: Record<string, number>;
  first_time: number;
  last_time: number;
}
export interface TimeWindow {
  t_start: number;
  t_end: number;
  events: number;
  canonical_transfer_bytes: number;
  canonical_transfer_events: number;
  [name: string]: number;
}

export type Reason = 'critical' | 'warning' | 'info' | 'ping-pong' | 'root' | 'pattern' | 'top-link' | 'top-rank';
// The same order as in Pyrite.
export const PRIORITY: Record<Reason, number> = {
  critical: 400, warning: 300, info: 200, 'ping-pong': 130, root: 120, pattern: 100, 'top-link': 99, 'top-rank': 50, // prettier-ignore
};
export const REASONS: { name: Reason; label: string }[] = [
  { name: 'critical', label: 'critical issue' },
  { name: 'warning', label: 'warning' },
  { name: 'info', label: 'information' },
  { name: 'ping-pong', label: 'ping-pong pair' },
  { name: 'root', label: 'root of collectives' },
  { name: 'pattern', label: 'part of a pattern' },
  { name: 'top-link', label: 'busy link' },
  { name: 'top-rank', label: 'busy rank' },
];

export interface Mark {
  kind: 'rank' | 'pair';
  ranks: number[]; // one, or source and destination
  reason: Reason;
  text: string;
}
export interface OverlayOptions {
  on: boolean;
  issueRanks: boolean;
  patternRanks: boolean;
  roots: boolean;
  topRanks: boolean;
  issuePairs: boolean;
  topLinks: boolean;
  pingPong: boolean;
  mostRanks: number;
  mostLinks: number;
  mostRoots: number;
}
export const DEFAULTS: OverlayOptions = {
  on: true,
  issueRanks: true,
  patternRanks: true,
  roots: true,
  topRanks: true,
  issuePairs: true,
  topLinks: true,
  pingPong: true,
  mostRanks: 5,
  mostLinks: 6,
  mostRoots: 3,
};
// How many ranks or pairs of one finding are marked; a pattern may name all.
export const MOST_OF_ONE = 64;

export function severityReason(severity: string): Reason {
  return severity === 'critical' ? 'critical' : severity === 'warning' ? 'warning' : 'info';
}

const isPingPong = (pattern: Pattern) => pattern.type.replace('_', '-').includes('ping-pong');

export function marksOf(cards: Cards, options: OverlayOptions): Mark[] {
  if (!options.on) return [];
  const marks: Mark[] = [];
  const rank = (at: number, reason: Reason, text: string) => marks.push({ kind: 'rank', ranks: [at], reason, text });
  const pair = (ends: [number, number], reason: Reason, text: string) => marks.push({ kind: 'pair', ranks: [ends[0], ends[1]], reason, text });
  for (const issue of cards.issues) {
    const reason = severityReason(issue.severity);
    if (options.issueRanks) issue.ranks.slice(0, MOST_OF_ONE).forEach((at) => rank(at, reason, issue.description));
    if (options.issuePairs) issue.pairs.slice(0, MOST_OF_ONE).forEach((ends) => pair(ends, reason, issue.description));
  }
  for (const pattern of cards.patterns) {
    const pingPong = isPingPong(pattern);
    if (options.patternRanks) pattern.ranks.slice(0, MOST_OF_ONE).forEach((at) => rank(at, 'pattern', pattern.description));
    if (options.pingPong && pingPong) pattern.pairs.slice(0, MOST_OF_ONE).forEach((ends) => pair(ends, 'ping-pong', pattern.description));
  }
  if (options.roots)
    cards.collective_roots.slice(0, options.mostRoots).forEach((root) => rank(root.root, 'root', `root of ${root.events} calls of collectives`));
  if (options.topRanks)
    cards.top_ranks_by_touch_bytes.slice(0, options.mostRanks).forEach((top) => rank(top.rank, 'top-rank', `${top.bytes} bytes in and out`));
  if (options.topLinks)
    cards.top_links.slice(0, options.mostLinks).forEach((link) => pair([link.sender, link.receiver], 'top-link', `${link.messages} messages, ${link.bytes} bytes`));
  return marks.sort((a, b) => PRIORITY[b.reason] - PRIORITY[a.reason]);
}

// What "isolate" of a card leaves bright: its ranks, and its pairs if it names any. null: nothing
// that could be isolated.
export interface Isolation {
  label: string;
  ranks: number[];
  pairs: [number, number][];
  windows: [number, number][]; // seconds
}
export function isolationOf(label: string, ranks: number[], pairs: [number, number][], windows: [number, number][] = []): Isolation | null {
  const all = new Set(ranks);
  for (const [source, destination] of pairs) all.add(source).add(destination);
  if (all.size === 0) return null;
  return { label, ranks: [...all].sort((a, b) => a - b), pairs, windows };
}
