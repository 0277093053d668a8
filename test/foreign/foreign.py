#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of an MPI that Fathom does not know run under it as they run without it.

usage: foreign.py --library libfathom.so --library libfathom-trace.so --cli fathom --profiler SOURCE/profiler

On Debian's MPICH, where it is there, and on libraries made up for the purpose, whose every function is called.
Output, exit code and stderr are compared; with Fathom stderr has one sentence more, of one rank.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent

import fake_mpi  # noqa: E402

MPICH = {name: shutil.which(name + ".mpich") for name in ("mpicc", "mpifort", "mpirun")}
# Of the name of Open MPI 6's library of the standard ABI, but without what Fathom reads in that, and MPICH's.
STANDARD_ABI = ("libmpi_abi.so.1", "Open MPI v6.0.0rc2, package: made up", True)
MPICH_ABI = ("libmpi_abi.so.1", r"MPICH Version:\t5.0.0\nMPICH Release date: made up\n", True)
LATER_OPEN_MPI = ("libmpi.so.40", "Open MPI v7.0.0, package: made up", True)
MPICH_LIKE = ("libmpich.so.12", r"MPICH Version:\t4.0.2\nMPICH Release date: made up\n", False)
SILENT = ("libmpi_other.so.1", "", False)
NOT_INHERITED = ("FATHOM_", "OMPI_", "PMI", "SLURM_")
options = None


def environment(**variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(NOT_INHERITED) and k != "LD_PRELOAD"}
    clean.update({"LC_ALL": "C", **variables})
    return clean


class ForeignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fathom-foreign-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_here(self, *command, **variables):
        return subprocess.run(command, cwd=self.folder, env=environment(**variables), text=True, capture_output=True,
                              timeout=120)

    def assert_same(self, native, profiled, mpi):
        """But for the one sentence that says which MPI it is. Ranks may write in any order."""
        self.assertEqual(sorted(native.stdout.splitlines()), sorted(profiled.stdout.splitlines()))
        self.assertEqual(native.returncode, profiled.returncode)
        said = profiled.stderr.splitlines()
        ours = [line for line in said if line.startswith("fathom: ")]
        self.assertEqual(len(ours), 1, profiled.stderr)
        self.assertIn(f"this program runs on {mpi}", ours[0])
        said.remove(ours[0])
        self.assertEqual(sorted(said), sorted(native.stderr.splitlines()))


class MadeUp(ForeignTest):
    def compile(self, name, text, *flags):
        (self.folder / name).with_suffix(".c").write_text(text)
        subprocess.run(["cc", "-w", "-O1", "-o", name, name.split(".")[0] + ".c", *flags], cwd=self.folder, check=True)

    def build(self, soname, version, handle_is_pointer):
        """Returns how many lines a program writes that calls every function of this library."""
        sys.path.insert(0, os.path.join(options.profiler, "wrappers"))
        import generate_wrappers
        rows = generate_wrappers.read(os.path.join(os.path.dirname(options.profiler), "mpi", "functions.table"))
        functions = [types.SimpleNamespace(name=f.name, pmpi=f.pmpi, variadic=f.variadic,
                                           fixed_parameters=[p for p in generate_wrappers.split(f.parameters) if p != "..."]) for f in rows]
        direct = [name for f in rows if f.options.get("fortran") == "direct" for name in generate_wrappers.fortran_names(f)]
        self.assertGreater(len(functions), 400)
        self.assertGreater(len(direct), 100)
        self.compile("library.so", fake_mpi.library(functions, direct, version, handle_is_pointer), "-shared", "-fPIC",
                     f"-Wl,-soname,{soname}")
        os.rename(self.folder / "library.so", self.folder / soname)
        linked = ["-Wl,-rpath," + str(self.folder), soname]
        self.compile("calls.so", fake_mpi.program(functions, direct, handle_is_pointer), "-shared", "-fPIC", *linked)
        self.compile("program", fake_mpi.MAIN, "./calls.so", *linked)
        self.compile("loader", fake_mpi.LOADER, "-ldl")
        return 4 * len(functions) - 2 + len(direct)

    def check(self, soname, version, handle_is_pointer, says):
        lines = self.build(soname, version, handle_is_pointer)
        for command in (["./program"], ["./loader", "./calls.so"]):
            native = self.run_here(*command)
            self.assertEqual((native.returncode, len(native.stdout.splitlines())), (7, lines))
            for library in options.library:
                with self.subTest(command=command, library=os.path.basename(library)):
                    self.assert_same(native, self.run_here(*command, LD_PRELOAD=library), says)
                    quiet = self.run_here(*command, LD_PRELOAD=library, FATHOM_LOG="quiet")
                    self.assertEqual((quiet.stdout, quiet.stderr), (native.stdout, ""))
                    other_rank = self.run_here(*command, LD_PRELOAD=library, PMI_RANK="1")
                    self.assertEqual((other_rank.stdout, other_rank.stderr), (native.stdout, ""))

    def test_every_call_of_the_standard_abi_is_passed_on(self):
        self.check(*STANDARD_ABI, "Open MPI v6.0.0rc2,")

    def test_every_call_of_mpichs_standard_abi_is_passed_on(self):
        self.check(*MPICH_ABI, "MPICH Version: 5.0.0,")

    def test_every_call_of_a_later_open_mpi_is_passed_on(self):
        self.check(*LATER_OPEN_MPI, "Open MPI v7.0.0,")

    def test_every_call_of_mpich_is_passed_on(self):
        self.check(*MPICH_LIKE, "MPICH Version: 4.0.2,")

    def test_every_call_of_a_library_without_a_name_is_passed_on(self):
        self.check(*SILENT, "an MPI library that does not give its name,")

    def test_a_tool_before_another_mpi_is_called_once(self):
        self.build(*MPICH_LIKE)
        self.compile("tool.so", """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int PMPI_Barrier(int);
int MPI_Barrier(int comm) { puts("tool"); return PMPI_Barrier(comm); }
""", "-shared", "-fPIC")
        native = self.run_here("./program", LD_PRELOAD="./tool.so")
        self.assertEqual(native.stdout.splitlines().count("tool"), 1)
        for library in options.library:
            for order in (f"{library}:./tool.so", f"./tool.so:{library}"):
                self.assert_same(native, self.run_here("./program", LD_PRELOAD=order), "MPICH")


