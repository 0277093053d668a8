// SPDX-License-Identifier: BSD-3-Clause
// Fetches the traffic of the run in chunks of time while it is played: the chunk at hand, and the
// next one before it is reached. Keeps a few, so that scrubbing back asks nothing again.
import { TrafficAnswer } from './answers';

export const CHUNKS = 16; // of a run
export const BINS = 64; // of a chunk
const KEPT = 8;

export type FetchTraffic = (from: number, to: number, bins: number, signal?: AbortSignal) => Promise<TrafficAnswer>;

export class Playback {
  private readonly kept = new Map<number, TrafficAnswer>();
  private readonly asked = new Map<number, Promise<void>>();
  private readonly requests = new Map<number, AbortController>();
  private readonly failed = new Map<number, number>(); // chunk, when to ask again
  private whole?: TrafficAnswer;
  problem = ''; // of the last request that failed

  constructor(
    readonly from: number,
    readonly to: number,
    private readonly fetchTraffic: FetchTraffic,
    private readonly changed: () => void,
  ) {}

  chunkAt(now: number): number {
    const part = (now - this.from) / Math.max(1, this.to - this.from);
    return Math.max(0, Math.min(CHUNKS - 1, Math.floor(part * CHUNKS)));
  }
  spanOf(chunk: number): [number, number] {
    const width = (this.to - this.from) / CHUNKS;
    const at = (number: number) => Math.round(this.from + number * width);
    return [at(chunk), chunk === CHUNKS - 1 ? this.to : at(chunk + 1)];
  }

  // What is known of the moment. A coarse answer of the whole run stands in until the chunk is
  // there, so that the picture is never empty; `loading` says that it does.
  at(now: number): { traffic?: TrafficAnswer; loading: boolean } {
    const chunk = this.chunkAt(now);
    // Those that were passed meanwhile are needed no more.
    for (const [other, request] of this.requests) if (other !== chunk && other !== chunk + 1) request.abort();
    this.need(chunk);
    if (chunk + 1 < CHUNKS) this.need(chunk + 1);
    const found = this.kept.get(chunk);
    if (found) {
      this.kept.delete(chunk); // used last: kept longest
      this.kept.set(chunk, found);
      return { traffic: found, loading: false };
    }
    return { traffic: this.whole, loading: true };
  }

  get overview() {
    return this.whole;
  }
  async start() {
    try {
      this.whole = await this.fetchTraffic(this.from, this.to, CHUNKS * 4);
    } catch (error) {
      this.problem = String((error as Error).message ?? error);
    }
    this.changed();
  }

  // Waits until the moment's own chunk is there, or its request failed.
  async ready(now: number) {
    const chunk = this.chunkAt(now);
    this.need(chunk);
    await this.asked.get(chunk);
  }

  private need(chunk: number) {
    if (this.kept.has(chunk) || this.asked.has(chunk)) return;
    if ((this.failed.get(chunk) ?? 0) > Date.now()) return; // a frame must not ask again at once
    const [from, to] = this.spanOf(chunk);
    const abort = new AbortController();
    this.requests.set(chunk, abort);
    const request = this.fetchTraffic(from, to, BINS, abort.signal)
      .then((answer) => {
        this.kept.set(chunk, answer);
        this.problem = '';
        for (const oldest of this.kept.keys()) {
          if (this.kept.size <= KEPT) break;
          this.kept.delete(oldest);
        }
      })
      .catch((error: Error) => {
        if (abort.signal.aborted) return;
        this.problem = String(error.message ?? error);
        this.failed.set(chunk, Date.now() + 2000);
      })
      .finally(() => {
        if (this.asked.get(chunk) === request) this.asked.delete(chunk);
        if (this.requests.get(chunk) === abort) this.requests.delete(chunk);
        this.changed();
      });
    this.asked.set(chunk, request);
  }
}
