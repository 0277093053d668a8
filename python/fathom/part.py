# SPDX-License-Identifier: BSD-3-Clause
"""The run directory and the part of it that is meant: what it is, and what slice(), select() and filter() leave."""
from __future__ import annotations

import os
from typing import Any

import numpy
import pandas

from fathom import _core
from fathom import events as columns
from fathom import shown
from fathom.filters import Filter, nanoseconds

LAST = 2**64 - 1


class Part:
    """A run directory, or the part of it that slice(), filter() and select() leave. Reads when asked."""

    def __init__(self, path: str | os.PathLike[str], ranks=None, from_ns=0, to_ns=LAST, phase=None, filters=(), comm: Any = None):
        self.path: str = os.fspath(path)
        self._scope = {"ranks": ranks, "from_ns": from_ns, "to_ns": to_ns, "phase": phase}
        self._filters = tuple(filters)
        self._core = _core.Run(self.path, ranks, from_ns, to_ns, phase, comm)
        self._comm = comm
        self._kept = {}

    def __repr__(self):
        parts = [f"{key}={value}" for key, value in self._scope.items() if value not in (None, 0, LAST)]
        return f"<fathom.{type(self).__name__} {self.path}{' ' if parts else ''}{' '.join(parts)}>"

    def _repr_html_(self):
        rows = [("ranks", f"{self.ranks:,}"), ("seconds", f"{self.seconds:.6g}"),
                ("hosts", f"{len(set(self.header['hosts'].values())):,}"), ("counts", f"{self.header['source']}, {self.header['verdict']}")]
        if self.has_trace:
            rows.append(("trace", f"{sum(process['records'] for process in self._definitions['processes']):,} events"))
            if self.lost_records:
                rows.append(("lost events", f"{self.lost_records:,}"))
        part = [(key, self._shown_scope(value)) for key, value in self._scope.items() if value not in (None, 0, LAST)]
        part += [("filter", repr(entry)) for entry in self._filters]
        return shown.headed(f"{os.path.basename(self.application) or 'unnamed program'} · {self.path}", rows + part)

    @staticmethod
    def _shown_scope(value):
        return ", ".join(map(str, sorted(value))) if isinstance(value, (set, frozenset)) else value

    def _once(self, key, make):
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    # ---- what the run is ----

    @property
    def has_trace(self) -> bool:
        """Whether the run was traced; without a trace there are counts of messages only."""
        return self._core.has_trace

    @property
    def header(self) -> dict[str, Any]:
        """What the profile says of the run: application, seconds, world_size, ranks, source, verdict, hosts, communicators."""
        return self._once("header", self._core.header)

    @property
    def application(self) -> str:
        """Path of the program."""
        return self.header["application"]

    @property
    def seconds(self) -> float:
        """How long the job ran."""
        return self.header["seconds"]

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return self.header["ranks"]

    @property
    def communicators(self) -> pandas.DataFrame:
        """Every communicator: id, name, made_by, size. Size 0: each process has its own (MPI_COMM_SELF), or a member left no counts."""
        return pandas.DataFrame(self.header["communicators"], columns=["id", "name", "made_by", "size"])

    @property
    def _definitions(self):
        return self._once("definitions", self._core.definitions)

    def processes(self) -> pandas.DataFrame:
        """The processes of the trace by rank: host, first and last moment (start_ns, end_ns), events, lost ones."""
        table = pandas.DataFrame(self._definitions["processes"],
                                 columns=["process", "rank", "host", "first_ns", "last_ns", "records", "lost"])
        return table.set_index("rank").rename(columns={"first_ns": "start_ns", "last_ns": "end_ns"})

    @property
    def lost_records(self) -> int:
        """How many records the trace is without, of the ranks of this run or of a selection."""
        return sum(process["lost"] for process in self._definitions["processes"])

    # ---- parts of a run ----

    def select(self, ranks=None, phase: str | None = None) -> Part:
        """The traffic and calls of these ranks, of this phase."""
        if ranks is not None:
            ranks = set(ranks)
            traced = {process["rank"] for process in self._whole()._definitions["processes"]} if self.has_trace else set()
            wrong = sorted(rank for rank in ranks - traced if not 0 <= rank < self.ranks)
            if wrong:
                raise ValueError(f"there is no rank {wrong[0]}; there are ranks 0 to {self.ranks - 1}")
        if phase is not None and phase not in self._known_phases():
            raise ValueError(shown.no_such("phase", phase, self._known_phases()))
        scope = dict(self._scope)
        scope["ranks"] = self._scope["ranks"] if ranks is None else ranks
        scope["phase"] = self._scope["phase"] if phase is None else phase
        return type(self)(self.path, **scope, filters=self._filters, comm=self._comm)

    def slice(self, start: float | str, end: float | str, clip_values: bool = True) -> Part:
        """From start to before end (nanoseconds, or text like "1.5 s"). Calls that it cuts are clipped; with
        clip_values=False it is the filter that keeps such calls whole.
        """
        if not 0 <= nanoseconds(start) < nanoseconds(end):
            raise ValueError(f"the window from {start} to {end} is empty; the start comes before the end")
        if not clip_values:
            return self.filter("Timestamp (ns)", "between", [start, end])
        scope = dict(self._scope)
        scope["from_ns"] = max(nanoseconds(start), scope["from_ns"])
        scope["to_ns"] = min(nanoseconds(end), scope["to_ns"])
        return type(self)(self.path, **scope, filters=self._filters, comm=self._comm)

    def filter(self, *filters) -> Part:
        """Only events for which all filters hold: Filters, or the field, operator and value of one.

        Holds for events and for what is summed up from them: traffic is then that of the MpiSend events left.
        The analyses refuse it: they need whole calls and messages.
        """
        if filters and isinstance(filters[0], str):
            filters = (Filter(*filters) if len(filters) > 1 else Filter(expr=filters[0]),)
        if not all(isinstance(entry, Filter) for entry in filters):
            raise TypeError("filter() takes fathom.Filter objects, or a field, an operator and a value")
        return type(self)(self.path, **self._scope, filters=self._filters + filters, comm=self._comm)

    # ---- what the part holds ----

    def _whole(self):
        """The whole run, without slice(), select() and filter()."""
        return self._once("whole", lambda: type(self)(self.path, comm=self._comm))

    def _known_phases(self):
        """The phases of the trace, or of the traffic of the whole run; "" is what lies outside of all."""
        def make():
            names = list(self._core.phases()) if self.has_trace else list(self._whole().traffic["phase"].cat.categories)
            return [*names, *([] if "" in names else [""])]
        return self._once("phases", make)

    def _listed_ranks(self):
        return [entry["rank"] for entry in self._definitions["processes"]]

    def _filtered(self, made):
        return made[self._mask(made)] if self._filters else made

    def _mask(self, made):
        kept = numpy.ones(len(made), bool)
        for entry in self._filters:
            kept &= entry.mask(made)
        return kept

    def _whole_processes(self):
        """(number of a process, its events, which of them the filters keep, their positions in its trace), one
        process in memory at a time.
        """
        for position, process in enumerate(self._definitions["processes"]):
            piece = self._core.reader(process["process"]).events(LAST, position, with_positions=True)
            if piece is not None:
                made = columns.frame(piece, self._listed_ranks(), self._definitions, self._core.site_names())
                yield process["process"], made, self._mask(made), piece["position"]

    @property
    def _counted(self):
        """The core, which knows by now what events the filters leave: figures are counted by it alone."""
        def make():
            if self._filters:
                self._core.choose_none()
                for process, _, kept, positions in self._whole_processes():
                    self._core.choose(process, positions[kept])
            return self._core
        return self._once("counted", make)

    def _refuse_filters(self):
        if self._filters:
            raise _core.Error("this needs whole calls and messages, so it takes no filter(); choose ranks and phases "
                              "with select(), time with slice()")
