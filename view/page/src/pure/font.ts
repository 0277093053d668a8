// SPDX-License-Identifier: BSD-3-Clause
// Fonts of what is drawn. On very wide screens text grows with that around it (style.css), or nobody could read it.

export const fontFamily = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

const wide = typeof matchMedia === 'function' ? matchMedia('(min-width: 2400px)') : null;

/** How much larger text is than the sizes that are named, 1 or more. */
export const textScale = (): number => (wide?.matches ? 18 / 14 : 1);

export const font = (size: number, weight = 400): string => `${weight} ${Math.round(size * textScale())}px ${fontFamily}`;
