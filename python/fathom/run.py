# SPDX-License-Identifier: BSD-3-Clause
"""A run and what can be asked of it."""
from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy
import pandas

from fathom import _core
from fathom import events as columns
from fathom import replay as replays
from fathom.analyses import Analyses
from fathom.operations import Operations
from fathom.part import LAST, Part
from fathom.pictures import Pictures
from fathom.times import Times
from fathom.traffic import Traffic

_PIECE = 1 << 20


def multirun_analysis(runs, metric_column: str = "Timestamp (ns)", groupby_column: str = "Name") -> pandas.DataFrame:
    """flat_profile() of each run, one row a run; functions with most first. Of "Timestamp (ns)" it is time.exc."""
    metric = "time.exc" if metric_column == "Timestamp (ns)" else metric_column
    rows = [run.flat_profile(metric, groupby_column)[metric] for run in runs]
    made = pandas.concat(rows, axis=1).T.fillna(0.0)
    made.index = pandas.Index([len(run.processes()) for run in runs], name="Number of Processes")
    return made[made.sum().sort_values(ascending=False, kind="stable").index]


class Run(Traffic, Times, Operations, Analyses, Pictures, Part):
    """A run directory, or the part of it that slice(), filter() and select() leave. Reads when asked."""

    # ---- events ----

    def event_chunks(self, rows: int = _PIECE) -> Iterator[pandas.DataFrame]:
        """Events as DataFrames of up to `rows` of one process each: a trace of any length in bounded memory.

        Calls whose ends lie in different pieces have no match and no times in either.
        """
        first_row = 0
        for position, process in enumerate(self._definitions["processes"]):
            reader = self._core.reader(process["process"])
            while (piece := reader.events(rows, position)) is not None:
                made = columns.frame(piece, self._listed_ranks(), self._definitions, self._core.site_names(), first_row)
                first_row += len(made)
                yield self._filtered(made)

    @property
    def events(self) -> pandas.DataFrame:
        """All events, process by process in order of time, with Pipit's columns."""
        def make():
            made = self._core.events()
            return self._filtered(columns.frame(made, self._listed_ranks(), self._definitions, self._core.site_names()))
        return self._once("events", make)

    def calls(self) -> pandas.DataFrame:
        """Every call: function, process, start, end, inclusive and exclusive time in ns, and its place in the program.

        Without a trace, single calls are not known, and it is call_times.
        """
        if not self.has_trace:
            return self.call_times
        names = columns.unique(self._definitions["functions"])
        ranks = self._listed_ranks()
        made = []
        pieces = list(self._call_pieces())
        sites = self._core.site_names()  # complete by now
        for position, piece in pieces:
            made.append(pandas.DataFrame({
                "Name": columns.categories(piece["name"], names),
                "Process": columns.categories(numpy.full(len(piece["name"]), position, numpy.int32), ranks),
                "Thread": piece["thread"], "depth": piece["depth"], "start_ns": piece["start_ns"],
                "end_ns": piece["end_ns"], "time.inc": piece["end_ns"] - piece["start_ns"],
                "time.exc": piece["exclusive_ns"], "Site": columns.categories(piece["site"], sites)}, copy=False))
        return pandas.concat(made, ignore_index=True, copy=False) if made else pandas.DataFrame()

    @property
    def call_sites(self) -> pandas.DataFrame:
        """The places in the program that call MPI: function, file, line, module and offset in it, by name as in "Site".

        For a stripped program, module and offset are all that is known. Places that cannot be told apart by name, as two
        calls in one line, are one row, with the offset of the first.
        """
        def make():
            fields = ["function", "file", "line", "module", "offset"]
            if not self.has_trace:
                return self.call_times[fields].drop_duplicates(ignore_index=True)
            met = set()
            for _, piece in self._call_pieces():
                met.update(numpy.unique(piece["site"]).tolist())
            names = pandas.Index(self._core.site_names(), name="Site")
            return pandas.DataFrame(self._core.sites(), index=names, columns=fields).iloc[sorted(met - {-1})]
        return self._once("call_sites", make)

    def _call_pieces(self):
        """(position among the processes, columns of calls), a bounded piece at a time."""
        if self._filters:
            for _, made, kept, _ in self._whole_processes():
                yield made["Process"].cat.codes.iat[0], columns.calls_of(made, kept)
            return
        for position, process in enumerate(self._definitions["processes"]):
            reader = self._core.reader(process["process"])
            while (piece := reader.calls(_PIECE)) is not None:
                yield position, piece

    # ---- joined steps ----

    def messages(self, hidden: bool = False) -> pandas.DataFrame:
        """Every message with both its ends, of the processes of this analysis process.

        send_entered_ns is when the call that sends was entered, receive_posted_ns when the receive was
        posted, received_ns when it arrived; hidden adds those inside collectives. In a slice, those that arrived in
        it, of selected ranks those with one of them at either end.
        """
        self._refuse_filters()
        if self._scope["phase"] is not None:
            raise _core.Error("messages() cannot choose phases; use events, or choose a window of time with slice()")
        made = self._core.messages(hidden)
        made["hidden"] = made["hidden"].view(bool)
        made = pandas.DataFrame(made, copy=False)
        ranks, first, last = (self._scope[key] for key in ("ranks", "from_ns", "to_ns"))
        if ranks is not None:
            made = made[made["source"].isin(ranks) | made["destination"].isin(ranks)]
        if (first, last) != (0, LAST):
            made = made[(made["received_ns"] >= first) & (made["received_ns"] < last)]
        return made.reset_index(drop=True)

    def step(self, rank: int, index: int, hidden: bool = False) -> replays.Step:
        """Step number `index` of a rank; see fathom.Step."""
        return replays.made_step(self._core.step(self._position(rank), index, hidden), self._definitions["functions"])

    def _position(self, rank):
        for process in self._definitions["processes"]:
            if process["rank"] == rank:
                return process["process"]
        raise _core.Error(f"the trace holds no rank {rank}")

    def own_ranks(self) -> list[int]:
        """The ranks that this analysis process looks after: all, unless it works with others."""
        ranks = {entry["process"]: entry["rank"] for entry in self._definitions["processes"]}
        return [ranks[process] for process in self._core.own_processes(False) if process in ranks]

    def replay(self, backward: bool = False, hidden: bool = False, **callbacks: Callable[[replays.Step], Any]) -> int:
        """Goes through all steps in causal order, a message received after it was sent (backward: before).

        Callbacks by moment: enter, leave, send, receive, collective, done, lost, given; each gets a fathom.Step.
        Returns how many were called. The whole run is gone through, whatever slice() or filter() say.
        """
        replays.check_moments(callbacks)
        functions = self._definitions["functions"]
        return replays.call_back(
            self._core.replay(backward, hidden), {moment: [callback] for moment, callback in callbacks.items()},
            lambda process, index: replays.made_step(self._core.step(process, index, hidden), functions))
