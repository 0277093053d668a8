// SPDX-License-Identifier: BSD-3-Clause
// The part of ranks × time that is on the screen, and how keys and wheel change it. Time in ns, rows as
// positions of processes; both may be fractions while something moves.

export interface Viewport {
  from: number;
  to: number;
  top: number;
  rows: number;
}

export interface Bounds {
  from: number;
  to: number;
  rows: number;
}

const kLeastNs = 20;
const kLeastRows = 1;

export const whole = (bounds: Bounds): Viewport => ({ from: bounds.from, to: bounds.to, top: 0, rows: bounds.rows });

/** The nearest viewport that lies inside `bounds`. */
export function clamped(view: Viewport, bounds: Bounds): Viewport {
  const span = Math.min(Math.max(view.to - view.from, kLeastNs), Math.max(bounds.to - bounds.from, kLeastNs));
  const from = Math.max(bounds.from, Math.min(view.from, bounds.to - span));
  const rows = Math.min(Math.max(view.rows, Math.min(kLeastRows, bounds.rows)), bounds.rows);
  const top = Math.max(0, Math.min(view.top, bounds.rows - rows));
  return { from, to: from + span, top, rows };
}

/** `factor` < 1 shows less time; what is at share `at` (0 left, 1 right) stays there. */
export function zoomed(view: Viewport, factor: number, at: number, bounds: Bounds): Viewport {
  const span = Math.min(Math.max((view.to - view.from) * factor, kLeastNs), Math.max(bounds.to - bounds.from, kLeastNs));
  const pin = view.from + (view.to - view.from) * at;
  const from = pin - span * at;
  return clamped({ ...view, from, to: from + span }, bounds);
}

/** The same of rows. */
export function rowsZoomed(view: Viewport, factor: number, at: number, bounds: Bounds): Viewport {
  const rows = Math.min(Math.max(view.rows * factor, Math.min(kLeastRows, bounds.rows)), bounds.rows);
  const pin = view.top + view.rows * at;
  return clamped({ ...view, top: pin - rows * at, rows }, bounds);
}

/** Moved by shares of what is shown. */
export function moved(view: Viewport, time: number, rows: number, bounds: Bounds): Viewport {
  const span = view.to - view.from;
  return clamped({ ...view, from: view.from + span * time, to: view.to + span * time, top: view.top + view.rows * rows }, bounds);
}

/** Between two viewports, 0 to 1: spans change by equal factors in equal times, as eyes expect of a zoom. */
export function between(a: Viewport, b: Viewport, share: number): Viewport {
  if (share >= 1) return b;
  const [sa, sb] = [a.to - a.from, b.to - b.from];
  const span = sa * (sb / sa) ** share;
  const t = Math.abs(sb - sa) < 1e-9 * sa ? share : (span - sa) / (sb - sa);
  const from = a.from + (b.from - a.from) * t;
  return { from, to: from + span, top: a.top + (b.top - a.top) * share, rows: a.rows + (b.rows - a.rows) * share };
}

/** The coarsest level whose bins are at most `most` pixels wide, or the finest one. */
export function levelFor(binNs: readonly number[], nsPerPixel: number, most = 2): number {
  for (let level = 0; level < binNs.length; ++level) if (binNs[level]! <= nsPerPixel * most) return level;
  return Math.max(0, binNs.length - 1);
}

/** "from-to" and "top-rows" of a viewport, as options hold it, and back. */
export const timeText = (view: Viewport): string => `${Math.round(view.from)}-${Math.round(view.to)}`;
export const rowsText = (view: Viewport): string => `${view.top.toFixed(2)}-${view.rows.toFixed(2)}`;

export function parseSpan(text: string | undefined): [number, number] | null {
  const match = /^(\d{1,16}(?:\.\d+)?)-(\d{1,16}(?:\.\d+)?)$/.exec(text ?? '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}
