// SPDX-License-Identifier: BSD-3-Clause
// The pages in Debian's Chromium, against a server that answers for jobs that never were (double.mjs), so that
// what must be seen is known exactly. FATHOM_PAGES is the folder that build.mjs filled.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser } from './browser.mjs';
import { hostile, job, startDouble, windowOf } from './double.mjs';

const pages = process.env.FATHOM_PAGES;
const small = job({ live: true });
const jobs = [small, job({ name: 'later', iterations: 150 }), job({ name: 'wide', ranks: 1024, iterations: 1000, perHost: 32 }), job({ name: 'huge', ranks: 10000, perHost: 64, trace: false }),
  job({ name: 'cut', cut: [2, 5], sentence: 'The job was killed.' }), job({ name: 'bad', error: 'There is no profile in this folder.' }), job({ name: 'one', ranks: 1, iterations: 1, late: 0 }), job({ name: 'none', ranks: 0, iterations: 1 })];
let server;
let browser;
let page;

before(async () => {
  server = await startDouble(pages, jobs);
  browser = await openBrowser();
  page = browser.page;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Goes to a state, and waits until its page stands there. */
async function go(hash, ready = 'main') {
  await page.goto('about:blank');
  await page.goto(`${server.url}#${hash}`);
  await page.locator(ready).first().waitFor();
}
const hash = () => page.evaluate(() => decodeURIComponent(location.hash.replace(/\+/g, ' ')));
const until = (check, ...more) => page.waitForFunction(check, ...more);
const canvas = () => page.locator('.timeline canvas').first();
const shownSpan = async () => (await canvas().getAttribute('data-view')).split('-').map(Number);
const drawn = () => until(() => document.querySelector('.timeline canvas')?.dataset.view && document.querySelector('.timeline canvas').dataset.blanks === '0');
/** Until nothing moves on the timeline any more. */
async function rests() {
  let last = '';
  for (let same = 0; same < 3; ) {
    const now = `${await canvas().getAttribute('data-view')} ${await hash()}`;
    same = now === last ? same + 1 : 0;
    last = now;
    await page.waitForTimeout(120);
  }
}
const pageIds = ['overview', 'timeline', 'matrix', 'calls', 'machine', 'network', 'compare', 'live'];

// Of all text that is seen and not dimmed, whatever stands out less from what lies behind it than WCAG 2.2 asks
// for (1.4.3: 4.5, large text 3), and whatever is cut off.
const unreadable = () =>
  page.evaluate(() => {
    const parse = (text) => /rgba?\(([^)]+)\)/.exec(text)?.[1].split(/[ ,/]+/).map(Number) ?? [0, 0, 0, 0];
    const luminance = (c) => c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (node) => {
      for (; node; node = node.parentElement) {
        const colour = parse(getComputedStyle(node).backgroundColor);
        if ((colour[3] ?? 1) > 0.9) return colour;
      }
      return [255, 255, 255];
    };
    const bad = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const node = text.parentElement;
      if (!text.data.trim() || !node.checkVisibility() || node.closest('.dim, .unseen, .skip, :disabled, option, script, style')) continue;
      const style = getComputedStyle(node);
      const [a, b] = [luminance(parse(style.color)), luminance(behind(node))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
      if (contrast < (large ? 3 : 4.5)) bad.push(`"${text.data.trim().slice(0, 40)}" has a contrast of ${contrast.toFixed(1)}`);
      if (parseFloat(style.fontSize) < 11) bad.push(`"${text.data.trim().slice(0, 40)}" is ${style.fontSize} tall`);
    }
    for (const node of document.querySelectorAll('main button, main label, main h2, main h3, main dd'))
      if (node.checkVisibility() && node.scrollWidth > node.clientWidth + 2 && getComputedStyle(node).overflowX !== 'visible') bad.push(`"${node.textContent.slice(0, 40)}" is cut off`);
    return [...new Set(bad)];
  });

test('every page shows something, in light and dark, at 1280 and at 3840 pixels', async () => {
  for (const [scheme, width] of [['light', 1280], ['dark', 1280], ['light', 3840], ['dark', 3840]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: width === 3840 ? 2160 : 860 });
    for (const id of pageIds) {
      await go(`/${id}`, 'main canvas, main table');
      const facts = await page.evaluate(() => ({ paper: getComputedStyle(document.querySelector('main')).backgroundColor, wide: document.documentElement.scrollWidth, text: document.querySelector('main').innerText }));
      assert.ok(facts.wide <= width, `${id} is ${facts.wide} pixels wide`);
      assert.equal(facts.paper, scheme === 'dark' ? 'rgb(18, 20, 24)' : 'rgb(255, 255, 255)');
      assert.deepEqual(await unreadable(), [], `${id}, ${scheme}, ${width}`);
      assert.ok(facts.text.length > 20 && !/cannot be drawn|undefined|NaN/.test(facts.text), facts.text);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
});

test('a finding is isolated on every page, and crumbs lead back', async () => {
  await go('/overview?ranks=0-5', '.finding');
  await page.locator('.finding .isolate').first().click();
  assert.match(await hash(), /finding=0/);
  assert.match(await hash(), /ranks=2-4/);
  assert.match(await hash(), /window=1000000-3000000/);
  assert.match(await hash(), /function=MPI_Sendrecv/);
  for (const id of ['timeline', 'matrix', 'calls', 'compare', 'overview']) {
    await page.locator(`header nav a[href="#/${id}"]`).click();
    await page.locator(`main[data-page=${id}]`).waitFor();
    assert.match(await hash(), new RegExp(`^#/${id}\\?.*finding=0`));
    assert.equal(await page.locator('[data-chip=finding]').count(), 1);
  }
  await page.locator('main[data-page=overview] .finding.chosen').waitFor();
  assert.equal(await page.locator('main .finding.dim').count(), 1);
  // The bar names the finding on every page, and its keys go from one to the next without a crumb more.
  assert.match(await page.locator('[data-bar]').innerText(), /critical.*rank 3 computes longer.*1 of 2/s);
  await page.keyboard.press(']');
  await until(() => location.hash.includes('finding=1') && location.hash.includes('class=MPI_Allreduce'));
  assert.doesNotMatch(await hash(), /window=|ranks=2-4[&]/);
  await page.keyboard.press('[');
  await until(() => location.hash.includes('finding=0') && location.hash.includes('window=1000000-3000000'));
  assert.equal(await page.locator('.crumbs button').count(), 1);
  await page.locator('.crumbs button').first().click();
  assert.match(await hash(), /ranks=0-5/);
  assert.doesNotMatch(await hash(), /finding|window|crumb/);
});

test('each finding leads from the Overview to its place on each page, and back', async () => {
  const places = ['timeline', 'matrix', 'calls', 'machine', 'network'];
  for (const finding of [0, 1])
    for (const place of places) {
      await go('/overview?ranks=0-6', '.finding');
      await page.locator('.finding').nth(finding).getByRole('button', { name: `on ${place[0].toUpperCase()}${place.slice(1)}`, exact: true }).click();
      await page.locator(`main[data-page=${place}]`).waitFor();
      assert.match(await hash(), new RegExp(`^#/${place}\\?.*finding=${finding}`));
      assert.equal(await page.locator('[data-bar]').getAttribute('data-bar'), String(finding));
      // What is chosen there is what the finding is about.
      assert.match(await hash(), finding === 0 ? /ranks=2-4.*window=1000000-3000000.*class=point-to-point.*function=MPI_Sendrecv/ : /class=MPI_Allreduce/);
      await page.locator('main canvas, main table').first().waitFor();
      assert.doesNotMatch(await page.locator('main').innerText(), /cannot be drawn|NaN|undefined/);
      await page.keyboard.press('Backspace');
      await until(() => !location.hash.includes('finding='));
      assert.match(await hash(), new RegExp(`^#/${place}\\?ranks=0-6`));
    }
});

test('back, forward and a link restore what was chosen', async () => {
  await go('/overview', '.finding');
  await page.locator('.finding .isolate').first().click();
  const chosen = await hash();
  await page.locator('header nav a[href="#/calls"]').click();
  await page.locator('main[data-page=calls] tr.chosen').first().waitFor();
  await page.goBack();
  await page.locator('main[data-page=overview] .finding.chosen').waitFor();
  assert.equal(await hash(), chosen);
  await page.goBack();
  await until(() => !document.querySelector('.chip'));
  await page.goForward();
  await page.locator('.finding.chosen').waitFor();
  const link = page.url();
  await page.goto('about:blank');
  await page.goto(link);
  await page.locator('.finding.chosen').waitFor();
  assert.equal(await hash(), chosen);
});

test('the timeline zooms and moves by wheel, drag and keys', async () => {
  await go('/timeline', '.timeline canvas');
  await drawn();
  const whole = await shownSpan();
  assert.deepEqual(whole, [0, 100e6]);
  const box = await canvas().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.mouse.wheel(0, -300);
  await rests();
  const zoomed = await shownSpan();
  assert.ok(zoomed[1] - zoomed[0] < 0.7 * (whole[1] - whole[0]));
  assert.match(await hash(), /time\.view=/);
  await page.keyboard.press('d');
  await rests();
  assert.ok((await shownSpan())[0] > zoomed[0]);
  await page.keyboard.press('a');
  await page.keyboard.press('w');
  await rests();
  const closer = await shownSpan();
  assert.ok(closer[1] - closer[0] < zoomed[1] - zoomed[0]);
  await page.keyboard.press('s');
  await page.keyboard.press('f');
  await rests();
  assert.deepEqual(await shownSpan(), whole);
  // On the axis, a drag zooms into what it spans; with Shift, a drag moves.
  await page.mouse.move(box.x + 78 + (box.width - 78) * 0.25, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 78 + (box.width - 78) * 0.5, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await rests();
  const spanned = await shownSpan();
  assert.ok(Math.abs(spanned[0] - 25e6) < 0.3e6 && Math.abs(spanned[1] - 50e6) < 0.3e6, spanned.join());
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 600, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 800, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await rests();
  assert.ok((await shownSpan())[0] < spanned[0] - 1e6);
});

test('zooming goes on where it is, though the address lags behind', async () => {
  await go('/timeline', '.timeline canvas');
  await drawn();
  const box = await canvas().boundingBox();
  await page.mouse.move(box.x + 640, box.y + 120);
  let last = Infinity;
  for (let n = 0; n < 10; ++n) {
    await page.mouse.wheel(0, -90);
    await page.waitForTimeout(n % 2 ? 150 : 215);
    const [from, to] = await shownSpan();
    assert.ok(to - from <= last + 1, `${to - from} ns after ${last} ns`);
    last = to - from;
  }
});

test('an area gives statistics, matrix and histogram of exactly its window and ranks', async () => {
  await go('/timeline', '.timeline canvas');
  await drawn();
  const box = await canvas().boundingBox();
  const row = (box.height - 24) / 8;
  await page.mouse.move(box.x + 300, box.y + 24 + 2.5 * row);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 24 + 4.5 * row, { steps: 5 });
  await page.mouse.up();
  await page.locator('.area').waitFor();
  const [, from, to] = /window=(\d+)-(\d+)/.exec(await hash());
  assert.match(await hash(), /ranks=2-4/);
  const area = await page.locator('.area').evaluate((node) => ({ ...node.dataset }));
  const expected = windowOf(small, Number(from), Number(to), [2, 3, 4]);
  assert.equal(area.window, `${from}-${to}`);
  assert.equal(Number(area.mpi), expected.mpi_ns);
  assert.equal(Number(area.wait), expected.wait_ns);
  assert.equal(Number(area.bytes), expected.traffic.bytes);
  assert.equal(Number(area.messages), expected.traffic.messages);
  assert.equal(await page.locator('.area canvas').count(), 2);
  await page.keyboard.press('f');
  await rests();
  assert.deepEqual((await shownSpan()).map(Math.round), [Number(from), Number(to)]);
});

test('keys go from call to call, from rank to rank, pin, measure and choose', async () => {
  await go('/timeline?function=MPI_Sendrecv', '.timeline canvas');
  await drawn();
  await canvas().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const said = page.locator('.timeline [aria-live]');
  assert.equal(await said.textContent(), 'rank 3');
  // The late rank is in MPI_Sendrecv from 0.8 ms of each iteration on.
  await page.keyboard.press('.');
  await until(() => /MPI_Sendrecv at 800 µs, 100 µs/.test(document.querySelector('.timeline [aria-live]').textContent));
  await page.keyboard.press('.');
  await until(() => /at 1\.80 ms/.test(document.querySelector('.timeline [aria-live]').textContent));
  await page.keyboard.press(',');
  await until(() => /at 800 µs/.test(document.querySelector('.timeline [aria-live]').textContent));
  await page.keyboard.press(',');
  await until(() => /no earlier MPI_Sendrecv/.test(document.querySelector('.timeline [aria-live]').textContent));
  await page.keyboard.press('p');
  assert.match(await hash(), /time\.pins=3/);
  await page.keyboard.press('Enter');
  assert.match(await hash(), /ranks=3/);
  await page.keyboard.press('r');
  assert.match(await hash(), /time\.ruler=1/);
  await page.keyboard.press('m');
  assert.match(await hash(), /window=0-100000000/);
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await hash(), /ranks=|window=|function=/);
});

test('the costliest messages are drawn, and how many more there are is said', async () => {
  await go('/timeline', '.messages');
  const note = page.locator('.messages');
  assert.equal(await note.getAttribute('data-shown'), '20');
  assert.equal(await note.textContent(), 'the 20 costliest messages, 780 more');
  await page.getByRole('button', { name: 'Messages' }).click();
  await until(() => !document.querySelector('.messages'));
});

// The colours of a part of the timeline, in shares of the canvas, and how often each is there.
const colours = (x, y, w, h) =>
  canvas().evaluate((node, part) => {
    const [left, top, width, height] = part.map((share, at) => Math.round(share * (at % 2 ? node.height : node.width)));
    const data = new Uint32Array(node.getContext('2d').getImageData(left, top, width, height).data.buffer);
    const found = {};
    for (const colour of data) found[colour] = (found[colour] ?? 0) + 1;
    return found;
  }, [x, y, w, h]);
const distance = (one, other) => [...new Set([...Object.keys(one), ...Object.keys(other)])].reduce((sum, colour) => sum + Math.abs((one[colour] ?? 0) - (other[colour] ?? 0)), 0) / Object.values(one).reduce((a, b) => a + b, 0);

test('each layer of the timeline, the critical path and a pinned rank are drawn', async () => {
  const looks = {};
  for (const layer of ['functions', 'waits', 'transfers', 'mpi', 'phases']) {
    await go('/timeline?time.arrows=0', '.timeline canvas');
    await page.getByRole('combobox', { name: 'Show' }).selectOption(layer);
    await until((name) => name === 'functions' || location.hash.includes(`time.layer=${name}`), layer);
    await drawn();
    await rests();
    looks[layer] = await colours(0.1, 0.1, 0.8, 0.85);
  }
  for (const one of Object.keys(looks)) for (const other of Object.keys(looks)) if (one !== other) assert.ok(distance(looks[one], looks[other]) > 0.05, `${one} looks like ${other}`);
  // The late rank is on the path all of the time, the others never are.
  await go('/timeline?time.arrows=0', '.timeline canvas');
  await drawn();
  await rests();
  const { height } = await canvas().boundingBox();
  const each = (height - 24) / 8;
  const row = (rank) => colours(0.1, (24 + (rank + 0.1) * each) / height, 0.8, (0.8 * each) / height);
  const before = [await row(3), await row(5)];
  await page.getByRole('button', { name: 'Critical path' }).click();
  await until(() => location.hash.includes('time.path=1'));
  for (let tries = 0; distance(before[0], await row(3)) < 0.05; ++tries) {
    assert.ok(tries < 100, 'the path is never drawn');
    await page.waitForTimeout(50);
  }
  assert.ok(distance(before[1], await row(5)) < 0.01, 'a rank that is not on the path changes');
  // Pinned, the late rank stands above all others: what is drawn there is its row.
  await go('/timeline?time.arrows=0&time.pins=3', '.timeline canvas');
  await drawn();
  await rests();
  const pinned = await colours(0.1, 28 / height, 0.8, 14 / height);
  await go('/timeline?time.arrows=0', '.timeline canvas');
  await drawn();
  await rests();
  const first = await colours(0.1, 28 / height, 0.8, 14 / height);
  assert.ok(distance(first, pinned) > 0.1, 'the row of rank 0 is still the first one');
});

test('a drag with the ruler measures, and chooses nothing', async () => {
  await go('/timeline?time.ruler=1&time.arrows=0', '.timeline canvas');
  await drawn();
  const box = await canvas().boundingBox();
  const before = await colours(0.1, 0.06, 0.8, 0.9);
  await page.mouse.move(box.x + 78 + (box.width - 78) * 0.2, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 78 + (box.width - 78) * 0.45, box.y + 230, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(box.x + 10, box.y + 300);
  await until(() => /^\d/.test(document.querySelector('.timeline canvas').dataset.ruler ?? ''));
  const [from, to] = (await canvas().getAttribute('data-ruler')).split('-').map(Number);
  assert.ok(Math.abs(from - 20e6) < 0.3e6 && Math.abs(to - 45e6) < 0.3e6, `${from}-${to}`);
  assert.match(await page.locator('.timeline [aria-live]').textContent(), /^25\.[0-2] ms from 20\.[0-2] ms|^24\.9 ms from/);
  assert.ok(distance(before, await colours(0.1, 0.06, 0.8, 0.9)) > 0.0005, 'the ruler is not drawn');
  assert.doesNotMatch(await hash(), /window=|ranks=/);
});

test('single calls are drawn where the tiles end, and tips name them', async () => {
  await go('/timeline?time.view=3000000-4000000', '.timeline canvas');
  await drawn();
  await until(() => performance.getEntriesByType('resource').some((entry) => entry.name.includes('/api/raw')));
  const box = await canvas().boundingBox();
  const tip = page.locator('.tip');
  for (let tries = 0; ; ++tries) {
    await page.mouse.move(box.x + 78 + (box.width - 78) * 0.7 + (tries % 2), box.y + 40);
    if (/waited 200 µs for rank 3/.test((await tip.textContent().catch(() => '')) ?? '')) break;
    assert.ok(tries < 100, 'the tip never names the wait');
    await page.waitForTimeout(50);
  }
  assert.match(await tip.textContent(), /MPI_Sendrecv: 300 µs, 1\.00 kB/);
});

test('nothing is ever blank while tiles are slow', async () => {
  const slow = await startDouble(pages, [jobs[2]], { delay: 250 });
  try {
    await page.goto('about:blank');
    await page.goto(`${slow.url}#/timeline`);
    await canvas().waitFor();
    await drawn();
    await page.evaluate(() => window.fathomFrames.reset());
    const box = await canvas().boundingBox();
    await page.mouse.move(box.x + 700, box.y + 300);
    for (let n = 0; n < 12; ++n) await page.mouse.wheel(0, -150);
    for (let n = 0; n < 6; ++n) await page.keyboard.press(n % 2 ? 'd' : 'a');
    await rests();
    const frames = await page.evaluate(() => window.fathomFrames.frames);
    assert.ok(frames.length > 10);
    assert.equal(frames.filter((frame) => frame.blanks > 0).length, 0);
    assert.ok(slow.asked.some((path) => /level=[12]/.test(path)), 'finer tiles were asked for');
  } finally {
    await slow.stop();
  }
});

test('what is no longer needed is aborted, and what is needed comes', async () => {
  const slow = await startDouble(pages, [jobs[2]], { delay: 1500 });
  const [aborted, came] = [[], []];
  const noteAborted = (request) => aborted.push(request.url());
  const noteCame = (request) => came.push(request.url());
  page.on('requestfailed', noteAborted);
  page.on('requestfinished', noteCame);
  try {
    await page.goto('about:blank');
    await page.goto(`${slow.url}#/timeline`);
    await canvas().waitFor();
    await drawn();
    const box = await canvas().boundingBox();
    await page.mouse.move(box.x + 700, box.y + 300);
    // Finer tiles are asked for, and then others, before they are there.
    for (let n = 0; n < 6; ++n) await page.mouse.wheel(0, -150);
    while (!slow.asked.some((path) => /level=[12]/.test(path))) await page.waitForTimeout(20);
    await page.keyboard.press('Home');
    while (!aborted.some((url) => /level=[12]/.test(url))) await page.waitForTimeout(20);
    assert.equal(aborted.filter((url) => /level=0/.test(url)).length, 0, 'the coarsest level is always needed');
    for (let n = 0; n < 6; ++n) await page.mouse.wheel(0, -150);
    while (!came.some((url) => /level=[12]/.test(url))) await page.waitForTimeout(20);
    assert.equal(await canvas().getAttribute('data-blanks'), '0');
    // A page that is left gives up its questions.
    await page.evaluate(() => (location.hash = '/timeline?window=1000-2000'));
    const before = aborted.length;
    await page.route('**/api/calls*', () => undefined); // never answers
    await page.evaluate(() => (location.hash = '/calls'));
    await page.locator('main[data-page=calls] .sentence').waitFor();
    await page.evaluate(() => (location.hash = '/matrix'));
    while (!aborted.slice(before).some((url) => /api.calls/.test(url))) await page.waitForTimeout(20);
  } finally {
    await page.unroute('**/api/calls*');
    page.off('requestfailed', noteAborted);
    page.off('requestfinished', noteCame);
    await slow.stop();
  }
});

test('the picture of a large matrix stays until the next is there', async () => {
  const slow = await startDouble(pages, [jobs[3]]);
  try {
    await page.goto('about:blank');
    await page.goto(`${slow.url}#/matrix`);
    await until(() => document.querySelector('.timeline canvas')?.dataset.blanks === '0');
    let release;
    const held = new Promise((done) => (release = done));
    await page.route('**/api/matrix?*what=messages*', async (route) => (await held, route.continue().catch(() => undefined)));
    await page.evaluate(() => window.fathomFrames.reset());
    await page.getByRole('combobox', { name: 'Show' }).selectOption('messages');
    await until(() => location.hash.includes('matrix.what=messages') && window.fathomFrames.frames.length > 0);
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, -100);
    await page.waitForTimeout(200);
    release();
    await until(() => document.querySelector('[data-total]') !== null);
    assert.equal(await page.evaluate(() => window.fathomFrames.frames.filter((frame) => frame.blanks > 0).length), 0);
  } finally {
    await page.unroute('**/api/matrix?*what=messages*');
    await slow.stop();
  }
});

test('1,024 ranks and 10,000 × 10,000 pairs are loaded and moved', async (t) => {
  const report = async (what) => {
    const frames = await page.evaluate(() => window.fathomFrames.frames);
    const gaps = frames.map((frame) => frame.gap).filter((gap) => gap > 0).sort((a, b) => a - b);
    const draws = frames.map((frame) => frame.draw).sort((a, b) => a - b);
    t.diagnostic(`${what}: ${frames.length} frames, median gap ${gaps[gaps.length >> 1]?.toFixed(1)} ms, drawing p95 ${draws[Math.floor(draws.length * 0.95)]?.toFixed(1)} ms`);
    assert.ok(frames.length > 5);
    assert.equal(frames.filter((frame) => frame.blanks > 0).length, 0);
  };
  await go('/timeline?run=2', '.timeline canvas');
  await drawn();
  await page.evaluate(() => window.fathomFrames.reset());
  let box = await canvas().boundingBox();
  await page.mouse.move(box.x + 500, box.y + 200);
  for (let n = 0; n < 10; ++n) await page.mouse.wheel(0, n < 6 ? -120 : 120);
  await rests();
  await report('timeline of 1,024 ranks');
  await go('/matrix?run=3', '.timeline canvas');
  await until(() => document.querySelector('.timeline canvas')?.dataset.blanks === '0');
  await page.evaluate(() => window.fathomFrames.reset());
  box = await canvas().boundingBox();
  await page.mouse.move(box.x + 64 + 300, box.y + 20 + 300);
  for (let n = 0; n < 14; ++n) await page.mouse.wheel(0, -200);
  await until(() => Number(document.querySelector('.timeline canvas').dataset.square.split(' ')[2]) < 30);
  await report('matrix of 10,000 ranks');
  // Where each cell is a pair, the tip names it.
  await go('/matrix?run=3&matrix.x=5000.0-20.0&matrix.y=5000.0-20.0', '.timeline canvas');
  box = await canvas().boundingBox();
  const side = Math.min(box.width - 68, box.height - 22);
  for (let tries = 0, text = ''; text !== 'rank 5005 (n78) → rank 5006 (n78): 100 kB'; ++tries) {
    assert.ok(tries < 100, `the tip says "${text}"`);
    await page.mouse.move(box.x + 64 + (6.5 / 20) * side + (tries % 2), box.y + 20 + (5.5 / 20) * side);
    text = (await page.locator('.tip').count()) > 0 ? await page.locator('.tip').textContent() : '';
    await page.waitForTimeout(50);
  }
  // In another order, other ranks stand there.
  await go('/matrix?run=3&matrix.order=cluster&matrix.x=5000.0-20.0&matrix.y=5000.0-20.0', '.timeline canvas');
  for (let tries = 0, text = ''; text !== 'rank 4994 (n78) → rank 4995 (n78): 100 kB'; ++tries) {
    assert.ok(tries < 100, `the tip says "${text}"`);
    await page.mouse.move(box.x + 64 + (4.5 / 20) * side + (tries % 2), box.y + 20 + (5.5 / 20) * side);
    text = (await page.locator('.tip').count()) > 0 ? await page.locator('.tip').textContent() : '';
    await page.waitForTimeout(50);
  }
});

test('the matrix is chosen from by pointer, keys and list, and is reordered', async () => {
  await go('/matrix', '.beside table');
  const box = await canvas().boundingBox();
  const side = Math.min(box.width - 68, box.height - 22);
  await page.mouse.click(box.x + 64 + (4.5 / 8) * side, box.y + 20 + (3.5 / 8) * side);
  assert.match(await hash(), /pair=3-4/);
  await canvas().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  assert.match(await hash(), /pair=4-5/);
  await page.locator('.beside tbody tr').nth(6).click();
  assert.match(await hash(), /pair=6-7/);
  assert.equal(await page.locator('.beside tr.chosen').count(), 1);
  await page.getByRole('combobox', { name: 'in the order of' }).selectOption('cluster');
  await until(() => location.hash.includes('matrix.order=cluster'));
  // The order is reversed there: rank 0 stands last.
  for (let tries = 0; !/pair=4-5/.test(await hash()); ++tries) {
    assert.ok(tries < 50, await hash());
    await page.mouse.click(box.x + 64 + (2.5 / 8) * side, box.y + 20 + (3.5 / 8) * side);
    await page.waitForTimeout(100);
  }
  await page.getByRole('combobox', { name: 'Class' }).selectOption('MPI_Allreduce');
  await until(() => document.querySelector('[data-total]')?.dataset.total === '64');
  await page.getByRole('combobox', { name: 'by', exact: true }).selectOption('host');
  await until(() => document.querySelectorAll('.beside tbody tr').length === 2);
});

test('the matrix is asked for by what, class, communicator, phase, host, order and window', async () => {
  await go('/matrix?window=1000-90000000', '[data-total]');
  const last = () => server.asked.filter((path) => path.startsWith('/api/matrix?')).pop();
  const wanted = [
    ['Show', 'messages', /what=messages/], ['Show', 'waits', /what=waits/], ['Communicator', '0', /communicator=0/], ['Phase', 'ring', /phase=ring/],
    ['Class', 'point-to-point', /class=point-to-point/], ['in the order of', 'host', /order=host/], ['in the order of', 'pattern', /order=pattern/], ['in the order of', 'cluster', /order=cluster/], ['by', 'host', /by=host/],
  ];
  for (const [name, value, path] of wanted) {
    await page.getByRole('combobox', { name, exact: true }).selectOption(value);
    for (let tries = 0; !path.test(last()); ++tries) {
      assert.ok(tries < 200, `${name} ${value}: ${last()}`);
      await page.waitForTimeout(50);
    }
    assert.match(last(), /from=1000&.*to=90000000/);
    // The link has it, too.
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await page.locator('[data-total]').waitFor();
    assert.equal(await page.getByRole('combobox', { name, exact: true }).inputValue(), value);
  }
});

test('the call tree opens, closes and chooses by keys', async () => {
  await go('/calls', '[role=treegrid]');
  const rows = page.locator('[role=treegrid] tbody tr');
  assert.equal(await rows.count(), 5);
  await rows.first().focus();
  await page.keyboard.press('ArrowLeft');
  await until(() => document.querySelectorAll('[role=treegrid] tbody tr').length === 1);
  await page.keyboard.press('ArrowRight');
  await until(() => document.querySelectorAll('[role=treegrid] tbody tr').length === 5);
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  assert.match(await hash(), /function=MPI_Allreduce/);
  assert.equal(await page.locator('table[aria-label^=Places] tr.chosen').count(), 1);
});

test('a place in the program is chosen on Calls, kept in the address, and followed on the Timeline', async () => {
  await go('/calls', 'table[aria-label^=Places]');
  const places = page.locator('table[aria-label^=Places] tbody tr');
  const cells = () => places.evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  // Sorted by time at first; a head sorts by its column.
  assert.deepEqual((await cells()).map(([name, place, calls]) => [name, place, calls]), [['MPI_Sendrecv', 'ring.c:21', '400'], ['MPI_Sendrecv', 'ring.c:25', '400'], ['MPI_Allreduce', `${hostile}:30`, '800']]);
  await page.locator('table[aria-label^=Places] th button', { hasText: 'calls' }).click();
  assert.equal((await cells())[0][0], 'MPI_Allreduce');
  await places.filter({ hasText: 'ring.c:25' }).click();
  assert.match(await hash(), /function=MPI_Sendrecv&site=ring\.c:25/);
  assert.deepEqual(await places.evaluateAll((rows) => rows.map((row) => row.className.trim().split(/ +/)[0])), ['dim', 'dim', 'chosen']);
  assert.equal(await page.locator('[role=treegrid] tr.chosen').count(), 1);
  assert.equal(await page.locator('[data-chip=site]').innerText(), 'at ring.c:25×');
  // Another rank's first such call is in the second iteration, and the calls of the other line are dimmed.
  await go('/timeline?function=MPI_Sendrecv&site=ring.c:25&time.view=0-4000000', '.timeline canvas');
  await drawn();
  await canvas().focus();
  const said = (text) => until((source) => new RegExp(source).test(document.querySelector('.timeline [aria-live]').textContent), text);
  const strength = (iteration) =>
    canvas().evaluate((node, n) => {
      const scale = node.width / node.clientWidth;
      const [x, y] = [78 + (node.clientWidth - 78) * ((n + 0.75) / 4), 40];
      const [r, g, b] = node.getContext('2d').getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data;
      return 765 - r - g - b;
    }, iteration);
  for (let tries = 0; !((await strength(1)) > 2 * (await strength(0))); ++tries) {
    assert.ok(tries < 100, `${await strength(0)} and ${await strength(1)}`);
    await page.waitForTimeout(50);
  }
  await page.keyboard.press('.');
  await said('MPI_Sendrecv at 1\\.60 ms, 300 µs, from ring\\.c:25');
  await page.keyboard.press('.');
  await said('at 3\\.60 ms');
  // Another function takes the place away.
  await page.keyboard.press('/');
  await page.locator('.palette input').fill('Allreduce');
  await page.locator('.palette li button').first().click();
  assert.match(await hash(), /function=MPI_Allreduce/);
  assert.doesNotMatch(await hash(), /site=/);
});

test('two runs are compared on one axis that begins where both leave MPI_Init', async () => {
  // The second one has left MPI_Init after 30 ms, and ends 120 ms later; the first one takes 100 ms.
  const two = await startDouble(pages, [small, job({ name: 'later', iterations: 150, init: 30e6 })]);
  try {
    await page.goto('about:blank');
    await page.goto(`${two.url}#/compare`);
    await page.locator('.over-time canvas').waitFor();
    // Where a strip is drawn, in shares of the width: from the first to the last column that is not paper.
    const drawnFrom = (y) =>
      page.locator('.over-time canvas').evaluate((node, top) => {
        const scale = node.width / node.clientWidth;
        const { data } = node.getContext('2d').getImageData(0, Math.round(top * scale), node.width, 1);
        const there = Array.from({ length: node.width }, (_, x) => data[4 * x + 3] > 0);
        return [there.indexOf(true) / node.width, (there.lastIndexOf(true) + 1) / node.width];
      }, y);
    const near = ([a, b], [c, d]) => Math.abs(a - c) < 0.01 && Math.abs(b - d) < 0.01;
    for (let tries = 0; !near(await drawnFrom(80), [0.2, 0.2 + 100 / 150]) || !near(await drawnFrom(140 + 80), [0, 1]); ++tries) {
      assert.ok(tries < 100, `${await drawnFrom(80)} and ${await drawnFrom(140 + 80)}`);
      await page.waitForTimeout(50);
    }
  } finally {
    await two.stop();
  }
});

test('keys choose a window of a running job', async () => {
  await go('/live', '[data-rank="7"]');
  const scrub = page.locator('[data-card=history] input.scrub');
  await scrub.fill('20');
  await until(() => document.querySelector('[data-card=history] output').dataset.ago === '39');
  await page.keyboard.press('b');
  await until(() => document.querySelector('[data-card=history]').dataset.window === '20-59');
  await scrub.fill('30');
  await until(() => document.querySelector('[data-card=history] output').dataset.ago === '29');
  await page.keyboard.press('e');
  await until(() => document.querySelector('[data-card=history]').dataset.window === '20-30');
  assert.match(await hash(), /window=81500000000-91500000000/);
  await until(() => document.querySelector('[data-card=matrix]').dataset.total === String(10 * 8 * 10 * 1008));
});

test('search finds ranks, pairs, functions and findings', async () => {
  for (const [text, wanted] of [['2-5', /ranks=2-5/], ['3 -> 4', /pair=3-4/], ['allreduce', /function=MPI_Allreduce/], ['most messages', /finding=1/], ['matrix', /^#\/matrix/], ['n1', /ranks=4-7/], ['ring.c:25', /function=MPI_Sendrecv&site=ring\.c:25/]]) {
    await go('/overview', '.finding');
    await page.keyboard.press('/');
    await page.locator('.palette input').fill(text);
    await page.locator('.palette li button').first().waitFor();
    await page.keyboard.press('Enter');
    await until((source) => new RegExp(source).test(decodeURIComponent(location.hash)), wanted.source);
  }
});

test('the keyboard reaches every control, and focus is seen', async () => {
  for (const id of pageIds) {
    await go(`/${id}`, 'main canvas, main table');
    await page.waitForTimeout(150);
    const controls = await page.evaluate(() => [...document.querySelectorAll('button, select, input, a[href], [tabindex="0"]')].filter((node) => node.tabIndex >= 0 && !node.disabled && node.offsetParent !== null).length);
    const seen = new Set();
    for (let n = 0; n < controls + 4; ++n) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const node = document.activeElement;
        if (!node || node === document.body) return null;
        const style = getComputedStyle(node);
        return { name: [...document.querySelectorAll('*')].indexOf(node), outlined: node.matches(':focus-visible') && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 };
      });
      if (!at) continue;
      assert.ok(at.outlined, `${id}: the focus of element ${at.name} is not seen`);
      seen.add(at.name);
    }
    assert.ok(seen.size >= controls, `${id}: Tab reached ${seen.size} of ${controls}`);
  }
});

