#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`fathom run` with the launchers of Open MPI 4.1 (ORTE) and of 5.0 and 6.0 (PRRTE).

usage: launchers.py --cli fathom --library libfathom.so --sources programs/

On each Open MPI that is here, programs compiled by its own mpicc run natively and under `fathom run`: exit code
and output must be the same, and the run directory must hold what the program logged. Covers spawned worlds,
--app FILE, several contexts, a list of variables beside -x, exit codes and signals of ranks. What an Open MPI
cannot do natively is skipped, and said.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import expectation
import open_mpi

# A spawned world reaches its parents over TCP, and the machine may have no network but this.
TCP = ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")
SHOW = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "abort")) abort();
    if (!strcmp(argv[i], "leave")) { MPI_Finalize(); return rank == size - 1 ? 7 : 0; }
    printf("%d of %d: %s=%s\\n", rank, size, argv[i], getenv(argv[i]) ? getenv(argv[i]) : "(unset)");
  }
  MPI_Finalize();
  return 0;
}
"""


class Job:
    """One command line, natively and under `fathom run`, in a folder of its own."""

    def __init__(self, mpi, options, programs, folder):
        self.mpi, self.options, self.programs, self.folder = mpi, options, programs, folder

    def path_of(self, name):
        return str(self.programs / name)

    def run(self, kind, words, variables):
        expect = self.folder / kind
        expect.mkdir(parents=True)
        environment = dict(self.mpi.environment, EXPECT_DIR=str(expect), FATHOM_LIBRARY=self.options.library, **variables)
        command = [self.mpi.mpirun, "--oversubscribe", *TCP, *words]
        if kind == "profiled":
            command = [self.options.cli, "run", "-o", str(self.folder / "run"), "--", *command]
        return subprocess.run(command, env=environment, cwd=self.folder, text=True, capture_output=True, timeout=120, check=False)

    def compare(self, *words, code=0, **variables):
        """(problems, None), or ([], a sentence) if it does not run natively."""
        native = self.run("native", words, variables)
        if native.returncode != code:
            return [], f"natively it ends with {native.returncode}"
        profiled = self.run("profiled", words, variables)
        problems = []
        if profiled.returncode != code:
            problems.append(f"exit code {profiled.returncode}, natively {code}: {profiled.stderr[-500:]}")
        if sorted(profiled.stdout.splitlines()) != sorted(native.stdout.splitlines()):
            problems.append(f"output {profiled.stdout!r}, natively {native.stdout!r}")
        if not (self.folder / "run/profile.json").exists():
            problems.append(f"no profile: {profiled.stderr[-500:]}")
        return problems, None

    def profile(self):
        return json.loads((self.folder / "run/profile.json").read_text(encoding="utf-8"))

    def ranks(self, expected):
        there = len(self.profile()["ranks"])
        return [] if there == expected else [f"the profile has {there} ranks, expected {expected}"]


def spawn(job, *arguments):
    problems, skip = job.compare("-n", "2", "-x", "EXPECT_DIR", job.path_of("spawn"), *arguments)
    if not problems and not skip:
        problems = expectation.check_run(str(job.folder / "profiled"), str(job.folder / "run"), {})
    return problems, skip


def spawn_multiple(job):
    return spawn(job, "multiple")


def spawn_with_a_long_path(job):
    """MPI_Info_set refuses values of 256 bytes and more; the run directory's path alone is longer."""
    job.folder = job.folder / ("long-" + "x" * 120) / ("longer-" + "y" * 120)
    job.folder.mkdir(parents=True)
    return spawn(job)


def spawn_gives_variables(job):
    """What the program gives to its children stays as it is, beside what Fathom hands over."""
    problems, skip = job.compare("-n", "1", job.path_of("spawn_variables"))
    if not problems and not skip and not list((job.folder / "run").glob("world-*/profile.json")):
        problems = ["the spawned world has no profile"]
    return problems, skip


def app_file(job):
    (job.folder / "app").write_text(f"-n 1 {job.path_of('show')} A\n-n 2 {job.path_of('show')} A\n", encoding="utf-8")
    problems, skip = job.compare("--app", str(job.folder / "app"))
    return problems + ([] if skip or problems else job.ranks(3)), skip


