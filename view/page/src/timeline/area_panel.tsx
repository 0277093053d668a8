// SPDX-License-Identifier: BSD-3-Clause
// Statistics, matrix and histogram of exactly the window and ranks that are chosen.
import { amountColour, css, logShare } from '../pure/colour';
import { binEdge, grouped, humanBytes, humanNs, percent } from '../pure/format';
import type { SizeBin, Window } from '../pure/readings';
import { ranksOf, View } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import type { Messages, Meta } from '../shell/protocol';
import { useWindow } from '../shell/sums';
import { font, Sketch } from '../shell/sketch';
import { Waiting } from '../shell/state_of';
import { scopeOf, store } from '../shell/store';
import { Table } from '../shell/table';
import { litFunctions } from '../pure/belongs';
import { shortPlace } from '../pure/place';
import { usePalette } from '../shell/theme';
import { isOfClass } from './paint';

type Row = Window['functions'][number];

/** The matrix of a window: ranks that take part, from sender (down) to receiver (across). */
export function SmallMatrix({ matrix, more, view }: { matrix: Window['matrix']; more: number; view: View }) {
  const palette = usePalette();
  const ranks = [...new Set([...matrix.source, ...matrix.destination])].sort((a, b) => a - b);
  if (ranks.length === 0) return <p class="faint">No messages were exchanged here.</p>;
  const at = new Map(ranks.map((rank, i) => [rank, i]));
  const positive = matrix.bytes.filter((b) => b > 0);
  const least = positive.reduce((a, b) => Math.min(a, b), Infinity);
  const most = positive.reduce((a, b) => Math.max(a, b), 0);
  const edge = 34;
  const cell = (width: number) => Math.min(width - edge, 240) / ranks.length;
  const pairAt = (x: number, y: number, width: number): [number, number] | null => {
    const [i, j] = [Math.floor((y - 16) / cell(width)), Math.floor((x - edge) / cell(width))];
    return i >= 0 && j >= 0 && i < ranks.length && j < ranks.length ? [ranks[i]!, ranks[j]!] : null;
  };
  return (
    <>
      <Sketch
        height={262}
        label={`Bytes between ${ranks.length} ranks in the window`}
        paint={(pen, width) => {
          const c = cell(width);
          pen.font = font(11);
          pen.textBaseline = 'middle';
          pen.fillStyle = css(palette.faint);
          const every = Math.max(1, Math.ceil(26 / c));
          ranks.forEach((rank, i) => {
            if (i % every !== 0) return;
            pen.textAlign = 'right';
            pen.fillText(String(rank), edge - 4, 16 + (i + 0.5) * c);
            pen.textAlign = 'center';
            pen.fillText(String(rank), edge + (i + 0.5) * c, 8);
          });
          pen.translate(edge, 16);
          pen.fillStyle = css(palette.computing);
          pen.fillRect(0, 0, c * ranks.length, c * ranks.length);
          matrix.source.forEach((source, n) => {
            const [i, j] = [at.get(source)!, at.get(matrix.destination[n]!)!];
            const lit = !view.pair || (view.pair[0] === source && view.pair[1] === matrix.destination[n]);
            pen.globalAlpha = lit ? 1 : 0.25;
            pen.fillStyle = css(amountColour(0.15 + 0.85 * logShare(matrix.bytes[n]!, least * 0.7, most), palette.dark));
            pen.fillRect(j * c, i * c, Math.max(c - (c > 4 ? 1 : 0), 0.8), Math.max(c - (c > 4 ? 1 : 0), 0.8));
          });
          pen.globalAlpha = 1;
        }}
        tipAt={(x, y, width) => {
          const pair = pairAt(x, y, width);
          if (!pair) return null;
          const n = matrix.source.findIndex((source, m) => source === pair[0] && matrix.destination[m] === pair[1]);
          return n < 0 ? `${pair[0]} → ${pair[1]}: nothing` : `${pair[0]} → ${pair[1]}: ${humanBytes(matrix.bytes[n]!)} in ${grouped(matrix.messages[n]!)} messages`;
        }}
        onClick={(event: MouseEvent) => {
          const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
          const pair = pairAt(event.clientX - box.left, event.clientY - box.top, box.width);
          if (pair) store.set({ pair });
        }}
      />
      {more > 0 && <p class="faint">{`the heaviest ${grouped(matrix.source.length)} pairs, ${grouped(more)} more`}</p>}
    </>
  );
}

