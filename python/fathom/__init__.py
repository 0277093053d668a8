# SPDX-License-Identifier: BSD-3-Clause
"""Fathom's runs in Python: traffic as NumPy and SciPy arrays, events and analyses as pandas DataFrames.

    import fathom
    run = fathom.open("r1")
    run.comm_matrix()             # bytes from rank to rank
    run.flat_profile()            # needs a trace
    run.findings()                # what costs the run time, most costly first

Operations that Pipit has carry its names, arguments and columns. docs/python.md says what differs.
"""
from __future__ import annotations

import os
from typing import Any

from fathom import _core
from fathom._core import Error
from fathom.analyses import Analysis, analyses, compare
from fathom.engine import Engine, world
from fathom.filters import Filter
from fathom.marks import path, path_start, path_stop, phase
from fathom.replay import Step
from fathom.run import Run, multirun_analysis

__version__: str = _core.version
__all__ = ["Analysis", "Engine", "Error", "Filter", "Run", "Step", "analyses", "compare", "multirun_analysis", "open", "path",
           "path_start", "path_stop", "phase", "world"]


def open(path: str | os.PathLike[str], comm: Any = None) -> Run:  # noqa: A001 - fathom.open() reads as what it does
    """The run in this directory (or of this profile.json). Nothing is read until it is asked for.

    With a communicator of mpi4py its processes analyse together; each must make the same calls.
    """
    return Run(path, comm=comm)
