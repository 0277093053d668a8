# SPDX-License-Identifier: BSD-3-Clause
"""A copy of what git knows of a source tree, with the changes that are not committed yet, and of what npm ci put beside
the viewer's pages, where it has run: a package that is made in such a tree has a viewer."""
import os
import shutil
import subprocess

MODULES = "view/page/node_modules"


def has_viewer(source):
    return (source / MODULES / "esbuild").is_dir()


def make(source, target):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, listed)):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)
    if has_viewer(source):
        shutil.copytree(source / MODULES, target / MODULES, symlinks=True)
    return target
