// SPDX-License-Identifier: BSD-3-Clause
// Single calls, where the timeline is zoomed in further than its tiles go. Asked for in chunks of a power of
// two of nanoseconds, so that panning asks for the same chunks again.
import { Calls, readCalls } from '../pure/tile';
import { formatRanks } from '../pure/ranks';
import { askBytes, GivenUp } from '../shell/ask';
import type { Meta } from '../shell/protocol';

export interface Chunk {
  from: number;
  to: number;
  firstProcess: number;
  lastProcess: number;
  calls: Calls;
  /** by process, positions in `calls`, ascending by begin */
  of: Map<number, number[]>;
}

const kMostChunks = 24;
const kRows = 64;

export class RawCalls {
  private chunks = new Map<string, Chunk | 'asked' | 'too many'>();
  private requests = new Map<string, { request: AbortController; used: number }>();
  private clock = 0;

  constructor(
    private meta: Meta,
    private arrived: () => void,
  ) {}

  /** Begins a frame. */
  begin(): void {
    ++this.clock;
  }
  /** Ends a frame: what is on its way, and no longer wanted, is aborted. */
  end(): void {
    for (const [key, asked] of [...this.requests])
      if (asked.used !== this.clock) {
        this.requests.delete(key);
        this.chunks.delete(key);
        asked.request.abort();
      }
  }

  /** The chunks there are of [from, to) and of the rows; asks for the others. */
  of(from: number, to: number, firstRow: number, lastRow: number): Chunk[] {
    const size = 2 ** Math.ceil(Math.log2(Math.max(to - from, 64)));
    const found: Chunk[] = [];
    for (let n = Math.floor(from / size); n * size < to; ++n)
      for (let row = Math.floor(firstRow / kRows); row * kRows <= lastRow; ++row) {
        const key = `${size}/${n}/${row}`;
        const chunk = this.chunks.get(key);
        if (chunk === undefined) this.send(key, n * size, size, row * kRows);
        else if (chunk === 'asked') {
          const asked = this.requests.get(key);
          if (asked) asked.used = this.clock;
        } else if (typeof chunk === 'object') {
          this.chunks.delete(key);
          this.chunks.set(key, chunk);
          found.push(chunk);
        }
      }
    return found;
  }

  private send(key: string, from: number, size: number, firstProcess: number): void {
    this.chunks.set(key, 'asked');
    const request = new AbortController();
    this.requests.set(key, { request, used: this.clock });
    const lastProcess = Math.min(firstProcess + kRows, this.meta.processes.rank.length) - 1;
    const ranks = formatRanks(this.meta.processes.rank.slice(firstProcess, lastProcess + 1));
    askBytes('/api/raw', { run: this.meta.run, from: Math.max(0, from), to: from + size, ranks }, request.signal)
      .then((buffer) => {
        this.requests.delete(key);
        const calls = readCalls(buffer);
        if (calls.leftOut > 0) {
          this.chunks.set(key, 'too many');
          return;
        }
        const of = new Map<number, number[]>();
        for (let at = 0; at < calls.count; ++at) {
          const process = calls.process[at]!;
          const list = of.get(process);
          if (list) list.push(at);
          else of.set(process, [at]);
        }
        for (const list of of.values()) list.sort((a, b) => calls.begin[a]! - calls.begin[b]! || calls.depth[a]! - calls.depth[b]!);
        this.chunks.set(key, { from, to: from + size, firstProcess, lastProcess, calls, of });
        if (this.chunks.size > kMostChunks) this.chunks.delete(this.chunks.keys().next().value as string);
        this.arrived();
      })
      .catch((error: unknown) => {
        if (error instanceof GivenUp) return;
        this.requests.delete(key);
        setTimeout(() => this.chunks.get(key) === 'asked' && !this.requests.has(key) && this.chunks.delete(key), 2000);
      });
  }
}

/** The next (or the one before) call of a rank from `ns` on, of one function if `fn` is not negative, from one of `sites`. */
export async function stepCall(meta: Meta, rank: number, ns: number, forward: boolean, fn: number, sites: Set<number> | null): Promise<{ begin: number; end: number; function: number; site: number } | null> {
  const [low, high] = [meta.span?.from_ns ?? 0, meta.span?.to_ns ?? 0];
  for (let reach = 1e6; ; reach *= 8) {
    const from = forward ? ns : Math.max(low, ns - reach);
    const to = forward ? Math.min(high + 1, ns + reach) : ns;
    if (to <= from) return null;
    const calls = readCalls(await askBytes('/api/raw', { run: meta.run, from: Math.floor(from), to: Math.ceil(to) + 1, ranks: String(rank) }));
    let best = -1;
    for (let at = 0; at < calls.count; ++at) {
      const begin = calls.begin[at]!;
      if (calls.depth[at]! > 0 || (fn >= 0 && calls.function[at] !== fn) || (sites && !sites.has(calls.site[at]!))) continue;
      if (forward ? begin <= ns : begin >= ns) continue;
      if (best < 0 || (forward ? begin < calls.begin[best]! : begin > calls.begin[best]!)) best = at;
    }
    if (best >= 0) return { begin: calls.begin[best]!, end: calls.end[best]!, function: calls.function[best]!, site: calls.site[best]! };
    if ((forward && to >= high + 1) || (!forward && from <= low)) return null;
  }
}
