#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/tutorial.md as a reader follows it: every command of its ```sh blocks runs, and what it says of them is true.

    tutorial.py --tutorial docs/tutorial.md docs/examples/heat* --library libfathom-trace.so --cli fathom

Findings depend on who gets a processor when, so a busy machine gets several attempts. The last line is
"N passed, N failed".
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
from attempts import until_it_passes  # noqa: E402
from open_mpi import OpenMpi, tested  # noqa: E402


def commands(tutorial):
    """The lines of the blocks that are marked sh."""
    blocks = re.findall(r"^```sh\n(.*?)^```", tutorial, re.S | re.M)
    return [line for block in blocks for line in block.splitlines()]


def follow(lines, folder, environment):
    for line in lines:
        done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"


def printed(words, folder, environment):
    """The JSON that a subcommand prints."""
    done = subprocess.run(["fathom", *words, "--json"], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=120, check=True)
    return json.loads(done.stdout)


def line_of(source, text):
    """The only line of the program that contains the text."""
    numbers = [number for number, line in enumerate(source.splitlines(), 1) if text in line]
    assert len(numbers) == 1, (text, numbers)
    return numbers[0]


def calls_around(meanwhile):
    """Between which calls the rank computed; less if it was in a call itself."""
    calls = [meanwhile[side] for side in ("after", "before") if side in meanwhile]
    return [(call["function"], os.path.basename(call.get("file", "")), call.get("line")) for call in calls]


def computed(found):
    """The seconds outside MPI of each rank."""
    return found["analyses"]["idle-time"]["idle_time"]["program_seconds"]


def check_claims(folder, environment, source, tutorial):
    first, second, third = (printed(["analyze", run], folder, environment) for run in ("first", "second", "third"))
    began, ended = line_of(source, "    MPI_Recv("), line_of(source, "  MPI_File_write_at(")
    assert f"between line {began} and line {ended}" in tutorial, (began, ended)
    blamed = first["findings"][0]
    assert (blamed["kind"], blamed["culprits"]) == ("load-imbalance", [0]), blamed
    assert calls_around(blamed["meanwhile"]) == [("MPI_Recv", "heat.c", began), ("MPI_File_write_at", "heat.c", ended)], blamed
    assert any(symptom["passed_on"] for symptom in blamed["symptoms"]), blamed

    posts, waits = line_of(source, "  MPI_Irecv(temperature[0]"), line_of(source, "  MPI_Waitall(")
    uneven = second["findings"][0]
    assert (uneven["kind"], uneven["culprits"][0]) == ("load-imbalance", 3), uneven
    assert calls_around(uneven["meanwhile"]) == [("MPI_Waitall", "heat.c", waits), ("MPI_Irecv", "heat.c", posts)], uneven
    before, after = computed(second), computed(third)
    assert max(before[:3]) < before[3] / 2 and max(after) < before[3], (before, after)

    sent = [printed(["report", run], folder, environment)["total"]["bytes"] for run in ("first", "second")]
    assert sent[1] < 0.06 * sent[0], sent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tutorial", type=pathlib.Path, nargs="+", required=True, help="the page, then what it works on")
    for name in ("library", "cli"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    options = parser.parse_args()
    page, *files = options.tutorial
    tutorial = page.read_text(encoding="utf-8")
    lines = commands(tutorial)
    assert len(lines) > 10, lines
    passed = failed = 0
    for row in tested():
        name, build = row.name, OpenMpi(row, options.library)
        build.environment["PATH"] = f"{options.cli.parent}:{build.prefix}/bin:{build.environment['PATH']}"

        def attempt(number):
            with tempfile.TemporaryDirectory(prefix="fathom-tutorial-") as scratch:
                folder = pathlib.Path(scratch)
                for path in files:
                    shutil.copy(path, folder)
                source = (folder / "heat.c").read_text(encoding="utf-8")
                follow(lines, folder, build.environment)
                check_claims(folder, build.environment, source, tutorial)
        try:
            until_it_passes(attempt)
            passed += 1
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
