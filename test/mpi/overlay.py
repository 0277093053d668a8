#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An overlay gives the ranks of an installed Open MPI PERUSE, and changes nothing else.

usage: overlay.py --cli FATHOM --library LIBFATHOM --program COLLECTIVES
Last line: "N passed, N failed". Exit code 77 if there is no overlay (scripts/openmpi.sh 4.1.4-peruse).
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import open_mpi  # noqa: E402

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
# UCX over shared memory: what Open MPI itself chooses where it is allowed to.
UCX = {"OMPI_MCA_mca_base_param_files": "/dev/null", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}
# The installed ones, and a folder of the user's.
COMPONENTS = "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3:/nowhere"
# What a rank has mapped, and the environment of the program and of a child of it.
SHOW = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
extern char** environ;
int main(int count, char** arguments) {
  char line[4096];
  MPI_Init(&count, &arguments);
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  printf("arguments %d %s\n", count, arguments[count - 1]);
  fflush(stdout);
  for (char** variable = environ; *variable; ++variable) puts(*variable);
  fflush(stdout);
  int failed = system("env | sed 's/^/child /'");
  MPI_Finalize();
  return failed;
}
"""


class Place:
    def __init__(self, options, folder):
        self.options, self.folder, self.runs = options, folder, 0
        self.overlay = find_overlay()

    def environment(self, **variables):
        clean = dict(open_mpi.OpenMpi(open_mpi.row("stock"), self.options.library).environment, PATH="/usr/bin:/bin",
                     FATHOM_OVERLAY=str(self.overlay))
        clean.update(variables)
        return clean

    def native(self, *job, **variables):
        return subprocess.run(job, env=self.environment(**variables), cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)

    def profiled(self, *job, words=(), **variables):
        """Returns (result, profile); profile is None if there is none."""
        self.runs += 1
        run = self.folder / f"run{self.runs}"
        done = self.native(self.options.cli, "run", *words, "-o", str(run), "--", *job, **variables)
        written = run / "profile.json"
        return done, json.loads(written.read_text()) if written.exists() else None

    def same_and_exact(self, *job, words=(), source="peruse", **variables):
        native = self.native(*job, **variables)
        done, profile = self.profiled(*job, words=words, **variables)
        assert (done.returncode, done.stdout) == (native.returncode, native.stdout), (done, native)
        assert profile is not None, done.stderr
        assert profile["source"] == source, (profile["source"], profile["coverage"])
        assert profile["coverage"]["verdict"] == "exact", profile["coverage"]
        return profile

    def job(self, ranks, *words):
        return "mpirun", "--oversubscribe", "-n", str(ranks), *words, self.options.program

    def copy_of_overlay(self):
        copy = self.folder / f"overlay{self.runs}"
        shutil.copytree(self.overlay, copy, symlinks=True)
        return copy


def find_overlay():
    prefix = open_mpi.row("peruse").prefix.resolve()
    return prefix if (prefix / "replaces" / "libmpi.so.40").exists() else None


def notes(profile):
    return json.dumps(profile["coverage"], ensure_ascii=False) + json.dumps(profile.get("notes", ""))


def installed_open_mpi_counts_with_peruse(place):
    profile = place.same_and_exact(*place.job(4))
    assert str(place.overlay) in notes(profile), profile["coverage"]


def built(place, name, source, *flags):
    (place.folder / f"{name}.c").write_text(source)
    subprocess.run(["/usr/bin/mpicc", "-w", "-o", place.folder / name, place.folder / f"{name}.c", *flags], check=True,
                   env=place.environment())
    return str(place.folder / name)


def ranks_alone_load_two_files_of_it(place):
    program = built(place, "show", SHOW)
    done, _ = place.profiled("mpirun", "--oversubscribe", "-n", "1", program, "last word")
    files = {line.split()[-1] for line in done.stdout.splitlines() if re.search(r"/(libmpi\.so|mca_pml_ob1|libopen-pal)", line)
             and " r-xp " in line}
    inside = sorted(pathlib.Path(file).name for file in files if file.startswith(str(place.overlay)))
    assert inside == ["libmpi.so.40", "mca_pml_ob1.so"], files
    assert any("libopen-pal" in file and file.startswith("/usr/lib") for file in files), files
    assert "arguments 2 last word" in done.stdout, done.stdout
    # The launcher has nothing of it in its environment.
    done = place.native(place.options.cli, "run", "-o", str(place.folder / "shown"), "--", "mpirun",
                        "--oversubscribe", "-n", "1", "sh", "-c", "tr '\\0' '\\n' </proc/$PPID/environ")
    assert "LD_PRELOAD=" not in done.stdout and "PATH=" in done.stdout, done


def file_that_differs_in_one_byte_is_not_replaced(place):
    other = place.copy_of_overlay()
    original = other / "replaces" / "libmpi.so.40"
    content = bytearray(original.read_bytes())
    content[len(content) // 2] ^= 1
    original.write_bytes(content)
    profile = place.same_and_exact(*place.job(2), source="pml", FATHOM_OVERLAY=str(other))
    assert "none of the job's overlays" in notes(profile), profile["coverage"]


def one_of_several_overlays_fits(place):
    place.same_and_exact(*place.job(2), FATHOM_OVERLAY=f"/nowhere:{place.overlay}")


def ranks_of_a_host_without_the_overlay_count_too(place):
    program = place.options.program
    half = ("mpirun", "--oversubscribe", "-n", "2", program, ":", "-n", "2", "-x", "FATHOM_OVERLAY=/nowhere", program)
    profile = place.same_and_exact(*half)
    assert "none of the job's overlays" in notes(profile), profile["coverage"]


def transport_that_open_mpi_chooses_stays(place):
    """Only ob1 has PERUSE; moving a job from UCX to it would move it from InfiniBand to TCP."""
    profile = place.same_and_exact(*place.job(2), source="pml", **UCX)
    assert profile["mpi"]["pml"] == "ucx", profile["mpi"]


def peruse_by_name_selects_ob1_and_says_so(place):
    profile = place.same_and_exact(*place.job(2), words=("--source", "peruse"), **UCX)
    assert profile["mpi"]["pml"] == "ob1", profile["mpi"]
    assert "this run used pml/ob1" in notes(profile), profile["coverage"]


def ucx_works_on_the_overlay(place):
    """Its component is the installed one: the structures that it shares with libmpi have the same size."""
    place.same_and_exact(*place.job(4, "--mca", "pml", "ucx"), source="pml", **UCX)


def program_and_its_children_see_the_environment_of_the_caller(place):
    program = built(place, "show", SHOW)
    ours = re.compile(r"(child )?(LD_PRELOAD|FATHOM_\w+|OMPI_MCA_orte_precondition_transports|OMPI_MCA_ess_base_jobid|"
                      r"OMPI_MCA_orte_(jobfam|top)_session_dir|OMPI_MCA_orte_tmpdir_base|TMPDIR|OMPI_MCA_orte_hnp_uri|OMPI_MCA_orte_local_daemon_uri|PMIX_\w+|OMPI_FILE_LOCATION|_)=")

    def variables(done):
        return sorted(line for line in done.stdout.splitlines() if re.match(r"(child )?[A-Za-z_]\w*=", line)
                      and not ours.match(line))

    job = "mpirun", "--oversubscribe", "-n", "1", program
    for settings in ({}, {"LD_LIBRARY_PATH": "/tmp/mine:/tmp/more"}, {"LD_LIBRARY_PATH": ""},
                     {"OMPI_MCA_mca_base_component_path": COMPONENTS}):
        native = place.native(*job, **settings)
        done, profile = place.profiled(*job, **settings)
        assert profile["source"] == "peruse", profile["coverage"]
        difference = set(variables(native)) ^ set(variables(done))
        assert not difference, (settings, difference)


HELLO = "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n"


def run_path_of_a_program_decides_as_before(place):
    """An overlay is for the libmpi that the loader finds. A DT_RPATH wins over LD_LIBRARY_PATH, so it stays."""
    libmpi = pathlib.Path("/usr/lib/x86_64-linux-gnu/libmpi.so.40").resolve()
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(libmpi, elsewhere / "libmpi.so.40")
    with open(elsewhere / "libmpi.so.40", "ab") as file:
        file.write(b"another build")
    for flag, folder, expected in (("--enable-new-dtags", elsewhere, "pml"), ("--enable-new-dtags", libmpi.parent, "peruse"),
                                   ("--disable-new-dtags", elsewhere, "pml"), ("--disable-new-dtags", libmpi.parent, "pml")):
        program = built(place, "hello", HELLO, f"-Wl,-rpath,{folder}", f"-Wl,{flag}")
        place.same_and_exact("mpirun", "--oversubscribe", "-n", "2", program, source=expected)


def programs_with_much_thread_local_storage_start(place):
    """Under the loader's audit interface they did not: "cannot allocate memory in static TLS block"."""
    library = place.folder / "libmuch.so"
    (place.folder / "much.c").write_text('__thread char much[65536] __attribute__((tls_model("initial-exec")));\n'
                                         "char first(void) { return much[0]; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, place.folder / "much.c"], check=True)
    program = built(place, "hello", HELLO.replace("MPI_Barrier", "first(); MPI_Barrier"), str(library),
                    f"-Wl,-rpath,{place.folder}", "-Wl,--enable-new-dtags")
    place.same_and_exact("mpirun", "--oversubscribe", "-n", "2", program)


def program_linked_to_another_tool_is_still_seen_by_it(place):
    library = place.folder / "libtool.so"
    (place.folder / "tool.c").write_text('#include <mpi.h>\n#include <stdio.h>\nint MPI_Barrier(MPI_Comm c) '
                                         '{ puts("seen by the tool"); return PMPI_Barrier(c); }\n')
    subprocess.run(["/usr/bin/mpicc", "-shared", "-fPIC", "-o", library, place.folder / "tool.c"], check=True)
    program = built(place, "hello", HELLO, str(library), f"-Wl,-rpath,{place.folder}")
    done, profile = place.profiled("mpirun", "--oversubscribe", "-n", "2", program)
    assert done.stdout == "seen by the tool\n" * 2 and profile["source"] == "peruse", (done, profile)


def python_counts_without_it(place):
    """Python is not linked to libmpi."""
    done, profile = place.profiled("mpirun", "--oversubscribe", "-n", "2", "/usr/bin/python3", "-c",
                                   "from mpi4py import MPI; MPI.COMM_WORLD.barrier()")
    assert done.returncode == 0 and profile["source"] == "pml", (done, profile)
    assert profile["coverage"]["verdict"] == "exact", profile["coverage"]


def source_peruse_is_refused_without_an_overlay(place):
    done, _ = place.profiled(*place.job(2), words=("--source", "peruse"), FATHOM_OVERLAY="")
    assert done.returncode == 2 and "fathom doctor --build-peruse" in done.stderr, done


def source_pml_leaves_libmpi_alone(place):
    done, _ = place.profiled("mpirun", "--oversubscribe", "-n", "1", "/usr/bin/env", words=("--source", "pml"),
                             FATHOM_OVERLAY=str(place.overlay))
    assert "libfathom-overlay" not in done.stdout, done.stdout


def mpirun_of_the_prefix_gives_peruse_without_fathom(place):
    done = place.native(str(place.overlay / "bin" / "mpirun"), "--oversubscribe", "-n", "1", built(place, "show", SHOW),
                        FATHOM_OVERLAY="")
    for name in ("libmpi.so.40", "mca_pml_ob1.so"):
        assert str(place.overlay / "lib" / name) in done.stdout, done


def programs_that_are_not_mpi_programs_run_as_they_are(place):
    done, _ = place.profiled("mpirun", "--oversubscribe", "-n", "2", "sh", "-c", "ls / | wc -l; exit 3")
    native = place.native("mpirun", "--oversubscribe", "-n", "2", "sh", "-c", "ls / | wc -l; exit 3")
    assert (done.returncode, done.stdout) == (native.returncode, native.stdout), (done, native)


def doctor_names_it(place):
    def said(**variables):  # lines are folded
        return " ".join(place.native(place.options.cli, "doctor", **variables).stdout.split())
    assert str(place.overlay) in said(), said()
    assert "fathom doctor --build-peruse" in said(FATHOM_OVERLAY=""), said(FATHOM_OVERLAY="")


CASES = (installed_open_mpi_counts_with_peruse, ranks_alone_load_two_files_of_it,
         file_that_differs_in_one_byte_is_not_replaced,
         one_of_several_overlays_fits, ranks_of_a_host_without_the_overlay_count_too,
         transport_that_open_mpi_chooses_stays, peruse_by_name_selects_ob1_and_says_so, ucx_works_on_the_overlay,
         program_and_its_children_see_the_environment_of_the_caller, run_path_of_a_program_decides_as_before,
         programs_with_much_thread_local_storage_start, program_linked_to_another_tool_is_still_seen_by_it,
         python_counts_without_it,
         source_peruse_is_refused_without_an_overlay, source_pml_leaves_libmpi_alone,
         mpirun_of_the_prefix_gives_peruse_without_fathom, programs_that_are_not_mpi_programs_run_as_they_are,
         doctor_names_it)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--cli", "--library", "--program"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    if find_overlay() is None:
        print("skipped: there is no overlay; scripts/openmpi.sh 4.1.4-peruse builds one")
        return 77
    passed = failed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="fathom-overlay-") as folder:
            try:
                case(Place(options, pathlib.Path(folder)))
                passed += 1
                print(f"ok   {case.__name__.replace('_', ' ')}", flush=True)
            except (AssertionError, subprocess.SubprocessError, KeyError) as problem:
                failed += 1
                print(f"FAIL {case.__name__.replace('_', ' ')}: {str(problem)[:1500]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
