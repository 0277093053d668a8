# SPDX-License-Identifier: BSD-3-Clause
"""The Open MPIs that tests run jobs on: Debian's, and the build with PERUSE."""
import os
import time


class OpenMpi:
    """`environment` is that of a job: clean of what the caller set, with the library that fathom run preloads."""

    def __init__(self, name, prefix, library):
        self.name = name
        self.mpirun = os.path.join(prefix, "bin", "mpirun")
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("FATHOM_", "OMPI_", "PMIX_")) and k not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", LC_ALL="C.UTF-8",
                                FATHOM_LIBRARY=library)
        if prefix != "/usr":
            self.environment["LD_LIBRARY_PATH"] = os.path.join(prefix, "lib")

    def launch(self, processes, *words):
        """The command line of a job of so many processes, which may be more than the processors."""
        return [self.mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(processes), *words]


def installed():
    """[(name, prefix)] of those that are there."""
    cache = os.environ.get("FATHOM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "fathom")
    peruse = os.environ.get("FATHOM_OPENMPI") or os.path.join(cache, "openmpi-4.1.4-peruse-1")
    return [(name, prefix) for name, prefix in (("stock", "/usr"), ("peruse", peruse))
            if os.access(os.path.join(prefix, "bin", "mpirun"), os.X_OK)]


def until_it_passes(attempt, attempts=6):
    """attempt(number) of something that is timed. Chance can spoil one on a busy machine, not all of them; what is wrong
    fails every time."""
    for number in range(attempts):
        try:
            return attempt(number)
        except AssertionError:
            if number == attempts - 1:
                raise
            time.sleep(number)
