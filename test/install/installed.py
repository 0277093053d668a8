# SPDX-License-Identifier: BSD-3-Clause
"""`meson install` gives a Fathom that needs no checkout: it is installed, moved, and used.

usage: installed.py SOURCE_ROOT BUILD_ROOT VERSION
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import use_fathom

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
VERSION = sys.argv[3]
PYTHON = "/usr/bin/python3"


def options():
    asked = subprocess.run(["meson", "introspect", "--buildoptions", BUILD], capture_output=True, text=True, check=True)
    return {option["name"]: option["value"] for option in json.loads(asked.stdout)}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="fathom-install-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.folder / "first"],
                       check=True, capture_output=True)
        cls.options = options()
        # Elsewhere than where Meson put it, for nothing may depend on the place.
        cls.prefix = cls.folder / "moved"
        shutil.move(cls.folder / "first" / cls.options["prefix"].lstrip("/"), cls.prefix)
        cls.libraries = cls.prefix / cls.options["libdir"]
        cls.environment = use_fathom.environment(cls.prefix / "bin")

    def run_command(self, *command, **variables):
        return use_fathom.run(*command, env=self.environment | variables, cwd=self.folder)

    def in_bash(self, script, **variables):
        return self.run_command("bash", "-c", "set -e; " + script, **variables)

    def package_folder(self):
        found = list(self.prefix.glob("lib*/**/fathom/__init__.py"))
        if not found:
            self.skipTest("built without Python")
        return found[0].parent.parent

    def flags(self, *words):
        # A build folder that was configured before its files could be moved keeps Meson's old default.
        moved = [] if self.options["pkgconfig.relocatable"] else [f"--define-variable=prefix={self.prefix}"]
        return self.run_command("pkg-config", *moved, *words, PKG_CONFIG_PATH=str(self.libraries / "pkgconfig")).strip()

    def test_nothing_lies_outside_the_prefix(self):
        self.assertEqual([str(path) for path in (self.folder / "first").rglob("*") if not path.is_dir()], [])

    def test_no_file_names_the_build(self):
        names = [str(path).encode() for path in (SOURCE, BUILD)]
        for path in self.prefix.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertFalse([name for name in names if name in content], path)

    def test_version(self):
        self.assertRegex(self.run_command("fathom", "--version"), rf"^fathom {VERSION}\ncommit \S+\nOpen MPI 4\.1")

    def test_a_c_program(self):
        flags = self.flags("--cflags", "fathom")
        self.in_bash(f"mpicc -o in_c {use_fathom.HERE}/phases.c {flags}")
        use_fathom.profile("./in_c", "c", self.environment, self.folder)
        use_fathom.read("c", self.environment, self.folder)
        package = self.package_folder()
        found = use_fathom.import_fathom(PYTHON, "c", self.environment | {"PYTHONPATH": str(package)}, self.folder, VERSION)
        self.assertEqual(found, str(package / "fathom/__init__.py"))
        pictures = "import fathom; fathom.open('c').plot_comm_matrix().savefig('in-python.png')"
        if (self.folder / "c-plots").exists():
            self.run_command(PYTHON, "-c", pictures, PYTHONPATH=str(package))

    def test_the_viewer(self):
        if not (self.prefix / "share/fathom/view").exists():
            self.skipTest("built without the viewer")
        self.in_bash(f"mpicc -o viewed {use_fathom.HERE}/phases.c {self.flags('--cflags', 'fathom')}")
        use_fathom.profile("./viewed", "viewed-run", self.environment, self.folder)
        use_fathom.view("viewed-run", self.environment, self.folder)

    def test_a_program_written_for_critter(self):
        self.in_bash(f"mpicxx -DOMPI_SKIP_MPICXX -o critter {SOURCE}/test/analysis/programs/critter.cpp {self.flags('--cflags', 'fathom')}")
        self.in_bash("fathom run -o critter-run -- mpirun --oversubscribe -n 2 ./critter")
        paths = json.loads((self.folder / "critter-run/profile.json").read_text(encoding="utf-8"))["path"]
        self.assertEqual([path["window"] for path in paths], ["", "critter"])

    def test_a_fortran_program(self):
        if not (self.libraries / "libfathom-fortran.a").exists():
            self.skipTest("built without Fortran")
        flags = self.flags("--cflags", "--libs", "fathom-fortran")
        self.in_bash(f"mpif90 -o in_fortran {use_fathom.HERE}/phases.f90 {flags}")
        use_fathom.profile("./in_fortran", "fortran", self.environment, self.folder)
        # Other compilers compile the source themselves.
        source = self.prefix / "share/fathom/fathom.f90"
        self.in_bash(f"mkdir -p own; cd own; mpif90 -o ../in_own {source} {use_fathom.HERE}/phases.f90")
        use_fathom.profile("./in_own", "own-module", self.environment, self.folder)

    def test_python_goes_where_its_interpreter_looks(self):
        script = SOURCE / "packaging/python_folder.py"
        looked_in = subprocess.run([PYTHON, "-c", "import site; print(*site.getsitepackages(), sep='\\n')"], check=True,
                                   capture_output=True, text=True).stdout.splitlines()
        for prefix in ("/usr", "/usr/local"):
            folder = use_fathom.run(PYTHON, "-B", script, prefix, env=self.environment, cwd=self.folder).strip()
            self.assertIn(f"{prefix}/{folder}", looked_in)
        elsewhere = use_fathom.run(PYTHON, "-B", script, "/opt/fathom", env=self.environment, cwd=self.folder).strip()
        self.assertRegex(elsewhere, r"^lib/python3\.\d+/site-packages$")

    def test_man_page(self):
        if not shutil.which("man"):
            self.skipTest("man is not installed")
        page = self.run_command("man", "-M", self.prefix / "share/man", "fathom", MANPAGER="cat", MANWIDTH="100")
        self.assertIn("SUBCOMMANDS", page)

    def test_completion(self):
        script = self.prefix / "share/bash-completion/completions/fathom"
        offered = self.in_bash(f'. {script}; COMP_WORDS=(fathom rep); COMP_CWORD=1; _fathom; echo "${{COMPREPLY[@]}}"')
        self.assertEqual(offered, "report\n")

    def test_module_file(self):
        start = "/usr/share/modules/init/bash"
        if not os.path.exists(start):
            self.skipTest("environment-modules is not installed")
        plain = use_fathom.environment("/usr/bin")
        script = f"set -e; . {start}; module use {self.prefix}/share/modulefiles; module load fathom; "
        shown = use_fathom.run("bash", "-c", script + "command -v fathom; pkg-config --modversion fathom; man -w fathom",
                               env=plain, cwd=self.folder).splitlines()
        self.assertEqual(shown[:2], [f"{self.prefix}/bin/fathom", VERSION])
        self.assertEqual(os.path.realpath(shown[2]), str(self.prefix / "share/man/man1/fathom.1"))
        if self.package_folder():
            found = use_fathom.run("bash", "-c", script + f"{PYTHON} -c 'import fathom; print(fathom.__file__)'", env=plain,
                                   cwd=self.folder).strip()
            self.assertEqual(found, str(self.package_folder() / "fathom/__init__.py"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
