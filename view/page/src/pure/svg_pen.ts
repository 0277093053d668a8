// SPDX-License-Identifier: BSD-3-Clause
// A pen with the methods of a canvas that the pages use, which writes SVG. Positions are kept as numbers and
// transformed here, so that the file holds plain shapes, which every program that reads SVG can edit.

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '?');

const n = (value: number): string => String(Math.round(value * 100) / 100);

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  font: string;
  globalAlpha: number;
  textAlign: string;
  textBaseline: string;
  imageSmoothingEnabled: boolean;
  dash: number[];
  x: number;
  y: number;
  sx: number;
  sy: number;
  clips: number;
}

export class SvgPen {
  private parts: string[] = [];
  private path = '';
  private paths = 0;
  private states: State[] = [];
  private now: State = {
    fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, font: '10px sans-serif', globalAlpha: 1, textAlign: 'left',
    textBaseline: 'alphabetic', imageSmoothingEnabled: true, dash: [], x: 0, y: 0, sx: 1, sy: 1, clips: 0,
  };

  constructor(
    private width: number,
    private height: number,
    private measure: (text: string, font: string) => number,
  ) {}

  get fillStyle() { return this.now.fillStyle; }
  set fillStyle(value: string) { this.now.fillStyle = value; }
  get strokeStyle() { return this.now.strokeStyle; }
  set strokeStyle(value: string) { this.now.strokeStyle = value; }
  get lineWidth() { return this.now.lineWidth; }
  set lineWidth(value: number) { this.now.lineWidth = value; }
  get font() { return this.now.font; }
  set font(value: string) { this.now.font = value; }
  get globalAlpha() { return this.now.globalAlpha; }
  set globalAlpha(value: number) { this.now.globalAlpha = value; }
  get textAlign() { return this.now.textAlign; }
  set textAlign(value: string) { this.now.textAlign = value; }
  get textBaseline() { return this.now.textBaseline; }
  set textBaseline(value: string) { this.now.textBaseline = value; }
  get imageSmoothingEnabled() { return this.now.imageSmoothingEnabled; }
  set imageSmoothingEnabled(value: boolean) { this.now.imageSmoothingEnabled = value; }

  save(): void {
    this.states.push({ ...this.now, dash: [...this.now.dash] });
    this.now.clips = 0;
  }
  restore(): void {
    this.parts.push('</g>'.repeat(this.now.clips));
    this.now = this.states.pop() ?? this.now;
  }
  translate(x: number, y: number): void {
    this.now.x += x * this.now.sx;
    this.now.y += y * this.now.sy;
  }
  scale(x: number, y: number): void {
    this.now.sx *= x;
    this.now.sy *= y;
  }
  setLineDash(dash: number[]): void {
    this.now.dash = dash;
  }

  private px = (x: number) => this.now.x + x * this.now.sx;
  private py = (y: number) => this.now.y + y * this.now.sy;
  private alpha = () => (this.now.globalAlpha < 1 ? ` opacity="${n(this.now.globalAlpha)}"` : '');
  private line = () =>
    ` fill="none" stroke="${escape(this.now.strokeStyle)}" stroke-width="${n(this.now.lineWidth * this.now.sx)}"` +
    (this.now.dash.length ? ` stroke-dasharray="${this.now.dash.map(n).join(' ')}"` : '');

