# SPDX-License-Identifier: BSD-3-Clause
"""Prints the commit that a source tree is at: from git, or as `git archive` noted it; "unknown" elsewhere.

usage: find_commit.py SOURCE_ROOT

Asks git only if the tree is a clone itself: an unpacked archive may lie inside somebody else's.
"""
import pathlib
import subprocess
import sys


def commit(root):
    if (root / ".git").exists():
        # --no-optional-locks: every build runs this, and must not get in the way of the user's git.
        asked = subprocess.run(["git", "--no-optional-locks", "-C", root, "describe", "--always", "--dirty", "--abbrev=12",
                                "--exclude=*"], capture_output=True, text=True, check=False)
        return asked.stdout.strip() if asked.returncode == 0 else ""
    archived = (root / "base/archived_commit").read_text(encoding="ascii").strip()
    return "" if archived.startswith("$") else archived


if __name__ == "__main__":
    try:
        print(commit(pathlib.Path(sys.argv[1])) or "unknown")
    except OSError:  # no git
        print("unknown")
