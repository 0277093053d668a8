// SPDX-License-Identifier: BSD-3-Clause
// The modules of the pages Machine, Network and Live that need no browser: node --test, with FATHOM_UNITS the
// folder that `node view/page/build.mjs --units` filled.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const load = (name) => import(pathToFileURL(join(process.env.FATHOM_UNITS, `${name}.mjs`)).href);
const { machineOf, processors } = await load('machine/hierarchy');
const { layoutOf, LAYOUTS } = await load('machine/layout');
const camera = await load('machine/camera');
const { PlaybackClock, shownWindow } = await load('machine/clock');
const flows = await load('machine/flows');
const { visibleParts, nodesOfCabinets, MOST_PARTS } = await load('machine/detail');
const overlay = await load('machine/overlay');
const { sizeTable } = await load('machine/sizes');
const { Playback } = await load('machine/playback');
const { placesOf } = await load('network/layout');
const networkLoad = await load('network/load');
const { History } = await load('live/history');
const job = await load('live/job');

function answer(hosts, ranksOnHost, more = {}) {
  const host = hosts.flatMap((_, at) => new Array(ranksOnHost).fill(at));
  return {
    program: 'a', started_unix_ns: '0', seconds: 1, mpi: '', source: 'pml', traced: true, begin_ns: 0, end_ns: 1e9,
    hosts, host, socket: host.map(() => -1), cores: host.map(() => ''), classes: [], functions: [], map: null, map_problem: '', ...more,
  };
}
const hostNames = (count) => Array.from({ length: count }, (_, at) => `n${at}`);

// Two cabinets at the map's places, a rack with blades, a rack without.
const map = {
  metadata: { system_name: 'Tiny' },
  cabinets: [
    { id: 'C0', x: 0, z: 0, racks: [{ id: 'R0', blades: [{ id: 'B0', y_offset: 0, nodes: [{ hostname: 'n0', slot: 0, cpus: 2, cores_per_cpu: 4 }, { hostname: 'n1', slot: 1, cpus: 2, cores_per_cpu: 4 }] }, { id: 'B1', y_offset: 12, nodes: [{ hostname: 'n2', slot: 0, cpus: 2, cores_per_cpu: 4 }] }] }] },
    { id: 'C1', x: 150, z: 0, racks: [{ id: 'R1', nodes: [{ hostname: 'n3', slot: 0, cpus: 1, cores_per_cpu: 2 }] }] },
  ],
};

test('without a map every rank has a core of its own on its host', () => {
  const machine = machineOf(answer(['b', 'a10', 'a9'], 8));
  assert.equal(machine.mapped, false);
  assert.deepEqual(machine.node.name, ['a9', 'a10', 'b']);
  assert.equal(new Set(machine.coreOfRank).size, 24);
  machine.coreOfRank.forEach((core, rank) => {
    assert.equal(machine.core.rank[core], rank);
    assert.equal(machine.node.name[machine.core.node[core]], ['b', 'a10', 'a9'][Math.floor(rank / 8)]);
  });
  assert.match(machine.notes.join(' '), /no map/);
});

test('a map gives cabinets, racks, blades, and the cores without a rank', () => {
  const machine = machineOf(answer(['n0', 'n3'], 2, { map }));
  assert.deepEqual(machine.cabinet.name, ['C0', 'C1']);
  assert.deepEqual(machine.blade.name, ['B0', 'B1']);
  assert.equal(machine.node.name.length, 4);
  assert.equal(machine.core.node.length, 8 * 3 + 2);
  assert.equal(machine.core.rank.filter((rank) => rank >= 0).length, 4);
  assert.equal(machine.rack.parent[1], 1);
});

test('a rank that is bound to a processor stands on that core', () => {
  const machine = machineOf(answer(['n0'], 3, { map, socket: [1, 0, 1], cores: ['6', '2', '4'] }));
  const within = [...machine.coreOfRank].map((core) => core - machine.node.firstCore[0]);
  assert.deepEqual(within, [6, 2, 4]);
  assert.deepEqual([...machine.coreOfRank].map((core) => machine.core.bound[core]), [1, 1, 1]);
});

