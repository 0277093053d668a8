# SPDX-License-Identifier: BSD-3-Clause
"""The Open MPI builds that tests and benchmarks run jobs on. No other file of test/ or bench/ knows them.

A further build is one more row of BUILDS. scripts/lib.sh, which the build scripts share, says where the build
with PERUSE is, so FATHOM_OPENMPI and FATHOM_CACHE mean here what they mean there.
"""
import functools
import os
import pathlib
import subprocess
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Settings of the caller that must not reach a job.
FOREIGN = ("EXPECT_", "FATHOM_", "OMPI_", "PMIX_")


class Row(typing.NamedTuple):
    name: str          # in the output of tests, and for their option --build
    title: str         # in tables of docs/
    prefix: pathlib.Path
    has_peruse: bool
    environment: dict  # what its jobs need in addition to FOR_ALL

    @property
    def is_installed(self):
        return os.access(self.prefix / "bin/mpirun", os.X_OK)


# No overlay of the cache: a build is what its row says.
FOR_ALL = {"FATHOM_OVERLAY": "", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C.UTF-8"}


def of_the_scripts(variable):
    """A variable of scripts/lib.sh."""
    command = f". '{ROOT}/scripts/lib.sh' && printf %s \"${variable}\""
    return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout


def peruse_prefix():
    return pathlib.Path(of_the_scripts("openmpi_prefix"))


def later_releases():
    """The versions for scripts/openmpi.sh that are later than those of BUILDS."""
    return of_the_scripts("fathom_releases").split()


def prefix_of(version):
    """Where scripts/openmpi.sh left this version. LookupError with its sentence if it is not there, or not usable."""
    found = subprocess.run([ROOT / "scripts/openmpi.sh", version, "--check"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise LookupError(found.stderr.strip().splitlines()[-1])
    return pathlib.Path(found.stdout.strip())


def include_folders():
    """The folder with mpi.h of each Open MPI that is here, and a sentence for each that is not."""
    later, missing = later_rows()
    prefixes = [row.prefix for row in installed()] + [row.prefix / "root/usr" for row in later]
    headers = [header for prefix in prefixes for pattern in ("lib/*/openmpi/include/mpi.h", "include/mpi.h")
               for header in prefix.glob(pattern)]
    return [header.parent for header in headers], missing


def later_rows():
    """(rows of the later releases that are here, a sentence for each that is not)."""
    found, missing = [], []
    for version in [*later_releases(), "5.0.7-peruse"]:
        try:
            prefix = prefix_of(version)
        except LookupError as sentence:
            missing.append(str(sentence))
            continue
        has_peruse = version.endswith("-peruse")
        found.append(Row(version, f"Open MPI {version}", prefix, has_peruse,
                         {"LD_LIBRARY_PATH": str(prefix / "lib")} if has_peruse else {}))
    return found, missing


@functools.cache
def rows():
    """Every build that all tests run on, installed or not."""
    peruse = peruse_prefix()
    return [Row("stock", "stock Open MPI", pathlib.Path("/usr"), False, {}),
            Row("peruse", "PERUSE build", peruse, True, {"LD_LIBRARY_PATH": str(peruse / "lib")})]


def row(name):
    return next(row for row in rows() if row.name == name)


def installed():
    """The rows of the builds that are there."""
    return [row for row in rows() if row.is_installed]


class OpenMpi:
    """A build to run jobs on. `environment` is that of a job: nothing of what the caller set, and the library that
    `fathom run` preloads, if one is given."""

    def __init__(self, row, library=None):
        self.name, self.title, self.prefix, self.has_peruse = row.name, row.title, row.prefix, row.has_peruse
        self.mpirun, self.mpicc = self.tool("mpirun"), self.tool("mpicc")
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(FOREIGN) and name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
        self.environment.update(FOR_ALL, **row.environment)
        if library:
            self.environment["FATHOM_LIBRARY"] = str(library)

    def tool(self, name):
        return str(self.prefix / "bin" / name)

    def launch(self, processes, *words):
        """The command line of a job, which may have more processes than the machine has processors."""
        return [self.mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(processes), *words]


def stock():
    return OpenMpi(row("stock"))


def preferred(library=None):
    """The build that shows most, for what runs on one only: with PERUSE if it is there."""
    return OpenMpi(installed()[-1], library)
