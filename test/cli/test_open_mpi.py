# SPDX-License-Identifier: BSD-3-Clause
"""How cases on builds of Open MPI are run (test/open_mpi.py)."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402


class Cases(unittest.TestCase):
    def test_a_job_that_a_failed_case_leaves_running_is_ended(self):
        """One such job kept two cores busy for the rest of all tests."""
        started = []

        def fails(folder):
            started.append(subprocess.Popen(["sleep", "1000"], cwd=folder))
            raise AssertionError("the case fails")

        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            has_failed = open_mpi.report_cases([types.SimpleNamespace(name="some build")], lambda build: {"fails": fails})
        self.assertTrue(has_failed)
        self.assertIn("FAIL some build fails", said.getvalue())
        self.assertFalse(os.path.exists(f"/proc/{started[0].pid}"))
        self.assertIsNotNone(started[0].poll())


if __name__ == "__main__":
    unittest.main()