def app_file_and_x(job):
    """4.1 drops -x there, so there is nothing to compare with."""
    if job.mpi.is_4:
        return [], "Open MPI 4.1 ignores -x with --app"
    (job.folder / "app").write_text(f"-n 1 {job.path_of('show')} A B\n", encoding="utf-8")
    problems, skip = job.compare("-x", "A=1", "--app", str(job.folder / "app"), OMPI_MCA_mca_base_env_list="B=2")
    return problems + ([] if skip or problems else job.ranks(1)), skip


def contexts(job):
    problems, skip = job.compare("-x", "A=1", "-n", "1", job.path_of("show"), "A", ":",
                                 "-x", "A=2", "-n", "2", job.path_of("show"), "A")
    return problems + ([] if skip or problems else job.ranks(3)), skip


def variable_list(job):
    problems, skip = job.compare("-n", "2", job.path_of("show"), "A", OMPI_MCA_mca_base_env_list="A=1")
    return problems + ([] if skip or problems else job.ranks(2)), skip


def variable_list_and_x(job):
    """A job that 4.1 refuses."""
    problems, skip = job.compare("--mca", "mca_base_env_list", "A=1", "-x", "B=2", "-n", "2", job.path_of("show"), "A", "B")
    return problems + ([] if skip or problems else job.ranks(2)), skip


def exit_code_of_a_rank(job):
    return job.compare("-n", "2", job.path_of("show"), "leave", code=7)


def signals_of_ranks(job):
    problems, skip = job.compare("-n", "2", job.path_of("show"), "abort", code=134)
    if "exit code 14," in "".join(problems):
        # PRRTE's own, seen once in 400 runs: one rank heard that the other had ended before it was gone itself.
        job.folder /= "again"
        problems, skip = job.compare("-n", "2", job.path_of("show"), "abort", code=134)
    return problems, skip


CASES = (spawn, spawn_multiple, spawn_with_a_long_path, spawn_gives_variables, app_file, app_file_and_x, contexts,
         variable_list, variable_list_and_x, exit_code_of_a_rank, signals_of_ranks)


def builds():
    """(name, Open MPI) of all that can be had; those that cannot are named."""
    yield "stock", open_mpi.stock()
    for version in open_mpi.later_releases():
        try:
            yield version, open_mpi.OpenMpi(open_mpi.Row(version, version, open_mpi.prefix_of(version), False, {}))
        except LookupError as missing:
            print(f"skip {version}: {missing}")


def compile_programs(mpi, sources, folder):
    folder.mkdir()
    (folder / "show.c").write_text(SHOW, encoding="utf-8")
    expect = sources.parent / "expect.c"
    for name, files in (("show", [folder / "show.c"]), ("spawn", [sources / "spawn.c", expect]),
                        ("spawn_variables", [sources / "spawn_variables.c"])):
        subprocess.run([mpi.mpicc, "-w", "-pthread", f"-I{open_mpi.ROOT}", *files, "-o", folder / name], env=mpi.environment, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("cli", "library", "sources"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("cases", nargs="*", help="names of cases, such as contexts")
    options = parser.parse_args()
    failed = 0
    for name, mpi in builds():
        mpi.is_4 = "(Open MPI) 4." in subprocess.run([mpi.mpirun, "--version"], text=True, capture_output=True, check=True).stdout
        with tempfile.TemporaryDirectory(prefix="fathom-launchers-") as scratch:
            programs = pathlib.Path(scratch) / "programs"
            compile_programs(mpi, pathlib.Path(options.sources).resolve(), programs)
            for case in CASES:
                if options.cases and case.__name__ not in options.cases:
                    continue
                folder = pathlib.Path(scratch) / case.__name__
                folder.mkdir()
                problems, skip = case(Job(mpi, options, programs, folder))
                print(f"{'skip' if skip else 'FAIL' if problems else 'ok  '} {name} {case.__name__}{': ' + skip if skip else ''}",
                      *problems, sep="\n     " if problems else "", flush=True)
                failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
