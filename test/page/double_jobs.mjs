// SPDX-License-Identifier: BSD-3-Clause
// What double.mjs answers to the pages Machine, Network and Live, of the same ring of ranks.

const kIteration = 1e6;
const messagesIn = (from, to) => Math.max(0, Math.floor((to - 0.85 * kIteration) / kIteration) - Math.floor((from - 0.85 * kIteration) / kIteration));

export function machineOf(job, functions, groups) {
  const all = Array.from({ length: job.ranks }, (_, rank) => rank);
  return {
    program: './ring', started_unix_ns: '1700000000000000000', seconds: job.iterations / 1000, mpi: 'Open MPI 4.1.4', source: 'peruse', traced: job.trace, begin_ns: 0, end_ns: job.iterations * kIteration,
    hosts: Array.from({ length: Math.ceil(job.ranks / job.perHost) }, (_, host) => `n${host}`), host: all.map((rank) => Math.floor(rank / job.perHost)), socket: all.map((rank) => Math.floor((2 * (rank % job.perHost)) / job.perHost)), cores: all.map((rank) => String(rank % job.perHost)),
    classes: [{ name: 'point-to-point', hidden: false }, { name: 'MPI_Allreduce', hidden: true }], functions: functions.map((name, at) => ({ name, group: groups[at] })), map_text: '', map_problem: 'This run names no map of the machine.',
  };
}

/** Each rank sends one message on to the next in each iteration; the allreduce goes from rank r to r ^ 1. */
export function trafficOf(job, from, to, asked, sums) {
  const bins = Math.max(1, Math.min(asked, Math.floor(100_000 / job.ranks)));
  const flows = { bin: [], source: [], destination: [], class: [], messages: [], bytes: [] };
  const activity = { bin: [], rank: [], function: [], busy_ns: [] };
  const width = (to - from) / bins;
  for (let bin = 0; bin < bins; ++bin) {
    const [begin, end] = [from + bin * width, from + (bin + 1) * width];
    const messages = Math.max(0, Math.floor((end - 0.85 * kIteration) / kIteration) - Math.floor((begin - 0.85 * kIteration) / kIteration));
    for (let rank = 0; rank < job.ranks; ++rank) {
      const { ns } = sums(job, rank, begin, end);
      activity.bin.push(bin);
      activity.rank.push(rank);
      activity.function.push(rank % 4 === 1 ? 1 : 0);
      activity.busy_ns.push(Math.round(ns[0] + ns[1]));
      if (messages === 0 || flows.bin.length >= 100_000) continue;
      const other = rank ^ 1;
      for (const [destination, kind, bytes] of [[(rank + 1) % job.ranks, 0, job.bytes], ...(other < job.ranks ? [[other, 1, 8]] : [])]) {
        flows.bin.push(bin);
        flows.source.push(rank);
        flows.destination.push(destination);
        flows.class.push(kind);
        flows.messages.push(messages);
        flows.bytes.push(messages * bytes);
      }
    }
  }
  return { from_ns: from, to_ns: to, bins, flows, activity, left_out: 0 };
}

export function sizesOf(job, functions) {
  const calls = job.iterations * job.ranks;
  return { edges: [0, 1, 64, 1024, 65536, 1048576], functions: functions.slice(0, 2), calls: [[0, 0, 0, calls, 0, 0], [0, calls, 0, 0, 0, 0]], unsized: [0, 0] };
}

