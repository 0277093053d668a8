// SPDX-License-Identifier: BSD-3-Clause
// The modules of the pages that need no browser. FATHOM_UNITS is the folder that build.mjs --units filled,
// FATHOM_PRINT_UNITS a program that prints numbers as the command line does.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const units = process.env.FATHOM_UNITS;
const load = (name) => import(join(units, `${name}.mjs`));
const format = await load('format');
const ranks = await load('ranks');
const state = await load('view_state');
const viewport = await load('viewport');
const tile = await load('tile');
const matrix = await load('matrix');
const colour = await load('colour');
const key = await load('answer_key');
const calls = await load('call_tree');
const place = await load('place');
const { SvgPen } = await load('svg_pen');

// A generator of its own, so that a failure can be repeated.
let seed = 12345;
const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;

test('numbers read as on the command line', () => {
  const values = [0, 0.5, 1, 9.995, 99.95, 999.5, 999.4999, 1000, 1024, 65536, 0.0995, 0.125, 0.375, 2.5, 3.5, 119.5, 7199.5, 7200, 1e-9, 5e-8, 0.9995];
  for (let n = 0; n < 4000; ++n) values.push(random() * 10 ** (random() * 24 - 10), Math.floor(random() * 4000) / 8);
  const lines = [];
  const expected = [];
  for (const value of values) {
    lines.push(`bytes ${value}`, `seconds ${value}`, `time ${value}`);
    expected.push(format.humanBytes(value), format.humanSeconds(value), format.humanTime(value));
    const whole = Math.min(Math.floor(value), 2 ** 52);
    lines.push(`grouped ${whole}`, `edge ${whole}`);
    expected.push(format.grouped(whole), format.binEdge(whole));
    const part = random() * value;
    lines.push(`percent ${part} ${value}`);
    expected.push(format.percent(part, value));
  }
  const printed = execFileSync(process.env.FATHOM_PRINT_UNITS, { input: `${lines.join('\n')}\n`, maxBuffer: 1 << 28 }).toString().trimEnd().split('\n');
  assert.equal(printed.length, expected.length);
  printed.forEach((text, at) => assert.equal(expected[at], text, lines[at]));
});

test('sets of ranks survive their text', () => {
  assert.deepEqual(ranks.parseRanks('0-3,7'), [0, 1, 2, 3, 7]);
  assert.equal(ranks.formatRanks([7, 3, 1, 2, 0]), '0-3,7');
  for (const text of ['', 'a', '3-1', '1,,2', '-1', '0-99999999']) assert.equal(ranks.parseRanks(text), null, text);
  for (let n = 0; n < 200; ++n) {
    const list = [...new Set(Array.from({ length: 1 + Math.floor(random() * 30) }, () => Math.floor(random() * 60)))].sort((a, b) => a - b);
    assert.deepEqual(ranks.parseRanks(ranks.formatRanks(list)), list);
  }
});

test('every choice survives the URL', () => {
  const names = ['MPI_Recv', 'a b&c=d#e?f', '<b>', 'größe', '%2F', ''];
  for (let n = 0; n < 500; ++n) {
    const maybe = (make) => (random() < 0.5 ? null : make());
    const whole = (most) => Math.floor(random() * most);
    const from = whole(2 ** 50);
    const window = maybe(() => [from, from + 1 + whole(1e9)]);
    const view = {
      page: 'timeline', run: whole(3), ranks: maybe(() => [whole(4), 5, 9 + whole(20)]), pair: maybe(() => [whole(100), whole(100)]), window, since: window && maybe(() => 'start'),
      class: maybe(() => names[whole(5)]), function: maybe(() => names[whole(5)]), site: maybe(() => `${names[whole(5)]}.c:${whole(9)}`), finding: maybe(() => whole(20)), crumbs: random() < 0.5 ? [] : [{ label: names[whole(5)], query: 'ranks=1' }], options: random() < 0.5 ? {} : { 'time.view': '1-2' },
    };
    assert.deepEqual(state.parseView(`#${state.viewText(view)}`), view);
  }
});

test('places of the call tree add up, however they were reached', () => {
  const columns = { id: [0, 1, 2, 3, 4], parent: [-1, 0, 0, 1, 2], name: ['main', 'a', 'b', 'MPI_Send', 'MPI_Send'], file: ['', '/s/x.c', '/s/x.c', '/s/x.c', '/s/x.c'], line: [0, 3, 4, 7, 7], kind: ['function', 'function', 'function', 'mpi', 'mpi'], calls: [3, 1, 2, 1, 2], ns: [30, 10, 20, 10, 20], wait_ns: [3, 1, 2, 1, 2], bytes: [24, 8, 16, 8, 16] };
  assert.deepEqual(calls.sitesOf(calls.treeOf(columns)), [{ kind: 'mpi', name: 'MPI_Send', place: '/s/x.c:7', calls: 3, ns: 30, waitNs: 3, bytes: 24 }]);
  assert.equal(place.placeText('heat+0x1f', 0), 'heat+0x1f');
  assert.equal(place.shortPlace('/s/x.c:7'), 'x.c:7');
  // Nodes that name themselves, or nobody, as their parent are roots.
  assert.deepEqual(calls.treeOf({ ...columns, parent: [0, 9, 0, 1, 2] }).map((node) => node.name), ['main', 'a']);
});

