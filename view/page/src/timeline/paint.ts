// SPDX-License-Identifier: BSD-3-Clause
// Draws one frame of the timeline: pinned rows, rows, axis, what is dimmed, messages, ruler.
import { css, groupColour, Palette, rankColour, Rgb, mix } from '../pure/colour';
import { humanNs, marks, moment } from '../pure/format';
import { nobody } from '../pure/tile';
import { levelFor, Viewport } from '../pure/viewport';
import type { Choice } from '../pure/view_state';
import type { Pen } from '../shell/picture';
import type { Messages, Meta, PathAnswer, TimelineLayout } from '../shell/protocol';
import { font } from '../shell/sketch';
import type { Chunk, RawCalls } from './raw';
import type { Layer, Tiles } from './tiles';

export const kGutter = 78;
export const kAxis = 24;
export const kPinned = 22;

export interface Scene {
  meta: Meta;
  layout: TimelineLayout;
  palette: Palette;
  choice: Choice;
  /** world ranks that are not dimmed; null: all */
  lit: Set<number> | null;
  culprits: Set<number>;
  layer: Exclude<Layer, 'split' | 'path'>;
  showPath: boolean;
  pins: number[];
  /** of each function, whether it belongs to what is chosen; null: all */
  litFunctions: boolean[] | null;
  /** the places of which single calls are not dimmed; null: all */
  litSites: Set<number> | null;
  /** the class of messages that are not dimmed; null: all */
  messageClass: string | null;
  focus: number;
  messages: Messages | null;
  path: PathAnswer['path'] | null;
  drag: { kind: 'area' | 'zoom' | 'ruler'; x0: number; y0: number; x1: number; y1: number } | null;
  ruler: [number, number] | null;
  hover: { x: number; y: number } | null;
  cursor: number | null;
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where rows are drawn on a canvas of this size, below the axis and the pinned rows. */
export function rowsArea(width: number, height: number, pins: number): Area {
  const y = kAxis + pins * kPinned + (pins > 0 ? 4 : 0);
  return { x: kGutter, y, width: Math.max(1, width - kGutter), height: Math.max(1, height - y) };
}

const placeOf = (view: Viewport, area: Area, ns: number) => area.x + ((ns - view.from) / (view.to - view.from)) * area.width;
const lineOf = (view: Viewport, area: Area, row: number) => area.y + ((row - view.top) / view.rows) * area.height;

function drawCalls(pen: Pen, scene: Scene, view: Viewport, area: Area, chunk: Chunk, first: number, last: number): void {
  const { calls } = chunk;
  const { palette, meta } = scene;
  const rowHeight = area.height / view.rows;
  const gap = rowHeight > 8 ? 1 : 0;
  const colours: Rgb[] = (meta.functions?.group ?? []).map(groupColour);
  const from = Math.max(view.from, chunk.from);
  const to = Math.min(view.to, chunk.to);
  // Whole pixels, so that no seam is seen where two chunks meet.
  const [left, right] = [Math.round(placeOf(view, area, from)), Math.round(placeOf(view, area, to))];
  for (let process = Math.max(first, chunk.firstProcess); process <= Math.min(last, chunk.lastProcess); ++process) {
    const top = lineOf(view, area, process);
    pen.fillStyle = css(palette.computing);
    pen.fillRect(left, top, right - left, rowHeight - gap);
    for (const at of chunk.of.get(process) ?? []) {
      const [begin, end] = [calls.begin[at]!, calls.end[at]!];
      if (end <= from || begin >= to || calls.thread[at]! > 0) continue;
      const [x, next] = [Math.max(left, placeOf(view, area, begin)), Math.min(right, placeOf(view, area, end))];
      const inset = Math.min(calls.depth[at]! * 3, rowHeight / 2);
      const f = calls.function[at]!;
      let colour = colours[f] ?? palette.faint;
      const dimmed = (scene.litFunctions !== null && !scene.litFunctions[f]) || (scene.litSites !== null && !scene.litSites.has(calls.site[at]!));
      if (dimmed) colour = mix(colour, palette.paper, 0.75);
      const width = Math.max(0.7, next - x);
      pen.fillStyle = css(scene.layer === 'waits' ? mix(palette.computing, colour, 0.35) : colour);
      pen.fillRect(x, top + inset, width, rowHeight - gap - inset);
      const wait = calls.wait[at]!;
      if (wait > 0) {
        const awaited = calls.waitFor[at]!;
        const waitEnd = Math.min(right, placeOf(view, area, begin + wait));
        const awaitedColour = awaited === nobody ? palette.wait : rankColour(meta.processes.rank[awaited] ?? awaited);
        pen.fillStyle = css(dimmed ? mix(awaitedColour, palette.paper, 0.75) : awaitedColour);
        const h = scene.layer === 'waits' ? rowHeight - gap : Math.max(2, rowHeight * 0.33);
        if (waitEnd > x) pen.fillRect(x, top + rowHeight - gap - h, Math.max(0.7, waitEnd - x), h);
      }
      const goesOn = begin < chunk.from && chunk.from > view.from; // its name is in the chunk before
      if (width > 46 && rowHeight > 13 && !goesOn) {
        const text = meta.functions?.name[f] ?? '';
        const most = Math.floor((width - 6) / 6.2);
        pen.font = font(11);
        pen.textBaseline = 'middle';
        pen.textAlign = 'left';
        pen.fillStyle = inkOn(colour);
        pen.fillText(text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text, x + 3, top + inset + Math.min(rowHeight * 0.33, 9) + 2);
      }
    }
  }
}

const inkOn = ([r, g, b]: Rgb): string => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111' : '#fff');

/** Whether single calls are drawn at this zoom: where they are few enough to be told apart. */
export function wantsCalls(layout: TimelineLayout, view: Viewport): boolean {
  const last = layout.bin_ns[layout.bin_ns.length - 1] ?? 0;
  const events = ((view.to - view.from) / last) * 32 * Math.min(view.rows + 1, 128);
  return view.rows <= 128 && (events < 30_000 || view.to - view.from < last * 4);
}

/** Rows of processes in `area`; the number of tiles for which there was nothing to draw. */
function drawRows(pen: Pen, scene: Scene, tiles: Tiles, raw: RawCalls, view: Viewport, area: Area): number {
  const { layout, palette } = scene;
  const count = scene.meta.processes.rank.length;
  const rowHeight = area.height / view.rows;
  const group = tiles.groupFor(rowHeight);
  const perTile = layout.rows_per_tile * group;
  const level = levelFor(layout.bin_ns, (view.to - view.from) / area.width);
  const tileNs = layout.bin_ns[level]! * layout.bins_per_tile;
  const [first, last] = [Math.max(0, Math.floor(view.top)), Math.min(count - 1, Math.ceil(view.top + view.rows) - 1)];
  let blanks = 0;
  pen.save();
  pen.beginPath();
  pen.rect(area.x, area.y, area.width, area.height);
  pen.clip();
  pen.fillStyle = css(palette.panel);
  pen.fillRect(area.x, area.y, area.width, area.height);
  pen.imageSmoothingEnabled = rowHeight * group < 1;
  const layers: Layer[] = [scene.layer === 'functions' && rowHeight >= 9 ? 'split' : scene.layer, ...(scene.showPath && !wantsCalls(layout, view) ? (['path'] as const) : [])];
  const columns = layout.columns[level] ?? 1;
  const from = Math.max(0, Math.floor((view.from - layout.from_ns) / tileNs));
  const to = Math.min(columns - 1, Math.floor((view.to - layout.from_ns) / tileNs));
  for (let row = Math.floor(first / perTile); row <= Math.floor(last / perTile); ++row)
    for (let column = from; column <= to; ++column)
      for (const layer of layers) {
        const piece = tiles.piece(level, row, column, { layer, palette, lit: scene.litFunctions }, group);
        if (!piece) {
          ++blanks;
          continue;
        }
        const rows = Math.min(perTile, count - row * perTile);
        const x = placeOf(view, area, layout.from_ns + column * tileNs);
        const y = lineOf(view, area, row * perTile);
        pen.drawImage(piece.picture, piece.sx, piece.sy, piece.sw, piece.sh, x, y, (tileNs / (view.to - view.from)) * area.width + 0.5, rows * rowHeight);
      }
  if (wantsCalls(layout, view)) for (const chunk of raw.of(view.from, view.to, first, last)) drawCalls(pen, scene, view, area, chunk, first, last);
  if (scene.path && wantsCalls(layout, view)) drawPath(pen, scene, scene.path, view, area);
  if (rowHeight >= 6) {
    pen.fillStyle = css(palette.paper);
    for (let row = first; row <= last; ++row) pen.fillRect(area.x, lineOf(view, area, row + 1) - 1, area.width, 1);
  }
  dimRows(pen, scene, view, area, first, last);
  dimTimes(pen, scene, view, area);
  pen.restore();
  return blanks;
}

function drawPath(pen: Pen, scene: Scene, path: PathAnswer['path'], view: Viewport, area: Area): void {
  const rowHeight = area.height / view.rows;
  const thick = Math.max(1.5, Math.min(4, rowHeight / 6));
  pen.fillStyle = css(scene.palette.path);
  let before = -1;
  path.process.forEach((process, at) => {
    const [x, next] = [placeOf(view, area, path.begin_ns[at]!), placeOf(view, area, path.end_ns[at]!)];
    const y = lineOf(view, area, process) + rowHeight * 0.55;
    pen.fillRect(x, y - thick / 2, Math.max(0.7, next - x), thick);
    // From the rank that it was on before: down or up to this one.
    if (before >= 0 && before !== process) {
      const other = lineOf(view, area, before) + rowHeight * 0.55;
      pen.fillRect(x - 0.5, Math.min(y, other), 1, Math.abs(y - other));
    }
    before = process;
  });
}

function dimRows(pen: Pen, scene: Scene, view: Viewport, area: Area, first: number, last: number): void {
  if (!scene.lit) return;
  pen.fillStyle = css(scene.palette.paper, 0.68);
  for (let row = first; row <= last; ) {
    let end = row;
    while (end <= last && !scene.lit.has(scene.meta.processes.rank[end]!)) ++end;
    if (end > row) pen.fillRect(area.x, lineOf(view, area, row), area.width, lineOf(view, area, end) - lineOf(view, area, row));
    row = Math.max(end, row) + 1;
  }
}

function dimTimes(pen: Pen, scene: Scene, view: Viewport, area: Area): void {
  const window = scene.choice.window;
  if (!window) return;
  const left = Math.max(area.x, Math.min(area.x + area.width, placeOf(view, area, window[0])));
  const right = Math.max(area.x, Math.min(area.x + area.width, placeOf(view, area, window[1])));
  pen.fillStyle = css(scene.palette.paper, 0.68);
  pen.fillRect(area.x, area.y, left - area.x, area.height);
  pen.fillRect(right, area.y, area.x + area.width - right, area.height);
  pen.fillStyle = css(scene.palette.chosen);
  pen.fillRect(left - 1, area.y, 1, area.height);
  pen.fillRect(right, area.y, 1, area.height);
}

function drawGutter(pen: Pen, scene: Scene, view: Viewport, area: Area): void {
  const { palette, meta } = scene;
  const rowHeight = area.height / view.rows;
  const step = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192].find((s) => s * rowHeight >= 14) ?? 16384;
  const rows = meta.processes.rank;
  pen.font = font(11);
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  for (let row = Math.max(0, Math.floor(view.top)); row < Math.min(rows.length, view.top + view.rows); ++row) {
    const rank = rows[row]!;
    const y = lineOf(view, area, row) + rowHeight / 2;
    if (scene.culprits.has(rank)) {
      pen.fillStyle = css(palette.wait);
      pen.fillRect(area.x - 5, lineOf(view, area, row), 4, Math.max(1.5, rowHeight - 1));
    }
    if (row === scene.focus) {
      pen.fillStyle = css(palette.chosen);
      pen.fillRect(0, lineOf(view, area, row), 3, Math.max(2, rowHeight));
    }
    if (row % step !== 0 || y < area.y + 5 || y > area.y + area.height - 4) continue;
    pen.fillStyle = css(scene.lit && !scene.lit.has(rank) ? mix(palette.faint, palette.paper, 0.45) : palette.ink);
    pen.fillText(`${step === 1 ? 'rank ' : ''}${rank}`, area.x - 9, y);
  }
}

