// SPDX-License-Identifier: BSD-3-Clause
// Live: what a running job does now, and did in the last ten minutes, second by second.
import '../machine/machine.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { amountColour, css, groupColour, logShare } from '../pure/colour';
import { font, textScale } from '../pure/font';
import { grouped, humanBytes, humanRate, percent } from '../pure/format';
import { ranksOf, startIn, View } from '../pure/view_state';
import { addKeys, describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import { Sketch } from '../shell/sketch';
import { Sentence } from '../shell/state_of';
import { store } from '../shell/store';
import { Table } from '../shell/table';
import { usePalette } from '../shell/theme';
import { History, LiveAnswer } from './history';
import { activities, begunAt, between, doing, JobState, kindsOf, matrixOf, RankState, sortedRanks, SortBy } from './job';

describeKeys('Live', [['b e', 'the chosen window begins, or ends, at the moment that is shown']]);

const kMpi = groupColour('in MPI');

async function get<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', signal });
  const body = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(body.error || `the server answered with status ${response.status}`);
  return body;
}

const share = (value: number | null | undefined) => (value == null ? 'not known yet' : percent(value, 1));
const rate = (value: number | null | undefined) => (value == null ? 'not known yet' : humanRate(value));

function Live({ view, meta }: PageProperties) {
  return <Watched key={view.run} view={view} origin={startIn(meta)} />;
}

// The chosen window as Unix seconds, and as positions of samples; `at`: null if none is in it.
interface Seen {
  from_s: number;
  to_s: number;
  at: [number, number] | null;
}

