// SPDX-License-Identifier: BSD-3-Clause
// The tiles of the timeline: asked for when they are needed, drawn once into a small picture, and kept. Until a
// tile is there, the part of the nearest coarser tile that covers it stands in: one of longer bins, or of lines that
// are groups of more ranks. The coarsest level is never given up, so once it is there, nothing is ever blank.
import { amountColour, groupColour, logShare, mix, Palette, rankColour, Rgb } from '../pure/colour';
import { nobody, outside, readTile, Tile } from '../pure/tile';
import { askBytes, forget, GivenUp } from '../shell/ask';
import type { Meta, TimelineLayout } from '../shell/protocol';

export type Layer = 'functions' | 'waits' | 'transfers' | 'mpi' | 'phases' | 'path' | 'split';

export interface Look {
  layer: Layer;
  palette: Palette;
  /** of each function, whether what is chosen is about it; null: all. Where a rank is in another, it is dimmed */
  lit: boolean[] | null;
}

interface Entry {
  tile: Tile | null;
  /** aborts the request that is on its way */
  request: AbortController | null;
  used: number;
  pictures: Map<string, HTMLCanvasElement>;
}

interface Place {
  key: string;
  level: number;
  row: number;
  column: number;
  /** ranks of a line */
  group: number;
}

export interface Piece {
  picture: HTMLCanvasElement;
  sx: number;
  sy: number;
  sw: number;
  sh: number;
}

const litKeys = new WeakMap<boolean[], string>();
function keyOf(lit: boolean[] | null): string {
  if (!lit) return '';
  let key = litKeys.get(lit);
  if (key === undefined) litKeys.set(lit, (key = lit.flatMap((on, at) => (on ? [at] : [])).join()));
  return `of ${key}`;
}

const kMostTiles = 600;
const kAtOnce = 6;
// Amounts of bytes per second between which colours differ, the same at all levels.
const kLeastRate = 1e3;
const kMostRate = 2e10;

export class Tiles {
  private entries = new Map<string, Entry>();
  private queue: Place[] = [];
  private groups: number[];
  private running = 0;
  private clock = 0;
  private colours: Rgb[];
  private mpi: Rgb = [86, 130, 200];
  error: string | null = null;
  readyBits = 0;

  constructor(
    private meta: Meta,
    private layout: TimelineLayout,
    private arrived: () => void,
  ) {
    this.colours = (meta.functions?.group ?? []).map(groupColour);
    this.groups = layout.groups?.length ? layout.groups : [1];
  }

  private key = (level: number, row: number, column: number, group: number) => `${level}/${row}/${column}/${group}`;

  /** Begins a frame: what was wanted before and is not there yet is wanted no more, unless asked for again. */
  begin(): void {
    ++this.clock;
    this.queue = [];
  }

  private entry(level: number, row: number, column: number, group: number): Entry | undefined {
    const found = this.entries.get(this.key(level, row, column, group));
    if (found) found.used = this.clock;
    return found;
  }

  private want(level: number, row: number, column: number, group: number): void {
    const key = this.key(level, row, column, group);
    const old = this.entries.get(key);
    if (old) return;
    if (!this.queue.some((q) => q.key === key)) this.queue.push({ key, level, row, column, group });
  }

  /** Ends a frame: asks for what is wanted, the coarsest first. What is on its way and not wanted is aborted. */
  end(): void {
    for (const [key, entry] of [...this.entries])
      if (entry.request && !entry.tile && entry.used !== this.clock && !key.startsWith('0/')) {
        this.entries.delete(key);
        entry.request.abort();
      }
    this.queue.sort((a, b) => a.level - b.level || b.group - a.group);
    while (this.running < kAtOnce && this.queue.length > 0) this.send(this.queue.shift()!);
    if (this.entries.size > kMostTiles) this.giveUp();
  }

  private question({ level, row, column, group }: Omit<Place, 'key'>, signal?: AbortSignal): Promise<ArrayBuffer> {
    return askBytes('/api/tile', { run: this.meta.run, level, row, column, ...(group > 1 ? { group } : {}) }, signal);
  }

