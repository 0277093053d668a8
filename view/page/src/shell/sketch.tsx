// SPDX-License-Identifier: BSD-3-Clause
// A canvas that fills its width, is sharp on every screen, draws itself again when something changes, and can
// be drawn into a picture.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { drawsWith, Pen } from './picture';
import { hideTip, showTip } from './tip';

export { font, fontFamily } from '../pure/font';

/** The width of an element in CSS pixels, kept up to date. */
export function useWidth<T extends HTMLElement>(): [{ current: T | null }, number, number] {
  const element = useRef<T>(null);
  const [size, set] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const measure = () => set((old) => (old[0] === node.clientWidth && old[1] === node.clientHeight ? old : [node.clientWidth, node.clientHeight]));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [element, size[0], size[1]];
}

/** Makes `canvas` width × height CSS pixels large, and returns its context in CSS pixels. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

interface Properties extends Omit<JSX.HTMLAttributes<HTMLCanvasElement>, 'label'> {
  height: number;
  /** for those who cannot see it: what it shows, in a sentence */
  label: string;
  paint: (pen: Pen, width: number, height: number) => void;
  /** what is at a point, as text; null: nothing */
  tipAt?: (x: number, y: number, width: number) => string | null;
}

export function Sketch({ height, label, paint, tipAt, ...rest }: Properties) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const node = canvas.current;
    if (!node || width === 0) return;
    const pen = sized(node, width, height);
    pen.clearRect(0, 0, width, height);
    pen.save();
    paint(pen as unknown as Pen, width, height);
    pen.restore();
    drawsWith(node, (other) => paint(other, width, height));
  });
  return (
    <div ref={box} class="sketch">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerMove={(event: PointerEvent) => {
          const rect = (event.currentTarget as HTMLElement).getBoundingClientRect();
          const text = tipAt?.(event.clientX - rect.left, event.clientY - rect.top, rect.width);
          if (text) showTip(text, event.clientX, event.clientY);
          else hideTip();
        }}
        onPointerLeave={hideTip}
        {...rest}
      />
    </div>
  );
}
