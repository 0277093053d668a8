// SPDX-License-Identifier: BSD-3-Clause
// The canvas of the timeline: pointer, wheel and keys move the viewport, and frames are drawn while something
// moves. The viewport lives here while it moves, and in the URL when it rests.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { grouped, humanBytes, humanNs, percent } from '../pure/format';
import { nobody, outside } from '../pure/tile';
import { between, Bounds, clamped, levelFor, moved, parseSpan, rowsText, rowsZoomed, timeText, Viewport, whole, zoomed } from '../pure/viewport';
import { shortPlace } from '../pure/place';
import { chosenClass, litFunctions } from '../pure/belongs';
import { ranksOf, View } from '../pure/view_state';
import { addKeys } from '../shell/keys';
import { drawsWith, Pen } from '../shell/picture';
import type { Finding, Messages, Meta, PathAnswer, TimelineLayout } from '../shell/protocol';
import { sized, useWidth } from '../shell/sketch';
import { store } from '../shell/store';
import { hideTip, showTip } from '../shell/tip';
import { usePalette } from '../shell/theme';
import { meter } from './frames';
import { drawTimeline, kAxis, kGutter, rowsArea, Scene, wantsCalls } from './paint';
import { RawCalls, stepCall } from './raw';
import { Layer, Tiles } from './tiles';

export interface TimelineSettings {
  layer: Exclude<Layer, 'split' | 'path'>;
  showPath: boolean;
  pins: number[];
  ruler: boolean;
}

interface Properties {
  meta: Meta;
  layout: TimelineLayout;
  view: View;
  settings: TimelineSettings;
  finding: Finding | null;
  messages: Messages | null;
  path: PathAnswer['path'] | null;
  /** of single calls, by number; null: not known (yet) */
  places: string[] | null;
  height: number;
  rest: (view: Viewport) => void;
}

type Drag = { kind: 'area' | 'zoom' | 'ruler' | 'pan'; x0: number; y0: number; x1: number; y1: number; start: Viewport };

// Milliseconds that a zoom takes.
const kEase = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1 : 130;

/** What the canvas keeps between frames, outside of Preact: sixty times a second it changes. */
class Motion {
  shown: Viewport;
  goal: Viewport;
  private begin: Viewport;
  private since = 0;
  constructor(start: Viewport) {
    this.shown = this.goal = this.begin = start;
  }
  to(goal: Viewport, smooth: boolean, now: number): void {
    this.goal = goal;
    this.begin = smooth ? this.shown : goal;
    this.since = now;
    if (!smooth) this.shown = goal;
  }
  /** Whether it goes on moving. */
  step(now: number): boolean {
    const share = (now - this.since) / kEase;
    this.shown = between(this.begin, this.goal, Math.max(0, Math.min(1, 1 - (1 - Math.min(1, share)) ** 2)));
    return share < 1;
  }
}

function startView(view: View, bounds: Bounds): Viewport {
  const all = whole(bounds);
  const time = parseSpan(view.options['time.view']);
  const rows = parseSpan(view.options['time.rows']);
  return clamped({ ...all, ...(time ? { from: time[0], to: time[1] } : {}), ...(rows ? { top: rows[0], rows: rows[1] } : {}) }, bounds);
}

