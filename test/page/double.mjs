// SPDX-License-Identifier: BSD-3-Clause
// A server that answers as docs/view-protocol.md says, about a job that never was: a ring of any number of
// ranks in which one rank is late, with as many ranks and as long as a test needs, and with names that are
// hostile. It is for what a small real run cannot show: large matrices, many ranks, slow answers.
//
// The job, at any moment ns of rank r: iterations of 1 ms. For 0.6 ms all compute, the late rank for 0.8 ms;
// then MPI_Sendrecv until 0.9 ms, in which the others wait for the late rank; then MPI_Allreduce until the end. Two lines
// take turns in calling MPI_Sendrecv.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { cardsOf, liveOf, liveStateOf, machineOf, networkOf, sizesOf, trafficOf } from './double_jobs.mjs';

const kIteration = 1e6;
const nobody = 0xffffffff;

export const hostile = '<img src=x onerror="window.hacked=1"><b>MPI_Evil</b>';
const functions = ['MPI_Sendrecv', 'MPI_Allreduce', hostile];
const groups = ['point-to-point', 'collective', 'other'];

/** How long rank r of the job is in each function, waits, and so on, between two moments. */
export function sums(job, rank, from, to) {
  const late = rank === job.late;
  const parts = [
    { f: 0, begin: late ? 0.8 : 0.6, end: 0.9 },
    { f: 1, begin: 0.9, end: 1 },
  ];
  const found = { ns: [0, 0, 0], calls: [0, 0, 0], wait: 0 };
  // Whole iterations by multiplication, the two at the ends one by one.
  const add = (begin, end, times, whole) => {
    for (const part of parts) {
      const [b, e] = [Math.max(begin, part.begin * kIteration), Math.min(end, part.end * kIteration)];
      if (e <= b) continue;
      found.ns[part.f] += Math.round(e - b) * times;
      found.calls[part.f] += (whole || b === part.begin * kIteration ? 1 : 0) * times;
    }
    if (!late) found.wait += Math.max(0, Math.min(end, 0.8 * kIteration) - Math.max(begin, 0.6 * kIteration)) * times;
  };
  const [first, last] = [Math.floor(from / kIteration), Math.floor(to / kIteration)];
  if (first === last) add(from - first * kIteration, to - first * kIteration, 1, false);
  else {
    add(from - first * kIteration, kIteration, 1, false);
    if (last - first > 1) add(0, kIteration, last - first - 1, true);
    add(0, to - last * kIteration, 1, false);
  }
  return found;
}

const messagesIn = (from, to) => Math.max(0, Math.floor((to - 0.85 * kIteration) / kIteration) - Math.floor((from - 0.85 * kIteration) / kIteration));

function layoutOf(job) {
  const span = job.iterations * kIteration;
  const bin_ns = [];
  const columns = [];
  for (let bins = 256, columnCount = 1; bin_ns.length < 12; bins *= 4, columnCount *= 4) {
    bin_ns.push(span / bins);
    columns.push(columnCount);
    if (span / bins < 2 * kIteration) break;
  }
  return { levels: bin_ns.length, rows: Math.ceil(job.ranks / 64), rows_per_tile: 64, bins_per_tile: 256, from_ns: 0, bin_ns, columns, ready: ['functions', 'waits', 'path'].filter((_, bit) => job.ready & (1 << bit)), problem: '', building: { what: job.ready === 7 ? '' : 'the joined trace', share: 0.5 } };
}

