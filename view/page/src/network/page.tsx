// SPDX-License-Identifier: BSD-3-Clause
// Network: what the run would put on each link of a cluster, as fathom simulate computes it, coloured by load;
// two placements side by side; and what a link carries for whom.
import '../machine/machine.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { amountColour, css } from '../pure/colour';
import { grouped, humanBytes, humanRate, humanTime, percent } from '../pure/format';
import { answerKey } from '../pure/answer_key';
import { chosenClass } from '../pure/belongs';
import { formatRanks } from '../pure/ranks';
import { ranksOf, View } from '../pure/view_state';
import { useAnswer } from '../shell/ask';
import { describeKeys } from '../shell/keys';
import { addPage, PageProperties } from '../shell/pages';
import { drawsWith, Pen } from '../shell/picture';
import { sized, useWidth } from '../shell/sketch';
import { Sentence, Waiting } from '../shell/state_of';
import { store } from '../shell/store';
import { Table } from '../shell/table';
import { usePalette } from '../shell/theme';
import { hideTip, showTip } from '../shell/tip';
import { hex } from '../machine/colours';
import { ChosenAnswer, LinkAnswer, NetworkAnswer, NetworkRun } from './answers';
import { drawNetwork, linkAt, NetworkScene, View as Window, fromPixels } from './draw';
import { Places, placesOf } from './layout';
import { carriedIn, congestions, hottest, intervalCount, totals, useOf } from './load';

describeKeys('Network, with the picture focused', [
  ['w s', 'zoom in and out'],
  ['ArrowLeft ArrowRight ArrowUp ArrowDown', 'move'],
  ['f', 'the whole network'],
]);

const kHot = 8;

const option = (view: View, name: string, otherwise = '') => view.options[`network.${name}`] ?? otherwise;

function Network({ view, meta }: PageProperties) {
  const model = option(view, 'model', 'flow');
  const first = option(view, 'placement', 'block');
  const second = option(view, 'beside');
  const cluster = option(view, 'cluster');
  const routing = option(view, 'routing');
  // A replay is of the whole run: of a window, only what it received is put on the paths of the whole.
  const replay = model === 'replay';
  const window: Record<string, number> = view.window && meta.has_trace ? { from: Math.round(view.window[0]), to: Math.round(view.window[1]) } : {};
  const parameters = { run: view.run, model, placement: second ? `${first},${second}` : first, ...(cluster ? { cluster } : {}), ...(routing ? { routing } : {}), ...(replay ? {} : window) };
  const asked = useAnswer<NetworkAnswer & { clusters: string[]; job: string }>('/api/network', parameters);
  const { answer } = asked;
  // What is chosen of this traffic: which links carry it, on the paths of all of it.
  const ofClass = chosenClass(meta.functions, view);
  const choice = { ...(replay ? window : {}), ...(view.pair ? { pair: view.pair.join('-') } : view.ranks ? { ranks: formatRanks(view.ranks) } : {}), ...(ofClass !== null ? { class: ofClass } : {}) };
  const question = { ...parameters, ...choice, only: 'chosen' };
  const chosen = useAnswer<ChosenAnswer>(Object.keys(choice).length > 0 ? '/api/network' : null, question);
  const places = useMemo(() => answer && placesOf(answer), [answer]);
  const intervals = answer ? Math.max(0, ...answer.runs.map(intervalCount)) : 0;
  const at = Number(option(view, 'at', '-1'));
  const interval = Number.isInteger(at) && at >= 0 && at < intervals ? at : -1;
  const link = Number(option(view, 'link', '-1'));
  const part = (run: NetworkRun) => chosen.answer?.runs.find((one) => one.placement === run.placement) ?? null;
  // For a replay in a window, the colours are those of what was received in it; at a moment, those of the moment.
  const ofWindow = replay && view.window !== null && interval < 0 && chosen.answer !== null && chosen.key === answerKey('/api/network', question);
  const loads = useMemo<Loads | null>(() => answer && loadsOf(answer, interval, ofWindow ? part : null), [answer, interval, ofWindow, chosen.answer]);
  return (
    <>
      <Choices view={view} answer={answer} cluster={cluster || (answer?.cluster ?? '')} traced={meta.has_trace} />
      {view.window && !chosen.error && !asked.error && (
        <p class="faint">
          {!meta.has_trace
            ? 'Of the whole run: it has no trace, and without one it is not known when messages were received.'
            : !replay
              ? 'What was received in the chosen window, and nothing else.'
              : interval < 0
                ? 'What was received in the chosen window, on the paths that the whole run takes.'
                : 'A replay is of the whole run, and so is this moment of it; the chosen window is on the links that are not dimmed.'}
        </p>
      )}
      {chosen.error && <Sentence>{chosen.error}</Sentence>}
      {asked.error && <Sentence>{asked.error}</Sentence>}
      {!answer && !asked.error && <Waiting of={asked} what="the simulation" />}
      {answer && places && loads && (
        <>
          {intervals > 0 && <Scrub view={view} answer={answer} intervals={intervals} interval={interval} />}
          <div class={answer.runs.length > 1 ? 'beside' : ''}>
            {answer.runs.map((run) => (
              <Picture key={run.placement} view={view} answer={answer} run={run} places={places} loads={loads} link={link} chosen={part(run)} />
            ))}
          </div>
          <Scale answer={answer} loads={loads} />
          {link >= 0 && link < answer.links.source.length && <LinkCards view={view} answer={answer} link={link} parameters={{ ...parameters, ...window }} />}
        </>
      )}
    </>
  );
}

