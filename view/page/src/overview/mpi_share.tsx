// SPDX-License-Identifier: BSD-3-Clause
// Time of each rank: computing, in MPI, waiting. With many ranks, one column stands for several: the mean, and a
// mark at the largest.
import { css } from '../pure/colour';
import { humanNs, percent } from '../pure/format';
import type { Window } from '../pure/readings';
import { ranksOf, View } from '../pure/view_state';
import { font, Sketch } from '../shell/sketch';
import { store } from '../shell/store';
import { usePalette } from '../shell/theme';

export function MpiShare({ answer, view }: { answer: Window; view: View }) {
  const palette = usePalette();
  const ranks = answer.by_rank;
  const count = ranks.length;
  const each = count > 0 ? answer.all_ns / count : 0;
  const chosen = ranksOf(view);
  const mpi = css([86, 130, 200]);
  const column = (x: number, width: number) => Math.max(0, Math.min(count - 1, Math.floor((x / width) * count)));
  return (
    <Sketch
      height={120}
      label={`Share of time in MPI of ${count} ranks: ${percent(answer.mpi_ns, answer.all_ns)}; waiting: ${percent(answer.wait_ns, answer.all_ns)}`}
      paint={(pen, width, height) => {
        const plot = height - 18;
        // No more columns than pixels, because thinner ones would blur.
        const columns = Math.min(count, Math.floor(width));
        for (let at = 0; at < columns; ++at) {
          const first = Math.floor((at * count) / columns);
          const last = Math.max(first + 1, Math.floor(((at + 1) * count) / columns));
          let mpiNs = 0;
          let waitNs = 0;
          let lit = !chosen;
          for (let i = first; i < last; ++i) {
            mpiNs += ranks[i]!.mpi_ns;
            waitNs += ranks[i]!.wait_ns;
            lit ||= chosen!.has(ranks[i]!.rank);
          }
          const all = each * (last - first) || 1;
          const [x, next] = [(at * width) / columns, ((at + 1) * width) / columns];
          const gap = next - x > 4 ? 1 : 0;
          pen.globalAlpha = lit ? 1 : 0.3;
          pen.fillStyle = css(palette.computing);
          pen.fillRect(x, 0, next - x - gap, plot);
          pen.fillStyle = mpi;
          pen.fillRect(x, plot - (plot * Math.min(mpiNs, all)) / all, next - x - gap, (plot * Math.min(mpiNs, all)) / all);
          pen.fillStyle = css(palette.wait);
          pen.fillRect(x, plot - (plot * Math.min(waitNs, all)) / all, next - x - gap, (plot * Math.min(waitNs, all)) / all);
        }
        pen.globalAlpha = 1;
        pen.font = font(12);
        pen.textBaseline = 'middle';
        let x = 0;
        for (const [colour, text] of [[css(palette.computing), 'computing'], [mpi, 'in MPI'], [css(palette.wait), 'waiting']] as const) {
          pen.fillStyle = colour;
          pen.fillRect(x, height - 13, 10, 10);
          pen.fillStyle = css(palette.ink);
          pen.fillText(text, x + 14, height - 8);
          x += 26 + pen.measureText(text).width;
        }
      }}
      tipAt={(x, y, width) => {
        if (count === 0 || y > 102) return null;
        const at = column(x, width);
        const one = ranks[at]!;
        return `rank ${one.rank}\nin MPI ${humanNs(one.mpi_ns)} (${percent(one.mpi_ns, each)})\nwaiting ${humanNs(one.wait_ns)} (${percent(one.wait_ns, each)})\nmade others wait ${humanNs(one.caused_ns)}`;
      }}
      onClick={(event: MouseEvent) => {
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        if (count > 0) store.set({ ranks: [ranks[column(event.clientX - box.left, box.width)]!.rank], pair: null });
      }}
    />
  );
}
