#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The shortest part of bench/exactness.py: NetPIPE, counted by Fathom and by Open MPI's pml_monitoring.

The benchmark once corrected for what Fathom sends at the end by an empty program's figures, and missed
the messages by which processes compare their waits; and once it could not start.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

import open_mpi  # noqa: E402
import real_programs  # noqa: E402

if not real_programs.is_installed("netpipe") or not open_mpi.row("peruse").is_installed:
    print("skipped: needs NetPIPE (netpipe-openmpi) and the PERUSE build; scripts/setup.sh installs both")
    sys.exit(77)
bench = subprocess.run([sys.executable, ROOT / "bench/exactness.py", "--only", "netpipe", *sys.argv[1:]],
                       capture_output=True, text=True)
print(bench.stdout + bench.stderr)
agrees = bench.returncode == 0 and "2 of 2" in bench.stdout and bench.stdout.count("the same as run 1") == 2
print("1 passed, 0 failed" if agrees else "0 passed, 1 failed")
sys.exit(0 if agrees else 1)