test('more ranks than the map has cores are all there', () => {
  const machine = machineOf(answer(['n3'], 9, { map }));
  assert.equal(new Set(machine.coreOfRank).size, 9);
  assert.ok(machine.coreOfRank.every((core) => core >= 0));
});

test('a host that is not on the map stands beside it', () => {
  const machine = machineOf(answer(['n0.cluster.example', 'login7'], 1, { map }));
  assert.equal(machine.node.name[machine.nodeOfRank[0]], 'n0');
  assert.equal(machine.node.name[machine.nodeOfRank[1]], 'login7');
  assert.match(machine.notes.join(' '), /1 of 2 hosts are not on the map/);
});

test('a damaged map loses no rank', () => {
  for (const bad of [{ cabinets: [null, {}, { racks: 7 }] }, { cabinets: [{ racks: [{ blades: [{ nodes: [{ hostname: 3 }, null] }] }] }] }]) {
    const machine = machineOf(answer(['n0'], 4, { map: bad }));
    assert.equal(new Set(machine.coreOfRank).size, 4);
  }
});

test('lists of processors are read as in /sys', () => {
  assert.deepEqual(processors('0-3,8'), [0, 1, 2, 3, 8]);
  assert.deepEqual(processors('x'), []);
});

function overlaps(boxes) {
  const found = [];
  const count = boxes.length / 6;
  for (let a = 0; a < count; ++a)
    for (let b = a + 1; b < count; ++b) {
      const apart = [0, 1, 2].some((axis) => Math.abs(boxes[a * 6 + axis] - boxes[b * 6 + axis]) >= (boxes[a * 6 + 3 + axis] + boxes[b * 6 + 3 + axis]) / 2 - 1e-3);
      if (!apart) found.push([a, b]);
    }
  return found;
}

test('nothing overlaps in any layout, and cores lie inside their nodes', () => {
  for (const given of [answer(hostNames(70), 3), answer(['n0', 'n1', 'n2', 'n3'], 2, { map })]) {
    const machine = machineOf(given);
    for (const { name } of LAYOUTS) {
      const layout = layoutOf(machine, name);
      assert.deepEqual(overlaps(layout.node), [], name);
      assert.deepEqual(overlaps(layout.core), [], name);
      machine.core.node.forEach((node, core) => {
        for (const axis of [0, 1])
          assert.ok(Math.abs(layout.core[core * 6 + axis] - layout.node[node * 6 + axis]) <= layout.node[node * 6 + 3 + axis] / 2 + 0.5, `${name} core ${core} axis ${axis}`);
      });
    }
  }
});

test('the four layouts are four pictures', () => {
  const machine = machineOf(answer(hostNames(70), 3));
  const shapes = LAYOUTS.map(({ name }) => JSON.stringify([...layoutOf(machine, name).core].filter((_, at) => at % 6 < 3)));
  assert.equal(new Set(shapes).size, 4);
});

test('cabinets keep the order of the map and do not overlap', () => {
  const layout = layoutOf(machineOf(answer(['n0'], 1, { map })), 'blueprint');
  assert.ok(layout.cabinet[0] < layout.cabinet[6]);
  assert.deepEqual(overlaps(layout.cabinet), []);
});

test('a fitted camera sees every corner, from every preset', () => {
  const bounds = { min: [-3, 0, -40], max: [90, 12, 5] };
  for (const preset of camera.PRESETS) {
    const state = camera.fitted(bounds, preset.yaw, preset.pitch, 1.6);
    const projection = new camera.Projection(state, 1600, 1000);
    const out = { x: 0, y: 0, depth: 0, scale: 0 };
    for (let corner = 0; corner < 8; ++corner) {
      const at = [0, 1, 2].map((axis) => (corner & (1 << axis) ? bounds.max[axis] : bounds.min[axis]));
      projection.point(...at, out);
      assert.ok(out.depth > 0 && out.x >= 0 && out.x <= 1600 && out.y >= 0 && out.y <= 1000, `${preset.name} ${JSON.stringify(out)}`);
    }
  }
});

