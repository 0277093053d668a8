// SPDX-License-Identifier: BSD-3-Clause
// The page Machine in Debian's Chromium, on a real run: each of the 24 features that Pyrite's viewer has, by its
// number in docs/viewer.md, with WebGL (in software) and without. FATHOM, RUN, MAP and WEBGL (on or off) say
// with what; SHOTS is a folder for pictures, if any.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, serve } from '../page/browser.mjs';

const { FATHOM, RUN, MAP, WEBGL, SHOTS } = process.env;
const webgl = WEBGL === 'on';
let server, browser, page;

const hash = (text) => page.evaluate((next) => void (location.hash = next), text);
const stage = 'canvas[data-renderer]';
const until = (what, ...more) => page.waitForFunction(what, more.length === 1 ? more[0] : more, { timeout: 60_000 });
// Of the part of the picture where the machine is: how many pixels have which colour class.
const picture = () =>
  page.evaluate((selector) => {
    const from = document.querySelector(selector);
    const canvas = document.createElement('canvas');
    canvas.width = 200;
    canvas.height = 120;
    const context = canvas.getContext('2d');
    context.drawImage(from, 0, 0, 200, 120);
    return Array.from(context.getImageData(0, 0, 200, 120).data).join();
  }, stage);
const distinct = (text) => {
  const data = text.split(',');
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join());
  return seen.size;
};
const differs = async (before) => {
  for (let tries = 0; tries < 300; ++tries) {
    const now = await picture();
    if (now !== before) return now;
    await page.waitForTimeout(50);
  }
  throw new Error('the picture stayed the same');
};
const frames = () => page.$eval(stage, (canvas) => Number(canvas.dataset.frames ?? 0));
const still = async () => {
  for (let tries = 0; tries < 200; ++tries) {
    const before = await page.$eval('output[data-clock]', (output) => output.dataset.clock);
    const old = page.url();
    await page.waitForTimeout(120);
    if (before === (await page.$eval('output[data-clock]', (output) => output.dataset.clock)) && old === page.url()) return;
  }
};
const clock = () => page.$eval('output[data-clock]', (output) => Number(output.dataset.clock));
const shot = (name) => SHOTS && page.screenshot({ path: join(SHOTS, `${name}-${webgl ? '3d' : '2d'}.png`) });
const analyze = (...words) => JSON.parse(execFileSync(FATHOM, ['analyze', RUN, '--json', ...words], { maxBuffer: 1 << 28 }));
const card = (name) => `[data-card="${name}"]`;
const open = async (more = '') => {
  await hash(`/machine${webgl ? '?machine.three=1' : ''}${more && (webgl ? '&' : '?')}${more}`);
  await page.waitForSelector(`canvas[data-renderer="${webgl ? '3d' : '2d'}"]`);
  await page.waitForSelector(card('summary'));
  await until((selector) => Number(document.querySelector(selector)?.dataset.frames ?? 0) > 0, stage);
};
// The whole run, as at first: all messages are drawn.
const whole = async () => {
  await page.locator('input.scrub').fill('10000');
  await until(([selector]) => Number(/Shown: ([\d,]+)/.exec(document.querySelector(selector).textContent)[1].replace(',', '')) > 8, '[data-level]', 0);
};
// Halos pulse; where a test compares pictures they are off.
const quiet = async () => {
  const shown = page.locator(`${card('overlay')} label`, { hasText: 'shown' }).locator('input');
  if (await shown.isChecked()) await shown.uncheck();
  await page.waitForTimeout(200);
};

before(async () => {
  rmSync(join(RUN, 'view', 'views.json'), { force: true });
  server = await serve(FATHOM, ['--map', MAP, RUN]);
  browser = await openBrowser({ width: 1400, height: 1000, more: webgl ? ['--enable-unsafe-swiftshader'] : ['--disable-3d-apis'] });
  page = browser.page;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(server.url);
  await open();
}, { timeout: 120_000 });
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('1 the run is loaded in chunks, on demand', async () => {
  const asked = [];
  page.on('request', (request) => request.url().includes('/api/machine/traffic') && asked.push(new URL(request.url()).searchParams));
  await page.locator('input.scrub').fill('5000');
  await until(() => !document.querySelector('.loading'));
  assert.ok(asked.length >= 1, 'nothing was asked for');
  const { begin_ns, end_ns } = await (await page.request.get(new URL('/api/machine', page.url()).href)).json();
  for (const chunk of asked) assert.ok(Number(chunk.get('to')) - Number(chunk.get('from')) < (end_ns - begin_ns) / 8, 'each a part of the run');
});