function metaOf(job, run) {
  const all = Array.from({ length: job.ranks }, (_, rank) => rank);
  const hosts = Array.from({ length: Math.ceil(job.ranks / job.perHost) }, (_, host) => `n${host}`);
  const span = job.iterations * kIteration;
  return {
    schema: 'fathom-view/1', run, name: job.name, path: `/runs/${job.name}`, application: './ring', seconds: span / 1e9, ranks: job.ranks, hosts,
    processes: {
      rank: all, host: all.map((rank) => Math.floor(rank / job.perHost)), pid: all.map((rank) => 1000 + rank), threads: all.map(() => 1), first_ns: all.map(() => 0),
      last_ns: all.map(() => span), socket: all.map(() => -1), numa: all.map(() => -1), affinity: all.map(() => ''), complete: all.map((rank) => !job.cut.includes(rank)), problems: all.map(() => []),
    },
    functions: { name: functions, group: groups }, communicators: [{ id: 0, name: 'MPI_COMM_WORLD', made_by: '', size: job.ranks, internal: false }],
    classes: { name: ['point-to-point', 'MPI_Allreduce'], hidden: [false, true] }, phases: ['ring'], wait_kinds: ['late-sender'],
    span: { from_ns: 0, to_ns: span }, program: { from_ns: job.init, to_ns: span }, events: job.ranks * job.iterations * 4, has_trace: job.trace, has_profile: true, trace_level: 'calls',
    timeline: job.trace ? layoutOf(job) : null,
  };
}

function tile(job, level, row, column) {
  const layout = layoutOf(job);
  const binNs = layout.bin_ns[level];
  const first = row * 64;
  const processes = Math.min(64, job.ranks - first);
  const cells = processes * 256;
  const buffer = Buffer.alloc(64 + cells * 24);
  buffer.write('FVT1', 0, 'latin1');
  [level, row, column].forEach((value, at) => buffer.writeUInt32LE(value, 4 + at * 4));
  buffer.writeDoubleLE(column * 256 * binNs, 16);
  buffer.writeDoubleLE(binNs, 24);
  [processes, 256, 1023, job.ready, first, 1, level === layout.levels - 1 ? 1 : 0, 0].forEach((value, at) => buffer.writeUInt32LE(value, 32 + at * 4));
  let at = 64;
  const plane = (size, write) => {
    for (let i = 0; i < cells; ++i, at += size) write(i, at);
  };
  const ringing = [];
  // All ranks but the late one are alike.
  const rows = [job.late, job.late + 1].map((rank) =>
    Array.from({ length: 256 }, (_, bin) => {
      const from = (column * 256 + bin) * binNs;
      return { ...sums(job, rank, from, from + binNs), messages: messagesIn(from, from + binNs) };
    }),
  );
  for (let i = 0; i < cells; ++i) {
    const rank = first + Math.floor(i / 256);
    ringing.push({ rank, ...rows[rank === job.late ? 0 : 1][i % 256] });
  }
  const share = (ns) => Math.max(0, Math.min(255, Math.round((255 * ns) / binNs)));
  plane(4, (i, o) => buffer.writeUInt32LE(ringing[i].wait > 0 ? job.late : nobody, o));
  plane(4, (i, o) => buffer.writeUInt32LE(2 * ringing[i].messages, o));
  plane(4, (i, o) => buffer.writeFloatLE(job.bytes * ringing[i].messages, o));
  plane(4, (i, o) => buffer.writeFloatLE(job.bytes * ringing[i].messages, o));
  plane(2, (i, o) => buffer.writeUInt16LE(ringing[i].ns[0] >= ringing[i].ns[1] ? (ringing[i].ns[0] > 0 ? 0 : 65535) : 1, o));
  plane(2, (i, o) => buffer.writeUInt16LE(0, o));
  plane(1, (i, o) => buffer.writeUInt8(share(Math.max(ringing[i].ns[0], ringing[i].ns[1])), o));
  plane(1, (i, o) => buffer.writeUInt8(share(ringing[i].ns[0] + ringing[i].ns[1]), o));
  plane(1, (i, o) => buffer.writeUInt8(share(ringing[i].wait), o));
  plane(1, (i, o) => buffer.writeUInt8(ringing[i].rank === job.late ? 255 : 0, o));
  return buffer;
}