test('of a line that goes far out of the picture only what is near it is drawn', async () => {
  const { clipped } = await load('machine/draw2d');
  assert.deepEqual(clipped(10, 20, 30, 40, 800, 500), [10, 20, 30, 40]);
  assert.deepEqual(clipped(-1e7, 100, 1e7, 100, 800, 500), [-40, 100, 840, 100]);
  assert.equal(clipped(-1e7, 100, -50, 1e6, 800, 500), null);
  assert.equal(clipped(0, 600, 800, 600, 800, 500), null);
  for (let at = 0; at < 500; ++at) {
    const ends = [0, 1, 2, 3].map((n) => (((at * 7919 + n * 104729) % 20011) - 10005) * (at % 3 ? 1 : 0.05));
    const part = clipped(...ends, 800, 500);
    if (!part) continue;
    for (const [x, y] of [part.slice(0, 2), part.slice(2)]) {
      assert.ok(x >= -40.001 && x <= 840.001 && y >= -40.001 && y <= 540.001, `${ends} became ${part}`);
      // Still on the line.
      const off = Math.abs((ends[2] - ends[0]) * (y - ends[1]) - (ends[3] - ends[1]) * (x - ends[0])) / (1 + Math.hypot(ends[2] - ends[0], ends[3] - ends[1]));
      assert.ok(off < 1e-6, `${ends} became ${part}`);
    }
  }
});

test('a camera survives a link', () => {
  const state = { target: [1, 2.5, -3], distance: 44, yaw: 0.5, pitch: -0.25 };
  assert.deepEqual(camera.parseCamera(camera.cameraText(state)), state);
  for (const bad of ['', '1,2,3', '1,2,3,0,0,0', '1,2,3,x,0,0']) assert.equal(camera.parseCamera(bad), undefined);
});

test('a flight begins and ends where it should, the shorter way round', () => {
  const from = { target: [0, 0, 0], distance: 10, yaw: 3, pitch: 0 };
  const to = { target: [8, 0, 0], distance: 40, yaw: -3, pitch: 1 };
  assert.deepEqual(camera.between(from, to, 0), from);
  const end = camera.between(from, to, 1);
  assert.ok(Math.abs(end.distance - 40) < 1e-9 && end.target[0] === 8);
  assert.ok(camera.between(from, to, 0.5).yaw > 3, 'through pi, not through 0');
});

test('the clock plays, ends, starts again, and is not hurried by a hidden page', () => {
  const clock = new PlaybackClock(1000, 1000 + 10e9);
  clock.play();
  clock.tick(0);
  assert.equal(clock.tick(500), true);
  assert.equal(clock.now, 1000 + 0.5e9);
  assert.equal(clock.tick(60_000), false);
  clock.setSpeed(1e9);
  assert.equal(clock.speed, 100);
  clock.tick(60_900);
  assert.equal(clock.now, clock.end);
  assert.equal(clock.playing, false);
  clock.play();
  assert.equal(clock.now, 1000);
  clock.seek(NaN);
  assert.equal(clock.now, 1000);
  const { from, to } = shownWindow(clock);
  assert.ok(from >= 1000 && to === clock.now);
});

const traffic = {
  from_ns: 0, to_ns: 4000, bins: 4, left_out: 0,
  flows: { bin: [0, 0, 1, 3], source: [0, 1, 0, 2], destination: [1, 0, 1, 3], class: [0, 1, 0, 0], messages: [5, 2, 7, 1], bytes: [50, 20, 70, 10] },
  activity: { bin: [0, 0, 1], rank: [0, 1, 0], function: [3, 4, 5], busy_ns: [500, 1000, 250] },
};
const classes = [{ name: 'point-to-point', hidden: false }, { name: 'MPI_Bcast', hidden: true }];

