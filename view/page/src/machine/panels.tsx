// SPDX-License-Identifier: BSD-3-Clause
// What stands around the machine: the controls of playback and camera, metadata, legends, saved views, the
// overlay's filters, and the tables call x size.
import { useEffect, useState } from 'preact/hooks';
import { css, amountColour } from '../pure/colour';
import { grouped, humanBytes, humanTime, moment } from '../pure/format';
import { viewText, parseView } from '../pure/view_state';
import { isFile } from '../shell/ask';
import { Sentence } from '../shell/state_of';
import { store } from '../shell/store';
import { usePalette } from '../shell/theme';
import { SizesAnswer } from './answers';
import { PRESETS } from './camera';
import { FASTEST, SLOWEST } from './clock';
import { machineColours } from './colours';
import { DASHES, markColour } from './draw2d';
import { FAMILIES, familyOf } from './flows';
import { LAYOUTS } from './layout';
import type { MachineModel } from './model';
import { DEFAULTS, OverlayOptions, REASONS } from './overlay';
import { canRecord, Recorder } from './recorder';
import { Scene } from './scene';
import { shade, sizeTable } from './sizes';

export function Metadata({ model }: { model: MachineModel }) {
  const { answer, machine } = model;
  const started = Number(BigInt(answer.started_unix_ns || '0') / 1000000n);
  const facts: [string, string][] = [
    ['program', answer.program || 'unknown'],
    ['started', started > 0 ? new Date(started).toISOString().replace('T', ' ').replace(/\.\d+Z/, ' UTC') : 'unknown'],
    ['ran for', humanTime(answer.seconds)],
    ['ranks', grouped(answer.host.length)],
    ['hosts', grouped(answer.hosts.length)],
    ['MPI', answer.mpi.trim() || 'unknown'],
    ['messages seen by', answer.source || 'unknown'],
    ['trace', answer.traced ? `${moment(answer.begin_ns, 1e6)} to ${moment(answer.end_ns, 1e6)}` : 'none: the whole run is one picture'],
    ['machine', machine.mapped ? `${machine.title || 'map'}: ${machine.cabinet.name.length} cabinets, ${machine.node.name.length} nodes` : 'no map'],
  ];
  return (
    <section class="card" data-card="metadata">
      <h3>Run</h3>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd data-fact={name}>{value}</dd>
          </>
        ))}
      </dl>
      {machine.notes.map((note) => <p class="faint">{note}</p>)}
    </section>
  );
}

export function Controls({ model, three, note }: { model: MachineModel; three: boolean; note: string }) {
  const { clock } = model;
  const length = Math.max(1, clock.end - clock.begin);
  const seek = (value: string) => {
    clock.seek(clock.begin + (Number(value) / 10000) * length);
    model.touch();
  };
  const go = (name: string) => {
    const camera = name === 'reset' ? model.home() : model.presetCamera(name);
    model.fly(camera, performance.now());
  };
  return (
    <>
    <div class="row controls">
      <button aria-pressed={clock.playing} disabled={!model.answer.traced} title="key p" onClick={() => (clock.toggle(), model.touch())}>{clock.playing ? 'Pause' : 'Play'}</button>
      <input
        type="range"
        class="scrub"
        aria-label="moment of the run"
        min="0"
        max="10000"
        step="1"
        disabled={!model.answer.traced}
        value={String(Math.round((10000 * (clock.now - clock.begin)) / length))}
        onInput={(event) => seek(event.currentTarget.value)}
      />
      <output data-clock={String(Math.round(clock.now))}>{moment(clock.now, length / 1000)}</output>
      <label>
        speed
        <input
          type="range"
          aria-label="speed"
          min={String(Math.log10(SLOWEST))}
          max={String(Math.log10(FASTEST))}
          step="0.1"
          value={String(Math.log10(clock.speed))}
          onInput={(event) => (clock.setSpeed(10 ** Number(event.currentTarget.value)), model.touch())}
        />
        <span class="faint">{`${Number(clock.speed.toPrecision(2))}× (${Number(clock.realTime.toPrecision(2))}× real time)`}</span>
      </label>
      {note && <span class="faint" role="status">{note}</span>}
    </div>
    <div class="row looks">
      <span class="row" role="group" aria-label="Layout">
        {LAYOUTS.map((layout) => (
          <button aria-pressed={model.layout.name === layout.name} onClick={() => store.option('machine.layout', layout.name === 'blueprint' ? null : layout.name)}>{layout.label}</button>
        ))}
      </span>
      <span class="row" role="group" aria-label="Camera">
        {PRESETS.map((preset) => <button onClick={() => go(preset.name)}>{preset.label}</button>)}
        <button onClick={() => go('reset')}>Reset</button>
      </span>
      <button aria-pressed={three} title="key m" onClick={() => store.option('machine.three', three ? null : '1')}>3-D</button>
    </div>
    </>
  );
}