function raw(job, from, to, ranks) {
  const rows = [];
  for (const rank of ranks)
    for (let n = Math.max(0, Math.floor(from / kIteration)); n < job.iterations && n * kIteration < to && rows.length < 200000; ++n) {
      const late = rank === job.late;
      for (const [f, b, e, w] of [[0, late ? 0.8 : 0.6, 0.9, late ? 0 : 0.2], [1, 0.9, 1, 0]]) {
        const [begin, end] = [(n + b) * kIteration, (n + e) * kIteration];
        if (end > from && begin < to) rows.push({ begin, end, wait: w * kIteration, bytes: f === 0 ? job.bytes : 8, rank, f, awaited: w > 0 ? job.late : nobody, site: f === 0 ? 2 * (n % 2) : 1 });
      }
    }
  const n = rows.length;
  const buffer = Buffer.alloc(16 + n * 52);
  buffer.write('FVR1', 0, 'latin1');
  buffer.writeUInt32LE(n, 4);
  buffer.writeUInt32LE(7, 12);
  let at = 16;
  for (const name of ['begin', 'end', 'wait', 'bytes']) for (const row of rows) at = buffer.writeDoubleLE(row[name], at);
  for (const name of ['rank', 'f', 'awaited']) for (const row of rows) at = buffer.writeUInt32LE(row[name], at);
  for (const row of rows) at = buffer.writeUInt32LE(row.site, at);
  for (let i = 0; i < n; ++i) at = buffer.writeUInt16LE(0, at);
  for (let i = 0; i < n; ++i) at = buffer.writeUInt8(0, at);
  for (const row of rows) at = buffer.writeUInt8(row.wait > 0 ? 0 : 255, at);
  return buffer;
}

function chosenRanks(job, query) {
  const text = query.get('ranks');
  if (!text) return Array.from({ length: job.ranks }, (_, rank) => rank);
  return text.split(',').flatMap((part) => {
    const [a, b = a] = part.split('-').map(Number);
    return Array.from({ length: b - a + 1 }, (_, at) => a + at);
  });
}

/** What /api/window answers; tests compute the same in another way. */
export function windowOf(job, from, to, ranks) {
  const by = ranks.map((rank) => ({ rank, ...sums(job, rank, from, to) }));
  const messages = messagesIn(from, to);
  const total = (get) => by.reduce((sum, one) => sum + get(one), 0);
  const mpi = total((one) => one.ns[0] + one.ns[1]);
  const columns = (get) => by.map(get);
  const inside = new Set(ranks);
  const pairs = ranks.filter((rank) => inside.has((rank + 1) % job.ranks));
  return {
    schema: 'fathom-view/1', from_ns: from, to_ns: to, ranks: ranks.length, all_ns: (to - from) * ranks.length, mpi_ns: mpi, computing_ns: (to - from) * ranks.length - mpi, wait_ns: total((one) => one.wait),
    by_rank: {
      rank: columns((one) => one.rank), mpi_ns: columns((one) => one.ns[0] + one.ns[1]), wait_ns: columns((one) => one.wait), caused_ns: columns((one) => (one.rank === job.late ? total((o) => o.wait) : 0)),
      bytes_sent: columns(() => job.bytes * messages), bytes_received: columns(() => job.bytes * messages), messages_sent: columns(() => messages), messages_received: columns(() => messages),
    },
    functions: { name: functions, group: groups, calls: [0, 1, 2].map((f) => total((one) => one.calls[f])), ns: [0, 1, 2].map((f) => total((one) => one.ns[f])), bytes: [job.bytes * messages * ranks.length, 0, 0] },
    waits: { rank: ranks.filter((r) => r !== job.late).slice(0, 200), awaited: ranks.slice(0, 200).map(() => job.late), kind: ranks.slice(0, 200).map(() => 'late-sender'), function: ranks.slice(0, 200).map(() => 'MPI_Sendrecv'), ns: by.filter((o) => o.rank !== job.late).map((o) => o.wait).slice(0, 200), count: ranks.slice(0, 200).map(() => 1) },
    waits_more: 0, traffic: { bytes: job.bytes * messages * pairs.length, messages: messages * pairs.length }, sizes: { class: ['point-to-point'], hidden: [false], size: [job.bytes], messages: [messages * pairs.length] },
    size_bins: { class: [], hidden: [], low: [], messages: [] },
    matrix: { source: pairs, destination: pairs.map((rank) => (rank + 1) % job.ranks), bytes: pairs.map(() => job.bytes * messages), messages: pairs.map(() => messages) }, matrix_more: 0,
  };
}

