// SPDX-License-Identifier: BSD-3-Clause
// What the page Machine shows, apart from how: layout, camera, clock, chosen ranks, overlay. It makes the
// scene of a frame; the stage draws it, and the panels change it. Nothing here knows the document.
import { Cards, DEFAULTS, Mark, marksOf, OverlayOptions } from './overlay';
import { MachineAnswer, TrafficAnswer } from './answers';
import { between, Bounds, CameraState, fitted, PRESETS, Projection, Vec } from './camera';
import { PlaybackClock, shownWindow } from './clock';
import { MOST_PARTS, nodesOfCabinets, visibleParts } from './detail';
import { classOfFunction } from '../pure/belongs';
import { Activity, activityOf, binsOf, Chosen, Flow, flowsOf, pairKey } from './flows';
import { Machine, machineOf } from './hierarchy';
import { Layout, LayoutName, layoutOf, LAYOUTS } from './layout';
import { FetchTraffic, Playback } from './playback';
import { markedOf, MOST_TUBES, Palette, Scene, thingOf, tubesOf } from './scene';

const FLIGHT_MS = 700;

// What the reader chose, from the state that all pages share.
export interface Choices {
  ranks: Set<number> | null; // bright; null: all
  pairs: Set<string> | null; // only these, keys of flows.ts
  window: [number, number] | null; // nanoseconds
  class: string | null;
  function: string | null;
}

export class MachineModel {
  readonly machine: Machine;
  readonly clock: PlaybackClock;
  readonly playback: Playback;
  readonly overlay: OverlayOptions = { ...DEFAULTS };
  layout: Layout;
  camera: CameraState;
  cards: Cards | null = null;
  choices: Choices = { ranks: null, pairs: null, window: null, class: null, function: null };
  selected = -1;
  following = false;
  width = 800;
  height = 500;
  private flight?: { from: CameraState; to: CameraState; start_ms: number };
  private readonly layouts = new Map<LayoutName, Layout>();
  private readonly nodesOf: number[][];
  private marks: Mark[] = [];
  // From the frame before: a camera that moves changes neither.
  private activity?: { key: string; traffic: TrafficAnswer; activity: Activity };
  private flows?: { key: string; traffic?: TrafficAnswer; flows: Flow[] };
  private bright?: { activity: Activity; ranks: Set<number> | null; chosen: number; set: Set<number> };
  private dirty = true;

  constructor(
    readonly answer: MachineAnswer,
    fetchTraffic: FetchTraffic,
    private readonly changed: () => void,
  ) {
    this.machine = machineOf(answer);
    this.nodesOf = nodesOfCabinets(this.machine);
    this.layout = this.layoutNamed('blueprint');
    this.camera = this.home();
    this.clock = new PlaybackClock(answer.begin_ns, answer.end_ns);
    this.clock.seek(answer.end_ns);
    this.playback = new Playback(answer.begin_ns, answer.end_ns, fetchTraffic, () => this.touch());
    void this.playback.start();
  }

  // Something changed that the panels show.
  touch() {
    this.dirty = true;
    this.changed();
  }
  // Something changed that only the picture shows.
  repaint() {
    this.dirty = true;
  }

  private layoutNamed(name: LayoutName): Layout {
    let found = this.layouts.get(name);
    if (!found) this.layouts.set(name, (found = layoutOf(this.machine, name)));
    return found;
  }
  setLayout(name: LayoutName, fly = true) {
    if (this.layout.name === name) return;
    this.layout = this.layoutNamed(name);
    if (fly) {
      this.flight = undefined;
      this.camera = this.home();
    }
    this.touch();
  }
  nextLayout() {
    const at = LAYOUTS.findIndex((layout) => layout.name === this.layout.name);
    this.setLayout(LAYOUTS[(at + 1) % LAYOUTS.length].name);
  }

  // The whole machine, from where its layout is meant to be seen.
  home(): CameraState {
    const preset = LAYOUTS.find((layout) => layout.name === this.layout.name)!.preset;
    return this.presetCamera(preset);
  }
  presetCamera(name: string): CameraState {
    const preset = PRESETS.find((entry) => entry.name === name) ?? PRESETS[0];
    return fitted(this.layout.bounds, preset.yaw, preset.pitch, this.width / Math.max(1, this.height));
  }
  resize(width: number, height: number) {
    const wasHome = JSON.stringify(this.camera) === JSON.stringify(this.home());
    this.width = width;
    this.height = height;
    if (wasHome) this.camera = this.home();
    this.repaint();
  }