export function RankControls({ model }: { model: MachineModel }) {
  const [text, setText] = useState('');
  const go = () => {
    const rank = Number(text);
    if (text.trim() === '' || !Number.isInteger(rank)) return;
    model.select(rank);
    model.flyToRanks([rank], performance.now());
  };
  const selected = model.selected;
  return (
    <form class="row" onSubmit={(event) => (event.preventDefault(), go())}>
      <label>
        rank
        <input size={6} inputMode="numeric" aria-label="rank to fly to" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit">Fly to</button>
      <button type="button" aria-pressed={model.following} disabled={selected < 0} onClick={() => model.follow(!model.following)}>Follow</button>
      <button type="button" disabled={selected < 0} onClick={() => store.isolate(`rank ${selected}`, { ranks: [selected] })}>Isolate</button>
      <span data-selected={String(selected)} class="faint">{selected < 0 ? 'no rank chosen' : `rank ${selected} on ${model.machine.node.name[model.machine.nodeOfRank[selected]] ?? ''}`}</span>
    </form>
  );
}

export function Recording({ canvas, name }: { canvas: { current: HTMLCanvasElement | null }; name: string }) {
  const [recorder] = useState(() => new Recorder());
  const [on, setOn] = useState(false);
  const [video, setVideo] = useState<{ url: string; bytes: number } | null>(null);
  useEffect(() => () => void recorder.stop(), []);
  useEffect(() => () => void (video && URL.revokeObjectURL(video.url)), [video]);
  if (!canRecord()) return <span class="faint">This browser cannot record the canvas.</span>;
  const toggle = async () => {
    if (!recorder.recording) {
      if (!canvas.current) return;
      setVideo(null);
      recorder.start(canvas.current);
      setOn(true);
      return;
    }
    const blob = await recorder.stop();
    setOn(false);
    if (blob) setVideo({ url: URL.createObjectURL(blob), bytes: blob.size });
  };
  return (
    <span class="row">
      <button aria-pressed={on} onClick={() => void toggle()}>{on ? 'Stop recording' : 'Record'}</button>
      {video && <a href={video.url} download={`${name}.webm`} data-bytes={String(video.bytes)}>{`Save the video (${humanBytes(video.bytes)})`}</a>}
    </span>
  );
}

