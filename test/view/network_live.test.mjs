// SPDX-License-Identifier: BSD-3-Clause
// The pages Network and Live in Debian's Chromium. FATHOM, RUN (a traced run), LIVE (a run of a job that runs until
// the file STOP exists) and SHOTS, as machine.test.mjs has them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, serve } from '../page/browser.mjs';
import { openFirefox } from '../page/firefox.mjs';

const { FATHOM, RUN, LIVE, STOP, SHOTS } = process.env;
let server, browser, page, chosenLive;
const hash = (text) => page.evaluate((next) => void (location.hash = next), text);
const until = (what, given) => page.waitForFunction(what, given, { timeout: 60_000 });
const get = async (path) => (await page.request.get(new URL(path, page.url()).href)).json();
const shot = (name) => SHOTS && page.screenshot({ path: join(SHOTS, `${name}.png`) });

before(async () => {
  server = await serve(FATHOM, [RUN, LIVE]);
  browser = await openBrowser({ width: 1400, height: 1000, more: ['--disable-3d-apis'] });
  page = browser.page;
  await page.goto(server.url);
}, { timeout: 120_000 });
after(async () => {
  writeFileSync(STOP, '');
  await browser?.close();
  await server?.stop();
});

// What fathom simulate says of the same.
function simulated(cluster, placement, model) {
  const folder = mkdtempSync(join(tmpdir(), 'fathom-simulated-'));
  try {
    const words = ['simulate', '--cluster', cluster, '--job', RUN, '--placement', placement, '--model', model, '--host-links', '--json', '--force', '-o', folder];
    return JSON.parse(execFileSync(FATHOM, words, { stdio: ['ignore', 'pipe', 'ignore'] })).runs[0];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('every number of a simulation equals fathom simulate, for each model and kind of network', async () => {
  const clusters = ['torus:dims=3,3', 'mesh:dims=2,5', 'hyperx:dims=3,3', 'tree:k=3;n=2', 'dragonfly:switches=2;globals=1;hosts=2', 'slimfly:q=3'];
  for (const [at, cluster] of clusters.entries()) {
    const model = ['load', 'flow', 'replay'][at % 3];
    const answer = await get(`/api/network?cluster=${encodeURIComponent(cluster)}&placement=block,cyclic&model=${model}`);
    assert.equal(answer.error, undefined, cluster);
    assert.deepEqual(answer.runs.map((run) => run.result), [simulated(cluster, 'block', model), simulated(cluster, 'cyclic', model)], cluster);
    const kinds = ['torus', 'mesh', 'hyperx', 'tree', 'dragonfly', 'graph'];
    assert.equal(answer.kind, kinds[at]);
    if (model === 'load') continue;
    // What is carried over time adds up to the whole.
    for (const run of answer.runs) {
      const sums = answer.links.source.map(() => 0);
      run.carried.link.forEach((link, row) => (sums[link] += run.carried.bytes[row]));
      run.result.links.forEach((link, number) => assert.ok(Math.abs(sums[number] - link.traffic) <= 1e-6 * (1 + link.traffic), `${cluster} ${number}`));
    }
  }
});

test('what a link carries adds up to its traffic, flows and pairs of ranks alike', async () => {
  const cluster = encodeURIComponent('torus:dims=3,3');
  // In time, a link's bytes are added up interval by interval.
  for (const [model, routing, off] of [['load', 'dmodk', 0], ['load', 'ecmp', 0], ['flow', 'dmodk', 1e-6], ['flow', 'greedy-max', 1e-6], ['replay', 'dmodk', 1e-6]]) {
    const same = (bytes, traffic, what) => assert.ok(Math.abs(bytes - traffic) <= off * (1 + traffic), `${model}, ${routing}, ${what}: ${bytes} and ${traffic}`);
    const { runs, links } = await get(`/api/network?cluster=${cluster}&model=${model}&routing=${routing}`);
    for (let link = 0; link < links.source.length; link += model === 'load' ? 1 : 5) {
      const content = await get(`/api/network/link?cluster=${cluster}&model=${model}&routing=${routing}&link=${link}`);
      const { traffic } = runs[0].result.links[link];
      same(content.bytes, traffic, `link ${link}`);
      same(content.flows.bytes.reduce((sum, bytes) => sum + bytes, 0), traffic, `flows of ${link}`);
      same(content.pairs.bytes.reduce((sum, bytes) => sum + bytes, 0), traffic, `pairs of ${link}`);
    }
  }
});

test('what is chosen of the traffic is on its links, in every model', async () => {
  const cluster = encodeURIComponent('torus:dims=3,3');
  const sum = (list) => list.reduce((all, one) => all + one, 0);
  const total = (answer) => sum(answer.runs[0].bytes);
  for (const model of ['load', 'flow', 'replay']) {
    const question = `/api/network?cluster=${cluster}&model=${model}`;
    const whole = await get(question);
    const traffic = sum(whole.runs[0].result.links.map((link) => link.traffic));
    const all = total(await get(`${question}&only=chosen`));
    assert.ok(Math.abs(all - traffic) <= 1e-6 * traffic, `${model}: ${all} and ${traffic}`);
    const some = await get(`${question}&only=chosen&ranks=0-1`);
    assert.ok(total(some) > 0 && total(some) < all, `${model}: ${total(some)} of ${all}`);
    // One pair: the links of its way, each with its bytes.
    const pair = await get(`${question}&only=chosen&pair=0-1`);
    assert.ok(pair.runs[0].link.length > 0 && new Set(pair.runs[0].bytes).size === 1, model);
    for (const link of pair.runs[0].link.slice(0, 1)) {
      const content = await get(`/api/network/link?cluster=${cluster}&model=${model}&link=${link}&top=2000`);
      assert.ok(content.pairs.source.some((source, at) => source === 0 && content.pairs.destination[at] === 1), `${model}: link ${link}`);
    }
    // Classes of messages are parts of the whole.
    if (model !== 'flow') continue;
    const { classes } = await get('/api/meta');
    const by_class = [];
    for (const name of new Set(classes.name)) by_class.push(total(await get(`${question}&only=chosen&class=${encodeURIComponent(name)}`)));
    assert.ok(Math.abs(sum(by_class) - all) <= 1e-6 * all, `${model}: ${by_class} of ${all}`);
  }
});

test('two placements stand side by side, and a scrub changes what is shown', async () => {
  await hash('/network?network.cluster=torus:dims%3D3,3&network.beside=cyclic');
  await until(() => document.querySelectorAll('[data-placement]').length === 2);
  await shot('network-torus');
  const answer = await get(`/api/network?run=0&cluster=${encodeURIComponent('torus:dims=3,3')}&placement=block,cyclic&model=flow`);
  const shown = await page.$$eval('[data-placement="block"] [data-link]', (spans) => spans.map((span) => [Number(span.dataset.link), Number(span.dataset.bytes)]));
  assert.ok(shown.length > 0);
  for (const [link, bytes] of shown) assert.equal(bytes, answer.runs[0].result.links[link].traffic);
  const whole = await page.textContent('[data-placement="block"]');
  await page.locator('input.scrub').fill('0');
  await until(() => document.querySelector('output[data-interval]').dataset.interval === '0');
  await until((before) => document.querySelector('[data-placement="block"]').textContent !== before, whole);
  for (const [link, bytes] of await page.$$eval('[data-placement="block"] [data-link]', (spans) => spans.map((span) => [Number(span.dataset.link), Number(span.dataset.bytes)]))) {
    const { carried } = answer.runs[0];
    const expected = carried.link.reduce((sum, id, row) => (id === link && carried.interval[row] === 0 ? sum + carried.bytes[row] : sum), 0);
    assert.equal(bytes, expected);
  }
});

test('a click on a link shows its flows and the pairs behind them, and isolates them', async () => {
  await page.locator('[data-placement="block"] tbody tr').first().click();
  await page.waitForSelector('[data-card="link"][data-of="cyclic"] [data-pair]');
  assert.equal(await page.locator('[data-card="link"]').count(), 2);
  const total = await page.$eval('[data-card="link"][data-of="block"] [data-total]', (span) => Number(span.dataset.total));
  const link = Number(/network\.link=(\d+)/.exec(page.url())[1]);
  const content = await get(`/api/network/link?cluster=${encodeURIComponent('torus:dims=3,3')}&model=flow&placement=block&link=${link}`);
  assert.equal(total, content.bytes);
  await page.locator('[data-card="link"][data-of="block"] button:has-text("Isolate its ranks")').click();
  await until(() => location.hash.includes('ranks='));
});

test('a click on the picture of a link chooses it', async () => {
  await hash('/network?network.cluster=torus:dims%3D3,3');
  await until(() => document.querySelectorAll('[data-placement]').length === 1);
  const box = await page.locator('[data-placement="block"] canvas').boundingBox();
  for (let part = 0.1; part < 0.9 && !page.url().includes('network.link'); part += 0.01) {
    await page.mouse.click(box.x + box.width * part, box.y + box.height * 0.47);
    await page.waitForTimeout(20);
  }
  assert.match(page.url(), /network\.link=\d+/);
});

test('requests of the network name no file and nothing huge', async () => {
  for (const [query, sentence] of [
    ['cluster=/etc/passwd', /not KIND:key=value/],
    ['cluster=file:/etc/passwd', /no topology|there is no/],
    ['cluster=torus:dims%3D1000,1000', /the most that can be drawn/],
    ['placement=rankfile:/etc/passwd', /no placement|there is no/],
    ['placement=a,b,c,d,e', /at most four/],
    ['seed=-1', /whole number/],
    ['model=x', /no model/],
  ]) {
    const answer = await get(`/api/network?${query}`);
    assert.match(answer.error ?? '', sentence, query);
  }
});

test('live: overview, matrix, ranks and verdict of the running job equal fathom top', async () => {
  await hash('/live?run=1');
  await page.waitForSelector('[data-card="ranks"] [data-rank="3"]');
  await shot('live');
  const top = JSON.parse(execFileSync(FATHOM, ['top', LIVE, '--json', '--interval', '100ms']));
  assert.equal(await page.textContent('[data-card="overview"] [data-fact="program"]'), top.program);
  assert.equal(await page.getAttribute('[data-card="overview"] [data-fact="ranks"]', 'data-exact'), String(top.ranks.length));
  assert.match(await page.textContent('[data-card="ranks"] [data-rank="3"]'), /MPI_|computes/);
  assert.ok((await page.textContent('[data-card="verdict"] p')).length > 10);
  const cause = await page.getAttribute('[data-card="verdict"]', 'data-cause');
  assert.ok(cause, 'a cause');
  // The matrix and the overview are of one state.
  const { state } = await get('/api/live/state?run=1');
  assert.deepEqual(Object.keys(state).sort(), Object.keys(top).sort(), 'the document of fathom top --json');
  await until(() => Number(document.querySelector('[data-card="matrix"]').dataset.total) > 0);
});

test('live: samples are kept, and a scrub shows an earlier one until Now', async () => {
  await until(() => Number(document.querySelector('[data-card="history"]')?.dataset.samples) >= 4);
  const bytes = () => page.$eval('[data-card="overview"] [data-fact="sent"]', (dd) => Number(dd.dataset.exact));
  const now = await bytes();
  await page.locator('[data-card="history"] input.scrub').fill('0');
  await until((before) => Number(document.querySelector('[data-card="overview"] [data-fact="sent"]').dataset.exact) < before, now);
  const first = await bytes();
  await page.waitForTimeout(1500);
  assert.equal(await bytes(), first, 'the earlier moment stays');
  await page.click('[data-card="history"] button:has-text("Now")');
  await until((before) => Number(document.querySelector('[data-card="overview"] [data-fact="sent"]').dataset.exact) >= before, now);
});

test('live: a drag on the strip chooses a window, whose numbers are those between the samples around it', async () => {
  const strip = await page.locator('[data-card="history"] canvas').boundingBox();
  const at = (share) => [strip.x + strip.width * share, strip.y + strip.height / 2];
  await page.mouse.move(...at(0.2));
  await page.mouse.down();
  await page.mouse.move(...at(0.6), { steps: 4 });
  await page.mouse.up();
  await until(() => /window=\d+-\d+/.test(location.hash) && document.querySelector('[data-card="history"]').dataset.window);
  await until(() => document.querySelector('[data-card="overview"] h3')?.textContent === 'Overview of the chosen window');
  const [first, last] = (await page.getAttribute('[data-card="history"]', 'data-window')).split('-').map(Number);
  assert.ok(last > first, `${first}-${last}`);
  const { samples } = await get('/api/live?run=1&since=0');
  const states = [];
  for (const sample of [first, last]) states.push((await get(`/api/live/state?run=1&at=${samples.at_s[sample]}`)).state);
  const sum = (state, list, column) => state[list].reduce((all, one) => all + one[column], 0);
  const grown = (list, column) => sum(states[1], list, column) - sum(states[0], list, column);
  assert.ok(grown('ranks', 'sent_bytes') > 0);
  const shown = (selector) => page.$eval(selector, (node) => Number(node.dataset.exact ?? node.dataset.total));
  await until((bytes) => Number(document.querySelector('[data-card="overview"] [data-fact="sent"]').dataset.exact) === bytes, grown('ranks', 'sent_bytes'));
  assert.equal(await shown('[data-card="matrix"]'), grown('pairs', 'sent_bytes'));
  // A link restores it; taken back, all of the job is there again.
  const link = page.url();
  await page.goto('about:blank');
  await page.goto(link);
  await until((bytes) => Number(document.querySelector('[data-card="overview"] [data-fact="sent"]')?.dataset.exact) === bytes, grown('ranks', 'sent_bytes'));
  await page.keyboard.press('Escape');
  await until((bytes) => Number(document.querySelector('[data-card="overview"] [data-fact="sent"]').dataset.exact) > bytes, grown('ranks', 'sent_bytes'));
});

// A sample that was taken while nothing was sent.
async function rested() {
  writeFileSync(`${STOP}.rest`, '');
  while (!existsSync(`${STOP}.rests`)) await page.waitForTimeout(50);
  const since = Date.now() / 1000;
  for (;;) {
    const { samples } = await get('/api/live?run=1&since=0');
    const at = samples.at_s.at(-1);
    const { state } = await get(`/api/live/state?run=1&at=${at}`);
    if (state.ranks.length === 4 && state.ranks.every((rank) => state.taken_at_s - rank.sample_age_s > since)) return { at, sent: state.pairs.reduce((all, pair) => all + pair.sent_bytes, 0) };
    await page.waitForTimeout(200);
  }
}

test('live: a window chosen with b and e is between the two moments', { timeout: 120_000 }, async () => {
  await hash('/live?run=1');
  await page.waitForSelector('[data-card="overview"] h3');
  const moments = [await rested()];
  rmSync(`${STOP}.rest`);
  for (let sent = 0; sent <= moments[0].sent; await page.waitForTimeout(100)) sent = (await get('/api/live/state?run=1')).state.pairs.reduce((all, pair) => all + pair.sent_bytes, 0);
  moments.push(await rested());
  assert.ok(moments[1].sent > moments[0].sent);
  // A hair inside the two samples: the window is of what lies around it.
  for (const [key, at, moment] of [['b', moments[0].at, moments[0].at + 0.01], ['e', moments[1].at, moments[1].at - 0.01]]) {
    const { samples } = await get('/api/live?run=1&since=0');
    await until((count) => Number(document.querySelector('[data-card="history"]').dataset.samples) >= count, samples.at_s.indexOf(at) + 1);
    await page.locator('[data-card="history"] input.scrub').fill(String(Number((moment - samples.at_s[0]).toFixed(3))));
    await page.locator('[data-card="overview"] h3').first().click();
    await page.keyboard.press(key);
  }
  assert.match(page.url(), /window=\d+-\d+&since=start/);
  const grown = moments[1].sent - moments[0].sent;
  await until((bytes) => Number(document.querySelector('[data-card="matrix"]').dataset.total) === bytes, grown);
  chosenLive = { link: page.url(), grown };
  rmSync(`${STOP}.rest`);
});

// Its console cannot be read; what is thrown, refused by the policy or logged as an error, can.
test('Firefox shows each page and follows its main interaction', { skip: !existsSync('/usr/bin/firefox-esr') && 'there is no firefox-esr', timeout: 300_000 }, async () => {
  const firefox = await openFirefox();
  const two = await serve(FATHOM, [RUN, LIVE, RUN]);
  const see = async (script) => {
    for (let tries = 0; ; ++tries) {
      const found = await firefox.evaluate(`return ${script}`);
      if (found) return found;
      assert.ok(tries < 900, `${script}: ${await firefox.evaluate("return location.hash + ' ' + document.body.innerText")}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  // Points of an element, in shares of it.
  const points = async (selector, ...shares) => {
    await see(`document.querySelector('${selector}') !== null`);
    const box = await firefox.evaluate(`const node = document.querySelector('${selector}'); node.scrollIntoView({ block: 'center' }); const box = node.getBoundingClientRect(); return [box.x, box.y, box.width, box.height];`);
    return shares.map(([x, y]) => [box[0] + box[2] * x, box[1] + box[3] * y]);
  };
  const drag = async (selector, from, to) => firefox.mouse(...(await points(selector, from, to)));
  const click = async (selector, at = [0.5, 0.5]) => firefox.mouse((await points(selector, at))[0]);
  const go = async (id, ready) => {
    await firefox.evaluate(`location.hash = '/${id}'`);
    await see(`document.querySelector('main[data-page=${id.replace(/\?.*/, '')}] ${ready}') !== null`);
  };
  const chosen = (text) => see(`location.hash.includes('${text}')`);
  try {
    await firefox.goto(two.url);
    await see("document.querySelector('main canvas') !== null");
    await firefox.evaluate(`window.failures = [];
      for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(kind, (event) => window.failures.push(kind + ' ' + (event.message || event.reason || event.violatedDirective)));
      const { error } = console; console.error = (...words) => (window.failures.push(words.join(' ')), error.apply(console, words));`);
    const strip = '[aria-label="The run over time"] canvas';
    await go('overview', strip);
    await drag(strip, [0.3, 0.4], [0.7, 0.4]);
    await chosen('window=');
    await go('timeline', 'canvas[data-blanks="0"]');
    const colours = "(() => { const c = document.querySelector('.timeline canvas'); const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer); return new Set(d).size; })()";
    await see(`${colours} > 10`);
    const before = await firefox.evaluate("return document.querySelector('.timeline canvas').dataset.view");
    await click('.timeline canvas');
    await firefox.press('w');
    await see(`document.querySelector('.timeline canvas').dataset.view !== '${before}'`);
    await drag('.timeline canvas', [0.4, 0.3], [0.8, 0.8]);
    await see("document.querySelector('.area[data-window]') !== null");
    await go('matrix', 'table tbody tr');
    await click('main table tbody tr');
    await chosen('pair=');
    await go('calls', 'table[aria-label^=Places] tbody tr');
    await click('table[aria-label^=Places] tbody tr');
    await chosen('function=');
    await go('machine', 'input.scrub');
    await click('input.scrub', [0.7, 0.5]);
    await see("Number(document.querySelector('output[data-clock]')?.dataset.clock) > 0");
    await go('network', '[data-placement] tbody tr');
    await click('[data-placement] tbody tr');
    await see("document.querySelector('[data-card=link] [data-total]') !== null");
    await go('compare?compare.with=2', '.over-time canvas');
    await click('main [aria-label=Functions] tbody tr');
    await chosen('function=');
    await go('live?run=1', '[data-card="history"] canvas');
    await see("Number(document.querySelector('[data-card=history]').dataset.samples) > 3");
    await drag('[data-card="history"] canvas', [0.2, 0.5], [0.7, 0.5]);
    await chosen('since=start');
    assert.doesNotMatch(await firefox.evaluate("return document.querySelector('main').innerText"), /cannot be drawn|NaN|undefined/);
    assert.deepEqual(await firefox.evaluate('return window.failures'), []);
    if (SHOTS) writeFileSync(join(SHOTS, 'firefox-live.png'), await firefox.screenshot());
  } finally {
    await firefox.close();
    await two.stop();
  }
});

test('live: when the job ends its last minutes stay, and its profile can be opened', async () => {
  writeFileSync(STOP, '');
  await until(() => /has ended/.test(document.querySelector('main')?.textContent ?? ''));
  assert.ok(Number(await page.getAttribute('[data-card="history"]', 'data-samples')) >= 4);
  for (let tries = 0; ; ++tries) {
    const meta = await get('/api/meta?run=1');
    if (!meta.error) break;
    assert.ok(tries < 100, meta.error);
    await page.waitForTimeout(200);
  }
});

test('a window chosen on Live is the same window of the trace, and a link to it stays good', async () => {
  await page.goto('about:blank');
  await page.goto(chosenLive.link.replace('/live?', '/matrix?'));
  await page.waitForSelector('main[data-page=matrix] [data-total]');
  for (let tries = 0, total; (total = Number(await page.getAttribute('main[data-page=matrix] [data-total]', 'data-total'))) !== chosenLive.grown; ++tries) {
    assert.ok(tries < 300, `${total}, not ${chosenLive.grown}, of ${chosenLive.link}, now ${page.url()}`);
    await page.waitForTimeout(100);
  }
  assert.doesNotMatch(page.url(), /since=/);
  const [, from, to] = /window=(\d+)-(\d+)/.exec(page.url());
  const analysed = JSON.parse(execFileSync(FATHOM, ['analyze', LIVE, '--json', '--only', 'matrices', '--from', `${from}ns`, '--to', `${to}ns`]));
  assert.equal(analysed.analyses.matrices.all_pairs.bytes.reduce((all, one) => all + one, 0), chosenLive.grown);
  // Back on Live, it is between the same samples.
  await hash(`/live?run=1&window=${from}-${to}`);
  await page.waitForSelector('main[data-page=live]');
  for (let tries = 0, total; (total = await page.$eval('main', (main) => main.querySelector('[data-card="matrix"]')?.dataset.total ?? main.innerText)) !== String(chosenLive.grown); ++tries) {
    assert.ok(tries < 300, `${total}, not ${chosenLive.grown}`);
    await page.waitForTimeout(100);
  }
});

test('nothing was asked of another machine, and no script failed', () => {
  assert.deepEqual(browser.strangers, []);
  assert.deepEqual(browser.errors.filter((text) => !/status of 422/.test(text)), []);
});
