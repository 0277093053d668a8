// SPDX-License-Identifier: BSD-3-Clause
// The clock of playback: which moment of the run is shown. Speed 1 shows the whole run in ten
// seconds, because runs last from milliseconds to days; `realTime` says what that is of real time.
// No timer: the owner calls tick() with each frame's time, so a hidden page stands still.
export const SECONDS_AT_SPEED_1 = 10;
export const SLOWEST = 1e-3;
export const FASTEST = 1e2;

export class PlaybackClock {
  private playing_ = false;
  private speed_ = 1;
  private now_: number;
  private last?: number; // of the frames' times, milliseconds

  constructor(
    private from: number, // nanoseconds of the run
    private to: number,
  ) {
    this.now_ = from;
  }

  get playing() {
    return this.playing_;
  }
  get speed() {
    return this.speed_;
  }
  get now() {
    return this.now_;
  }
  get begin() {
    return this.from;
  }
  get end() {
    return this.to;
  }
  get ended() {
    return this.now_ >= this.to;
  }
  // Nanoseconds of the run for one second of the viewer.
  get rate() {
    return ((this.to - this.from) / SECONDS_AT_SPEED_1) * this.speed_;
  }
  // How much slower (below 1) or faster than the run itself.
  get realTime() {
    return this.rate / 1e9;
  }

  // Another part of the run; the moment stays if it is inside.
  span(from: number, to: number) {
    this.from = from;
    this.to = Math.max(from, to);
    this.seek(this.now_);
  }
  seek(now: number) {
    if (Number.isFinite(now)) this.now_ = Math.min(this.to, Math.max(this.from, now));
  }
  // From the end it starts again.
  play() {
    if (this.ended) this.now_ = this.from;
    this.playing_ = true;
    this.last = undefined;
  }
  pause() {
    this.playing_ = false;
    this.last = undefined;
  }
  toggle() {
    if (this.playing_) this.pause();
    else this.play();
  }
  setSpeed(speed: number) {
    if (Number.isFinite(speed)) this.speed_ = Math.min(FASTEST, Math.max(SLOWEST, speed));
  }

  // A frame at `at_ms`. Returns whether the moment changed. After a gap of more than a second (a
  // hidden page) playback goes on where it was, instead of jumping.
  tick(at_ms: number): boolean {
    if (!this.playing_) return false;
    const before = this.last;
    this.last = at_ms;
    if (before === undefined) return false;
    const passed = at_ms - before;
    if (passed <= 0 || passed > 1000) return false;
    const was = this.now_;
    this.seek(was + (passed / 1000) * this.rate);
    if (this.ended) this.pause();
    return this.now_ !== was;
  }
}

// The stretch of time that is shown at a moment. A twentieth of a second of the viewer would be
// invisible, and everything since the beginning a jumble: half a second of playback, and never less
// than a 2000th of the run.
export function shownWindow(clock: PlaybackClock): { from: number; to: number } {
  const width = Math.max(clock.rate * 0.5, (clock.end - clock.begin) / 2000);
  return { from: Math.max(clock.begin, clock.now - width), to: clock.now };
}
