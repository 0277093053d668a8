# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI jobs for the measurements in this folder: natively, under Fathom, under pml_monitoring.

What the programs share: how a job is started, where the C programs are built, how a table is printed
or put into a document.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FATHOM_BUILD", ROOT / "build"))

sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402


class Failed(Exception):
    """One sentence for the user."""


def build(name):
    """The Open MPI of this name in test/open_mpi.py, or of this version for scripts/openmpi.sh."""
    try:
        row = open_mpi.row(name) if name in ("stock", "peruse") else open_mpi.later_row(name)
    except LookupError as sentence:
        raise Failed(str(sentence)) from None
    if not row.is_installed:
        raise Failed(f"there is no {row.title} in {row.prefix}: run scripts/setup.sh")
    return open_mpi.OpenMpi(row)


def peruse_build():
    return build("peruse")


def stock_build():
    return build("stock")


class Workspace:
    """A private folder for the programs, a copy of the library, and the runs; removed at the end."""

    def __init__(self, library=None):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="fathom-bench."))
        source = pathlib.Path(library or BUILD / "profiler/libfathom.so")
        if not source.exists():
            raise Failed(f"{source} is missing: build Fathom first (ninja -C build)")
        # A copy: a rebuild in the middle of a measurement must not change what is measured.
        self.library = self.path / "libfathom.so"
        shutil.copy(source, self.library)
        for name in ("libfathom-count.so", "libfathom-trace.so", "fathom-keeper"):
            if source.with_name(name).exists():  # not in builds of before there was one
                shutil.copy(source.with_name(name), self.path)
        self.runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run_directory(self):
        self.runs += 1
        directory = self.path / f"run-{self.runs}"
        directory.mkdir()
        return directory

    def compile(self, installation, source):
        """The program bench/programs/SOURCE.c, built with this installation's mpicc."""
        target = self.path / f"{source}-{installation.name}"
        if not target.exists():
            file = ROOT / "bench/programs" / f"{source}.c"
            subprocess.run([installation.mpicc, "-O2", "-Wall", "-Wextra", "-DOMPI_SKIP_MPICXX",
                            "-rdynamic", "-o", target, file, "-ldl"], check=True, env=installation.environment)
        return target

    def compile_preload(self, installation, source):
        """The library bench/programs/SOURCE.c, which may use Open MPI's internal headers."""
        target = self.path / f"{source}-{installation.name}.so"
        if not target.exists():
            internal = [f"-I{installation.prefix}/include/openmpi"] if installation.has_peruse else []
            subprocess.run([installation.mpicc, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-DOMPI_SKIP_MPICXX",
                            *internal, "-o", target, ROOT / "bench/programs" / f"{source}.c", "-ldl"],
                           check=True, env=installation.environment)
        return target


# What is measured against what: MCA parameters, and whether and how Fathom is loaded.
VARIANTS = {
    "native": ("ob1", None),
    # Counts messages and times calls, as `fathom run` does; and without the times.
    "fathom": ("ob1", "auto"),
    "fathom --no-time": ("ob1", "auto"),
    # For comparison: two readings of the clock for each call (mpiP's method). Open MPI's own counters
    # (SPC) would be another, but neither build is configured with them.
    "two clocks": ("ob1", None),
    "pml_monitoring": ("ob1,monitoring", None),
    # Both in one job: PERUSE where Fathom accepts it above pml/monitoring, else it steps down to pml.
    "fathom over monitoring": ("ob1,monitoring", "auto"),
    # Trace mode, with what it records.
    "trace calls": ("ob1", "auto"),
    "trace calls and transfers": ("ob1", "auto"),
    # The same in memory, written nowhere; and a recording that has not begun.
    "flight recorder": ("ob1", "auto"),
    "recording not begun": ("ob1", "auto"),
    # Counts and times, and records when somebody asks, as in jobs of fathom run --live.
    "request": ("ob1", "auto"),
}
TRACE_LEVELS = {"trace calls": "calls", "trace calls and transfers": "transfers", "flight recorder": "transfers",
                "recording not begun": "transfers", "request": "transfers"}
SETTINGS = {"flight recorder": ("-x", "FATHOM_FLIGHT=16M"), "recording not begun": ("-x", "FATHOM_TRACE_AFTER=1000000"),
            "request": ("-x", "FATHOM_TRACE=request")}


