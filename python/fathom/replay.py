# SPDX-License-Identifier: BSD-3-Clause
"""Going through a job step by step, in causal order."""
import typing

from fathom import shown

# As fathom::analysis::Moment and StepKind.
MOMENTS = ("enter", "leave", "send", "receive", "collective", "done", "lost", "given", "probe")
_KINDS = ("call", "send", "receive", "collective", "done", "lost", "probe", "given")
_PIECE = 1 << 16


class Step(typing.NamedTuple):
    """One step of a process. Times in ns; -1 where there is none."""
    kind: str           # call, send, receive, collective, done (a request was completed), lost,
                        # probe (found the message of the receive in `partner_index`)
    rank: int
    index: int          # run.step(rank, index) is this one
    start_ns: int       # call: entered; send: handed over; receive: arrived; collective: entered; done: completed
    end_ns: int         # call: left; send: receive was posted there; receive: send was entered there
    bytes: int
    call: int           # index of the call in which it happened
    partner: int        # rank: the other end of a message; of a collective the member that was waited for
    partner_index: int
    communicator: int   # one past the last: all processes, in MPI_Init and MPI_Finalize
    function: str       # of a call
    number: int         # tag of a message, sequence of a collective
    hidden: bool        # a message of the library's own
    joined: bool        # the other end, or all members, are known

    @property
    def time_ns(self):
        """The old name of start_ns."""
        return self.start_ns


def made_step(fields, functions):
    kind = _KINDS[fields[0]]
    name = functions[fields[10]] if kind == "call" and 0 <= fields[10] < len(functions) else ""
    return Step(kind, *fields[1:10], name, fields[10], *fields[11:])


def check_moments(names):
    unknown = set(names) - set(MOMENTS)
    if unknown:
        raise ValueError(f"{shown.no_such('moment', min(unknown), MOMENTS)}")


def call_back(order, callbacks, step_of):
    """Calls each of callbacks[moment] with its step, in this order; returns how many were called."""
    wanted = sum(1 << code for code, name in enumerate(MOMENTS) if name in callbacks)
    called = [callbacks.get(name, ()) for name in MOMENTS]
    count = 0
    while (piece := order.moments(wanted, _PIECE)) is not None:
        moments, processes, steps, _ = (column.tolist() for column in piece)
        for moment, process, index in zip(moments, processes, steps):
            step = step_of(process, index)
            for callback in called[moment]:
                callback(step)
            count += len(called[moment])
    return count