  private box(x: number, y: number, width: number, height: number): string {
    const [ax, bx] = [this.px(x), this.px(x + width)].sort((a, b) => a - b) as [number, number];
    const [ay, by] = [this.py(y), this.py(y + height)].sort((a, b) => a - b) as [number, number];
    return `<rect x="${n(ax)}" y="${n(ay)}" width="${n(bx - ax)}" height="${n(by - ay)}"`;
  }
  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`${this.box(x, y, width, height)} fill="${escape(this.now.fillStyle)}"${this.alpha()}/>`);
  }
  strokeRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`${this.box(x, y, width, height)}${this.line()}${this.alpha()}/>`);
  }
  beginPath(): void {
    this.path = '';
  }
  moveTo(x: number, y: number): void {
    this.path += `M${n(this.px(x))} ${n(this.py(y))}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `${this.path ? 'L' : 'M'}${n(this.px(x))} ${n(this.py(y))}`;
  }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
    this.path += `C${n(this.px(a))} ${n(this.py(b))} ${n(this.px(c))} ${n(this.py(d))} ${n(this.px(x))} ${n(this.py(y))}`;
  }
  arc(x: number, y: number, radius: number, from: number, to: number, back = false): void {
    const turn = back ? from - to : to - from;
    const at = (angle: number) => [this.px(x + radius * Math.cos(angle)), this.py(y + radius * Math.sin(angle))] as const;
    const [r, sweep] = [n(radius * this.now.sx), back ? 0 : 1];
    const [ax, ay] = at(from);
    this.path += `${this.path ? 'L' : 'M'}${n(ax)} ${n(ay)}`;
    const steps = turn >= 2 * Math.PI - 1e-6 ? [from + (back ? -1 : 1) * Math.PI, to] : [to];
    for (const angle of steps) {
      const [bx, by] = at(angle);
      this.path += `A${r} ${r} 0 ${steps.length === 1 && turn > Math.PI ? 1 : 0} ${sweep} ${n(bx)} ${n(by)}`;
    }
  }
  rect(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }
  closePath(): void {
    this.path += 'Z';
  }
  fill(): void {
    if (this.path) this.parts.push(`<path d="${this.path}" fill="${escape(this.now.fillStyle)}"${this.alpha()}/>`);
  }
  stroke(): void {
    if (this.path) this.parts.push(`<path d="${this.path}"${this.line()}${this.alpha()}/>`);
  }
  clip(): void {
    const id = `clip${++this.paths}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    ++this.now.clips;
  }
  fillText(text: string, x: number, y: number): void {
    const size = Number(/([\d.]+)px/.exec(this.now.font)?.[1] ?? 10);
    const family = /px(?:\/\S+)?\s+(.*)$/.exec(this.now.font)?.[1] ?? 'sans-serif';
    const weight = /(?:^|\s)(bold|[1-9]00)\s/.exec(this.now.font)?.[1];
    const anchor = this.now.textAlign === 'center' ? 'middle' : this.now.textAlign === 'right' || this.now.textAlign === 'end' ? 'end' : 'start';
    // The baseline is moved here: programs differ in what they make of dominant-baseline.
    const down = this.now.textBaseline === 'middle' ? 0.35 : this.now.textBaseline === 'top' || this.now.textBaseline === 'hanging' ? 0.8 : this.now.textBaseline === 'bottom' ? -0.2 : 0;
    this.parts.push(
      `<text x="${n(this.px(x))}" y="${n(this.py(y) + down * size * this.now.sy)}" font-size="${n(size * this.now.sy)}" font-family="${escape(family)}"` +
        `${weight && weight !== '400' ? ` font-weight="${weight}"` : ''}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`} fill="${escape(this.now.fillStyle)}"${this.alpha()} xml:space="preserve">${escape(text)}</text>`,
    );
  }
  measureText(text: string): { width: number } {
    return { width: this.measure(text, this.now.font) };
  }
  drawImage(image: HTMLCanvasElement, sx: number, sy: number, sw: number, sh: number, dx: number, dy: number, dw: number, dh: number): void {
    if (!(sw > 0) || !(sh > 0)) return;
    const [w, h] = [Math.max(1, Math.ceil(sw)), Math.max(1, Math.ceil(sh))];
    const part = image.ownerDocument.createElement('canvas');
    part.width = w;
    part.height = h;
    part.getContext('2d')!.drawImage(image, sx, sy, sw, sh, 0, 0, w, h);
    const smooth = this.now.imageSmoothingEnabled ? '' : ' image-rendering="pixelated"';
    this.parts.push(
      `<image x="${n(this.px(dx))}" y="${n(this.py(dy))}" width="${n(dw * this.now.sx)}" height="${n(dh * this.now.sy)}" preserveAspectRatio="none"${smooth}${this.alpha()} href="${part.toDataURL('image/png')}"/>`,
    );
  }

  text(): string {
    const [w, h] = [Math.ceil(this.width), Math.ceil(this.height)];
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">\n${this.parts.filter(Boolean).join('\n')}\n</svg>\n`;
  }
}