test('2 the metadata card says what the CLI says', async () => {
  const profile = JSON.parse(readFileSync(join(RUN, 'profile.json')));
  const fact = (name) => page.textContent(`${card('metadata')} [data-fact="${name}"]`);
  assert.equal(await fact('program'), profile.application.executable);
  assert.equal(await fact('ranks'), String(profile.world_size));
  assert.equal(await fact('messages seen by'), profile.source);
  assert.match(await fact('machine'), /Tiny.*2 cabinets/);
});

test('3 play, pause, and scrub, live while dragging', async () => {
  await quiet();
  await page.locator('input.scrub').fill('0');
  const before = await clock();
  await page.click('button:has-text("Play")');
  await until((was) => Number(document.querySelector('output[data-clock]').dataset.clock) > was, before);
  await page.click('button:has-text("Pause")');
  await still();
  const paused = await clock();
  const frame = await frames();
  const bar = await page.locator('input.scrub').boundingBox();
  await page.mouse.move(bar.x + bar.width * 0.2, bar.y + bar.height / 2);
  await page.mouse.down();
  const seen = new Set();
  for (const part of [0.3, 0.5, 0.7, 0.9]) {
    await page.mouse.move(bar.x + bar.width * part, bar.y + bar.height / 2);
    await page.waitForTimeout(60);
    seen.add(await clock());
  }
  await page.mouse.up();
  assert.ok(seen.size >= 3, `the moment follows the pointer: ${[...seen]}`);
  assert.notEqual(await clock(), paused);
  await until(([selector, was]) => Number(document.querySelector(selector).dataset.frames) > was, stage, frame);
});

test('4 the speed is said, also in real time', async () => {
  await page.locator('input[aria-label="speed"]').fill('-2');
  assert.match(await page.textContent('.controls'), /0\.01× \(.*real time\)/);
  await page.locator('input[aria-label="speed"]').fill('0');
});

test('5 what is being loaded is said, over the last picture', async () => {
  await page.route('**/api/machine/traffic*', async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue().catch(() => undefined); // the page may be gone
  });
  await page.reload();
  await page.waitForSelector('.loading');
  assert.match(await page.textContent('.loading'), /Loading/);
  await until(() => !document.querySelector('.loading'));
  await page.unroute('**/api/machine/traffic*');
  await page.waitForSelector(card('summary'));
});

test('6 the tables of calls by size equal fathom analyze, of the whole run and of a window', async () => {
  const counts = (result) => {
    const { functions } = result.analyses['flat-profile'];
    return [functions.name, functions.count];
  };
  const shown = (name) => page.$$eval(`${card(name)} tr[data-call]`, (rows) => rows.map((row) => [row.dataset.call, Number(row.querySelector('[data-total]').dataset.total)]).sort());
  const compare = async (name, ...words) => {
    const [names, calls] = counts(analyze('--only', 'flat-profile', ...words));
    const expected = names.map((label, at) => [label, calls[at]]).filter(([label]) => label.startsWith('MPI_')).sort();
    // The rows of the window before may be as many.
    for (let tries = 0; tries < 200 && JSON.stringify(await shown(name)) !== JSON.stringify(expected); ++tries) await page.waitForTimeout(100);
    assert.deepEqual(await shown(name), expected);
  };
  await compare('sizes-whole');
  const { begin_ns, end_ns } = await (await page.request.get(new URL('/api/machine', page.url()).href)).json();
  const [from, to] = [begin_ns + Math.floor((end_ns - begin_ns) * 0.3), begin_ns + Math.floor((end_ns - begin_ns) * 0.7)];
  await open(`window=${from}-${to}`);
  await compare('sizes-window', '--from', `${from}ns`, '--to', `${to}ns`);
  await open();
});

