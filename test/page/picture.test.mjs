// SPDX-License-Identifier: BSD-3-Clause
// README's picture of the viewer is what the pages show of the run in heat-run/, which was recorded once: so each rendering
// has the same content. It is compared in blocks of pixels, so that edges that are drawn in another way do no harm; where
// the fonts are others, text stands elsewhere, and nothing can be compared. `meson compile -C build viewer-picture`
// (FATHOM_PICTURES: the folder) renews it.
//
// heat-run/ is a slice of the trace of docs/examples/heat.c with 60 steps, which carries the names of its places.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openBrowser, serve } from './browser.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const kept = join(here, '../../docs/pictures/viewer.png');
const folder = mkdtempSync(join(tmpdir(), 'fathom-picture-'));
let server;
let browser;
let page;
before(async () => {
  cpSync(join(here, 'heat-run'), join(folder, 'heat'), { recursive: true });
  server = await serve(process.env.FATHOM_BINARY, [join(folder, 'heat')], { FATHOM_PAGES: process.env.FATHOM_PAGES });
  browser = await openBrowser();
  page = browser.page;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(server.url);
  await page.locator('.finding').first().waitFor();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The timeline with the first finding isolated and what `more` adds to the address, once nothing on it changes. */
async function picture(more = '') {
  await page.evaluate(() => (location.hash = '/overview'));
  await page.locator('.finding .isolate').first().click();
  await page.evaluate((options) => (location.hash = location.hash.replace('/overview', '/timeline') + options), `&time.view=490000000-610000000${more}`);
  await page.locator('.timeline canvas[data-blanks="0"][data-view="490000000-610000000"]').waitFor();
  await page.locator('.messages').waitFor();
  await page.locator('.area canvas').nth(1).waitFor();
  await page.waitForFunction(async () => {
    const { timeline } = await (await fetch('/api/meta?run=0')).json();
    return ['functions', 'waits', 'path', 'raw'].every((plane) => timeline.ready.includes(plane));
  });
  for (let last = null; ; ) {
    const now = await page.screenshot();
    if (last?.equals(now)) return now;
    last = now;
    await page.waitForTimeout(400);
  }
}

// The share of blocks of 16 x 16 pixels whose mean colours differ by more than a twelfth of the scale.
const difference = (one, other) =>
  page.evaluate(
    async (pictures) => {
      const edge = 16;
      const blocks = [];
      for (const bytes of pictures) {
        const image = new Image();
        image.src = `data:image/png;base64,${bytes}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [Math.ceil(image.width / edge), Math.ceil(image.height / edge)];
        const full = document.createElement('canvas');
        [full.width, full.height] = [image.width, image.height];
        const pen = full.getContext('2d');
        pen.drawImage(image, 0, 0);
        const { data } = pen.getImageData(0, 0, image.width, image.height);
        const sums = new Float64Array(canvas.width * canvas.height * 4);
        for (let at = 0; at < data.length; at += 4) {
          const [x, y] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
          const block = (Math.floor(y / edge) * canvas.width + Math.floor(x / edge)) * 4;
          for (let c = 0; c < 3; ++c) sums[block + c] += data[at + c];
          ++sums[block + 3];
        }
        blocks.push({ sums, size: `${image.width} x ${image.height}` });
      }
      const [a, b] = blocks;
      if (a.size !== b.size) return 1;
      let differing = 0;
      for (let at = 0; at < a.sums.length; at += 4) {
        const apart = [0, 1, 2].map((c) => Math.abs(a.sums[at + c] / a.sums[at + 3] - b.sums[at + c] / b.sums[at + 3]));
        if (Math.max(...apart) > 255 / 12) ++differing;
      }
      return (4 * differing) / a.sums.length;
    },
    [one, other].map((bytes) => bytes.toString('base64')),
  );

// A line of text in the font of the pages, on the machine that made the picture: DejaVu Sans.
const kTextWidth = 343.5;

test('the picture in README is what the viewer shows', async (t) => {
  const now = await picture();
  if (process.env.FATHOM_PICTURES) return writeFileSync(join(process.env.FATHOM_PICTURES, 'viewer.png'), now);
  const width = await page.evaluate(() => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `16px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText('MPI_Waitall 0123456789 of ranks, costliest').width;
  });
  if (Math.abs(width - kTextWidth) > 0.5) return t.skip(`this machine has other fonts: ${width} pixels, not ${kTextWidth}`);
  const enough = 0.004;
  // On a loaded machine, answers may come after the picture has rested for a moment.
  const until = async (is_wanted, found) => {
    for (let tries = 0; ; ++tries) {
      const apart = await found();
      if (is_wanted(apart) || tries >= 20) return apart;
      await page.waitForTimeout(1000);
    }
  };
  const old = readFileSync(kept);
  const apart = await until((share) => share < enough, async () => difference(old, await page.screenshot()));
  t.diagnostic(`${(100 * apart).toFixed(2)} % differs`);
  assert.ok(apart < enough, `${(100 * apart).toFixed(1)} % of docs/pictures/viewer.png is not what the viewer shows: meson compile -C build viewer-picture`);
  // Other content is told apart.
  for (const other of ['&time.layer=mpi', '&time.path=1']) {
    await picture(other);
    const wrong = await until((share) => share > enough, async () => difference(old, await page.screenshot()));
    assert.ok(wrong > enough, `${other}: ${wrong}`);
  }
  assert.deepEqual(browser.errors, []);
});