test('the list of keys opens and closes by keys', async () => {
  await go('/overview', '.finding');
  await page.locator('.finding .isolate').first().focus();
  await page.keyboard.press('?');
  await page.locator('.help').waitFor();
  for (let n = 0; n < 5; ++n) {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('.help') !== null), 'Tab leaves the list');
  }
  await page.locator('.help .close').focus();
  assert.match(await page.locator('.help').textContent(), /fit the chosen window/);
  await page.keyboard.press('Escape');
  await until(() => !document.querySelector('.help') && document.activeElement.classList.contains('isolate'));
  await page.keyboard.press('3');
  await page.locator('main[data-page=matrix]').waitFor();
});

test('every page is saved as PNG and as SVG', async () => {
  for (const id of pageIds) {
    await go(`/${id}`, 'main canvas, main table');
    await page.waitForTimeout(250);
    for (const kind of ['PNG', 'SVG']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind, exact: true }).click()]);
      assert.match(download.suggestedFilename(), new RegExp(`^fathom-ring-${id}\\.${kind.toLowerCase()}$`));
      const bytes = readFileSync(await download.path());
      if (kind === 'PNG') {
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
        assert.equal(bytes.readUInt32BE(16), await page.evaluate(() => Math.ceil(document.querySelector('main').getBoundingClientRect().width)));
        assert.ok(bytes.length > 5000, `${id}: ${bytes.length} bytes`);
      } else {
        const text = bytes.toString();
        const parsed = await page.evaluate((svg) => {
          const read = new DOMParser().parseFromString(svg, 'image/svg+xml');
          return { bad: read.querySelector('parsererror') !== null, texts: [...read.querySelectorAll('text')].map((node) => node.textContent).join(' '), scripts: read.querySelectorAll('script, foreignObject').length };
        }, text);
        assert.ok(!parsed.bad, `${id}: not well formed`);
        assert.equal(parsed.scripts, 0);
        assert.ok(parsed.texts.length > 20, `${id}: ${parsed.texts}`);
      }
    }
  }
});

