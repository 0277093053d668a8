// SPDX-License-Identifier: BSD-3-Clause
// What is chosen, each with a button that takes it back, and the crumbs that lead back out of an isolation.
import { humanNs } from '../pure/format';
import { shortPlace } from '../pure/place';
import { formatRanks } from '../pure/ranks';
import { View } from '../pure/view_state';
import { store } from './store';

interface Chip {
  name: string;
  text: string;
  clear: Partial<View>;
}

function chips(view: View): Chip[] {
  const short = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
  const list: Chip[] = [];
  if (view.finding !== null) list.push({ name: 'finding', text: `finding ${view.finding + 1}`, clear: { finding: null } });
  if (view.ranks) list.push({ name: 'ranks', text: `${view.ranks.length === 1 ? 'rank' : 'ranks'} ${short(formatRanks(view.ranks))}`, clear: { ranks: null } });
  if (view.pair) list.push({ name: 'pair', text: `${view.pair[0]} → ${view.pair[1]}`, clear: { pair: null } });
  if (view.window) list.push({ name: 'window', text: `${humanNs(view.window[0])} – ${humanNs(view.window[1])} (${humanNs(view.window[1] - view.window[0])})`, clear: { window: null } });
  if (view.class !== null) list.push({ name: 'class', text: `class ${short(view.class)}`, clear: { class: null } });
  if (view.function !== null) list.push({ name: 'function', text: `function ${short(view.function)}`, clear: { function: null } });
  if (view.site !== null) list.push({ name: 'site', text: `at ${short(shortPlace(view.site))}`, clear: { site: null } });
  return list;
}

export function Chips({ view }: { view: View }) {
  const list = chips(view);
  return (
    <div class="chips" role="group" aria-label="What is chosen">
      {view.crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Isolated">
          {view.crumbs.map((crumb, at) => (
            <>
              <button class="plain" title={`back to before: ${crumb.label}`} onClick={() => store.leave(at)}>
                {at === 0 ? 'everything' : view.crumbs[at - 1]!.label}
              </button>
              <span aria-hidden="true"> › </span>
            </>
          ))}
          <span class="here" aria-current="true">{view.crumbs[view.crumbs.length - 1]!.label}</span>
        </nav>
      )}
      {list.map((chip) => (
        <span class="chip" data-chip={chip.name}>
          {chip.text}
          <button aria-label={`no longer choose ${chip.text}`} onClick={() => store.set(chip.clear)}>×</button>
        </span>
      ))}
      {list.length > 0 && (
        <button class="plain" onClick={() => store.clear()}>show everything</button>
      )}
      {list.length === 0 && <span class="faint">everything is shown: choose ranks, a pair, a window, a class, a function, a place or a finding on any page</span>}
    </div>
  );
}
