// SPDX-License-Identifier: BSD-3-Clause
// One tip for all pages. What it says may come from a trace, so it is set as text and nothing else.

let tip: HTMLElement | null = null;

export function showTip(text: string, x: number, y: number): void {
  if (!tip) {
    tip = document.createElement('div');
    tip.className = 'tip';
    tip.setAttribute('role', 'tooltip');
    document.body.append(tip);
  }
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - box.width - 10 : x + 14;
  const top = y + 16 + box.height > innerHeight ? y - box.height - 10 : y + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
  if (tip) tip.hidden = true;
}
