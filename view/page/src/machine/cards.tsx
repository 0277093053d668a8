// SPDX-License-Identifier: BSD-3-Clause
// The cards beside the machine: Pyrite's analysis object. Every card can be focused (the camera flies to its
// ranks) and isolated (only its ranks, pairs and windows stay, on all pages).
import type { ComponentChildren } from 'preact';
import { grouped, humanBytes, humanTime } from '../pure/format';
import { store } from '../shell/store';
import { Table } from '../shell/table';
import { isolationOf, Issue, Pattern, TimeWindow } from './overlay';
import type { MachineModel } from './model';

const kMostPills = 12;

function focus(model: MachineModel, ranks: Iterable<number>) {
  model.flyToRanks(ranks, performance.now());
}

export function RankPill({ model, rank }: { model: MachineModel; rank: number }) {
  return (
    <button
      class="pill"
      title="fly to this rank"
      onClick={() => {
        model.select(rank);
        focus(model, [rank]);
      }}
    >{`rank ${rank}`}</button>
  );
}
export function PairPill({ model, pair }: { model: MachineModel; pair: [number, number] }) {
  return <button class="pill" title="fly to this pair" onClick={() => focus(model, pair)}>{`${pair[0]} → ${pair[1]}`}</button>;
}
function Pills({ model, ranks, pairs }: { model: MachineModel; ranks: number[]; pairs: [number, number][] }) {
  const more = Math.max(0, ranks.length - kMostPills) + Math.max(0, pairs.length - kMostPills);
  return (
    <div class="row pills">
      {ranks.slice(0, kMostPills).map((rank) => <RankPill model={model} rank={rank} />)}
      {pairs.slice(0, kMostPills).map((pair) => <PairPill model={model} pair={pair} />)}
      {more > 0 && <span class="faint">{`and ${grouped(more)} more`}</span>}
    </div>
  );
}

interface About {
  label: string;
  ranks: number[];
  pairs: [number, number][];
  windows?: [number, number][];
}
function Actions({ model, about }: { model: MachineModel; about: About }) {
  const isolation = isolationOf(about.label, about.ranks, about.pairs, about.windows);
  const why = isolation ? undefined : 'it names no rank';
  return (
    <span class="row actions">
      <button disabled={!isolation} title={why ?? 'the camera flies to its ranks'} onClick={() => isolation && focus(model, isolation.ranks)}>Focus</button>
      <button
        disabled={!isolation}
        title={why ?? 'everything else is dimmed, on all pages'}
        onClick={() => {
          if (!isolation) return;
          const [first] = isolation.windows;
          const window: [number, number] | null = isolation.windows.length === 1 && first ? [Math.floor(first[0] * 1e9), Math.ceil(first[1] * 1e9)] : null;
          const [pair] = isolation.pairs;
          store.isolate(isolation.label, {
            ranks: isolation.ranks,
            pair: isolation.pairs.length === 1 && pair && isolation.ranks.length <= 2 ? pair : null,
            ...(window ? { window } : {}),
          });
          focus(model, isolation.ranks);
        }}
      >
        Isolate
      </button>
    </span>
  );
}

function Card({ title, name, model, about, children }: { title: string; name: string; model: MachineModel; about: About; children: ComponentChildren }) {
  return (
    <section class="card" data-card={name}>
      <div class="row between">
        <h3>{title}</h3>
        <Actions model={model} about={about} />
      </div>
      {children}
    </section>
  );
}

const words = (name: string) => name.replace(/_/g, ' ').replace(/-/g, ' ');
const number = (value: number) => (Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(4))));
const unique = (ranks: number[]) => [...new Set(ranks)].sort((a, b) => a - b);

