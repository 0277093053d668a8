// SPDX-License-Identifier: BSD-3-Clause
// Timeline: ranks × time, and statistics, matrix and histogram of exactly the window and ranks that are chosen.
import { useMemo, useRef, useState } from 'preact/hooks';
import { css, groupColour } from '../pure/colour';
import { grouped, percent } from '../pure/format';
import { chosenClass } from '../pure/belongs';
import { placeText } from '../pure/place';
import { startView } from '../pure/view_state';
import type { Viewport } from '../pure/viewport';
import { useAnswer } from '../shell/ask';
import { useFindings } from '../shell/findings';
import { describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import type { Messages, PathAnswer, SitesAnswer } from '../shell/protocol';
import { Sentence } from '../shell/state_of';
import { store } from '../shell/store';
import { useWindow } from '../shell/sums';
import { AreaPanel } from './area_panel';
import { pin, TimelineCanvas, TimelineSettings } from './canvas';
import { usePalette } from '../shell/theme';
import { isOfClass, wantsCalls } from './paint';

describeKeys('Timeline', [
  ['w s', 'zoom in and out, around the pointer'],
  ['a d', 'earlier and later'],
  ['i o', 'fewer and more ranks'],
  ['f', 'fit the chosen window; again: the whole run'],
  ['ArrowUp ArrowDown', 'the rank before and after'],
  [', .', 'its call before and after (of the chosen function and place, if there are any)'],
  ['Enter', 'choose this rank'],
  ['p', 'pin this rank at the top'],
  ['m', 'choose what is shown as the window'],
  ['r', 'ruler: drag to measure'],
  ['PageUp PageDown', 'other ranks'],
  ['Home', 'the whole run'],
]);
describeKeys('Timeline, with the mouse', [
  ['wheel', 'zoom time; over the ranks’ names, or with Ctrl: zoom ranks; with Shift: other ranks'],
  ['drag', 'choose a window and ranks; on the axis, or with Ctrl: zoom into it; with Shift: move'],
]);

const layers: [TimelineSettings['layer'], string][] = [
  ['functions', 'Functions'],
  ['waits', 'Waits, by who is waited for'],
  ['transfers', 'Bytes per second'],
  ['mpi', 'Share in MPI'],
  ['phases', 'Phases'],
];

function Legend({ meta, layer }: { meta: PageProperties['meta']; layer: string }) {
  const palette = usePalette();
  const sums = useWindow(meta, startView, layer === 'functions');
  if (layer === 'waits') return <span class="faint">each rank that others wait for has a colour; the stronger, the longer the wait</span>;
  if (layer !== 'functions') return null;
  const groups = [...new Set((sums.answer?.functions ?? []).filter((row) => row.group && row.ns > 0 && meta.functions?.name.includes(row.name)).map((row) => row.group))].slice(0, 12);
  const swatch = (colour: string) => <span class="swatch" ref={(node) => void (node && (node.style.backgroundColor = colour))} />;
  return (
    <span class="row faint">
      <span>{swatch(css(palette.computing))} computing</span>
      {groups.map((group) => (
        <span>
          {swatch(css(groupColour(group)))} {group}
        </span>
      ))}
    </span>
  );
}

function Timeline({ view, meta }: PageProperties) {
  const layout = meta.timeline!;
  const [resting, setResting] = useState<Viewport | null>(null);
  const restRef = useRef(setResting);
  restRef.current = setResting;
  const settings: TimelineSettings = {
    layer: layers.find(([name]) => name === view.options['time.layer'])?.[0] ?? 'functions',
    showPath: view.options['time.path'] === '1',
    pins: (view.options['time.pins'] ?? '').split(',').filter(Boolean).map(Number),
    ruler: view.options['time.ruler'] === '1',
  };
  const arrows = view.options['time.arrows'] !== '0';
  const findings = useFindings(meta.run);
  const finding = findings.answer?.findings.find((f) => f.id === view.finding) ?? null;
  const messages = useAnswer<Messages>(arrows && resting ? '/api/messages' : null, {
    run: meta.run,
    from: resting ? Math.floor(resting.from) : null,
    to: resting ? Math.ceil(resting.to) : null,
    top: 200,
    ranks: view.pair ? view.pair.slice().sort((a, b) => a - b).join(',') : view.ranks && view.ranks.length <= 64 ? view.ranks.join(',') : null,
  });
  // Where tiles end, the path is drawn from its pieces.
  const path = useAnswer<PathAnswer>(settings.showPath && resting && wantsCalls(layout, resting) ? '/api/path' : null, {
    run: meta.run,
    from: resting ? Math.floor(resting.from) : null,
    to: resting ? Math.ceil(resting.to) : null,
  });
  // Where single calls are drawn, each says its place; a chosen place needs all of them.
  const sites = useAnswer<SitesAnswer>(view.site !== null || (resting && wantsCalls(layout, resting)) ? '/api/sites' : null, { run: meta.run });
  const places = useMemo(() => sites.answer && sites.answer.sites.file.map((file, at) => placeText(file, sites.answer!.sites.line[at]!)), [sites.answer]);
  const height = Math.max(180, Math.min(Math.round(window.innerHeight * (view.window ? 0.5 : 0.72)), 60 + meta.processes.rank.length * 44));
  const toggle = (name: string, on: boolean, text: string, key?: string) => (
    <button aria-pressed={on} title={key} onClick={() => store.option(name, name === 'time.arrows' ? (on ? '0' : null) : on ? null : '1')}>
      {text}
    </button>
  );
  const shown = messages.answer;
  const ofClass = chosenClass(meta.functions, view);
  const lit = shown ? shown.messages.source.filter((_, at) => isOfClass(shown.messages, at, ofClass)).length : 0;
  return (
    <>
      <div class="row">
        <label>
          Show
          <select value={settings.layer} onChange={(event) => store.option('time.layer', event.currentTarget.value === 'functions' ? null : event.currentTarget.value)}>
            {layers.map(([name, text]) => (
              <option value={name}>{text}</option>
            ))}
          </select>
        </label>
        {toggle('time.path', settings.showPath, 'Critical path')}
        {toggle('time.arrows', arrows, 'Messages')}
        {toggle('time.ruler', settings.ruler, 'Ruler', 'key r')}
        {view.ranks?.length === 1 && <button onClick={() => pin(view.ranks![0]!)}>{settings.pins.includes(view.ranks[0]!) ? `Unpin rank ${view.ranks[0]}` : `Pin rank ${view.ranks[0]}`}</button>}
        <Legend meta={meta} layer={settings.layer} />
        {arrows && shown && (
          <span class="faint messages" data-shown={shown.shown} data-more={shown.more} data-lit={lit}>
            {shown.shown === 0 ? 'no messages here' : shown.more > 0 ? `the ${grouped(shown.shown)} costliest messages, ${grouped(shown.more)} more` : `${grouped(shown.shown)} messages`}
            {lit < shown.shown && `; ${grouped(lit)} of them ${ofClass}${lit === 0 ? ': messages inside collectives are not recorded one by one' : ''}`}
          </span>
        )}
      </div>
      {layout.problem ? (
        <Sentence>{layout.problem}</Sentence>
      ) : (
        !layout.ready.includes('path') && <Sentence>{`Waits and the critical path are still being computed${layout.building?.what ? ` (${layout.building.what}: ${percent(layout.building.share, 1)})` : ''}; they appear as soon as they are there.`}</Sentence>
      )}
      <TimelineCanvas key={meta.run} meta={meta} layout={layout} view={view} settings={settings} finding={finding} messages={arrows ? shown : null} path={settings.showPath ? (path.answer?.path ?? null) : null} places={places} height={height} rest={(at) => restRef.current(at)} />
      <AreaPanel meta={meta} view={view} />
    </>
  );
}

addPage({
  id: 'timeline',
  title: 'Timeline',
  order: 20,
  cannot: (meta) =>
    !meta.has_trace ? 'This run has no trace, so nothing is known of when things happened. "fathom run --trace" records one.'
    : !meta.timeline ? 'The trace of this run holds nothing to draw over time.'
    : meta.processes.rank.length === 0 ? 'The trace of this run holds no process.'
    : null,
  render: (properties) => <Timeline {...properties} />,
});
