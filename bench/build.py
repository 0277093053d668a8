#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time of a clean build, against an earlier commit: everything, and what a user needs.

usage: bench/build.py [--before COMMIT] [--after COMMIT] [--rounds N] [--jobs N] [--viewer]

Both commits are checked out into temporary folders and built in turns, without ccache: first what a user
needs (the tool, the preloaded libraries and what they start, the Python module), then the rest (tests,
benchmarks). The time is user + system of all processes, which other work on the machine changes less than
the time on the clock; the ratio is that of the medians.

A fresh checkout lacks what npm ci installs, so that neither commit builds the viewer; --viewer takes it from
this checkout.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = ("libfathom-count.so", "libfathom.so", "libfathom-trace.so", "libfathom-mpi.so")
PAGE = "view/page"
ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1"}


def processor_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def needed_targets(build):
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True,
                            text=True).stdout
    names = [line.split(":")[0] for line in listed.splitlines()]
    if "tool" in names:  # counting alone was not among its libraries at first
        return ["tool", *(name for name in names if name.endswith("libfathom-count.so"))]
    return [name for name in names
            if name.endswith(LIBRARIES) or name == "cli/fathom" or
            name.startswith("python/") and name.endswith(".so")]


class Tree:
    def __init__(self, name, commit, folder, jobs, with_viewer):
        self.name, self.jobs = name, [f"-j{jobs}"]
        self.source = folder / name
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "--quiet", self.source, commit], check=True)
        if with_viewer and (self.source / PAGE).is_dir():
            (self.source / PAGE / "node_modules").symlink_to(ROOT / PAGE / "node_modules")
        self.build = self.source / "build"
        subprocess.run(["meson", "setup", self.build, self.source], check=True, stdout=subprocess.DEVNULL,
                       env=ENVIRONMENT)
        self.needed, self.everything = [], []

    def measure(self):
        subprocess.run(["ninja", "-C", self.build, "-t", "clean"], check=True, stdout=subprocess.DEVNULL)
        needed = processor_seconds("ninja", "-C", self.build, *self.jobs, *needed_targets(self.build))
        rest = processor_seconds("ninja", "-C", self.build, *self.jobs)
        self.needed.append(needed)
        self.everything.append(needed + rest)
        print(f"{self.name:8} needed {needed:7.1f} s, everything {needed + rest:7.1f} s", flush=True)

    def remove(self):
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", self.source], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="HEAD~1", help="commit to compare with (default: HEAD~1)")
    parser.add_argument("--after", default="HEAD", help="commit that is measured (default: HEAD)")
    parser.add_argument("--rounds", type=int, default=3, help="builds of each commit (default: 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="(default: the number of processors)")
    parser.add_argument("--viewer", action="store_true", help="build the viewer too, where a commit has it")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-build-"))
    trees = []
    try:
        for name, commit in (("before", options.before), ("after", options.after)):
            trees.append(Tree(name, commit, folder, options.jobs, options.viewer))
        for _ in range(options.rounds):
            for tree in trees:
                tree.measure()
    finally:
        for tree in trees:
            tree.remove()
        shutil.rmtree(folder, ignore_errors=True)
    before, after = trees
    median = statistics.median
    everything = median(before.everything)
    print(f"everything:          {median(after.everything) / everything:.2f} of before")
    print(f"what a user needs:   {median(after.needed) / everything:.2f} of everything before, "
          f"{median(after.needed) / median(before.needed):.2f} of the same before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