/** `origin`: the trace's moment from which the job counted; null while there is no trace to read. */
function Watched({ view, origin }: { view: View; origin: number | null }) {
  const history = useMemo(() => new History(), []);
  const [, redraw] = useState(0);
  const [job, setJob] = useState<JobState | null>(null);
  const [ends, setEnds] = useState<[JobState, JobState] | null>(null);
  const begun = useRef<number | null>(null);
  if (job) begun.current ??= begunAt(job);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let live = true;
    let timer = 0;
    const request = new AbortController();
    const look = async () => {
      try {
        history.add(await get<LiveAnswer>(`api/live?run=${view.run}&since=${history.newest}`, request.signal));
        if (live) setProblem('');
      } catch (error) {
        if (live) setProblem(`${String((error as Error).message)}.`);
      }
      if (!live) return;
      redraw((count) => count + 1);
      if (history.state === 'running') timer = window.setTimeout(() => void look(), 1000);
    };
    void look();
    return () => {
      live = false;
      clearTimeout(timer);
      request.abort();
    };
  }, [view.run]);
  const { at, position } = history;
  useEffect(() => {
    if (at === 0) return;
    let live = true;
    const request = new AbortController();
    get<{ state: JobState }>(`api/live/state?run=${view.run}&at=${at}`, request.signal).then(
      (answer) => live && setJob(answer.state),
      (error: Error) => live && setProblem(`${error.message}.`),
    );
    return () => {
      live = false;
      request.abort();
    };
  }, [at, view.run]);
  const init = view.since === 'start' ? 0 : (origin ?? 0);
  const moment = (ns: number) => begun.current! + (ns - init) / 1e9;
  const [from_s, to_s] = view.window && begun.current !== null ? [moment(view.window[0]), moment(view.window[1])] : [0, 0];
  const seen: Seen | null = to_s > 0 ? { from_s, to_s, at: history.within(from_s, to_s) } : null;
  const wanted = seen?.at ? seen.at.map((position) => history.samples.at_s[position]!) : null;
  useEffect(() => {
    if (!wanted) return setEnds(null);
    let live = true;
    const request = new AbortController();
    Promise.all(wanted.map((second) => get<{ state: JobState }>(`api/live/state?run=${view.run}&at=${second}`, request.signal))).then(
      ([first, last]) => live && setEnds([first!.state, last!.state]),
      (error: Error) => live && setProblem(`${error.message}.`),
    );
    return () => {
      live = false;
      request.abort();
    };
  }, [String(wanted), view.run]);
  const sums = useMemo(() => ends && between(...ends), [ends]);
  const choose = (from: number, to: number) => {
    if (begun.current === null || to <= from) return;
    const chosen = (at_s: number) => (origin ?? 0) + Math.round((at_s - begun.current!) * 1e9);
    store.set({ window: [chosen(from), chosen(to)], since: origin === null ? 'start' : null });
  };
  const keys = useRef({ begin: () => undefined as unknown, end: () => undefined as unknown });
  keys.current = {
    begin: () => choose(at, seen && seen.to_s > at ? seen.to_s : history.newest),
    end: () => choose(seen && seen.from_s < at ? seen.from_s : history.oldest, at),
  };
  useEffect(() => addKeys('Live', [{ keys: 'b', does: '', run: () => keys.current.begin() }, { keys: 'e', does: '', run: () => keys.current.end() }]), []);
  if (problem && history.length === 0) return <Sentence>{problem}</Sentence>;
  if (history.length === 0) return <Sentence>{history.state === 'running' ? 'Waiting for the first sample of the job …' : history.problem || 'The job has ended.'}</Sentence>;
  const scrub = (seconds: number) => {
    history.scrub(seconds);
    redraw((count) => count + 1);
  };
  return (
    <>
      {problem && <Sentence>{problem}</Sentence>}
      {history.state !== 'running' && <Sentence>{history.state === 'ended' ? 'The job has ended; these are its last minutes.' : history.problem}</Sentence>}
      <Strip history={history} scrub={scrub} seen={seen} choose={choose} />
      {seen && !seen.at && <Sentence>No sample lies in the chosen window: what follows is of the whole job until now.</Sentence>}
      <section class={`card verdict ${history.samples.hung[position] ? 'finding critical' : ''}`} data-card="verdict" data-cause={history.samples.cause[position]}>
        <h3>Who holds whom up</h3>
        <p>{history.samples.verdict[position]}</p>
        {job && job.verdict.culprits.length > 0 && (
          <div class="row">
            {job.verdict.culprits.slice(0, 12).map((rank) => <button class="pill" onClick={() => store.isolate(`rank ${rank}`, { ranks: [rank] })}>{`rank ${rank}`}</button>)}
          </div>
        )}
      </section>
      {job && <Now job={job} sums={seen?.at ? sums : null} history={history} view={view} />}
    </>
  );
}

interface StripProperties {
  history: History;
  scrub: (seconds: number) => void;
  seen: Seen | null;
  choose: (from_s: number, to_s: number) => void;
}

