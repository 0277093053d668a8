# SPDX-License-Identifier: BSD-3-Clause
"""The engine for analyses of one's own, alone or shared by the processes of a job."""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Iterable

from fathom import _core
from fathom import replay as replays


def world() -> Any:
    """mpi4py's MPI.COMM_WORLD in a program that a launcher started; None alone, and where there is no mpi4py."""
    if "mpi4py.MPI" not in sys.modules and not _core.is_launched():
        return None
    try:
        from mpi4py import MPI
    except ImportError:
        return None
    return MPI.COMM_WORLD


class Engine:
    """Goes through a traced run with callbacks, in causal order, and finds any step of any process.

    With a communicator of mpi4py each process looks after some ranks (mapping()) and is called back for those.
    Without one, alone in it, or with parallel = False, each does all of it by itself, and nothing waits for another.
    Calls marked collective are made by all processes in the same order; where it says so, only the first time, which
    reads the traces. A callback cannot change how the work is shared.
    """

    def __init__(self, path: str | os.PathLike[str], comm: Any = None, hidden: bool = False):
        self._core = _core.Engine(os.fspath(path), comm)
        self._comm = comm
        self._callbacks = []  # (backward, moment, name, callback)
        self._running = 0
        self._ranks, self._functions = self._core.ranks(), self._core.functions()
        self._processes = {rank: process for process, rank in enumerate(self._ranks)}
        self._hidden = bool(hidden)
        self._core.set_hidden(self._hidden)

    def __repr__(self):
        return f"<fathom.Engine of {len(self._ranks)} ranks, process {self.rank} of {self.size}>"

    # ---- how the work is shared; a change reads the traces anew, and forgets the steps of others ----

    @property
    def parallel(self) -> bool:
        """Whether it is shared: False where there is nobody to share with. All processes must set the same."""
        return self._core.parallel()

    @parallel.setter
    def parallel(self, on):
        self._may_change()
        self._core.set_parallel(bool(on))

    @property
    def hidden(self) -> bool:
        """Whether the library's own messages, those inside collectives, are steps too."""
        return self._hidden

    @hidden.setter
    def hidden(self, on):
        self._may_change()
        self._hidden = bool(on)
        self._core.set_hidden(self._hidden)

    def set_mapping(self, strategy: list[int] | Callable[[list[int], int], list[int]] | None) -> None:
        """Who looks after which rank: a list of processes of the communicator, in the order of `ranks`, or a callable
        that gives one for (records of each trace, number of processes). None: loads as equal as can be.

        One that leaves out a rank, or is not the same everywhere, is refused where the traces are read: a
        fathom.Error at every process. Alone, all ranks are one's own whatever it says.
        """
        self._may_change()
        if strategy is not None and not callable(strategy):
            chosen = list(strategy)
            strategy = lambda events, processes: chosen  # noqa: E731
        self._core.set_mapping(strategy)

    def mapping(self) -> dict[int, int]:
        """{rank: process that looks after it}. Collective the first time."""
        return dict(zip(self._ranks, self._core.mapping()))

    def loads(self) -> list[int]:
        """Events that each process looks after. Collective the first time."""
        return self._core.loads()

    def own_ranks(self) -> list[int]:
        """The ranks that this process looks after. Collective the first time."""
        return [rank for rank, process in self.mapping().items() if process == self.rank]

    def _may_change(self):
        if self._running:
            raise _core.Error("a callback cannot change how the work is shared")

    @property
    def ranks(self) -> list[int]:
        """The ranks of the trace."""
        return list(self._ranks)

    # ---- callbacks, several for each kind of moment, in the order in which they were named ----

    def on(self, moment: str, name: str, callback: Callable[[replays.Step], Any], backward: bool = False) -> None:
        """callback(step) at each `moment` of own ranks: enter, leave, send, receive, collective, done, lost, given."""
        replays.check_moments([moment])
        self._callbacks.append((bool(backward), moment, name, callback))

    def remove(self, name: str, backward: bool = False) -> bool:
        """Removes all callbacks of this name and direction. Returns whether there was one."""
        kept = [entry for entry in self._callbacks if (entry[0], entry[2]) != (bool(backward), name)]
        found, self._callbacks = len(kept) < len(self._callbacks), kept
        return found

    def run(self, backward: bool = False) -> int:
        """Own ranks in causal order, or back. Returns how many callbacks were called. Collective the first time.

        Callbacks that a callback names or removes count from the next run on.
        """
        called = {}
        for goes_back, moment, _, callback in self._callbacks:
            if goes_back == bool(backward):
                called.setdefault(moment, []).append(callback)
        order = self._core.replay(bool(backward))
        self._running += 1
        try:
            return replays.call_back(order, called, lambda process, index: self._made(self._core.step(process, index)))
        finally:
            self._running -= 1

    # ---- any step of any process ----

    def step(self, rank: int, index: int) -> replays.Step | None:
        """Step number `index` of a rank: an own one, or one that was fetched; None otherwise.

        Collective the first time, as run() is.
        """
        fields = self._core.step(self._process(rank), index)
        return None if fields is None else self._made(fields)

    def want(self, rank: int, index: int) -> None:
        """Notes a step for fetch(). Own ones and those fetched before cost nothing."""
        self._core.want(self._process(rank), index)

    def fetch(self) -> None:
        """Brings what was wanted, here and at the other processes; kept until forget(). Collective."""
        self._core.fetch()

    def forget(self) -> None:
        """Lets go of what was fetched."""
        self._core.forget()

    def _made(self, fields):
        return replays.made_step(fields, self._functions)

    def _process(self, rank):
        if rank not in self._processes:
            raise _core.Error(f"the trace holds no rank {rank}")
        return self._processes[rank]

    # ---- together ----

    @property
    def rank(self) -> int:
        """Number of this process in the communicator; 0 where the work is not shared."""
        return self._comm.Get_rank() if self.parallel else 0

    @property
    def size(self) -> int:
        """How many processes share the work; 1 where it is not shared."""
        return self._comm.Get_size() if self.parallel else 1

    def barrier(self) -> None:
        """Waits until all processes are here. Collective."""
        if self.parallel:
            self._comm.Barrier()

    def gather(self, rows: Iterable[Any]) -> list[Any]:
        """At process 0 one list of the rows of all, in the order of the processes; elsewhere []. Collective.

        Rows are whatever can be pickled: dictionary.items(), Steps, tuples.
        """
        rows = list(rows)
        if not self.parallel:
            return rows
        return [row for part in self._comm.gather(rows) or [] for row in part]
