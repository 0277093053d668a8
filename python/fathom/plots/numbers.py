# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of a job's time are drawn from, and how `fathom plot` gets it from the tool.

A table is a dictionary, or a DataFrame, of columns of equal length; names and meanings are those of the analyses
(docs/analysis.md). `calls` of bars.draw_calls() are flat-profile's `functions`, `waits` are wait-states' `waits`.
"""
import dataclasses
import json
import os
import subprocess
import tempfile

from . import style


@dataclasses.dataclass(frozen=True)
class Job:
    """What a picture's title says."""
    name: str
    ranks: int
    seconds: float = 0.0   # of the window that is drawn
    window: str = ""       # where it lies: "between MPI_Init and MPI_Finalize"

    @classmethod
    def of(cls, application, ranks, seconds=0.0, window=""):
        return cls(style.printable(os.path.basename(application))[:40] or "unnamed program", ranks, seconds, window)

    def heading(self, what):
        return f"{self.name}: {what}"

    def details(self, *more):
        parts = [style.plural(self.ranks, "rank")]
        if self.seconds > 0:
            parts.append(f"{style.time(self.seconds * 1e9)} {self.window}".rstrip())
        return " · ".join([*parts, *filter(None, more)])


def analyses(fathom, run, names, window=None):
    """{name: section} of these analyses, by `fathom analyze`; window: first and last ns. Keeps RUN/analysis.json as it
    is: results go to a file of their own.
    """
    with tempfile.TemporaryDirectory(prefix="fathom-plot-") as folder:
        results = os.path.join(folder, "analysis.json")
        command = [fathom, "analyze", run, "--only", ",".join(names), "-o", results]
        if window:
            command += ["--from", f"{window[0]}ns", "--to", f"{window[1]}ns"]
        said = subprocess.run(command, check=False, capture_output=True, text=True)
        if said.returncode != 0:
            raise OSError(said.stderr.strip().removeprefix("fathom analyze: "))
        with open(results, encoding="utf-8") as file:
            return json.load(file)["analyses"]