function matrix(job, query) {
  const level = Number(query.get('level') ?? 0);
  const [row, column] = [Number(query.get('row') ?? 0), Number(query.get('column') ?? 0)];
  let levels = 1;
  let coarse = 1;
  for (; coarse * 256 < job.ranks; coarse *= 4) ++levels;
  const cell = coarse / 4 ** level;
  const across = Math.ceil(job.ranks / cell);
  const rows = Math.min(256, across - row * 256);
  const columns = Math.min(256, across - column * 256);
  const size = level === 0 ? job.ranks : 0;
  const reversed = query.get('order') === 'cluster';  // as that of small ones
  const standing = (position) => (reversed ? job.ranks - 1 - position : position);
  const buffer = Buffer.alloc(52 + rows * columns * 8 + size * 4);
  buffer.write('FVM1', 0, 'latin1');
  [level, row, column, rows, columns, cell, levels, size].forEach((value, at) => buffer.writeUInt32LE(value, 4 + at * 4));
  const all = job.bytes * job.iterations;
  buffer.writeDoubleLE(all * job.ranks, 36);
  buffer.writeDoubleLE(all, 44);
  for (let i = 0; i < rows; ++i)
    for (let r = (row * 256 + i) * cell; r < Math.min(job.ranks, (row * 256 + i + 1) * cell); ++r) {
      const j = Math.floor(standing((standing(r) + 1) % job.ranks) / cell) - column * 256;
      if (j < 0 || j >= columns) continue;
      const o = 52 + (i * columns + j) * 8;
      buffer.writeDoubleLE(buffer.readDoubleLE(o) + all, o);
    }
  for (let at = 0; at < size; ++at) buffer.writeUInt32LE(standing(at), 52 + (rows * columns + at / 2) * 8);
  return buffer;
}

function findings(job) {
  const others = [job.late - 1, job.late + 1].map((r) => (r + job.ranks) % job.ranks);
  return [
    {
      id: 0, kind: 'load-imbalance', analysis: 'wait-states', seconds: 0.2e-3 * job.iterations * (job.ranks - 1), severity: 'critical', strength: 1, confidence: 1, count: job.iterations, culprits: [job.late], victims: others,
      pairs: others.map((rank) => ({ source: job.late, destination: rank })), where: { function: 'MPI_Sendrecv', class: 'point-to-point' }, windows: [{ from_s: 0.001, to_s: 0.003 }],
      symptoms: [], summary: `rank ${job.late} computes longer than the others ${hostile}`, advice: 'let the others do a part of this work',
    },
    { id: 1, kind: 'small-messages', seconds: null, severity: 'info', culprits: [], victims: [], summary: 'most messages are small', where: { class: 'MPI_Allreduce' }, windows: [], symptoms: [] },
  ];
}

const sites = { id: [0, 1, 2], function: ['exchange', 'main', 'exchange'], file: ['ring.c', hostile, 'ring.c'], line: [21, 30, 25] };

