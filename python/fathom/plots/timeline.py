# SPDX-License-Identifier: BSD-3-Clause
"""A traced job over time: the whole run with all its ranks, and beneath it some of its calls and messages in detail.

Above, the grid of the analysis "timeline": a row for each thread, or for neighbouring ranks; a cell has the colour of
the MPI calls that took most of its time, the paler the more of it was the program's own. Below, calls as bars and
messages as arrows, in a window of the user's or inside the longest phase.
"""
import bisect
import collections
import dataclasses
import itertools
import json
import os
import re
import subprocess

import numpy
from matplotlib import collections as shapes
from matplotlib import colors, patches

from . import numbers, style

MESSAGE_EVENTS = 160  # sent and received, in a window that nobody chose, of up to 16 ranks
MOST_EVENTS = 400_000
MOST_LANES = 32       # of the detail
MOST_ARROWS = 1500    # more would hide the calls
FINEST = 1 / 2000     # of the window; calls of a family that are closer than this are drawn as one
LEAST_SHARE = 0.0005  # of all ranks' time

# Groups of MPI functions (trace/attributes.cpp) as they are drawn.
FAMILIES = (("send and receive", ("sendreceive",)), ("wait and test", ("completion",)), ("collective", ("collective",)),
            ("one-sided, files", ("onesided", "io")), ("send", ("send",)), ("receive", ("receive", "probe")))
OTHER = "other calls"
HIDDEN = "#555555"    # arrows of messages inside MPI calls
NAMES = [name for name, _ in FAMILIES] + [OTHER]
COLOURS = dict(zip(NAMES, style.CATEGORIES))
_FAMILY = {group: name for name, groups in FAMILIES for group in groups}


def family(group):
    return _FAMILY.get(group, OTHER)


class BadWindow(Exception):
    """One sentence for the user."""


# ---- the whole run ----

@dataclasses.dataclass
class Band:
    """A phase, from a moment to another, ns."""
    begin: float
    end: float
    name: str


class Overview:
    """The tables and figures of the analysis "timeline" as arrays, and phases as bands.

    `found` is the table `phases` of the analysis "phases"; it counts where the program names none.
    """

    def __init__(self, figures, tables, found=None):
        self.begin, self.end = figures["from_s"] * 1e9, figures["to_s"] * 1e9
        self.bin_ns, self.bins = figures["bin_seconds"] * 1e9, int(figures["bins"])
        rows = tables["rows"]
        self.first, self.last, self.thread, self.threads = (
            numpy.asarray(rows[name], numpy.int64) for name in ("rank", "last_rank", "thread", "threads"))
        cells = tables["cells"]
        self.time = numpy.zeros((len(NAMES), len(self.first), self.bins))
        number = {name: at for at, name in enumerate(NAMES)}
        families = numpy.array([number[family(group)] for group in cells["group"]], numpy.int64)
        numpy.add.at(self.time, (families, numpy.asarray(cells["row"], numpy.int64), numpy.asarray(cells["bin"], numpy.int64)),
                     numpy.asarray(cells["seconds"], float) * 1e9)
        self.groups = dict(zip(tables["functions"]["name"], tables["functions"]["group"]))
        self.iterations = [] if found is None else list(zip(*(found[name] for name in ("from_s", "to_s", "iteration_seconds"))))
        self.named = len(tables["phases"]["name"]) > 0
        self.bands = self._named_bands(tables["phases"]) if self.named else self._found_bands(found)

    def _named_bands(self, table):
        """Of each bin the phase in which all ranks spend most of it; neighbouring bins of one phase are one band."""
        names = list(dict.fromkeys(table["name"]))
        time = numpy.zeros((len(names), self.bins))
        numpy.add.at(time, ([names.index(name) for name in table["name"]], numpy.asarray(table["bin"], numpy.int64)),
                     numpy.asarray(table["seconds"], float))
        bands = []
        for at in range(self.bins):
            if time[:, at].sum() <= 0:
                continue
            name, begin = names[int(time[:, at].argmax())], self.begin + at * self.bin_ns
            if bands and bands[-1].name == name and begin - bands[-1].end < self.bin_ns / 2:
                bands[-1].end = begin + self.bin_ns
            else:
                bands.append(Band(begin, begin + self.bin_ns, name))
        return bands

    def _found_bands(self, found):
        if found is None:
            return []
        bands = [Band(begin * 1e9, end * 1e9, f"phase {number}: {iterations:,} iterations") for number, begin, end, iterations
                 in zip(found["phase"], found["from_s"], found["to_s"], found["iterations"])]
        return [band for band in bands if band.begin < self.end and band.end > self.begin]

    def iteration_ns(self, moment):
        """How long an iteration of the loop takes that runs at this moment; 0: none was found."""
        return next((seconds * 1e9 for begin, end, seconds in self.iterations if begin * 1e9 <= moment < end * 1e9), 0)

    def longest_phase(self):
        """The longest stretch of the phase with most time; the whole run where there are no phases."""
        if not self.bands:
            return Band(self.begin, self.end, "")
        sums = collections.Counter()
        for band in self.bands:
            sums[band.name] += band.end - band.begin
        most = sums.most_common(1)[0][0]
        return max((band for band in self.bands if band.name == most), key=lambda band: band.end - band.begin)

    def pictured(self):
        """Colours of the cells, row by row."""
        share = (self.time.sum(axis=0) / (self.bin_ns * self.threads[:, None]).clip(1e-9)).clip(0, 1)[:, :, None]
        palette = numpy.array([colors.to_rgb(COLOURS[name]) for name in NAMES])
        return 1 - share * (1 - palette[self.time.argmax(axis=0)])

    def families(self):
        """Those that can be seen."""
        whole = self.bin_ns * self.bins * self.threads.sum()
        return [name for name, of in zip(NAMES, self.time) if of.sum() > LEAST_SHARE * whole]

    def ranks_of_rows(self):
        """What the rows are, as the picture says it."""
        if (self.thread >= 0).all():
            return "" if len(set(self.first)) == len(self.first) else "threads in rows of their own (t1, …)"
        together = int((self.last - self.first).max()) + 1
        return f"{together} ranks to a row" if together > 1 else "all threads of a rank in one row"


