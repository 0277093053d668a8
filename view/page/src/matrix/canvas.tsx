// SPDX-License-Identifier: BSD-3-Clause
// The matrix on its canvas: wheel and drag zoom and move, a click chooses a pair, keys do all of it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { amountColour, css, Palette } from '../pure/colour';
import { clampedSquare, Square, zoomedSquare } from '../pure/matrix';
import { parseSpan } from '../pure/viewport';
import type { View } from '../pure/view_state';
import { addKeys } from '../shell/keys';
import { drawsWith, Pen } from '../shell/picture';
import { font, sized, useWidth } from '../shell/sketch';
import { store } from '../shell/store';
import { hideTip, showTip } from '../shell/tip';
import { meter } from '../timeline/frames';
import type { MatrixLook, MatrixSource } from './source';

const kEdge = 64;

export interface Naming {
  /** short, for the edges */
  short: (position: number) => string;
  /** of a cell for several, in tips */
  block: (first: number, last: number) => string;
  /** in tips */
  long: (position: number) => string;
  /** ranks at a position */
  ranks: (position: number) => number[];
  /** positions where a new host begins */
  borders: number[];
}

interface Properties {
  source: MatrixSource;
  look: MatrixLook;
  palette: Palette;
  naming: Naming;
  show: (value: number) => string;
  view: View;
  height: number;
  /** position of the chosen pair */
  chosen: [number, number] | null;
  changed: number;
}

function squareFrom(view: View, count: number): Square {
  const x = parseSpan(view.options['matrix.x']);
  const y = parseSpan(view.options['matrix.y']);
  return clampedSquare(x && y ? { x: x[0], y: y[0], size: x[1] } : { x: 0, y: 0, size: count }, count);
}

