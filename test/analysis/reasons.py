#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each reason to wait in mpi/functions.table has a truth program (waits.py), or docs/analysis.md says that a trace does not
show it; so has each function that is polled.

    reasons.py
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "mpi"), str(ROOT / "test"), str(pathlib.Path(__file__).resolve().parent)]
import functions_table  # noqa: E402
import waits  # noqa: E402

# By reason: what the page calls it.
NOT_SHOWN = {"pointer": "a shared file pointer", "target": "needs its help", "buffer": "the receivers of buffered messages",
             "spawned": "spawned processes", "session": "the end of a session waits"}


def functions_with_programs():
    """The functions that wait in a truth program, and what the other rank comes late to in partitioned ones."""
    return {function for case in (waits.CASES | waits.ENDS).values() for function in waits.either(case[1])} | (
        {"MPI_Psend_init", "MPI_Precv_init"} if waits.PARTITIONED else set())


def main():
    functions = [f for f in functions_table.read(ROOT / "mpi/functions.table") if f.small is None]
    has_program = functions_with_programs()
    unknown = has_program - {f.name for f in functions}
    assert not unknown, f"{unknown} of waits.py are no functions"
    shown = {word for f in functions if f.name in has_program for word in f.waits}
    page = (ROOT / "docs/analysis.md").read_text(encoding="utf-8")
    paragraph = next(line for line in page.splitlines() if line.startswith("Of these, a trace does not show"))
    wrong = [f"the reason {word} has no program in waits.py" for word in functions_table.WAITS
             if word not in shown | set(NOT_SHOWN) | {"never"}]
    wrong += [f"docs/analysis.md does not say that {word} ({words}) is not shown" for word, words in NOT_SHOWN.items()
              if words not in paragraph]
    wrong += [f"a loop of {f.name} has no program in waits.py" for f in functions
              if "polling" in f.waits and f.name not in has_program]
    partitioned = [f.name for f in functions if f.role == "partitioned"]
    wrong += [f"{name} has no program in waits.py" for name in partitioned if name not in has_program]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(shown)} reasons have a program, {len(NOT_SHOWN)} are not shown")


if __name__ == "__main__":
    main()