# ---- a part of it ----

class Detail:
    """What lies in the window: bars (rank, thread, begin, end, function), cut at its edges, and arrows (rank, thread,
    sent, rank, thread, received, hidden); ns. `events` may begin earlier, so that calls that were under way when the
    window begins are known."""

    def __init__(self, events, begin, end, ranks):
        self.begin, self.end, self.ranks = begin, end, ranks
        self.bars, self.arrows = [], []
        self._open = collections.defaultdict(list)     # (rank, thread): enters
        self._on_the_way = collections.defaultdict(collections.deque)
        for event in events:
            self._take(event)
        for place, calls in self._open.items():  # not ended in the window
            if calls:
                self._bar(place, calls[0][1], end, calls[0][0])

    def _take(self, event):
        time, rank, kind = event["time_ns"], event["rank"], event["kind"]
        place = (rank, event["thread"])
        calls = self._open[place]
        if kind == "enter":
            calls.append((event["function"], time))
        elif kind == "leave" and calls:
            function, began = calls.pop()
            if not calls:  # a call that another call makes is part of it
                self._bar(place, began, time, function)
        elif kind == "sent" and "peer" in event:
            self._on_the_way[self._channel(event, rank, event["peer"])].append((place, time))
        elif kind == "received" and "peer" in event:
            sent = self._on_the_way[self._channel(event, event["peer"], rank)]
            began = sent.popleft() if sent else None  # None: sent before what was read
            if began is not None and began[1] >= self.begin:
                self.arrows.append((*began[0], began[1], *place, time, event["class"] != "point-to-point"))

    def _bar(self, place, began, ended, function):
        if ended >= self.begin:
            self.bars.append((*place, max(began, self.begin), ended, function))

    @staticmethod
    def _channel(event, source, destination):
        return event.get("comm"), source, destination, event["tag"]

    def lanes(self):
        """(rank, thread) of each lane, from the top: first threads, and others that do something here."""
        there = {(rank, 0) for rank in self.ranks} | {bar[:2] for bar in self.bars}
        for arrow in self.arrows:
            there |= {arrow[0:2], arrow[3:5]}
        return sorted(there)