BEFORE = {}  # variant: the one that it is like, and where its libraries are


def add_variant_options(parser, known):
    parser.add_argument("--variant", action="append", choices=known[1:], help="one beside native only; repeatable")
    parser.add_argument("--before", metavar="FOLDER", help="measure the libraries there too, in the same turns")


def chosen_variants(options, known):
    """Native and those that add_variant_options() let the user choose; with --before, each with Fathom a second time, with the
    libraries of another build."""
    variants = ["native", *(options.variant or known[1:])]
    if options.before:
        BEFORE.update({f"{variant}, before": (variant, pathlib.Path(options.before).resolve()) for variant in variants if VARIANTS[variant][1]})
    return [*variants, *BEFORE]


def command_line(workspace, installation, variant, ranks, command, directory, mpirun=(), environment=None,
                 preload=(), pml="ob1"):
    """The words that start a job; Fathom's run directory is DIRECTORY/profile. `pml`: ob1 or ucx."""
    variant, libraries = BEFORE.get(variant, (variant, workspace.path))
    components, source = VARIANTS[variant]
    line = [installation.mpirun, "-n", str(ranks), "--mca", "pml", components.replace("ob1", pml), *mpirun]
    if pml == "ucx":
        line += open_mpi.UCX_ANYWHERE
    if "monitoring" in components:
        line += ["--mca", "pml_monitoring_enable", "1"]
    if variant == "two clocks":
        preload = [*preload, workspace.compile_preload(installation, "two_clocks")]
    if source:
        level = TRACE_LEVELS.get(variant)
        library = "libfathom-trace" if level else "libfathom-count" if variant == "fathom --no-time" else "libfathom"
        preload = [*preload, libraries / f"{library}.so"]
        if level:
            line += ["-x", f"FATHOM_TRACE_LEVEL={level}", *SETTINGS.get(variant, ())]
        line += ["-x", f"FATHOM_SOURCE={source}", "-x", f"FATHOM_OUTPUT={directory / 'profile'}"]
    if preload:
        line += ["-x", "LD_PRELOAD=" + " ".join(map(str, preload))]
    for name, value in (environment or {}).items():
        line += ["-x", f"{name}={value}"]
    return line + [str(word) for word in command]


def launch(workspace, installation, variant, ranks, command, *, directory=None, mpirun=(), timeout=600,
           environment=None, preload=(), pml="ob1"):
    """Runs a job to its end; returns what it printed, and its directory."""
    directory = directory or workspace.run_directory()
    line = command_line(workspace, installation, variant, ranks, command, directory, mpirun, environment, preload, pml)
    job = subprocess.Popen(line, cwd=directory, env=installation.environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        output, errors = job.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(line)} did not end within {timeout} s") from None
    finally:
        stop(job)
    if job.returncode != 0:
        raise Failed(f"{' '.join(line)} ended with exit code {job.returncode}:\n"
                     f"{output[-2000:]}{errors[-2000:]}")
    return output, directory


def stop(job):
    """Ends a job that is still running. mpirun, asked politely, takes its ranks with it."""
    if job.poll() is None:
        job.terminate()
        try:
            job.wait(timeout=20)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()


OVERSUBSCRIBED = ("--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")


def markdown_table(header, rows):
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    numeric = [i > 0 for i in range(len(header))]
    def line(cells):
        return "| " + " | ".join(str(c).rjust(w) if n else str(c).ljust(w)
                                 for c, w, n in zip(cells, widths, numeric)) + " |"
    rule = "|" + "|".join("-" * (w + 1) + (":" if n else "-") for w, n in zip(widths, numeric)) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


def write_section(document, name, text):
    """Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->` in a document."""
    path = ROOT / "docs" / document
    old = path.read_text()
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if start not in old or end not in old:
        raise Failed(f"{path} has no section {start} ... {end}")
    before, rest = old.split(start, 1)
    after = rest.split(end, 1)[1]
    path.write_text(f"{before}{start}\n{text}\n{end}{after}")


def machine():
    """One line: what this was measured on."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {os.uname().release.split('-')[0]}"


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="" if text else "", file=sys.stderr, flush=True)


def main(function):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended too
    try:
        sys.exit(function() or 0)
    except Failed as error:
        progress("")
        print(f"{pathlib.Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
