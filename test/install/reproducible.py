# SPDX-License-Identifier: BSD-3-Clause
"""The same sources, built in two folders, install the same files, byte for byte.

usage: reproducible.py SOURCE_ROOT [MESON_OPTION...]

Builds Fathom twice: minutes. `scripts/check.sh reproducible` runs this without a compiler cache, which would hide a
compiler that is not.
"""
import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile

import source_copy


def installed(copy, build_name, options):
    """Builds a copy of the sources and installs beside it. The folder with what was installed."""
    folder, build = copy.parent, copy / build_name
    environment = os.environ | {"CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1", "DESTDIR": str(folder / "installed")}
    for command in (["meson", "setup", build, copy, "-Dtests=disabled", "-Dbench=disabled", *options],
                    ["ninja", "-C", build], ["meson", "install", "-C", build, "--no-rebuild", "--quiet"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return folder / "installed"


def files_of(root):
    return {str(path.relative_to(root)): path for path in root.rglob("*") if not path.is_dir()}


def main():
    source, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="fathom-twice-") as scratch:
        # Both before the builds, during which somebody may go on working.
        copies = [source_copy.make(source, pathlib.Path(scratch) / name / "source") for name in ("one", "another/place")]
        one = files_of(installed(copies[0], "build", options))
        two = files_of(installed(copies[1], "build-2", options))
        differing = sorted(one.keys() ^ two.keys()) or \
            [name for name, path in sorted(one.items()) if not filecmp.cmp(path, two[name], shallow=False)]
        print("\n".join(f"differs: {name}" for name in differing) or f"{len(one)} files, the same from both builds")
        return 1 if differing or not one else 0


if __name__ == "__main__":
    sys.exit(main())
