# SPDX-License-Identifier: BSD-3-Clause
"""scripts/setup.sh without anything to install or build: its packages are those of a made-up dpkg and apt."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKED = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt-get)"


class Setup(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="fathom-setup-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.tool("dpkg-query", 'case $4 in hpcc | meson) ;; *) printf "install ok installed" ;; esac')
        self.tool("sleep", ":")

    def tool(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def checkout(self, name):
        where = self.folder / name
        shutil.copytree(ROOT / "scripts", where / "scripts")
        (where / "meson.build").write_text("")
        return where

    def setup(self, checkout, *words, user=0):
        self.tool("id", f"echo {user}")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
        clean.update(PATH=f"{self.bin}:{clean['PATH']}", FATHOM_CACHE=str(self.folder / "cache"))
        return subprocess.run([checkout / "scripts/setup.sh", "--packages-only", *words], env=clean, text=True,
                              capture_output=True, timeout=60, check=False)

    def test_missing_packages_are_one_line_without_root(self):
        result = self.setup(self.checkout("a"), "--demo", user=1000)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.rstrip().endswith("Run: apt-get install meson hpcc"), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_the_tool_needs_no_packages_of_the_demo(self):
        result = self.setup(self.checkout("a"), user=1000)
        self.assertTrue(result.stderr.rstrip().endswith("Run: apt-get install meson"), result.stderr)

    def test_a_held_package_lock_is_waited_for(self):
        tries = self.folder / "tries"
        self.tool("apt-get", f'case " $* " in *" --simulate "*) exit 0 ;; esac\n'
                             f'echo once >>{tries}\n[ "$(wc -l <{tries})" -ge 3 ] || {{ echo "{LOCKED}" >&2; exit 100; }}')
        checkout = self.checkout("a")
        result = self.setup(checkout, "--demo")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(tries.read_text().count("once"), 3)
        log, = (checkout / "build/setup-logs").iterdir()
        self.assertIn("waiting for the package manager that holds the lock", log.read_text())

    def test_another_error_of_apt_is_shown_at_once(self):
        self.tool("apt-get", 'case " $* " in *" --simulate "*) exit 0 ;; esac\necho "E: no space left" >&2; exit 100')
        result = self.setup(self.checkout("a"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("E: no space left", result.stderr)
        self.assertIn("the whole log is", result.stderr)

    def test_packages_that_apt_does_not_know_are_named_before_anything_is_changed(self):
        self.tool("apt-get", 'case " $* " in *" update "*) exit 0 ;; esac\nexit 100')
        result = self.setup(self.checkout("a"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("nothing was changed: meson", result.stderr)

    def test_logs_of_two_checkouts_do_not_overwrite_each_other(self):
        self.tool("apt-get", "echo installed in $PWD")
        checkouts = [self.checkout("a"), self.checkout("b")]
        for checkout in checkouts:
            self.assertEqual(self.setup(checkout).returncode, 0)
        logs = [[log.name for log in (checkout / "build/setup-logs").iterdir()] for checkout in checkouts]
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(len(logs[0]), 1)

    def test_each_package_is_named_once_and_has_a_part(self):
        rows = [line.split() for line in (ROOT / "scripts/packages.txt").read_text().splitlines()
                if line.strip() and not line.startswith("#")]
        self.assertEqual({row[0] for row in rows}, {"tool", "peruse", "demo", "test"})
        names = [row[1] for row in rows]
        self.assertEqual(len(names), len(set(names)))
        for row in rows:
            for exception in row[2:]:
                self.assertRegex(exception, r"^(jammy|noble)=[-a-z0-9.+]+$")


if __name__ == "__main__":
    unittest.main()
