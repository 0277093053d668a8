// SPDX-License-Identifier: BSD-3-Clause
// The whole run in one strip: how much of the ranks' time went into which group of functions, and into waiting,
// from left to right. Dragging chooses a window. Where ranks are chosen, the strip is theirs, and a line shows how much
// of their time all ranks together were in MPI.
import { useRef, useState } from 'preact/hooks';
import { litGroups } from '../pure/belongs';
import { css, groupColour } from '../pure/colour';
import { humanBytes, humanNs, marks, moment, percent } from '../pure/format';
import type { Strip } from '../pure/readings';
import type { View } from '../pure/view_state';
import type { Pen } from '../shell/picture';
import type { Meta } from '../shell/protocol';
import { useStrips } from '../shell/sums';
import { font, Sketch } from '../shell/sketch';
import { Waiting } from '../shell/state_of';
import { scopeOf, store } from '../shell/store';
import { Palette } from '../pure/colour';
import { usePalette } from '../shell/theme';

const kAxis = 18;
const kLegend = 20;

const everyone = 'all ranks in MPI';

function drawOutline(pen: Pen, strip: Strip, palette: Palette, width: number, plot: number): void {
  pen.strokeStyle = css(palette.ink);
  pen.lineWidth = 1;
  pen.globalAlpha = 0.35;
  pen.beginPath();
  for (let bin = 0; bin < strip.bins; ++bin) {
    const y = plot * (1 - Math.min(1, strip.ns.reduce((sum, of) => sum + (of[bin] ?? 0), 0) / (strip.all_ns || 1)));
    if (bin === 0) pen.moveTo(0, y);
    else pen.lineTo((bin * width) / strip.bins, y);
    pen.lineTo(((bin + 1) * width) / strip.bins, y);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** `lit`: the groups of functions that are not dimmed; null: all. `all`: the strip of all ranks, if this is of some. */
export function drawStrip(pen: Pen, strip: Strip, palette: Palette, width: number, height: number, window: [number, number] | null, lit: Set<string> | null = null, all: Strip | null = null): void {
  const plot = height - kAxis - kLegend;
  const span = strip.bin_ns * strip.bins;
  const place = (ns: number) => ((ns - strip.from_ns) / span) * width;
  for (let bin = 0; bin < strip.bins; ++bin) {
    const x = (bin * width) / strip.bins;
    const w = (bin + 1) * width / strip.bins - x + 0.3;
    const inside = !window || (strip.from_ns + (bin + 1) * strip.bin_ns > window[0] && strip.from_ns + bin * strip.bin_ns < window[1]);
    const bright = inside ? 1 : 0.3;
    const faded = Math.min(bright, lit ? 0.22 : 1);
    pen.globalAlpha = faded;
    pen.fillStyle = css(palette.computing);
    pen.fillRect(x, 0, w, plot);
    let y = plot;
    strip.groups.forEach((group, at) => {
      const h = (plot * (strip.ns[at]?.[bin] ?? 0)) / (strip.all_ns || 1);
      if (h <= 0) return;
      pen.globalAlpha = !lit || lit.has(group) ? bright : faded;
      pen.fillStyle = css(groupColour(group));
      pen.fillRect(x, y - h, w, h);
      y -= h;
    });
    const waiting = (plot * (strip.wait_ns[bin] ?? 0)) / (strip.all_ns || 1);
    pen.globalAlpha = faded;
    pen.fillStyle = css(palette.wait);
    pen.fillRect(x, plot - waiting, w, waiting);
  }
  pen.globalAlpha = 1;
  if (all) drawOutline(pen, all, palette, width, plot);
  pen.font = font(12);
  pen.textBaseline = 'middle';
  pen.fillStyle = css(palette.faint);
  const { step, at } = marks(strip.from_ns, strip.from_ns + span, width / 110);
  for (const ns of at) {
    pen.textAlign = place(ns) > width - 60 ? 'right' : 'left';
    pen.fillRect(place(ns), plot, 1, 4);
    pen.fillText(moment(ns, step), place(ns) + (pen.textAlign === 'left' ? 3 : -3), plot + 10);
  }
  pen.textAlign = 'left';
  let x = 0;
  const used = strip.groups.filter((_, group) => (strip.ns[group] ?? []).some((ns) => ns > 0));
  for (const [colour, text] of [[css(palette.computing), 'computing'], ...used.map((group) => [css(groupColour(group)), group]), [css(palette.wait), 'waiting for others']] as [string, string][]) {
    pen.globalAlpha = !lit || lit.has(text) ? 1 : 0.4;
    pen.fillStyle = colour;
    pen.fillRect(x, height - 14, 10, 10);
    pen.fillStyle = css(palette.ink);
    pen.fillText(text, x + 14, height - 8);
    x += 30 + pen.measureText(text).width;
  }
  pen.globalAlpha = 1;
  if (!all) return;
  pen.fillStyle = css(palette.ink, 0.6);
  pen.fillRect(x, height - 9.5, 10, 1);
  pen.fillStyle = css(palette.ink);
  pen.fillText(everyone, x + 14, height - 8);
}

export function RunStrip({ meta, view }: { meta: Meta; view: View }) {
  const palette = usePalette();
  const { whole, theirs, shown, instead } = useStrips(meta.run, view);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const start = useRef<number | null>(null);
  if (!whole.answer || !shown) return <Waiting of={whole} what="the strip" />;
  const answer = shown;
  const { ranks } = scopeOf(view);
  // Where it is not theirs, all of it is dimmed.
  const nobody = instead === null ? null : new Set<string>();
  const span = answer.bin_ns * answer.bins;
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return answer.from_ns + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * span;
  };
  const window = drag ?? view.window;
  const whose = theirs ? `ranks ${ranks}` : 'all ranks';
  return (
    <>
    {instead && <p class="faint">{`This is the strip of all ranks: ${instead}`}</p>}
    <Sketch
      height={130}
      data-strip={theirs ? ranks : 'all'}
      label={`Share of the time of ${whose} in each group of functions, over the run. Drag to choose a window.`}
      paint={(pen, width, height) => drawStrip(pen, answer, palette, width, height, window, nobody ?? litGroups(meta.functions, view), theirs && whole.answer)}
      tipAt={(x, y, width) => {
        const bin = Math.max(0, Math.min(answer.bins - 1, Math.floor((x / width) * answer.bins)));
        if (y > 110) return null;
        const lines = answer.groups.map((group, g) => [group, answer.ns[g]?.[bin] ?? 0] as const).filter(([, ns]) => ns > 0);
        return [
          ...(theirs ? [whose] : []),
          `${humanNs(answer.from_ns + bin * answer.bin_ns)} – ${humanNs(answer.from_ns + (bin + 1) * answer.bin_ns)}`,
          ...lines.map(([group, ns]) => `${group}: ${percent(ns, answer.all_ns)}`),
          `waiting: ${percent(answer.wait_ns[bin] ?? 0, answer.all_ns)}`,
          `${answer.messages[bin] ?? 0} messages, ${humanBytes(answer.bytes[bin] ?? 0)}`,
        ].join('\n');
      }}
      onPointerDown={(event: PointerEvent) => {
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        start.current = at(event);
      }}
      onPointerMoveCapture={(event: PointerEvent) => {
        if (start.current === null) return;
        const now = at(event);
        setDrag([Math.min(start.current, now), Math.max(start.current, now)]);
      }}
      onPointerUp={(event: PointerEvent) => {
        const from = start.current;
        start.current = null;
        setDrag(null);
        if (from === null) return;
        const to = at(event);
        store.set({ window: Math.abs(to - from) < span / 300 ? null : [Math.round(Math.min(from, to)), Math.round(Math.max(from, to))] });
      }}
    />
    </>
  );
}
