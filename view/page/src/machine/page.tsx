// SPDX-License-Identifier: BSD-3-Clause
// Machine: where the ranks ran, and what they sent to each other, played over time.
import './machine.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { litFunctions } from '../pure/belongs';
import { ranksOf, View } from '../pure/view_state';
import { ask, AskError, useAnswer } from '../shell/ask';
import { addKeys, describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import { Sentence, Waiting } from '../shell/state_of';
import { store } from '../shell/store';
import { MachineAnswer, PyriteMap, SizesAnswer, TrafficAnswer } from './answers';
import { moved, parseCamera, zoomed } from './camera';
import { Cards as CardList } from './cards';
import { LAYOUTS, LayoutName } from './layout';
import { Choices, MachineModel, pairKey } from './model';
import { Cards } from './overlay';
import { Controls, Legend, Metadata, OverlayPanel, RankControls, Recording, SavedViews, Sizes } from './panels';
import type { Scene } from './scene';
import { Stage } from './stage';

const kKeys: [string, string][] = [
  ['p', 'play or pause'],
  [', .', 'a step back, a step on'],
  ['w a s d', 'move the camera'],
  ['q e', 'nearer, farther'],
  ['l', 'the next layout'],
  ['r', 'the whole machine'],
  ['f', 'fly to the chosen rank'],
  ['m', '2-D or 3-D'],
];
describeKeys('Machine', kKeys);

type Served = Omit<MachineAnswer, 'map' | 'map_problem'> & { map_text: string; map_problem: string };

// The map's text comes from a file that anybody may have written.
export function withMap(answer: Served): MachineAnswer {
  let map: PyriteMap | null = null;
  let problem = answer.map_problem;
  if (answer.map_text) {
    try {
      const parsed: unknown = JSON.parse(answer.map_text);
      if (parsed && typeof parsed === 'object' && Array.isArray((parsed as PyriteMap).cabinets)) map = parsed as PyriteMap;
      else problem = 'The map of the machine has no list "cabinets", so it is not used.';
    } catch {
      problem = 'The map of the machine is not JSON, so it is not used.';
    }
  }
  return { ...answer, map, map_problem: problem };
}

function choicesOf(view: View): Choices {
  return {
    ranks: ranksOf(view),
    pairs: view.pair ? new Set([pairKey(view.pair[0], view.pair[1])]) : null,
    window: view.window,
    class: view.class,
    function: view.function,
  };
}

const message = (error: unknown) => (error instanceof AskError ? error.message : `This answer cannot be shown: ${String(error)}`);

function Machine({ view }: PageProperties) {
  const served = useAnswer<Served>('/api/machine', { run: view.run });
  const answer = useMemo(() => served.answer && withMap(served.answer), [served.answer]);
  if (!answer) return <Waiting of={served} what="the machine" />;
  if (answer.host.length === 0) return <Sentence>This run has no ranks.</Sentence>;
  return <Shown view={view} answer={answer} key={view.run} />;
}

function Shown({ view, answer }: { view: View; answer: MachineAnswer }) {
  const [, redraw] = useState(0);
  const [scene, setScene] = useState<Scene | null>(null);
  const [refused, setRefused] = useState('');
  const [problem, setProblem] = useState('');
  const [current, setCurrent] = useState<SizesAnswer | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const model = useMemo(
    () =>
      new MachineModel(
        answer,
        (from, to, bins, signal) => ask<TrafficAnswer>('/api/machine/traffic', { run: view.run, from, to, bins }, undefined, signal),
        () => redraw((count) => count + 1),
      ),
    [answer],
  );
  model.choose(choicesOf(view));

  // What the URL says of layout and camera.
  const layout = LAYOUTS.find((entry) => entry.name === view.options['machine.layout'])?.name ?? ('blueprint' as LayoutName);
  useEffect(() => model.setLayout(layout), [model, layout]);
  const camera = view.options['machine.camera'] ?? '';
  useEffect(() => {
    const parsed = parseCamera(camera);
    if (parsed) model.setCamera(parsed);
  }, [model, camera]);
  const wanted = view.options['machine.three'] === '1';
  useEffect(() => {
    if (!wanted) setRefused('');
  }, [wanted]);
  const three = wanted && refused === '';

  const scope = view.window ? { from: view.window[0], to: view.window[1] } : {};
  const [asked, refresh] = useState(0);
  useEffect(() => {
    let live = true;
    const request = new AbortController();
    setProblem('');
    ask<Cards>('/api/machine/cards', { run: view.run, ...scope }, undefined, request.signal).then(
      (cards) => live && model.setCards(cards),
      (error: unknown) => live && (model.setCards(null), setProblem(message(error))),
    );
    return () => {
      live = false;
      request.abort();
    };
  }, [model, view.run, String(view.window), asked]);

  const whole = useAnswer<SizesAnswer>(answer.traced ? '/api/machine/sizes' : null, { run: view.run });
  // The table of the window follows playback, but asks at most twice a second.
  const shown = model.shown();
  const from = Math.floor(shown.from);
  const to = Math.max(from + 1, Math.ceil(shown.to));
  useEffect(() => {
    if (!answer.traced) return;
    let live = true;
    const request = new AbortController();
    const timer = setTimeout(() => {
      ask<SizesAnswer>('/api/machine/sizes', { run: view.run, from, to }, undefined, request.signal).then((sizes) => live && setCurrent(sizes), () => undefined);
    }, 250);
    return () => {
      live = false;
      clearTimeout(timer);
      request.abort();
    };
  }, [model, view.run, from, to, model.clock.playing ? Math.floor(performance.now() / 500) : 0]);

  useEffect(() => pageKeys(model, three), [model, three]);
  const lit = useMemo(() => {
    const names = answer.functions.map((entry) => entry.name);
    const chosen = litFunctions({ name: names, group: answer.functions.map((entry) => entry.group) }, view);
    return (name: string) => !chosen || (chosen[names.indexOf(name)] ?? false);
  }, [answer, view.function, view.class]);

  return (
    <>
      <Controls model={model} three={three} note={refused} />
      <div class="row">
        <RankControls model={model} />
        <Recording canvas={canvas} name={`fathom-machine-${layout}`} key={three ? 'three' : 'two'} />
      </div>
      {model.playback.problem && <Sentence>{model.playback.problem}</Sentence>}
      <div class="stagebox">
        <Stage
          model={model}
          three={three}
          refuse={setRefused}
          canvasRef={canvas}
          drawn={(drawn) => setScene((old) => (old && same(old, drawn) ? old : drawn))}
          settled={(text) => !model.following && store.option('machine.camera', text, true)}
        />
        {shown.loading && <div class="loading" role="status">Loading the messages of this moment …</div>}
      </div>
      <Legend model={model} scene={scene} />
      {problem && <Sentence>{problem}</Sentence>}
      <div class="cards">
        <Metadata model={model} />
        <OverlayPanel model={model} refresh={() => refresh((count) => count + 1)} />
        <SavedViews />
      </div>
      {answer.traced && (
        <div class="cards">
          <Sizes title="Calls by size, whole run" name="sizes-whole" answer={whole.answer} lit={lit} />
          <Sizes title={`Calls by size, ${view.window || !model.clock.ended ? 'window' : 'whole run'} shown`} name="sizes-window" answer={current} lit={lit} />
        </div>
      )}
      <CardList model={model} />
    </>
  );
}

// Whether the text beside the picture is the same.
function same(a: Scene, b: Scene): boolean {
  return a.tubes.length === b.tubes.length && a.moreTubes === b.moreTubes && a.visible.level === b.visible.level;
}

function pageKeys(model: MachineModel, three: boolean): () => void {
  const step = 40;
  const move = (dx: number, dy: number) => () => model.setCamera(moved(model.camera, dx, dy, model.height));
  const seek = (part: number) => () => {
    model.clock.seek(model.clock.now + part * (model.clock.end - model.clock.begin));
    model.touch();
  };
  const runs: Record<string, () => void> = {
    p: () => (model.clock.toggle(), model.touch()),
    ',': seek(-1 / 200),
    '.': seek(1 / 200),
    w: move(0, step),
    s: move(0, -step),
    a: move(step, 0),
    d: move(-step, 0),
    q: () => model.setCamera(zoomed(model.camera, 0.85)),
    e: () => model.setCamera(zoomed(model.camera, 1 / 0.85)),
    l: () => {
      const at = LAYOUTS.findIndex((layout) => layout.name === model.layout.name);
      const next = LAYOUTS[(at + 1) % LAYOUTS.length]!.name;
      store.option('machine.layout', next === 'blueprint' ? null : next);
    },
    r: () => model.fly(model.home(), performance.now()),
    f: () => model.selected >= 0 && model.flyToRanks([model.selected], performance.now()),
    m: () => store.option('machine.three', three ? null : '1'),
  };
  return addKeys('Machine', Object.entries(runs).map(([keys, run]) => ({ keys, does: '', run: () => void run() })));
}

addPage({ id: 'machine', title: 'Machine', order: 50, render: (properties) => <Machine {...properties} /> });