export function MatrixCanvas({ source, look, palette, naming, show, view, height, chosen, changed }: Properties) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [said, say] = useState('');
  const square = useRef<Square>(squareFrom(view, source.count));
  const cursor = useRef<[number, number]>([0, 0]);
  const drag = useRef<{ x: number; y: number; start: Square; far: boolean; choose: boolean; now: [number, number] } | null>(null);
  const timer = useRef(0);
  const frame = useRef(0);
  const side = Math.max(40, Math.min(width - kEdge - 4, height - 22));

  const paint = (pen: Pen): number => {
    const s = square.current;
    pen.fillStyle = css(palette.paper);
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.translate(kEdge, 20);
    pen.beginPath();
    pen.rect(0, 0, side, side);
    pen.clip();
    const blanks = source.draw(pen, s, side, look);
    const pixels = side / s.size;
    if (naming.borders.length > 0 && naming.borders.length < side / 6) {
      pen.fillStyle = css(palette.faint, 0.6);
      for (const at of naming.borders) {
        pen.fillRect((at - s.x) * pixels, 0, 1, side);
        pen.fillRect(0, (at - s.y) * pixels, side, 1);
      }
    }
    if (chosen) {
      pen.strokeStyle = css(palette.chosen);
      pen.lineWidth = 2;
      const least = Math.max(pixels, 5);
      pen.strokeRect((chosen[1] - s.x) * pixels - 1, (chosen[0] - s.y) * pixels - 1, least + 2, least + 2);
    }
    if (document.activeElement === canvas.current) {
      pen.strokeStyle = css(palette.ink);
      pen.lineWidth = 1;
      pen.setLineDash([3, 2]);
      pen.strokeRect((cursor.current[1] - s.x) * pixels, (cursor.current[0] - s.y) * pixels, Math.max(pixels, 4), Math.max(pixels, 4));
      pen.setLineDash([]);
    }
    if (drag.current?.choose && drag.current.far) {
      pen.strokeStyle = css(palette.chosen);
      pen.fillStyle = css(palette.chosen, 0.18);
      const [x, y] = [drag.current.x - kEdge, drag.current.y - 20];
      pen.fillRect(x, y, drag.current.now[0] - drag.current.x, drag.current.now[1] - drag.current.y);
      pen.strokeRect(x, y, drag.current.now[0] - drag.current.x, drag.current.now[1] - drag.current.y);
    }
    pen.restore();
    pen.strokeStyle = css(palette.line);
    pen.lineWidth = 1;
    pen.strokeRect(kEdge - 0.5, 19.5, side + 1, side + 1);
    pen.font = font(11);
    pen.fillStyle = css(palette.faint);
    pen.textBaseline = 'middle';
    const every = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024, 2000, 2048, 4096].find((e) => e * (side / s.size) >= 42) ?? 8192;
    for (let at = Math.ceil(s.y / every) * every; at < Math.min(source.count, s.y + s.size); at += every) {
      pen.textAlign = 'right';
      pen.fillText(naming.short(at), kEdge - 5, 20 + (at + 0.5 - s.y) * (side / s.size));
    }
    for (let at = Math.ceil(s.x / every) * every; at < Math.min(source.count, s.x + s.size); at += every) {
      pen.textAlign = 'center';
      pen.fillText(naming.short(at), kEdge + (at + 0.5 - s.x) * (side / s.size), 10);
    }
    pen.textAlign = 'left';
    pen.fillText('from ↓ to →', 2, 10);
    return blanks;
  };
  const painter = useRef(paint);
  painter.current = paint;
  const request = () => {
    if (frame.current === 0)
      frame.current = requestAnimationFrame((now) => {
        frame.current = 0;
        const node = canvas.current;
        if (!node || width === 0) return;
        const began = performance.now();
        const blanks = painter.current(sized(node, width, height) as unknown as Pen);
        meter.note(now, performance.now() - began, blanks);
        node.dataset.blanks = String(blanks);
        node.dataset.square = `${square.current.x.toFixed(1)} ${square.current.y.toFixed(1)} ${square.current.size.toFixed(1)}`;
      });
  };
  useEffect(request);
  useEffect(() => {
    const node = canvas.current!;
    drawsWith(node, (pen) => void painter.current(pen));
    return () => {
      cancelAnimationFrame(frame.current);
      clearTimeout(timer.current);
      hideTip();
    };
  }, []);
  useEffect(request, [changed]);
  // Back, forward and links move the square; what this canvas wrote itself may be behind what it shows by now.
  const written = useRef(`${view.options['matrix.x']} ${view.options['matrix.y']}`);
  useEffect(() => {
    const now = `${view.options['matrix.x']} ${view.options['matrix.y']}`;
    if (now === written.current) return;
    written.current = now;
    clearTimeout(timer.current);
    square.current = squareFrom(view, source.count);
    request();
  }, [view.options['matrix.x'], view.options['matrix.y']]);
  useEffect(() => {
    square.current = clampedSquare(square.current, source.count);
    request();
  }, [source.count]);

  const go = (next: Square) => {
    square.current = clampedSquare(next, source.count);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      const options = { ...store.get().options };
      const s = square.current;
      if (s.size >= source.count) {
        delete options['matrix.x'];
        delete options['matrix.y'];
      } else {
        options['matrix.x'] = `${s.x.toFixed(1)}-${s.size.toFixed(1)}`;
        options['matrix.y'] = `${s.y.toFixed(1)}-${s.size.toFixed(1)}`;
      }
      if (store.get().page !== 'matrix') return;
      written.current = `${options['matrix.x']} ${options['matrix.y']}`;
      store.set({ options }, true);
    }, 200);
    request();
  };
  const point = (event: MouseEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const cellAt = ([x, y]: [number, number]): [number, number] | null => {
    const s = square.current;
    const i = Math.floor(s.y + ((y - 20) / side) * s.size);
    const j = Math.floor(s.x + ((x - kEdge) / side) * s.size);
    return x >= kEdge && y >= 20 && x < kEdge + side && y < 20 + side && i < source.count && j < source.count ? [i, j] : null;
  };
  const describe = ([i, j]: [number, number]): string => {
    const found = source.valueAt(i, j, square.current, side);
    const value = found === null ? 'not there yet' : found.value > 0 ? show(found.value) : 'nothing';
    if (found && found.cell > 1) {
      const range = (at: number) => {
        const first = Math.floor(at / found.cell) * found.cell;
        return naming.block(first, Math.min(source.count - 1, first + found.cell - 1));
      };
      return `${range(i)} → ${range(j)}: ${value}`;
    }
    return `${naming.long(i)} → ${naming.long(j)}: ${value}`;
  };
  const choose = ([i, j]: [number, number]) => {
    const [a, b] = [naming.ranks(i), naming.ranks(j)];
    if (a.length === 1 && b.length === 1) {
      const pair: [number, number] = [a[0]!, b[0]!];
      const old = store.get().pair;
      store.set({ pair: old && old[0] === pair[0] && old[1] === pair[1] ? null : pair, ranks: null });
    } else store.set({ ranks: [...new Set([...a, ...b])].sort((x, y) => x - y), pair: null });
    say(describe([i, j]));
  };
  const block = (from: [number, number], to: [number, number]) => {
    const [a, b] = [cellAt(from), cellAt(to)];
    if (!a || !b) return;
    const ranks = new Set<number>();
    for (let i = Math.min(a[0], b[0]); i <= Math.max(a[0], b[0]); ++i) naming.ranks(i).forEach((r) => ranks.add(r));
    for (let j = Math.min(a[1], b[1]); j <= Math.max(a[1], b[1]); ++j) naming.ranks(j).forEach((r) => ranks.add(r));
    store.set({ ranks: [...ranks].sort((x, y) => x - y), pair: null });
  };
  useEffect(() => {
    const node = canvas.current!;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const [x, y] = point(event);
      const share = (v: number) => Math.max(0, Math.min(1, v / side));
      const amount = Math.max(-200, Math.min(200, event.deltaY * (event.deltaMode === 1 ? 24 : 1)));
      go(zoomedSquare(square.current, Math.exp(amount / 300), share(x - kEdge), share(y - 20), source.count));
    };
    node.addEventListener('wheel', onWheel, { passive: false });
    return () => node.removeEventListener('wheel', onWheel);
  });
  const move = (i: number, j: number) => {
    const to: [number, number] = [Math.max(0, Math.min(source.count - 1, cursor.current[0] + i)), Math.max(0, Math.min(source.count - 1, cursor.current[1] + j))];
    cursor.current = to;
    const s = { ...square.current };
    if (to[0] < s.y) s.y = to[0];
    if (to[0] + 1 > s.y + s.size) s.y = to[0] + 1 - s.size;
    if (to[1] < s.x) s.x = to[1];
    if (to[1] + 1 > s.x + s.size) s.x = to[1] + 1 - s.size;
    say(describe(to));
    go(s);
  };
  const keys = useRef({ move, go, choose });
  keys.current = { move, go, choose };
  useEffect(
    () =>
      addKeys('Matrix', [
        { keys: 'w W + =', does: '', run: () => keys.current.go(zoomedSquare(square.current, 1 / 1.5, 0.5, 0.5, source.count)) },
        { keys: 's S -', does: '', run: () => keys.current.go(zoomedSquare(square.current, 1.5, 0.5, 0.5, source.count)) },
        { keys: 'f Home', does: '', run: () => keys.current.go({ x: 0, y: 0, size: source.count }) },
        { keys: 'ArrowUp', does: '', run: () => keys.current.move(-1, 0) },
        { keys: 'ArrowDown', does: '', run: () => keys.current.move(1, 0) },
        { keys: 'ArrowLeft', does: '', run: () => keys.current.move(0, -1) },
        { keys: 'ArrowRight', does: '', run: () => keys.current.move(0, 1) },
        { keys: 'Enter', does: '', run: () => keys.current.choose(cursor.current) },
      ]),
    [source],
  );

  return (
    <div ref={box} class="timeline">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Matrix of ${source.count} × ${source.count}. Arrows move from cell to cell, Enter chooses the pair, W and S zoom.`}
        onFocus={request}
        onBlur={request}
        onPointerDown={(event) => {
          canvas.current!.setPointerCapture(event.pointerId);
          const [x, y] = point(event);
          drag.current = { x, y, start: square.current, far: false, choose: event.shiftKey, now: [x, y] };
        }}
        onPointerMove={(event) => {
          const at = point(event);
          const d = drag.current;
          if (d) {
            d.now = at;
            d.far ||= Math.hypot(at[0] - d.x, at[1] - d.y) > 4;
            const scale = d.start.size / side;
            if (d.choose) request();
            else if (d.far) go({ ...d.start, x: d.start.x - (at[0] - d.x) * scale, y: d.start.y - (at[1] - d.y) * scale });
            hideTip();
            return;
          }
          const cell = cellAt(at);
          if (cell) showTip(describe(cell), event.clientX, event.clientY);
          else hideTip();
        }}
        onPointerUp={(event) => {
          const d = drag.current;
          drag.current = null;
          if (!d) return;
          const at = point(event);
          if (d.choose && d.far) block([d.x, d.y], at);
          else if (!d.far) {
            const cell = cellAt(at);
            if (cell) {
              cursor.current = cell;
              choose(cell);
            }
          }
          request();
        }}
        onPointerLeave={hideTip}
      />
      <p class="unseen" aria-live="polite">{said}</p>
    </div>
  );
}

/** A bar of colours from the least to the most. */
export function drawScale(pen: Pen, palette: Palette, width: number, least: string, most: string): void {
  for (let x = 0; x < width; ++x) {
    pen.fillStyle = css(amountColour(0.12 + (0.88 * x) / width, palette.dark));
    pen.fillRect(x, 0, 1.2, 10);
  }
  pen.font = font(11);
  pen.fillStyle = css(palette.faint);
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  pen.fillText(least, 0, 19);
  pen.textAlign = 'right';
  pen.fillText(most, width, 19);
}