export function TimelineCanvas({ meta, layout, view, settings, finding, messages, path, places, height, rest }: Properties) {
  const palette = usePalette();
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [said, say] = useState('');
  const bounds = useMemo<Bounds>(
    () => ({
      from: meta.span?.from_ns ?? layout.from_ns,
      to: Math.max(meta.span?.to_ns ?? 0, (meta.span?.from_ns ?? 0) + 1),
      rows: meta.processes.rank.length,
    }),
    [meta],
  );
  const rowOf = useMemo(() => new Map(meta.processes.rank.map((rank, row) => [rank, row])), [meta]);
  const kept = useRef<{ motion: Motion; tiles: Tiles; raw: RawCalls; focus: number; cursor: number | null; ruler: [number, number] | null; hover: { x: number; y: number } | null; drag: Drag | null; frame: number; draw: (now: number) => void } | null>(null);
  const request = () => {
    const k = kept.current;
    if (k && k.frame === 0)
      k.frame = requestAnimationFrame((now) => {
        k.frame = 0;
        k.draw(now);
      });
  };
  if (!kept.current)
    kept.current = {
      motion: new Motion(startView(view, bounds)),
      tiles: new Tiles(meta, layout, request),
      raw: new RawCalls(meta, request),
      focus: 0,
      cursor: null,
      ruler: null,
      hover: null,
      drag: null,
      frame: 0,
      draw: () => undefined,
    };
  const k = kept.current;

  const lit = useMemo(() => litFunctions(meta.functions, view), [meta, view.function, view.class]);
  const litSites = useMemo(() => sitesAt(places, view.site), [places, view.site]);
  const named = useRef(places);
  named.current = places;
  const scene: Scene = {
    meta,
    layout,
    palette,
    choice: view,
    lit: ranksOf(view),
    culprits: new Set(finding?.culprits ?? []),
    layer: settings.layer,
    showPath: settings.showPath,
    pins: settings.pins,
    litFunctions: lit,
    litSites,
    messageClass: chosenClass(meta.functions, view),
    focus: k.focus,
    messages,
    path,
    drag: null,
    ruler: null,
    hover: null,
    cursor: null,
  };
  const now = useRef(scene);
  now.current = scene;
  const size = useRef<[number, number]>([0, 0]);
  size.current = [width, height];

  const saveTimer = useRef(0);
  const written = useRef(`${view.options['time.view']} ${view.options['time.rows']}`);
  const save = () => {
    clearTimeout(saveTimer.current);
    saveTimer.current = window.setTimeout(() => {
      const at = k.motion.goal;
      const options = { ...store.get().options };
      const all = whole(bounds);
      if (at.from === all.from && at.to === all.to) delete options['time.view'];
      else options['time.view'] = timeText(at);
      if (at.rows === all.rows) delete options['time.rows'];
      else options['time.rows'] = rowsText(at);
      if (store.get().page === 'timeline') {
        written.current = `${options['time.view']} ${options['time.rows']}`;
        store.set({ options }, true);
      }
      rest(at);
    }, 180);
  };
  const go = (to: Viewport, smooth = true) => {
    k.motion.to(clamped(to, bounds), smooth, performance.now());
    save();
    request();
  };

  k.draw = (time) => {
    const node = canvas.current;
    const [w, h] = size.current;
    if (!node || w === 0) return;
    const began = performance.now();
    const moving = k.motion.step(began);
    const pen = sized(node, w, h);
    const frame: Scene = {
      ...now.current,
      focus: k.focus,
      cursor: k.cursor,
      ruler: k.ruler,
      hover: k.hover,
      drag: k.drag && k.drag.kind !== 'pan' ? { ...k.drag, kind: k.drag.kind } : null,
    };
    k.tiles.begin();
    k.raw.begin();
    const blanks = drawTimeline(pen as unknown as Pen, frame, k.tiles, k.raw, k.motion.shown, w, h, rowOf);
    k.tiles.end();
    k.raw.end();
    meter.note(time, performance.now() - began, blanks);
    node.dataset.view = timeText(k.motion.shown);
    node.dataset.blanks = String(blanks);
    node.dataset.ruler = k.ruler ? k.ruler.map(Math.round).sort((a, b) => a - b).join('-') : '';
    if (moving) request();
  };

  useEffect(request);
  useEffect(() => {
    const node = canvas.current;
    if (node) drawsWith(node, (pen) => void drawTimeline(pen, { ...now.current, focus: -1 }, k.tiles, k.raw, k.motion.shown, size.current[0], size.current[1], rowOf));
    rest(k.motion.goal);
    return () => {
      cancelAnimationFrame(k.frame);
      clearTimeout(saveTimer.current);
      hideTip();
    };
  }, []);

  // Back, forward and links: what the URL says is where the viewport goes. What this canvas wrote itself may be
  // behind what it shows by now.
  useEffect(() => {
    const now = `${view.options['time.view']} ${view.options['time.rows']}`;
    if (now === written.current) return;
    written.current = now;
    const wanted = startView(view, bounds);
    if (timeText(wanted) !== timeText(k.motion.goal) || rowsText(wanted) !== rowsText(k.motion.goal)) {
      clearTimeout(saveTimer.current);
      k.motion.to(wanted, true, performance.now());
      rest(wanted);
      request();
    }
  }, [view.options['time.view'], view.options['time.rows']]);

  // Planes that are still being computed come later.
  useEffect(() => {
    const timer = setInterval(() => {
      if (k.tiles.readyBits !== 0 && (k.tiles.readyBits & 7) !== 7) k.tiles.refresh();
    }, 1000);
    return () => clearInterval(timer);
  }, []);

  const pinned = () => now.current.pins.filter((rank) => rowOf.has(rank)).length;
  const areaNow = () => rowsArea(size.current[0], size.current[1], pinned());
  const nsAt = (x: number, v = k.motion.shown) => {
    const area = areaNow();
    return v.from + ((x - area.x) / area.width) * (v.to - v.from);
  };
  const rowAt = (y: number, v = k.motion.shown): number => {
    const area = areaNow();
    if (y < area.y && y > kAxis) return rowOf.get(now.current.pins.filter((rank) => rowOf.has(rank))[Math.floor((y - kAxis) / 22)] ?? -1) ?? -1;
    return Math.max(0, Math.min(bounds.rows - 1, Math.floor(v.top + ((y - area.y) / area.height) * v.rows)));
  };
  const point = (event: MouseEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };

  const describe = (x: number, y: number): string | null => {
    const area = areaNow();
    if (x < area.x || y < kAxis) return null;
    const row = rowAt(y);
    if (row < 0) return null;
    const ns = nsAt(x);
    const rank = meta.processes.rank[row]!;
    const host = meta.hosts[meta.processes.host[row] ?? -1];
    const lines = [`rank ${rank}${host ? ` on ${host}` : ''} at ${humanNs(Math.max(0, ns))}`];
    const v = k.motion.shown;
    const awaitedName = (process: number) => `rank ${meta.processes.rank[process] ?? process}`;
    if (wantsCalls(layout, v))
      for (const chunk of k.raw.of(v.from, v.to, row, row)) {
        if (ns < chunk.from || ns >= chunk.to) continue;
        for (const at of chunk.of.get(row) ?? []) {
          const c = chunk.calls;
          if (c.begin[at]! > ns || c.end[at]! < ns) continue;
          lines.push(`${meta.functions?.name[c.function[at]!] ?? '?'}: ${humanNs(c.end[at]! - c.begin[at]!)}${c.bytes[at]! > 0 ? `, ${humanBytes(c.bytes[at]!)}` : ''}`);
          const place = named.current?.[c.site[at]!];
          if (place) lines.push(`  at ${shortPlace(place)}`);
          if (c.wait[at]! > 0) lines.push(`  waited ${humanNs(c.wait[at]!)}${c.waitFor[at] === nobody ? '' : ` for ${awaitedName(c.waitFor[at]!)}`}${meta.wait_kinds?.[c.waitKind[at]!] ? ` (${meta.wait_kinds[c.waitKind[at]!]})` : ''}`);
        }
        if (lines.length === 1) lines.push('outside MPI');
        return lines.join('\n');
      }
    const found = k.tiles.at(levelFor(layout.bin_ns, (v.to - v.from) / area.width), row, ns);
    if (found) {
      const { tile, index } = found;
      const f = tile.function?.[index] ?? outside;
      lines.push(`in ${humanNs(tile.binNs)} here${tile.group > 1 ? `, up to ${grouped(tile.group)} ranks together` : ''}:`);
      lines.push(f === outside ? 'mostly outside MPI' : `mostly ${meta.functions?.name[f] ?? '?'} (${percent(tile.functionShare?.[index] ?? 0, 255)})`);
      lines.push(`in MPI ${percent(tile.mpiShare?.[index] ?? 0, 255)}, waiting ${percent(tile.waitShare?.[index] ?? 0, 255)}`);
      const culprit = tile.waitFor?.[index] ?? nobody;
      if (culprit !== nobody && (tile.waitShare?.[index] ?? 0) > 0) lines.push(`waits for ${awaitedName(culprit)}`);
      if (tile.messages?.[index]) lines.push(`${tile.messages[index]} messages, ${humanBytes(tile.bytesIn?.[index] ?? 0)} in, ${humanBytes(tile.bytesOut?.[index] ?? 0)} out`);
      const phase = tile.phase?.[index] ?? outside;
      if (phase !== outside && meta.phases?.[phase]) lines.push(`phase ${meta.phases[phase]}`);
    }
    return lines.join('\n');
  };

  const chooseArea = (drag: Drag) => {
    const [x0, x1] = [Math.min(drag.x0, drag.x1), Math.max(drag.x0, drag.x1)];
    const window: [number, number] = [Math.max(bounds.from, Math.round(nsAt(x0))), Math.min(Math.ceil(bounds.to), Math.round(nsAt(x1)))];
    if (window[1] <= window[0]) return;
    const [first, last] = [rowAt(Math.min(drag.y0, drag.y1)), rowAt(Math.max(drag.y0, drag.y1))];
    const all = first <= 0 && last >= bounds.rows - 1;
    store.set({ window, ranks: all ? null : meta.processes.rank.slice(first, last + 1).sort((a, b) => a - b), pair: null });
    say(`chosen: ${humanNs(window[1] - window[0])}, ${all ? 'all' : last - first + 1} ranks`);
  };

  const onDown = (event: PointerEvent) => {
    const [x, y] = point(event);
    canvas.current!.setPointerCapture(event.pointerId);
    const kind = event.button === 1 || event.shiftKey ? 'pan' : settings.ruler ? 'ruler' : y < kAxis || event.ctrlKey ? 'zoom' : 'area';
    k.drag = { kind, x0: x, y0: y, x1: x, y1: y, start: k.motion.shown };
    hideTip();
  };
  const onMove = (event: PointerEvent) => {
    const [x, y] = point(event);
    k.hover = { x, y };
    if (k.drag) {
      k.drag.x1 = x;
      k.drag.y1 = y;
      const area = areaNow();
      if (k.drag.kind === 'pan') go(moved(k.drag.start, (k.drag.x0 - x) / area.width, (k.drag.y0 - y) / area.height, bounds), false);
      else if (k.drag.kind === 'ruler') k.ruler = [nsAt(k.drag.x0), nsAt(x)];
    } else {
      const text = describe(x, y);
      if (text) showTip(text, event.clientX, event.clientY);
      else hideTip();
    }
    request();
  };
  const onUp = (event: PointerEvent) => {
    const drag = k.drag;
    k.drag = null;
    request();
    if (!drag) return;
    const far = Math.hypot(drag.x1 - drag.x0, drag.y1 - drag.y0) > 4;
    if (far && drag.kind === 'area') chooseArea(drag);
    else if (far && drag.kind === 'ruler' && k.ruler) say(`${humanNs(Math.abs(k.ruler[1] - k.ruler[0]))} from ${humanNs(Math.max(0, Math.min(...k.ruler)))}`);
    else if (far && drag.kind === 'zoom') go({ ...k.motion.goal, from: nsAt(Math.min(drag.x0, drag.x1)), to: nsAt(Math.max(drag.x0, drag.x1)) });
    else if (!far) {
      const row = rowAt(drag.y0);
      if (row < 0 || drag.y0 < kAxis) return;
      k.focus = row;
      const rank = meta.processes.rank[row]!;
      const before = store.get().ranks;
      if (drag.x0 < kGutter && event.shiftKey && before) store.set({ ranks: before.includes(rank) ? before.filter((r) => r !== rank) : [...before, rank].sort((a, b) => a - b), pair: null });
      else store.set({ ranks: before?.length === 1 && before[0] === rank ? null : [rank], pair: null });
    }
  };
  useEffect(() => {
    const node = canvas.current!;
    // Not through Preact: only a listener that is not passive may keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const [x, y] = point(event);
      const area = areaNow();
      const amount = Math.max(-200, Math.min(200, event.deltaY * (event.deltaMode === 1 ? 24 : 1)));
      const goal = k.motion.goal;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) go(moved(goal, event.deltaX / area.width, 0, bounds), false);
      else if (event.shiftKey) go(moved(goal, 0, amount / 600, bounds));
      else if (event.ctrlKey || event.metaKey || x < area.x) go(rowsZoomed(goal, Math.exp(amount / 300), (y - area.y) / area.height, bounds));
      else go(zoomed(goal, Math.exp(amount / 300), Math.max(0, Math.min(1, (x - area.x) / area.width)), bounds));
    };
    node.addEventListener('wheel', onWheel, { passive: false });
    return () => node.removeEventListener('wheel', onWheel);
  }, []);

  const focusTo = (row: number) => {
    k.focus = Math.max(0, Math.min(bounds.rows - 1, row));
    const v = k.motion.goal;
    if (k.focus < v.top) go({ ...v, top: k.focus });
    else if (k.focus + 1 > v.top + v.rows) go({ ...v, top: k.focus + 1 - v.rows });
    say(`rank ${meta.processes.rank[k.focus]}`);
    request();
  };
  const step = (forward: boolean) => {
    const v = k.motion.goal;
    const from = k.cursor ?? (forward ? v.from : v.to);
    const rank = meta.processes.rank[k.focus]!;
    void stepCall(meta, rank, from, forward, meta.functions?.name.indexOf(store.get().function ?? '') ?? -1, sitesAt(named.current, store.get().site)).then(
      (call) => {
        if (!call) {
          const there = store.get().site;
          say(`rank ${rank} makes no ${forward ? 'later' : 'earlier'} ${store.get().function ?? 'call'}${there === null ? '' : ` at ${shortPlace(there)}`}`);
          return;
        }
        k.cursor = call.begin;
        const span = v.to - v.from;
        if (call.begin < v.from || call.end > v.to) go({ ...v, from: call.begin - span / 2, to: call.begin + span / 2 });
        say(`rank ${rank}: ${meta.functions?.name[call.function] ?? '?'} at ${humanNs(call.begin)}, ${humanNs(call.end - call.begin)}${named.current?.[call.site] ? `, from ${shortPlace(named.current[call.site]!)}` : ''}`);
        request();
      },
      (error: unknown) => say(error instanceof Error ? error.message : String(error)),
    );
  };
  const fit = () => {
    const window = store.get().window;
    const all = whole(bounds);
    const goal = k.motion.goal;
    if (window && !(Math.round(goal.from) === window[0] && Math.round(goal.to) === window[1])) go({ ...goal, from: window[0], to: window[1] });
    else go(all);
  };
  useEffect(
    () =>
      addKeys('Timeline', [
        { keys: 'w W + =', does: '', run: () => go(zoomed(k.motion.goal, 1 / 1.5, centre(), bounds)) },
        { keys: 's S -', does: '', run: () => go(zoomed(k.motion.goal, 1.5, centre(), bounds)) },
        { keys: 'a A ArrowLeft', does: '', run: () => go(moved(k.motion.goal, -0.2, 0, bounds)) },
        { keys: 'd D ArrowRight', does: '', run: () => go(moved(k.motion.goal, 0.2, 0, bounds)) },
        { keys: 'Shift+ArrowUp PageUp', does: '', run: () => go(moved(k.motion.goal, 0, -0.5, bounds)) },
        { keys: 'Shift+ArrowDown PageDown', does: '', run: () => go(moved(k.motion.goal, 0, 0.5, bounds)) },
        { keys: 'i', does: '', run: () => go(rowsZoomed(k.motion.goal, 1 / 2, 0.5, bounds)) },
        { keys: 'o', does: '', run: () => go(rowsZoomed(k.motion.goal, 2, 0.5, bounds)) },
        { keys: 'f', does: '', run: fit },
        { keys: 'Home', does: '', run: () => go(whole(bounds)) },
        { keys: 'ArrowUp', does: '', run: () => focusTo(k.focus - 1) },
        { keys: 'ArrowDown', does: '', run: () => focusTo(k.focus + 1) },
        { keys: 'Enter', does: '', run: () => store.set({ ranks: [meta.processes.rank[k.focus]!], pair: null }) },
        { keys: 'p', does: '', run: () => pin(meta.processes.rank[k.focus]!) },
        { keys: 'm', does: '', run: () => store.set({ window: [Math.round(k.motion.goal.from), Math.round(k.motion.goal.to)] }) },
        { keys: 'r', does: '', run: () => {
          store.option('time.ruler', store.get().options['time.ruler'] ? null : '1');
          k.ruler = null;
          request();
        } },
        { keys: ',', does: '', run: () => step(false) },
        { keys: '.', does: '', run: () => step(true) },
      ]),
    [meta],
  );
  const centre = () => {
    const area = areaNow();
    return k.hover && k.hover.x > area.x ? (k.hover.x - area.x) / area.width : 0.5;
  };

  const first = layout && k.tiles.error;
  return (
    <div ref={box} class="timeline" data-error={first ?? undefined}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Timeline of ${bounds.rows} ranks over ${humanNs(bounds.to - bounds.from)}. The keys W, S, A and D zoom and move, the arrows choose a rank, comma and full stop go from call to call.`}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerLeave={() => {
          k.hover = null;
          hideTip();
          request();
        }}
        onDblClick={(event) => go(zoomed(k.motion.goal, 0.25, Math.max(0, Math.min(1, (point(event)[0] - kGutter) / areaNow().width)), bounds))}
      />
      <p class="unseen" aria-live="polite">{said}</p>
      {said && <p class="faint said" aria-hidden="true">{said}</p>}
    </div>
  );
}

/** The numbers of a place; null: none is chosen, or places are not known yet. */
function sitesAt(places: string[] | null, chosen: string | null): Set<number> | null {
  return places && chosen !== null ? new Set(places.flatMap((place, number) => (place === chosen ? [number] : []))) : null;
}

export function pin(rank: number): void {
  const pins = new Set((store.get().options['time.pins'] ?? '').split(',').filter(Boolean).map(Number));
  if (pins.has(rank)) pins.delete(rank);
  else if (pins.size < 12) pins.add(rank);
  store.option('time.pins', [...pins].join(','));
}