function drawAxis(pen: Pen, scene: Scene, view: Viewport, area: Area): void {
  const { palette } = scene;
  pen.fillStyle = css(palette.panel);
  pen.fillRect(0, 0, area.x + area.width, kAxis);
  const { step, at } = marks(view.from, view.to, area.width / 120);
  pen.font = font(11);
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  for (const ns of at) {
    const x = placeOf(view, area, ns);
    pen.fillStyle = css(palette.line);
    pen.fillRect(x, 0, 1, kAxis);
    pen.fillStyle = css(palette.faint);
    const text = moment(ns, step);
    if (x + 4 + pen.measureText(text).width < area.x + area.width) pen.fillText(text, x + 4, kAxis / 2);
  }
  pen.fillStyle = css(palette.faint);
  pen.textAlign = 'right';
  pen.fillText(humanNs(view.to - view.from), area.x - 6, kAxis / 2);
}

/** Whether a message belongs to the chosen class; null: all do. */
export function isOfClass(messages: Messages['messages'], at: number, chosen: string | null): boolean {
  return chosen === null || (messages.class?.[at] ?? chosen) === chosen;
}

function drawMessages(pen: Pen, scene: Scene, view: Viewport, area: Area, rowOf: Map<number, number>): void {
  const shown = scene.messages?.messages;
  if (!shown) return;
  const { palette } = scene;
  pen.save();
  pen.beginPath();
  pen.rect(area.x, area.y, area.width, area.height);
  pen.clip();
  const half = area.height / view.rows / 2;
  for (let at = shown.source.length - 1; at >= 0; --at) {
    const [s, d] = [shown.source[at]!, shown.destination[at]!];
    if (scene.choice.pair && (scene.choice.pair[0] !== s || scene.choice.pair[1] !== d)) continue;
    const [a, b] = [rowOf.get(s), rowOf.get(d)];
    if (a === undefined || b === undefined) continue;
    const [x0, y0] = [placeOf(view, area, shown.sent_ns[at]!), lineOf(view, area, a) + half];
    const [x1, y1] = [placeOf(view, area, shown.received_ns[at]!), lineOf(view, area, b) + half];
    const costly = shown.wait_ns[at]! > 0;
    const { window } = scene.choice;
    const apart = window !== null && (shown.received_ns[at]! < window[0] || shown.sent_ns[at]! >= window[1]);
    const dimmed = apart || !isOfClass(shown, at, scene.messageClass);
    pen.strokeStyle = css(costly ? palette.wait : palette.ink, dimmed ? 0.1 : costly ? 0.9 : 0.45);
    pen.fillStyle = pen.strokeStyle;
    pen.lineWidth = costly ? 1.5 : 0.8;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    const angle = Math.atan2(y1 - y0, x1 - x0);
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
    pen.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
    pen.closePath();
    pen.fill();
  }
  pen.restore();
}

