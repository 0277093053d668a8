# SPDX-License-Identifier: BSD-3-Clause
"""A copy of what git knows of a source tree, with the changes that are not committed yet."""
import os
import shutil
import subprocess


def make(source, target):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, listed)):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)
    return target
