// SPDX-License-Identifier: BSD-3-Clause
// What a reader has chosen, the same for all pages, and its text in the URL:
//   #/timeline?ranks=0-3,7&pair=3-4&window=1000-2000&class=MPI_Allreduce&function=MPI_Recv&site=heat.c:47&finding=2&crumb=…
// Whatever a page alone keeps (zoom, order of a table) is an option "page.name", so that a link restores it too.
import { formatRanks, parseRanks } from './ranks';

export interface Crumb {
  /** what was isolated */
  label: string;
  /** the choice before, as query text */
  query: string;
}

export interface Choice {
  /** world ranks, ascending; null: all */
  ranks: number[] | null;
  /** sender and receiver */
  pair: [number, number] | null;
  /** ns of the trace, the end exclusive */
  window: [number, number] | null;
  /** 'start': the window of a job that runs, which has no trace yet; it counts from the job's own start (settled) */
  since: 'start' | null;
  /** of traffic */
  class: string | null;
  /** MPI function or function of the program */
  function: string | null;
  /** place in the program at which MPI is called, as place.ts writes it */
  site: string | null;
  /** id of /api/findings */
  finding: number | null;
}

export interface View extends Choice {
  page: string;
  /** position in /api/runs */
  run: number;
  crumbs: Crumb[];
  options: Record<string, string>;
}

export const noChoice: Choice = { ranks: null, pair: null, window: null, since: null, class: null, function: null, site: null, finding: null };

export const startView: View = { ...noChoice, page: 'overview', run: 0, crumbs: [], options: {} };

const number = (text: string | null): number | null => (text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null);

function two(text: string | null): [number, number] | null {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

function choiceParameters(choice: Choice, into: URLSearchParams): void {
  if (choice.ranks) into.set('ranks', formatRanks(choice.ranks));
  if (choice.pair) into.set('pair', choice.pair.join('-'));
  if (choice.window) into.set('window', choice.window.map(Math.round).join('-'));
  if (choice.window && choice.since) into.set('since', choice.since);
  if (choice.class !== null) into.set('class', choice.class);
  if (choice.function !== null) into.set('function', choice.function);
  if (choice.site !== null) into.set('site', choice.site);
  if (choice.finding !== null) into.set('finding', String(choice.finding));
}

// What is not understood is left out: a link from elsewhere must not break a page.
function choiceFrom(query: URLSearchParams): Choice {
  const window = two(query.get('window'));
  const good = window && window[1] > window[0] ? window : null;
  const ranks = query.get('ranks');
  return {
    ranks: ranks === null ? null : parseRanks(ranks),
    pair: two(query.get('pair')),
    window: good,
    since: good && query.get('since') === 'start' ? 'start' : null,
    class: query.get('class'),
    function: query.get('function'),
    site: query.get('site'),
    finding: number(query.get('finding')),
  };
}

/** The choice alone, as query text. */
export function choiceText(choice: Choice): string {
  const query = new URLSearchParams();
  choiceParameters(choice, query);
  return query.toString();
}

export function parseChoice(text: string): Choice {
  return choiceFrom(new URLSearchParams(text));
}

/** What stands after the '#'. */
export function viewText(view: View): string {
  const query = new URLSearchParams();
  if (view.run !== 0) query.set('run', String(view.run));
  choiceParameters(view, query);
  for (const name of Object.keys(view.options).sort()) query.set(name, view.options[name]!);
  for (const crumb of view.crumbs) query.append('crumb', JSON.stringify([crumb.label, crumb.query]));
  const text = query.toString();
  return `/${view.page}${text && '?'}${text}`;
}

function crumbFrom(text: string): Crumb[] {
  try {
    const parts: unknown = JSON.parse(text);
    if (!Array.isArray(parts) || typeof parts[0] !== 'string' || typeof parts[1] !== 'string') return [];
    return [{ label: parts[0], query: parts[1] }];
  } catch {
    return [];
  }
}

export function parseView(hash: string): View {
  const [path = '', text = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  const options: Record<string, string> = {};
  for (const [name, value] of query) if (/^[a-z]+\.[a-z]+$/.test(name)) options[name] = value;
  return {
    ...choiceFrom(query),
    page: /^\/([a-z]+)$/.exec(path)?.[1] ?? 'overview',
    run: number(query.get('run')) ?? 0,
    crumbs: query.getAll('crumb').slice(-8).flatMap(crumbFrom),
    options,
  };
}

/** The ranks that the choice is about: those chosen, and the two of a pair; null: all. */
export function ranksOf(choice: Choice): Set<number> | null {
  if (choice.pair) return new Set(choice.pair);
  return choice.ranks && new Set(choice.ranks);
}

/** The moment of the trace from which a window counts that was chosen while the job ran; null: there is no trace. */
export const startIn = (meta: { started_ns?: number; program?: { from_ns: number } }): number | null => meta.started_ns ?? meta.program?.from_ns ?? null;

/** The view once there is a trace: a window that was chosen while the job ran is now one of the trace. */
export function settled(view: View, start: number | null): View {
  if (!view.window || view.since === null || start === null) return view;
  return { ...view, window: [view.window[0] + start, view.window[1] + start], since: null };
}

export const isEmpty = (choice: Choice): boolean => choiceText(choice) === '';

/** `choice` becomes what is chosen; the choice before becomes a crumb that leads back. */
export function isolate(view: View, label: string, choice: Partial<Choice>): View {
  const crumbs = [...view.crumbs, { label, query: choiceText(view) }].slice(-8);
  return { ...view, ...noChoice, ...choice, crumbs };
}

/** Back to before the crumb at `at` was chosen. */
export function leaveCrumb(view: View, at: number): View {
  const crumb = view.crumbs[at];
  if (!crumb) return view;
  return { ...view, ...parseChoice(crumb.query), crumbs: view.crumbs.slice(0, at) };
}