// A click shows a moment, a drag chooses a window.
function Strip({ history, scrub, seen, choose }: StripProperties) {
  const page = usePalette();
  const start = useRef<number | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const marked = drag ?? (seen && ([seen.from_s, seen.to_s] as const));
  const { samples } = history;
  const span = Math.max(1, history.newest - history.oldest);
  const ago = history.newest - history.at;
  const secondAt = (event: PointerEvent) => {
    const rect = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return history.oldest + span * Math.max(0, Math.min(1, (event.clientX - rect.left) / rect.width));
  };
  const inOrder = (a: number, b: number): [number, number] => [Math.min(a, b), Math.max(a, b)];
  const most = Math.max(1, ...samples.sent_bytes_per_s.map((rate) => rate ?? 0));
  return (
    <section class="card live-history" data-card="history" data-samples={String(history.length)} data-window={seen?.at ? seen.at.join('-') : undefined}>
      <div class="row controls">
        <input
          type="range"
          class="scrub"
          aria-label="moment of the last ten minutes"
          min="0"
          max={String(span)}
          step="any"
          value={String(history.at - history.oldest)}
          onInput={(event) => {
            const value = Number(event.currentTarget.value);
            scrub(value >= span - 0.25 ? history.newest : history.oldest + value);
          }}
        />
        <button aria-pressed={history.following} onClick={() => scrub(history.newest)}>Now</button>
        <output data-ago={String(Math.round(ago))}>{ago < 0.5 ? 'now' : `${Math.round(ago)} s ago`}</output>
      </div>
      <Sketch
        height={72}
        label="Share of the time in MPI (bars) and bytes sent per second (line) over the last minutes. A click shows a moment, a drag chooses a window."
        onPointerDown={(event: PointerEvent) => {
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
          start.current = secondAt(event);
        }}
        onPointerMoveCapture={(event: PointerEvent) => {
          if (start.current !== null) setDrag(inOrder(start.current, secondAt(event)));
        }}
        onPointerUp={(event: PointerEvent) => {
          if (start.current === null) return;
          const [from, to] = inOrder(start.current, secondAt(event));
          start.current = null;
          setDrag(null);
          if (to - from < span / 150) scrub(to);
          else choose(from, to);
        }}
        tipAt={(x, _y, width) => {
          const time = history.oldest + (span * x) / width;
          let at = samples.at_s.length - 1;
          while (at > 0 && samples.at_s[at]! > time) --at;
          return `${Math.round(history.newest - samples.at_s[at]!)} s ago\n${share(samples.mpi_share[at])} in MPI, ${rate(samples.sent_bytes_per_s[at])}\n${samples.cause[at]}`;
        }}
        paint={(pen, width, height) => {
          const x = (time: number) => ((time - history.oldest) / span) * width;
          samples.at_s.forEach((time, at) => {
            const next = samples.at_s[at + 1] ?? time + 1;
            const tall = (samples.mpi_share[at] ?? 0) * (height - 2);
            // A sample is of the time since the one before.
            pen.globalAlpha = !marked || (time > marked[0] && (samples.at_s[at - 1] ?? time - 1) < marked[1]) ? 1 : 0.3;
            pen.fillStyle = css(samples.hung[at] ? page.wait : kMpi);
            pen.fillRect(x(time), height - tall, Math.max(1, x(next) - x(time) - 0.5), tall);
          });
          pen.globalAlpha = 1;
          pen.strokeStyle = css(page.ink);
          pen.lineWidth = 1.5;
          pen.beginPath();
          let begun = false;
          samples.sent_bytes_per_s.forEach((rate, at) => {
            if (rate === null) return void (begun = false);
            const y = height - 2 - (rate / most) * (height - 6);
            if (!begun) pen.moveTo(x(samples.at_s[at]!), y);
            else pen.lineTo(x(samples.at_s[at]!), y);
            begun = true;
          });
          pen.stroke();
          pen.fillStyle = css(page.chosen);
          pen.fillRect(Math.min(width - 2, x(history.at)), 0, 2, height);
        }}
      />
      <div class="row legend">
        <span><span class="swatch" style={{ background: css(kMpi) }} /> share of the time in MPI</span>
        <span><span class="swatch" style={{ background: css(page.wait) }} /> while the job is stuck</span>
        <span>{`the line: bytes sent per second, at most ${humanRate(most)}`}</span>
      </div>
    </section>
  );
}

