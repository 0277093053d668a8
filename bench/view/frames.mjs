// SPDX-License-Identifier: BSD-3-Clause
// Frames per second of the pages in Chromium without a GPU, by the page's own frame times.
//
//   node bench/view/frames.mjs URL             the timeline; URL is what `fathom view --no-browser RUN` prints first
//   node bench/view/frames.mjs --made FOLDER   a matrix of 10,000 x 10,000 and a machine with 100,000 ranks that never
//                                              were (test/page/double.mjs), by the pages in FOLDER (node build.mjs FOLDER)
//
// Zooms in and out by the wheel and pans by drag, four seconds each (S=2: two). A frame is late if more than 33.4 ms have
// passed since the one before, while both belong to one movement; a place is blank if nothing, not even a
// coarser tile, was there to draw.
import { openBrowser } from '../../test/page/browser.mjs';
import { job, startDouble } from '../../test/page/double.mjs';

const [url, folder] = process.argv.slice(2);
if (!url || (url === '--made') !== (folder !== undefined)) {
  console.error('usage: node bench/view/frames.mjs URL, or --made FOLDER');
  process.exit(2);
}
const made = folder && (await startDouble(folder, [job({ name: 'matrix', ranks: 10_000, perHost: 64, trace: false }), job({ name: 'machine', ranks: 100_000, perHost: 64 })]));
const browser = await openBrowser();
const { page } = browser;

/** Goes to a page, says when `ready` is there, and where `canvas` is. */
async function open(hash, canvas, ready) {
  const began = Date.now();
  await page.goto('about:blank');
  await page.goto(made ? made.url : url);
  await page.evaluate((to) => (location.hash = to), hash);
  await page.locator(ready).first().waitFor({ timeout: 120_000 });
  console.log(`${hash}: first whole picture after ${Date.now() - began} ms`);
  return page.locator(canvas).first().boundingBox();
}

async function measure(name, step) {
  await page.waitForTimeout(500);
  await page.evaluate(() => window.fathomFrames.reset());
  const until = Date.now() + 1000 * Number(process.env.S ?? 4);
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

async function zoomAndPan(box, shift, where = 0.5) {
  await page.mouse.move(box.x + 0.6 * box.width, box.y + where * box.height);
  await measure('zooming', (n) => page.mouse.wheel(0, n % 60 < 30 ? -60 : 60));
  if (shift) for (let n = 0; n < 8; ++n) await page.mouse.wheel(0, -150);
  if (shift) await page.keyboard.down('Shift');
  await page.mouse.down();
  await measure(shift ? 'panning' : 'dragging', (n) => page.mouse.move(box.x + (0.6 + 0.35 * Math.sin(n / 20)) * box.width, box.y + where * box.height));
  await page.mouse.up();
  if (shift) await page.keyboard.up('Shift');
}

if (made) {
  await zoomAndPan(await open('/matrix', '.timeline canvas', '.timeline canvas[data-blanks="0"]'), false);
  for (const layout of ['blueprint', 'topdown', 'rackfront', 'line']) {
    const box = await open(`/machine?run=1&machine.layout=${layout}`, 'canvas[data-renderer]', 'canvas[data-frames]');
    await page.waitForFunction(() => !document.querySelector('.loading'));
    await zoomAndPan(box, false);
    await page.fill('input[aria-label="rank to fly to"]', '77777');
    await page.click('button:has-text("Fly to")');
    await page.waitForTimeout(1200);
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.5 * box.height);
    await page.mouse.down();
    await measure('near to a rank', (n) => page.mouse.move(box.x + (0.6 + 0.1 * Math.sin(n / 20)) * box.width, box.y + 0.5 * box.height));
    await page.mouse.up();
  }
} else {
  await zoomAndPan(await open('/timeline', '.timeline canvas', '.timeline canvas[data-blanks="0"]'), true);
}
await browser.close();
await made?.stop();
