// SPDX-License-Identifier: BSD-3-Clause
// Light or dark: what the system prefers, unless the reader chose one.
import { useEffect, useState } from 'preact/hooks';
import { dark, light, Palette } from '../pure/colour';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function saved(): string | null {
  try {
    return localStorage.getItem('fathom.theme');
  } catch {
    return null; // a page from a file may have no storage
  }
}
let chosen = saved();

const isDark = () => (chosen ? chosen === 'dark' : system.matches);

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of [...listeners]) listener();
}
system.addEventListener('change', apply);
apply();

export const palette = (): Palette => (isDark() ? dark : light);

export function toggleTheme(): void {
  chosen = isDark() ? 'light' : 'dark';
  try {
    localStorage.setItem('fathom.theme', chosen);
  } catch {
    // kept for this page only
  }
  apply();
}

/** The colours to draw with, and a new rendering when they change. */
export function usePalette(): Palette {
  const [now, set] = useState(palette());
  useEffect(() => {
    const listener = () => set(palette());
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return now;
}