function drawOverlays(pen: Pen, scene: Scene, view: Viewport, area: Area, height: number): void {
  const { palette, drag } = scene;
  const span = (ns: [number, number]) => {
    const [x0, x1] = [placeOf(view, area, ns[0]), placeOf(view, area, ns[1])];
    pen.strokeStyle = css(palette.chosen);
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const x of [x0, x1]) {
      pen.moveTo(x, kAxis);
      pen.lineTo(x, height);
    }
    const y = area.y + 12;
    pen.moveTo(x0, y);
    pen.lineTo(x1, y);
    pen.stroke();
    const text = humanNs(Math.abs(ns[1] - ns[0]));
    pen.font = font(12, 600);
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    const w = pen.measureText(text).width + 10;
    pen.fillStyle = css(palette.paper);
    pen.fillRect((x0 + x1) / 2 - w / 2, y - 9, w, 18);
    pen.fillStyle = css(palette.chosen);
    pen.fillText(text, (x0 + x1) / 2, y);
  };
  if (scene.ruler) span(scene.ruler);
  if (drag) {
    pen.fillStyle = css(palette.chosen, 0.18);
    pen.strokeStyle = css(palette.chosen);
    pen.lineWidth = 1;
    const [x, w] = [Math.min(drag.x0, drag.x1), Math.abs(drag.x1 - drag.x0)];
    const [y, h] = drag.kind === 'area' ? [Math.min(drag.y0, drag.y1), Math.abs(drag.y1 - drag.y0)] : [0, height];
    pen.fillRect(x, y, w, h);
    pen.strokeRect(x, y, w, h);
  }
  if (scene.cursor !== null) {
    pen.fillStyle = css(palette.chosen);
    pen.fillRect(placeOf(view, area, scene.cursor), kAxis, 1.5, height);
  }
  if (scene.hover && scene.hover.x > area.x && !drag) {
    pen.fillStyle = css(palette.ink, 0.35);
    pen.fillRect(scene.hover.x, kAxis, 1, height - kAxis);
    if (scene.hover.y > area.y) pen.fillRect(area.x, scene.hover.y, area.width, 1);
  }
}

