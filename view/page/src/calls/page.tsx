// SPDX-License-Identifier: BSD-3-Clause
// Call tree and sites: from where in the program MPI is called, how often, and what it costs.
import { useMemo, useState } from 'preact/hooks';
import { grouped, humanBytes, humanNs, percent } from '../pure/format';
import { litFunctions } from '../pure/belongs';
import { Node, Site, sitesOf, treeOf } from '../pure/call_tree';
import type { View } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import { describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import type { CallTree } from '../shell/protocol';
import { Sentence, Waiting } from '../shell/state_of';
import { scopeOf, store } from '../shell/store';
import { Table } from '../shell/table';

describeKeys('Calls', [
  ['ArrowUp ArrowDown', 'the line above and below'],
  ['ArrowRight ArrowLeft', 'open and close what it calls'],
  ['Enter', 'choose this function, or the place of this call'],
]);

interface Called {
  kind?: string;
  name: string;
  place: string;
}
type Lit = ((called: Called) => boolean) | null;

// A function, or the place of an MPI call in it: the place is in the state of all pages together with the function.
const isChosen = (view: View, called: Called): boolean => view.function === called.name && (view.site === null || view.site === called.place);
function choose(view: View, called: Called): void {
  const place = called.kind === 'mpi' && called.place ? called.place : null;
  const again = view.function === called.name && view.site === place;
  store.set({ function: again ? null : called.name, site: again ? null : place });
}

function Tree({ roots, view, lit }: { roots: Node[]; view: PageProperties['view']; lit: Lit }) {
  const all = roots.reduce((sum, node) => sum + node.ns, 0);
  const [open, setOpen] = useState<Set<number>>(() => {
    // At first, the costliest branch is open.
    const first = new Set<number>();
    for (let node: Node | undefined = roots[0]; node; node = node.children[0]) first.add(node.id);
    return first;
  });
  const shown: Node[] = [];
  const walk = (list: Node[]) => {
    for (const node of list) {
      if (shown.length > 3000) return;
      shown.push(node);
      if (open.has(node.id)) walk(node.children);
    }
  };
  walk(roots);
  const toggle = (id: number, wanted?: boolean) => {
    const next = new Set(open);
    if (wanted ?? !next.has(id)) next.add(id);
    else next.delete(id);
    setOpen(next);
  };
  return (
    <div class="table tall">
      <table role="treegrid" aria-label="Call tree">
        <thead>
          <tr>
            <th scope="col">called from</th>
            <th scope="col" class="number">calls</th>
            <th scope="col" class="number">time in MPI</th>
            <th scope="col" class="number">share</th>
            <th scope="col" class="number">waiting</th>
            <th scope="col" class="number">bytes</th>
          </tr>
        </thead>
        <tbody
          onKeyDown={(event) => {
            const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('tr')];
            const at = rows.indexOf(document.activeElement as HTMLElement);
            const node = shown[at];
            if (!node) return;
            const to = event.key === 'ArrowUp' ? at - 1 : event.key === 'ArrowDown' ? at + 1 : event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : -1;
            if (event.key === 'ArrowRight') toggle(node.id, true);
            else if (event.key === 'ArrowLeft') toggle(node.id, false);
            else if (event.key === 'Enter' || event.key === ' ') choose(view, node);
            else if (rows[to]) rows[to]!.focus();
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {shown.map((node, at) => (
            <tr
              key={node.id}
              class={`can ${isChosen(view, node) ? 'chosen' : lit && !contains(node, lit) ? 'dim' : ''}`}
              tabIndex={at === 0 ? 0 : -1}
              aria-level={node.depth + 1}
              aria-expanded={node.children.length > 0 ? open.has(node.id) : undefined}
              aria-selected={isChosen(view, node)}
              onClick={() => choose(view, node)}
            >
              <td ref={(cell) => void (cell && (cell.style.paddingLeft = `${node.depth * 1.1}rem`))}>
                {node.children.length > 0 ? (
                  <button class="plain twist" tabIndex={-1} aria-label={open.has(node.id) ? 'close' : 'open'} onClick={(event) => (event.stopPropagation(), toggle(node.id))}>
                    {open.has(node.id) ? '▾' : '▸'}
                  </button>
                ) : (
                  <span class="twist" />
                )}
                {node.name} <span class="faint">{node.place}</span>
              </td>
              <td class="number">{grouped(node.calls)}</td>
              <td class="number">{humanNs(node.ns)}</td>
              <td class="number">{percent(node.ns, all)}</td>
              <td class="number">{humanNs(node.waitNs)}</td>
              <td class="number">{humanBytes(node.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function contains(node: Node, lit: (called: Called) => boolean): boolean {
  return lit(node) || node.children.some((child) => contains(child, lit));
}

function Sites({ roots, view, lit }: { roots: Node[]; view: PageProperties['view']; lit: Lit }) {
  const rows = useMemo(() => sitesOf(roots), [roots]);
  if (rows.length === 0) return <Sentence>It is not known where in the program these calls were made.</Sentence>;
  const all = rows.reduce((sum, row) => sum + row.ns, 0);
  return (
    <Table<Site>
      label="Places where MPI is called"
      rows={rows}
      most={40}
      sorted={3}
      chosen={(row) => isChosen(view, row)}
      dim={(row) => lit !== null && !lit(row)}
      choose={(row) => choose(view, row)}
      columns={[
        { title: 'function', show: (row) => row.name, by: (row) => row.name },
        { title: 'place', show: (row) => row.place, by: (row) => row.place },
        { title: 'calls', show: (row) => grouped(row.calls), by: (row) => row.calls, number: true },
        { title: 'time', show: (row) => humanNs(row.ns), by: (row) => row.ns, number: true },
        { title: 'share', show: (row) => percent(row.ns, all), number: true },
        { title: 'waiting', show: (row) => humanNs(row.waitNs), by: (row) => row.waitNs, number: true },
        { title: 'bytes', show: (row) => humanBytes(row.bytes), by: (row) => row.bytes, number: true },
      ]}
    />
  );
}

function Calls({ view, meta }: PageProperties) {
  const answer = useAnswer<CallTree>('/api/calls', { run: meta.run, ...scopeOf(view) });
  const roots = useMemo(() => (answer.answer?.tree ? treeOf(answer.answer.tree) : []), [answer.answer]);
  const functions = litFunctions(meta.functions, view);
  const lit = useMemo<Lit>(() => {
    if (view.function !== null || view.site !== null) return ({ name, place }) => (view.function === null || name === view.function) && (view.site === null || place === view.site);
    return functions && (({ name }) => functions[meta.functions!.name.indexOf(name)] ?? false);
  }, [meta, view.function, view.site, view.class]);
  if (!answer.answer) return <Waiting of={answer} what="the calls" />;
  return (
    <div class="cards two">
      <section class="card wide" aria-label="Call tree">
        <h2>Call tree</h2>
        {answer.answer.whole_run && view.window && <p class="faint">Of the whole run: its profile does not say when calls were made.</p>}
        {roots.length > 0 ? <Tree key={`${meta.run}`} roots={roots} view={view} lit={lit} /> : <Sentence>No calls are known in what is chosen.</Sentence>}
      </section>
      <section class="card wide" aria-label="Sites">
        <h2>Sites</h2>
        <Sites roots={roots} view={view} lit={lit} />
      </section>
    </div>
  );
}

addPage({ id: 'calls', title: 'Calls', order: 40, render: (properties) => <Calls {...properties} /> });