export function cardsOf(job) {
  const next = (rank) => (rank + 1) % job.ranks;
  const seconds = job.iterations / 1000;
  const bytes = job.bytes * job.iterations;
  const top = [0, 1, 2].filter((rank) => rank < job.ranks);
  return {
    summary: { total_events: job.ranks * job.iterations * 4, canonical_transfer_bytes: bytes * job.ranks, canonical_transfer_events: job.ranks * job.iterations },
    patterns: [{ type: 'ring', description: 'Each rank sends to the next one.', strength: 0.97, ranks: [0, 1, 2, 3], pairs: [[0, 1], [1, 2]], metrics: { share: 0.97 } }],
    issues: [{ type: 'load_imbalance', severity: 'critical', score: 1, description: `rank ${job.late} computes longer than the others`, ranks: [job.late], victims: [next(job.late)], pairs: [], windows: [[0.001, 0.003]], advice: 'Balance the work.', metrics: { seconds: 0.14, count: job.iterations } }],
    top_ranks_by_out_bytes: top.map((rank) => ({ rank, bytes, messages: job.iterations })), top_ranks_by_in_bytes: top.map((rank) => ({ rank, bytes, messages: job.iterations })), top_ranks_by_touch_bytes: top.map((rank) => ({ rank, bytes: 2 * bytes })),
    top_links: top.map((rank) => ({ comm: 0, sender: rank, receiver: next(rank), messages: job.iterations, bytes, calls: { MPI_Sendrecv: job.iterations }, first_time: 0, last_time: seconds })),
    collective_roots: [{ root: 0, events: job.iterations, bytes: 8 * job.iterations, calls: { MPI_Bcast: job.iterations } }],
    barrier_spreads: [{ barrier_index: 0, t_min: 0.001, t_max: 0.0012, spread: 0.0002, comm: 0 }],
    time_windows: Array.from({ length: 8 }, (_, at) => ({ t_start: (seconds * at) / 8, t_end: (seconds * (at + 1)) / 8, events: 10 * (at + 1), canonical_transfer_bytes: bytes / 8, canonical_transfer_events: job.iterations / 8 })),
  };
}

// Two leaves and two spines; even ranks on the first leaf, and what goes to the other leaf takes the spine of
// the sender's number, odd or even.
export function networkOf(job, query) {
  const ranks = Math.min(job.ranks, 64);
  const names = ['leaf0', 'leaf1', 'spine0', 'spine1'];
  const nodes = { name: [], host: [], level: [], point: [], group: [], ranks: [] };
  const node = (name, host, level) => {
    nodes.name.push(name);
    nodes.host.push(host);
    nodes.level.push(level);
    nodes.point.push(-1);
    nodes.group.push(-1);
    nodes.ranks.push(host);
    return nodes.name.length - 1;
  };
  const hosts = Array.from({ length: ranks }, (_, rank) => node(`h${rank}`, 1, 0));
  const switches = names.map((name, at) => node(name, 0, at < 2 ? 1 : 2));
  const links = { source: [], target: [], capacity: [], latency: [], host: [] };
  const numbers = new Map();
  const cable = (a, b, host) => {
    for (const [source, target] of [[a, b], [b, a]]) {
      numbers.set(`${source} ${target}`, links.source.length);
      links.source.push(source);
      links.target.push(target);
      links.capacity.push(1e9);
      links.latency.push(1e-6);
      links.host.push(host);
    }
  };
  hosts.forEach((host, rank) => cable(host, switches[rank % 2], 1));
  for (const leaf of [0, 1]) for (const spine of [2, 3]) cable(switches[leaf], switches[spine], 0);
  const way = (from, to) => {
    const stops = from % 2 === to % 2 ? [hosts[from], switches[from % 2], hosts[to]] : [hosts[from], switches[from % 2], switches[2 + (from >> 1) % 2], switches[to % 2], hosts[to]];
    return stops.slice(1).map((stop, at) => numbers.get(`${stops[at]} ${stop}`));
  };
  const pairs = Array.from({ length: ranks }, (_, rank) => [rank, (rank + 1) % ranks]).filter(([from, to]) => from !== to);
  const each = job.bytes * job.iterations;
  // What was sent in the window, if one is asked about.
  const part = query.has('from') || query.has('to') ? job.bytes * messagesIn(Number(query.get('from') ?? 0), Number(query.get('to') ?? job.iterations * kIteration)) : each;
  const bytes = links.source.map(() => 0);
  for (const [from, to] of pairs) for (const link of way(from, to)) bytes[link] += query.get('model') === 'replay' ? each : part; // a replay is of the whole run
  const placements = (query.get('placement') ?? 'block').split(',');
  if (query.get('only') === 'chosen') {
    const pair = (query.get('pair') ?? '').split('-').map(Number);
    const listed = (query.get('ranks') ?? '').split(',').flatMap((part) => {
      const [a, b = a] = part.split('-').map(Number);
      return part ? Array.from({ length: b - a + 1 }, (_, at) => a + at) : [];
    });
    const own = query.get('class') !== 'MPI_Allreduce';
    const chosen = pairs.filter(([from, to]) => own && (pair.length === 2 ? from === pair[0] && to === pair[1] : listed.length === 0 || listed.includes(from) || listed.includes(to)));
    const carried = links.source.map(() => 0);
    for (const [from, to] of chosen) for (const link of way(from, to)) carried[link] += part;
    const used = carried.flatMap((value, link) => (value > 0 ? [link] : []));
    return { runs: placements.map((placement) => ({ placement, link: used, bytes: used.map((link) => carried[link]) })) };
  }
  if (query.has('link')) {
    const link = Number(query.get('link'));
    const over = pairs.filter(([from, to]) => way(from, to).includes(link));
    return {
      link, source: nodes.name[links.source[link]], target: nodes.name[links.target[link]], bytes: part * over.length,
      flows: { source: over.map(([from]) => `h${from}`), destination: over.map(([, to]) => `h${to}`), bytes: over.map(() => part), share: over.map(() => 1) },
      pairs: { source: over.map(([from]) => from), destination: over.map(([, to]) => to), bytes: over.map(() => part), messages: over.map(() => part / job.bytes) }, more_flows: 0, more_pairs: 0,
    };
  }
  const seconds = 0.01;
  const model = query.get('model') ?? 'load';
  const carried = { link: [], interval: [], bytes: [] };
  if (model !== 'load')
    bytes.forEach((value, link) => {
      if (value === 0) return;
      for (let at = 0; at < 4; ++at) {
        carried.link.push(link);
        carried.interval.push(at);
        carried.bytes.push(value / 4);
      }
    });
  return {
    cluster: 'leafspine:leaves=2;spines=2;hosts=4', kind: 'tree', extent: [], nodes, links, relative: false, clusters: [], job: job.name,
    runs: placements.map((placement) => ({
      placement,
      result: { routing: 'dmodk', model, seconds, links: links.source.map((source, link) => ({ source: nodes.name[source], target: nodes.name[links.target[link]], capacity: 1e9, traffic: bytes[link] })) },
      rank_host: hosts, interval_s: model === 'load' ? 0 : seconds / 4, carried,
    })),
  };
}

