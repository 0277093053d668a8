# SPDX-License-Identifier: BSD-3-Clause
"""Uses a Fathom that is installed somewhere as its users do; what the tests of every kind of installation share."""
import csv
import json
import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM_OUTPUT = "received 7\n"


def environment(binaries, **variables):
    """Nothing of this checkout: only what a new user's shell has, and the folder of the tool."""
    kept = {name: os.environ[name] for name in ("HOME", "USER", "TMPDIR") if name in os.environ}
    return kept | {"PATH": f"{binaries}:/usr/bin:/bin", "LANG": "C.UTF-8", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | variables


def run(*command, env, cwd, code=0, limit_s=300):
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, capture_output=True, text=True, timeout=limit_s,
                          check=False)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def profile(program, run_directory, env, folder):
    """Profiles and traces a program of two ranks; its output and exit code are its own."""
    job = ["mpirun", "--oversubscribe", "-n", "2", program]
    assert run(*job, env=env, cwd=folder) == PROGRAM_OUTPUT
    assert run("fathom", "run", "--trace", "-o", run_directory, "--", *job, env=env, cwd=folder) == PROGRAM_OUTPUT
    run("fathom", "export", run_directory, "-o", f"{run_directory}.csv", env=env, cwd=folder)
    with open(folder / f"{run_directory}.csv", newline="", encoding="utf-8") as file:
        in_phase = [row for row in csv.DictReader(file) if row["phase"] == "exchange"]
    assert sorted((row["source"], row["bytes"], row["messages"]) for row in in_phase) == \
        [("0", "4", "1"), ("1", "4", "1")], in_phase


def read(run_directory, env, folder):
    """Every part of the tool that needs a file beside it."""
    assert "exact: " in run("fathom", "report", run_directory, env=env, cwd=folder)
    run("fathom", "analyze", run_directory, env=env, cwd=folder)
    # Several processes need the library that speaks MPI.
    run("mpirun", "--oversubscribe", "-n", "2", "fathom", "analyze", run_directory, env=env, cwd=folder)
    findings = json.loads(run("fathom", "doctor", "--json", env=env, cwd=folder))
    assert findings["able"], findings
    if not any(row["what"] == "plots" and row["verdict"] == "ok" for row in findings["findings"]):
        print("skipped: pictures, because there is no matplotlib")
        return
    run("fathom", "plot", run_directory, "-o", f"{run_directory}-plots", env=env, cwd=folder)
    assert sorted(os.listdir(folder / f"{run_directory}-plots")) == \
        [f"{name}.png" for name in ("calls-by-rank", "calls", "messages", "path", "ranks", "sizes", "time-profile",
                                    "timeline", "traffic", "waits")]


def view(run_directory, env, folder):
    """The viewer serves its pages from the installation, to those who have the token, and they fit into one file."""
    viewer = subprocess.Popen(["fathom", "view", "--no-browser", run_directory], env=env, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/\?token=(\w+)\n", viewer.stdout.readline())
        assert address, viewer.stderr.read()
        root, token = address.groups()

        def answer(path, **headers):
            with urllib.request.urlopen(urllib.request.Request(root + path, headers=headers), timeout=60) as reply:
                return reply.read()

        allowed = {"Authorization": f"Bearer {token}"}
        assert b'<script src="app.js">' in answer("/", **allowed)
        for script in ("/app.js", "/machine3d.js"):  # the second is three.js, for those who open 3-D
            assert len(answer(script, **allowed)) > 10_000, script
        runs = json.loads(answer("/api/runs", **allowed))["runs"]
        assert [(run["ranks"], run["error"]) for run in runs] == [(2, "")], runs
        try:
            answer("/app.js")
            raise AssertionError("the pages were served without a token")
        except urllib.error.HTTPError as refused:
            assert refused.code == 401, refused
    finally:
        viewer.terminate()
        viewer.communicate(timeout=60)
    run("fathom", "export", run_directory, "-o", f"{run_directory}.html", env=env, cwd=folder)
    assert "fathom-answers" in (folder / f"{run_directory}.html").read_text(encoding="utf-8")


def import_fathom(python, run_directory, env, folder, version):
    """Prints where the package is."""
    script = ("import sys, fathom\n"
              "run = fathom.open(sys.argv[1])\n"
              "assert run.comm_matrix().sum() > 0 and len(run.events) > 0\n"
              "assert fathom.__version__ == sys.argv[2], fathom.__version__\n"
              "print(fathom.__file__)")
    return run(python, "-c", script, run_directory, version, env=env, cwd=folder).strip()
