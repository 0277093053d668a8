// SPDX-License-Identifier: BSD-3-Clause
// Overview: what the run was, what was found, and where its time went.
import { humanBytes, grouped, humanSeconds, humanNs } from '../pure/format';
import { formatRanks } from '../pure/ranks';
import type { View } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import type { Window } from '../pure/readings';
import { useFindings } from '../shell/findings';
import { addPage, PageProperties } from '../shell/pages';
import { Waiting } from '../shell/state_of';
import { useWindow } from '../shell/sums';
import { FindingList } from './finding_list';
import { MpiShare } from './mpi_share';
import { RunStrip } from './strip';

interface Report {
  application?: { executable?: string; arguments?: string[] } | string;
  seconds: number;
  ranks: number;
  hosts: number;
  mpi?: { library: string; version: string; pml: string };
  source?: string;
  total?: { bytes: number; messages: number };
  hidden?: { bytes: number; messages: number };
  pairs?: number;
  between_hosts?: { bytes: number; messages: number };
  classes?: { class: string; hidden: boolean; bytes: number; messages: number }[];
}

function Facts({ meta }: PageProperties) {
  const report = useAnswer<{ report: Report }>('/api/report', { run: meta.run });
  if (!report.answer && !report.error) return <Waiting of={report} what="the report" />;
  const r = report.answer?.report;
  const facts: [string, string][] = [
    ['program', meta.application],
    ['ranks', `${grouped(meta.ranks)} on ${meta.hosts.length} ${meta.hosts.length === 1 ? 'host' : 'hosts'}`],
    ['run time', humanSeconds(meta.seconds)],
  ];
  if (r?.mpi?.library) facts.push(['MPI', `${r.mpi.library} ${r.mpi.version} (${r.mpi.pml})`]);
  if (r?.total) facts.push(['traffic', `${humanBytes(r.total.bytes)} in ${grouped(r.total.messages)} messages`]);
  if (r?.hidden) facts.push(['of collectives', `${humanBytes(r.hidden.bytes)} in ${grouped(r.hidden.messages)} messages`]);
  if (r?.between_hosts && meta.hosts.length > 1) facts.push(['between hosts', `${humanBytes(r.between_hosts.bytes)} in ${grouped(r.between_hosts.messages)} messages`]);
  if (r?.pairs !== undefined) facts.push(['pairs', grouped(r.pairs)]);
  if (meta.events) facts.push(['trace', `${grouped(meta.events)} events`]);
  else if (!meta.has_trace) facts.push(['trace', 'none: fathom run --trace records one']);
  facts.push(['folder', meta.path]);
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {report.error && <p class="faint">{report.error}</p>}
    </>
  );
}

function WindowFacts({ answer }: { answer: Window }) {
  return (
    <dl class="facts" data-window={`${answer.from_ns}-${answer.to_ns}`}>
      <dt>time of all ranks</dt>
      <dd data-ns={answer.all_ns}>{humanNs(answer.all_ns)}</dd>
      <dt>computing</dt>
      <dd data-ns={answer.computing_ns}>{humanNs(answer.computing_ns)}</dd>
      <dt>in MPI</dt>
      <dd data-ns={answer.mpi_ns}>{humanNs(answer.mpi_ns)}</dd>
      <dt>of it, waiting</dt>
      <dd data-ns={answer.wait_ns}>{humanNs(answer.wait_ns)}</dd>
      <dt>traffic</dt>
      <dd>{`${humanBytes(answer.traffic.bytes)} in ${grouped(answer.traffic.messages)} messages`}</dd>
    </dl>
  );
}

function whose(view: View): string {
  if (view.pair) return ` of ranks ${view.pair.join(' and ')}`;
  if (!view.ranks) return '';
  const text = formatRanks(view.ranks);
  return `${view.ranks.length === 1 ? ' of rank' : ' of ranks'} ${text.length > 40 ? `${text.slice(0, 39)}…` : text}`;
}

function Overview(properties: PageProperties) {
  const { view, meta } = properties;
  const findings = useFindings(meta.run);
  const window = useWindow(meta, view, meta.has_trace);
  // All ranks side by side, those that are not chosen dimmed.
  const everyone = useWindow(meta, { ...view, ranks: null, pair: null }, meta.has_trace);
  return (
    <div class="cards">
      {meta.has_trace && (
        <section class="card wide" aria-label="The run over time">
          <h2>{`The run over time${whose(view)}`}</h2>
          <RunStrip meta={meta} view={view} />
        </section>
      )}
      <section class="card" aria-label="Findings">
        <h2>Findings</h2>
        {findings.answer ? <FindingList findings={findings.answer.findings} view={view} limits={findings.answer.limits ?? []} /> : <Waiting of={findings} what="the analyses" />}
      </section>
      <section class="card" aria-label="The run">
        <h2>The run</h2>
        <Facts {...properties} />
      </section>
      {meta.has_trace && (
        <section class="card" aria-label="Time in MPI">
          <h2>{view.window ? 'Time in MPI in the chosen window' : 'Time in MPI'}</h2>
          {window.answer ? (
            <>
              {everyone.answer && <MpiShare answer={everyone.answer} view={view} />}
              <WindowFacts answer={window.answer} />
            </>
          ) : (
            <Waiting of={window} what="the sums" />
          )}
        </section>
      )}
    </div>
  );
}

addPage({ id: 'overview', title: 'Overview', order: 10, render: (properties) => <Overview {...properties} /> });
