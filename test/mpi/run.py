#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the MPI test programs with and without the profiler and compares.

  run.py --binaries DIR --library libfathom.so [--group NAME] [--jobs N] [--match TEXT] [CASE...]

For each case and each (Open MPI, source, transport) in its row of cases.py, on each Open MPI of
open_mpi.tested(): the program runs natively, then with the library; output and exit code must be the same to the
byte, and the profile must hold what the program itself logged (expect.h, expectation.py). One line per run,
differences below it; the last line is "N passed, N failed, N skipped". Exit code 0 if nothing failed, 1 otherwise,
2 for wrong usage.

Without --library the programs run natively only; with --witness pml_monitoring counts them and the programs'
own logs are compared with that: a check of the tests themselves.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import cases  # noqa: E402
import expectation  # noqa: E402
import open_mpi  # noqa: E402

TIMEOUT_S = 60


class Setting:
    """Where the programs and the library are, and the Open MPI builds by name."""

    def __init__(self, arguments):
        self.binaries = os.path.abspath(arguments.binaries)
        self.library = os.path.abspath(arguments.library) if arguments.library else None
        self.cli = os.path.abspath(arguments.cli) if arguments.cli else None
        self.keep = arguments.keep
        self.witness = arguments.witness
        self.builds = {row.name: open_mpi.OpenMpi(row) for row in open_mpi.tested()}
        self.later = [name for name, build in self.builds.items() if build.is_later]
        self.has_4 = len(self.later) < len(self.builds)

    def path_of(self, program, build):
        """Of a test program, compiled for this build."""
        if program.startswith("/"):
            return program
        path = os.path.join(self.binaries, program)
        if program != "dlopens" or build not in self.later:
            return self.builds[build].program(path)
        # Linked with no MPI; loads the plug-in from its own folder.
        link = os.path.join(os.path.dirname(self.path_of("libplugin.so", build)), program)
        if not os.path.islink(link):
            with contextlib.suppress(FileExistsError):
                os.symlink(path, link)
        return link


def command(setting, case, combination, exports, extra=()):
    """The mpirun command line; `exports` reach the ranks only, never the launcher."""
    build, _, transport = combination
    if case.program.endswith(".py"):
        argv = ["/usr/bin/python3", os.path.join(HERE, "programs", case.program), *case.args]
    else:
        argv = [setting.path_of(case.program, build), *case.args]
    if case.ranks == 0:  # without a launcher
        return ["/usr/bin/env", *(f"{k}={v}" for k, v in exports.items()), *argv]
    line = setting.builds[build].launch(case.ranks, *extra)
    if transport == "tcp" or build in setting.later and case.spawns:  # spawned worlds are reached over TCP alone
        line += open_mpi.TCP
    if transport == "ucx":
        line += open_mpi.UCX
    for parameter in case.mca:
        line += ["--mca", *parameter.split("=", 1)]
    if case.spawns:
        return line + setting.builds[build].for_ranks(exports) + argv
    return line + [word for name, value in exports.items() for word in ("-x", f"{name}={value}")] + argv


