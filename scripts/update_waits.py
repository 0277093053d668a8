#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the list of docs/analysis.md that says what each MPI function can wait for, from mpi/functions.table.

usage: update_waits.py [--check]

--check changes nothing; it fails if the list is out of date, or if a function is neither in it nor declared never to
wait.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "mpi"))
import functions_table  # noqa: E402

TABLE, PAGE = ROOT / "mpi/functions.table", ROOT / "docs/analysis.md"
BEGIN = "<!-- From here to the next such line: written by scripts/update_waits.py -->\n"
END = "<!-- end of what scripts/update_waits.py writes -->\n"


def waiting(functions, word):
    """Names without MPI_ of the functions whose operation can wait for this."""
    return [f.short for f in functions if word in f.waits]


def rows(functions):
    """One for each reason to wait, in the order of functions_table.WAITS."""
    yield "| waits for | functions |\n|---|---|\n"
    for word, meaning in functions_table.WAITS.items():
        names = waiting(functions, word)
        if word != "never" and names:
            yield f"| {meaning} | {', '.join(names)} |\n"


def functions_of_page(text):
    """The functions in the list, as a reader finds them."""
    return {name for row in re.findall(r"^\| .* \| (.*) \|$", text, re.MULTILINE)
            for name in row.split(", ") if name != "functions"}


def main():
    functions = [f for f in functions_table.read(TABLE) if f.small is None]
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(before + BEGIN + "".join(rows(functions)) + END + after, encoding="utf-8")
        return
    listed = functions_of_page(old)
    wrong = [f"{f.name} is not in the list" for f in functions if f.waits != ["never"] and f.short not in listed]
    wrong += [f"{f.name} is in the list and declared never to wait" for f in functions
              if "never" in f.waits and (f.short in listed or len(f.waits) > 1)]
    wrong += [f"there is no {name}" for name in sorted(listed - {f.short for f in functions})]
    if not wrong and old != "".join(rows(functions)):
        wrong = ["a reason or its functions have changed"]
    if wrong:
        sys.exit("\n".join([*wrong, f"{PAGE.relative_to(ROOT)} is out of date: run scripts/update_waits.py"]))
    print(f"{len(functions)} functions, {len(listed)} of which can wait")


if __name__ == "__main__":
    main()
