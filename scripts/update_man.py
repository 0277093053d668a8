#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the section OPTIONS of docs/fathom.1 from what the tool's --help says.

usage: update_man.py [--check] [FATHOM]

FATHOM is the tool, build/cli/fathom if not given. --check changes nothing and fails if the section is out of date.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANUAL = ROOT / "docs/fathom.1"
BEGIN = '.\\" From here to the next such line: written by scripts/update_man.py\n'
END = '.\\" end of what scripts/update_man.py writes\n'


def help_of(fathom, *words):
    return subprocess.run([fathom, *words, "--help"], check=True, capture_output=True, text=True).stdout


def rows(text, heading):
    """(left, right) of each row below the heading; long ones go on in lines that are indented further."""
    found, inside = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            inside = line == heading
        elif inside and re.match(r"  \S", line):
            left, _, right = line.strip().partition("  ")
            found.append([left, right.strip()])
        elif inside and line.strip():
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return [tuple(row) for row in found]


def subcommands(fathom):
    """{("trace", "print"): the text of its --help}; a subcommand that has parts comes before them."""
    texts = {}
    for name, _ in rows(help_of(fathom), "Subcommands:"):
        texts[(name,)] = text = help_of(fathom, name)
        for part, _ in rows(text, "Subcommands:"):
            texts[(name, part)] = help_of(fathom, name, part)
    return texts


def options(text):
    """[(["-o", "--output"], "DIR", what it does)] of a --help."""
    found = []
    for left, right in rows(text, "Options:"):
        names, _, kind = re.fullmatch(r"((?:-[\w-]+(?:, )?)+)( ?)(.*)", left).groups()
        found.append((names.split(", "), kind, right))
    return found


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq")


def section(fathom):
    lines = [".SH OPTIONS\n", "Every subcommand takes \\fB\\-h\\fR, \\fB\\-\\-help\\fR.\n"]
    for words, text in subcommands(fathom).items():
        shown = [option for option in options(text) if "--help" not in option[0]]
        if shown:
            lines.append(f".SS {escaped(' '.join(words))}\n")
        for names, kind, meaning in shown:
            head = ", ".join(f"\\fB{escaped(name)}\\fR" for name in names)
            lines.append(f".TP\n{head}{' ' if kind else ''}{f'{chr(92)}fI{escaped(kind)}{chr(92)}fR' if kind else ''}\n")
            lines.append(f"{escaped(meaning)}\n")
    return "".join(lines)


def updated(manual, fathom):
    before, _, rest = manual.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + section(fathom) + END + after


def main(words):
    check = "--check" in words
    given = [word for word in words if word != "--check"]
    fathom = given[0] if given else ROOT / "build/cli/fathom"
    manual = MANUAL.read_text(encoding="utf-8")
    if BEGIN not in manual or END not in manual:
        sys.exit(f"{MANUAL}: the lines between which the options are written are missing")
    new = updated(manual, fathom)
    if check and new != manual:
        sys.exit(f"{MANUAL}: the options are not those of --help; run scripts/update_man.py")
    if not check:
        MANUAL.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