// `job`: what is done now, or then; `window`: what was done in the chosen window, if there is one.
function Now({ job, sums: window, history, view }: { job: JobState; sums: JobState | null; history: History; view: View }) {
  const [by, setBy] = useState<SortBy>('waiting');
  const at = history.position;
  const chosen = ranksOf(view);
  const counted = window ?? job;
  const present = new Map(job.ranks.map((rank) => [rank.rank, rank]));
  const does = (rank: RankState) => present.get(rank.rank) ?? rank;
  const inMpi = window ? window.ranks.reduce((sum, rank) => sum + rank.mpi_s, 0) / (window.ranks.reduce((sum, rank) => sum + rank.elapsed_s, 0) || 1) : history.samples.mpi_share[at];
  const sums = counted.ranks.reduce((all, rank) => ({ sent: all.sent + rank.sent, bytes: all.bytes + rank.sent_bytes, received: all.received + rank.received }), { sent: 0, bytes: 0, received: 0 });
  const facts: [string, string, string][] = [
    ['program', job.program, job.program],
    ['ranks', `${grouped(job.ranks.length)} of ${grouped(job.world_size)} seen`, String(job.ranks.length)],
    ['hosts', grouped(new Set(job.ranks.map((rank) => rank.host)).size), ''],
    ['in MPI', share(inMpi), ''],
    ['sent', `${humanBytes(sums.bytes)} in ${grouped(sums.sent)} messages`, String(sums.bytes)],
    ...(window ? [] : [['not received yet', grouped(Math.max(0, sums.sent - sums.received)), ''], ['now', rate(history.samples.sent_bytes_per_s[at]), '']] as [string, string, string][]),
  ];
  if (job.hosts_late.length > 0) facts.push(['late hosts', job.hosts_late.join(', '), '']);
  return (
    <>
      <div class="cards">
        <section class="card" data-card="overview">
          <h3>{window ? 'Overview of the chosen window' : 'Overview'}</h3>
          <dl class="facts">
            {facts.map(([name, text, exact]) => (
              <>
                <dt>{name}</dt>
                <dd data-fact={name} data-exact={exact}>{text}</dd>
              </>
            ))}
          </dl>
          <p>{activities(job).slice(0, 8).map(({ name, ranks }) => `${grouped(ranks)} in ${name || 'the program'}`).join(', ')}</p>
        </section>
        <Matrix job={counted} chosen={chosen} view={view} />
      </div>
      <section class="card wide" data-card="ranks">
        <div class="row between">
          <h3>{window ? 'Ranks: what they do, and numbers of the chosen window' : 'Ranks'}</h3>
          <label>
            sorted by
            <select aria-label="ranks sorted by" value={by} onChange={(event) => setBy(event.currentTarget.value as SortBy)}>
              <option value="waiting">waiting</option>
              <option value="mpi">time in MPI</option>
              <option value="sent">bytes sent</option>
              <option value="rank">rank</option>
            </select>
          </label>
        </div>
        <Table<RankState>
          label="What each rank does"
          rows={sortedRanks(counted, by)}
          most={24}
          dim={(rank) => (chosen !== null && !chosen.has(rank.rank)) || (view.function !== null && !does(rank).threads.some((thread) => thread.function === view.function))}
          choose={(rank) => store.isolate(`rank ${rank.rank}`, { ranks: [rank.rank] })}
          columns={[
            { title: 'rank', number: true, show: (rank) => rank.rank },
            { title: 'host', show: (rank) => rank.host },
            { title: 'state', show: (rank) => does(rank).state },
            { title: 'does now', show: (rank) => <span data-rank={String(rank.rank)}>{does(rank).threads.length > 0 ? does(rank).threads.map((thread) => doing(thread, job)).join(' | ') : 'computes'}</span> },
            { title: 'in MPI', number: true, show: (rank) => percent(rank.mpi_s, rank.elapsed_s) },
            { title: 'sent', number: true, show: (rank) => humanBytes(rank.sent_bytes) },
            { title: 'received', number: true, show: (rank) => humanBytes(rank.received_bytes) },
          ]}
        />
      </section>
    </>
  );
}

