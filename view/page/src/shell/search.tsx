// SPDX-License-Identifier: BSD-3-Clause
// One box that finds ranks, hosts, functions, places, classes, findings and pages by name.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatRanks, parseRanks } from '../pure/ranks';
import { Site, sitesOf, treeOf } from '../pure/call_tree';
import { useAnswer } from './ask';
import type { CallTree, Finding, Meta } from './protocol';
import { chooseFinding, useFindings } from './findings';
import { rove } from './keys';
import { allPages } from './pages';
import { store } from './store';

interface Hit {
  kind: string;
  text: string;
  run: () => void;
}

/** Everything that `text` may mean, at most 40 of them. */
export function hits(text: string, meta: Meta, findings: Finding[], sites: Site[]): Hit[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return allPages().map((page) => ({ kind: 'page', text: page.title, run: () => store.set({ page: page.id }) }));
  const list: Hit[] = [];
  const ranks = parseRanks(wanted.replace(/^ranks?\s*/, ''));
  if (ranks && ranks[ranks.length - 1]! < Math.max(meta.ranks, 1)) list.push({ kind: 'ranks', text: formatRanks(ranks), run: () => store.set({ ranks, pair: null }) });
  const pair = /^(\d{1,7})\s*(?:->|→|to)\s*(\d{1,7})$/.exec(wanted);
  if (pair) list.push({ kind: 'pair', text: `${pair[1]} → ${pair[2]}`, run: () => store.set({ pair: [Number(pair[1]), Number(pair[2])] }) });
  const has = (name: string) => name.toLowerCase().includes(wanted);
  for (const name of meta.functions?.name ?? []) if (has(name)) list.push({ kind: 'function', text: name, run: () => store.set({ function: name }) });
  for (const { name, place } of sites) if (place && (has(place) || has(name))) list.push({ kind: 'place', text: `${name} at ${place}`, run: () => store.set({ function: name, site: place }) });
  for (const name of meta.classes?.name ?? []) if (has(name)) list.push({ kind: 'class', text: name, run: () => store.set({ class: name }) });
  meta.hosts.forEach((name, host) => {
    if (has(name))
      list.push({
        kind: 'host',
        text: name,
        run: () => store.set({ ranks: meta.processes.rank.filter((_, at) => meta.processes.host[at] === host).sort((a, b) => a - b), pair: null }),
      });
  });
  for (const finding of findings) if (has(finding.summary) || has(finding.kind)) list.push({ kind: 'finding', text: finding.summary, run: () => chooseFinding(finding) });
  for (const page of allPages()) if (has(page.title)) list.push({ kind: 'page', text: page.title, run: () => store.set({ page: page.id }) });
  return list.slice(0, 40);
}

export function Search({ meta, close }: { meta: Meta; close: () => void }) {
  const [text, set] = useState('');
  const box = useRef<HTMLInputElement>(null);
  const { answer } = useFindings(meta.run);
  useEffect(() => box.current?.focus(), []);
  const calls = useAnswer<CallTree>('/api/calls', { run: meta.run });
  const sites = useMemo(() => (calls.answer?.tree ? sitesOf(treeOf(calls.answer.tree)) : []), [calls.answer]);
  const found = hits(text, meta, answer?.findings ?? [], sites);
  const take = (hit: Hit) => {
    close();
    hit.run();
  };
  return (
    <div
      class="over"
      role="dialog"
      aria-modal="true"
      aria-label="Search"
      onClick={(event) => event.target === event.currentTarget && close()}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
        event.stopPropagation();
        if ((event.target as Element).closest('ul')) rove(event.currentTarget.querySelector('ul')!, 'button', event);
        else if (event.key === 'ArrowDown') {
          event.preventDefault();
          event.currentTarget.querySelector<HTMLElement>('ul button')?.focus();
        } else if (event.key === 'Enter' && found[0]) take(found[0]);
      }}
    >
      <div class="palette">
        <input ref={box} type="search" value={text} aria-label="Search ranks, pairs, hosts, functions, places, classes, findings and pages" placeholder="0-3 · 3 -> 4 · MPI_Recv · heat.c:47 · host · finding · page" onInput={(event) => set(event.currentTarget.value)} />
        <ul>
          {found.map((hit, at) => (
            <li>
              <button class="plain" tabIndex={at === 0 ? 0 : -1} onClick={() => take(hit)}>
                <span class="kind">{hit.kind}</span> {hit.text}
              </button>
            </li>
          ))}
          {found.length === 0 && <li class="faint">nothing of that name</li>}
        </ul>
      </div>
    </div>
  );
}
