// SPDX-License-Identifier: BSD-3-Clause
// Every page follows everything that is chosen, and dims the rest: pages × choices, against the ring of double.mjs.
// FATHOM_PAGES is the folder that build.mjs filled.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser } from './browser.mjs';
import { job, startDouble } from './double.mjs';

let server;
let browser;
let page;
before(async () => {
  server = await startDouble(process.env.FATHOM_PAGES, [job({ live: true }), job({ name: 'later', iterations: 150 })]);
  browser = await openBrowser();
  page = browser.page;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(server.url);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// How much stands out from the paper in a part of a canvas: x, y, width, height in CSS pixels, or in shares of it.
const ink = (selector, part) =>
  page.evaluate(
    ([selector, [x, y, w, h]]) => {
      const canvas = [...document.querySelectorAll(selector)].at(-1);
      const scale = canvas.width / canvas.clientWidth;
      const inPixels = (value, all) => Math.round((value <= 1 ? value * all : value) * scale);
      const [width, height] = [Math.max(1, inPixels(w, canvas.clientWidth)), Math.max(1, inPixels(h, canvas.clientHeight))];
      const { data } = canvas.getContext('2d').getImageData(inPixels(x, canvas.clientWidth), inPixels(y, canvas.clientHeight), width, height);
      let sum = 0;
      for (let at = 0; at < data.length; at += 4) sum += (data[at + 3] / 255) * (765 - data[at] - data[at + 1] - data[at + 2]);
      return Math.round((1000 * sum) / (data.length / 4)) / 1000;
    },
    [selector, part],
  );
const count = (selector) => page.locator(selector).count();
const attribute = (selector, name) => page.locator(selector).first().getAttribute(name);

const choices = {
  ranks: 'ranks=2-4',
  pair: 'pair=3-4',
  window: 'window=25000000-50000000',
  class: 'class=MPI_Allreduce',
  function: 'function=MPI_Allreduce',
  site: 'function=MPI_Sendrecv&site=ring.c:25',
  finding: 'finding=0&ranks=2-4&window=1000000-3000000&class=point-to-point&function=MPI_Sendrecv',
};

// Measures of a page, by name. A choice says of some of them what becomes of them: 'less', 'more', 'same', or a value.
const timelineRow = (rank) => ['.timeline canvas', [80, 24 + (388 / 8) * rank + 8, 1190, 30]];
const matrixCell = (row, column) => async () => {
  const { width, height } = await page.locator('.timeline canvas').evaluate((node) => ({ width: node.clientWidth, height: node.clientHeight }));
  const cell = Math.min(width - 68, height - 22) / 8;
  return ink('.timeline canvas', [64 + column * cell + 4, 20 + row * cell + 4, cell - 8, cell - 8]);
};
const of = (selector, part) => () => ink(selector, part);
const number = (selector, name) => async () => Number(await attribute(selector, name));
const strip = '[aria-label="The run over time"] canvas';
const share = '[aria-label="Time in MPI"] canvas';
const dims = (selector) => () => count(`${selector} tr.dim`);
const shown = async () => Number(/Shown: ([\d,]+)/.exec(await page.locator('[data-level]').textContent())[1]);

const pages = {
  overview: {
    ready: `${share}`,
    measures: { early: of(strip, [0.02, 0, 0.15, 0.6]), within: of(strip, [0.27, 0, 0.2, 0.6]), rank0: of(share, [0.02, 0, 0.08, 0.8]), rank3: of(share, [0.4, 0, 0.08, 0.8]), findings: () => count('.finding.dim'), whose: () => attribute(strip, 'data-strip'), title: () => page.locator('[aria-label="The run over time"] h2').textContent() },
    ranks: { rank0: 'less', rank3: 'same', findings: 0, whose: '2-4', within: 'other', title: 'The run over time of ranks 2-4' },
    pair: { rank0: 'less', rank3: 'same', whose: '3,4', within: 'other', title: 'The run over time of ranks 3 and 4' },
    window: { early: 'less', within: 'same', whose: 'all' },
    class: { early: 'less', within: 'less', findings: 1 },
    function: { early: 'less', within: 'less', findings: 1 },
    finding: { rank0: 'less', findings: 1, whose: '2-4' },
  },
  timeline: {
    ready: '.timeline canvas[data-blanks="0"]',
    measures: { rank0: of(...timelineRow(0)), rank3: of(...timelineRow(3)), early: of('.timeline canvas', [100, 30, 200, 360]), within: of('.timeline canvas', [420, 30, 200, 360]), arrows: number('.messages', 'data-lit') },
    ranks: { rank0: 'less', rank3: 'same' },
    pair: { rank0: 'less', rank3: 'same' },
    window: { early: 'less', within: 'same' },
    class: { rank0: 'less', rank3: 'less', arrows: 0 },
    function: { rank0: 'less', arrows: 0 },
    finding: { rank0: 'less', arrows: 20 },
  },
  matrix: {
    ready: '.beside table',
    measures: { from0: matrixCell(0, 1), from3: matrixCell(3, 4), total: number('[data-total]', 'data-total') },
    ranks: { from0: 'less', from3: 'same', total: 'same' },
    pair: { from0: 'less', from3: 'same', total: 'same' },
    window: { total: 'less' },
    class: { total: 64 },
    function: { total: 64 },
    finding: { from0: 'less', total: 'less' },
  },
  calls: {
    ready: '[role=treegrid]',
    measures: { tree: dims('[role=treegrid]'), sites: dims('table[aria-label^=Places]'), asked: async () => (server.asked.filter((path) => path.startsWith('/api/calls')).pop() ?? '').replace(/^[^?]*\?/, ''), said: async () => (await page.locator('main').innerText()).includes('Of the whole run') },
    ranks: { asked: 'ranks=2-4&run=0' },
    pair: { asked: 'ranks=3,4&run=0' },
    window: { asked: 'from=25000000&run=0&to=50000000', said: true },
    class: { tree: 3, sites: 2 },
    function: { tree: 3, sites: 2 },
    site: { tree: 2, sites: 2 },
    finding: { tree: 1, sites: 1 },
  },
  machine: {
    ready: 'canvas[data-renderer="2d"]',
    measures: { tubes: shown, picture: of('canvas[data-renderer]', [0, 0, 1, 1]), calls: dims('[data-card=sizes-whole]') },
    ranks: { tubes: 'less', picture: 'less' },
    pair: { tubes: 'less', picture: 'less' },
    window: { picture: 'other' },
    class: { tubes: 'less', calls: 1 },
    function: { tubes: 'less', picture: 'less', calls: 1 },
    finding: { tubes: 'less', calls: 1 },
  },
  network: {
    ready: '[data-placement] tbody tr',
    measures: { links: dims('[data-placement]'), picture: of('[data-placement] canvas', [0, 0, 1, 1]), chosen: () => page.locator('[data-chosen]').evaluateAll((nodes) => nodes.reduce((sum, node) => sum + Number(node.dataset.chosen), 0)), hot: number('[data-placement] [data-link]', 'data-bytes'), said: async () => (await page.locator('main').innerText()).includes('What was received in the chosen window') },
    ranks: { picture: 'less', chosen: 'more' },
    pair: { links: 'more', picture: 'less', chosen: 'more' },
    window: { said: true, hot: 50_000 },
    class: { links: 8, picture: 'less' },
    function: { links: 8, picture: 'less' },
    finding: { picture: 'other', said: true, hot: 4_000, chosen: 'more' },
  },
  compare: {
    ready: '.over-time canvas',
    measures: { early: of('.over-time canvas', [20, 20, 80, 70]), within: of('.over-time canvas', [0.18, 20, 0.1, 70]), functions: dims('[aria-label=Functions]'), classes: dims('[aria-label=Classes]'), pairs: dims('[aria-label=Pairs]'), whose: () => attribute('.over-time canvas', 'data-strip') },
    ranks: { pairs: 1, whose: 'chosen', within: 'other' },
    pair: { pairs: 1, whose: 'chosen', within: 'other' },
    window: { early: 'less', within: 'same', whose: 'all' },
    class: { early: 'less', functions: 1, classes: 1 },
    function: { early: 'less', functions: 1, classes: 1 },
    finding: { within: 'less', pairs: 1, functions: 0, classes: 0, whose: 'chosen' },
  },
  live: {
    ready: '[data-rank="7"]',
    measures: { ranks: dims('[data-card=ranks]'), matrix: of('[data-card=matrix] canvas', [0, 0, 1, 1]), total: number('[data-card=matrix]', 'data-total'), early: of('[data-card=history] canvas', [0.02, 0, 0.12, 1]), within: of('[data-card=history] canvas', [0.2, 0, 0.1, 1]), samples: () => attribute('[data-card=history]', 'data-window'), said: async () => (await page.locator('main').innerText()).includes('No sample lies in the chosen window') },
    // The job began a minute and a half second before the first sample: this is from the tenth to the twentieth.
    queries: { window: 'window=71500000000-81500000000' },
    window: { early: 'less', within: 'same', samples: '10-20', total: 10 * 8 * 10 * 1008, said: false },
    ranks: { ranks: 5, matrix: 'less' },
    pair: { ranks: 6, matrix: 'less' },
    class: { total: 1200 * 8 * 8 },
    function: { ranks: 6, total: 1200 * 8 * 8 },
    finding: { ranks: 6, matrix: 'less', said: true }, // of the three, rank 3 computes
  },
};

async function measured(measures) {
  const found = {};
  for (const [name, measure] of Object.entries(measures)) found[name] = await measure();
  return found;
}

function missing(expected, before, now) {
  return Object.entries(expected).filter(([name, wanted]) => {
    const [was, is] = [before[name], now[name]];
    if (wanted === 'less') return !(is < was);
    if (wanted === 'more') return !(is > was);
    if (wanted === 'other') return is === was;
    // What a hair's breadth of an edge changes does not count.
    if (wanted === 'same') return !(Math.abs(is - was) <= 0.02 * Math.abs(was));
    return is !== wanted;
  }).map(([name, wanted]) => `${name}: ${before[name]} became ${now[name]}, not ${wanted}`);
}

for (const [id, { ready, measures, queries = {}, ...expectations }] of Object.entries(pages)) {
  test(`the page ${id} follows what is chosen, and dims the rest`, async () => {
    const show = async (query) => {
      await page.evaluate((hash) => (location.hash = hash), `/${id}${query && '?'}${query}`);
      await page.locator(`main[data-page=${id}]`).waitFor();
      await page.locator(ready).first().waitFor();
    };
    // Until two looks at it are the same.
    const rested = async () => {
      let last = '';
      for (let tries = 0; tries < 100; ++tries) {
        const now = await measured(measures);
        if (JSON.stringify(now) === last) return now;
        last = JSON.stringify(now);
        await page.waitForTimeout(80);
      }
      throw new Error(`${id} never rests: ${last}`);
    };
    await show('');
    const plain = await rested();
    for (const [name, expected] of Object.entries(expectations)) {
      await show(queries[name] ?? choices[name]);
      let wrong = ['not looked at'];
      for (let tries = 0; wrong.length > 0 && tries < 100; ++tries) {
        wrong = missing(expected, plain, await measured(measures));
        if (wrong.length > 0) await page.waitForTimeout(80);
      }
      assert.deepEqual(wrong, [], `${id} with ${choices[name]}`);
    }
    assert.deepEqual(browser.errors, []);
  });
}
