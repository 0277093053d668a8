#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run that is exported as OTF2 and imported again has the same findings, with function, file and line of each place,
though the program is no longer there.

    imported.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). The last line is "N passed, N failed, N skipped".
"""
import pathlib
import shutil

from waits import options_of, run_cases

# Of programs/findings.c: waits for messages with a chain, for a call, and in rooted collectives.
CASES = ("load-imbalance", "slow-call", "busy-master", "late-broadcaster")


def without_confidence(finding):
    """How long ranks waited for a processor is in a profile only, and lowers the confidence."""
    return {key: value for key, value in finding.items() if key not in ("confidence", "evidence")}


def case(build, folder, name):
    program = folder / "program"
    shutil.copy(build.program("findings"), program)
    own = build.traced(folder / "own", program, name)
    before = build.analyzed(own)
    build.call(build.options.cli, "export", own, "--format", "otf2", "-o", folder / "archive")
    program.unlink()
    again = folder / "again"
    build.call(build.options.cli, "import", folder / "archive" / "traces.otf2", "-o", again)
    after = build.analyzed(again)
    assert before["findings"], before
    assert [*map(without_confidence, after["findings"])] == [*map(without_confidence, before["findings"])], (before, after)
    assert pathlib.Path(after["findings"][0]["where"]["file"]).name == "findings.c", after["findings"][0]
    tables = [results["analyses"]["wait-states"]["waits"] for results in (before, after)]
    assert tables[0] == tables[1], tables
    # And once more, from the imported trace: its exports know the places too.
    build.call(build.options.cli, "export", again, "--format", "otf2", "-o", folder / "archive-2")
    build.call(build.options.cli, "import", folder / "archive-2" / "traces.otf2", "-o", folder / "once-more")
    assert build.analyzed(folder / "once-more")["findings"] == after["findings"]


if __name__ == "__main__":
    run_cases(options_of(__doc__), dict.fromkeys(CASES, case))