test('7 the machine stands there: cabinets to cores, with every rank', async () => {
  await until((selector) => document.querySelector(selector)?.dataset.level, '[data-level]');
  assert.equal(await page.$eval('[data-level]', (span) => span.dataset.level), 'core');
  assert.ok(distinct(await picture()) > 8);
  await shot('machine');
});

test('8 communication is drawn, by count and class, collectives opened', async () => {
  await quiet();
  await open();
  await whole();
  const text = await page.textContent('[data-level]');
  const all = Number(/Shown: ([\d,]+)/.exec(text)[1].replace(',', ''));
  assert.ok(all > 8, text);
  const of = async (name) => {
    const before = await page.textContent('[data-level]');
    await open(`class=${name}`);
    for (let tries = 0; tries < 100 && (await page.textContent('[data-level]')) === before; ++tries) await page.waitForTimeout(100);
    return Number(/Shown: ([\d,]+)/.exec(await page.textContent('[data-level]'))[1].replace(',', ''));
  };
  const broadcast = await of('MPI_Bcast');
  const program = await of('point-to-point');
  assert.ok(broadcast >= 7, `a broadcast reaches 7 others: ${broadcast}`);
  assert.ok(program >= 8 && program < all, `${program} of ${all}`);
  await open();
});

test('9 ranks in MPI glow', async () => {
  const answer = await (await page.request.get(new URL('/api/machine/traffic?bins=1', page.url()).href)).json();
  assert.ok(answer.activity.busy_ns.some((ns) => ns > 0));
  await page.locator('input.scrub').fill('1');
  await quiet();
  const before = await picture();
  await page.locator('input.scrub').fill('6000');
  await differs(before);
});

test('10 the legend names what is drawn', async () => {
  const text = await page.textContent(card('legend'));
  for (const word of ['point-to-point', 'inside collectives', 'in MPI', 'core without a rank']) assert.ok(text.includes(word), word);
});

test('11 a tip says what is under the pointer, as text', async () => {
  await page.click('[aria-label="Camera"] button:has-text("Reset")');
  await page.waitForTimeout(1000);
  const box = await page.locator(stage).boundingBox();
  let text = '';
  for (let row = 0.2; row < 0.85 && !/rank \d/.test(text); row += 0.05)
    for (let column = 0.2; column < 0.8 && !/rank \d/.test(text); column += 0.02) {
      await page.mouse.move(box.x + box.width * column, box.y + box.height * row);
      text = (await page.locator('.tip:not([hidden])').count()) ? await page.textContent('.tip') : '';
    }
  assert.match(text, /rank \d+\nhost .+\nsocket \d+, core \d+/);
  assert.equal(await page.$eval('.tip', (tip) => tip.children.length), 0, 'no element comes from a name');
});

test('12 fly to a rank, and follow it', async () => {
  await quiet();
  const before = await picture();
  await page.fill('input[aria-label="rank to fly to"]', '5');
  await page.click('button:has-text("Fly to")');
  await differs(before);
  assert.equal(await page.$eval('[data-selected]', (span) => span.dataset.selected), '5');
  await page.click('form button:has-text("Follow")');
  assert.equal(await page.getAttribute('form button:has-text("Follow")', 'aria-pressed'), 'true');
  const followed = await picture();
  await page.click('[aria-label="Layout"] button:has-text("Line")');
  await differs(followed);
  await page.click('form button:has-text("Follow")');
  await open();
});

test('13 camera presets look from different sides', async () => {
  await quiet();
  const seen = new Set();
  for (const name of ['Iso', 'Top', 'Front', 'Side']) {
    await page.click(`[aria-label="Camera"] button:has-text("${name}")`);
    await page.waitForTimeout(1100);
    seen.add(await picture());
  }
  assert.equal(seen.size, 4);
  await page.click('[aria-label="Camera"] button:has-text("Reset")');
});