  setCamera(camera: CameraState) {
    this.flight = undefined;
    this.camera = camera;
    this.repaint();
  }
  fly(to: CameraState, now_ms: number) {
    this.flight = { from: this.camera, to, start_ms: now_ms };
    this.repaint();
  }
  get flying() {
    return this.flight !== undefined;
  }

  // Bounds of some ranks' cores, with some room around them.
  boundsOf(ranks: Iterable<number>): Bounds | null {
    const min: Vec = [Infinity, Infinity, Infinity];
    const max: Vec = [-Infinity, -Infinity, -Infinity];
    for (const rank of ranks) {
      const core = this.machine.coreOfRank[rank] ?? -1;
      if (core < 0) continue;
      for (let axis = 0; axis < 3; ++axis) {
        const at = this.layout.core[core * 6 + axis];
        min[axis] = Math.min(min[axis], at - 4);
        max[axis] = Math.max(max[axis], at + 4);
      }
    }
    return Number.isFinite(min[0]) ? { min, max } : null;
  }
  flyToRanks(ranks: Iterable<number>, now_ms: number): boolean {
    const bounds = this.boundsOf(ranks);
    if (!bounds) return false;
    this.fly(fitted(bounds, this.camera.yaw, this.camera.pitch, this.width / Math.max(1, this.height)), now_ms);
    return true;
  }
  select(rank: number) {
    this.selected = this.machine.coreOfRank[rank] >= 0 ? rank : -1;
    if (this.selected < 0) this.following = false;
    this.touch();
  }
  follow(on: boolean) {
    this.following = on && this.selected >= 0;
    this.touch();
  }

  setCards(cards: Cards | null) {
    this.cards = cards;
    this.remark();
  }
  setOverlay(patch: Partial<OverlayOptions>) {
    Object.assign(this.overlay, patch);
    this.remark();
  }
  remark() {
    this.marks = this.cards ? marksOf(this.cards, this.overlay) : [];
    this.touch();
  }
  get shownMarks(): readonly Mark[] {
    return this.marks;
  }

  choose(choices: Choices) {
    const { window } = choices;
    if (String(window) !== String(this.choices.window)) {
      this.clock.span(window?.[0] ?? this.answer.begin_ns, window?.[1] ?? this.answer.end_ns);
      if (window) this.clock.seek(window[1]);
    }
    this.choices = choices;
    this.repaint();
  }

  // Whether the next frame differs from the last one.
  advance(now_ms: number): boolean {
    let moves = this.dirty;
    if (this.clock.tick(now_ms)) moves = true;
    if (this.flight) {
      const part = (now_ms - this.flight.start_ms) / FLIGHT_MS;
      this.camera = between(this.flight.from, this.flight.to, part);
      if (part >= 1) this.flight = undefined;
      moves = true;
    }
    if (this.following && this.selected >= 0) {
      const core = this.machine.coreOfRank[this.selected];
      const at = [0, 1, 2].map((axis) => this.layout.core[core * 6 + axis]) as Vec;
      if (at.some((value, axis) => value !== this.camera.target[axis])) {
        this.camera = { ...this.camera, target: at };
        moves = true;
      }
    }
    this.dirty = false;
    return moves;
  }

  get projection() {
    return new Projection(this.camera, this.width, this.height);
  }

  // What is shown now: the stretch of playback, and without a trace or before playback the whole.
  shown(): { traffic?: TrafficAnswer; loading: boolean; from: number; to: number } {
    const { clock } = this;
    const atEnd = !clock.playing && clock.now >= clock.end;
    if (atEnd && !this.choices.window) {
      return { traffic: this.playback.overview, loading: !this.playback.overview, from: clock.begin, to: clock.end };
    }
    const { from, to } = this.answer.traced ? (atEnd ? { from: clock.begin, to: clock.end } : shownWindow(clock)) : { from: clock.begin, to: clock.end };
    if (to - from > (this.answer.end_ns - this.answer.begin_ns) / 12)
      return { traffic: this.playback.overview, loading: !this.playback.overview, from, to };
    return { ...this.playback.at((from + to) / 2), from, to };
  }