test('a link from elsewhere cannot break the state', () => {
  for (const hash of ['', '#', '#/', '#/<script>', '#/timeline?ranks=zzz&pair=1&window=9-1&finding=-1&crumb=%7B&crumb=[1]', '#/a?b', '#?ranks=1', `#/timeline?${'&crumb=[%22a%22,%22b%22]'.repeat(30)}`]) {
    const view = state.parseView(hash);
    assert.match(view.page, /^[a-z]+$/);
    assert.equal(view.window, null);
    assert.ok(view.crumbs.length <= 8);
  }
});

test('a window that was chosen while the job ran is one of its trace afterwards, and stays what it is', () => {
  const meta = { started_ns: 1_597_469_354, program: { from_ns: 1_700_000_000, to_ns: 4e9 } };
  const live = state.parseView('#/live?window=1000-3000&since=start');
  assert.deepEqual([live.window, live.since], [[1000, 3000], 'start']);
  const traced = state.settled(live, state.startIn(meta));
  assert.deepEqual([traced.window, traced.since], [[1_597_470_354, 1_597_472_354], null]);
  assert.equal(state.viewText(traced), '/live?window=1597470354-1597472354');
  assert.equal(state.settled(traced, state.startIn(meta)), traced);
  assert.equal(state.settled(live, state.startIn({})), live); // no trace yet, or none at all
  assert.equal(state.startIn({ program: meta.program }), meta.program.from_ns); // of a trace that does not say it
  assert.equal(state.parseView('#/live?since=start').since, null);
});

test('isolating and leaving comes back to the choice before', () => {
  const start = { ...state.startView, ranks: [1, 2], function: 'MPI_Recv' };
  const one = state.isolate(start, 'late', { ranks: [3], finding: 0 });
  const two = state.isolate(one, 'later', { pair: [3, 4] });
  assert.equal(two.ranks, null);
  assert.equal(state.choiceText(state.leaveCrumb(two, 1)), state.choiceText(one));
  assert.equal(state.choiceText(state.leaveCrumb(two, 0)), state.choiceText(start));
  assert.equal(state.leaveCrumb(two, 7), two);
});

test('a viewport never leaves the run, and zooming keeps its place', () => {
  const bounds = { from: 5, to: 1e9 + 5, rows: 1000 };
  let view = viewport.whole(bounds);
  for (let n = 0; n < 3000; ++n) {
    const at = random();
    const before = view.from + (view.to - view.from) * at;
    const inside = random() < 0.5;
    const factor = inside ? 0.8 : 0.5 + random() * 2;
    const span = view.to - view.from;
    view = random() < 0.6 ? viewport.zoomed(view, factor, at, bounds) : viewport.moved(view, random() - 0.5, random() - 0.5, bounds);
    if (inside && view.to - view.from < span * 0.81 && view.to - view.from > 21 && view.from > bounds.from && view.to < bounds.to && span * 0.8 === view.to - view.from)
      assert.ok(Math.abs(view.from + (view.to - view.from) * at - before) < 1);
    assert.ok(view.from >= bounds.from && view.to <= bounds.to + 1e-6 && view.to > view.from, JSON.stringify(view));
    assert.ok(view.top >= 0 && view.top + view.rows <= bounds.rows + 1e-9);
  }
  const zoomed = viewport.zoomed({ from: 100, to: 200, top: 0, rows: 1 }, 0.5, 0.25, { from: 0, to: 1000, rows: 1 });
  assert.deepEqual([zoomed.from, zoomed.to], [112.5, 162.5]);
});

test('the level is the coarsest whose bins are small enough', () => {
  const bins = [1600, 400, 100];
  assert.equal(viewport.levelFor(bins, 800), 0);
  assert.equal(viewport.levelFor(bins, 799), 1);
  assert.equal(viewport.levelFor(bins, 50), 2);
  assert.equal(viewport.levelFor(bins, 1), 2);
});

