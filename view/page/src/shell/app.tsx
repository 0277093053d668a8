// SPDX-License-Identifier: BSD-3-Clause
// The frame around the pages: tabs, runs, what is chosen, search, pictures, help.
import { Component, ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { answerKey } from '../pure/answer_key';
import { settled, startIn } from '../pure/view_state';
import { isFile, useAnswer } from './ask';
import { Chips } from './chips';
import { FindingBar } from './finding_bar';
import { Help } from './help';
import { addKeys, describeKeys, rove } from './keys';
import { allPages } from './pages';
import { savePng, saveSvg } from './picture';
import type { Meta, Run } from './protocol';
import { Search } from './search';
import { Sentence, Waiting } from './state_of';
import { store, useView } from './store';
import { toggleTheme } from './theme';

describeKeys('Everywhere', [
  ['1 2 3', 'go to the page with this number, 1 to 9'],
  ['/ Ctrl+k', 'search ranks, hosts, functions, places, findings, pages'],
  ['Escape', 'close what is open; else show everything again'],
  ['Backspace', 'out of the last isolation'],
  ['t', 'light or dark'],
  ['Shift+P', 'save this page as PNG'],
  ['Shift+S', 'save this page as SVG'],
  ['? h', 'this list'],
]);

// A page that fails must not take the others with it.
class Guard extends Component<{ page: string; children: ComponentChildren }, { error: string | null }> {
  override state = { error: null };
  override componentDidCatch(error: unknown): void {
    this.setState({ error: String(error) });
  }
  override componentDidUpdate(before: { page: string }): void {
    if (before.page !== this.props.page) this.setState({ error: null });
  }
  override render() {
    return this.state.error ? <Sentence>{`This page cannot be drawn: ${this.state.error}. The other pages still can.`}</Sentence> : this.props.children;
  }
}

function problems(meta: Meta): string | null {
  const cut = (meta.processes.complete ?? []).map((complete, at) => (complete ? -1 : meta.processes.rank[at]!)).filter((rank) => rank >= 0);
  if (cut.length === 0) return null;
  return `The trace of ${cut.length === 1 ? `rank ${cut[0]}` : `${cut.length} ranks (${cut.slice(0, 8).join(', ')}${cut.length > 8 ? ', …' : ''})`} is incomplete: what is missing cannot be shown.`;
}

// What is known of a running job before its profile is written: the page Live needs no more.
function runningMeta(run: Run): Meta {
  return {
    run: run.run, name: run.name, path: run.path, application: run.application, seconds: 0, ranks: run.ranks, hosts: [],
    processes: { rank: [], host: [], pid: [] }, has_trace: false, has_profile: false, timeline: null,
  };
}

function Page({ meta, runs, main }: { meta: Meta; runs: Run[]; main: { current: HTMLElement | null } }) {
  const chosen = useView();
  const view = useMemo(() => settled(chosen, startIn(meta)), [chosen, meta]);
  useEffect(() => store.reword(settled(store.get(), startIn(meta))), [view]);
  const page = allPages().find((p) => p.id === view.page) ?? allPages()[0];
  const run = runs.find((r) => r.run === meta.run);
  const notes = [run?.sentence, problems(meta)].filter((text): text is string => !!text);
  if (!page) return <Sentence>There are no pages.</Sentence>;
  const cannot = page.cannot?.(meta, runs) ?? null;
  return (
    <main id="page" ref={main} tabIndex={-1} aria-label={page.title} data-page={page.id}>
      {notes.map((text) => (
        <Sentence>{text}</Sentence>
      ))}
      {cannot ? <Sentence>{cannot}</Sentence> : <Guard page={page.id}>{page.render({ view, meta, runs })}</Guard>}
    </main>
  );
}

function Frame({ runs }: { runs: Run[] }) {
  const view = useView();
  const [open, setOpen] = useState<'help' | 'search' | null>(null);
  const before = useRef<Element | null>(null);
  const show = (what: 'help' | 'search') => {
    before.current ??= document.activeElement;
    setOpen(what);
  };
  const main = useRef<HTMLElement>(null);
  const meta = useAnswer<Meta>('/api/meta', { run: view.run }, (answer) => !!answer.timeline && !answer.timeline.problem && !['functions', 'waits', 'path'].every((plane) => answer.timeline!.ready.includes(plane)));
  const here = runs.find((r) => r.run === view.run);
  const current = useMemo(
    () => (meta.answer && meta.key === answerKey('/api/meta', { run: view.run }) ? { ...meta.answer, run: view.run } : null),
    [meta.answer, meta.key, view.run],
  );
  const name = `fathom-${(current?.name ?? 'run').replace(/[^\w.-]+/g, '_')}-${view.page}`;
  const png = () => main.current && void savePng(main.current, name);
  const svg = () => main.current && void saveSvg(main.current, name);

  useEffect(() => {
    const title = allPages().find((p) => p.id === view.page)?.title;
    document.title = `${title ? `${title} · ` : ''}${current?.name ?? 'Fathom'}`;
  });
  // While something lies over the page, Tab stays in it; then the focus goes back to where it was.
  useEffect(() => {
    if (!open) return;
    const below = [...document.querySelectorAll<HTMLElement>('header, .chips, .bar, main')];
    for (const node of below) node.inert = true;
    return () => {
      for (const node of below) node.inert = false;
      if (before.current instanceof HTMLElement && before.current !== document.body) before.current.focus();
      before.current = null;
    };
  }, [open]);
  useEffect(
    () =>
      addKeys('Everywhere', [
        { keys: '1 2 3 4 5 6 7 8 9', does: '', run: (event) => {
          const page = allPages()[Number(event.key) - 1];
          if (page) store.set({ page: page.id });
        } },
        { keys: '/ Ctrl+k', does: '', run: () => show('search') },
        { keys: 'Escape', does: '', run: () => (document.querySelector('.over') ? setOpen(null) : store.clear()) },
        { keys: 'Backspace', does: '', run: () => store.leave(store.get().crumbs.length - 1) },
        { keys: '[ ]', does: '', run: (event) => document.querySelector<HTMLElement>(event.key === '[' ? '[data-bar] [title="key ["]' : '[data-bar] [title="key ]"]')?.click() },
        { keys: 't', does: '', run: toggleTheme },
        { keys: 'Shift+P', does: '', run: () => main.current && void savePng(main.current, name) },
        { keys: 'Shift+S', does: '', run: () => main.current && void saveSvg(main.current, name) },
        { keys: '? Shift+? h', does: '', run: () => show('help') },
      ]),
    [name],
  );

  return (
    <>
      <header>
        <a class="skip" href="#page" onClick={(event) => (event.preventDefault(), main.current?.focus())}>to the page</a>
        <strong class="brand">Fathom</strong>
        {runs.length > 1 ? (
          <select aria-label="Run" value={String(view.run)} onChange={(event) => store.set({ run: Number(event.currentTarget.value), finding: null })}>
            {runs.map((run) => (
              <option value={String(run.run)}>{run.name}</option>
            ))}
          </select>
        ) : (
          <span class="name">{here?.name ?? ''}</span>
        )}
        <nav aria-label="Pages" onKeyDown={(event) => rove(event.currentTarget, 'a', event, true)}>
          {allPages().map((page, at) => (
            <a
              href={`#/${page.id}`}
              tabIndex={page.id === view.page ? 0 : -1}
              aria-current={page.id === view.page ? 'page' : undefined}
              title={at < 9 ? `key ${at + 1}` : undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                store.set({ page: page.id });
              }}
            >
              {page.title}
            </a>
          ))}
        </nav>
        <span class="tools">
          <button onClick={() => show('search')} title="key /">Search</button>
          <button onClick={png} title="save this page as PNG, key Shift + P">PNG</button>
          <button onClick={svg} title="save this page as SVG, key Shift + S">SVG</button>
          <button onClick={toggleTheme} title="key t" aria-label="light or dark">◐</button>
          <button onClick={() => show('help')} title="key ?" aria-label="keys">?</button>
        </span>
      </header>
      <Chips view={view} />
      {current && view.finding !== null && <FindingBar meta={current} view={view} />}
      {here?.error && here.live && view.page === 'live' ? (
        <Page meta={runningMeta(here)} runs={runs} main={main} />
      ) : here?.error ? (
        <Sentence>
          {here.error}
          {here.live && (
            <>
              {' '}
              <button onClick={() => store.set({ page: 'live' })}>Look at it live</button>
            </>
          )}
        </Sentence>
      ) : !here ? (
        <Sentence>{runs.length === 0 ? 'No run was named: fathom view RUN.' : `There is no run ${view.run + 1}: ${runs.length} ${runs.length === 1 ? 'was' : 'were'} named.`}</Sentence>
      ) : current ? (
        <Page meta={current} runs={runs} main={main} />
      ) : (
        <Waiting of={meta} what="the run" />
      )}
      {open === 'help' && <Help close={() => setOpen(null)} />}
      {open === 'search' && current && <Search meta={current} close={() => setOpen(null)} />}
      {isFile && <footer class="faint">A picture of the run in one file; "fathom view RUN" shows all of it.</footer>}
    </>
  );
}

export function App() {
  const runs = useAnswer<{ runs: Run[] }>('/api/runs');
  if (!runs.answer) return <Waiting of={runs} what="the server" />;
  return <Frame runs={runs.answer.runs} />;
}
