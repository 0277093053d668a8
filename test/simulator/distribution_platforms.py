# SPDX-License-Identifier: BSD-3-Clause
"""The platforms of SimGrid's distribution (examples/platforms of its source), as SimGrid routes them
and as Fathom does.

    distribution_platforms.py simgrid_platform_test

FATHOM_SIMGRID_PLATFORMS names the folder; without it the test is skipped.
"""
import glob
import os
import subprocess
import sys

# What is refused, with the word that the refusal must contain.
REFUSED = {"cloud": "Vivaldi", "data_center": "Vivaldi", "two_peers": "Vivaldi", "vivaldi": "Vivaldi",
           "wifi": "Wifi", "wifi_energy": "Wifi", "wifi_ns3": "WIFI"}
# What cannot be compared, and why.
APART = {"small_platform_routing_none": "SimGrid ends when it is asked for a route of a zone without routes",
         "cluster_dragonfly": "SimGrid 3.32 takes links that do not join in dragonflies of several chassis"}


def main():
    folder = os.environ.get("FATHOM_SIMGRID_PLATFORMS")
    if not folder:
        print("skipped: FATHOM_SIMGRID_PLATFORMS does not name SimGrid's examples/platforms")
        return 77
    program = os.path.abspath(sys.argv[1])
    wrong = 0
    files = sorted(glob.glob(os.path.join(os.path.abspath(folder), "*.xml")))
    for path in files:
        name = os.path.splitext(os.path.basename(path))[0]
        if name in APART:
            print(f"{name}: not compared: {APART[name]}")
            continue
        done = subprocess.run([program, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, cwd=folder, timeout=300)
        if done.returncode == 77:
            print(done.stdout)
            return 77
        last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
        refused = REFUSED.get(name)
        as_expected = refused in last if refused else done.returncode == 0
        wrong += not as_expected
        print(f"{name}: {last}" + ("" if as_expected else "  ** unexpected"))
    print(f"{len(files)} platforms, {wrong} not as expected")
    return 1 if wrong or not files else 0


sys.exit(main())
