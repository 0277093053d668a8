# SPDX-License-Identifier: BSD-3-Clause
"""A part of a trace as Gantt chart: the MPI calls of each rank, and arrows from senders to receivers."""
import collections
import itertools
import json
import os
import re
import subprocess

from matplotlib import collections as shapes
from matplotlib import figure, patches

from plots import style

MESSAGE_EVENTS = 160  # sent and received, in a window that nobody chose
MOST_EVENTS = 400_000
MOST_LANES = 32
MOST_ARROWS = 1500    # more would hide the calls
FINEST = 1 / 2000     # of the window; calls of a family that are closer than this are drawn as one

# Families of calls, the first that fits; what no pattern names is "other calls".
FAMILIES = (("send and receive", r"Sendrecv"),
            ("wait and test", r"(Wait|Test)(all|any|some)?$"),
            ("collective", r"I?(Neighbor_)?(Barrier|Bcast|Gatherv?|Scatterv?|Allgatherv?|Alltoall[vw]?|Allreduce|Reduce.*|Scan|"
                           r"Exscan)(_init)?$"),
            ("one-sided, files", r"(Win_|File_|R?(Put|Get|Accumulate|Get_accumulate)$|Fetch_and_op|Compare_and_swap)"),
            ("send", r"[IM]?[BSR]?send"),
            ("receive", r"(I?M?recv|I?M?probe)"))
OTHER = "other calls"


def family(function):
    name = function.removeprefix("MPI_")
    return next((title for title, pattern in FAMILIES if re.match(pattern, name, re.IGNORECASE)), OTHER)


class BadWindow(Exception):
    """One sentence for the user."""


class Timeline:
    """What lies in the window: bars (rank, begin, end, function), cut at its edges, and arrows (from, sent, to, received,
    hidden); ns. `events` may begin earlier, so that calls that were under way when the window begins are known."""

    def __init__(self, events, begin, end, ranks, name):
        self.begin, self.end, self.ranks, self.name = begin, end, ranks, name
        self.bars, self.arrows = [], []
        self._open = collections.defaultdict(list)     # (rank, thread): enters
        self._on_the_way = collections.defaultdict(collections.deque)
        for event in events:
            self._take(event)
        for (rank, _), calls in self._open.items():  # not ended in the window
            if calls:
                self._bar(rank, calls[0][1], end, calls[0][0])

    def _take(self, event):
        time, rank, kind = event["time_ns"], event["rank"], event["kind"]
        calls = self._open[rank, event["thread"]]
        if kind == "enter":
            calls.append((event["function"], time))
        elif kind == "leave" and calls:
            function, began = calls.pop()
            if not calls:  # a call that another call makes is part of it
                self._bar(rank, began, time, function)
        elif kind == "sent" and "peer" in event:
            self._on_the_way[self._channel(event, rank, event["peer"])].append(time)
        elif kind == "received" and "peer" in event:
            sent = self._on_the_way[self._channel(event, event["peer"], rank)]
            began = sent.popleft() if sent else None  # None: sent before what was read
            if began is not None and began >= self.begin:
                self.arrows.append((event["peer"], began, rank, time, event["class"] != "point-to-point"))

    def _bar(self, rank, began, ended, function):
        if ended >= self.begin:
            self.bars.append((rank, max(began, self.begin), ended, function))

    @staticmethod
    def _channel(event, source, destination):
        return event.get("comm"), source, destination, event["tag"]


