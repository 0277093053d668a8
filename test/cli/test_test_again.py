# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test_again.py on a project that has nothing but tests."""
import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Fails until it has run before.
BY_CHANCE = 'echo ran; [ -e "$0.ran" ] || { : >"$0.ran"; echo by chance; exit 1; }'


class TestAgain(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="fathom-again-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.build = self.folder / "build"

    def after(self, programs):
        """The exit code and the output of the script after the tests, {name: shell commands}; the results by name."""
        lines = ["project('made')"]
        for name, commands in programs.items():
            program = self.folder / f"{name.replace(' ', '_')}.sh"
            program.write_text(f"#!/bin/sh\n{commands}\n")
            program.chmod(0o755)
            lines.append(f"test('{name}', find_program('{program.name}'), suite: 'mpi')")
        (self.folder / "meson.build").write_text("\n".join(lines))
        subprocess.run(["meson", "setup", self.build, self.folder], check=True, capture_output=True)
        subprocess.run(["meson", "test", "--no-rebuild"], cwd=self.build, check=False, capture_output=True)
        done = subprocess.run([ROOT / "scripts/test_again.py", self.build], check=False, capture_output=True, text=True)
        log = map(json.loads, (self.build / "meson-logs/testlog.json").read_text().splitlines())
        return done.returncode, done.stdout, {test["name"].split(" / ")[-1]: test["result"] for test in log}

    def test_a_failure_by_chance_is_told_and_forgiven(self):
        code, said, results = self.after({"by chance": BY_CHANCE, "fine": "echo ran"})
        self.assertEqual((code, results), (0, {"by chance": "OK", "fine": "OK"}))
        self.assertRegex(said, r"\nfailed beside others, passed alone: .*by chance\n$")

    def test_a_defect_fails_again(self):
        code, said, results = self.after({"by chance": BY_CHANCE, "a defect": "exit 1", "fine": ":"})
        self.assertEqual((code, results), (1, {"by chance": "OK", "a defect": "FAIL", "fine": "OK"}))
        self.assertNotRegex(said, "passed alone: .*a defect")

    def test_many_failures_are_not_by_chance(self):
        code, said, results = self.after({f"by chance {number}": BY_CHANCE for number in range(6)})
        self.assertEqual((code, set(results.values())), (1, {"FAIL"}))
        self.assertIn("6 tests failed", said)

    def test_nothing_is_run_where_nothing_failed(self):
        code, said, results = self.after({"fine": "echo ran"})
        self.assertEqual((code, said, results), (0, "", {"fine": "OK"}))


if __name__ == "__main__":
    unittest.main()