function answer(job, run, path, query) {
  const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? job.iterations * kIteration)];
  const ranks = chosenRanks(job, query);
  switch (path) {
    case '/api/meta':
      return metaOf(job, run);
    case '/api/report':
      return { report: { seconds: job.iterations / 1000, ranks: job.ranks, hosts: 1, mpi: { library: 'Open MPI', version: '4.1.4', pml: 'ob1' }, total: { bytes: job.bytes * job.iterations * job.ranks, messages: job.iterations * job.ranks }, hidden: { bytes: 0, messages: 0 }, pairs: job.ranks } };
    case '/api/findings':
      return { findings: findings(job), limits: ['all waits are known'] };
    case '/api/window':
      return windowOf(job, from, to, ranks);
    case '/api/strip': {
      const bins = Number(query.get('bins') ?? 256);
      const bin = (to - from) / bins;
      const few = ranks.slice(0, 64);
      const scale = ranks.length / few.length;
      const by = Array.from({ length: bins }, (_, b) => few.map((rank) => sums(job, rank, from + b * bin, from + (b + 1) * bin)));
      const add = (get) => by.map((list) => scale * list.reduce((sum, one) => sum + get(one), 0));
      return { from_ns: from, bin_ns: bin, bins, groups: ['point-to-point', 'collective'], ns: [add((o) => o.ns[0]), add((o) => o.ns[1])], wait_ns: add((o) => o.wait), messages: by.map(() => 0), bytes: by.map(() => 0), all_ns: bin * ranks.length };
    }
    case '/api/messages': {
      const n = Math.min(20, Math.max(0, Math.floor((to - from) / kIteration)));
      const first = Math.floor(from / kIteration);
      const columns = { source: [], destination: [], sent_ns: [], received_ns: [], posted_ns: [], bytes: [], tag: [], communicator: [], class: [], wait_ns: [] };
      for (let at = 0; at < n; ++at) {
        const values = [job.late, (job.late + 1) % job.ranks, (first + at + 0.8) * kIteration, (first + at + 0.88) * kIteration, (first + at + 0.6) * kIteration, job.bytes, 1, 0, 'point-to-point', 0.2 * kIteration];
        Object.keys(columns).forEach((name, c) => columns[name].push(values[c]));
      }
      return { messages: columns, shown: n, more: Math.max(0, messagesIn(from, to) * job.ranks - n) };
    }
    case '/api/path':
      return { path: { process: [job.late], begin_ns: [from], end_ns: [to], function: [-1] }, more: 0 };
    case '/api/calls':
      return {
        tree: { id: [0, 1, 2, 3, 4], parent: [-1, 0, 1, 0, 1], name: ['main', 'exchange', 'MPI_Sendrecv', 'MPI_Allreduce', 'MPI_Sendrecv'], file: ['ring.c', 'ring.c', 'ring.c', hostile, 'ring.c'], line: [10, 20, 21, 30, 25], kind: ['function', 'function', 'mpi', 'mpi', 'mpi'], calls: [2, 1, 0.5, 1, 0.5].map((n) => n * job.iterations * job.ranks), ns: [4e5, 3e5, 1.6e5, 1e5, 1.4e5].map((n) => n * job.iterations * job.ranks), wait_ns: [2e5, 2e5, 1e5, 0, 1e5], bytes: [1, 1, 0.5, 0, 0.5].map((n) => n * job.bytes * job.iterations) },
        whole_run: true,
        sites,
      };
    case '/api/sites':
      return { sites };
    case '/api/matrix': {
      if (job.ranks > 1024 && query.get('by') !== 'host') return matrix(job, query);
      const size = query.get('by') === 'host' ? Math.ceil(job.ranks / job.perHost) : job.ranks;
      const all = Array.from({ length: size }, (_, at) => at);
      const order = query.get('order') === 'cluster' ? all.slice().reverse() : all;
      const value = query.get('class') === 'MPI_Allreduce' ? all.map(() => 8) : all.map(() => job.bytes * messagesIn(from, to));
      return { what: query.get('what'), by: query.get('by'), size, labels: query.get('by') === 'host' ? all.map((at) => `n${at}`) : [], order, hosts: [], total: value.reduce((a, b) => a + b, 0), max: Math.max(...value), source: all, destination: all.map((at) => (at + 1) % size), value };
    }
    case '/api/compare':
      return { compare: { runs: {}, totals: { quantity: ['seconds', 'bytes'], first: [1, 1000], last: [2, 2000], growth: [2, 2] }, classes: { class: ['point-to-point'], hidden: [0], bytes: [[1000, 2000]], messages: [[10, 20]], growth_bytes: [2], growth_messages: [2] }, pairs: { source: [0], destination: [1], first_bytes: [1000], last_bytes: [2000], first_messages: [10], last_messages: [20] }, functions: { name: ['MPI_Sendrecv'], first_seconds: [0.1], last_seconds: [0.2], growth: [2] } } };
    case '/api/machine':
      return machineOf(job, functions, groups);
    case '/api/machine/traffic':
      return trafficOf(job, from, to, Number(query.get('bins') ?? 1), sums);
    case '/api/machine/sizes':
      return sizesOf(job, functions);
    case '/api/machine/cards':
      return cardsOf(job);
    case '/api/network':
    case '/api/network/link':
      return networkOf(job, query);
    case '/api/live':
      return liveOf(job, Number(query.get('since') ?? 0));
    case '/api/live/state':
      return { state: liveStateOf(job, Number(query.get('at') ?? 1700000059)) };
    case '/api/views':
      return { views: [], writable: true };
    default:
      return null;
  }
}