  // `quality` below 1: fewer cores, for a picture that moves.
  scene(palette: Palette, quality = 1): Scene {
    const projection = this.projection;
    const visible = visibleParts(this.machine, this.layout, this.nodesOf, projection, MOST_PARTS, MOST_PARTS * quality);
    const { traffic, from, to } = this.shown();
    const { ranks } = this.choices;
    const bins: [number, number] = traffic ? binsOf(traffic, from, to) : [0, 0];
    const flows = traffic ? this.flowsIn(traffic, bins, visible.level) : [];
    const { halos, arcs } = markedOf(this.machine, this.layout, visible.level, this.isolatedMarks());
    const activity = traffic
      ? this.activityIn(traffic, bins)
      : { share: new Float32Array(this.answer.host.length), function: new Int32Array(this.answer.host.length).fill(-1) };
    return {
      machine: this.machine,
      layout: this.layout,
      visible,
      activity,
      tubes: tubesOf(this.layout, visible.level, flows, ranks),
      moreTubes: Math.max(0, flows.length - MOST_TUBES),
      halos,
      arcs,
      selectedRank: this.selected,
      bright: this.brightIn(activity),
      palette,
    };
  }

  private activityIn(traffic: TrafficAnswer, [first, last]: [number, number]): Activity {
    const key = `${first} ${last}`;
    if (this.activity?.key !== key || this.activity.traffic !== traffic)
      this.activity = { key, traffic, activity: activityOf(traffic, first, last, this.answer.host.length) };
    return this.activity.activity;
  }

  // Ranks that are not dimmed: the chosen ones, of a chosen function those that were longest in it.
  private brightIn(activity: Activity): Set<number> | null {
    const { ranks, function: name } = this.choices;
    const chosen = name === null || !this.answer.traced ? -1 : this.answer.functions.findIndex((entry) => entry.name === name);
    if (chosen < 0) return ranks;
    if (this.bright?.activity !== activity || this.bright.ranks !== ranks || this.bright.chosen !== chosen) {
      const set = new Set<number>();
      activity.function.forEach((where, rank) => where === chosen && (!ranks || ranks.has(rank)) && set.add(rank));
      this.bright = { activity, ranks, chosen, set };
    }
    return this.bright.set;
  }

  private isolatedMarks(): Mark[] {
    const { ranks } = this.choices;
    return ranks ? this.marks.filter((mark) => mark.ranks.every((rank) => ranks.has(rank))) : this.marks;
  }

  private flowsIn(traffic: TrafficAnswer, [first, last]: [number, number], level: Scene['visible']['level']): Flow[] {
    const { ranks, pairs } = this.choices;
    const key = [first, last, level, ranks ? [...ranks].join() : '', pairs ? [...pairs].join() : '', this.choices.class, this.choices.function].join('|');
    if (this.flows?.key === key && this.flows.traffic === traffic) return this.flows.flows;
    const classes = this.chosenClasses();
    const chosen: Chosen = { ...(ranks ? { ranks } : {}), ...(pairs ? { pairs } : {}), ...(classes ? { classes } : {}) };
    const flows = flowsOf(traffic, this.answer.classes, first, last, (rank) => thingOf(this.machine, level, rank), chosen);
    this.flows = { key, traffic, flows };
    return flows;
  }
  // Calls of the chosen function send messages of one class.
  private classOfFunction(): string | null {
    const found = this.answer.functions.find((entry) => entry.name === this.choices.function);
    return found ? classOfFunction(found.name, found.group) : null;
  }
  private chosenClasses(): Set<number> | undefined {
    const name = this.choices.class ?? this.classOfFunction();
    if (name === null) return undefined;
    return new Set(this.answer.classes.flatMap((entry, at) => (entry.name === name ? [at] : [])));
  }

  functionName(number: number): string {
    return this.answer.functions[number]?.name ?? 'an unknown call';
  }
}

export { pairKey };
