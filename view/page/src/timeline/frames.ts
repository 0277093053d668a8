// SPDX-License-Identifier: BSD-3-Clause
// The page's own frame times. Tests read them as window.fathomFrames; so may readers, in the console.

export interface Frame {
  /** ms since the page began */
  at: number;
  /** ms since the frame before, if that one was of the same movement; else 0 */
  gap: number;
  /** ms that drawing took */
  draw: number;
  /** places of tiles for which nothing was there to draw */
  blanks: number;
}

const kMost = 2000;

export class FrameMeter {
  frames: Frame[] = [];
  private last = 0;

  note(at: number, draw: number, blanks: number): void {
    const gap = at - this.last;
    this.frames.push({ at, gap: gap < 250 ? gap : 0, draw, blanks });
    this.last = at;
    if (this.frames.length > kMost) this.frames.splice(0, kMost / 2);
  }
  reset(): void {
    this.frames = [];
    this.last = 0;
  }
}

export const meter = new FrameMeter();
(window as unknown as { fathomFrames: FrameMeter }).fathomFrames = meter;