test('flows add up the messages of the bins by pair and kind', () => {
  const all = flows.flowsOf(traffic, classes, 0, 4, (rank) => rank);
  assert.equal(all.reduce((sum, flow) => sum + flow.messages, 0), 15);
  assert.deepEqual([all[0].source, all[0].destination, all[0].messages, all[0].bytes], [0, 1, 12, 120]);
  assert.equal(all.find((flow) => flow.source === 1).family, 'collective');
  assert.deepEqual(flows.flowsOf(traffic, classes, 1, 2, (rank) => rank).map((flow) => flow.messages), [7]);
});

test('flows of chosen ranks, pairs and classes only', () => {
  const only = (chosen) => flows.flowsOf(traffic, classes, 0, 4, (rank) => rank, chosen).map((flow) => `${flow.source}>${flow.destination}`);
  assert.deepEqual(only({ ranks: new Set([2, 3]) }), ['2>3']);
  assert.deepEqual(only({ pairs: new Set(['1>0']) }), ['1>0']);
  assert.deepEqual(only({ classes: new Set([1]) }), ['1>0']);
});

test('messages inside a thing are not drawn', () => {
  assert.equal(flows.flowsOf(traffic, classes, 0, 4, () => 0).length, 0);
});

test('activity is the share of the bins that a rank spent in calls', () => {
  const activity = flows.activityOf(traffic, 0, 2, 4);
  assert.deepEqual([...activity.share], [0.375, 0.5, 0, 0]);
  assert.deepEqual([...activity.function], [3, 4, -1, -1]);
});

test('a machine with 100,000 ranks is laid out, and a frame draws a bounded part of it', () => {
  const machine = machineOf(answer(hostNames(1563), 64));
  assert.equal(machine.core.node.length, 100_032);
  const nodesOf = nodesOfCabinets(machine);
  for (const { name, preset } of LAYOUTS) {
    const layout = layoutOf(machine, name);
    const { yaw, pitch } = camera.PRESETS.find((entry) => entry.name === preset);
    const far = camera.fitted(layout.bounds, yaw, pitch, 1.6);
    const visible = visibleParts(machine, layout, nodesOf, new camera.Projection(far, 1600, 1000));
    const drawn = visible.level === 'cabinet' ? visible.cabinets.length : visible.level === 'node' ? visible.nodes.length : [...visible.detailed].reduce((sum, node) => sum + machine.node.firstCore[node + 1] - machine.node.firstCore[node], 0);
    assert.ok(drawn > 0 && drawn <= MOST_PARTS, `${name}: ${drawn}`);
    // Near to one node, its cores are drawn.
    const [x, y, z] = layout.node.subarray(0, 3);
    const near = visibleParts(machine, layout, nodesOf, new camera.Projection({ target: [x, y, z], distance: 30, yaw, pitch }, 1600, 1000));
    assert.equal(near.level, 'core', name);
    assert.ok(near.detailed.has(0), name);
  }
});

const cards = {
  summary: {}, time_windows: [], barrier_spreads: [], top_ranks_by_out_bytes: [], top_ranks_by_in_bytes: [],
  patterns: [{ type: 'ping-pong', description: 'p', strength: 1, ranks: [4, 5], pairs: [[4, 5]], metrics: {} }],
  issues: [{ type: 'late_sender', severity: 'warning', score: 1, description: 'i', ranks: [1], victims: [2], pairs: [[1, 2]], windows: [[0, 1]], advice: '', metrics: { seconds: 1 } }],
  top_ranks_by_touch_bytes: [1, 7, 8].map((rank) => ({ rank, bytes: 9 })),
  top_links: [{ comm: 0, sender: 1, receiver: 2, messages: 1, bytes: 1, calls: {}, first_time: 0, last_time: 1 }],
  collective_roots: [{ root: 0, events: 3, bytes: 1, calls: {} }],
};