export const job = (given = {}) => ({ name: 'ring', ranks: 8, iterations: 100, perHost: 4, late: 3, bytes: 1000, trace: true, ready: 7, cut: [], error: '', sentence: '', live: false, init: 0, ...given });

/** Serves `jobs` with the pages of the folder `pages`; `delay` ms before each tile. */
export async function startDouble(pages, jobs, { delay = 0 } = {}) {
  const asked = [];
  const runs = jobs.map((one, run) => ({ run, path: `/runs/${one.name}`, name: one.name, state: 'ended', sentence: one.sentence, error: one.error, has_trace: one.trace, has_profile: true, live: one.live, ranks: one.ranks, application: './ring' }));
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    asked.push(url.pathname + url.search);
    const send = (status, type, body) => {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      });
      response.end(body);
    };
    const json = (value) => (Buffer.isBuffer(value) ? send(200, 'application/octet-stream', value) : send(200, 'application/json', JSON.stringify({ schema: 'fathom-view/1', ...value })));
    if (!url.pathname.startsWith('/api/')) {
      const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
      const types = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css' };
      return readFile(join(pages, name.replace(/[^\w.]/g, ''))).then((body) => send(200, types[name.split('.').pop()] ?? 'application/octet-stream', body), () => send(404, 'text/plain', 'no'));
    }
    if (url.pathname === '/api/runs') return json({ runs });
    const run = Number(url.searchParams.get('run') ?? 0);
    const one = jobs[run];
    if (!one) return send(404, 'application/json', JSON.stringify({ error: 'there is no such run' }));
    if (url.pathname === '/api/tile' || url.pathname === '/api/raw') {
      const numbers = ['level', 'row', 'column', 'from', 'to'].map((name) => Number(url.searchParams.get(name)));
      const body = url.pathname === '/api/tile' ? tile(one, ...numbers.slice(0, 3)) : raw(one, numbers[3], numbers[4], chosenRanks(one, url.searchParams));
      return setTimeout(() => json(body), delay);
    }
    const value = answer(one, run, url.pathname, url.searchParams);
    return value === null ? send(404, 'application/json', JSON.stringify({ error: 'there is no such answer' })) : json(value);
  });
  server.requestTimeout = server.headersTimeout = server.keepAliveTimeout = 0; // on a loaded machine, a browser may take its time
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, stop: () => new Promise((done) => (server.closeAllConnections?.(), server.close(done))) };
}