  private send(wanted: Place): void {
    ++this.running;
    const entry: Entry = { tile: null, request: new AbortController(), used: this.clock, pictures: new Map() };
    this.entries.set(wanted.key, entry);
    this.question(wanted, entry.request!.signal)
      .then((buffer) => {
        entry.tile = readTile(buffer);
        this.readyBits = entry.tile.ready;
        this.error = null;
      })
      .catch((error: unknown) => {
        if (error instanceof GivenUp) return;
        this.error = error instanceof Error ? error.message : String(error);
        // Asked again after a while, not in each frame.
        setTimeout(() => this.entries.get(wanted.key) === entry && this.entries.delete(wanted.key), 2000);
      })
      .finally(() => {
        entry.request = null;
        --this.running;
        this.arrived();
      });
  }

  private giveUp(): void {
    const old = [...this.entries].filter(([key, entry]) => entry.tile && !key.startsWith('0/')).sort((a, b) => a[1].used - b[1].used);
    for (const [key] of old.slice(0, this.entries.size - kMostTiles)) this.entries.delete(key);
  }

  /** Planes that were not computed yet are asked for again. */
  refresh(): void {
    forget('/api/tile');
    for (const [key, entry] of [...this.entries]) if (entry.tile && (entry.tile.ready & 7) !== 7) this.again(key, entry);
  }

  private again(key: string, entry: Entry): void {
    const [level, row, column, group] = key.split('/').map(Number) as [number, number, number, number];
    this.question({ level, row, column, group })
      .then((buffer) => {
        entry.tile = readTile(buffer);
        this.readyBits = entry.tile.ready;
        entry.pictures.clear();
        this.arrived();
      })
      .catch(() => undefined);
  }

  /** Whether the coarsest level is there for all rows from `first` to `last`. */
  hasWhole(first: number, last: number): boolean {
    for (let row = first; row <= last; ++row) if (!this.entries.get(this.key(0, row, 0, this.groups[0]!))?.tile) return false;
    return true;
  }

  /** How many ranks a line has where a rank is so high: the most whose line is not much more than a pixel. */
  groupFor(rowHeight: number): number {
    return this.groups.reduce((best, group) => (group * rowHeight <= 1.5 ? group : best), this.groups[0]!);
  }

  /** What to draw at a place of `level`: its own picture, or the part of a coarser one; null: nothing is there. */
  piece(level: number, row: number, column: number, look: Look, group: number): Piece | null {
    const perTile = this.layout.rows_per_tile;
    const first = row * perTile * group;
    const ranks = Math.min(perTile * group, this.meta.processes.rank.length - first);
    const coarsest = this.groups[this.groups.length - 1]!;
    this.want(0, Math.floor(first / (perTile * coarsest)), 0, coarsest);
    this.want(0, row, 0, group);
    this.want(level, row, column, group);
    for (const wide of this.groups) {
      if (wide < group) continue;
      const above = Math.floor(first / (perTile * wide));
      for (let up = level, at = column; up >= 0; --up) {
        const entry = this.entry(up, above, at >>> 0, wide);
        if (entry?.tile) {
          const picture = this.picture(entry, look);
          const scale = 4 ** (level - up);
          const width = 256 / scale;
          const lines = picture.height / Math.max(1, entry.tile.processes);
          return { picture, sx: (column % scale) * width, sy: (first / wide - above * perTile) * lines, sw: width, sh: (ranks / wide) * lines };
        }
        at = Math.floor(at / 4);
      }
    }
    return null;
  }

  /** The tile itself that knows most about a moment of a process, for tips. */
  at(level: number, process: number, ns: number): { tile: Tile; index: number } | null {
    for (const group of this.groups) {
      const line = Math.floor(process / group);
      const row = Math.floor(line / this.layout.rows_per_tile);
      for (let up = level; up >= 0; --up) {
        const bin = Math.floor((ns - this.layout.from_ns) / this.layout.bin_ns[up]!);
        const entry = this.entries.get(this.key(up, row, Math.floor(bin / 256), group));
        const within = bin - Math.floor(bin / 256) * 256;
        const p = line - row * this.layout.rows_per_tile;
        if (entry?.tile && p < entry.tile.processes && within < entry.tile.bins) return { tile: entry.tile, index: p * entry.tile.bins + within };
      }
    }
    return null;
  }