test('the overlay marks findings, the most important first, within its limits', () => {
  const marks = overlay.marksOf(cards, overlay.DEFAULTS);
  assert.equal(marks[0].reason, 'warning');
  assert.deepEqual(marks.map((mark) => overlay.PRIORITY[mark.reason]), [...marks].map((mark) => overlay.PRIORITY[mark.reason]).sort((a, b) => b - a));
  assert.ok(marks.some((mark) => mark.reason === 'ping-pong'));
  assert.equal(overlay.marksOf(cards, { ...overlay.DEFAULTS, on: false }).length, 0);
  const fewer = overlay.marksOf(cards, { ...overlay.DEFAULTS, mostRanks: 1, roots: false, issuePairs: false });
  assert.equal(fewer.filter((mark) => mark.reason === 'top-rank').length, 1);
  assert.ok(!fewer.some((mark) => mark.reason === 'root'));
});

test('a card with ranks or pairs can be isolated, one without cannot', () => {
  assert.deepEqual(overlay.isolationOf('a', [3], [[1, 2]]).ranks, [1, 2, 3]);
  assert.equal(overlay.isolationOf('a', [], []), null);
});

test('the table of calls by size adds up', () => {
  const table = sizeTable({ edges: [0, 128, 1024], functions: ['A', 'B', 'C'], calls: [[1, 2, 3], [0, 0, 0], [9, 0, 0]], unsized: [0, 4, 0] });
  assert.deepEqual(table.rows.map((row) => [row.name, row.total]), [['C', 9], ['A', 6], ['B', 4]]);
  assert.deepEqual(table.columns, [10, 2, 3]);
  assert.equal(table.total, 19);
  assert.deepEqual(table.heads, ['< 128 B', '128 B to 1 KiB', '≥ 1 KiB']);
});

test('playback fetches what it needs once, and the next chunk before it is reached', async () => {
  const asked = [];
  const playback = new Playback(0, 1600, async (from, to, bins) => (asked.push([from, to]), { from_ns: from, to_ns: to, bins }), () => undefined);
  await playback.start();
  assert.equal(playback.at(10).loading, true);
  assert.equal(playback.at(10).traffic.to_ns, 1600, 'the whole run stands in');
  await playback.ready(10);
  await new Promise((done) => setImmediate(done));
  assert.equal(playback.at(10).loading, false);
  assert.equal(playback.at(120).loading, false);
  assert.deepEqual(asked.slice(0, 3), [[0, 1600], [0, 100], [100, 200]]);
  assert.equal(new Set(asked.map(String)).size, asked.length);
});

test('a request that fails is not repeated with every frame', async () => {
  let count = 0;
  const playback = new Playback(0, 1600, async () => { ++count; throw new Error('no'); }, () => undefined);
  playback.at(0);
  await playback.ready(0);
  await new Promise((done) => setImmediate(done));
  for (let frame = 0; frame < 50; ++frame) playback.at(0);
  assert.equal(count, 2, 'the chunk and the next one');
  assert.equal(playback.problem, 'no');
});

function network(kind, extent, switches, cables, more = {}) {
  const name = [...Array.from({ length: switches }, (_, at) => `h${at}`), ...Array.from({ length: switches }, (_, at) => `s${at}`)];
  const links = { source: [], target: [], capacity: [], latency: [], host: [] };
  const cable = (a, b, host) => {
    for (const [source, target] of [[a, b], [b, a]]) {
      links.source.push(source); links.target.push(target); links.capacity.push(100); links.latency.push(0); links.host.push(host);
    }
  };
  for (let at = 0; at < switches; ++at) cable(at, switches + at, 1);
  for (const [a, b] of cables) cable(switches + a, switches + b, 0);
  return {
    cluster: kind, kind, extent, relative: false, runs: [], links,
    nodes: { name, host: name.map((_, at) => (at < switches ? 1 : 0)), level: name.map((_, at) => (at < switches ? 0 : 1)), point: name.map((_, at) => (at < switches ? -1 : at - switches)), group: name.map((_, at) => (at < switches ? -1 : Math.floor((at - switches) / 2))), ranks: name.map(() => 1), ...more },
  };
}
const ring = (count) => Array.from({ length: count }, (_, at) => [at, (at + 1) % count]);

