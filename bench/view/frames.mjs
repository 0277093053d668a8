// SPDX-License-Identifier: BSD-3-Clause
// Frames per second of the timeline in Chromium without a GPU, by the page's own frame times.
//
//   node bench/view/frames.mjs URL      URL is what `fathom view --no-browser RUN` prints first
//
// Zooms in and out by the wheel and pans by drag, four seconds each. A frame is late if more than 33.4 ms have
// passed since the one before, while both belong to one movement; a place is blank if nothing, not even a
// coarser tile, was there to draw.
import { openBrowser } from '../../test/page/browser.mjs';

const url = process.argv[2];
if (!url) {
  console.error('usage: node bench/view/frames.mjs URL');
  process.exit(2);
}
const browser = await openBrowser();
const { page } = browser;
const began = Date.now();
await page.goto(url);
await page.evaluate(() => (location.hash = '/timeline'));
const canvas = page.locator('.timeline canvas');
await page.locator('.timeline canvas[data-blanks="0"]').waitFor({ timeout: 120_000 });
console.log(`first whole picture after ${Date.now() - began} ms`);
const box = await canvas.boundingBox();

async function measure(name, step) {
  await page.waitForTimeout(500);
  await page.evaluate(() => window.fathomFrames.reset());
  const until = Date.now() + 4000;
  for (let n = 0; Date.now() < until; ++n) await step(n);
  const frames = await page.evaluate(() => window.fathomFrames.frames);
  const gaps = frames.map((frame) => frame.gap).filter((gap) => gap > 0).sort((a, b) => a - b);
  const draws = frames.map((frame) => frame.draw).sort((a, b) => a - b);
  const at = (list, share) => (list.length ? list[Math.min(list.length - 1, Math.floor(list.length * share))].toFixed(1) : '-');
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length);
  console.log(
    `${name}: ${frames.length} frames, ${(1000 / mean).toFixed(1)} frames/s; gap median ${at(gaps, 0.5)} ms, p95 ${at(gaps, 0.95)} ms, late ${gaps.filter((gap) => gap > 33.4).length}; ` +
      `drawing median ${at(draws, 0.5)} ms, p95 ${at(draws, 0.95)} ms; blank places ${frames.reduce((sum, frame) => sum + frame.blanks, 0)}`,
  );
}

await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.5 * box.height);
await measure('zooming', (n) => page.mouse.wheel(0, n % 60 < 30 ? -60 : 60));
for (let n = 0; n < 8; ++n) await page.mouse.wheel(0, -150);
await page.keyboard.down('Shift');
await page.mouse.down();
await measure('panning', (n) => page.mouse.move(box.x + (0.6 + 0.35 * Math.sin(n / 20)) * box.width, box.y + 0.5 * box.height));
await page.mouse.up();
await page.keyboard.up('Shift');
await browser.close();