function Choices({ view, answer, cluster, traced }: { view: View; answer: (NetworkAnswer & { clusters: string[] }) | null; cluster: string; traced: boolean }) {
  const [text, setText] = useState(cluster);
  useEffect(() => setText(cluster), [cluster]);
  const set = (name: string, value: string) => {
    const options = { ...store.get().options };
    if (value) options[`network.${name}`] = value;
    else delete options[`network.${name}`];
    // Another network has other links and times.
    for (const stale of ['link', 'at']) if (name === 'cluster' || name === 'model') delete options[`network.${stale}`];
    store.set({ options });
  };
  const placements = ['block', 'cyclic', 'random', 'bisection', 'treematch', 'search', 'as-run'];
  const select = (name: string, label: string, values: [string, string][], value: string) => (
    <label>
      {label}
      <select aria-label={label} value={value} onChange={(event) => set(name, event.currentTarget.value)}>
        {values.map(([key, shown]) => <option value={key}>{shown}</option>)}
      </select>
    </label>
  );
  const same = (values: string[]): [string, string][] => values.map((value) => [value, value]);
  return (
    <form class="row" onSubmit={(event) => (event.preventDefault(), set('cluster', text.trim()))}>
      <label>
        cluster
        <input size={34} aria-label="cluster" list="network-clusters" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <datalist id="network-clusters">
        {[...(answer?.clusters ?? []), 'torus:dims=4,4', 'mesh:dims=4,4', 'hyperx:dims=4,4', 'tree:k=4;n=2', 'dragonfly:switches=4;globals=2;hosts=2', 'slimfly:q=5', 'leafspine:leaves=4;spines=2;hosts=4'].map((value) => <option value={value} />)}
      </datalist>
      <button>Simulate</button>
      {select('placement', 'placement', same(placements), option(view, 'placement', 'block'))}
      {select('beside', 'beside it', [['', 'nothing'], ...same(placements)], option(view, 'beside'))}
      {select('model', 'model', [['flow', 'flow: in time'], ['load', 'load: sums'], ...(traced ? ([['replay', 'replay: of the trace']] as [string, string][]) : [])], option(view, 'model', 'flow'))}
      {select('routing', 'routing', [['', 'usual'], ...same(['dmodk', 'smodk', 'greedy-sum', 'greedy-max', 'minimal', 'random', 'ecmp', 'valiant', 'ugal', 'dor'])], option(view, 'routing'))}
    </form>
  );
}

function Scrub({ view, answer, intervals, interval }: { view: View; answer: NetworkAnswer; intervals: number; interval: number }) {
  const longest = answer.runs.reduce((most, run) => (intervalCount(run) > intervalCount(most) ? run : most));
  const [playing, setPlaying] = useState(false);
  const position = useRef(interval);
  position.current = interval;
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const next = position.current + 1;
      if (next >= intervals) return setPlaying(false);
      store.option('network.at', String(next), true);
    }, 120);
    return () => clearInterval(timer);
  }, [playing, intervals]);
  void view;
  return (
    <div class="row controls">
      <button aria-pressed={playing} onClick={() => setPlaying(!playing)}>{playing ? 'Pause' : 'Play'}</button>
      <input
        type="range"
        class="scrub"
        aria-label="moment of the simulation; the first is all of it"
        min="-1"
        max={String(intervals - 1)}
        value={String(interval)}
        onInput={(event) => store.option('network.at', Number(event.currentTarget.value) < 0 ? null : event.currentTarget.value, true)}
      />
      <output data-interval={String(interval)}>
        {interval < 0 ? 'the whole simulation' : `${humanTime(interval * longest.interval_s)} to ${humanTime((interval + 1) * longest.interval_s)}`}
      </output>
    </div>
  );
}