test('14 the four layouts are distinct', async () => {
  await quiet();
  const seen = new Set();
  for (const name of ['Blueprint', 'Top-down', 'Rack front', 'Line']) {
    await page.click(`[aria-label="Layout"] button:has-text("${name}")`);
    await page.waitForTimeout(500);
    seen.add(await picture());
    await shot(`layout-${name.replace(' ', '-')}`);
  }
  assert.equal(seen.size, 4);
  await page.click('[aria-label="Layout"] button:has-text("Blueprint")');
});

test('15 views are saved in the run directory, and restored', async () => {
  await page.click('[aria-label="Layout"] button:has-text("Rack front")');
  await page.fill('input[aria-label="name of the view"]', 'racks <b>');
  await page.click(`${card('views')} button:has-text("Save")`);
  await page.waitForSelector(`${card('views')} li`);
  const kept = JSON.parse(readFileSync(join(RUN, 'view', 'views.json')));
  assert.deepEqual(kept.views.map((view) => view.name), ['racks <b>']);
  await page.click('[aria-label="Layout"] button:has-text("Blueprint")');
  await page.click(`${card('views')} li button.plain`);
  await until(() => document.querySelector('[aria-label="Layout"] button[aria-pressed="true"]')?.textContent === 'Rack front');
  await page.click(`${card('views')} li button[aria-label^="delete"]`);
  await until((selector) => document.querySelectorAll(selector).length === 0, `${card('views')} li`);
  await open();
});

test('16 the picture is recorded to a video', async () => {
  await page.click('button:has-text("Record")');
  await page.locator('input.scrub').fill('2000');
  for (const part of [3000, 4000, 5000, 6000, 7000]) {
    await page.locator('input.scrub').fill(String(part));
    await page.waitForTimeout(150);
  }
  await page.click('button:has-text("Stop recording")');
  await page.waitForSelector('a[download$=".webm"]');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('a[download$=".webm"]')]);
  const bytes = readFileSync(await saved.path());
  assert.ok(bytes.length > 1000, `${bytes.length} bytes`);
  assert.equal(bytes.subarray(0, 4).toString('hex'), '1a45dfa3', 'a Matroska file');
});

test('17 the summary card equals the exported analysis object', async () => {
  const object = await (await page.request.get(new URL('/api/machine/cards', page.url()).href)).json();
  const file = join(RUN, 'pyrite.json');
  rmSync(file, { force: true });
  execFileSync(FATHOM, ['export', RUN, '--format', 'pyrite', '-o', file], { stdio: 'ignore' });
  const { schema, ...rest } = object;
  assert.equal(schema, 'fathom-view/1');
  assert.deepEqual(rest, JSON.parse(readFileSync(file)));
  assert.equal(await page.textContent(`${card('summary')} [data-fact="total_events"]`), object.summary.total_events.toLocaleString('en'));
});

test('18 patterns have pills of ranks and pairs that fly there', async () => {
  assert.match(await page.textContent(card('patterns')), /strength \d\.\d\d/);
  await page.locator(`${card('issues')} .pill`).first().waitFor();
  await quiet();
  const before = await picture();
  await page.locator(`${card('ranks')} .pill`).first().click();
  await differs(before);
  assert.notEqual(await page.$eval('[data-selected]', (span) => span.dataset.selected), '-1');
});

test('19 the issues card lists issues with what they cost, and a late rank', async () => {
  const object = await (await page.request.get(new URL('/api/machine/cards', page.url()).href)).json();
  assert.ok(object.issues.length > 0);
  assert.equal(await page.locator(`${card('issues')} .finding`).count(), object.issues.length);
  assert.ok(object.issues.some((issue) => issue.ranks.includes(1)), 'rank 1 comes late');
});

test('20 top ranks, links and roots are there', async () => {
  const object = await (await page.request.get(new URL('/api/machine/cards', page.url()).href)).json();
  assert.equal(await page.locator(`${card('ranks')} tbody tr`).count(), object.top_ranks_by_touch_bytes.length);
  assert.match(await page.textContent(card('links')), new RegExp(`${object.top_links[0].sender} → ${object.top_links[0].receiver}`));
  assert.match(await page.textContent(card('roots')), /rank 2/);
});

