// SPDX-License-Identifier: BSD-3-Clause
// Pictures of a matrix, whether it came whole or comes in tiles.
import { amountColour, css, logShare, mix, Palette, Rgb } from '../pure/colour';
import { Grid, gridOf, halved, matrixLevel, MatrixTile, readMatrixTile, Square } from '../pure/matrix';
import { answerKey, Parameters } from '../pure/answer_key';
import { askBytes, GivenUp } from '../shell/ask';
import type { Pen } from '../shell/picture';

export interface WholeMatrix {
  what: string;
  by: string;
  size: number;
  labels: string[];
  order: number[];
  hosts: (string | number)[];
  total: number;
  max: number;
  source: number[];
  destination: number[];
  value: number[];
}

export interface MatrixLook {
  palette: Palette;
  /** positions that are not dimmed; null: all */
  lit: Uint8Array | null;
}

/** What the page needs of a matrix. */
export interface MatrixSource {
  count: number;
  /** draws the part `square` into a square of `side` pixels; the number of blank places */
  draw(pen: Pen, square: Square, side: number, look: MatrixLook): number;
  /** of one cell, and of how many ranks that cell is; null: not there yet */
  valueAt(row: number, column: number, square: Square, side: number): { value: number; cell: number } | null;
  range(): { least: number; most: number; total: number };
}

function cellColour(value: number, least: number, most: number, look: MatrixLook, lit: boolean): Rgb {
  const { palette } = look;
  if (!(value > 0)) return palette.panel;
  const colour = amountColour(0.12 + 0.88 * logShare(value, least * 0.8, most), palette.dark);
  return lit ? colour : mix(colour, palette.paper, 0.78);
}

function pictureOf(rows: number, columns: number, colour: (i: number, j: number) => Rgb): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(columns, rows);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < columns; ++j) {
      const [r, g, b] = colour(i, j);
      words[i * columns + j] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }
  context.putImageData(image, 0, 0);
  return canvas;
}

export class WholeSource implements MatrixSource {
  count: number;
  private grids: Grid[];
  private pictures: HTMLCanvasElement[] = [];
  private look: MatrixLook | null = null;

  constructor(private answer: WholeMatrix) {
    this.count = answer.size;
    const place: number[] = [];
    for (let at = 0; at < answer.size; ++at) place[answer.order[at] ?? at] = at;
    this.grids = [gridOf(answer.size, answer.source, answer.destination, answer.value, place)];
    for (let grid = this.grids[0]!; grid.size > 64; this.grids.push(grid)) grid = halved(grid);
  }

  draw(pen: Pen, square: Square, side: number, look: MatrixLook): number {
    if (!this.look || this.look.palette !== look.palette || this.look.lit !== look.lit) {
      this.pictures = [];
      this.look = look;
    }
    const pixels = side / square.size;
    let level = 0;
    while (level + 1 < this.grids.length && pixels * 2 ** level < 0.75) ++level;
    const grid = this.grids[level]!;
    const scale = 2 ** level;
    const isLit = (i: number, j: number) => {
      if (!look.lit) return true;
      for (let k = i * scale; k < (i + 1) * scale; ++k) if (look.lit[k]) return true;
      for (let k = j * scale; k < (j + 1) * scale; ++k) if (look.lit[k]) return true;
      return false;
    };
    const lines = look.lit ? Array.from({ length: grid.size }, (_, i) => isLit(i, i)) : null;
    const picture = (this.pictures[level] ??= pictureOf(grid.size, grid.size, (i, j) =>
      cellColour(grid.values[i * grid.size + j]!, grid.least, grid.most, look, !lines || lines[i]! || lines[j]!)));
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture, square.x / scale, square.y / scale, square.size / scale, square.size / scale, 0, 0, side, side);
    return 0;
  }
  valueAt(row: number, column: number) {
    return { value: this.grids[0]!.values[row * this.count + column] ?? 0, cell: 1 };
  }
  range() {
    return { least: this.grids[0]!.least, most: this.grids[0]!.most, total: this.answer.total };
  }
}

interface Held {
  tile: MatrixTile | null;
  picture: HTMLCanvasElement | null;
  look: MatrixLook | null;
  scale: string;
  used: number;
  /** aborts the request that is on its way */
  request: AbortController | null;
}

const kMost = 300;

export class TiledSource implements MatrixSource {
  private held = new Map<string, Held>();
  private cells: number[] = [];
  private least: number[] = [];
  private most: number[] = [];
  private total = 0;
  private clock = 0;
  error: string | null = null;
  /** the ranks at each position; null: not there yet */
  order: number[] | null = null;

  constructor(
    public count: number,
    readonly parameters: Parameters,
    private arrived: () => void,
  ) {
    this.want(0, 0, 0);
  }

