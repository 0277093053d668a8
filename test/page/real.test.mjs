// SPDX-License-Identifier: BSD-3-Clause
// The pages of a real, traced run, served by `fathom view`: every number that stands on a page is the command
// line's for the same window, to the integer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, serve } from './browser.mjs';

const fathom = process.env.FATHOM_BINARY;
const folder = mkdtempSync(join(tmpdir(), 'fathom-page-'));
const run = join(folder, 'run');
const program = join(folder, 'heat'); // goes away in one of the tests
const json = (...words) => JSON.parse(execFileSync(fathom, words, { cwd: folder, maxBuffer: 1 << 28 }).toString());
let server;
let browser;
let page;
let meta;

before(async () => {
  copyFileSync(process.env.FATHOM_HEAT, program);
  execFileSync(fathom, ['run', '--trace', '-o', run, '--', 'mpirun', '--oversubscribe', '-n', '4', program, '40'], { cwd: folder, stdio: 'ignore', timeout: 120_000, env: { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' } });
  server = await serve(fathom, [run], { FATHOM_PAGES: process.env.FATHOM_PAGES });
  browser = await openBrowser();
  page = browser.page;
  await page.goto(server.url);
  await page.locator('.finding, .sentence').first().waitFor();
  meta = await page.evaluate(() => fetch('/api/meta?run=0').then((response) => response.json()));
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function go(hash, ready) {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.locator(ready).first().waitFor();
}

test('the token leaves the address, and without it nothing is served', async () => {
  assert.doesNotMatch(page.url(), /token/);
  const base = new URL(server.url).origin;
  for (const path of ['/', '/api/runs', '/app.js']) assert.equal((await fetch(base + path)).status, 401);
});

test('every page of the run shows something', async () => {
  for (const id of ['overview', 'timeline', 'matrix', 'calls', 'machine', 'network', 'live', 'compare']) {
    await go(`/${id}`, `main[data-page=${id}] canvas, main[data-page=${id}] table, main[data-page=${id}] .sentence`);
    assert.doesNotMatch(await page.locator('main').innerText(), /cannot be drawn|NaN|undefined|no such answer/);
  }
});

test('every page of the run is saved as a picture', async () => {
  for (const id of ['overview', 'timeline', 'matrix', 'calls', 'machine', 'network', 'live', 'compare']) {
    await go(`/${id}`, `main[data-page=${id}]`);
    await page.waitForTimeout(300);
    for (const kind of ['PNG', 'SVG']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind, exact: true }).click()]);
      const bytes = readFileSync(await download.path());
      assert.ok(kind === 'PNG' ? bytes.subarray(1, 4).toString() === 'PNG' : /<text[^>]*>[^<]/.test(bytes.toString()), `${id} as ${kind}`);
    }
  }
});

test('the sums of random windows are those of the command line', async () => {
  let seed = 20240917;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const { from_ns, to_ns } = meta.program;
  for (let n = 0; n < 6; ++n) {
    const a = Math.round(from_ns + random() * (to_ns - from_ns));
    const b = Math.round(from_ns + random() * (to_ns - from_ns));
    const [from, to] = [Math.min(a, b), Math.max(a, b) + 1000];
    const ranks = n % 3 === 0 ? '0-3' : n % 3 === 1 ? '1,3' : '2';
    await go(`/timeline?window=${from}-${to}${ranks === '0-3' ? '' : `&ranks=${ranks}`}`, `.area[data-window="${from}-${to}"]`);
    const area = await page.locator('.area').evaluate((node) => ({ ...node.dataset }));
    const window = ['--from', `${from}ns`, '--to', `${to}ns`];
    const analysed = json('analyze', run, '--json', '--only', 'flat-profile,wait-states,matrices,idle-time', ...window, '--ranks', ranks);
    const profile = analysed.analyses['flat-profile'];
    const waits = analysed.analyses['wait-states'];
    assert.equal(Number(area.mpi), Math.round(profile.mpi_seconds * 1e9), `time in MPI of ranks ${ranks} in ${from}-${to}`);
    assert.equal(Number(area.wait), Math.round((waits.wait_seconds ?? 0) * 1e9), `waiting of ranks ${ranks} in ${from}-${to}`);
    const sum = (column) => (column ?? []).reduce((all, one) => all + one, 0);
    const { all_pairs: pairs } = analysed.analyses.matrices;
    assert.deepEqual([Number(area.bytes), Number(area.messages)], [sum(pairs?.bytes), sum(pairs?.messages)], `traffic of ranks ${ranks} in ${from}-${to}`);
    // What a table shows as text: functions with their calls, as the command line counts them.
    const rows = (label) => page.locator(`table[aria-label="${label}"] tbody tr`).evaluateAll((found) => found.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
    const more = page.locator('.area [aria-label="Functions in the window"] button.more');
    if ((await more.count()) > 0) await more.click();
    const { functions } = profile;
    const expected = functions.name.map((name, at) => [name, String(functions.count[at]).replace(/\B(?=(\d{3})+$)/g, ',')]).filter((_, at) => functions.count[at] > 0 || functions.exclusive_seconds[at] > 0);
    assert.deepEqual((await rows('Functions in the window')).map((row) => row.slice(0, 2)).sort(), expected.sort(), `functions of ranks ${ranks} in ${from}-${to}`);
    // The same window on other pages.
    const chosen = `window=${from}-${to}${ranks === '0-3' ? '' : `&ranks=${ranks}`}`;
    await go(`/overview?${chosen}`, `.facts[data-window="${from}-${to}"]`);
    const facts = () => page.locator(`.facts[data-window="${from}-${to}"] dd[data-ns]`).evaluateAll((nodes) => nodes.map((node) => Number(node.dataset.ns)));
    const idle = analysed.analyses['idle-time'].idle_time;
    const wanted = [sum(idle.program_seconds), sum(idle.mpi_seconds), sum(idle.waiting_seconds)].map((seconds) => Math.round(seconds * 1e9));
    for (let tries = 0; String((await facts()).slice(1)) !== String(wanted); ++tries) {
      assert.ok(tries < 200, `${await facts()}, not ${wanted} of ranks ${ranks} in ${from}-${to}`);
      await page.waitForTimeout(50);
    }
    await go(`/matrix?window=${from}-${to}`, 'main[data-page=matrix] [data-total], main[data-page=matrix] .sentence');
    const all = json('analyze', run, '--json', '--only', 'matrices', ...window).analyses.matrices.all_pairs;
    await page.waitForFunction((total) => Number(document.querySelector('main[data-page=matrix] [data-total]')?.dataset.total ?? 0) === total, sum(all?.bytes));
  }
});

test('findings are those of the command line, and lead to their place on the timeline', async () => {
  const findings = json('analyze', run, '--json').findings;
  await go('/overview', findings.length > 0 ? '.finding' : '.card');
  const shown = await page.locator('.finding').evaluateAll((nodes) => nodes.map((node) => node.querySelector('p').innerText));
  assert.deepEqual(shown, findings.map((finding) => `${finding.severity} ${finding.summary}`));
  if (findings.length === 0) return;
  await page.locator('.finding .isolate').first().click();
  await page.locator('header nav a[href="#/timeline"]').click();
  await page.locator('.timeline canvas[data-blanks="0"]').waitFor();
  assert.match(page.url(), /finding=0/);
});

test('traffic is that of the report', async () => {
  const report = json('report', run, '--json');
  await go('/matrix', '[data-total]');
  assert.equal(Number(await page.locator('[data-total]').getAttribute('data-total')), report.total.bytes);
  await go('/matrix?matrix.what=messages', '[data-total]');
  await page.waitForFunction((total) => Number(document.querySelector('[data-total]')?.dataset.total) === total, report.total.messages);
});

test('places in the program are those of the command line, on Calls and on the timeline', async () => {
  const { from_ns, to_ns } = meta.program;
  const [from, to] = [from_ns + Math.round((to_ns - from_ns) / 3), from_ns + Math.round((to_ns - from_ns) / 2)];
  const waits = json('analyze', run, '--json', '--only', 'wait-states', '--from', `${from}ns`, '--to', `${to}ns`).analyses['wait-states'].waits;
  await go(`/calls?window=${from}-${to}`, 'table[aria-label^=Places]');
  await page.waitForFunction(() => !document.querySelector('main').innerText.includes('Of the whole run'));
  const shown = await page.locator('table[aria-label^=Places] tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.innerText.trim()).join(' at ')));
  assert.ok(waits.file.length > 0 && waits.file.every((file) => /heat\.c$/.test(file)));
  waits.function.forEach((name, at) => assert.ok(shown.includes(`${name} at ${waits.file[at]}:${waits.line[at]}`), `${name} at ${waits.file[at]}:${waits.line[at]} is not among ${shown}`));
  // A single call on the timeline says the same place.
  await page.locator('table[aria-label^=Places] tbody tr', { hasText: 'MPI_Waitall' }).first().click();
  await page.waitForFunction(() => /site=.*heat\.c%3A\d+/.test(location.hash));
  const place = new URLSearchParams(page.url().split('?').pop()).get('site');
  await go(`/timeline?function=MPI_Waitall&site=${place}&time.view=${from}-${from + 2_000_000}`, '.timeline canvas[data-blanks="0"]');
  const said = page.locator('.timeline [aria-live]');
  const wanted = `, from ${place.split('/').pop()}`;
  for (let tries = 0; !(await said.textContent()).endsWith(wanted); ++tries) {
    assert.ok(tries < 300, `${await said.textContent()}, not ${wanted}`);
    await page.keyboard.press('.');
    await page.waitForTimeout(100);
  }
});

test('the file of fathom export opens from disk, asks for nothing, and has the same numbers', async () => {
  const file = join(folder, 'run.html');
  execFileSync(fathom, ['export', run, '-o', file], { stdio: 'ignore', env: { ...process.env, FATHOM_PAGES: process.env.FATHOM_PAGES } });
  assert.ok(statSync(file).size < 20_000_000);
  const report = json('report', run, '--json');
  const { mpi_seconds } = json('analyze', run, '--json', '--only', 'flat-profile').analyses['flat-profile'];
  const findings = json('analyze', run, '--json').findings;
  const opened = await browser.context.newPage();
  const requests = [];
  opened.on('request', (request) => /^(data|blob):/.test(request.url()) || requests.push(request.url()));
  try {
    await opened.goto(`file://${file}`);
    await opened.locator('.finding, main .card').first().waitFor();
    const shown = await opened.locator('.finding').evaluateAll((nodes) => nodes.map((node) => node.querySelector('p').innerText));
    assert.deepEqual(shown, findings.map((finding) => `${finding.severity} ${finding.summary}`));
    const numbers = await opened.locator('[aria-label="Time in MPI"] dd[data-ns]').evaluateAll((nodes) => nodes.map((node) => Number(node.dataset.ns)));
    assert.ok(numbers.includes(Math.round(mpi_seconds * 1e9)), `${mpi_seconds} s is not among ${numbers}`);
    for (const id of ['timeline', 'matrix', 'calls', 'machine', 'network', 'compare', 'live']) {
      await opened.evaluate((to) => (location.hash = `/${to}`), id);
      await opened.locator(`main[data-page=${id}] canvas, main[data-page=${id}] table, main[data-page=${id}] .sentence`).first().waitFor();
      assert.doesNotMatch(await opened.locator('main').innerText(), /cannot be drawn|NaN|undefined/, id);
      if (id === 'matrix') assert.equal(Number(await opened.locator('[data-total]').getAttribute('data-total')), report.total.bytes);
      if (id === 'timeline') await opened.locator('.timeline canvas[data-blanks="0"]').waitFor();
    }
    // What it does not hold, it says: here, the strip of some ranks.
    await opened.evaluate(() => (location.hash = '/overview?ranks=1'));
    await opened.locator('text=This is the strip of all ranks').waitFor();
    assert.deepEqual(requests, [`file://${file}`]);
  } finally {
    await opened.close();
  }
});

test('a slice keeps the names of places when the program is gone', () => {
  const slice = join(folder, 'slice');
  execFileSync(fathom, ['trace', 'slice', run, '--from', `${meta.program.from_ns}ns`, '-o', slice], { stdio: 'ignore' });
  const places = () => json('analyze', slice, '--json', '--only', 'wait-states').analyses['wait-states'].waits;
  const before = places();
  assert.ok(before.file.some((file) => /heat\.c$/.test(file)));
  rmSync(program);
  assert.deepEqual(places(), before);
});

test('nothing was asked from anywhere else', () => {
  assert.deepEqual(browser.strangers, []);
  assert.deepEqual(browser.errors, []);
});
