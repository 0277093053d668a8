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


class Timeline:
    """Events of the window as bars (rank, begin, end, function) and arrows (from, sent, to, received, hidden); ns."""

    def __init__(self, events, name):
        self.name = name
        self.bars, self.arrows, self.ranks = [], [], set()
        self.begin = events[0]["time_ns"] if events else 0
        self.end = self.begin + 1
        self._open = collections.defaultdict(list)     # (rank, thread): enters
        self._on_the_way = collections.defaultdict(collections.deque)
        for event in events:
            self._take(event)
        for (rank, _), calls in self._open.items():  # not ended in the window
            if calls:
                self.bars.append((rank, calls[0][1], self.end, calls[0][0]))

    def _take(self, event):
        time, rank, kind = event["time_ns"], event["rank"], event["kind"]
        self.end = max(time, self.end)
        self.ranks.add(rank)
        calls = self._open[rank, event["thread"]]
        if kind == "enter":
            calls.append((event["function"], time))
        elif kind == "leave":
            function, began = calls.pop() if calls else (event["function"], self.begin)
            if not calls:  # a call that another call makes is part of it
                self.bars.append((rank, began, time, function))
        elif kind == "sent" and "peer" in event:
            self._on_the_way[self._channel(event, rank, event["peer"])].append(time)
        elif kind == "received" and "peer" in event:
            sent = self._on_the_way[self._channel(event, event["peer"], rank)]
            if sent:  # else it was sent before the window
                self.arrows.append((event["peer"], sent.popleft(), rank, time, event["class"] != "point-to-point"))

    @staticmethod
    def _channel(event, source, destination):
        return event.get("comm"), source, destination, event["tag"]


def read_events(fathom, run, begin, end, most=MOST_EVENTS, kinds=("calls", "messages")):
    """At most so many events of the window, in the order of time. `begin` and `end` as the user wrote them, or None."""
    command = [fathom, "trace", "print", "--json", "--ranks", f"0-{MOST_LANES - 1}", run]
    command += [word for kind in kinds for word in ("--kind", kind)]
    for option, value in (("--from", begin), ("--to", end)):
        command += [option, value] if value else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        events = [json.loads(line) for line in itertools.islice(reader.stdout, most) if line.startswith("{")]
        more = reader.stdout.readline() != ""
        if more:
            reader.terminate()
    if not more and reader.returncode != 0:
        raise OSError("fathom trace print could not read the trace")
    return events


def load(fathom, run, begin, end):
    """The chosen window; if nothing was chosen, some messages from the middle of the run on and what is called meanwhile."""
    told = subprocess.run([fathom, "trace", "info", "--json", run], check=False, capture_output=True, text=True)
    if told.returncode != 0:
        raise OSError(told.stderr.strip().removeprefix("fathom trace: "))
    info = json.loads(told.stdout)
    if not begin and not end:
        times = [event["time_ns"] for middle in (f"{info['seconds'] / 2:.9f}s", None)
                 for event in read_events(fathom, run, middle, None, MESSAGE_EVENTS, ["messages"])][:MESSAGE_EVENTS]
        if times:
            begin, end = f"{min(times)}ns", f"{max(times) + 1}ns"
    return Timeline(read_events(fathom, run, begin, end), os.path.basename(info["application"]) or "unnamed program")


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
    arrows = f"{drawn:,} of {len(timeline.arrows):,}" if drawn < len(timeline.arrows) else f"{drawn:,}"
    style.title(picture, f"{timeline.name}: MPI calls over time", f"{len(timeline.bars):,} calls, {arrows} messages as arrows, those inside "
                "MPI calls in grey; gaps are the program's own work")
    return picture
