// SPDX-License-Identifier: BSD-3-Clause
// Where a finding is on the pages: the ranks, pair, window, class and function that it is about.
import { placeText } from '../pure/place';
import type { Choice } from '../pure/view_state';
import { useMemo } from 'preact/hooks';
import { Answer, useAnswer } from './ask';
import type { Finding } from './protocol';
import { store } from './store';

/** What choosing a finding chooses. */
export function choiceOf(finding: Finding): Partial<Choice> {
  const ranks = [...new Set([...(finding.culprits ?? []), ...(finding.victims ?? [])])].sort((a, b) => a - b);
  const pair = finding.pairs?.length === 1 && finding.pairs[0] ? finding.pairs[0] : null;
  const windows = finding.windows ?? [];
  const from = Math.min(...windows.map((w) => w.from_s));
  const to = Math.max(...windows.map((w) => w.to_s));
  const where = finding.where?.function ? finding.where : finding.symptoms?.[0]?.where;
  return {
    finding: finding.id,
    ranks: ranks.length > 0 ? ranks : null,
    pair: pair ? [pair.source, pair.destination] : null,
    window: windows.length > 0 && to > from ? [Math.floor(from * 1e9), Math.ceil(to * 1e9)] : null,
    class: finding.where?.class ?? null,
    function: where?.function ?? null,
    site: where?.function && where.file ? placeText(where.file, where.line ?? 0) : null,
  };
}

const places = ['overview', 'timeline', 'matrix', 'calls', 'machine', 'network'];

/** The pages on which findings have a place. */
export const isPlace = (page: string): boolean => places.includes(page);

export const labelOf = (finding: Finding): string => `${finding.kind}${finding.culprits?.length ? ` of rank ${finding.culprits.slice(0, 3).join(', ')}${finding.culprits.length > 3 ? ' …' : ''}` : ''}`;

export function chooseFinding(finding: Finding, page?: string): void {
  store.isolate(labelOf(finding), choiceOf(finding), page);
}

export interface FindingsAnswer {
  findings: Finding[];
  limits?: string[];
  warnings?: string[];
}

/** The findings of a whole run, each with its position as its id. */
export function useFindings(run: number): Answer<FindingsAnswer> {
  const asked = useAnswer<FindingsAnswer>('/api/findings', { run });
  return useMemo(
    () => (asked.answer ? { ...asked, answer: { ...asked.answer, findings: asked.answer.findings.map((finding, id) => ({ ...finding, id })) } } : asked),
    [asked],
  );
}