def nanoseconds(text):
    """Of "1.5s", "20ms", "3us", "7ns"."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(s|ms|us|ns)?", text)
    if not found:
        raise BadWindow(f"'{text}' is not a time; write 1.5s, 20ms, 3us or 7ns")
    return round(float(found[1]) * {"s": 1e9, None: 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[found[2]])


def moments_to_look_from(overview):
    """Where to look for a window of messages, in turn: the middle of the longest phase, its beginning, that of the run."""
    phase = overview.longest_phase()
    return [(int(begin), int(min(end, overview.end)) + 1) for begin, end in (
        ((phase.begin + phase.end) / 2, phase.end), (phase.begin, phase.end), (overview.begin, overview.end))]


def message_events(ranks):
    """How many messages, sent and received, a window of these ranks shows."""
    return MESSAGE_EVENTS * max(ranks, 16) // 16


def window(begin, end, overview, count):
    """The window of messages begin..end, but a whole iteration where that has few enough of them: `count` gives the
    number of messages between two moments."""
    whole = begin + int(1.1 * overview.iteration_ns(begin))
    return begin, whole if whole > end and count(begin, whole) <= MOST_ARROWS // 2 else end


def some_of(phase):
    """A window without messages to go by: a twentieth of the phase, in its middle."""
    middle, part = (phase.begin + phase.end) / 2, (phase.end - phase.begin) / 40
    return int(middle - part), int(middle + part) + 1


class Reader:
    """The run's trace, through `fathom trace`."""

    def __init__(self, fathom, run):
        self.fathom, self.run = fathom, run
        told = subprocess.run([fathom, "trace", "info", "--json", run], check=False, capture_output=True, text=True)
        if told.returncode != 0:
            raise OSError(told.stderr.strip().removeprefix("fathom trace: "))
        info = json.loads(told.stdout)
        self.application = info["application"]
        self.all_ranks = len(info["processes"])
        self.ranks = sorted(one["rank"] for one in info["processes"])[:MOST_LANES]
        self.end = max((one["last_ns"] for one in info["processes"]), default=0)

    def events(self, begin, end, kinds, most=MOST_EVENTS):
        """(at most so many events of the window in the order of time, whether there are more)"""
        command = [self.fathom, "trace", "print", "--json", "--ranks", ",".join(map(str, self.ranks)),
                   "--from", f"{begin}ns", "--to", f"{end}ns", "--kinds", ",".join(kinds), self.run]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            found = [json.loads(line) for line in itertools.islice(reader.stdout, most) if line.startswith("{")]
            more = reader.stdout.readline() != ""
            if more:
                reader.terminate()
        if not more and reader.returncode != 0:
            raise OSError("fathom trace print could not read the trace")
        return found, more

    def window_of_messages(self, overview):
        """Some messages inside the longest phase."""
        for begin, end in moments_to_look_from(overview):
            found, _ = self.events(begin, end, ["messages"], message_events(len(self.ranks)))
            if found:
                return window(found[0]["time_ns"], found[-1]["time_ns"] + 1, overview, self._messages)
        return some_of(overview.longest_phase())

    def _messages(self, begin, end):
        return len(self.events(begin, end, ["messages"], 2 * MOST_ARROWS)[0]) // 2

    def detail(self, begin, end):
        """Reads further back until each rank's calls at the window's beginning are known, if there are not too many."""
        events, more = self.events(begin, end, ["calls", "messages"])
        back = end - begin
        while begin > 0 and not more:
            back = min(8 * back, begin)
            before, more = self.events(begin - back, end, ["calls", "messages"])
            if more:
                break
            events = before
            if back == begin or {event["rank"] for event in events if event["time_ns"] < begin} >= set(self.ranks):
                break
        return Detail(events, begin, end, self.ranks)


def window_of(reader, begin, end):
    """`begin` and `end` as the user wrote them, or None; in ns. None: no window was chosen."""
    if not begin and not end:
        return None
    first, last = nanoseconds(begin or "0s"), nanoseconds(end) if end else reader.end + 1
    if first >= last:
        raise BadWindow(f"the window from {begin} to {end} is empty; it must begin before it ends")
    if first > reader.end:
        raise BadWindow(f"the trace ends {reader.end / 1e9:.6f} s after it began, before {begin}")
    return first, last


# ---- drawing ----

def merged(bars, gap, groups):
    """[(rank, thread, begin, end, function or None, family)]: calls of one family that no `gap` parts are one bar."""
    boxes = []
    for rank, thread, began, ended, function in sorted(bars):
        last, name = boxes[-1] if boxes else None, family(groups.get(function))
        if last and last[:2] == (rank, thread) and last[5] == name and began - last[3] < gap:
            boxes[-1] = (rank, thread, last[2], max(ended, last[3]), function if last[4] == function else None, name)
        else:
            boxes.append((rank, thread, began, ended, function, name))
    return boxes