test('21 barrier skew and phases seek', async () => {
  await page.locator(`${card('barriers')} tbody tr`).first().click();
  const at = await clock();
  const object = await (await page.request.get(new URL('/api/machine/cards', page.url()).href)).json();
  const widest = [...object.barrier_spreads].sort((a, b) => b.spread - a.spread)[0];
  assert.ok(Math.abs(at - widest.t_max * 1e9) <= 1000, `${at} and ${widest.t_max}`);
  await page.locator(`${card('phases')} .phase`).nth(1).click();
  assert.equal(await page.locator(`${card('phases')} .phase.here`).count(), 1);
  assert.notEqual(await clock(), at);
});

test('22 focus and isolate work on every card', async () => {
  await open();
  await whole();
  const names = ['summary', 'patterns', 'issues', 'ranks', 'links', 'roots', 'barriers', 'phases'];
  for (const name of names) {
    const { length } = await page.locator(`${card(name)} > .between button:disabled`).all();
    if (name !== 'patterns') assert.equal(length, 0, name);
  }
  await quiet();
  const all = Number(/Shown: ([\d,]+)/.exec(await page.textContent('[data-level]'))[1].replace(',', ''));
  await page.locator(`${card('roots')} > .between button:has-text("Isolate")`).click();
  await until(() => location.hash.includes('ranks='));
  const isolated = await picture();
  await until(([selector, most]) => Number(/Shown: ([\d,]+)/.exec(document.querySelector(selector).textContent)[1].replace(',', '')) < most, '[data-level]', all);
  await page.goBack();
  await until(() => !location.hash.includes('ranks='));
  await differs(isolated);
  await until(([selector, count]) => Number(/Shown: ([\d,]+)/.exec(document.querySelector(selector).textContent)[1].replace(',', '')) === count, '[data-level]', all);
  const camera = () => page.$eval(stage, (canvas) => canvas.dataset.camera);
  // Until the camera has stood still for a while.
  const rests = async () => {
    for (let tries = 0, last = ''; tries < 100; ++tries) {
      const now = await camera();
      if (now === last) return now;
      last = now;
      await page.waitForTimeout(150);
    }
    throw new Error('the camera never rests');
  };
  for (const [at, name] of names.entries()) {
    const button = (word) => page.locator(`${card(name)} > .between button:has-text("${word}")`);
    if (await button('Focus').isDisabled()) continue; // the strongest pattern names no rank
    // From all of the machine to the card's ranks.
    const old = await camera();
    await page.click(`[aria-label="Camera"] button:has-text("${at % 2 ? 'Side' : 'Front'}")`);
    await until(([selector, was]) => document.querySelector(selector).dataset.camera !== was, stage, old);
    const from = await rests();
    if (name === 'phases') {
      // Of these, the focus is a moment: the end of the busiest.
      await page.locator('input.scrub').fill('1');
      await button('Focus').click();
      await until(() => Number(document.querySelector('input.scrub').value) > 1);
    } else {
      await button('Focus').click();
      await until(([selector, was]) => document.querySelector(selector).dataset.camera !== was, stage, from);
      await rests();
    }
    await button('Isolate').click();
    await until(() => document.querySelectorAll('.crumbs button').length === 1);
    assert.match(page.url(), /[?&](ranks|pair|window)=/, name);
    await page.locator('.crumbs button').click();
    await until(() => document.querySelectorAll('.crumbs button').length === 0);
    assert.doesNotMatch(page.url(), /[?&](ranks|pair|window)=/, name);
    await rests();
  }
});

test('23 the overlay of findings has filters and limits', async () => {
  await open();
  const marks = () => page.$eval('[data-marks]', (span) => Number(span.dataset.marks));
  const panel = page.locator(card('overlay'));
  await panel.locator('button:has-text("Defaults")').click();
  const all = await marks();
  assert.ok(all > 0);
  await panel.locator('input[name="topRanks"]').uncheck();
  const fewer = await marks();
  assert.ok(fewer < all, `${fewer} of ${all}`);
  await panel.locator('input[name="topRanks"]').check();
  await panel.locator('input[name="mostRanks"]').fill('1');
  assert.ok((await marks()) < all);
  await panel.locator('button:has-text("Defaults")').click();
  assert.equal(await marks(), all);
  await panel.locator('button:has-text("Refresh")').click();
  await until(([selector, count]) => Number(document.querySelector(selector)?.dataset.marks) === count, '[data-marks]', all);
  const on = await picture();
  await panel.locator('label', { hasText: 'shown' }).locator('input').uncheck();
  await differs(on);
  assert.equal(await marks(), 0);
  await panel.locator('label', { hasText: 'shown' }).locator('input').check();
});