test('runs that are empty, tiny, cut, without a trace or unreadable show a sentence', async () => {
  const sentences = [
    ['/timeline?run=3', /has no trace/], ['/overview?run=4', /The job was killed/], ['/timeline?run=4', /trace of 2 ranks \(2, 5\) is incomplete/], ['/overview?run=5', /There is no profile in this folder/], ['/overview?run=99', /There is no run 100/],
    ['/matrix?run=7', /no ranks/], ['/timeline?run=7', /holds no process/], ['/nowhere', /./],
  ];
  for (const [where, wanted] of sentences) {
    await go(where, '.sentence, .finding');
    await until((source) => new RegExp(source).test(document.querySelector('#app').innerText), wanted.source);
  }
  for (const id of pageIds) {
    await go(`/${id}?run=6`, 'main');
    await until(() => (document.querySelector('main')?.innerText ?? '').length > 10);
    assert.doesNotMatch(await page.locator('main').innerText(), /cannot be drawn|NaN|undefined|Infinity/);
  }
});

test('what is still being computed appears when it is there', async () => {
  const early = job({ name: 'early', ready: 1 });
  const computing = await startDouble(pages, [early]);
  try {
    await page.goto('about:blank');
    await page.goto(`${computing.url}#/timeline`);
    await until(() => document.querySelector('main') && /still being computed/.test(document.querySelector('main').innerText));
    early.ready = 7;
    await until(() => document.querySelector('main') && !/still being computed/.test(document.querySelector('main').innerText));
    assert.ok(computing.asked.filter((path) => path.startsWith('/api/meta')).length > 1);
  } finally {
    await computing.stop();
  }
});

