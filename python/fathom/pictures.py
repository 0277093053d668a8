# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a run as matplotlib Figures, which a notebook shows: what fathom.plots draws, from the run's tables."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy

from fathom.filters import nanoseconds

if TYPE_CHECKING:
    from fathom.plots.style import Picture

_LAST = 2**64 - 1


class Pictures:
    """The pictures of a Part. matplotlib is loaded with the first. Times of a whole run go from MPI_Init to MPI_Finalize."""

    def plot_comm_matrix(self, output: str = "size", linear: bool = False, class_name: str | None = None,
                         hidden: bool | None = None) -> Picture:
        """Bytes ("size") or messages ("count") from rank to rank."""
        from fathom.plots import matrix
        self._check_output(output)
        return matrix.draw(self._drawn_profile(class_name, hidden), "messages" if output == "count" else "bytes", linear)

    def plot_message_histogram(self, class_name: str | None = None, hidden: bool | None = None) -> Picture:
        """Sizes of the messages: how many messages of each size, and how many bytes."""
        from fathom.plots import sizes
        return sizes.draw(self._drawn_profile(class_name, hidden))

    def plot_flat_profile(self) -> Picture:
        """The MPI functions with most time, of all ranks together, and how much of it was waiting."""
        from fathom.plots import bars
        if not self.has_trace:
            times, job = self._profile_times()
            return bars.draw_calls(job, times["functions"], times["waits"])
        part, job = self._working()
        found = part.analyze("flat-profile", "wait-states")
        return bars.draw_calls(job, found["flat-profile"]["functions"], found["wait-states"]["waits"])

    def plot_calls_by_rank(self, linear: bool = False) -> Picture:
        """The time of each rank in each MPI function."""
        from fathom.plots import calls_by_rank
        if not self.has_trace:
            times, job = self._profile_times()
            return calls_by_rank.draw(job, times["by_rank"], linear)
        part, job = self._working()
        return calls_by_rank.draw(job, part.analysis("flat-profile")["calls"], linear)

    def plot_idle_time(self) -> Picture:
        """Each rank's time: computing, waiting for other ranks, and the rest in MPI."""
        from fathom.plots import bars
        if not self.has_trace:
            times, job = self._profile_times()
            return bars.draw_ranks(job, times["idle_time"])
        part, job = self._working()
        return bars.draw_ranks(job, part.analysis("idle-time")["idle_time"])

    def plot_wait_matrix(self, linear: bool = False) -> Picture:
        """Who waited for whom, and how long."""
        from fathom.plots import matrix
        if not self.has_trace:
            return matrix.draw_waits(self._profile_job(), self._profile_waits(), self.ranks, linear)
        part, job = self._working()
        return matrix.draw_waits(job, part.waits, self.ranks, linear)

    def plot_critical_path(self) -> Picture:
        """Which ranks the critical path runs through: its time on each, computing and in MPI calls. Always of the whole run."""
        from fathom.plots import bars, numbers
        path = self.critical_path
        if not self.has_trace:
            return bars.draw_path(self._profile_job(), path)
        return bars.draw_path(numbers.Job.of(self.application, self.ranks, float(path["seconds"].sum())), path)

    def plot_time_profile(self, num_bins: int = 50, normalized: bool = True) -> Picture:
        """Where time goes: the functions with most time, by bin; the rest is the program's own work."""
        from fathom.plots import over_time
        part, job = self._working()
        table = part.time_profile(num_bins)
        edges = numpy.append(table["bin_start"], table["bin_end"].iloc[-1])
        functions = {name: table[name].to_numpy() for name in table.columns.drop(["bin_start", "bin_end", "idle_time"])}
        return over_time.draw_time_profile(job, edges, functions, len(part.processes()), normalized)

    def plot_comm_over_time(self, output: str = "size", bins: int = 50) -> Picture:
        """Bytes ("size") or messages ("count") sent, by bin of time."""
        from fathom.plots import over_time
        part, job = self._working()
        values, edges = part.comm_over_time(output, bins=bins)
        return over_time.draw_communication(job, edges, values, output)

    def plot_timeline(self, start: float | str | None = None, end: float | str | None = None) -> Picture:
        """The whole run with all its ranks, and beneath it calls and messages from start to end (nanoseconds, or text
        like "1.5 s"); without these, in a window inside the longest phase.
        """
        from fathom.plots import timeline
        overview = self._overview()
        if start is None and end is None:
            window = self._window_of_messages(overview)
        else:
            window = nanoseconds(start or 0), int(self.processes()["end_ns"].max()) + 1 if end is None else nanoseconds(end)
        job = self._working()[1]
        return timeline.draw(job, overview, self._detail(*window))

    # ---- what they are drawn from ----

    @staticmethod
    def _check_output(output):
        from fathom import shown
        if output not in ("size", "count"):
            raise ValueError(shown.no_such("output", output, ("size", "count")))

    def _drawn_profile(self, class_name, hidden):
        """The run as plots.profile knows it."""
        from fathom.plots.profile import Choice, Profile
        for column, wanted in (("class", class_name), ("hidden", hidden)):
            if wanted is not None:
                self._check_there(column, wanted)
        blocks = [{"class": name, "hidden": bool(own), "source": rows["source"], "destination": rows["destination"],
                   "bytes": rows["bytes"], "messages": rows["messages"]}
                  for (name, own), rows in self.traffic.groupby(["class", "hidden"], observed=True)]
        document = {"application": {"executable": self.application, "seconds": self.seconds},
                    "world_size": self.header["world_size"], "traffic": blocks,
                    "ranks": [{"rank": rank, "host": host} for rank, host in self.header["hosts"].items()],
                    "message_sizes": self.sizes_by_class()}
        return Profile(document, Choice([class_name] if class_name else None, hidden is True, hidden is False))

    def _profile_job(self):
        from fathom.plots import numbers, timeline
        return numbers.Job.of(self.application, self.header["world_size"], self.seconds, timeline.WINDOW)

    def _profile_waits(self):
        from fathom.plots import numbers
        return self.waits[~self.waits["kind"].isin(numbers.OUTSIDE)]

    def _profile_times(self):
        """(the tables that plots.numbers makes of a profile, what the title says); an error if calls were not timed."""
        from fathom import _core
        from fathom.plots import numbers
        calls = self.call_times
        if calls.empty:
            raise _core.Error("the run has no trace, and its profile has no times of calls; record it without --no-time")
        waits = None
        if self._core.knows_waits():
            table = self._profile_waits()
            waits = list(zip(table["rank"], table["culprit"], table["function"], table["seconds"] * 1e9))
        rows = zip(calls["rank"], calls["mpi_function"], calls["calls"], calls["total_ns"].astype(float))
        return numbers.of_profile(rows, waits, None, self._core.seconds_of_ranks()), self._profile_job()

    def _unfiltered(self):
        return type(self)(self.path, **self._scope, comm=self._comm) if self._filters else self

    def _overview(self):
        from fathom.plots import timeline

        def make():
            found = self._unfiltered().analyze("timeline", "phases")
            return timeline.Overview(found["timeline"].figures, found["timeline"].tables, found["phases"]["phases"])
        return self._once("overview", make)

    def _working(self):
        """(the part of this that is drawn, what the title says): a whole run without its start-up and end."""
        from fathom.plots import numbers, timeline
        if (self._scope["from_ns"], self._scope["to_ns"]) == (0, _LAST):
            begin, end = self._once("working span", self._working_span)
            part, window = self.slice(begin, max(end, begin + 1)), timeline.WINDOW
        else:
            begin, end = (min(self._scope[key], int(self.processes()["end_ns"].max()) + 1) for key in ("from_ns", "to_ns"))
            part, window = self, f"from {begin / 1e9:.6f} s on"
        ranks = len(self._listed_ranks())
        return self._once("working part", lambda: part), numbers.Job.of(self.application, ranks, (end - begin) / 1e9, window)

    def _working_span(self):
        figures = self._unfiltered().analysis("timeline").figures
        return round(figures["from_s"] * 1e9), round(figures["to_s"] * 1e9) + 1

    def _shown_ranks(self):
        from fathom.plots import timeline
        return sorted(self._listed_ranks())[:timeline.MOST_LANES]

    def _window_of_messages(self, overview):
        from fathom.plots import timeline
        ranks, messages = self._shown_ranks(), self._unfiltered().messages(hidden=True)
        messages = messages[messages["source"].isin(ranks) & messages["destination"].isin(ranks)]
        moments = numpy.sort(messages["received_ns"].to_numpy())
        for begin, end in timeline.moments_to_look_from(overview):
            inside = moments[(moments >= begin) & (moments < end)][:timeline.message_events(len(ranks)) // 2]
            if len(inside):
                return timeline.window(int(inside[0]), int(inside[-1]) + 1, overview,
                                       lambda first, last: int(((moments >= first) & (moments < last)).sum()))
        return timeline.some_of(overview.longest_phase())

    def _detail(self, begin, end):
        from fathom.plots import timeline
        part = self.slice(begin, end)
        detail = timeline.Detail((), begin, end, self._shown_ranks())
        calls = part.calls()
        calls = calls[(calls["depth"] == 0) & calls["Process"].isin(detail.ranks)]
        detail.bars = list(zip(calls["Process"], calls["Thread"], calls["start_ns"], calls["end_ns"], calls["Name"]))
        sent = part._unfiltered().messages(hidden=True)
        sent = sent[(sent["send_entered_ns"] >= begin) & sent["source"].isin(detail.ranks) & sent["destination"].isin(detail.ranks)]
        threads = self._threads_of_events(part)
        for message in sent.itertuples(index=False):
            detail.arrows.append((message.source, threads.get((message.source, message.send_entered_ns), 0), message.send_entered_ns,
                                  message.destination, threads.get((message.destination, message.received_ns), 0),
                                  message.received_ns, message.hidden))
        return detail

    @staticmethod
    def _threads_of_events(part):
        """{(rank, moment): thread} of what happens on other threads than the first."""
        events = part._unfiltered().events
        events = events[events["Thread"] > 0]
        return dict(zip(zip(events["Process"], events["Timestamp (ns)"]), events["Thread"]))