  private want(level: number, row: number, column: number): Held | undefined {
    const key = `${level}/${row}/${column}`;
    const old = this.held.get(key);
    if (old) {
      old.used = this.clock;
      return old;
    }
    const held: Held = { tile: null, picture: null, look: null, scale: '', used: this.clock, request: new AbortController() };
    this.held.set(key, held);
    askBytes('/api/matrix', { ...this.parameters, level, row, column }, held.request!.signal)
      .then((buffer) => this.take(held, readMatrixTile(buffer)))
      .catch((error: unknown) => {
        if (error instanceof GivenUp) return;
        this.error = error instanceof Error ? error.message : String(error);
        setTimeout(() => this.held.get(key) === held && this.held.delete(key), 2000);
      })
      .finally(() => {
        held.request = null;
        this.arrived();
      });
    if (this.held.size > kMost)
      for (const [name] of [...this.held].filter(([name]) => !name.startsWith('0/')).sort((a, b) => a[1].used - b[1].used).slice(0, 40)) this.held.delete(name);
    return held;
  }

  private take(held: Held, tile: MatrixTile): void {
    held.tile = tile;
    this.error = null;
    this.total = tile.total;
    if (tile.order) this.order = tile.order;
    if (tile.level === 0) for (let level = 0; level < Math.max(1, tile.levels); ++level) this.cells[level] = Math.max(1, tile.cell / 4 ** level);
    let least = this.least[tile.level] ?? Infinity;
    let most = this.most[tile.level] ?? 0;
    for (const value of tile.values) {
      if (value > most) most = value;
      if (value > 0 && value < least) least = value;
    }
    this.least[tile.level] = least;
    this.most[tile.level] = most;
  }

  private picture(held: Held, look: MatrixLook): HTMLCanvasElement {
    const tile = held.tile!;
    const [least, most] = [this.least[tile.level]!, this.most[tile.level]!];
    const scale = `${least} ${most}`;
    if (!held.picture || held.look?.palette !== look.palette || held.look.lit !== look.lit || held.scale !== scale) {
      const any = (position: number) => {
        if (!look.lit) return true;
        for (let k = position; k < position + tile.cell; ++k) if (look.lit[k]) return true;
        return false;
      };
      const rows = Array.from({ length: tile.rows }, (_, i) => any((tile.row * 256 + i) * tile.cell));
      const columns = Array.from({ length: tile.columns }, (_, j) => any((tile.column * 256 + j) * tile.cell));
      held.picture = pictureOf(tile.rows, tile.columns, (i, j) => cellColour(tile.values[i * tile.columns + j]!, least, most, look, rows[i]! || columns[j]!));
      held.look = look;
      held.scale = scale;
    }
    return held.picture;
  }

  draw(pen: Pen, square: Square, side: number, look: MatrixLook): number {
    ++this.clock;
    pen.imageSmoothingEnabled = false;
    pen.fillStyle = css(look.palette.panel);
    pen.fillRect(0, 0, side, side);
    const pixels = side / square.size;
    const wanted = this.cells.length > 0 ? matrixLevel(this.cells, pixels) : 0;
    // The coarser ones first, so that they stay where the finer are not there yet.
    const paint = (level: number): number => {
      const cell = this.cells[level] ?? Math.ceil(this.count / 256);
      const wide = cell * 256;
      let blanks = 0;
      for (let row = Math.floor(square.y / wide); row * wide < Math.min(this.count, square.y + square.size); ++row)
        for (let column = Math.floor(square.x / wide); column * wide < Math.min(this.count, square.x + square.size); ++column) {
          const held = level === 0 || level === wanted ? this.want(level, row, column) : this.held.get(`${level}/${row}/${column}`);
          if (!held?.tile) {
            ++blanks;
            continue;
          }
          const picture = this.picture(held, look);
          pen.drawImage(picture, 0, 0, picture.width, picture.height, (column * wide - square.x) * pixels, (row * wide - square.y) * pixels, picture.width * cell * pixels, picture.height * cell * pixels);
        }
      return blanks;
    };
    let blanks = 0;
    for (let level = 0; level <= wanted; ++level) {
      const left = paint(level);
      if (level === 0) blanks = left;
    }
    for (const [key, held] of [...this.held])
      if (held.request && held.used !== this.clock && !key.startsWith('0/')) {
        this.held.delete(key);
        held.request.abort();
      }
    return blanks;
  }

  valueAt(row: number, column: number, square: Square, side: number) {
    const pixels = side / square.size;
    for (let level = this.cells.length > 0 ? matrixLevel(this.cells, pixels) : 0; level >= 0; --level) {
      const cell = this.cells[level] ?? 1;
      const [i, j] = [Math.floor(row / cell), Math.floor(column / cell)];
      const tile = this.held.get(`${level}/${Math.floor(i / 256)}/${Math.floor(j / 256)}`)?.tile;
      if (tile) return { value: tile.values[(i % 256) * tile.columns + (j % 256)] ?? 0, cell };
    }
    return null;
  }
  range() {
    const level = this.most.length - 1;
    return { least: this.least[level] ?? 0, most: this.most[level] ?? 0, total: this.total };
  }
}

export const matrixKey = (parameters: Parameters): string => answerKey('/api/matrix', parameters);
