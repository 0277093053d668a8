// SPDX-License-Identifier: BSD-3-Clause
// Reads the binary answers of the timeline: tiles ("FVT1") and calls ("FVR1"), as docs/view-protocol.md lays
// them out. Whatever is shorter than it says, or something else, is refused with a sentence.

export const nobody = 4294967295;
export const outside = 65535;

export interface Tile {
  level: number;
  row: number;
  column: number;
  fromNs: number;
  binNs: number;
  processes: number;
  bins: number;
  ready: number;
  firstProcess: number;
  /** processes of a line; `processes` above is the number of lines */
  group: number;
  last: boolean;
  waitFor: Uint32Array | null;
  messages: Uint32Array | null;
  bytesIn: Float32Array | null;
  bytesOut: Float32Array | null;
  function: Uint16Array | null;
  phase: Uint16Array | null;
  functionShare: Uint8Array | null;
  mpiShare: Uint8Array | null;
  waitShare: Uint8Array | null;
  pathShare: Uint8Array | null;
}

function name(view: DataView): string {
  return view.byteLength < 4 ? '' : String.fromCharCode(view.getUint8(0), view.getUint8(1), view.getUint8(2), view.getUint8(3));
}

export function readTile(buffer: ArrayBuffer): Tile {
  const view = new DataView(buffer);
  if (name(view) !== 'FVT1' || buffer.byteLength < 64) throw new Error('the answer is not a tile');
  const processes = view.getUint32(32, true);
  const bins = view.getUint32(36, true);
  const planes = view.getUint32(40, true);
  // Checked before memory is taken: these numbers come from outside.
  if (processes > 64 || bins > 256) throw new Error('the tile is larger than tiles are');
  const cells = processes * bins;
  let at = 64;
  const plane = <T>(bit: number, size: number, make: (offset: number) => T): T | null => {
    if (!(planes & (1 << bit))) return null;
    const offset = at;
    at += cells * size;
    if (at > buffer.byteLength) throw new Error('the tile is cut short');
    return make(offset);
  };
  return {
    level: view.getUint32(4, true),
    row: view.getUint32(8, true),
    column: view.getUint32(12, true),
    fromNs: view.getFloat64(16, true),
    binNs: view.getFloat64(24, true),
    processes,
    bins,
    ready: view.getUint32(44, true),
    firstProcess: view.getUint32(48, true),
    group: Math.max(1, view.getUint32(52, true)),
    last: view.getUint32(56, true) !== 0,
    waitFor: plane(0, 4, (o) => new Uint32Array(buffer, o, cells)),
    messages: plane(1, 4, (o) => new Uint32Array(buffer, o, cells)),
    bytesIn: plane(2, 4, (o) => new Float32Array(buffer, o, cells)),
    bytesOut: plane(3, 4, (o) => new Float32Array(buffer, o, cells)),
    function: plane(4, 2, (o) => new Uint16Array(buffer, o, cells)),
    phase: plane(5, 2, (o) => new Uint16Array(buffer, o, cells)),
    functionShare: plane(6, 1, (o) => new Uint8Array(buffer, o, cells)),
    mpiShare: plane(7, 1, (o) => new Uint8Array(buffer, o, cells)),
    waitShare: plane(8, 1, (o) => new Uint8Array(buffer, o, cells)),
    pathShare: plane(9, 1, (o) => new Uint8Array(buffer, o, cells)),
  };
}

export interface Calls {
  count: number;
  leftOut: number;
  begin: Float64Array;
  end: Float64Array;
  wait: Float64Array;
  bytes: Float64Array;
  process: Uint32Array;
  function: Uint32Array;
  waitFor: Uint32Array;
  site: Uint32Array;
  thread: Uint16Array;
  depth: Uint8Array;
  waitKind: Uint8Array;
}

export function readCalls(buffer: ArrayBuffer): Calls {
  const view = new DataView(buffer);
  if (name(view) !== 'FVR1' || buffer.byteLength < 16) throw new Error('the answer is not a list of calls');
  const n = view.getUint32(4, true);
  if (buffer.byteLength < 16 + n * (4 * 8 + 4 * 4 + 2 + 1 + 1)) throw new Error('the list of calls is cut short');
  let at = 16;
  const next = (size: number) => {
    const offset = at;
    at += n * size;
    return offset;
  };
  return {
    count: n,
    leftOut: view.getUint32(8, true),
    begin: new Float64Array(buffer, next(8), n),
    end: new Float64Array(buffer, next(8), n),
    wait: new Float64Array(buffer, next(8), n),
    bytes: new Float64Array(buffer, next(8), n),
    process: new Uint32Array(buffer, next(4), n),
    function: new Uint32Array(buffer, next(4), n),
    waitFor: new Uint32Array(buffer, next(4), n),
    site: new Uint32Array(buffer, next(4), n),
    thread: new Uint16Array(buffer, next(2), n),
    depth: new Uint8Array(buffer, next(1), n),
    waitKind: new Uint8Array(buffer, next(1), n),
  };
}