// What the colours of all pictures mean: bytes and load of each link, and the most of all pictures, so that placements
// can be compared.
interface Loads {
  interval: number;
  ofWindow: boolean;
  /** by run: bytes, and congestion or the part of the capacity in use */
  of: Map<NetworkRun, { bytes: Float64Array; load: Float64Array }>;
  most: number;
}
type Part = (run: NetworkRun) => ChosenAnswer['runs'][0] | null;

function loadsOf(answer: NetworkAnswer, interval: number, part: Part | null): Loads {
  const of = new Map(
    answer.runs.map((run) => {
      const bytes = interval >= 0 ? carriedIn(answer, run, interval) : part ? spread(answer, part(run)) : totals(answer, run);
      return [run, { bytes, load: interval < 0 ? congestions(answer, bytes) : useOf(answer, run, interval) }];
    }),
  );
  // At a moment: a link that is in use all of the time.
  const most = interval >= 0 ? 1 : [...of.values()].reduce((so_far, { load }) => load.reduce((a, b) => Math.max(a, b || 0), so_far), 0);
  return { interval, ofWindow: part !== null, of, most };
}

function spread(answer: NetworkAnswer, part: ChosenAnswer['runs'][0] | null): Float64Array {
  const bytes = new Float64Array(answer.links.source.length);
  part?.link.forEach((link, at) => (bytes[link] = part.bytes[at]!));
  return bytes;
}

interface PictureProperties {
  view: View;
  answer: NetworkAnswer;
  run: NetworkRun;
  places: Places;
  loads: Loads;
  link: number;
  chosen: ChosenAnswer['runs'][0] | null;
}

