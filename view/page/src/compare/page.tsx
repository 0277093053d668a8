// SPDX-License-Identifier: BSD-3-Clause
// Compare: two runs over the same time axis, both from the end of MPI_Init on, and what grew between them.
import { grouped, humanBytes, humanNs, humanTime } from '../pure/format';
import { answerKey } from '../pure/answer_key';
import { chosenClass, litFunctions, litGroups } from '../pure/belongs';
import { css } from '../pure/colour';
import { ranksOf, View } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import { addPage, PageProperties } from '../shell/pages';
import type { Strip } from '../pure/readings';
import type { Columns, Meta, Run } from '../shell/protocol';
import { Strips as Both, useStrips } from '../shell/sums';
import { font, Sketch } from '../shell/sketch';
import { Sentence, Waiting } from '../shell/state_of';
import { scopeOf, store } from '../shell/store';
import { Table } from '../shell/table';
import { usePalette } from '../shell/theme';
import { drawStrip } from '../overview/strip';

interface Comparison {
  runs?: Columns;
  totals?: Columns;
  classes?: Columns;
  pairs?: Columns;
  functions?: Columns;
}

type Row = Record<string, unknown>;

function rowsOf(columns: Columns | undefined): Row[] {
  if (!columns) return [];
  const names = Object.keys(columns);
  const count = Math.max(0, ...names.map((name) => columns[name]!.length));
  return Array.from({ length: count }, (_, at) => Object.fromEntries(names.map((name) => [name, columns[name]![at]])));
}

const growth = (value: unknown): string => (typeof value !== 'number' ? 'new' : `× ${value >= 100 ? value.toFixed(0) : value.toPrecision(3)}`);
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The part of a strip that is the program, moved so that both begin at 0. */
function aligned(strip: Strip, meta: Meta): Strip {
  return { ...strip, from_ns: strip.from_ns - (meta.program?.from_ns ?? strip.from_ns) };
}

function Strips({ metas, of, names, view }: { metas: [Meta, Meta]; of: [Both, Both]; names: [string, string]; view: View }) {
  const palette = usePalette();
  const strips = [of[0].shown!, of[1].shown!] as const;
  const both = [aligned(strips[0], metas[0]), aligned(strips[1], metas[1])] as const;
  const from = Math.min(both[0].from_ns, both[1].from_ns);
  const to = Math.max(...both.map((s) => s.from_ns + s.bin_ns * s.bins));
  // A window is one of the first run; it lies at the same time of the second.
  const begin = metas[0].program?.from_ns ?? strips[0].from_ns;
  const window: [number, number] | null = view.window && [view.window[0] - begin, view.window[1] - begin];
  return (
    <Sketch
      height={280}
      data-strip={of.every(({ theirs }) => theirs) ? 'chosen' : 'all'}
      label={`${names[0]} above ${names[1]}, on one time axis that begins where their programs do`}
      paint={(pen, width) => {
        both.forEach((strip, at) => {
          const y = at * 140;
          const [x, w] = [((strip.from_ns - from) / (to - from)) * width, ((strip.bin_ns * strip.bins) / (to - from)) * width];
          pen.font = font(12, 600);
          pen.fillStyle = css(palette.ink);
          pen.textAlign = 'left';
          pen.textBaseline = 'middle';
          const whose = of[at]!.theirs ? `, ranks ${scopeOf(view).ranks}` : '';
          pen.fillText(`${names[at]}: ${humanNs((metas[at]!.program?.to_ns ?? 0) - (metas[at]!.program?.from_ns ?? 0))}${whose.length > 60 ? `${whose.slice(0, 59)}…` : whose}`, 0, y + 8);
          pen.save();
          pen.translate(x, y + 18);
          const { theirs, instead, whole } = of[at]!;
          drawStrip(pen, strip, palette, w, 112, window, instead === null ? litGroups(metas[at]!.functions, view) : new Set(), theirs && whole.answer);
          pen.restore();
        });
      }}
    />
  );
}