test('every kind of network has a place of its own for every node', () => {
  const level = [...new Array(4).fill(0), 1, 1, 2, 2];
  for (const net of [network('torus', [2, 2], 4, [[0, 1], [2, 3], [0, 2], [1, 3]]), network('mesh', [4], 4, ring(4).slice(0, 3)), network('dragonfly', [], 8, ring(8)), network('graph', [], 7, ring(7)), network('tree', [], 4, [[0, 2], [1, 3]], { level })]) {
    const { x, y } = placesOf(net);
    const places = [...x].map((value, at) => `${value.toFixed(6)} ${y[at].toFixed(6)}`);
    assert.equal(new Set(places).size, net.nodes.name.length, net.kind);
    assert.ok([...x, ...y].every((value) => value >= 0 && value <= 1), net.kind);
  }
});

test('the way round a torus is bent, the others are straight', () => {
  const net = network('torus', [4], 4, ring(4));
  const { bend } = placesOf(net);
  const between = (a, b) => bend[net.links.source.findIndex((source, link) => source === 4 + a && net.links.target[link] === 4 + b)];
  assert.equal(between(0, 1), 0);
  assert.notEqual(between(3, 0), 0);
});

test('bytes of links are those of the results, parallel links apart', () => {
  const net = network('graph', [], 2, [[0, 1], [0, 1]]);
  const result = { links: net.links.source.map((source, link) => ({ source: net.nodes.name[source], target: net.nodes.name[net.links.target[link]], capacity: 100, traffic: link * 10 })) };
  const run = { placement: 'block', result, rank_host: [], interval_s: 0, carried: { link: [], interval: [], bytes: [] } };
  assert.deepEqual([...networkLoad.totals(net, run)].sort((a, b) => a - b), result.links.map((link) => link.traffic));
});

test('the use of a link is its bytes over what it could carry in that time', () => {
  const net = network('graph', [], 2, [[0, 1]]);
  const run = { placement: 'block', result: { links: [], seconds: 2.5 }, rank_host: [], interval_s: 1, carried: { link: [4, 4], interval: [0, 2], bytes: [50, 25] } };
  assert.equal(networkLoad.useOf(net, run, 0)[4], 0.5);
  assert.equal(networkLoad.useOf(net, run, 2)[4], 0.5, 'the last interval is half as long');
  assert.equal(networkLoad.intervalAt(run, 2.2), 2);
});

test('the history of a job follows, stops when scrubbed, and forgets what the server forgot', () => {
  const sample = (times, kept) => ({ state: 'running', problem: '', kept_from_s: kept, samples: { at_s: times, mpi_share: times.map(() => 0), sent_bytes_per_s: times.map(() => 0), sent_per_s: times.map(() => 0), waiting_ranks: times.map(() => 0), hung: times.map(() => false), cause: times.map(() => 'nothing'), verdict: times.map(() => '') } });
  const history = new History();
  history.add(sample([1, 2, 3], 1));
  assert.equal(history.at, 3);
  history.scrub(1.5);
  assert.equal(history.position, 0);
  history.add(sample([4, 5], 2));
  assert.equal(history.length, 4);
  assert.equal(history.at, 2, 'the moment itself was forgotten');
  history.scrub(5);
  assert.equal(history.following, true);
});

test('what a rank does is said in words', () => {
  const state = { communicators: [{ id: 5, name: 'MPI_COMM_WORLD' }], ranks: [], pairs: [], world_size: 2 };
  const thread = { thread: 0, function: 'MPI_Recv', place: 'halo.c:88', since_s: 41, calls: 1, pending: [{ kind: 'receive', peer: 9, tag: 7 }] };
  assert.equal(job.doing(thread, state), 'MPI_Recv from 9, tag 7 at halo.c:88, for 41.0 s');
  assert.equal(job.doing({ ...thread, function: 'MPI_Allreduce', collective: 18, communicator: 5, pending: [], place: '' }, state), 'MPI_Allreduce #18 on MPI_COMM_WORLD, for 41.0 s');
  assert.equal(job.doing({ ...thread, function: '', place: '' }, state), 'computes, for 41.0 s');
});

