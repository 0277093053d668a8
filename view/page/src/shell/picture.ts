// SPDX-License-Identifier: BSD-3-Clause
// Pictures of what is on the screen: the content of an element is drawn anew with a pen, which is a canvas (PNG)
// or writes SVG. A canvas on the page draws itself again if it said how (drawsWith), so that its lines and
// words are lines and words in the SVG too; else it becomes an image in it.
import { SvgPen } from '../pure/svg_pen';

/** What both pens can do: a part of CanvasRenderingContext2D. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle' | 'strokeStyle' | 'lineWidth' | 'font' | 'globalAlpha' | 'textAlign' | 'textBaseline' | 'imageSmoothingEnabled'
  | 'fillRect' | 'strokeRect' | 'beginPath' | 'moveTo' | 'lineTo' | 'bezierCurveTo' | 'arc' | 'closePath' | 'fill' | 'stroke'
  | 'fillText' | 'save' | 'restore' | 'translate' | 'scale' | 'rect' | 'clip' | 'setLineDash' | 'measureText'
> & {
  drawImage(image: HTMLCanvasElement, sx: number, sy: number, sw: number, sh: number, dx: number, dy: number, dw: number, dh: number): void;
};

const painters = new WeakMap<HTMLCanvasElement, (pen: Pen) => void>();

/** `paint` draws what `canvas` shows, in CSS pixels from its corner. */
export function drawsWith(canvas: HTMLCanvasElement, paint: (pen: Pen) => void): void {
  painters.set(canvas, paint);
}

function visible(colour: string): boolean {
  return colour !== 'transparent' && !/,\s*0\)$/.test(colour);
}

function drawBox(element: Element, style: CSSStyleDeclaration, left: number, top: number, pen: Pen): void {
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left - left, box.top - top];
  if (visible(style.backgroundColor)) {
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(x, y, box.width, box.height);
  }
  const edge = (width: string, colour: string, ax: number, ay: number, w: number, h: number) => {
    const pixels = parseFloat(width);
    if (!(pixels > 0) || !visible(colour)) return;
    pen.fillStyle = colour;
    pen.fillRect(ax, ay, w || pixels, h || pixels);
  };
  const [t, r, b] = [parseFloat(style.borderTopWidth), parseFloat(style.borderRightWidth), parseFloat(style.borderBottomWidth)];
  edge(style.borderTopWidth, style.borderTopColor, x, y, box.width, t);
  edge(style.borderBottomWidth, style.borderBottomColor, x, y + box.height - b, box.width, b);
  edge(style.borderLeftWidth, style.borderLeftColor, x, y, 0, box.height);
  edge(style.borderRightWidth, style.borderRightColor, x + box.width - r, y, 0, box.height);
}

// Each line that a text takes on the page is one piece of text in the picture.
function drawText(node: Text, style: CSSStyleDeclaration, left: number, top: number, pen: Pen): void {
  const text = node.data;
  if (!text.trim()) return;
  pen.font = `${style.fontStyle === 'italic' ? 'italic ' : ''}${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.fillStyle = style.color;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  const range = document.createRange();
  let line = '';
  let at: DOMRect | null = null;
  const flush = () => {
    if (at && line.trim()) pen.fillText(line.replace(/\s+/g, ' '), at.left - left, at.top - top + at.height / 2);
  };
  const words = text.length > 20000 ? [] : text.split(/(?<=\s)/);
  let offset = 0;
  for (const word of words) {
    range.setStart(node, offset);
    range.setEnd(node, offset + Math.max(1, word.trimEnd().length));
    offset += word.length;
    const box = range.getClientRects()[0];
    if (!box || box.width === 0) continue;
    if (at && Math.abs(box.top - at.top) > 2) {
      flush();
      line = '';
      at = null;
    }
    at ??= box;
    line += word;
  }
  flush();
}

function drawControl(element: HTMLElement, style: CSSStyleDeclaration, left: number, top: number, pen: Pen): void {
  const box = element.getBoundingClientRect();
  const text =
    element instanceof HTMLSelectElement ? (element.selectedOptions[0]?.textContent ?? '')
    : element instanceof HTMLInputElement && element.type === 'checkbox' ? (element.checked ? '☑' : '☐')
    : element instanceof HTMLInputElement ? element.value || element.placeholder
    : '';
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.fillStyle = style.color;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillText(text, box.left - left + parseFloat(style.paddingLeft || '0') + 1, box.top - top + box.height / 2);
}

function drawElement(element: Element, left: number, top: number, pen: Pen): void {
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  const box = element.getBoundingClientRect();
  if (element.classList.contains('unseen')) return;
  pen.save();
  pen.globalAlpha *= parseFloat(style.opacity);
  if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
    pen.beginPath();
    pen.rect(box.left - left, box.top - top, box.width, box.height);
    pen.clip();
  }
  if (box.width > 0 && box.height > 0) drawBox(element, style, left, top, pen);
  if (element instanceof HTMLCanvasElement) {
    const paint = painters.get(element);
    if (paint) {
      pen.translate(box.left - left, box.top - top);
      pen.beginPath();
      pen.rect(0, 0, box.width, box.height);
      pen.clip();
      paint(pen);
    } else if (element.width > 0 && element.height > 0) {
      pen.drawImage(element, 0, 0, element.width, element.height, box.left - left, box.top - top, box.width, box.height);
    }
  } else if (element instanceof HTMLSelectElement || element instanceof HTMLInputElement) {
    drawControl(element, style, left, top, pen);
  } else {
    for (const child of element.childNodes) {
      if (child instanceof Text) drawText(child, style, left, top, pen);
      else if (child instanceof Element) drawElement(child, left, top, pen);
    }
  }
  pen.restore();
}

function drawAll(root: HTMLElement, pen: Pen): void {
  const box = root.getBoundingClientRect();
  drawElement(root, box.left, box.top, pen);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function svgOf(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const pen = new SvgPen(box.width, box.height, (text, font) => {
    const context = document.createElement('canvas').getContext('2d')!;
    context.font = font;
    return context.measureText(text).width;
  });
  drawAll(root, pen as unknown as Pen);
  return pen.text();
}

export async function pngOf(root: HTMLElement): Promise<Blob> {
  const box = root.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  const scale = Math.max(1, Math.min(window.devicePixelRatio || 1, 16000 / Math.max(box.width, box.height)));
  canvas.width = Math.ceil(box.width * scale);
  canvas.height = Math.ceil(box.height * scale);
  const context = canvas.getContext('2d')!;
  context.scale(scale, scale);
  drawAll(root, context as unknown as Pen);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('no picture'))), 'image/png'));
}

export async function savePng(root: HTMLElement, name: string): Promise<void> {
  save(await pngOf(root), `${name}.png`);
}

export async function saveSvg(root: HTMLElement, name: string): Promise<void> {
  save(new Blob([svgOf(root)], { type: 'image/svg+xml' }), `${name}.svg`);
}
