# SPDX-License-Identifier: BSD-3-Clause
"""The Open MPI builds that tests and benchmarks run jobs on. No other file of test/ or bench/ knows them.

A further build is one more row of rows(). scripts/lib.sh, which the build scripts share, says where the build
with PERUSE is and which later releases there are, so FATHOM_OPENMPI and FATHOM_CACHE mean here what they mean there.

A test takes the rows of tested(). These are the two builds of 4.1, and with FATHOM_TEST_LATER=1 (scripts/test.sh
--all-open-mpi) the later releases that are here too; FATHOM_TEST_LATER=only leaves the builds of 4.1 out.
"""
import atexit
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Settings of the caller that must not reach a job.
FOREIGN = ("EXPECT_", "FATHOM_", "OMPI_", "PMIX_")


class Skipped(Exception):
    """A case that does not apply to a build; its words say why."""


class Row(typing.NamedTuple):
    name: str          # in the output of tests, and for their option --build
    title: str         # in tables of docs/
    prefix: pathlib.Path
    has_peruse: bool
    environment: dict  # what its jobs need in addition to FOR_ALL
    series: int = 4    # the first number of its release
    mpicc: str = "mpicc"  # its compiler of C; mpicc_abi: for the standard ABI, which has no other language

    @property
    def is_installed(self):
        return os.access(self.prefix / "bin/mpirun", os.X_OK)


