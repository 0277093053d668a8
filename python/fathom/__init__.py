# SPDX-License-Identifier: BSD-3-Clause
"""Fathom's runs in Python: traffic as NumPy and SciPy arrays, events and analyses as pandas DataFrames.

    import fathom
    run = fathom.open("r1")
    run.comm_matrix()             # bytes from rank to rank
    run.flat_profile()            # needs a trace
    run.findings()                # what costs the run time, most costly first

Operations that Pipit has carry its names, arguments and columns. docs/python.md tells what differs.
"""
from _fathom import Error, version as __version__
from fathom.analyses import analyses, compare
from fathom.engine import Engine, world
from fathom.filters import Filter
from fathom.replay import Step
from fathom.run import Run, multirun_analysis

__all__ = ["Engine", "Error", "Filter", "Run", "Step", "analyses", "compare", "multirun_analysis", "open", "world"]


def open(path, comm=None):  # noqa: A001 - fathom.open() reads as what it does
    """The run in this directory (or of this profile.json). Nothing is read until it is asked for.

    With a communicator of mpi4py its processes analyse together; each must make the same calls.
    """
    return Run(path, comm=comm)