test('the live matrix of a large job is summed into cells', () => {
  const state = { world_size: 1000, pairs: [{ from: 0, to: 999, kind: 'a', sent_bytes: 5 }, { from: 1, to: 998, kind: 'b', sent_bytes: 7 }] };
  const matrix = job.matrixOf(state, '');
  assert.equal(matrix.ranks, 4);
  assert.equal(matrix.bytes[matrix.size - 1], 12);
  assert.equal(job.matrixOf(state, 'a').total, 5);
});

test('a window of a running job lies between the samples around it, as far as there are any', () => {
  const sample = (at) => ({ state: 'running', problem: '', kept_from_s: at[0], samples: { at_s: at, mpi_share: at.map(() => 0.5), sent_bytes_per_s: at.map(() => 1), sent_per_s: at.map(() => 1), waiting_ranks: at.map(() => 0), hung: at.map(() => false), cause: at.map(() => ''), verdict: at.map(() => '') } });
  const history = new History();
  assert.equal(history.within(1, 2), null);
  history.add(sample([10, 11, 12, 13, 14]));
  for (const [from, to, wanted] of [[11, 13, [1, 3]], [11.2, 11.3, [1, 2]], [11.5, 12.5, [1, 3]], [5, 12, [0, 2]], [13.5, 99, [3, 4]], [5, 99, [0, 4]], [5, 10, null], [14, 20, null], [1, 2, null]]) assert.deepEqual(history.within(from, to), wanted, `${from} to ${to}`);
});

test('what ranks and pairs did between two states is the difference of their numbers', () => {
  const rank = (number, sent) => ({ rank: number, host: 'n0', pid: 1, state: 'running', sample_age_s: 0.5, mpi_s: sent / 10, waiting_s: sent / 20, elapsed_s: sent, sent, sent_bytes: 8 * sent, received: sent - 1, received_bytes: 8 * (sent - 1), threads: [] });
  const pair = (from, kind, sent) => ({ from, to: 1, kind, sent, sent_bytes: 8 * sent, received: sent, received_bytes: 8 * sent });
  const state = (at, ranks, pairs) => ({ run: 'r', program: 'p', taken_at_s: at, world_size: 3, communicators: [], ranks, pairs, hosts_late: [], verdict: { cause: '', hung: false, culprits: [], victims: [], text: '' } });
  const earlier = state(100, [rank(0, 10), rank(1, 20)], [pair(0, 'point-to-point', 5), pair(2, 'point-to-point', 9)]);
  const later = state(107, [rank(0, 13), rank(1, 20), rank(2, 4)], [pair(0, 'point-to-point', 8), pair(0, 'MPI_Bcast', 2), pair(2, 'point-to-point', 9)]);
  const found = job.between(earlier, later);
  // The third rank was not seen before: its numbers are its own.
  assert.deepEqual(found.ranks.map((one) => [one.sent, one.sent_bytes, one.received, one.elapsed_s]), [[3, 24, 3, 3], [0, 0, 0, 0], [4, 32, 3, 4]]);
  assert.deepEqual(found.pairs.map((one) => [one.from, one.kind, one.sent]), [[0, 'point-to-point', 3], [0, 'MPI_Bcast', 2], [2, 'point-to-point', 0]]);
  assert.equal(later.ranks[0].sent, 13, 'the states stay as they are');
  // MPI_Init had ended in rank 1 at 100 - 0.5 - 20.
  assert.equal(job.begunAt(earlier), 79.5);
  assert.equal(job.begunAt(state(1, [], [])), null);
});
