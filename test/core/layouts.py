#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that rankmap/layouts/ holds what the internal headers of Open MPI say, for each release whose headers are here.

usage: layouts.py SOURCE_ROOT

Exit code 77 if there are none.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "rankmap")]
import open_mpi  # noqa: E402
import write_layouts  # noqa: E402


def release_of(header):
    """The release in LAYOUTS that these headers are of, or None."""
    text = header.read_text()
    numbers = [re.search(rf"#define OMPI_{part}_VERSION (\d+)", text) for part in ("MAJOR", "MINOR", "RELEASE")]
    if not all(numbers):
        return None
    version = ".".join(number.group(1) for number in numbers)
    return next((row["from"] for row in write_layouts.LAYOUTS.values() if (version + ".").startswith(row["from"] + ".")),
                None)


def main():
    folders, missing = open_mpi.include_folders()
    checked, failed = [], 0
    # Open MPI's headers include pmix.h since 5.0; any version will do.
    pmix = [path.parent for folder in folders for path in folder.parents[1].glob("pmix*/include/pmix.h")]
    for folder in folders:
        release = release_of(folder / "mpi.h")
        if release is None or not (folder / "openmpi/ompi/communicator/communicator.h").exists():
            continue
        if not release.startswith("4.") and not pmix:
            missing.append(f"{release}: there is no pmix.h (libpmix-dev)")
            continue
        result = subprocess.run([sys.executable, "-B", ROOT / "rankmap/write_layouts.py", "--check",
                                 *(f"--also={path}" for path in pmix[:1]), release, folder], check=False)
        checked.append(release)
        failed += result.returncode != 0
    print("\n".join(missing + [f"compared with the headers of: {', '.join(checked) or 'none'}"]))
    return 1 if failed else 0 if checked else 77


sys.exit(main())
