// SPDX-License-Identifier: BSD-3-Clause
// Matrix: who sends how much to whom, or waits how long for whom.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { grouped, humanBytes, humanNs, percent } from '../pure/format';
import { chosenClass } from '../pure/belongs';
import { ranksOf } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import { describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import { Sketch } from '../shell/sketch';
import { Sentence, Waiting } from '../shell/state_of';
import { scopeOf, store } from '../shell/store';
import { Table } from '../shell/table';
import { usePalette } from '../shell/theme';
import { drawScale, MatrixCanvas, Naming } from './canvas';
import { matrixKey, MatrixSource, TiledSource, WholeMatrix, WholeSource } from './source';

describeKeys('Matrix', [
  ['w s', 'zoom in and out'],
  ['f', 'the whole matrix'],
  ['ArrowUp ArrowDown ArrowLeft ArrowRight', 'from cell to cell'],
  ['Enter', 'choose this pair'],
]);
describeKeys('Matrix, with the mouse', [
  ['wheel', 'zoom'],
  ['drag', 'move; with Shift: choose the ranks of a block'],
  ['click', 'choose a pair'],
]);

const kWhole = 1024;

function Choice({ label, name, value, options }: { label: string; name: string; value: string; options: [string, string][] }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => store.option(name, event.currentTarget.value)}>
        {options.map(([id, text]) => (
          <option value={id}>{text}</option>
        ))}
      </select>
    </label>
  );
}

/** The same as a list, which keys and screen readers reach. */
function Heaviest({ answer, what, naming, show, chosen }: { answer: WholeMatrix; what: string; naming: Naming; show: (value: number) => string; chosen: [number, number] | null }) {
  const place = useMemo(() => new Map(answer.order.map((id, at) => [id, at])), [answer]);
  const rows = useMemo(() => answer.value.map((_, at) => at).sort((a, b) => answer.value[b]! - answer.value[a]!).filter((at) => answer.value[at]! > 0).slice(0, 400), [answer]);
  const ends = (at: number) => [place.get(answer.source[at]!) ?? answer.source[at]!, place.get(answer.destination[at]!) ?? answer.destination[at]!] as const;
  const ranks = (at: number) => ends(at).map((position) => naming.ranks(position));
  const isChosen = (at: number) => {
    const [a, b] = ranks(at);
    return chosen !== null && a?.length === 1 && b?.length === 1 && a[0] === chosen[0] && b[0] === chosen[1];
  };
  return (
    <div class="card">
      <h2>The most</h2>
      <Table<number>
        label="Pairs, the most first"
        rows={rows}
        most={18}
        chosen={isChosen}
        dim={(at) => chosen !== null && !isChosen(at)}
        choose={(at) => {
          const [a, b] = ranks(at) as [number[], number[]];
          if (a.length === 1 && b.length === 1) store.set({ pair: isChosen(at) ? null : [a[0]!, b[0]!], ranks: null });
          else store.set({ ranks: [...new Set([...a, ...b])].sort((x, y) => x - y), pair: null });
        }}
        columns={[
          { title: 'from', show: (at) => naming.short(ends(at)[0]), number: true },
          { title: 'to', show: (at) => naming.short(ends(at)[1]), number: true },
          { title: what === 'waits' ? 'waiting' : what, show: (at) => show(answer.value[at]!), by: (at) => answer.value[at]!, number: true },
          { title: 'share', show: (at) => percent(answer.value[at]!, answer.total), number: true },
        ]}
      />
    </div>
  );
}