function Picture({ view, answer, run, places, loads, link, chosen }: PictureProperties) {
  const { interval, most } = loads;
  const { bytes, load } = loads.of.get(run)!;
  const { ofWindow } = loads;
  const whole = useMemo(() => (ofWindow ? totals(answer, run) : bytes), [answer, run, ofWindow, bytes]);
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const page = usePalette();
  const [window_, setWindow] = useState({ zoom: 1, x: 0.5, y: 0.5 });
  const height = Math.max(300, Math.min(Math.round(width * 0.7), Math.round(innerHeight * 0.55)));
  const shown: Window = { width, height, ...window_ };
  const hot = useMemo(() => hottest(load, kHot), [load]);
  const lit = useMemo(() => chosen && new Map(chosen.link.map((id, at) => [id, chosen.bytes[at]!])), [chosen]);
  const ranks = ranksOf(view);
  const marked = new Set(ranks ? [...ranks].map((rank) => run.rank_host[rank] ?? -1) : []);
  const scene: NetworkScene = { answer, places, load, most, hottest: hot, selected: link, marked, lit: lit && new Set(lit.keys()) };
  useEffect(() => {
    const node = canvas.current;
    if (!node || width === 0) return;
    const palette = {
      background: hex(page.paper),
      text: hex(page.ink),
      idle: hex(page.line),
      host: hex(page.faint),
      node: hex(page.ink),
      selected: hex(page.chosen),
      scale: (part: number) => css(amountColour(part, page.dark)),
    };
    const paint = (pen: Pen) => drawNetwork(pen, scene, shown, palette);
    paint(sized(node, width, height) as unknown as Pen);
    drawsWith(node, paint);
  });
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const place = (event: MouseEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const choose = (id: number) => store.option('network.link', id < 0 || id === link ? null : String(id));
  const seconds = run.result.seconds;
  return (
    <section class="card" data-placement={run.placement}>
      <h3>{`${run.placement} · ${run.result.routing}${seconds !== undefined ? ` · ${humanTime(seconds)}` : ''}`}</h3>
      <div ref={box} class="sketch">
        <canvas
          ref={canvas}
          role="img"
          tabIndex={0}
          style={{ height: `${height}px`, width: '100%', display: 'block', touchAction: 'none' }}
          aria-label={`Network of ${answer.nodes.name.length} nodes and ${answer.links.source.length} links, coloured by load, placement ${run.placement}; the hottest links are listed below. W and S zoom, the arrows move.`}
          onPointerDown={(event: PointerEvent) => (drag.current = { x: event.clientX, y: event.clientY, moved: false })}
          onPointerMove={(event: PointerEvent) => {
            const start = drag.current;
            if (start && event.buttons) {
              const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
              if (!start.moved && Math.hypot(dx, dy) < 4) return;
              drag.current = { x: event.clientX, y: event.clientY, moved: true };
              const [ax, ay] = fromPixels(shown, 0, 0);
              const [bx, by] = fromPixels(shown, dx, dy);
              setWindow((old) => ({ ...old, x: old.x - (bx - ax), y: old.y - (by - ay) }));
              return;
            }
            const found = linkAt(scene, shown, ...place(event));
            if (found < 0) return hideTip();
            const { source, target } = answer.links;
            showTip(`${answer.nodes.name[source[found]!]} → ${answer.nodes.name[target[found]!]}\n${humanBytes(bytes[found] || 0)}, ${loadText(answer, load[found]!, interval)}`, event.clientX, event.clientY);
          }}
          onPointerUp={(event: PointerEvent) => {
            const dragged = drag.current?.moved;
            drag.current = null;
            if (!dragged) choose(linkAt(scene, shown, ...place(event)));
          }}
          onPointerLeave={hideTip}
          onKeyDown={(event: KeyboardEvent) => {
            const step = 0.1 / window_.zoom;
            const next = ((): Place | null => {
              switch (event.key) {
                case 'ArrowLeft': return { ...window_, x: window_.x - step };
                case 'ArrowRight': return { ...window_, x: window_.x + step };
                case 'ArrowUp': return { ...window_, y: window_.y - step };
                case 'ArrowDown': return { ...window_, y: window_.y + step };
                case '+': case '=': case 'w': return { ...window_, zoom: Math.min(80, window_.zoom * 1.25) };
                case '-': case 's': return { ...window_, zoom: Math.max(0.5, window_.zoom / 1.25) };
                case 'Home': case 'f': return { zoom: 1, x: 0.5, y: 0.5 };
                default: return null;
              }
            })();
            if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            event.stopPropagation();
            setWindow(next);
          }}
          onWheel={(event: WheelEvent) => {
            event.preventDefault();
            const zoom = Math.max(0.5, Math.min(80, window_.zoom * Math.exp(-Math.sign(event.deltaY) * 0.15)));
            const [px, py] = place(event);
            const [x, y] = fromPixels(shown, px, py);
            const [nx, ny] = fromPixels({ ...shown, zoom }, px, py);
            setWindow({ zoom, x: window_.x + x - nx, y: window_.y + y - ny });
          }}
        />
      </div>
      <Table
        label={`Hottest links, placement ${run.placement}`}
        rows={hot.map((id, at) => ({ id, at: at + 1 }))}
        choose={(row) => choose(row.id)}
        chosen={(row) => row.id === link}
        dim={(row) => lit !== null && !lit.has(row.id)}
        columns={[
          { title: '', number: true, show: (row) => row.at },
          { title: 'link', show: (row) => `${answer.nodes.name[answer.links.source[row.id]!]} → ${answer.nodes.name[answer.links.target[row.id]!]}` },
          { title: 'bytes', number: true, show: (row) => <span data-link={String(row.id)} data-bytes={String(bytes[row.id])}>{humanBytes(bytes[row.id]!)}</span> },
          // In a window, these bytes are the chosen ones.
          ...(ofWindow ? [{ title: 'in the whole run', number: true, show: (row: { id: number }) => humanBytes(whole[row.id]!) }] : lit ? [{ title: 'of the chosen', number: true, show: (row: { id: number }) => <span data-chosen={String(lit.get(row.id) ?? 0)}>{humanBytes(lit.get(row.id) ?? 0)}</span> }] : []),
          { title: interval < 0 ? 'congestion' : 'in use', number: true, show: (row) => loadText(answer, load[row.id]!, interval) },
        ]}
      />
    </section>
  );
}

type Place = Pick<Window, 'zoom' | 'x' | 'y'>;

function loadText(answer: NetworkAnswer, load: number, interval: number): string {
  if (!(load >= 0)) return 'not counted';
  if (interval >= 0) return percent(load, 1);
  return answer.relative ? load.toPrecision(3) : humanTime(load);
}

function Scale({ answer, loads: { interval, most } }: { answer: NetworkAnswer; loads: Loads }) {
  const page = usePalette();
  return (
    <div class="row legend">
      <span>{interval < 0 ? 'congestion (bytes over capacity): 0' : 'in use: 0'}</span>
      {[0, 0.2, 0.4, 0.6, 0.8, 1].map((part) => <span class="swatch" style={{ background: css(amountColour(part, page.dark)) }} />)}
      <span>{loadText(answer, most, interval)}</span>
      <span class="faint">Squares are switches, discs are hosts. Thin grey links carry nothing. The two directions of a cable are side by side.</span>
    </div>
  );
}

function LinkCards({ view, answer, link, parameters }: { view: View; answer: NetworkAnswer; link: number; parameters: Record<string, string | number> }) {
  return (
    <div class={answer.runs.length > 1 ? 'beside' : ''}>
      {answer.runs.map((run) => <LinkCard key={run.placement} view={view} answer={answer} run={run} link={link} parameters={parameters} />)}
    </div>
  );
}

function LinkCard({ view, answer, run, link, parameters }: { view: View; answer: NetworkAnswer; run: NetworkRun; link: number; parameters: Record<string, string | number> }) {
  const asked = useAnswer<LinkAnswer>('/api/network/link', { ...parameters, placement: run.placement, link });
  const content = asked.answer;
  const { source, target, capacity } = answer.links;
  const flows = content ? content.flows.source.map((from, at) => ({ from, to: content.flows.destination[at]!, bytes: content.flows.bytes[at]!, share: content.flows.share[at]! })) : [];
  const pairs = content ? content.pairs.source.map((from, at) => ({ from, to: content.pairs.destination[at]!, bytes: content.pairs.bytes[at]!, messages: content.pairs.messages[at]! })) : [];
  const ranks = [...new Set(pairs.flatMap((pair) => [pair.from, pair.to]))].sort((a, b) => a - b);
  const name = `${answer.nodes.name[source[link]!]} → ${answer.nodes.name[target[link]!]}`;
  return (
    <section class="card" data-card="link" data-of={run.placement}>
      <div class="row between">
        <h3>{`Link ${name}, ${run.placement}`}</h3>
        <button disabled={ranks.length === 0} onClick={() => store.isolate(`link ${name}`, { ranks })}>Isolate its ranks</button>
      </div>
      {!content ? (
        <Waiting of={asked} what="the flows of this link" />
      ) : (
        <>
          <p><span data-total={String(content.bytes)}>{humanBytes(content.bytes)}</span>{` of ${grouped(flows.length + content.more_flows)} flows; the link can carry ${answer.relative ? capacity[link] : humanRate(capacity[link]!)}.`}</p>
          <Table
            label={`Flows over ${name}`}
            rows={flows}
            columns={[
              { title: 'from host', show: (row) => row.from },
              { title: 'to host', show: (row) => row.to },
              { title: 'bytes', number: true, show: (row) => humanBytes(row.bytes), by: (row) => row.bytes },
              { title: 'share of the flow', number: true, show: (row) => percent(row.share, 1) },
            ]}
          />
          {content.more_flows > 0 && <p class="faint">{`${grouped(content.more_flows)} more flows`}</p>}
          <Table
            label={`Pairs of ranks over ${name}`}
            rows={pairs}
            dim={(row) => (view.pair ? row.from !== view.pair[0] || row.to !== view.pair[1] : view.ranks !== null && !view.ranks.includes(row.from) && !view.ranks.includes(row.to))}
            chosen={(row) => view.pair !== null && row.from === view.pair[0] && row.to === view.pair[1]}
            choose={(row) => store.isolate(`${row.from} → ${row.to}`, { ranks: [...new Set([row.from, row.to])].sort((a, b) => a - b), pair: [row.from, row.to] })}
            columns={[
              { title: 'from rank', number: true, show: (row) => row.from },
              { title: 'to rank', number: true, show: (row) => row.to },
              { title: 'bytes', number: true, show: (row) => <span data-pair={`${row.from}>${row.to}`}>{humanBytes(row.bytes)}</span>, by: (row) => row.bytes },
              { title: 'messages', number: true, show: (row) => grouped(row.messages), by: (row) => row.messages },
            ]}
          />
          {content.more_pairs > 0 && <p class="faint">{`${grouped(content.more_pairs)} more pairs`}</p>}
        </>
      )}
    </section>
  );
}

addPage({ id: 'network', title: 'Network', order: 60, render: (properties) => <Network {...properties} /> });
