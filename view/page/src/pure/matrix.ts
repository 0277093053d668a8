// SPDX-License-Identifier: BSD-3-Clause
// Matrices as the server answers them: all pairs of small ones, tiles of large ones ("FVM1"), and pictures of
// them at every zoom. A cell of a picture that stands for several has the largest of them, so that a single
// heavy pair is seen however far one is away.

export interface Grid {
  /** cells on a side */
  size: number;
  /** by row (sender), then column (receiver); 0: nothing */
  values: Float64Array;
  least: number;
  most: number;
}

export function gridOf(size: number, source: readonly number[], destination: readonly number[], value: readonly number[], place: readonly number[]): Grid {
  const values = new Float64Array(size * size);
  let least = Infinity;
  let most = 0;
  for (let at = 0; at < source.length; ++at) {
    const [i, j] = [place[source[at]!]!, place[destination[at]!]!];
    if (!(i < size) || !(j < size)) continue;
    const v = (values[i * size + j]! += value[at]!);
    if (v > 0 && v < least) least = v;
    if (v > most) most = v;
  }
  return { size, values, least: most > 0 ? least : 0, most };
}

/** The same with half as many cells on a side; each is the largest of four. */
export function halved(grid: Grid): Grid {
  const size = Math.ceil(grid.size / 2);
  const values = new Float64Array(size * size);
  for (let i = 0; i < grid.size; ++i)
    for (let j = 0; j < grid.size; ++j) {
      const v = grid.values[i * grid.size + j]!;
      const at = (i >> 1) * size + (j >> 1);
      if (v > values[at]!) values[at] = v;
    }
  return { ...grid, size, values };
}

export interface MatrixTile {
  level: number;
  row: number;
  column: number;
  rows: number;
  columns: number;
  /** ranks that a cell stands for, on each side */
  cell: number;
  levels: number;
  total: number;
  /** of a single pair */
  max: number;
  values: Float64Array;
  /** of level 0: the ranks at each position; null in others */
  order: number[] | null;
}

export function readMatrixTile(buffer: ArrayBuffer): MatrixTile {
  const view = new DataView(buffer);
  const name = buffer.byteLength < 4 ? '' : String.fromCharCode(view.getUint8(0), view.getUint8(1), view.getUint8(2), view.getUint8(3));
  if (name !== 'FVM1' || buffer.byteLength < 52) throw new Error('the answer is not a tile of a matrix');
  const u32 = (at: number) => view.getUint32(at, true);
  const [rows, columns] = [u32(16), u32(20)];
  const begin = 52;
  if (rows > 256 || columns > 256) throw new Error('the tile is larger than tiles are');
  if (buffer.byteLength < begin + rows * columns * 8) throw new Error('the tile is cut short');
  const values = new Float64Array(rows * columns);
  for (let at = 0; at < values.length; ++at) values[at] = view.getFloat64(begin + at * 8, true);
  const size = u32(32);
  const places = begin + values.length * 8;
  if (buffer.byteLength < places + size * 4) throw new Error('the tile is cut short');
  return {
    order: size > 0 ? Array.from({ length: size }, (_, at) => u32(places + at * 4)) : null,
    level: u32(4), row: u32(8), column: u32(12), rows, columns, cell: u32(24), levels: u32(28),
    total: view.getFloat64(36, true), max: view.getFloat64(44, true), values,
  };
}

/** The square part that is shown: positions, which may be fractions. */
export interface Square {
  x: number;
  y: number;
  size: number;
}

export function clampedSquare(square: Square, count: number): Square {
  const size = Math.min(Math.max(square.size, Math.min(4, count)), count);
  return { size, x: Math.max(0, Math.min(square.x, count - size)), y: Math.max(0, Math.min(square.y, count - size)) };
}

/** `factor` < 1 shows fewer; what is at the shares `ax`, `ay` stays there. */
export function zoomedSquare(square: Square, factor: number, ax: number, ay: number, count: number): Square {
  const size = Math.min(Math.max(square.size * factor, Math.min(4, count)), count);
  return clampedSquare({ size, x: square.x + (square.size - size) * ax, y: square.y + (square.size - size) * ay }, count);
}

/** The level of tiles whose cells are at most `most` pixels wide; `cells` are ranks a cell, by level. */
export function matrixLevel(cells: readonly number[], pixelsPerRank: number, most = 2): number {
  for (let level = 0; level < cells.length; ++level) if (cells[level]! * pixelsPerRank <= most) return level;
  return Math.max(0, cells.length - 1);
}
