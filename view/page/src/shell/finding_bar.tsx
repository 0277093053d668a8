// SPDX-License-Identifier: BSD-3-Clause
// The chosen finding, on every page: what it says, where else it is, and the findings before and after it.
import type { View } from '../pure/view_state';
import { choiceOf, isPlace, useFindings } from './findings';
import { describeKeys } from './keys';
import { allPages } from './pages';
import type { Meta } from './protocol';
import { store } from './store';

describeKeys('With a finding', [['[ ]', 'the finding before and after']]);

export function stepFinding(count: number, by: number): number | null {
  const now = store.get().finding;
  return now === null || count === 0 ? null : (now + by + count) % count;
}

export function FindingBar({ meta, view }: { meta: Meta; view: View }) {
  const { answer } = useFindings(meta.run);
  const findings = answer?.findings ?? [];
  const finding = findings.find((one) => one.id === view.finding);
  if (!answer) return null;
  if (!finding) return <p class="bar">{`This run has no finding ${view.finding! + 1}.`}</p>;
  const choose = (id: number) => {
    const next = findings[id];
    // Not one crumb more for each step: crumbs lead back to before the first.
    if (next) store.set({ pair: null, ranks: null, window: null, class: null, function: null, site: null, ...choiceOf(next) });
  };
  return (
    <section class={`bar finding ${finding.severity}`} aria-label="The chosen finding" data-bar={finding.id}>
      <span class="severity">{finding.severity}</span> <span class="summary">{finding.summary}</span>
      <span class="row">
        <button title="key [" aria-label="the finding before" onClick={() => choose(stepFinding(findings.length, -1) ?? 0)}>‹</button>
        <span class="faint">{`${finding.id + 1} of ${findings.length}`}</span>
        <button title="key ]" aria-label="the next finding" onClick={() => choose(stepFinding(findings.length, 1) ?? 0)}>›</button>
        {allPages()
          .filter((page) => isPlace(page.id) && page.id !== view.page)
          .map((page) => (
            <button class="plain" onClick={() => store.set({ page: page.id })}>{`on ${page.title}`}</button>
          ))}
      </span>
    </section>
  );
}
