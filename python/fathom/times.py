# SPDX-License-Identifier: BSD-3-Clause
"""Where time goes, as a run knows it without a trace too: calls by rank and place, waits, the critical path."""
from __future__ import annotations

import pandas

from fathom import events as columns


class Times:
    """The times of a Part. With a trace, waits and the critical path come from it, else from the profile."""

    @property
    def call_times(self) -> pandas.DataFrame:
        """The program's MPI calls, by rank, MPI function, place in the program, communicator and phase: how many, how long in
        total, the shortest, the longest, and their bytes. From the profile; empty if calls were not timed.

        communicator is -1 where the function takes none. In a slice it is empty: the profile knows no moments.
        """
        def make():
            made = self._core.call_times()
            for key in ("mpi_function", "phase", "function", "file", "module"):
                made[key] = columns.categories(*made[key])
            return pandas.DataFrame(made, copy=False)
        return self._once("call times", make)

    @property
    def waits(self) -> pandas.DataFrame:
        """Who waited (rank) for whom (culprit), in what way (kind), in which call and how long: the table "waits" of the
        analysis "wait-states".
        """
        return self._once("waits", lambda: self.analysis("wait-states")["waits"])

    @property
    def critical_path(self) -> pandas.DataFrame:
        """What the run time consists of, by rank and place in the program: the table "path" of the analysis "critical-path".

        name "(program)" is computing before the call leads_to, whose file and line are given. Windows that the program
        names: analysis("critical-path")["window_path"].
        """
        return self._once("critical path", lambda: self.analysis("critical-path")["path"])
