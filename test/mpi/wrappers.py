#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The compiler wrappers compile Fortran without a warning: Debian's after scripts/env.sh, and the PERUSE build's.

usage: wrappers.py SCRIPTS
Last line: "N passed, N failed". Exit code 77 if there is no PERUSE build.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import open_mpi  # noqa: E402

SCRIPTS = pathlib.Path(sys.argv[1]).resolve()
WRAPPERS = ("mpif90", "mpif77", "mpifort")
BODY = """      implicit none
{}      integer :: ierr, rank
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      if (rank == 0) print *, "compiled"
      call MPI_Finalize(ierr)
      end program
"""
SOURCES = {"header.f90": "      program p\n" + BODY.format("      include 'mpif.h'\n"),
           "fixed_form.f": "      program p\n" + BODY.format("      include 'mpif.h'\n"),
           "module.f90": "      program p\n      use mpi\n" + BODY.format(""),
           "module_f08.f90": "      program p\n      use mpi_f08\n" + BODY.format("")}


def after_env(prefix, command, folder, **variables):
    """Runs a command of the shell as a user does who has sourced scripts/env.sh, for this prefix if there is one."""
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("OMPI_", "FATHOM_", "LD_"))}
    if prefix:
        clean["FATHOM_OPENMPI"] = str(prefix)
    clean.update(variables)
    version = '"$fathom_openmpi"' if prefix else ""
    return subprocess.run(["bash", "-c", f". '{SCRIPTS}/lib.sh' && . '{SCRIPTS}/env.sh' {version} && {command}"], cwd=folder,
                          env=clean, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False)


def compile_all(prefix, wrapper, folder, sources=tuple(SOURCES), **variables):
    for source in sources:
        (folder / source).write_text(SOURCES[source])
        done = after_env(prefix, f"{wrapper} -Werror -o {source}.exe {source}", folder, **variables)
        unrepaired = "@COMPILER_VERSION@" in done.stdout
        hint = " (scripts/setup.sh repairs the wrappers)" if unrepaired else ""
        assert done.returncode == 0 and not done.stdout, \
            f"{wrapper} {source}{hint}: {done.stdout[:600]}"


def wrappers_of_the_peruse_build_compile(prefix, folder):
    for name in WRAPPERS:
        compile_all(prefix, prefix / "bin" / name, folder)
    for source in SOURCES:
        done = after_env(prefix, f"mpirun --oversubscribe -n 2 ./{source}.exe", folder)
        assert (done.returncode, done.stdout.split()) == (0, ["compiled"]), (source, done.stdout)


def wrappers_of_debian_compile_after_env_sh(_prefix, folder):
    """env.sh adds fathom and leaves the MPI alone."""
    for name in WRAPPERS:
        compile_all(None, name, folder)
    done = after_env(None, "command -v mpicc mpirun && fathom --version >/dev/null", folder, PATH="/usr/bin:/bin")
    assert done.stdout.split() == ["/usr/bin/mpicc", "/usr/bin/mpirun"], done.stdout


def wrappers_of_a_whole_build_are_repaired(prefix, folder):
    """A placeholder of Debian's packaging was left in the data, so that mpif.h was not found."""
    if not (prefix / "share").exists():
        return  # an overlay has the installed wrappers
    old = folder / "old"
    data = old / "share" / "openmpi"
    data.mkdir(parents=True)
    for entry in prefix.iterdir():
        if entry.name != "share":
            (old / entry.name).symlink_to(entry)
    for entry in (prefix / "share" / "openmpi").iterdir():
        if entry.is_file() and ".openmpi-wrapper" not in entry.name:
            shutil.copy(entry, data)
    for name in WRAPPERS:
        file = data / f"{name}-wrapper-data.txt"
        lines = [line for line in file.read_text().splitlines()
                 if not line.startswith(("includedir=", "libdir="))]
        file.write_text("\n".join([*lines, "compiler_version=@COMPILER_VERSION@",
                                   "includedir=${libdir}/../../fortran/@COMPILER_VERSION@/openmpi",
                                   "libdir=${libdir}/fortran/gfortran", ""]))
    broken = after_env(old, "mpif90 --showme", folder, OPAL_PREFIX=str(old)).stdout
    assert "@COMPILER_VERSION@" in broken, broken

    repair = [SCRIPTS / "openmpi" / "repair_wrappers.sh", old]
    assert subprocess.run([*repair, "--check"], check=False).returncode == 1
    subprocess.run(repair, check=True)
    repaired = {file.name: file.read_text() for file in data.glob("*wrapper-data.txt")}
    subprocess.run([*repair, "--check"], check=True)
    subprocess.run(repair, check=True)
    assert repaired == {file.name: file.read_text() for file in data.glob("*wrapper-data.txt")}
    for name in WRAPPERS:
        compile_all(old, name, folder, ["header.f90", "module_f08.f90"], OPAL_PREFIX=str(old))


def main():
    prefix = open_mpi.row("peruse").prefix
    if not prefix.exists():
        print("skipped: there is no Open MPI with PERUSE")
        return 77
    passed = failed = 0
    for case in (wrappers_of_the_peruse_build_compile, wrappers_of_debian_compile_after_env_sh,
                 wrappers_of_a_whole_build_are_repaired):
        with tempfile.TemporaryDirectory(prefix="fathom-wrappers-") as folder:
            try:
                case(prefix, pathlib.Path(folder))
                passed += 1
                print(f"ok   {case.__name__}")
            except (AssertionError, subprocess.SubprocessError) as problem:
                failed += 1
                print(f"FAIL {case.__name__}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
