// SPDX-License-Identifier: BSD-3-Clause
// The one state of all pages. It lives in the URL: every change is written there, and what the URL says is
// what the pages show, so back, forward and links need nothing else.
import { useEffect, useState } from 'preact/hooks';
import { Choice, isolate, leaveCrumb, noChoice, parseView, View, viewText } from '../pure/view_state';

type Listener = (view: View) => void;

let current: View = parseView(location.hash);
const listeners = new Set<Listener>();
let lastGesture = 0;

function tell(): void {
  for (const listener of [...listeners]) listener(current);
}

// A push for each step of the wheel would make "back" useless: changes within a second are one step.
function write(next: View, gesture: boolean): void {
  // A place belongs to its function.
  if (next.function !== current.function && next.site === current.site) next = { ...next, site: null };
  if (viewText(next) === viewText(current)) return;
  const text = `#${viewText(next)}`;
  const now = performance.now();
  const replace = gesture && now - lastGesture < 1000;
  if (gesture) lastGesture = now;
  else lastGesture = 0;
  try {
    if (replace) history.replaceState(null, '', text);
    else history.pushState(null, '', text);
  } catch {
    // Browsers refuse more than some hundred changes a minute; the state goes on without the URL then.
  }
  current = next;
  tell();
}

function reread(): void {
  current = parseView(location.hash);
  lastGesture = 0;
  tell();
}
addEventListener('popstate', reread);
addEventListener('hashchange', () => {
  if (location.hash !== `#${viewText(current)}`) reread();
});

export const store = {
  get: (): View => current,
  /** Changes some of it. `gesture`: one of many small changes, such as a step of the wheel. */
  set: (patch: Partial<View>, gesture = false): void => write({ ...current, ...patch }, gesture),
  option: (name: string, value: string | null, gesture = false): void => {
    const options = { ...current.options };
    if (value === null || value === '') delete options[name];
    else options[name] = value;
    write({ ...current, options }, gesture);
  },
  isolate: (label: string, choice: Partial<Choice>, page?: string): void =>
    write({ ...isolate(current, label, choice), page: page ?? current.page }, false),
  /** The same in other words: no step for "back". */
  reword: (next: View): void => {
    if (viewText(next) === viewText(current)) return;
    history.replaceState(null, '', `#${viewText(next)}`);
    current = next;
    tell();
  },
  leave: (at: number): void => write(leaveCrumb(current, at), false),
  clear: (): void => write({ ...current, ...noChoice, crumbs: [] }, false),
  subscribe: (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** The state, and a new rendering after each change of it. */
export function useView(): View {
  const [view, set] = useState(current);
  useEffect(() => {
    set(current);
    return store.subscribe(set);
  }, []);
  return view;
}

/** The scope that `choice` means for the server: /api/…?from&to&ranks&classes. */
export function scopeOf(view: View): { from?: number; to?: number; ranks?: string; classes?: string } {
  const text = new URLSearchParams(viewText({ ...view, options: {}, crumbs: [] }).split('?')[1] ?? '');
  const ranks = view.pair ? [...new Set(view.pair)].sort((a, b) => a - b).join(',') : text.get('ranks');
  return {
    ...(view.window ? { from: Math.round(view.window[0]), to: Math.round(view.window[1]) } : {}),
    ...(ranks ? { ranks } : {}),
    ...(view.class !== null ? { classes: view.class } : {}),
  };
}