@unittest.skipUnless(all(MPICH.values()), "MPICH is not installed")
class Mpich(ForeignTest):
    def compiled(self, language):
        if language == "c":
            subprocess.run([MPICH["mpicc"], "-o", "program", HERE / "any_mpi.c"], cwd=self.folder, check=True)
            return
        binding = {"mpif.h": "implicit none\n  include 'mpif.h'", "module": "use mpi\n  implicit none"}[language]
        text = (HERE / "any_mpi.f90").read_text().replace("BINDING", binding)
        (self.folder / "program.f90").write_text(text)
        subprocess.run([MPICH["mpifort"], "-fallow-argument-mismatch", "-w", "-o", "program", "program.f90"],
                       cwd=self.folder, check=True)

    def check(self, language):
        self.compiled(language)
        job = [MPICH["mpirun"], "-n", "4"]
        native = self.run_here(*job, "./program")
        self.assertEqual(sum(f"rank {rank} of 4" in native.stdout for rank in range(4)), 4, native.stderr)
        alone = self.run_here("./program")
        for library in options.library:
            with self.subTest(library=os.path.basename(library)):
                profiled = self.run_here(*job, "-genv", "LD_PRELOAD", library, "./program")
                self.assert_same(native, profiled, "MPICH Version: ")
                self.assert_same(alone, self.run_here("./program", LD_PRELOAD=library), "MPICH Version: ")

    def test_a_c_program_runs_as_without_fathom(self):
        self.check("c")

    def test_a_program_with_mpif_h_runs_as_without_fathom(self):
        self.check("mpif.h")

    def test_a_program_with_use_mpi_runs_as_without_fathom(self):
        self.check("module")

    def test_fathom_run_starts_a_program_of_mpich(self):
        self.compiled("c")
        mpirun = self.folder / "mpirun"  # Intel's is such a script
        mpirun.write_text('#!/bin/sh\nexec mpiexec.hydra "$@"\n')
        mpirun.chmod(0o755)
        native = self.run_here(mpirun, "-n", "4", "./program")
        for command in (["--", "./mpirun"], ["--trace", "--", "./mpirun"], ["--", "mpirun.mpich"]):
            profiled = self.run_here(options.cli, "run", *command, "-n", "4", "./program")
            self.assertEqual(sorted(native.stdout.splitlines()), sorted(profiled.stdout.splitlines()), profiled.stderr)
            self.assertEqual(native.returncode, profiled.returncode)
            self.assertEqual(profiled.stderr.count("fathom: this program runs on MPICH"), 1, profiled.stderr)
            self.assertIn("no profile", profiled.stderr)


def main():
    global options
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--profiler"):
        parser.add_argument(option, required=True)
    parser.add_argument("--library", action="append", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], warnings="ignore")


if __name__ == "__main__":
    main()