test('a tile that is cut short, or something else, is refused', () => {
  const good = new ArrayBuffer(64 + 24);
  const view = new DataView(good);
  [...'FVT1'].forEach((c, at) => view.setUint8(at, c.charCodeAt(0)));
  [1, 1, 1023, 7].forEach((value, at) => view.setUint32(32 + at * 4, value, true));
  view.setUint32(64, 3, true);
  view.setUint8(64 + 23, 255);
  const read = tile.readTile(good);
  assert.equal(read.waitFor[0], 3);
  assert.equal(read.pathShare[0], 255);
  assert.throws(() => tile.readTile(good.slice(0, 80)), /cut short/);
  assert.throws(() => tile.readTile(new ArrayBuffer(3)), /not a tile/);
  view.setUint32(36, 100000, true);
  assert.throws(() => tile.readTile(good), /larger/);
  const calls = new ArrayBuffer(16);
  [...'FVR1'].forEach((c, at) => new DataView(calls).setUint8(at, c.charCodeAt(0)));
  assert.equal(tile.readCalls(calls).count, 0);
  new DataView(calls).setUint32(4, 5, true);
  assert.throws(() => tile.readCalls(calls), /cut short/);
});

test('a heavy pair is seen in every picture of a matrix', () => {
  let grid = matrix.gridOf(100, [3, 70], [99, 2], [5, 900], Array.from({ length: 100 }, (_, at) => at));
  assert.deepEqual([grid.least, grid.most], [5, 900]);
  for (; grid.size > 1; grid = matrix.halved(grid)) assert.equal(Math.max(...grid.values), 900);
  assert.equal(grid.values[0], 900);
});

test('reordering moves each value to the place of its ranks', () => {
  const order = [2, 0, 1];
  const place = [];
  order.forEach((rank, at) => (place[rank] = at));
  const grid = matrix.gridOf(3, [0, 2], [1, 0], [7, 9], place);
  assert.equal(grid.values[1 * 3 + 2], 7);
  assert.equal(grid.values[0 * 3 + 1], 9);
});

test('amounts grow darker or lighter in one direction, and stand out from the page', () => {
  const bright = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  for (const dark of [false, true]) {
    const steps = Array.from({ length: 40 }, (_, at) => bright(colour.amountColour(at / 39, dark)));
    for (let at = 1; at < steps.length; ++at) assert.ok(dark ? steps[at] >= steps[at - 1] - 0.5 : steps[at] <= steps[at - 1] + 0.5);
    assert.ok(Math.abs(bright(colour.amountColour(1, dark)) - bright((dark ? colour.dark : colour.light).paper)) > 120);
  }
});

// Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility of displays by dichromats",
// Color Research & Application 24(4), 1999: what someone without L (protan) or M (deutan) cones sees.
function asSeen([r, g, b], kind) {
  const linear = [r, g, b].map((c) => (c / 255) ** 2.2);
  const m = kind === 'protan' ? [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]] : [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]];
  return m.map((row) => Math.max(0, row.reduce((sum, w, at) => sum + w * linear[at], 0)) ** (1 / 2.2) * 255);
}

test('groups of functions and waits differ for colour-blind eyes', () => {
  const groups = ['send', 'receive', 'completion', 'collective', 'io'].map(colour.groupColour);
  for (const palette of [colour.light, colour.dark]) {
    const all = [...groups, palette.wait, palette.computing];
    for (const kind of ['protan', 'deutan'])
      for (let a = 0; a < all.length; ++a)
        for (let b = a + 1; b < all.length; ++b) {
          const [x, y] = [asSeen(all[a], kind), asSeen(all[b], kind)];
          assert.ok(Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]) > 25, `${all[a]} and ${all[b]} for ${kind} eyes`);
        }
  }
});

test('text can be read on its paper in both themes', () => {
  const luminance = (c) => c.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  for (const palette of [colour.light, colour.dark])
    for (const ink of [palette.ink, palette.faint, palette.chosen]) for (const paper of [palette.paper, palette.panel]) assert.ok(contrast(ink, paper) >= 4.5, `${ink} on ${paper}`);
});

test('questions have one spelling', () => {
  assert.equal(key.answerKey('/api/window', { to: 5, run: 0, from: null, ranks: '0-3,7', class: undefined, what: '' }), '/api/window?ranks=0-3,7&run=0&to=5');
  assert.equal(key.answerKey('/api/runs', {}), '/api/runs');
  assert.equal(key.answerKey('/api/a', { x: 'a&b' }), '/api/a?x=a%26b');
});

test('what a trace names is text in an SVG', () => {
  const pen = new SvgPen(100, 50, () => 10);
  pen.font = '12px sans-serif';
  pen.fillText('<script>alert(1)</script>&"', 5, 5);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, 10, 10);
  pen.clip();
  pen.fillRect(1, 2, 3, 4);
  pen.restore();
  const text = pen.text();
  assert.ok(!text.includes('<script'));
  assert.ok(text.includes('&lt;script&gt;'));
  assert.equal(text.split('<g ').length, text.split('</g>').length);
});

test('marks are at round numbers and tell each other apart', () => {
  for (let n = 0; n < 300; ++n) {
    const from = random() * 1e12;
    const to = from + 10 ** (1 + random() * 11);
    const { step, at } = format.marks(from, to, 10);
    assert.ok(at.length <= 12 && at.length >= 2, `${at.length} marks`);
    assert.equal(new Set(at.map((ns) => format.moment(ns, step))).size, at.length);
  }
});
