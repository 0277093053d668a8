# SPDX-License-Identifier: BSD-3-Clause
"""The analyses of `fathom analyze` as DataFrames."""
from __future__ import annotations

from typing import Any

import numpy
import pandas

from fathom import _core
from fathom import events as columns
from fathom import shown


def analyses() -> pandas.DataFrame:
    """Every analysis: its name, what it does, whether it needs a trace, whether findings() runs it."""
    return pandas.DataFrame(_core.analyses(), columns=["name", "help", "needs_trace", "by_default"]).set_index("name")


def _tables(section):
    return shown.Names("table", {name: pandas.DataFrame(table, copy=False) for name, table in section["tables"].items()})


def compare(runs, new=()) -> dict[str, pandas.DataFrame]:
    """Runs side by side, as `fathom compare`: the tables runs, totals, classes, pairs, and those of times that all runs
    have: functions, call_sites, phases, waits, path.

    With `new`, `runs` are repeats of the program as it was, and `new` of what it is now: the tables then have the medians
    of both, their spread, and p, the probability that chance alone makes them differ so much (Mann-Whitney).
    """
    runs, new = list(runs), list(new)
    return _tables(_core.compare([run._core for run in runs + new], [run.path for run in runs + new], len(new)))


class Analysis:
    """What one analysis gave: `figures` by name, `tables` of DataFrames; run["table"] is one of them."""

    def __init__(self, name, section, limits):
        self.name: str = name
        self.figures: dict[str, Any] = shown.Names("figure", section["figures"])
        self.tables: dict[str, pandas.DataFrame] = _tables(section)
        self.limits: list[str] = limits

    def __getitem__(self, table: str) -> pandas.DataFrame:
        """The table of this name."""
        return self.tables[table]

    def __repr__(self):
        shapes = ", ".join(f"{name} ({len(table)} rows)" for name, table in self.tables.items())
        return f"<fathom.Analysis {self.name}: {len(self.figures)} figures; tables {shapes}>"

    def _repr_html_(self):
        tables = [(f"table {name}", f"{len(table)} rows: {', '.join(map(str, table.columns))}") for name, table in self.tables.items()]
        return shown.headed(f"analysis {self.name}", [*self.figures.items(), *tables])


class Analyses:
    """The analyses of a Part; they refuse a filter."""

    def analyze(self, *names: str, **thresholds: float) -> dict[str, Analysis]:
        """{name: Analysis} of these analyses, or of the default set. Thresholds by name, as --set takes them."""
        made = self._analyzed(names, thresholds)
        return shown.Names("analysis", {name: Analysis(name, section, made["limits"]) for name, section in made["sections"].items()})

    def _analyzed(self, names, thresholds, changes=()):
        self._refuse_filters()
        return self._core.analyze(list(names), [f"{name}={value!r}" for name, value in thresholds.items()], list(changes))

    def analysis(self, name: str, **thresholds: float) -> Analysis:
        """The analysis of this name; fathom.analyses() lists them."""
        return self.analyze(name, **thresholds)[name]

    def findings(self, *names: str, **thresholds: float) -> pandas.DataFrame:
        """What costs the run time, most costly first: one row for each finding."""
        made = self._analyzed(names, thresholds)
        keys = ["kind", "seconds", "severity", "strength", "confidence", "count", "culprits", "victims", "pairs", "class",
                "function", "file", "line", "phase", "communicator", "windows", "meanwhile", "symptoms", "summary", "advice", "evidence"]
        return pandas.DataFrame(made["findings"], columns=keys)

    def what_if(self, *changes: str) -> Analysis:
        """The run time that would have been with these changes, written as for --what-if: run.what_if("rank 3 : 0.8").

        figures["run_seconds"] is how long the run took, ["what_if_seconds"] how long it would have; the table "what_if"
        has the end of each rank. In a slice or selection, only the time in it is changed.
        """
        made = self._analyzed(["what-if"], {}, changes)
        return Analysis("what-if", made["sections"]["what-if"], made["limits"])

    def patterns(self) -> pandas.DataFrame:
        """The shapes of the traffic: grids, rings, stars and others, one row for each."""
        return self.analysis("patterns")["patterns"]

    def issues(self, **thresholds: float) -> pandas.DataFrame:
        """The findings of the analysis "issues": Pyrite's kinds, most costly first."""
        return self.findings("issues", **thresholds)

    def critical_path_analysis(self) -> pandas.DataFrame:
        """The calls that the run time is made of, in order of time: where each is left, and time.exc, its part on the
        critical path, in ns. "(program)" is work between two calls.

        The path by function, rank and source line, and all else of the analysis: analysis("critical-path").
        """
        if not self.has_trace:
            raise _core.Error("the order of the critical path's parts needs a trace; critical_path has them without order")
        path = self.analysis("critical-path", path_stretches=1e15).tables.get("path_stretches")
        if path is None:
            path = pandas.DataFrame({"rank": [], "name": [], "from_s": [], "to_s": []})
        start, end = ((path[column] * 1e9).round().astype(numpy.int64) for column in ("from_s", "to_s"))
        leave = columns.categories(numpy.full(len(path), 1, numpy.int8), columns.EVENT_TYPES)
        return pandas.DataFrame({"Timestamp (ns)": end, "Event Type": leave, "Name": path["name"].astype("category"),
                                 "Process": path["rank"].astype("category"), "time.exc": end - start})

    def calculate_lateness(self, **thresholds: float) -> pandas.DataFrame:
        """Every communication event with its logical step and how late it was, in ns; Pipit's columns.

        Sums by rank, the latest partitions and who fell behind: analysis("lateness").
        """
        made = self.analysis("lateness", **{"lateness_events": 1e15, **thresholds})["events"]
        made["NextStride"] = columns.next_stride(made)
        made["Matching Step"] = columns.looked_up(made["Matching Event ID"], made["EventId"], made["Step"])
        return made