/** One frame; the number of places that stayed blank. */
export function drawTimeline(pen: Pen, scene: Scene, tiles: Tiles, raw: RawCalls, view: Viewport, width: number, height: number, rowOf: Map<number, number>): number {
  const { palette } = scene;
  const pins = scene.pins.filter((rank) => rowOf.has(rank));
  const area = rowsArea(width, height, pins.length);
  pen.fillStyle = css(palette.paper);
  pen.fillRect(0, 0, width, height);
  let blanks = drawRows(pen, scene, tiles, raw, view, area);
  drawGutter(pen, scene, view, area);
  pins.forEach((rank, at) => {
    const pinned: Area = { x: area.x, y: kAxis + at * kPinned, width: area.width, height: kPinned };
    const one = { ...view, top: rowOf.get(rank)!, rows: 1 };
    blanks += drawRows(pen, scene, tiles, raw, one, pinned);
    drawGutter(pen, { ...scene, focus: -1 }, one, pinned);
    pen.fillStyle = css(palette.chosen);
    pen.beginPath();
    pen.arc(8, pinned.y + kPinned / 2, 3.5, 0, 2 * Math.PI);
    pen.fill();
  });
  if (pins.length > 0) {
    pen.fillStyle = css(palette.faint);
    pen.fillRect(0, area.y - 3, width, 1.5);
  }
  drawMessages(pen, scene, view, area, rowOf);
  drawAxis(pen, scene, view, area);
  drawOverlays(pen, scene, view, area, height);
  return blanks;
}