/** A minute of samples, one a second, the first of them when the job has run for a minute. */
export function liveOf(job, since) {
  const at = Array.from({ length: 60 }, (_, second) => 1700000000 + second).filter((time) => time > since);
  return {
    state: 'running', problem: '', kept_from_s: 1700000000,
    samples: {
      at_s: at, mpi_share: at.map((time) => 0.4 + 0.3 * Math.sin(time / 5)), sent_bytes_per_s: at.map((time) => 1e6 * (2 + Math.sin(time / 7))), sent_per_s: at.map(() => 1000), waiting_ranks: at.map(() => 2), hung: at.map(() => false),
      cause: at.map(() => 'slow-rank'), verdict: at.map(() => `All others wait for rank ${job.late}, which computes.`),
    },
  };
}

/** What all ranks have done since the first of these samples, 60 s after the job began: the same in each second. */
export function liveStateOf(job, at = 1700000059) {
  const passed = 61 + Math.min(59, Math.max(0, Math.floor(at) - 1700000000));
  const messages = 10 * passed;
  const ranks = Array.from({ length: Math.min(job.ranks, 512) }, (_, rank) => rank);
  const pairs = ranks.flatMap((rank) => [
    { from: rank, to: (rank + 1) % job.ranks, kind: 'point-to-point', sent: messages, sent_bytes: messages * job.bytes, received: messages, received_bytes: messages * job.bytes },
    { from: rank, to: (rank + 3) % job.ranks, kind: 'MPI_Allreduce', sent: messages, sent_bytes: 8 * messages, received: messages, received_bytes: 8 * messages },
  ]);
  return {
    run: job.name, program: './ring', taken_at_s: 1699999939 + passed, world_size: job.ranks, communicators: [{ id: 0, name: 'MPI_COMM_WORLD' }], pairs, hosts_late: [],
    ranks: ranks.map((rank) => ({
      rank, host: `n${Math.floor(rank / job.perHost)}`, pid: 1000 + rank, state: rank === job.late ? 'computing' : 'in-mpi', sample_age_s: 0.5, mpi_s: passed / 2 + rank / 10, waiting_s: passed / 4, elapsed_s: passed, sent: messages, sent_bytes: messages * job.bytes, received: messages, received_bytes: messages * job.bytes,
      threads: rank === job.late ? [] : [{ thread: 0, function: rank % 4 === 1 ? 'MPI_Allreduce' : 'MPI_Sendrecv', place: 'ring.c:21', since_s: 0.0002, calls: 60000 }],
    })),
    verdict: { cause: 'slow-rank', hung: false, culprits: [job.late], victims: ranks.filter((rank) => rank !== job.late).slice(0, 8), text: `All others wait for rank ${job.late}, which computes.` },
  };
}