test('a server that is gone is said to be gone', async () => {
  const gone = await startDouble(pages, [small]);
  await page.goto('about:blank');
  await page.goto(gone.url);
  await page.locator('.finding').first().waitFor();
  await gone.stop();
  await page.locator('header nav a[href="#/calls"]').click();
  await until(() => /The server does not answer/.test(document.querySelector('main')?.innerText ?? ''));
  browser.errors.length = 0;
});

test('the file that holds its answers asks for nothing', async () => {
  const wanted = ['/api/runs', '/api/meta?run=0', '/api/report?run=0', '/api/findings?run=0', '/api/window?run=0', '/api/strip?bins=512&run=0', '/api/matrix?by=rank&run=0&what=bytes', '/api/tile?column=0&level=0&row=0&run=0', '/api/calls?run=0'];
  const answers = {};
  for (const path of wanted) {
    const response = await fetch(server.url.replace(/\/$/, '') + path);
    const body = Buffer.from(await response.arrayBuffer());
    answers[path] = /octet/.test(response.headers.get('content-type')) ? { base64: body.toString('base64') } : JSON.parse(body.toString());
  }
  answers['/api/runs'].runs.length = 1;
  const folder = mkdtempSync(join(tmpdir(), 'fathom-file-'));
  const html = readFileSync(join(pages, 'index.html'), 'utf8')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${readFileSync(join(pages, 'app.css'), 'utf8')}</style>`)
    .replace(/<script src="app.js"><\/script>/, () => `<script type="application/json" id="fathom-answers">${JSON.stringify(answers).replace(/</g, '\\u003c')}</script><script>${readFileSync(join(pages, 'app.js'), 'utf8').replace(/<\/script/gi, '<\\/script')}</script>`);
  writeFileSync(join(folder, 'run.html'), html);
  const requests = [];
  const note = (request) => requests.push(request.url());
  page.on('request', note);
  await page.goto(`file://${folder}/run.html`);
  await page.locator('.finding').first().waitFor();
  for (const id of ['timeline', 'matrix', 'calls']) {
    await page.locator(`header nav a[href="#/${id}"]`).click();
    await page.locator(`main[data-page=${id}] canvas, main[data-page=${id}] table`).first().waitFor();
  }
  page.off('request', note);
  assert.deepEqual(requests.filter((url) => !/^(data|blob):/.test(url)), [`file://${folder}/run.html`]);
  rmSync(folder, { recursive: true });
});

test('what a trace names is never more than text, and nothing is asked from elsewhere', async () => {
  await go('/calls', '[role=treegrid]');
  assert.ok((await page.locator('main').innerText()).includes(hostile));
  await page.keyboard.press('/');
  await page.locator('.palette input').fill('Evil');
  await page.locator('.palette li button').first().waitFor();
  assert.ok((await page.locator('.palette').innerText()).includes(hostile));
  await go('/overview', '.finding');
  assert.ok((await page.locator('.finding').first().innerText()).includes(hostile));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('main img, main b').count(), 0);
  assert.deepEqual(browser.strangers, []);
  assert.deepEqual(browser.errors, []);
});
