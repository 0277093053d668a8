# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command line share: a folder for each test, and the tool under test."""
import json
import os
import subprocess
import tempfile
import unittest

import fixtures

FATHOM = os.environ["FATHOM_BINARY"]


class CliTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="fathom-cli-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def fathom(self, *words, **variables):
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("FATHOM_", "SLURM_", "OMPI_")) and k != "LD_PRELOAD"}
        environment.update({"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "FATHOM_OVERLAY": "", **variables})
        environment = {name: value for name, value in environment.items() if value is not None}
        return subprocess.run([FATHOM, *words], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=120)

    def write_run(self, name, document=None):
        """A run directory with this profile (a dictionary, a fixture's name, or any text)."""
        os.makedirs(self.path(name), exist_ok=True)
        if document is None:
            document = fixtures.hpcc4()
        with open(self.path(name, "profile.json"), "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return name

    def assert_refused(self, result, code, *parts):
        """One sentence on stderr, nothing on stdout, this exit code."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)


def main():
    unittest.main(verbosity=1)
