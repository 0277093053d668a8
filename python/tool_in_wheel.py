# SPDX-License-Identifier: BSD-3-Clause
"""The command `fathom` of a wheel: the tool lies inside the package, because pip puts programs where they lose the files
beside them."""
import os
import sys


def main():
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "fathom")
    os.environ.setdefault("FATHOM_PYTHON", sys.executable)  # the wheel may have been built with another
    os.execv(tool, [tool, *sys.argv[1:]])