function Tables({ comparison, meta, view }: { comparison: Comparison; meta: Meta; view: View }) {
  const totals = rowsOf(comparison.totals);
  const show = (row: Row, value: unknown) => {
    const quantity = String(row['quantity']);
    return quantity === 'bytes' ? humanBytes(num(value)) : quantity === 'messages' ? grouped(num(value)) : humanTime(num(value));
  };
  const titles: Record<string, string> = { seconds: 'run time', mpi_seconds: 'in MPI (mean rank)', waiting_seconds: 'waiting (mean rank)' };
  const functions = rowsOf(comparison.functions);
  const pairs = rowsOf(comparison.pairs);
  const classes = rowsOf(comparison.classes);
  const ranks = ranksOf(view);
  const functionsLit = litFunctions(meta.functions, view);
  const ofClass = chosenClass(meta.functions, view);
  const litFunction = (name: string) => (view.function !== null ? name === view.function : !functionsLit || (functionsLit[meta.functions!.name.indexOf(name)] ?? false));
  const pair = (row: Row): [number, number] => [num(row['source']), num(row['destination'])];
  const at = (value: unknown, index: number) => num(Array.isArray(value) ? value[index] : 0);
  const last = (value: unknown) => (Array.isArray(value) ? value.length - 1 : 0);
  return (
    <div class="cards">
      <section class="card" aria-label="Totals">
        <h2>In all</h2>
        <Table<Row> label="Totals" rows={totals} columns={[
          { title: '', show: (row) => titles[String(row['quantity'])] ?? String(row['quantity']) },
          { title: 'first', show: (row) => show(row, row['first']), number: true },
          { title: 'second', show: (row) => show(row, row['last']), number: true },
          { title: 'growth', show: (row) => growth(row['growth']), by: (row) => num(row['growth']), number: true },
        ]} />
      </section>
      {functions.length > 0 && (
        <section class="card" aria-label="Functions">
          <h2>Functions, mean rank</h2>
          <Table<Row> label="Functions" rows={functions} chosen={(row) => view.function !== null && row['name'] === view.function} dim={(row) => !litFunction(String(row['name']))}
            choose={(row) => store.set({ function: view.function === row['name'] ? null : String(row['name']) })}
            columns={[
              { title: 'function', show: (row) => String(row['name']), by: (row) => String(row['name']) },
              { title: 'first', show: (row) => humanTime(num(row['first_seconds'])), by: (row) => num(row['first_seconds']), number: true },
              { title: 'second', show: (row) => humanTime(num(row['last_seconds'])), by: (row) => num(row['last_seconds']), number: true },
              { title: 'growth', show: (row) => growth(row['growth']), by: (row) => num(row['growth']), number: true },
            ]} />
        </section>
      )}
      <section class="card" aria-label="Classes">
        <h2>Classes of messages</h2>
        <Table<Row> label="Classes" rows={classes} chosen={(row) => row['class'] === view.class} dim={(row) => ofClass !== null && row['class'] !== ofClass}
          choose={(row) => store.set({ class: view.class === row['class'] ? null : String(row['class']) })}
          columns={[
            { title: 'class', show: (row) => `${String(row['class'])}${row['hidden'] ? ' (inside collectives)' : ''}` },
            { title: 'first', show: (row) => humanBytes(at(row['bytes'], 0)), by: (row) => at(row['bytes'], 0), number: true },
            { title: 'second', show: (row) => humanBytes(at(row['bytes'], last(row['bytes']))), by: (row) => at(row['bytes'], last(row['bytes'])), number: true },
            { title: 'growth', show: (row) => growth(row['growth_bytes']), by: (row) => num(row['growth_bytes']), number: true },
            { title: 'messages', show: (row) => `${grouped(at(row['messages'], 0))} → ${grouped(at(row['messages'], last(row['messages'])))}`, number: true },
          ]} />
      </section>
      <section class="card" aria-label="Pairs">
        <h2>Pairs that changed most</h2>
        <Table<Row> label="Pairs" rows={pairs} chosen={(row) => view.pair !== null && pair(row).join() === view.pair.join()} dim={(row) => (view.pair !== null ? pair(row).join() !== view.pair.join() : ranks !== null && !pair(row).some((rank) => ranks.has(rank)))}
          choose={(row) => store.set({ pair: pair(row) })}
          columns={[
            { title: 'pair', show: (row) => pair(row).join(' → ') },
            { title: 'first', show: (row) => humanBytes(num(row['first_bytes'])), by: (row) => num(row['first_bytes']), number: true },
            { title: 'second', show: (row) => humanBytes(num(row['last_bytes'])), by: (row) => num(row['last_bytes']), number: true },
            { title: 'messages', show: (row) => `${grouped(num(row['first_messages']))} → ${grouped(num(row['last_messages']))}`, number: true },
          ]} />
      </section>
    </div>
  );
}

function Compare({ view, meta, runs }: PageProperties) {
  const others = runs.filter((run) => run.run !== meta.run && !run.error);
  const wanted = Number(view.options['compare.with'] ?? others[0]?.run ?? -1);
  const other: Run | undefined = others.find((run) => run.run === wanted) ?? others[0];
  const with_ = other?.run ?? -1;
  const comparison = useAnswer<{ compare: Comparison }>(other ? '/api/compare' : null, { run: meta.run, with: with_ });
  const second = useAnswer<Meta>(other ? '/api/meta' : null, { run: with_ });
  const ready = second.key === answerKey('/api/meta', { run: with_ }) ? second.answer : null;
  const a = useStrips(meta.run, view, meta.has_trace);
  const b = useStrips(with_, view, ready?.has_trace ?? false);
  if (!other) return <Sentence>The other runs cannot be shown.</Sentence>;
  return (
    <>
      <div class="row">
        <strong>{meta.name}</strong> compared with
        <select aria-label="Other run" value={String(other.run)} onChange={(event) => store.option('compare.with', event.currentTarget.value)}>
          {others.map((run) => (
            <option value={String(run.run)}>{run.name}</option>
          ))}
        </select>
      </div>
      {ready && a.shown && b.shown ? (
        <section class="card over-time" aria-label="Both runs over time">
          <Strips metas={[meta, ready]} of={[a, b]} names={[meta.name, ready.name]} view={view} />
        </section>
      ) : (
        (!meta.has_trace || (ready && !ready.has_trace)) && <Sentence>Both runs need a trace to be drawn over time.</Sentence>
      )}
      {comparison.answer ? <Tables comparison={comparison.answer.compare} meta={meta} view={view} /> : <Waiting of={comparison} what="the comparison" />}
    </>
  );
}

addPage({
  id: 'compare',
  title: 'Compare',
  order: 70,
  cannot: (_, runs) => (runs.length < 2 ? 'Only one run was named. "fathom view RUN OTHER" compares two.' : null),
  render: (properties) => <Compare {...properties} />,
});
