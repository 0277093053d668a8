// SPDX-License-Identifier: BSD-3-Clause
// The strip of a running job: the samples that the server kept, asked for in pieces, and which of
// them is shown. "Follow" shows the newest; scrubbing stops that until it is asked for again.
export interface Samples {
  at_s: number[];
  // null: there is no sample before, or other ranks were seen
  mpi_share: (number | null)[];
  sent_bytes_per_s: (number | null)[];
  sent_per_s: (number | null)[];
  waiting_ranks: number[];
  hung: boolean[];
  cause: string[];
  verdict: string[];
}
export interface LiveAnswer {
  state: 'running' | 'ended' | 'unreadable';
  problem: string;
  kept_from_s: number;
  samples: Samples;
}

const kRounding_s = 2e-6;

const COLUMNS: (keyof Samples)[] = [
  'at_s', 'mpi_share', 'sent_bytes_per_s', 'sent_per_s', 'waiting_ranks', 'hung', 'cause', 'verdict', // prettier-ignore
];

export class History {
  readonly samples: Samples = {
    at_s: [], mpi_share: [], sent_bytes_per_s: [], sent_per_s: [], waiting_ranks: [], hung: [], cause: [], verdict: [], // prettier-ignore
  };
  state: LiveAnswer['state'] = 'running';
  problem = '';
  private shown?: number; // seconds; undefined: the newest

  get length() {
    return this.samples.at_s.length;
  }
  get newest() {
    return this.length > 0 ? this.samples.at_s[this.length - 1] : 0;
  }
  get oldest() {
    return this.length > 0 ? this.samples.at_s[0] : 0;
  }
  get following() {
    return this.shown === undefined;
  }
  follow() {
    this.shown = undefined;
  }
  // Near the newest sample, scrubbing becomes following again.
  scrub(at_s: number) {
    this.shown = at_s >= this.newest ? undefined : Math.max(this.oldest, at_s);
  }
  get at() {
    return this.shown === undefined ? this.newest : Math.max(this.oldest, this.shown);
  }
  // The position of the shown sample: the last one not later. -1: there is none.
  get position() {
    const { at_s } = this.samples;
    let found = at_s.length - 1;
    while (found > 0 && at_s[found] > this.at) --found;
    return found;
  }

  // The samples around a window of Unix seconds, by position: the last one not later than its begin, the first one not
  // earlier than its end, as far as there are any. null: it lies before or after all samples. A window that was chosen
  // from one sample to another is of these two, whatever its way into whole nanoseconds and back has rounded away.
  within(from_s: number, to_s: number): [number, number] | null {
    const { at_s } = this.samples;
    if (this.length === 0 || to_s <= this.oldest || from_s >= this.newest) return null;
    let first = at_s.length - 1;
    while (first > 0 && at_s[first] > from_s + kRounding_s) --first;
    let last = first;
    while (last + 1 < at_s.length && at_s[last] < to_s - kRounding_s) ++last;
    return [first, last];
  }

  // Adds what the server sent; leaves out what it no longer keeps, because its states are gone too.
  add(answer: LiveAnswer) {
    this.state = answer.state;
    this.problem = answer.problem;
    for (const name of COLUMNS) (this.samples[name] as unknown[]).push(...(answer.samples[name] as unknown[]));
    let old = 0;
    while (old < this.length && this.samples.at_s[old] < answer.kept_from_s) ++old;
    if (old > 0) for (const name of COLUMNS) (this.samples[name] as unknown[]).splice(0, old);
  }
}