def execute(argv, env, directory):
    """Runs in a process group of its own; on a timeout ends that group and nothing else."""
    started = time.monotonic()
    with open(os.path.join(directory, "stdout"), "wb") as out, open(os.path.join(directory, "stderr"), "wb") as err:
        process = subprocess.Popen(argv, env=env, cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        timed_out = False
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    with open(os.path.join(directory, "stdout"), "rb") as out, open(os.path.join(directory, "stderr"), "rb") as err:
        return {"code": process.returncode, "stdout": out.read(), "stderr": err.read(), "timed_out": timed_out,
                "seconds": time.monotonic() - started}


def prepare(case, where):
    """Makes the place FATHOM_OUTPUT points at; returns (path or None, clean-up, reason to skip)."""
    run = os.path.join(where, "run")
    if case.output == "default":
        return None, None, None
    if case.output == "not-a-directory":
        blocker = os.path.join(where, "file")
        open(blocker, "w").close()
        return os.path.join(blocker, "run"), None, None
    if case.output == "occupied":
        os.mkdir(run)
        with open(os.path.join(run, "profile.json"), "w") as old:
            old.write("an older result\n")
        return run, None, None
    if case.output == "full-disk":
        disk = os.path.join(where, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
            return None, None, "a full disk needs a tmpfs, and mounting one needs root"
        with open(os.path.join(disk, "filler"), "wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        return os.path.join(disk, "run"), lambda: subprocess.run(["umount", "-l", disk]), None
    return run, None, None


def visible(data):
    return data.decode(errors="replace").strip()[-600:].replace("\n", "\n        ")


def compare_behaviour(case, native, profiled):
    problems = []
    if profiled["timed_out"]:
        return [f"with the library it did not end within {TIMEOUT_S} s; stderr: {visible(profiled['stderr'])}"]
    if profiled["code"] != native["code"]:
        problems.append(f"exit code {profiled['code']} with the library, {native['code']} without; "
                        f"stderr: {visible(profiled['stderr'])}")
    outputs = [run["stdout"] for run in (profiled, native)]
    if case.racing_output:
        outputs = [set(output.splitlines()) for output in outputs]
    if outputs[0] != outputs[1]:
        problems.append(f"output differs: {visible(profiled['stdout'])!r}, natively {visible(native['stdout'])!r}")
    if case.says:
        lines = profiled["stderr"].decode(errors="replace").splitlines(True)
        said = [line for line in lines if case.says in line]
        if len(said) != 1:
            problems.append(f"{len(said)} lines of stderr say {case.says!r}, expected one: {visible(profiled['stderr'])!r}")
        profiled = {**profiled, "stderr": "".join(line for line in lines if line not in said).encode()}
    # Crash reports hold addresses and process ids; a job that ends well must not say anything new.
    if case.same_stderr and native["code"] == 0 and profiled["stderr"] != native["stderr"]:
        problems.append(f"stderr differs: {visible(profiled['stderr'])!r}, natively {visible(native['stderr'])!r}")
    return problems


def files_under(directory):
    return sorted(os.path.relpath(os.path.join(at, name), directory)
                  for at, _, names in os.walk(directory) for name in names)


def with_peruse(build):
    return build.endswith("peruse")


def options_for(case, combination):
    build, source, transport = combination
    options = dict(case.options)
    if transport == "ucx":
        options["unproven"] = True  # its queues cannot be read
    if with_peruse(build) and source in ("peruse", "auto"):
        options["received"] = True
    return options


def check_source(profile, case, combination):
    build, source, _ = combination
    allowed = {"peruse": {"peruse"}, "pml": {"pml"}, "mpi_t": {"mpi_t"}, "auto": {"peruse"}}[source]
    if source in ("auto", "peruse") and (not with_peruse(build) or case.without_init):
        allowed = {"pml"}
        if source == "peruse" and not profile["coverage"].get("steps_down"):
            return ["peruse is not to be had here, and the profile does not say that it stepped down"]
    return [] if profile["source"] in allowed else [f"source is {profile['source']!r}, expected one of {sorted(allowed)}: "
                                                    f"{profile['coverage'].get('steps_down')}"]


def check_totals(expect, run):
    """mpi_t knows neither communicators' makers nor phases: user messages per pair, all communicators together."""
    with open(os.path.join(run, "profile.json")) as file:
        profile = json.load(file)
    lines, problems, want, got = expectation.Lines(expect), [], {}, {}
    for key, pairs in [*lines.exact.items(), *lines.unreceived.items()]:
        if key[0] == expectation.POINT_TO_POINT:
            for (source, destination), cell in pairs.items():
                old = want.get((source, destination), [0, 0])
                want[(source, destination)] = [old[0] + cell[0], old[1] + cell[1]]
    for block in profile["traffic"]:
        if block["class"] == expectation.POINT_TO_POINT:
            for s, d, b, m in zip(block["source"], block["destination"], block["bytes"], block["messages"]):
                old = got.get((("main", s), ("main", d)), [0, 0])
                got[(("main", s), ("main", d))] = [old[0] + b, old[1] + m]
    expectation.compare_pairs((expectation.POINT_TO_POINT, expectation.ANY, ""), want, got, problems)
    return problems


def check_profile(case, combination, setting, expect, run, where):
    if case.output == "default":
        found = [name for name in os.listdir(where) if name.startswith("fathom-")]
        if len(found) != 1:
            return [f"one directory fathom-... where the job began expected, found {found}"]
        run = os.path.join(where, found[0])
    path = os.path.join(run, "profile.json")
    if case.in_parts:
        if os.path.exists(path):
            return ["the processes gathered a profile, and were expected to leave their parts"]
        if not setting.cli:
            return []
        report = subprocess.run([setting.cli, "report", run], capture_output=True, text=True, timeout=TIMEOUT_S)
        cut_short = "cut short" in report.stdout
        if report.returncode != 0 or cut_short != bool(case.options.get("cut_short")):
            return [f"fathom report: {report.returncode}, {report.stdout[-300:]}{report.stderr[-300:]}"]
    if case.traced and setting.cli:
        check = subprocess.run([setting.cli, "trace", "check", run], capture_output=True, text=True, timeout=TIMEOUT_S)
        if check.returncode != 0:
            return [f"fathom trace check: {check.stdout[-300:]}{check.stderr[-300:]}"]
    if not os.path.exists(path):
        return [f"no profile.json; left behind: {files_under(run)}"]
    with open(path) as file:
        profile = json.load(file)
    problems = check_source(profile, case, combination)
    if not profile.get("calls"):
        problems.append("the calls were not timed")
    verdict = case.options.get("verdict")
    if verdict and profile["coverage"]["verdict"] != verdict:
        problems.append(f"the verdict is {profile['coverage']['verdict']}, not {verdict}")
    gap = case.options.get("gap")
    if gap:
        if gap not in json.dumps(profile["coverage"]).lower():
            problems.append(f"the profile does not say that {gap} messages cannot be seen: {profile['coverage']}")
        return problems
    for name in case.options.get("pvars", ()):
        if not any(v["name"] == name for v in profile.get("performance_variables", [])):
            problems.append(f"performance variable {name} is missing")
    if case.options.get("totals_only"):
        return problems + check_totals(expect, run)
    return problems + expectation.check_run(expect, run, options_for(case, combination))


def report_of_ended(setting, run):
    """`fathom report`. On a loaded machine mpirun may end before ranks that it has killed are gone."""
    end = time.monotonic() + TIMEOUT_S
    while True:
        done = subprocess.run([setting.cli, "report", run], capture_output=True, text=True, timeout=TIMEOUT_S)
        if "is still running" not in done.stderr or time.monotonic() > end:
            return done
        time.sleep(0.1)


def check_left(case, combination, setting, expect, run, where):
    if case.leaves == "profile":
        return check_profile(case, combination, setting, expect, run, where)
    left = files_under(run) if run and os.path.isdir(run) else []
    if case.leaves == "nothing":
        return [f"left behind: {left}"] if left else []
    if case.output == "occupied":
        with open(os.path.join(run, "profile.json")) as old:
            if old.read() != "an older result\n":
                return ["an older profile.json was overwritten"]
    if case.leaves == "mark":
        report = setting.cli and report_of_ended(setting, run)
        if report and "it was killed" not in report.stderr:
            return [f"fathom report does not say that the job was killed: {report.stdout[-300:]}{report.stderr[-300:]}"]
    if case.leaves == "rows":
        # Each process that could leave something did; the tool puts the parts together.
        if not left:
            return ["nothing was left behind"]
        if not setting.cli:
            return []
        merged = report_of_ended(setting, run)
        if "cut short" not in merged.stdout + merged.stderr:
            return [f"fathom report does not say that the run was cut short: {merged.stdout[-300:]}{merged.stderr[-300:]}"]
    return []


ATTEMPTS = 3  # of a case that Open MPI may spoil


def spoilt(case, combination, problems):
    """Whether Open MPI may be at fault."""
    hangs = case.may_crash or case.program in open_mpi.HANG_AT_TIMES.get(combination[0], ())
    return any(case.may_crash and "exited on signal" in problem or hangs and "did not end" in problem or
               re.search(rf"exit code (is )?{open_mpi.NOT_STARTED}\b", problem) for problem in problems)


def run_case(setting, case, combination):
    """Returns (problems, seconds natively, seconds with the library, reason to skip)."""
    for _ in range(ATTEMPTS):
        result = run_once(setting, case, combination)
        if not spoilt(case, combination, result[0]):
            break
    return result


def run_once(setting, case, combination):
    build, source, _ = combination
    where = tempfile.mkdtemp(prefix="fathom-test-")
    clean_up = None
    try:
        env = setting.builds[build].environment
        results = {}
        for kind in ("native", "profiled") if setting.library else ("native",):
            directory, expect = os.path.join(where, kind), os.path.join(where, kind, "expect")
            scratch = os.path.join(directory, "scratch")
            for path in (directory, expect, scratch):
                os.mkdir(path)
            env_here = dict(env, EXPECT_DIR=expect, TEST_SCRATCH=scratch,
                            TMPDIR=directory, **case.program_environment)  # jobs run beside each other (open_mpi.py)
            preload = [setting.path_of("libtool.so", build)] if case.preload != "library" else []
            exports, extra, run = {}, [], None
            if kind == "profiled":
                run, clean_up, skip = prepare(case, where)
                if skip:
                    return [], 0, 0, skip
                at = 0 if case.preload == "library,tool" else len(preload)
                library = setting.library.replace("libfathom.so", "libfathom-trace.so") if case.traced else setting.library
                preload.insert(at, library)
                exports = {"FATHOM_SOURCE": source, **case.environment}
                if run:
                    exports["FATHOM_OUTPUT"] = run
            elif setting.witness:
                if not case.monitoring or combination[0] != "stock" or combination[2] == "ucx":
                    return [], 0, 0, "pml_monitoring cannot witness this"
                prefix = os.path.join(directory, "monitored")
                for parameter in ("pml=ob1,monitoring", "pml_monitoring_enable=2", "pml_monitoring_enable_output=3",
                                  f"pml_monitoring_filename={prefix}"):
                    extra += ["--mca", *parameter.split("=", 1)]
            if preload:
                exports["LD_PRELOAD"] = ":".join(preload)
            results[kind] = execute(command(setting, case, combination, exports, extra), env_here, directory)
            if kind == "native":
                problems = check_native(case, results[kind])
                if problems:
                    return problems, results[kind]["seconds"], 0, None
                if setting.witness:
                    return expectation.check_monitoring(expect, prefix), results[kind]["seconds"], 0, None
        if not setting.library:
            return [], results["native"]["seconds"], 0, None
        native, profiled = results["native"], results["profiled"]
        problems = compare_behaviour(case, native, profiled)
        if not profiled["timed_out"]:
            problems += check_left(case, combination, setting, expect, run, directory)
        return problems, native["seconds"], profiled["seconds"], None
    finally:
        if clean_up:
            clean_up()
        if setting.keep:
            print(f"    kept: {where}")
        else:
            shutil.rmtree(where, ignore_errors=True)


def check_native(case, native):
    if native["timed_out"]:
        return [f"natively it did not end within {TIMEOUT_S} s: the test program is at fault"]
    if case.exit_code is not None and native["code"] != case.exit_code:
        return [f"natively the exit code is {native['code']}, expected {case.exit_code}: {visible(native['stderr'])}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binaries", required=True, help="folder of the compiled programs")
    parser.add_argument("--library", help="libfathom.so; without it the programs run natively only")
    parser.add_argument("--cli", help="the fathom tool, which merges what unfinished jobs leave")
    parser.add_argument("--group", help="only the cases of this group")
    parser.add_argument("--match", help="only runs whose line matches this regular expression, such as 'stock/pml'")
    parser.add_argument("--jobs", type=int, default=1, choices=(1, 2), help="runs at the same time")
    parser.add_argument("--witness", action="store_true", help="compare the programs' logs with pml_monitoring")
    parser.add_argument("--keep", action="store_true", help="keep every run's folder and say where it is")
    parser.add_argument("--list", action="store_true", help="list the runs and stop")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    setting = Setting(arguments)
    unknown = set(arguments.cases) - {c.name for c in cases.CASES}
    if unknown or (arguments.group and arguments.group not in {c.group for c in cases.CASES}):
        print(f"run.py: no such case or group: {' '.join(sorted(unknown)) or arguments.group}; --list names them",
              file=sys.stderr)
        return 2
    if arguments.library and not os.path.exists(arguments.library):
        print(f"run.py: there is no {arguments.library}: build the target profiler/libfathom.so first", file=sys.stderr)
        return 2
    runs, passed, failed, skipped = [], 0, 0, 0
    for case in cases.CASES:
        if (arguments.cases and case.name not in arguments.cases) or (arguments.group and case.group != arguments.group):
            continue
        seen = set()
        later = [(build, *combination[1:]) for build in setting.later for combination in case.on
                 if with_peruse(combination[0]) == with_peruse(build) and case.serves_later(build, *combination[1:])]
        for combination in [*(case.on if setting.has_4 and not case.since else ()), *later]:
            if not setting.library:
                combination = (combination[0], "native", combination[2])
            title = f"{case.group}/{case.name} {'/'.join(combination)}"
            if combination in seen or (arguments.match and not re.search(arguments.match, title)):
                continue
            seen.add(combination)
            runs.append((title, case, combination))
    if arguments.list:
        print("\n".join(title for title, _, _ in runs))
        return 0

    def one(entry):
        title, case, combination = entry
        if combination[0] not in setting.builds:
            missing = open_mpi.row(combination[0])
            return title, [], 0, 0, f"there is no {missing.title} in {missing.prefix}"
        try:
            return (title, *run_case(setting, case, combination))
        except Exception as error:  # a broken profile must not hide the other cases
            return title, [f"{type(error).__name__}: {error}"], 0, 0, None

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for title, problems, native_s, profiled_s, skip in pool.map(one, runs):
            if skip:
                skipped += 1
                print(f"skip {title}: {skip}", flush=True)
                continue
            failed += bool(problems)
            passed += not problems
            print(f"{'FAIL' if problems else 'ok  '} {title} ({native_s:.1f} s, {profiled_s:.1f} s)", flush=True)
            for problem in problems[:12]:
                print(f"     {problem}")
            if len(problems) > 12:
                print(f"     and {len(problems) - 12} more")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