def draw_calls(axes, detail, lane, at, groups):
    by_family = collections.defaultdict(list)
    width = at(detail.end)
    inches = axes.get_window_extent().width / axes.figure.dpi
    for rank, thread, began, ended, function, name in merged(detail.bars, FINEST * (detail.end - detail.begin), groups):
        middle = lane[rank, thread]
        by_family[name].append(patches.Rectangle((at(began), middle - 0.34), at(ended) - at(began), 0.68))
        # The name, where it has room in the bar: 0.068 in for each letter at this size.
        if function and (at(ended) - at(began)) / width * inches > 0.068 * len(function) + 0.08:
            axes.text((at(began) + at(ended)) / 2, middle, function, ha="center", va="center", fontsize=7,
                      color=style.ink_on(COLOURS[name]), clip_on=True)
    for name, boxes in by_family.items():
        axes.add_collection(shapes.PatchCollection(boxes, facecolor=COLOURS[name], edgecolor=COLOURS[name], linewidth=0.4))
    return set(by_family)


def draw_arrows(axes, detail, lane, at):
    for source, its_thread, sent, destination, thread, received, hidden in detail.arrows[:MOST_ARROWS]:
        axes.annotate("", (at(received), lane[destination, thread]), (at(sent), lane[source, its_thread]),
                      arrowprops={"arrowstyle": "->,head_length=0.25,head_width=0.12", "shrinkA": 0, "shrinkB": 0,
                                  "linewidth": 0.6 if hidden else 0.8, "color": HIDDEN if hidden else style.INK})


def lane_names(lanes):
    """Ranks, and beneath them numbers of further threads."""
    return [str(rank) if thread == 0 else f"t{thread}" for rank, thread in lanes]


def draw_bands(axes, overview, size):
    """Phases above the ranks, in two tints in turn, with their names where there is room."""
    names = list(dict.fromkeys(band.name for band in overview.bands))
    inches = axes.get_window_extent().width / axes.figure.dpi / (overview.end - overview.begin)
    for band in overview.bands:
        tint = style.CATEGORIES[names.index(band.name) % len(style.CATEGORIES)]
        pale = tuple(1 - 0.45 * (1 - part) for part in colors.to_rgb(tint))
        begin, end = max(band.begin, overview.begin), min(band.end, overview.end)
        axes.axvspan(begin / size, end / size, facecolor=pale, edgecolor="white", linewidth=0.5 if len(overview.bands) < 100 else 0)
        for text in (band.name, band.name.split(":")[0]):
            if (end - begin) * inches > 0.075 * len(text) + 0.1:
                axes.text((begin + end) / 2 / size, 0.5, text, ha="center", va="center", fontsize=7.5, color=style.INK,
                          clip_on=True, transform=axes.get_xaxis_transform())
                break
    axes.set_yticks([])
    axes.set_xticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_ylabel("phase", rotation=0, ha="right", va="center", fontsize=9)


