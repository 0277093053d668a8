// SPDX-License-Identifier: BSD-3-Clause
// The sums of what is chosen, and the strip of a run, read once.
import { useMemo } from 'preact/hooks';
import { readStrip, readWindow, Strip, Window } from '../pure/readings';
import { ranksOf, View } from '../pure/view_state';
import { Answer, useAnswer } from './ask';
import type { Meta } from './protocol';
import { scopeOf } from './store';

/** The sums of the chosen window and ranks; `when` false: nothing is asked. */
export function useWindow(meta: Meta, view: View, when: boolean): Answer<Window> {
  const asked = useAnswer<Record<string, unknown>>(when ? '/api/window' : null, { run: meta.run, ...scopeOf(view) });
  return useMemo(() => {
    if (!asked.answer) return { ...asked, answer: null };
    const groups = new Map((meta.functions?.name ?? []).map((name, at) => [name, meta.functions!.group[at]!]));
    const end = meta.span?.to_ns ?? meta.seconds * 1e9;
    return { ...asked, answer: readWindow(asked.answer, end, (name) => groups.get(name) ?? '', ranksOf(view)) };
  }, [asked, meta]);
}

/** `ranks`: of these alone, as a scope spells them; undefined: of all. */
export function useStrip(run: number, bins: number, when = true, ranks?: string): Answer<Strip> {
  const asked = useAnswer<Record<string, unknown>>(when ? '/api/strip' : null, { run, bins, ...(ranks ? { ranks } : {}) }, (answer) => typeof answer['ready'] === 'number' && (answer['ready'] & 7) !== 7);
  return useMemo(() => (asked.answer ? { ...asked, answer: readStrip(asked.answer) } : { ...asked, answer: null }), [asked]);
}
