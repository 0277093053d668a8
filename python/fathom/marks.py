# SPDX-License-Identifier: BSD-3-Clause
"""Names for parts of a Python program that runs under Fathom: profiler/fathom.h for Python.

    with fathom.path("solver"):       # a window of the critical path
        with fathom.phase("exchange"):
            comm.Sendrecv(...)

Without Fathom they do nothing. What holds for windows and phases is in profiler/fathom.h.
"""
from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator


def _call(function: str, *names: str) -> None:
    """A function of the library, which is preloaded, never loaded."""
    found = getattr(ctypes.CDLL(None), function, None)
    if found is not None:
        found.restype = None
        found(*(name.encode() for name in names))


def path_start(name: str) -> None:
    """Opens a window of the critical path. Every process must open and close the same windows equally often."""
    _call("fathom_library_path_start", name)


def path_stop(name: str) -> None:
    """Closes the window."""
    _call("fathom_library_path_stop", name)


@contextlib.contextmanager
def path(name: str) -> Iterator[None]:
    """A window of the critical path, for the block of a with statement. Windows may be opened again, nest and overlap."""
    path_start(name)
    try:
        yield
    finally:
        path_stop(name)


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """A phase, for the block of a with statement: its traffic and calls are counted separately. Phases nest."""
    _call("fathom_library_phase_begin", name)
    try:
        yield
    finally:
        _call("fathom_library_phase_end")
