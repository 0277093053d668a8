// SPDX-License-Identifier: BSD-3-Clause
// The call tree of an answer (docs/view-protocol.md) as a tree, and the places in it at which MPI is called.
import { placeText } from './place';

/** Columns; a tree's root names a parent below 0. */
interface Columns {
  id: number[];
  parent: number[];
  name: string[];
  file: string[];
  line: number[];
  kind: string[];
  calls: number[];
  ns: number[];
  wait_ns: number[];
  bytes: number[];
}

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
export function treeOf(tree: Columns): Node[] {
  const nodes = new Map<number, Node>();
  tree.id.forEach((id, at) =>
    nodes.set(id, {
      id, name: tree.name[at]!, place: placeText(tree.file[at]!, tree.line[at]!),
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

export interface Site {
  kind: 'mpi';
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
      const site = sites.get(key) ?? { kind: 'mpi' as const, name: node.name, place: node.place, calls: 0, ns: 0, waitNs: 0, bytes: 0 };
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
