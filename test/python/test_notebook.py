# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and objects in a notebook that a kernel runs, without a magic line."""
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError as missing:
    print(f"skipped: {missing} (python3-nbclient, python3-ipykernel)")
    sys.exit(77)

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
CELLS = ("import fathom\nrun = fathom.open('run')\nrun", "run.plot_comm_matrix()", "run.plot_timeline()",
         "run.analysis('structure')", "run.plot_idle_time();")


class Notebook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fathom-notebook-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([GENERATE, os.path.join(self.folder, "run"), "--ranks", "4", "--events", "8000"], check=True, capture_output=True)
        # The kernel is the Python of this test, and its settings stay in the folder. On a machine without a network
        # jupyter listens on loopback only, as it does by default.
        os.environ.update({"JUPYTER_PLATFORM_DIRS": "0", "JUPYTER_DATA_DIR": self.folder, "JUPYTER_RUNTIME_DIR": self.folder,
                           "IPYTHONDIR": self.folder, "JUPYTER_CONFIG_DIR": self.folder})
        subprocess.run([sys.executable, "-m", "ipykernel", "install", "--name", "here", "--prefix", self.folder], check=True,
                       capture_output=True)
        os.environ["JUPYTER_PATH"] = os.path.join(self.folder, "share/jupyter")

    def outputs(self, *cells):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(book, timeout=100, kernel_name="here", resources={"metadata": {"path": self.folder}}).execute()
        return [[output["data"] for output in cell["outputs"] if "data" in output] for cell in book.cells]

    def test_pictures_and_objects_are_shown_in_a_notebook(self):
        run, matrix, timeline, analysis, silent = self.outputs(*CELLS)
        self.assertIn("<table>", run[0]["text/html"])
        for picture in (matrix, timeline):
            self.assertEqual(len(picture), 1)
            self.assertTrue(picture[0]["image/png"].startswith("iVBOR"))
        self.assertIn("density", analysis[0]["text/html"])
        self.assertEqual(silent, [])

    def test_matplotlib_inline_shows_a_picture_only_once(self):
        _, picture = self.outputs("%matplotlib inline\nimport fathom\nrun = fathom.open('run')", "run.plot_comm_matrix()")
        self.assertEqual([set(data) & {"image/png"} for data in picture], [{"image/png"}])


if __name__ == "__main__":
    unittest.main()