def nanoseconds(text):
    """Of "1.5s", "20ms", "3us", "7ns"."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(s|ms|us|ns)?", text)
    if not found:
        raise BadWindow(f"'{text}' is no time; times look like 1.5s, 20ms, 3us or 7ns")
    return round(float(found[1]) * {"s": 1e9, None: 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[found[2]])


class Reader:
    """The run's trace, through `fathom trace`."""

    def __init__(self, fathom, run):
        self.fathom, self.run = fathom, run
        told = subprocess.run([fathom, "trace", "info", "--json", run], check=False, capture_output=True, text=True)
        if told.returncode != 0:
            raise OSError(told.stderr.strip().removeprefix("fathom trace: "))
        info = json.loads(told.stdout)
        self.name = os.path.basename(info["application"]) or "unnamed program"
        self.ranks = [one["rank"] for one in info["processes"] if one["rank"] < MOST_LANES]
        self.end = max((one["last_ns"] for one in info["processes"]), default=0)

    def events(self, begin, end, kinds, most=MOST_EVENTS):
        """(at most so many events of the window in the order of time, whether there are more)"""
        command = [self.fathom, "trace", "print", "--json", "--ranks", f"0-{MOST_LANES - 1}", "--from", f"{begin}ns",
                   "--to", f"{end}ns", self.run]
        command += ["--kinds", ",".join(kinds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            found = [json.loads(line) for line in itertools.islice(reader.stdout, most) if line.startswith("{")]
            more = reader.stdout.readline() != ""
            if more:
                reader.terminate()
        if not more and reader.returncode != 0:
            raise OSError("fathom trace print could not read the trace")
        return found, more

    def window_of_messages(self):
        """Some messages from the middle of the run on, or from its beginning."""
        for begin in (self.end // 2, 0):
            found, _ = self.events(begin, self.end + 1, ["messages"], MESSAGE_EVENTS)
            if found:
                return found[0]["time_ns"], found[-1]["time_ns"] + 1
        return 0, self.end + 1

    def timeline(self, begin, end):
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
        return Timeline(events, begin, end, self.ranks, self.name)


def load(fathom, run, begin, end):
    """`begin` and `end` as the user wrote them, or None."""
    reader = Reader(fathom, run)
    if not begin and not end:
        return reader.timeline(*reader.window_of_messages())
    first, last = nanoseconds(begin or "0s"), nanoseconds(end) if end else reader.end + 1
    if first >= last:
        raise BadWindow(f"the window from {begin} to {end} is empty")
    if first > reader.end:
        raise BadWindow(f"the trace ends {reader.end / 1e9:.6f} s after it began, before {begin}")
    return reader.timeline(first, last)


def unit_of(duration_ns):
    return next((size, name) for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")) if duration_ns >= size or size == 1)


def merged(bars, gap):
    """[(rank, begin, end, function or None, family)]: calls of one family that no `gap` parts are one bar."""
    boxes = []
    for rank, began, ended, function in sorted(bars):
        last = boxes[-1] if boxes else None
        if last and last[0] == rank and last[4] == family(function) and began - last[2] < gap:
            same = function if last[3] == function else None
            boxes[-1] = (rank, last[1], max(ended, last[2]), same, last[4])
        else:
            boxes.append((rank, began, ended, function, family(function)))
    return boxes


def draw_calls(axes, timeline, at, colours):
    by_family = collections.defaultdict(list)
    width = at(timeline.end)
    for rank, began, ended, function, name in merged(timeline.bars, FINEST * (timeline.end - timeline.begin)):
        by_family[name].append(patches.Rectangle((at(began), rank - 0.32), at(ended) - at(began), 0.64))
        if function and at(ended) - at(began) > 0.009 * width * len(function):  # the name has room in the bar
            axes.text((at(began) + at(ended)) / 2, rank, function, ha="center", va="center", fontsize=7, color="white", clip_on=True)
    for name, boxes in by_family.items():
        axes.add_collection(shapes.PatchCollection(boxes, facecolor=colours[name], edgecolor=colours[name], linewidth=0.4))
    return [patches.Patch(color=colours[name], label=name) for name in colours if name in by_family]


def draw_arrows(axes, timeline, at):
    for source, sent, destination, received, hidden in timeline.arrows[:MOST_ARROWS]:
        axes.annotate("", (at(received), destination), (at(sent), source),
                      arrowprops={"arrowstyle": "->", "linewidth": 0.5 if hidden else 0.8, "shrinkA": 0, "shrinkB": 0,
                                  "color": style.FAINT if hidden else style.INK})


def draw(timeline):
    lanes = max(timeline.ranks, default=0) + 1
    picture = figure.Figure(figsize=(11, 2.0 + 0.42 * max(lanes, 4)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.06, 0.62 / height, 0.78, 1 - 1.62 / height))
    begin, end = timeline.begin, timeline.end
    size, unit = unit_of(end - begin)
    at = lambda time: (time - begin) / size  # noqa: E731
    colours = dict(zip([title for title, _ in FAMILIES] + [OTHER], style.CATEGORIES))
    legend = draw_calls(axes, timeline, at, colours)
    draw_arrows(axes, timeline, at)
    axes.set_xlim(0, at(end))
    axes.set_ylim(lanes - 0.5, -0.5)
    axes.set_yticks(range(lanes))
    axes.set_ylabel("rank")
    axes.set_xlabel(f"{unit} after {begin / 1e9:.6f} s")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(handles=legend, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    drawn = min(len(timeline.arrows), MOST_ARROWS)
    arrows = f"{drawn:,} of {len(timeline.arrows):,} messages" if drawn < len(timeline.arrows) else style.plural(drawn, "message")
    style.title(picture, f"{timeline.name}: MPI calls over time",
                f"{style.plural(len(timeline.bars), 'call')}, {arrows} as arrows, those inside MPI calls in grey; "
                "gaps are the program's own work")
    return picture