const kMostMessages = 5000;

/**
 * Messages by size. The profile of some ranks of a whole run has no sizes: there they are those of the program's own messages
 * that were received in it, one by one.
 */
export function Histogram({ answer, meta, view }: { answer: Window; meta: Meta; view: View }) {
  const one = answer.sizes.length === 0 && answer.traffic.messages > 0 && meta.has_trace;
  const { classes, ...scope } = scopeOf(view);
  const messages = useAnswer<Messages>(one ? '/api/messages' : null, { run: meta.run, ...scope, top: kMostMessages });
  if (!one) return <SizeChart sizes={answer.sizes} none={answer.traffic.messages > 0 ? 'The sizes of these messages are not known.' : 'No messages were exchanged here.'} />;
  if (!messages.answer) return <Waiting of={messages} what="the messages" />;
  const { messages: columns, more } = messages.answer;
  const sizes = columns.bytes.map((low) => ({ low, messages: 1 })).filter((_size, at) => columns.received_ns[at]! >= answer.from_ns && columns.received_ns[at]! < answer.to_ns && isOfClass(columns, at, classes ?? null));
  return (
    <>
      <SizeChart sizes={sizes} none="The program itself received no messages here; those that collectives are made of are not recorded one by one." />
      {sizes.length > 0 && <p class="faint" data-sizes={sizes.length}>{more > 0 ? `of the ${grouped(sizes.length)} costliest messages of the program; ${grouped(more)} more` : `the ${grouped(sizes.length)} messages of the program itself that were received here`}</p>}
    </>
  );
}

function SizeChart({ sizes, none }: { sizes: SizeBin[]; none: string }) {
  const palette = usePalette();
  const bins = new Map<number, number>();
  const add = (low: number, messages: number) => bins.set(low, (bins.get(low) ?? 0) + messages);
  for (const { low, messages } of sizes) add(low === 0 ? 0 : 2 ** Math.floor(Math.log2(low)), messages);
  const sorted = [...bins].sort((a, b) => a[0] - b[0]);
  if (sorted.length === 0) return <p class="faint">{none}</p>;
  const lows: number[] = [];
  for (let low = sorted[0]![0]; low <= sorted[sorted.length - 1]![0] && lows.length < 64; low = low === 0 ? 1 : low * 2) lows.push(low);
  const most = Math.max(...sorted.map(([, n]) => n));
  return (
    <Sketch
      height={200}
      label={`Messages by size: ${sorted.map(([low, n]) => `${grouped(n)} from ${binEdge(low)}`).join(', ')}`}
      paint={(pen, width, height) => {
        const plot = height - 34;
        const w = width / lows.length;
        pen.font = font(11);
        pen.textBaseline = 'middle';
        const every = Math.max(1, Math.ceil(64 / w));
        lows.forEach((low, at) => {
          const n = bins.get(low) ?? 0;
          const h = n > 0 ? Math.max(2, (plot - 16) * (Math.log1p(n) / Math.log1p(most))) : 0;
          pen.fillStyle = css([0, 114, 178]);
          pen.fillRect(at * w, plot - h, Math.max(1, w - 2), h);
          pen.textAlign = 'left';
          pen.fillStyle = css(palette.faint);
          if (at % every === 0) pen.fillText(binEdge(low), at * w, plot + 10);
          if (n > 0 && w > 40) pen.fillText(grouped(n), at * w, plot - h - 8);
        });
        pen.fillStyle = css(palette.faint);
        pen.fillText('messages by size, both on logarithmic scales', 0, plot + 26);
      }}
      tipAt={(x, _y, width) => {
        const low = lows[Math.floor((x / width) * lows.length)];
        return low === undefined ? null : `${binEdge(low)} and more: ${grouped(bins.get(low) ?? 0)} messages`;
      }}
    />
  );
}

