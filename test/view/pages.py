#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages Machine, Network and Live: their modules with node:test, and the pages in Debian's Chromium on real runs,
with WebGL (in software) and without. Skipped where there is no Chromium or no playwright-core.

usage: pages.py --fathom fathom --exchange PROGRAM --node node [--shots FOLDER] [PART...]
PART: modules, machine, machine3d, network; none: all
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77  # Meson's


def node_test(options, name, **variables):
    """Runs one file of tests; its exit code."""
    environment = {**os.environ, "FATHOM": options.fathom, **{k: str(v) for k, v in variables.items()}}
    if options.shots:
        environment["SHOTS"] = options.shots
    return subprocess.run([options.node, "--test", "--test-reporter=spec", HERE / name], env=environment, check=False).returncode


def modules(options, folder):
    units = os.environ.get("FATHOM_UNITS", folder / "units")
    if not pathlib.Path(units).exists():
        subprocess.run([options.node, ROOT / "view/page/build.mjs", "--units", units], check=True)
    return node_test(options, "modules.test.mjs", FATHOM_UNITS=units)


def mpirun(options, ranks, *arguments):
    return ["mpirun", "--oversubscribe", "-n", str(ranks), options.exchange, *arguments]


def traced(options, folder):
    run = folder / "traced"
    if not run.exists():
        subprocess.run([options.fathom, "run", "--trace", "-o", run, "--", *mpirun(options, 8)], check=True)
    return run


def map_of(folder):
    path = folder / "map.json"
    path.write_text((HERE / "map.json").read_text().replace("HOST", os.uname().nodename))
    return path


def machine(options, folder, webgl="off"):
    return node_test(options, "machine.test.mjs", RUN=traced(options, folder), MAP=map_of(folder), WEBGL=webgl)


def network(options, folder):
    run, live, stop = traced(options, folder), folder / "live", folder / "stop"
    job = subprocess.Popen([options.fathom, "run", "--live", "--trace", "-o", live, "--", *mpirun(options, 4, stop)])
    try:
        for _ in range(600):
            if (live / "live").is_dir() or job.poll() is not None:
                break
            time.sleep(0.1)
        assert job.poll() is None, "the job ended before it was watched"
        return node_test(options, "network_live.test.mjs", RUN=run, LIVE=live, STOP=stop)
    finally:
        stop.touch()
        job.wait(timeout=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for word in ("--fathom", "--exchange", "--node"):
        parser.add_argument(word, required=True)
    parser.add_argument("--shots")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    if not (ROOT / "view/page/node_modules").exists():
        print("skipped: view/page/node_modules is not there; npm ci fills it")
        return SKIPPED
    parts = options.parts or ["modules", "machine", "machine3d", "network"]
    tools = pathlib.Path(os.environ.get("FATHOM_PAGE_TOOLS", ROOT / "test/page")) / "node_modules/playwright-core"
    chromium = os.environ.get("FATHOM_CHROMIUM", "/usr/bin/chromium")
    if not tools.exists() or not os.access(chromium, os.X_OK):
        print("the browser's part is skipped: it needs Chromium, and playwright-core (npm ci in test/page)")
        parts = [part for part in parts if part == "modules"]
    failed = []
    with tempfile.TemporaryDirectory(prefix="fathom-view-") as name:
        folder = pathlib.Path(name)
        os.environ.setdefault("FATHOM_PAGES", str(folder / "pages"))
        if not pathlib.Path(os.environ["FATHOM_PAGES"]).exists():
            subprocess.run([options.node, ROOT / "view/page/build.mjs", os.environ["FATHOM_PAGES"]], check=True)
        ways = {"modules": modules, "machine": machine, "network": network,
                "machine3d": lambda given, where: machine(given, where, "on")}
        for part in parts:
            if ways[part](options, folder) != 0:
                failed.append(part)
    if failed:
        print("failed:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