function IssueEntry({ model, issue }: { model: MachineModel; issue: Issue }) {
  return (
    <div class={`finding ${issue.severity}`}>
      <div class="row between">
        <span>
          <span class="severity">{issue.severity}</span> {words(issue.type)}
          {issue.metrics.seconds !== null && <span class="faint">{` · costs ${humanTime(issue.metrics.seconds)}`}</span>}
        </span>
        <Actions model={model} about={{ label: words(issue.type), ranks: [...issue.ranks, ...issue.victims], pairs: issue.pairs, windows: issue.windows }} />
      </div>
      <p>{issue.description}</p>
      {issue.advice && <p class="faint">{issue.advice}</p>}
      <Pills model={model} ranks={issue.ranks} pairs={issue.pairs} />
    </div>
  );
}
function PatternEntry({ model, pattern }: { model: MachineModel; pattern: Pattern }) {
  return (
    <div class="finding">
      <div class="row between">
        <span>{`${words(pattern.type)} · strength ${pattern.strength.toFixed(2)}`}</span>
        <Actions model={model} about={{ label: words(pattern.type), ranks: pattern.ranks, pairs: pattern.pairs }} />
      </div>
      <p>{pattern.description}</p>
      <Pills model={model} ranks={pattern.ranks} pairs={pattern.pairs} />
    </div>
  );
}

export function Cards({ model }: { model: MachineModel }) {
  const { cards } = model;
  if (!cards) return null;
  const seek = (seconds: number) => {
    model.clock.seek(seconds * 1e9);
    model.touch();
  };
  const links = cards.top_links.map((link): [number, number] => [link.sender, link.receiver]);
  const skews = [...cards.barrier_spreads].sort((a, b) => b.spread - a.spread).slice(0, 8);
  const issueRanks = unique(cards.issues.flatMap((issue) => issue.ranks));
  const patternRanks = unique(cards.patterns.flatMap((pattern) => pattern.ranks));
  const everyone = [...model.machine.coreOfRank.keys()];
  const top = cards.top_ranks_by_touch_bytes.map((row) => row.rank);
  return (
    <div class="cards machine-cards">
      <Card title="Summary" name="summary" model={model} about={{ label: 'all ranks', ranks: everyone, pairs: [] }}>
        <dl class="facts">
          {Object.entries(cards.summary).map(([name, value]) => (
            <>
              <dt>{words(name)}</dt>
              <dd data-fact={name}>{number(value)}</dd>
            </>
          ))}
        </dl>
      </Card>
      <Card title="Patterns" name="patterns" model={model} about={{ label: 'patterns', ranks: patternRanks, pairs: [] }}>
        {cards.patterns.length === 0 && <p class="faint">No known shape explains the traffic.</p>}
        {cards.patterns.map((pattern) => <PatternEntry model={model} pattern={pattern} />)}
      </Card>
      <Card title="Issues" name="issues" model={model} about={{ label: 'issues', ranks: issueRanks, pairs: cards.issues.flatMap((issue) => issue.pairs) }}>
        {cards.issues.length === 0 && <p class="faint">None.</p>}
        {cards.issues.map((issue) => <IssueEntry model={model} issue={issue} />)}
      </Card>
      <Card title="Top ranks" name="ranks" model={model} about={{ label: 'top ranks', ranks: top, pairs: [] }}>
        <Table
          label="Ranks that send and receive most"
          rows={cards.top_ranks_by_touch_bytes}
          columns={[
            { title: 'rank', show: (row) => <RankPill model={model} rank={row.rank} /> },
            { title: 'in and out', number: true, show: (row) => humanBytes(row.bytes) },
            { title: 'out', number: true, show: (row) => humanBytes(cards.top_ranks_by_out_bytes.find((other) => other.rank === row.rank)?.bytes ?? 0) },
            { title: 'in', number: true, show: (row) => humanBytes(cards.top_ranks_by_in_bytes.find((other) => other.rank === row.rank)?.bytes ?? 0) },
          ]}
        />
      </Card>
      <Card title="Links" name="links" model={model} about={{ label: 'top links', ranks: [], pairs: links }}>
        <Table
          label="Pairs of ranks that exchange most"
          rows={cards.top_links}
          columns={[
            { title: 'pair', show: (row) => <PairPill model={model} pair={[row.sender, row.receiver]} /> },
            { title: 'bytes', number: true, show: (row) => humanBytes(row.bytes), by: (row) => row.bytes },
            { title: 'messages', number: true, show: (row) => grouped(row.messages), by: (row) => row.messages },
            { title: 'first', number: true, show: (row) => <button class="plain" onClick={() => seek(row.first_time)}>{humanTime(row.first_time)}</button> },
          ]}
        />
      </Card>
      <Card title="Roots of collectives" name="roots" model={model} about={{ label: 'roots of collectives', ranks: cards.collective_roots.map((row) => row.root), pairs: [] }}>
        {cards.collective_roots.length === 0 ? (
          <p class="faint">No collective had a root.</p>
        ) : (
          <Table
            label="Roots of collectives"
            rows={cards.collective_roots}
            columns={[
              { title: 'root', show: (row) => <RankPill model={model} rank={row.root} /> },
              { title: 'calls of others', number: true, show: (row) => grouped(row.events) },
              { title: 'bytes', number: true, show: (row) => humanBytes(row.bytes) },
              { title: 'functions', show: (row) => Object.keys(row.calls).join(', ') },
            ]}
          />
        )}
      </Card>
      <Card title="Barrier skew" name="barriers" model={model} about={{ label: 'ranks of the barriers', ranks: skews.length > 0 ? everyone : [], pairs: [] }}>
        {skews.length === 0 ? (
          <p class="faint">No barrier was called.</p>
        ) : (
          <Table
            label="Barriers with the widest spread"
            rows={skews}
            choose={(row) => seek(row.t_max)}
            columns={[
              { title: 'barrier', number: true, show: (row) => row.barrier_index },
              { title: 'spread', number: true, show: (row) => humanTime(row.spread) },
              { title: 'last came at', number: true, show: (row) => humanTime(row.t_max) },
            ]}
          />
        )}
      </Card>
      <Phases model={model} windows={cards.time_windows} seek={seek} />
    </div>
  );
}

