# SPDX-License-Identifier: BSD-3-Clause
"""Prints where below PREFIX the Python package goes: where this interpreter looks for packages, if it looks below PREFIX.

usage: python_folder.py PREFIX

Meson's own answer is the interpreter's folder whatever the prefix is, which would write outside of it.
"""
import os
import site
import sys


def folder(prefix):
    below = os.path.join(prefix, "lib", "")  # not /usr/local/lib for /usr
    for path in site.getsitepackages():
        if path.startswith(below):
            return path
    return f"{below}python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


if __name__ == "__main__":
    print(os.path.relpath(folder(sys.argv[1]), sys.argv[1]))