export function AreaPanel({ meta, view }: { meta: Meta; view: View }) {
  const asked = view.window !== null || view.ranks !== null || view.pair !== null;
  const answer = useWindow(meta, view, asked);
  if (!asked) return <p class="faint">Drag over the timeline to choose a window and ranks: its statistics, matrix and message sizes appear here.</p>;
  if (!answer.answer) return <Waiting of={answer} what="the sums of the window" />;
  const sums = answer.answer;
  const rows = sums.functions.filter((row) => row.calls > 0 || row.ns > 0);
  const lit = litFunctions(meta.functions, view);
  const unlit = (name: string) => (view.function !== null ? name !== view.function : lit !== null && !lit[meta.functions!.name.indexOf(name)]);
  const ranks = ranksOf(view)?.size ?? meta.ranks;
  const waits = sums.waits;
  return (
    <div class="cards area" data-window={`${sums.from_ns}-${sums.to_ns}`} data-mpi={sums.mpi_ns} data-wait={sums.wait_ns} data-bytes={sums.traffic.bytes} data-messages={sums.traffic.messages}>
      <section class="card" aria-label="Functions in the window">
        <h2>{`${humanNs(sums.to_ns - sums.from_ns)} of ${grouped(ranks)} ${ranks === 1 ? 'rank' : 'ranks'}: ${percent(sums.mpi_ns, sums.all_ns)} in MPI, ${percent(sums.wait_ns, sums.all_ns)} waiting`}</h2>
        <Table<Row>
          label="Functions in the window"
          rows={rows}
          sorted={2}
          chosen={(row) => row.name === view.function}
          dim={(row) => unlit(row.name)}
          choose={(row) => store.set({ function: row.name === view.function ? null : row.name })}
          columns={[
            { title: 'function', show: (row) => row.name, by: (row) => row.name },
            { title: 'calls', show: (row) => grouped(row.calls), by: (row) => row.calls, number: true },
            { title: 'time', show: (row) => humanNs(row.ns), by: (row) => row.ns, number: true },
            { title: 'share', show: (row) => percent(row.ns, sums.all_ns), number: true },
            { title: 'bytes', show: (row) => humanBytes(row.bytes), by: (row) => row.bytes, number: true },
          ]}
        />
      </section>
      <section class="card" aria-label="Waits in the window">
        <h2>Waits</h2>
        {waits.length === 0 ? (
          <p class="faint">Nobody waited for another here.</p>
        ) : (
          <Table
            label="Waits in the window"
            rows={waits}
            most={8}
            dim={(row) => unlit(row.function) || (view.site !== null && row.place !== '' && row.place !== shortPlace(view.site)) || (view.pair !== null && !(view.pair.includes(row.rank) && view.pair.includes(row.awaited)))}
            choose={(row) => store.set({ ranks: [...new Set([row.rank, row.awaited])].sort((a, b) => a - b), pair: null })}
            columns={[
              { title: 'rank', show: (row) => row.rank, by: (row) => row.rank, number: true },
              { title: 'waited for', show: (row) => row.awaited, by: (row) => row.awaited, number: true },
              { title: 'kind', show: (row) => row.kind, by: (row) => row.kind },
              { title: 'in', show: (row) => `${row.function}${row.place ? ` (${row.place})` : ''}`, by: (row) => row.function },
              { title: 'time', show: (row) => humanNs(row.ns), by: (row) => row.ns, number: true },
              { title: 'times', show: (row) => grouped(row.count), by: (row) => row.count, number: true },
            ]}
          />
        )}
      </section>
      <section class="card" aria-label="Matrix of the window">
        <h2>{`${humanBytes(sums.traffic.bytes)} in ${grouped(sums.traffic.messages)} messages`}</h2>
        <SmallMatrix matrix={sums.matrix} more={sums.matrix_more} view={view} />
      </section>
      <section class="card" aria-label="Message sizes in the window">
        <h2>Message sizes</h2>
        <Histogram answer={sums} meta={meta} view={view} />
      </section>
    </div>
  );
}