// The run in equal windows: how much was sent in each. A click seeks; the one at hand is marked.
function Phases({ model, windows, seek }: { model: MachineModel; windows: TimeWindow[]; seek: (seconds: number) => void }) {
  const most = Math.max(1, ...windows.map((window) => window.canonical_transfer_bytes));
  const now = model.clock.now / 1e9;
  const at = windows.findIndex((window) => now >= window.t_start && now < window.t_end);
  const busiest = windows.reduce((best, window, index) => (window.canonical_transfer_bytes > (windows[best]?.canonical_transfer_bytes ?? -1) ? index : best), 0);
  const current = windows[at >= 0 ? at : busiest];
  return (
    <section class="card" data-card="phases">
      <div class="row between">
        <h3>Phases</h3>
        <span class="row actions">
          <button disabled={!current} title="to the busiest window" onClick={() => windows[busiest] && seek(windows[busiest].t_end)}>Focus</button>
          <button
            disabled={!current}
            title="only the marked window, on all pages"
            onClick={() => current && store.isolate('a window of time', { window: [Math.floor(current.t_start * 1e9), Math.ceil(current.t_end * 1e9)] })}
          >
            Isolate
          </button>
        </span>
      </div>
      <div class="phases" role="group" aria-label="Bytes sent over time; each bar goes to its window">
        {windows.map((window, index) => (
          <button
            class={index === at ? 'phase here' : 'phase'}
            aria-current={index === at ? 'true' : undefined}
            title={`${humanTime(window.t_start)} to ${humanTime(window.t_end)}: ${humanBytes(window.canonical_transfer_bytes)} in ${grouped(window.canonical_transfer_events)} messages, ${grouped(window.events)} calls`}
            aria-label={`window ${index + 1}`}
            onClick={() => seek((window.t_start + window.t_end) / 2)}
          >
            <span style={{ height: `${Math.max(3, (100 * window.canonical_transfer_bytes) / most)}%` }} />
          </button>
        ))}
      </div>
    </section>
  );
}