function Matrix({ job, chosen, view }: { job: JobState; chosen: Set<number> | null; view: View }) {
  const page = usePalette();
  const kinds = kindsOf(job);
  const kind = view.class ?? (view.function !== null && kinds.includes(view.function) ? view.function : '');
  const matrix = useMemo(() => matrixOf(job, kind), [job, kind]);
  const edge = Math.round(44 * textScale());
  const top = Math.round(18 * textScale());
  const height = 320 + top;
  const sideOf = (width: number) => Math.max(80, Math.min(height - top, width - edge));
  const cellAt = (x: number, y: number, width: number) => {
    const cell = sideOf(width) / matrix.size;
    const [column, row] = [Math.floor((x - edge) / cell), Math.floor((y - top) / cell)];
    return column >= 0 && row >= 0 && column < matrix.size && row < matrix.size ? ([row, column] as const) : null;
  };
  // A cell of several ranks belongs to each of them.
  const lit = chosen && new Set([...chosen].map((rank) => Math.floor(rank / matrix.ranks)));
  const pair = view.pair?.map((rank) => Math.floor(rank / matrix.ranks));
  const isDim = (row: number, column: number) => (pair ? row !== pair[0] || column !== pair[1] : lit !== null && !lit.has(row) && !lit.has(column));
  const span = (at: number) => (matrix.ranks === 1 ? String(at) : `${at * matrix.ranks} to ${(at + 1) * matrix.ranks - 1}`);
  return (
    <section class="card" data-card="matrix" data-total={String(matrix.total)}>
      <div class="row between">
        <h3>Bytes sent, from rows to columns</h3>
        <select aria-label="class of traffic" value={kind} onChange={(event) => store.set({ class: event.currentTarget.value || null })}>
          <option value="">all classes</option>
          {kind !== '' && !kinds.includes(kind) && <option value={kind}>{kind}</option>}
          {kinds.map((name) => <option value={name}>{name}</option>)}
        </select>
      </div>
      <Sketch
        height={height}
        label={`Matrix of bytes: rows send, columns receive; ${humanBytes(matrix.total)} in all`}
        tipAt={(x, y, width) => {
          const cell = cellAt(x, y, width);
          return cell && `${span(cell[0])} → ${span(cell[1])}\n${humanBytes(matrix.bytes[cell[0] * matrix.size + cell[1]]!)}`;
        }}
        paint={(pen, width) => {
          const side = sideOf(width);
          const cell = side / matrix.size;
          pen.font = font(11);
          pen.textBaseline = 'middle';
          pen.fillStyle = css(page.faint);
          const every = [1, 2, 4, 8, 16, 32, 64, 128].find((n) => n * cell >= edge) ?? 256;
          for (let at = 0; at < matrix.size; at += every) {
            pen.textAlign = 'right';
            pen.fillText(String(at * matrix.ranks), edge - 4, top + Math.min(side - 6, Math.max(6, (at + 0.5) * cell)));
            pen.textAlign = 'center';
            pen.fillText(String(at * matrix.ranks), edge + (at + 0.5) * cell, top / 2);
          }
          pen.textAlign = 'left';
          pen.fillStyle = css(page.computing, 0.45);
          pen.fillRect(edge, top, side, side);
          pen.translate(edge, top);
          for (let row = 0; row < matrix.size; ++row) {
            for (let column = 0; column < matrix.size; ++column) {
              const bytes = matrix.bytes[row * matrix.size + column]!;
              const dim = isDim(row, column);
              if (bytes === 0) continue;
              pen.globalAlpha = dim ? 0.2 : 1;
              pen.fillStyle = css(amountColour(0.1 + 0.9 * logShare(bytes, Math.max(1, matrix.most / 1e6), matrix.most), page.dark));
              pen.fillRect(column * cell, row * cell, Math.max(1, cell - (cell > 4 ? 1 : 0)), Math.max(1, cell - (cell > 4 ? 1 : 0)));
            }
          }
          pen.globalAlpha = 1;
        }}
      />
    </section>
  );
}

addPage({
  id: 'live',
  title: 'Live',
  order: 90,
  cannot: (meta, runs) =>
    runs.find((run) => run.run === meta.run)?.live ? null : 'This run has ended. Live shows a job while it runs: fathom run --live -o RUN -- mpirun …, and fathom view RUN beside it.',
  render: (properties) => <Live {...properties} />,
});
