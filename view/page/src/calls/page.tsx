// SPDX-License-Identifier: BSD-3-Clause
// Call tree and sites: from where in the program MPI is called, how often, and what it costs.
import { useMemo, useState } from 'preact/hooks';
import { grouped, humanBytes, humanNs, percent } from '../pure/format';
import { litFunctions } from '../pure/belongs';
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
  ['Enter', 'choose this function'],
]);

export interface Node {
  id: number;
  name: string;
  place: string;
  kind: string;
  calls: number;
  ns: number;
  waitNs: number;
  bytes: number;
  depth: number;
  children: Node[];
}

/** The tree of the columns; what names a parent that is not there, or itself above it, is a root. */
export function treeOf(tree: CallTree['tree']): Node[] {
  const nodes = new Map<number, Node>();
  tree.id.forEach((id, at) =>
    nodes.set(id, {
      id, name: tree.name[at]!, place: tree.file[at] ? `${tree.file[at]}${tree.line[at]! > 0 ? `:${tree.line[at]}` : ''}` : '',
      kind: tree.kind[at]!, calls: tree.calls[at]!, ns: tree.ns[at]!, waitNs: tree.wait_ns[at]!, bytes: tree.bytes[at]!, depth: 0, children: [],
    }),
  );
  const roots: Node[] = [];
  tree.id.forEach((id, at) => {
    const parent = tree.parent[at]! < 0 || tree.parent[at] === id ? undefined : nodes.get(tree.parent[at]!);
    (parent ? parent.children : roots).push(nodes.get(id)!);
  });
  const sort = (list: Node[], depth: number) => {
    list.sort((a, b) => b.ns - a.ns);
    for (const node of list) {
      node.depth = depth;
      if (depth < 200) sort(node.children, depth + 1);
    }
  };
  sort(roots, 0);
  return roots;
}

type Lit = ((name: string) => boolean) | null;

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
            else if (event.key === 'Enter' || event.key === ' ') store.set({ function: view.function === node.name ? null : node.name });
            else if (rows[to]) rows[to]!.focus();
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {shown.map((node, at) => (
            <tr
              key={node.id}
              class={`can ${view.function === node.name ? 'chosen' : lit && !contains(node, lit) ? 'dim' : ''}`}
              tabIndex={at === 0 ? 0 : -1}
              aria-level={node.depth + 1}
              aria-expanded={node.children.length > 0 ? open.has(node.id) : undefined}
              aria-selected={view.function === node.name}
              onClick={() => store.set({ function: view.function === node.name ? null : node.name })}
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

function contains(node: Node, lit: (name: string) => boolean): boolean {
  return lit(node.name) || node.children.some((child) => contains(child, lit));
}

interface Site {
  name: string;
  place: string;
  calls: number;
  ns: number;
  waitNs: number;
  bytes: number;
}

/** MPI calls by function and line, however they were reached. */
export function sitesOf(roots: Node[]): Site[] {
  const sites = new Map<string, Site>();
  const walk = (node: Node) => {
    if (node.kind === 'mpi') {
      const key = `${node.name}\n${node.place}`;
      const site = sites.get(key) ?? { name: node.name, place: node.place, calls: 0, ns: 0, waitNs: 0, bytes: 0 };
      site.calls += node.calls;
      site.ns += node.ns;
      site.waitNs += node.waitNs;
      site.bytes += node.bytes;
      sites.set(key, site);
    }
    node.children.forEach(walk);
  };
  roots.forEach(walk);
  return [...sites.values()];
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
      chosen={(row) => view.function !== null && row.name === view.function}
      dim={(row) => lit !== null && !lit(row.name)}
      choose={(row) => store.set({ function: row.name === view.function ? null : row.name })}
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
    if (view.function !== null) return (name) => name === view.function;
    return functions && ((name) => functions[meta.functions!.name.indexOf(name)] ?? false);
  }, [meta, view.function, view.class]);
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