function Matrix({ view, meta }: PageProperties) {
  const palette = usePalette();
  const [changed, change] = useState(0);
  const option = (name: string, otherwise: string) => view.options[`matrix.${name}`] ?? otherwise;
  const what = option('what', 'bytes');
  const by = option('by', 'rank');
  const order = option('order', 'rank');
  const expected = by === 'host' ? meta.hosts.length : meta.ranks;
  const scope = scopeOf({ ...view, class: null });
  // Calls of a function send messages of one class.
  const ofClass = what === 'waits' ? view.class : chosenClass(meta.functions, view);
  const parameters = {
    run: meta.run,
    what,
    by,
    order: order === 'rank' ? null : order,
    class: ofClass,
    communicator: option('communicator', '') || null,
    phase: option('phase', '') || null,
    // The pages dim other ranks and pairs; only the window takes something away.
    from: scope.from,
    to: scope.to,
  };
  const tiled = expected > kWhole;
  const whole = useAnswer<WholeMatrix>(tiled ? null : '/api/matrix', parameters);
  const tiles = useMemo(() => (tiled ? new TiledSource(expected, parameters, () => change((n) => n + 1)) : null), [tiled, matrixKey(parameters)]);
  const full = useMemo(() => (whole.answer ? new WholeSource(whole.answer) : null), [whole.answer]);
  // Of other parameters, the picture before stays until the first tile is there.
  const before = useRef<TiledSource | null>(null);
  const old = before.current;
  if (!tiles || tiles.order || !old || old.count !== expected || old.parameters.run !== meta.run || old.parameters.by !== by) before.current = tiles;
  const source: MatrixSource | null = tiled ? before.current : full;
  const answer = tiled ? null : whole.answer;

  const count = answer?.size ?? expected;

  const placed = (tiled ? before.current?.order : answer?.order) ?? null;
  const place = useMemo(() => {
    const map = new Map<number, number>();
    placed?.forEach((id, at) => map.set(id, at));
    return map;
  }, [placed]);
  const positionOf = (id: number) => (placed ? place.get(id) : undefined);
  const hostOf = useMemo(() => new Map(meta.processes.rank.map((rank, at) => [rank, meta.processes.host[at] ?? -1])), [meta]);
  // The matrix numbers hosts in the order of their first rank, meta in that of the processes.
  const labels = useMemo(() => {
    if (answer && answer.by === 'host') return answer.labels;
    const by_rank = [...hostOf].sort(([a], [b]) => a - b).map(([, host]) => meta.hosts[host] ?? '?');
    return [...new Set(by_rank)];
  }, [answer, hostOf]);
  const numberOf = useMemo(() => new Map(labels.map((label, at) => [label, at])), [labels]);
  const rowOf = (rank: number) => (by === 'host' ? (numberOf.get(meta.hosts[hostOf.get(rank) ?? -1] ?? '') ?? -1) : rank);
  const ranksOnHost = (host: number | undefined) => (host === undefined ? [] : meta.processes.rank.filter((rank) => rowOf(rank) === host));
  const naming: Naming = useMemo(() => {
    // No names before it is known who stands where.
    const at = (position: number) => placed?.[position];
    const host = (rank: number | undefined) => hostOf.get(rank ?? -1) ?? -1;
    const borders: number[] = [];
    if (by === 'rank' && meta.hosts.length > 1 && (order === 'rank' || order === 'host'))
      for (let position = 1; position < count; ++position) if (placed && host(at(position)) !== host(at(position - 1))) borders.push(position);
    const name = (p: number) => (by === 'host' ? (labels[at(p) ?? -1] ?? '').slice(0, 9) : String(at(p) ?? ''));
    // In other orders, what lies between two of them has other numbers.
    const block = (first: number, last: number) => (order === 'rank' ? `${name(first)}…${name(last)}` : `${grouped(last - first + 1)} ${by}${last > first ? 's' : ''}`);
    return by === 'host'
      ? { short: name, block, long: (p) => labels[at(p) ?? -1] ?? '?', ranks: (p) => ranksOnHost(at(p)), borders }
      : { short: name, block, long: (p) => `rank ${at(p) ?? '?'}${meta.hosts.length > 1 ? ` (${meta.hosts[host(at(p))] ?? '?'})` : ''}`, ranks: (p) => [at(p)].filter((rank) => rank !== undefined), borders };
  }, [meta, by, order, placed, count, labels]);
  const litRanks = ranksOf(view);
  const lit = useMemo(() => {
    if (!litRanks) return null;
    const marks = new Uint8Array(count);
    for (const rank of litRanks) {
      const position = positionOf(rowOf(rank));
      if (position !== undefined && position >= 0) marks[position] = 1;
    }
    return marks;
  }, [view.ranks, view.pair, placed, by, count, labels]);
  const look = useMemo(() => ({ palette, lit }), [palette, lit]);
  const chosen = view.pair && by === 'rank' ? ([positionOf(view.pair[0]) ?? -1, positionOf(view.pair[1]) ?? -1] as [number, number]) : null;
  const drawn = (tiled ? before.current?.parameters.what : what) ?? what; // may be the picture before
  const show = (value: number) => (drawn === 'bytes' ? humanBytes(value) : drawn === 'messages' ? `${grouped(value)} ${value === 1 ? 'message' : 'messages'}` : humanNs(value));
  useEffect(() => change((n) => n + 1), [source]);

  const classes = (meta.classes?.name ?? []).map((name, at) => [name, `${name}${meta.classes?.hidden[at] ? ' (inside collectives)' : ''}`] as [string, string]);
  const unique = [...new Map(classes).entries()];
  const range = source?.range();
  // Where a finer tile cannot be had, the coarser one stays.
  const error = tiled ? (tiles?.order ? null : (tiles?.error ?? null)) : whole.error;
  return (
    <>
      <div class="row">
        <Choice label="Show" name="matrix.what" value={what} options={[['bytes', 'bytes'], ['messages', 'messages'], ...(meta.has_trace || meta.has_profile ? ([['waits', 'waiting']] as [string, string][]) : [])]} />
        <Choice label="by" name="matrix.by" value={by} options={[['rank', 'rank'], ['host', 'host']]} />
        <Choice label="in the order of" name="matrix.order" value={order} options={[['rank', by === 'host' ? 'host' : 'rank'], ...(by === 'rank' ? ([['host', 'host']] as [string, string][]) : []), ['pattern', 'the pattern'], ['cluster', 'clusters']]} />
        <label>
          Class
          <select value={view.class ?? ''} onChange={(event) => store.set({ class: event.currentTarget.value || null })}>
            <option value="">all</option>
            {view.class !== null && !unique.some(([name]) => name === view.class) && <option value={view.class}>{view.class}</option>}
            {unique.map(([name, text]) => (
              <option value={name}>{text}</option>
            ))}
          </select>
        </label>
        <Choice
          label="Communicator"
          name="matrix.communicator"
          value={option('communicator', '')}
          options={[['', 'all'], ...(meta.communicators ?? []).slice(0, 200).map((c) => [String(c.id), `${c.name || `communicator ${c.id}`} (${grouped(c.size)})`] as [string, string])]}
        />
        {(meta.phases ?? []).length > 0 && <Choice label="Phase" name="matrix.phase" value={option('phase', '')} options={[['', 'all'], ...(meta.phases ?? []).map((name) => [name, name] as [string, string])]} />}
        {range && <strong data-total={range.total}>{`${show(range.total)} in all`}</strong>}
        {ofClass !== null && view.class === null && <span class="faint">{`of class ${ofClass}, that of ${view.function}`}</span>}
        {view.function !== null && ofClass === null && <span class="faint">{what === 'waits' ? 'waits in all functions' : `messages of all functions: ${view.function} sends none of its own`}</span>}
      </div>
      {error ? (
        <Sentence>{error}</Sentence>
      ) : !source ? (
        <Waiting of={whole} what="the matrix" />
      ) : range!.total === 0 && !tiled ? (
        <Sentence>{what === 'waits' ? 'No rank waited for another in what is chosen.' : 'No messages were exchanged in what is chosen.'}</Sentence>
      ) : (
        <>
          <div class="beside">
          <MatrixCanvas source={source} look={look} palette={palette} naming={naming} show={show} view={view} height={Math.max(260, Math.min(window.innerHeight - 210, 1400))} chosen={chosen} changed={changed} />
          {answer && <Heaviest answer={answer} what={what} naming={naming} show={show} chosen={view.pair} />}
          </div>
          <div class="scale">
            <Sketch height={28} label={`Colours from ${show(range!.least)} to ${show(range!.most)}, on a logarithmic scale`} paint={(pen, width) => drawScale(pen, palette, Math.min(320, width), show(range!.least), show(range!.most))} />
          </div>
        </>
      )}
    </>
  );
}

addPage({
  id: 'matrix',
  title: 'Matrix',
  order: 30,
  cannot: (meta) => (meta.ranks === 0 ? 'This run has no ranks, so there is no traffic to show.' : null),
  render: (properties) => <Matrix {...properties} />,
});
