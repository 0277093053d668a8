# SPDX-License-Identifier: BSD-3-Clause
"""The versions of Open MPI that scripts/openmpi.sh makes available: each compiles a program and runs it as its mpirun on
the PATH would, and one that cannot be had is refused with one sentence.

The last line is "N passed, N failed, N skipped".
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char* value(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? "-" : text;
}

int main(int count, char** words) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, rank, size, sum;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Get_library_version(version, &length);
  printf("%d of %d, sum %d|%s|%s|%s\\n", rank, size, sum, version, value("EXAMPLE"), value("LD_PRELOAD"));
  MPI_Finalize();
  return count > 1 ? atoi(words[1]) : 0;
}
"""
PERUSE = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int Callback(void* handle, MPI_Aint id, void* what, void* own);

static int events;

static int count_event(void* handle, MPI_Aint id, void* what, void* own) {
  (void)handle, (void)id, (void)what, (void)own;
  ++events;
  return 0;
}

int main(int count, char** words) {
  int rank, event;
  void* handle;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int (*const start)(void) = dlsym(RTLD_DEFAULT, "PERUSE_Init");
  int (*const find)(const char*, int*) = dlsym(RTLD_DEFAULT, "PERUSE_Query_event");
  int (*const watch)(int, MPI_Comm, Callback*, void*, void**) = dlsym(RTLD_DEFAULT, "PERUSE_Event_comm_register");
  int (*const activate)(void*) = dlsym(RTLD_DEFAULT, "PERUSE_Event_activate");
  if (start == NULL || start() != 0 || find("PERUSE_COMM_REQ_COMPLETE", &event) != 0 ||
      watch(event, MPI_COMM_WORLD, count_event, NULL, &handle) != 0 || activate(handle) != 0) {
    return 3;
  }
  for (int i = 0; i < 5; ++i) {
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&event, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d: %d\\n", rank, events);
  MPI_Finalize();
  return 0;
}
"""
OB1 = ("--mca", "pml", "ob1")


def clean_environment(**variables):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(open_mpi.FOREIGN) and name not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    return kept | open_mpi.FOR_ALL | variables


class Version:
    """What holds for every version; a subclass names one."""
    version = release = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.prefix = open_mpi.prefix_of(cls.version)
        except LookupError as missing:
            raise unittest.SkipTest(str(missing)) from None
        scratch = tempfile.TemporaryDirectory(prefix="fathom-versions-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "program.c").write_text(PROGRAM)
        cls.compile("mpicc", "program")

    @classmethod
    def compile(cls, compiler, name):
        subprocess.run([cls.prefix / "bin" / compiler, "-o", name, "program.c"], cwd=cls.folder, check=True,
                       env=clean_environment(), timeout=120)

    def mpirun(self, *words, **variables):
        return subprocess.run([self.prefix / "bin/mpirun", "--oversubscribe", "-n", "2", *words], cwd=self.folder, text=True,
                              capture_output=True, timeout=120, env=clean_environment(**variables), check=False)

    def ranks(self, *words, program="./program", **variables):
        """[(what a rank says first, version, EXAMPLE, LD_PRELOAD)] by rank, of a job that succeeds."""
        result = self.mpirun(*words, program, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        said = sorted(tuple(line.split("|")) for line in result.stdout.splitlines())
        self.assertEqual([row[0] for row in said], ["0 of 2, sum 1", "1 of 2, sum 1"], result.stdout)
        return said

    def test_it_is_the_release_that_was_asked_for(self):
        said = subprocess.run([self.prefix / "bin/ompi_info", "--version"], capture_output=True, text=True, check=True)
        if self.release:
            self.assertEqual(said.stdout.splitlines()[0], f"Open MPI v{self.release}")
        installed = said.stdout.split()[2]
        for row in self.ranks(*OB1):
            self.assertTrue(row[1].startswith(f"Open MPI {installed},"), row)

    def test_the_exit_code_is_that_of_the_ranks(self):
        self.assertEqual(self.mpirun(*OB1, "./program", "7").returncode, 7)

    def test_ranks_have_the_environment_of_the_caller(self):
        self.assertEqual([row[2:] for row in self.ranks(*OB1, EXAMPLE="two words")], [("two words", "-")] * 2)

    def test_a_library_is_preloaded_into_the_ranks(self):
        self.assertEqual([row[2:] for row in self.ranks(*OB1, "-x", "LD_PRELOAD=libm.so.6")], [("-", "libm.so.6")] * 2)


class Stock(Version, unittest.TestCase):
    version = "stock"


class Peruse(Version, unittest.TestCase):
    version = open_mpi.of_the_scripts("fathom_openmpi")
    release = version.removesuffix("-peruse")


class Unpacked(Version):
    """Another Debian release, in a mount namespace."""

    def test_ucx(self):
        for row in self.ranks(*open_mpi.UCX):
            self.assertIn(f"v{self.release},", row[1])

    def test_a_library_that_is_preloaded_into_mpirun_reaches_the_ranks(self):
        """As with an Open MPI that is installed; the shell and the tools of this machine are spared."""
        self.assertEqual([row[3] for row in self.ranks(*OB1, LD_PRELOAD="libm.so.6")], ["libm.so.6"] * 2)

    def test_a_signal_ends_the_job(self):
        job = subprocess.Popen([self.prefix / "bin/mpirun", "--oversubscribe", "-n", "2", *OB1, "sh", "-c",
                                "echo started; exec sleep 600"],
                               cwd=self.folder, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual([job.stdout.readline() for _ in range(2)], [b"started\n"] * 2)
        job.send_signal(signal.SIGTERM)
        self.assertNotEqual(job.wait(60), 0)
        job.stdout.close()

    def test_nothing_stays_mounted(self):
        before = pathlib.Path("/proc/self/mounts").read_text()
        self.ranks(*OB1)
        self.assertEqual(pathlib.Path("/proc/self/mounts").read_text(), before)

    def test_the_wrappers_file_by_its_own_name_enters_nothing(self):
        """It once mounted the other release's /usr over that of the whole machine."""
        done = subprocess.run(["unshare", "--mount", "--map-root-user", (self.prefix / "bin/mpicc").resolve(), "0", "0", "true"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run one of the programs in", done.stderr)


class Later5(Unpacked, unittest.TestCase):
    version = release = open_mpi.later_releases()[0]


class Later6(Unpacked, unittest.TestCase):
    version = release = open_mpi.later_releases()[1]

    def test_the_standard_abi(self):
        self.compile("mpicc_abi", "abi")
        needed = subprocess.run(["readelf", "-d", self.folder / "abi"], capture_output=True, text=True, check=True).stdout
        self.assertIn("libmpi_abi.so.1", needed)
        self.assertNotIn("libmpi.so", needed)
        self.ranks(*OB1, program="./abi")


class Later5Peruse(Unpacked, unittest.TestCase):
    """Built in minutes, so nothing but its name builds it: scripts/openmpi.sh 5.0.7-peruse."""
    release = open_mpi.later_releases()[0]
    version = f"{release}-peruse"

    def test_each_request_of_a_message_completes_once(self):
        (self.folder / "program.c").write_text(PERUSE)
        self.compile("mpicc", "peruse")
        result = self.mpirun(*OB1, "./peruse")
        self.assertEqual((result.returncode, sorted(result.stdout.split("\n"))), (0, ["", "0: 5", "1: 5"]), result.stderr)

    def test_it_replaces_the_libmpi_of_its_release(self):
        replaced, = open_mpi.prefix_of(self.release).glob("root/usr/lib/*/libmpi.so.40")
        self.assertEqual((self.prefix / "replaces/libmpi.so.40").read_bytes(), replaced.read_bytes())


class Refused(unittest.TestCase):
    """With a made-up apt and unshare: what cannot be had is said in one sentence, and nothing is left."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="fathom-versions-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        self.tool("unshare", ":")
        self.tool("dpkg", "echo amd64")
        self.tool("dpkg-deb", ":")
        self.apt()

    def tool(self, name, body):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def apt(self, update=":", version="5.0.7-1", archive="http://archive.invalid/debian/"):
        self.tool("apt-get", f"case \"$*\" in indextargets*) echo '{archive}' ;; *update) {update} ;; esac")
        self.tool("apt-cache", f"echo 'Version: {version}'")

    def sentence(self, *words):
        environment = clean_environment(PATH=f"{self.folder}/bin:{os.environ['PATH']}", FATHOM_CACHE=f"{self.folder}/cache")
        result = subprocess.run([ROOT / "scripts/openmpi.sh", *words], env=environment, capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual([path.name for path in (self.folder / "cache").glob("openmpi-*")], [])
        line, = result.stderr.splitlines()
        return line.removeprefix("fathom: ")

    def test_a_release_that_debian_has_no_more(self):
        self.apt(version="1:6.0.1~rc3-2+b1")
        self.assertEqual(self.sentence("6.0.0rc2"), "Open MPI 6.0.0rc2 is not available: Debian's suite sid has 6.0.1rc3")

    def test_no_network(self):
        self.apt(update='echo "E: no route to host"; exit 100')
        self.assertEqual(self.sentence("5.0.7"), "Open MPI 5.0.7 is not available: apt cannot fetch or verify Debian's suite "
                         "trixie (no route to host)")

    def test_another_distribution(self):
        self.apt(archive="")
        self.assertIn("apt knows no archive of Debian here", self.sentence("5.0.7"))

    def test_no_namespaces(self):
        self.tool("unshare", "echo unshare failed: Operation not permitted >&2; exit 1")
        self.assertEqual(self.sentence("5.0.7"), "Open MPI 5.0.7 needs a mount namespace of its own, which this account is "
                         "not allowed to make (unshare failed: Operation not permitted)")

    def test_a_newer_peruse(self):
        self.apt(version="5.0.8-1")
        self.assertEqual(self.sentence("5.0.7-peruse"), "Open MPI 5.0.7 is not available: Debian's suite trixie has 5.0.8")

    def test_check_fetches_nothing(self):
        self.assertEqual(self.sentence("5.0.7", "--check"),
                         "Open MPI 5.0.7 is not in the cache yet; scripts/openmpi.sh 5.0.7 puts it there")

    def test_a_version_without_a_recipe(self):
        self.assertIn("there are stock, 4.1.4-peruse and 5.0.7", self.sentence("3.1"))


if __name__ == "__main__":
    done = unittest.main(exit=False, verbosity=2).result
    failed, skipped = len(done.failures) + len(done.errors), len(done.skipped)  # of a skipped class, no test has run
    print(f"{done.testsRun - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed != 0)