  private picture(entry: Entry, look: Look): HTMLCanvasElement {
    const key = `${look.layer} ${look.palette.dark} ${keyOf(look.lit)}`;
    const old = entry.pictures.get(key);
    if (old) return old;
    if (entry.pictures.size > 3) entry.pictures.clear();
    const made = this.make(entry.tile!, look);
    entry.pictures.set(key, made);
    return made;
  }

  private functionColour(tile: Tile, i: number, look: Look): Rgb {
    const f = tile.function ? tile.function[i]! : outside;
    const mpi = (tile.mpiShare ? tile.mpiShare[i]! : 0) / 255;
    const known = f !== outside ? this.colours[f] : undefined;
    const colour = known ? mix(look.palette.computing, known, Math.max(0.35, mpi)) : mix(look.palette.computing, this.mpi, mpi);
    return colour;
  }

  private waitColour(tile: Tile, i: number, look: Look, none: Rgb): Rgb {
    const share = (tile.waitShare ? tile.waitShare[i]! : 0) / 255;
    const culprit = tile.waitFor ? tile.waitFor[i]! : nobody;
    if (share === 0) return none;
    const rank = culprit === nobody ? -1 : (this.meta.processes.rank[culprit] ?? culprit);
    return mix(none, rank < 0 ? look.palette.wait : rankColour(rank), 0.3 + 0.7 * share);
  }

  private dimmed(tile: Tile, i: number, look: Look, colour: Rgb): Rgb {
    return look.lit && !look.lit[tile.function ? tile.function[i]! : outside] ? mix(colour, look.palette.paper, 0.75) : colour;
  }

  private colour(tile: Tile, i: number, look: Look): Rgb {
    const { palette } = look;
    switch (look.layer) {
      case 'waits':
        return this.waitColour(tile, i, look, mix(palette.computing, this.mpi, ((tile.mpiShare?.[i] ?? 0) / 255) * 0.25));
      case 'transfers': {
        const rate = ((tile.bytesIn?.[i] ?? 0) + (tile.bytesOut?.[i] ?? 0)) / ((tile.binNs / 1e9) * tile.group);
        return rate > 0 ? amountColour(0.1 + 0.9 * logShare(rate, kLeastRate, kMostRate), palette.dark) : palette.computing;
      }
      case 'mpi':
        return amountColour((tile.mpiShare?.[i] ?? 0) / 255, palette.dark);
      case 'phases': {
        const phase = tile.phase?.[i] ?? outside;
        return phase === outside ? palette.computing : mix(palette.computing, rankColour(phase), 0.8);
      }
      default:
        return this.functionColour(tile, i, look);
    }
  }

  private make(tile: Tile, look: Look): HTMLCanvasElement {
    // "split" has three lines a process: two of its functions, one of its waits. "path" has the middle one.
    const lines = look.layer === 'split' || look.layer === 'path' ? 3 : 1;
    const canvas = document.createElement('canvas');
    canvas.width = 256;
    canvas.height = Math.max(1, tile.processes * lines);
    const context = canvas.getContext('2d')!;
    const image = context.createImageData(canvas.width, canvas.height);
    const words = new Uint32Array(image.data.buffer);
    const word = (c: Rgb, alpha = 255) => ((alpha << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
    for (let p = 0; p < tile.processes; ++p)
      for (let b = 0; b < tile.bins; ++b) {
        const i = p * tile.bins + b;
        const at = p * lines * 256 + b;
        if (look.layer === 'path') {
          const share = tile.pathShare?.[i] ?? 0;
          if (share > 0) words[at + 256] = word(look.palette.path, 90 + Math.round((165 * share) / 255));
        } else if (look.layer === 'split') {
          const colour = this.functionColour(tile, i, look);
          words[at] = words[at + 256] = word(this.dimmed(tile, i, look, colour));
          words[at + 512] = word(this.dimmed(tile, i, look, this.waitColour(tile, i, look, colour)));
        } else {
          words[at] = word(this.dimmed(tile, i, look, this.colour(tile, i, look)));
        }
      }
    context.putImageData(image, 0, 0);
    return canvas;
  }
}