def draw_overview(axes, overview, size):
    rows = len(overview.first)
    axes.imshow(overview.pictured(), aspect="auto", interpolation="nearest",
                extent=(overview.begin / size, (overview.begin + overview.bins * overview.bin_ns) / size, rows - 0.5, -0.5))
    axes.set_xlim(overview.begin / size, max(overview.end, overview.begin + 1) / size)
    if rows <= MOST_LANES:
        for edge in range(1, rows):
            axes.axhline(edge - 0.5, color="white", linewidth=1.2)
    if rows <= 16 or (overview.thread > 0).any():
        distance = -(-rows // 48)
        names = lane_names(zip(overview.first, numpy.maximum(overview.thread, 0)))
        axes.set_yticks(range(0, rows, distance), names[::distance], fontsize=8 if rows <= 16 else 6)
    else:
        ranks = [int(rank) for rank in overview.first]
        wanted = range(0, int(overview.last.max()) + 1, style.count_ticks(int(overview.last.max()) + 1, 8))
        places = [(bisect.bisect_right(ranks, rank) - 1, rank) for rank in wanted]
        axes.set_yticks([place for place, _ in places], [str(rank) for _, rank in places])
    axes.tick_params(length=3)
    axes.set_ylabel("rank")


def draw_detail(picture, axes, overview, detail):
    lanes = detail.lanes()
    lane = {place: number for number, place in enumerate(lanes)}
    size, sign, _ = style.time_unit(detail.end - detail.begin)
    at = lambda time: (time - detail.begin) / size  # noqa: E731
    axes.set_xlim(0, at(detail.end))
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    families = draw_calls(axes, detail, lane, at, overview.groups)
    draw_arrows(axes, detail, lane, at)
    axes.set_yticks(range(len(lanes)), lane_names(lanes), fontsize=9 if len(lanes) <= 16 else 7)
    axes.set_ylabel("rank")
    axes.set_xlabel(f"{sign} after {detail.begin / 1e9:.6f} s")
    style.plain(axes)
    return families


def say_detail(overview, detail):
    drawn = min(len(detail.arrows), MOST_ARROWS)
    arrows = f"{drawn:,} of {len(detail.arrows):,} messages" if drawn < len(detail.arrows) else style.plural(drawn, "message")
    every = int(overview.last.max(initial=0)) + 1
    ranks = f", ranks {detail.ranks[0]}–{detail.ranks[-1]} of {every:,}" if 0 < len(detail.ranks) < every else ""
    where = ""
    phase = overview.longest_phase()
    if phase.name and phase.begin <= detail.begin and detail.end <= phase.end + 1:
        where = f" in {phase.name.split(':')[0] if not overview.named else repr(phase.name)}"
    return (f"{style.time(detail.end - detail.begin)}{where}{ranks}: {style.plural(len(detail.bars), 'call')}, {arrows} "
            "as arrows (grey: inside MPI calls)")


@style.drawn
def draw(job, overview, detail):
    rows, lanes = len(overview.first), max(len(detail.lanes()), 1)
    above = min(max(0.27 * rows, 1.1), 3.6 if rows <= 64 else 4.4)
    below = (0.36 if lanes <= 8 else 0.26 if lanes <= 16 else 0.19) * lanes + 0.2
    band = 0.24 if overview.bands else 0.0
    height = 0.95 + band + above + 0.55 + 0.62 + below + 0.6
    picture = style.Picture(figsize=(12, height))
    left, wide = 0.062, 0.79

    def room(top, tall):
        return picture.add_axes((left, 1 - (top + tall) / height, wide, tall / height))

    top = 0.95
    size, _, name = style.time_unit(max(overview.end, 1))
    whole = room(top + band, above)
    draw_overview(whole, overview, size)
    whole.set_xlabel(f"{name} since the run began")
    if overview.bands:
        bands = room(top, band - 0.04)
        bands.set_xlim(whole.get_xlim())
        draw_bands(bands, overview, size)
    top += band + above + 0.55
    picture.text(left, 1 - (top + 0.36) / height, say_detail(overview, detail), fontsize=9.5, color=style.FAINT, va="center",
                 zorder=10, bbox={"facecolor": "white", "linewidth": 0, "pad": 2})
    part = room(top + 0.62, below)
    families = draw_detail(picture, part, overview, detail) | set(overview.families())
    show_where(picture, whole, part, detail, size)
    legend = [patches.Patch(facecolor=COLOURS[name], label=name) for name in NAMES if name in families]
    legend.append(patches.Patch(facecolor="white", edgecolor=style.FAINT, linewidth=0.6, label="the program's own"))
    whole.legend(handles=legend, loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, fontsize=9)
    style.title(picture, job.heading("MPI calls over time"), job.details(overview.ranks_of_rows()))
    return picture


def show_where(picture, whole, part, detail, size):
    """Marks the window in the whole run, and joins it with the detail."""
    begin, end = whole.get_xlim()
    first, last = (min(max(time / size, begin), end) for time in (detail.begin, detail.end))
    whole.axvspan(first, last, facecolor="none", edgecolor=style.INK, linewidth=1.0, zorder=5)
    for time, corner in ((first, 0), (last, 1)):
        line = patches.ConnectionPatch((time, 0), (corner, 1), whole.get_xaxis_transform(), part.transAxes,
                                       color=style.FAINT, linewidth=0.7, linestyle=":")
        picture.add_artist(line)


def load(fathom, run, begin, end):
    """(job, overview, detail) of a run, read by the tool; `begin` and `end` of the detail as the user wrote them, or None."""
    reader = Reader(fathom, run)
    window = window_of(reader, begin, end)  # first of all: a bad window draws nothing
    found = numbers.analyses(fathom, run, ["timeline", "phases"])
    overview = overview_of(found["timeline"], found["phases"])
    detail = reader.detail(*(window or reader.window_of_messages(overview)))
    return numbers.Job.of(reader.application, reader.all_ranks, (overview.end - overview.begin) / 1e9, WINDOW), overview, detail


WINDOW = "from MPI_Init to MPI_Finalize"


def overview_of(timeline, phases):
    """Of sections as analysis.json holds them."""
    return Overview(timeline, timeline, phases["phases"])
