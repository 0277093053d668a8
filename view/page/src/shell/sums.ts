// SPDX-License-Identifier: BSD-3-Clause
// The sums of what is chosen, and the strip of a run, read once.
import { useMemo } from 'preact/hooks';
import { readStrip, readWindow, Strip, Window } from '../pure/readings';
import { answerKey } from '../pure/answer_key';
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

function useStrip(run: number, bins: number, when: boolean, ranks?: string): Answer<Strip> {
  const parameters = { run, bins, ...(ranks ? { ranks } : {}) };
  const asked = useAnswer<Record<string, unknown>>(when ? '/api/strip' : null, parameters, (answer) => typeof answer['ready'] === 'number' && (answer['ready'] & 7) !== 7);
  // That of other ranks or another run, until this one is there.
  const is_old = asked.key !== answerKey('/api/strip', parameters);
  return useMemo(() => (asked.answer && !is_old ? { ...asked, answer: readStrip(asked.answer) } : { ...asked, answer: null }), [asked, is_old]);
}

export interface Strips {
  whole: Answer<Strip>;
  /** of the chosen ranks; null: none are chosen, or it is not there (yet) */
  theirs: Strip | null;
  /** the one to show: theirs, or that of all ranks */
  shown: Strip | null;
  /** why it is that of all ranks, though some are chosen; '': it comes */
  instead: string | null;
}

/** The strip of a run and, where ranks are chosen, theirs. */
export function useStrips(run: number, view: View, when = true): Strips {
  const { ranks } = scopeOf(view);
  const whole = useStrip(run, 512, when);
  const chosen = useStrip(run, 512, when && ranks !== undefined, ranks);
  const theirs = ranks === undefined ? null : chosen.answer;
  return { whole, theirs, shown: theirs ?? whole.answer, instead: ranks === undefined || theirs ? null : (chosen.error ?? '') };
}