interface SavedView {
  name: string;
  state: string;
  note: string;
}
// Kept in the run directory, together with those of other pages.
export function SavedViews() {
  const [views, setViews] = useState<SavedView[] | null>(null);
  const [writable, setWritable] = useState(false);
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const run = store.get().run;
  const load = async () => {
    try {
      const answer = (await (await fetch(`api/views?run=${run}`)).json()) as { views: SavedView[]; writable: boolean };
      setViews(answer.views);
      setWritable(answer.writable);
    } catch {
      setProblem('The saved views cannot be read.');
    }
  };
  useEffect(() => {
    if (!isFile) void load();
  }, [run]);
  const put = async (next: SavedView[]) => {
    const body = JSON.stringify({ views: next.map(({ name: label, state, note }) => ({ name: label, state, note })) });
    const response = await fetch(`api/views?run=${run}`, { method: 'PUT', headers: { 'X-Fathom': '1', 'Content-Type': 'application/json' }, body });
    setProblem(response.ok ? '' : 'The view was not saved: the run directory cannot be written.');
    await load();
  };
  if (isFile) return null;
  const mine = (views ?? []).filter((view) => parseView(view.state).page === 'machine');
  return (
    <section class="card" data-card="views">
      <h3>Saved views</h3>
      {problem && <Sentence>{problem}</Sentence>}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const label = name.trim();
          if (!label) return;
          const rest = (views ?? []).filter((view) => view.name !== label);
          void put([...rest, { name: label, state: viewText(store.get()), note: '' }]);
          setName('');
        }}
      >
        <input aria-label="name of the view" placeholder="name" value={name} maxLength={80} disabled={!writable} onInput={(event) => setName(event.currentTarget.value)} />
        <button disabled={!writable || !name.trim()}>Save</button>
        {!writable && views && <span class="faint">The run directory cannot be written.</span>}
      </form>
      <ul class="plainlist">
        {mine.map((view) => (
          <li class="row">
            <button class="plain" onClick={() => store.set(parseView(view.state))}>{view.name}</button>
            <button aria-label={`delete ${view.name}`} disabled={!writable} onClick={() => void put((views ?? []).filter((other) => other !== view))}>×</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Legend({ model, scene }: { model: MachineModel; scene: Scene | null }) {
  const palette = machineColours(usePalette());
  const here = new Set(model.answer.classes.map((entry) => familyOf(entry.name)));
  const level = scene?.visible.level ?? 'core';
  return (
    <div class="row legend" data-card="legend">
      {FAMILIES.filter((family) => here.has(family.name)).map((family) => (
        <span><span class="swatch" style={{ background: palette.family[family.name] }} />{` ${family.label}`}</span>
      ))}
      <span><span class="swatch" style={{ background: palette.core }} />{' rank, computing'}</span>
      <span><span class="swatch" style={{ background: palette.glow }} />{' rank, in MPI all of the time'}</span>
      <span><span class="swatch" style={{ background: palette.idle }} />{' core without a rank'}</span>
      <span class="faint" data-level={level}>
        {`A tube is thicker the more messages it stands for. Shown: ${grouped(scene?.tubes.length ?? 0)} between ${level}s${scene && scene.moreTubes > 0 ? `, ${grouped(scene.moreTubes)} more` : ''}.`}
      </span>
    </div>
  );
}

const FILTERS: { name: keyof OverlayOptions; label: string }[] = [
  { name: 'issueRanks', label: 'ranks of issues' },
  { name: 'patternRanks', label: 'ranks of patterns' },
  { name: 'roots', label: 'roots' },
  { name: 'topRanks', label: 'busy ranks' },
  { name: 'issuePairs', label: 'pairs of issues' },
  { name: 'topLinks', label: 'busy links' },
  { name: 'pingPong', label: 'ping-pong' },
];
const LIMITS: { name: 'mostRanks' | 'mostLinks' | 'mostRoots'; label: string }[] = [
  { name: 'mostRanks', label: 'busy ranks' },
  { name: 'mostLinks', label: 'busy links' },
  { name: 'mostRoots', label: 'roots' },
];

export function OverlayPanel({ model, refresh }: { model: MachineModel; refresh: () => void }) {
  const palette = machineColours(usePalette());
  const { overlay } = model;
  return (
    <section class="card" data-card="overlay">
      <div class="row between">
        <h3>Findings on the machine</h3>
        <span class="row">
          <label><input type="checkbox" checked={overlay.on} onChange={(event) => model.setOverlay({ on: event.currentTarget.checked })} />shown</label>
          <button onClick={refresh}>Refresh</button>
          <button onClick={() => model.setOverlay(DEFAULTS)}>Defaults</button>
        </span>
      </div>
      <div class="row">
        {FILTERS.map((filter) => (
          <label><input type="checkbox" name={filter.name} disabled={!overlay.on} checked={overlay[filter.name] as boolean} onChange={(event) => model.setOverlay({ [filter.name]: event.currentTarget.checked })} />{filter.label}</label>
        ))}
      </div>
      <div class="row">
        {LIMITS.map((limit) => (
          <label>
            {`at most`}
            <input type="number" name={limit.name} min="0" max="64" value={String(overlay[limit.name])} onInput={(event) => model.setOverlay({ [limit.name]: Math.max(0, Math.min(64, Number(event.currentTarget.value) || 0)) })} />
            {limit.label}
          </label>
        ))}
      </div>
      <div class="row legend" data-card="overlay-legend">
        {REASONS.map((reason) => (
          <span>
            <svg width="34" height="10" aria-hidden="true"><line x1="1" y1="5" x2="33" y2="5" stroke={markColour(palette, reason.name)} stroke-width="2.5" stroke-dasharray={DASHES[reason.name]!.join(' ') || undefined} /></svg>
            {` ${reason.label}`}
          </span>
        ))}
        <span class="faint" data-marks={String(model.shownMarks.length)}>{`${grouped(model.shownMarks.length)} marks`}</span>
      </div>
    </section>
  );
}

export function Sizes({ title, name, answer, lit }: { title: string; name: string; answer: SizesAnswer | null; lit: (name: string) => boolean }) {
  const page = usePalette();
  if (!answer) return <section class="card" data-card={name}><h3>{title}</h3><p class="faint">Waiting for the calls …</p></section>;
  const table = sizeTable(answer);
  return (
    <section class="card" data-card={name}>
      <h3>{title}</h3>
      <div class="table">
        <table aria-label={title}>
          <thead>
            <tr>
              <th scope="col">call</th>
              {table.heads.map((head) => <th scope="col" class="number">{head}</th>)}
              <th scope="col" class="number">no size</th>
              <th scope="col" class="number">all</th>
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr data-call={row.name} class={lit(row.name) ? '' : 'dim'}>
                <td>{row.name}</td>
                {row.calls.map((calls) => {
                  const part = shade(calls, table.most);
                  const dark = page.dark ? part < 0.5 : part > 0.5;
                  return <td class="number" style={calls > 0 ? { background: css(amountColour(part, page.dark)), color: dark ? '#fff' : '#111' } : {}}>{calls > 0 ? grouped(calls) : ''}</td>;
                })}
                <td class="number">{row.unsized > 0 ? grouped(row.unsized) : ''}</td>
                <td class="number" data-total={String(row.total)}>{grouped(row.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