# Words for mpirun: pml/ucx, which leaves jobs to others where there is no InfiniBand unless it may use any transport.
UCX_ANYWHERE = ("--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any")
UCX = ("--mca", "pml", "ucx", *UCX_ANYWHERE)
# Words for mpirun: jobs that one machine without a network can run over TCP.
TCP = ("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")
# Programs of test/mpi with many threads that hang there at times, natively too: 7 of 210 runs of `threads`.
HANG_AT_TIMES = dict.fromkeys(("6.0.0rc2", "6.0.0rc2-abi"), ("threads",))
# The exit code of a prterun that could not start its job (PRTE_ERR_SILENT). Seen once in some thousand jobs, natively.
NOT_STARTED = 213
# No overlay of the cache: a build is what its row says.
FOR_ALL = {"FATHOM_OVERLAY": "", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C.UTF-8"}


# By the suffix of a source: the compiler and what it needs. MPI_IN_PLACE of mpif.h is an integer, which is the
# mismatch that is allowed.
COMPILERS = {".c": ("mpicc",), ".cpp": ("mpicxx", "-DOMPI_SKIP_MPICXX"), ".f90": ("mpifort", "-fallow-argument-mismatch")}


def of_the_scripts(variable):
    """A variable of scripts/lib.sh."""
    command = f". '{ROOT}/scripts/lib.sh' && printf %s \"${variable}\""
    return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout


def peruse_prefix():
    return pathlib.Path(of_the_scripts("openmpi_prefix"))


def later_releases():
    """The versions for scripts/openmpi.sh that are later than those of rows()."""
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
    prefixes = [row.prefix for row in installed()] + sorted({row.prefix / "root/usr" for row in later})
    headers = [header for prefix in prefixes for pattern in ("lib/*/openmpi/include/mpi.h", "include/mpi.h")
               for header in prefix.glob(pattern)]
    return [header.parent for header in headers], missing


def later_row(version):
    """The row of a later release; VERSION-abi: with programs of the standard ABI. LookupError with a sentence if it is
    not here, or not usable."""
    mpicc = "mpicc_abi" if version.endswith("-abi") else "mpicc"
    prefix, has_peruse = prefix_of(version.removesuffix("-abi")), version.endswith("-peruse")
    # TCP warns that there is no network, and osc/ucx of 6.0 reports an error where there is no InfiniBand.
    environment = {"OMPI_MCA_btl": "sm,self", "OMPI_MCA_osc": "^ucx"}
    if has_peruse:
        environment["LD_LIBRARY_PATH"] = str(prefix / "lib")
    return Row(version, f"Open MPI {version}", prefix, has_peruse, environment, int(version.split(".")[0]), mpicc)


@functools.cache
def exported_functions(build):
    """The MPI functions that a build's libmpi exports, under both their names."""
    roots = (build.prefix / "root/usr", build.prefix, pathlib.Path("/usr"))
    library = "libmpi_abi.so.1" if build.has_standard_abi else "libmpi.so.40"
    found = next(path for root in roots for pattern in (f"lib/{library}", f"lib/*/{library}") for path in root.glob(pattern))
    symbols = subprocess.run(["nm", "-D", "--defined-only", found], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in symbols.splitlines() if "MPI" in line}


def later_rows():
    """(rows of the later releases that are here, a sentence for each that is not)."""
    found, missing = [], []
    for version in [*later_releases(), "5.0.7-peruse", "6.0.0rc2-abi"]:
        try:
            found.append(later_row(version))
        except LookupError as sentence:
            missing.append(str(sentence))
    return found, missing


def tested():
    """The rows that a test runs on. Prints a sentence for each later release that is wanted and not here; a test for
    which nothing is left is skipped."""
    wanted = os.environ.get("FATHOM_TEST_LATER", "")
    found, missing = later_rows() if wanted else ([], [])
    for sentence in missing:
        print(f"skip {sentence}", flush=True)
    found = found if wanted == "only" else [*installed(), *found]
    if not found:
        sys.exit(77)
    return found


@functools.cache
def rows():
    """The builds of 4.1, installed or not."""
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

    compiling = threading.Lock()  # of the class, so that other processes can have its objects

    def __init__(self, row, library=None):
        self.name, self.title, self.prefix, self.has_peruse = row.name, row.title, row.prefix, row.has_peruse
        self.series, self.is_later = row.series, row.series > 4
        self.mpirun, self.mpicc = self.tool("mpirun"), self.tool(row.mpicc)
        self.has_standard_abi = row.mpicc == "mpicc_abi"
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(FOREIGN) and name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
        self.environment.update(FOR_ALL, **row.environment)
        # Launchers of one user that start or end at once quarrel about the folder of their sessions: one removes it, being
        # empty, when another has just found it and makes its own in it. Tests run beside each other.
        self.environment["TMPDIR"] = tempfile.mkdtemp(prefix="fathom-")
        atexit.register(shutil.rmtree, self.environment["TMPDIR"], ignore_errors=True)
        if library:
            self.environment["FATHOM_LIBRARY"] = str(library)

    def tool(self, name):
        return str(self.prefix / "bin" / name)

    def launch(self, processes, *words):
        """The command line of a job, which may have more processes than the machine has processors."""
        return [self.mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(processes), *words]

    def for_ranks(self, variables):
        """Words for mpirun that give these variables to the ranks, and not to mpirun itself. On 4.1 spawned processes
        have them too, which -x would not reach."""
        if self.is_later:
            return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
        return ["--mca", "mca_base_env_list_delimiter", "|", "--mca", "mca_base_env_list",
                "|".join(f"{name}={value}" for name, value in variables.items())] if variables else []

    def launch_tool(self, processes, cli, *words):
        """The command line of a job whose processes run `fathom`, or a shell that does. A later release, of another
        Debian, has other libraries than those that it was compiled with; its processes get copies of these."""
        if not self.is_later:
            return self.launch(processes, *words)
        folder = pathlib.Path(cli).absolute().parent / "libraries"
        linked = subprocess.run(["ldd", cli], check=True, capture_output=True, text=True).stdout
        folder.mkdir(exist_ok=True)
        for library in map(pathlib.Path, re.findall(r"=> (/\S+)", linked)):
            if not re.match(r"lib(c|m|gcc_s|stdc\+\+|mpi)\.so", library.name) and not (folder / library.name).exists():
                shutil.copy(library, folder)
        path = ":".join(filter(None, (self.environment.get("LD_LIBRARY_PATH"), str(folder))))
        return self.launch(processes, "-x", f"LD_LIBRARY_PATH={path}", *words)

    def program(self, binary):
        """A test program for this Open MPI. `binary` is what Meson compiled with the Open MPI that is installed, in a
        folder named as that of its sources in test/. A later release compiles them itself, when they are first wanted:
        they may need functions that the headers here lack, or call some that its own lack."""
        binary = pathlib.Path(binary).absolute()
        if not self.is_later:
            return str(binary)
        sources = ROOT / "test" / binary.parent.name
        name = binary.name.removeprefix("lib").removesuffix(".so")
        source = next((path for folder in (sources / "programs", sources) for suffix in COMPILERS
                       if (path := folder / (name + suffix)).exists()), None)
        assert source, f"there is no source of {binary} in {sources}"
        text, needed, flags = source.read_text(encoding="utf-8"), [source], []
        if "expect.h" in text:
            needed.append(ROOT / "test/mpi/expect.c")
        if "use expect" in text:
            needed.insert(0, ROOT / "test/mpi/programs/expect_fortran.f90")
        if binary.suffix == ".so":
            flags = ["-shared", "-fPIC"]
        return self.compile(binary.parent / f"on-{self.name}" / binary.name, needed, flags)

    def compile(self, target, sources, flags=()):
        """Compiles sources of one language, unless the target is newer. Without optimization, so that each call is made
        by the function in which it is written. Returns the target's path."""
        target = pathlib.Path(target)
        compiler, *words = COMPILERS[sources[0].suffix]
        if self.has_standard_abi and compiler != "mpicc":
            raise Skipped("Open MPI has the standard ABI for C alone")
        compiler = self.mpicc if compiler == "mpicc" else self.tool(compiler)
        with self.compiling:
            newest = max(path.stat().st_mtime for path in (*sources, ROOT / "test/mpi/expect.h"))
            if not target.exists() or target.stat().st_mtime < newest:
                modules = target.with_name(target.name + ".modules")
                modules.mkdir(parents=True, exist_ok=True)
                if sources[0].suffix == ".f90":
                    words = [*words, f"-J{modules}"]
                partial = modules / target.name
                done = subprocess.run([compiler, "-g", "-O0", "-w", "-pthread", f"-I{ROOT}", f"-I{ROOT}/profiler", *words,
                                       *flags, *sources, "-o", partial, "-ldl", "-lm"], env=self.environment,
                                      cwd=modules, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{self.title} does not compile {target.name}: {done.stderr[-600:]}"
                partial.rename(target)
        return str(target)


def rows_of_one():
    """Those of tested() without the less telling build of 4.1, for what need not run on both."""
    return [row for row in tested() if row.series > 4 or row == installed()[-1]]


def report_cases(builds, cases_of, match=""):
    """Runs cases_of(build), {name: function(folder)}, on each of the builds; each gets an empty folder and returns what was
    wrong, as sentences, if anything. An exception is wrong too, and the next case runs. `match`: only those whose name,
    "BUILD CASE", this expression matches. The last line is "N passed, N failed, N skipped". True if one has failed."""
    passed = failed = skipped = 0
    for build in builds:
        for name, case in cases_of(build).items():
            name = f"{build.name} {name}"
            if not re.search(match, name):
                continue
            with tempfile.TemporaryDirectory(prefix="fathom-case-") as folder:
                try:
                    problems = case(pathlib.Path(folder).resolve())
                except Skipped as reason:
                    print(f"skip {name}: {reason}", flush=True)
                    skipped += 1
                    continue
                except Exception:
                    problems = [traceback.format_exc()]
                finally:
                    end_children()
            print(f"{'FAIL' if problems else 'ok  '} {name}", *(problems or ()), sep="\n     " if problems else "", flush=True)
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return failed > 0


def end_children():
    """Ends the jobs that a case has left running, which would take the processors from all that follow."""
    children = [int(child) for task in pathlib.Path("/proc/self/task").glob("*/children") for child in task.read_text().split()]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for child in children:
            os.kill(child, number)  # nobody has waited for it, so its number is still its own
        for _ in range(200):
            children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
            if not children:
                return
            time.sleep(0.1)


def stock():
    return OpenMpi(row("stock"))


def preferred(library=None):
    """The build that shows most, for what runs on one only: with PERUSE if it is there."""
    return OpenMpi(installed()[-1], library)
