// SPDX-License-Identifier: BSD-3-Clause
// The findings, each with the ways to its place on every page.
import { humanSeconds } from '../pure/format';
import { formatRanks } from '../pure/ranks';
import { concerns } from '../pure/belongs';
import type { View } from '../pure/view_state';
import { chooseFinding, isPlace } from '../shell/findings';
import { rove } from '../shell/keys';
import { allPages } from '../shell/pages';
import type { Finding } from '../shell/protocol';

function ranksText(name: string, ranks: number[] | undefined): string {
  if (!ranks || ranks.length === 0) return '';
  const text = formatRanks(ranks);
  return `${name} ${text.length > 40 ? `${text.slice(0, 39)}…` : text}`;
}

function Item({ finding, view, first }: { finding: Finding; view: View; first: boolean }) {
  const chosen = view.finding === finding.id;
  const facts = [finding.seconds === null ? '' : `${humanSeconds(finding.seconds)} of waiting`, ranksText('caused by', finding.culprits), ranksText('felt by', finding.victims)].filter(Boolean);
  return (
    <article class={`finding ${finding.severity} ${chosen ? 'chosen' : concerns(finding, view) ? '' : 'dim'}`} data-finding={finding.id} aria-current={chosen ? 'true' : undefined}>
      <p>
        <span class="severity">{finding.severity}</span> {finding.summary}
      </p>
      {facts.length > 0 && <p class="faint">{facts.join(' · ')}</p>}
      {chosen && finding.advice && <p>{finding.advice}</p>}
      {chosen && (finding.symptoms ?? []).map((symptom) => <p class="faint">{symptom.text ?? symptom.kind}</p>)}
      <p class="row">
        <button class="isolate" tabIndex={first ? 0 : -1} aria-pressed={chosen} onClick={() => chooseFinding(finding)}>
          Isolate
        </button>
        {allPages()
          .filter((page) => isPlace(page.id) && page.id !== view.page)
          .map((page) => (
            <button class="plain" tabIndex={-1} onClick={() => chooseFinding(finding, page.id)}>{`on ${page.title}`}</button>
          ))}
      </p>
    </article>
  );
}

export function FindingList({ findings, view, limits }: { findings: Finding[]; view: View; limits: string[] }) {
  return (
    <div onKeyDown={(event) => (/^Arrow(Left|Right)$/.test(event.key) ? rove(event.currentTarget, '.finding button', event, true) : rove(event.currentTarget, '.isolate', event))}>
      {findings.length === 0 && <p>Nothing was found to be wrong.</p>}
      {findings.map((finding, at) => (
        <Item finding={finding} view={view} first={at === 0} />
      ))}
      {limits.length > 0 && (
        <details>
          <summary class="faint">what this rests on</summary>
          {limits.map((text) => (
            <p class="faint">{text}</p>
          ))}
        </details>
      )}
    </div>
  );
}
