#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes anew the examples of docs/findings.md: what fathom analyze prints of a program that has this problem.

usage: update_findings.py --cli build/cli/fathom --program build/test/analysis/findings
                          --library build/profiler/libfathom-trace.so [--check] [KIND…]

The kinds are those that `fathom analyze --list` prints. Each has an example on the page, between two marks; the page is
written by hand but for these. --check changes nothing; it fails if a kind has no example, if an example has no kind, or
if what is found now says something else: numbers aside, since times vary from run to run. It also fails if the window
of a finding lacks the place that it names.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/findings.md"
EXAMPLE = re.compile(r"<!-- example of ([a-z-]+) -->\n```\n(.*?)```\n<!-- /example -->", re.S)
RANKS = {"rank-traffic-imbalance": 8}  # four where nothing else is said
ATTEMPTS = 4  # a busy machine may make other waits by chance


def kinds(cli):
    """{kind: analysis}, as the tool lists them."""
    listed = subprocess.run([cli, "analyze", "--list"], capture_output=True, text=True, check=True).stdout
    rows = listed.split("\nkinds of findings\n")[1].split("\n\n")[0].splitlines()
    return {words[0]: words[1] for words in map(str.split, rows)}


def missing_places(options, run, analysis, environment):
    """The findings that name a place in which none of their ranks is in their window: isolated in the viewer, they would
    dim everything."""
    def analyze(only, *words):
        done = subprocess.run([str(options.cli), "analyze", run, "--json", "--only", only, *words], env=environment, capture_output=True,
                              text=True, timeout=300, check=True)
        return json.loads(done.stdout)

    missing = []
    for finding in analyze(analysis)["findings"]:
        where, windows, ranks = finding["where"], finding["windows"], finding["culprits"] + finding["victims"]
        if not windows or not where.get("function"):
            continue
        part = ["--from", f"{math.floor(min(w['from_s'] for w in windows) * 1e9)}ns",
                "--to", f"{math.ceil(max(w['to_s'] for w in windows) * 1e9)}ns", *(["--ranks", ",".join(map(str, ranks))] if ranks else [])]
        functions = analyze("flat-profile", *part)["analyses"]["flat-profile"]["functions"]
        found = where["function"] in functions["name"]
        if found and where.get("file"):
            waits = analyze("wait-states", *part)["analyses"]["wait-states"]["waits"]
            found = (where["function"], where["file"], where["line"]) in zip(waits["function"], waits["file"], waits["line"])
        if not found:
            missing.append(f"{finding['kind']}: {finding['summary']} {where} {windows} {ranks}")
    return missing


def page_of(options, kind, analysis, folder):
    """All that fathom analyze finds in the program of this kind."""
    environment = {**os.environ, "FATHOM_LIBRARY": str(options.library.resolve()), "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "LANG": "C.UTF-8"}
    run = os.path.join(folder, "run")
    for words in ([options.cli, "run", "--trace", "-o", run, "--", *options.launch, str(RANKS.get(kind, 4)), options.program, kind],
                  [options.cli, "analyze", run, "--only", analysis, "--top", "99"]):
        done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    if options.check and (missing := missing_places(options, run, analysis, environment)):
        sys.exit("\n".join(["findings whose window lacks the place that they name:", *missing]))
    return done.stdout


def finding_in(page, kind):
    """The costliest of this kind, as it is printed; nothing if there is none."""
    found = re.search(rf"^\d+\. {kind} .*?(?=\n\n|\Z)", page, re.S | re.M)
    if found is None:
        return ""
    text = re.sub(r"\S*/(?=findings\.c)", "", found.group(0))
    return re.sub(r"^\d+\. ", "", text).rstrip() + "\n"


def without_numbers(text):
    """What is said, whatever the numbers, the ranks and the line breaks."""
    text = re.sub(r"\branks? \d+((, | and )\d+)*( more)?", "rank #", " ".join(text.split()))
    for several, one in (("compute up to", "computes"), ("compute", "computes"), ("work", "works"), ("are", "is")):
        text = text.replace(f"rank # {several} ", f"rank # {one} ")
    for several, one in (("give them", "give it"), ("they share their", "it shares its"), ("holds them up", "holds it up")):
        text = text.replace(several, one)
    return re.sub(r"\d[\d.]*( ?([nmu]?s\b|min\b|%|×))?", "#", text)


def sentences(example):
    """The parts of an example that a busy machine does not change: what is wrong, and what to do."""
    what = without_numbers(example).split("confidence # ", 1)[1]
    return re.split(r": # of |,? mostly | why: | - | who: | where: | when: ", what)[0], what.split(" try: ")[1]


def example_of(options, kind, analysis, like=None):
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix="fathom-findings-") as folder:
            found = finding_in(page_of(options, kind, analysis, folder), kind)
        if found and (like is None or sentences(found) == sentences(like)):
            return found
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cli", "program", "library"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    parser.add_argument("--launch", default="mpirun --oversubscribe -n", type=str.split, help="up to the number of ranks")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    known, shown = kinds(options.cli), dict(EXAMPLE.findall(text))
    wrong = [f"{kind} has no example" for kind in known if kind not in shown]
    wrong += [f"there is no kind {kind}" for kind in shown if kind not in known]
    for kind in [] if wrong else options.kinds or known:
        if options.check:
            found = example_of(options, kind, known[kind], shown[kind])
            if not found:
                wrong.append(f"{kind} is not found in the program that has it")
            elif sentences(found) != sentences(shown[kind]):
                wrong.append(f"{kind} is now:\n{found}{sentences(found)}\n{sentences(shown[kind])}")
        elif found := example_of(options, kind, known[kind]):
            text = EXAMPLE.sub(lambda old, kind=kind, found=found: old.group(0) if old.group(1) != kind else (
                f"<!-- example of {kind} -->\n```\n{found}```\n<!-- /example -->"), text)
        else:
            wrong.append(f"{kind} is not found in the program that has it")
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
    if wrong:
        sys.exit("\n".join([*wrong, f"{PAGE.relative_to(ROOT)}: run scripts/update_findings.py"]))
    print(f"{len(options.kinds or known)} examples")


if __name__ == "__main__":
    main()