test('24 the overlay has a legend of its own', async () => {
  const text = await page.textContent(card('overlay-legend'));
  for (const word of ['critical', 'warning', 'ping-pong', 'root', 'busy link', 'busy rank']) assert.ok(text.includes(word), word);
  assert.equal(await page.locator(`${card('overlay-legend')} svg`).count(), 8);
});

test('the keyboard plays, moves and changes the layout', async () => {
  await open();
  await page.locator('#page').focus();
  await page.keyboard.press('l');
  await until(() => location.hash.includes('machine.layout=topdown'));
  const before = await picture();
  await page.keyboard.press('q');
  await differs(before);
  await page.keyboard.press('r');
});

test('without WebGL, 3-D is refused with a sentence and the 2-D picture stays', { skip: webgl }, async () => {
  await hash('/machine?machine.three=1');
  await until(() => /no WebGL/.test(document.querySelector('.controls')?.textContent ?? ''));
  await page.waitForSelector('canvas[data-renderer="2d"]');
});

test('a machine with 100,000 ranks is drawn and moves', { skip: webgl }, async () => {
  const ranks = 100_000;
  const column = (length, of) => Array.from({ length }, (_, at) => of(at));
  await page.route('**/api/machine?*', async (route) => {
    const answer = await (await route.fetch()).json();
    answer.host = column(ranks, (rank) => Math.floor(rank / 64));
    answer.hosts = column(Math.ceil(ranks / 64), (host) => `n${host}`);
    answer.socket = column(ranks, (rank) => (rank % 64 < 32 ? 0 : 1));
    answer.cores = column(ranks, (rank) => String(rank % 64));
    answer.map_text = '';
    await route.fulfill({ json: answer });
  });
  await page.route('**/api/machine/traffic*', async (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const rows = 20_000;
    await route.fulfill({
      json: {
        from_ns: Number(asked.get('from')), to_ns: Number(asked.get('to')), bins: 1, left_out: 0,
        flows: { bin: column(rows, () => 0), source: column(rows, (at) => (at * 5) % ranks), destination: column(rows, (at) => (at * 5 + 64) % ranks), class: column(rows, () => 0), messages: column(rows, (at) => 1 + (at % 9)), bytes: column(rows, () => 100) },
        activity: { bin: column(ranks, () => 0), rank: column(ranks, (rank) => rank), function: column(ranks, () => 0), busy_ns: column(ranks, (rank) => rank * 1000) },
      },
    });
  });
  await hash('/machine');
  await page.reload();
  await page.waitForSelector('canvas[data-renderer="2d"]');
  await until(() => document.querySelector('[data-level]')?.dataset.level === 'node');
  await until(() => /Shown: 600/.test(document.querySelector('[data-level]').textContent));
  const before = await picture();
  const frame = await frames();
  const box = await page.locator(stage).boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 240, { steps: 6 });
  await page.mouse.up();
  await differs(before);
  assert.ok((await frames()) > frame);
  // Near to one rank its core is drawn, with 99,999 others beside and behind it.
  await page.fill('input[aria-label="rank to fly to"]', '77777');
  await page.click('button:has-text("Fly to")');
  await until(() => document.querySelector('[data-level]').dataset.level === 'core');
  await shot('machine-100000');
  await page.unroute('**/api/machine?*');
  await page.unroute('**/api/machine/traffic*');
});

test('nothing was asked of another machine, and no script failed', () => {
  assert.deepEqual(browser.strangers, []);
  assert.deepEqual(browser.errors.filter((text) => !/status of 422|WebGL/.test(text)), []);
});
