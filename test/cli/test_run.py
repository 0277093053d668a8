# SPDX-License-Identifier: BSD-3-Clause
"""fathom run: what reaches the ranks, what comes back, with launchers made up for the purpose."""
import json
import os
import pathlib
import pty
import re
import signal
import stat
import subprocess
import time

import fixtures
import harness

# Writes its words and environment to seen.json. If it is given a place (in -x, in the MCA list or in the
# environment), it leaves a profile there, as the library in rank 0 would.
LAUNCHER = """#!/usr/bin/python3
import json, os, re, shutil, sys
json.dump({"words": sys.argv[1:], "environment": dict(os.environ)}, open("seen.json", "w"))
settings = ";".join(sys.argv[1:]) + ";" + os.environ.get("OMPI_MCA_mca_base_env_list", "")
where = re.search("FATHOM_OUTPUT=([^;]*)", settings)
where = where.group(1) if where else os.environ.get("FATHOM_OUTPUT")
if os.path.exists("leave.json") and where:
    shutil.copy("leave.json", os.path.join(where, "profile.json"))
sys.exit(int(os.environ.get("LEAVE_WITH", "0")))
"""


class RunTest(harness.CliTest):
    def setUp(self):
        super().setUp()
        for name in ("mpirun", "srun", "single"):
            self.write_program(name, LAUNCHER)
        with open(self.path("leave.json"), "w", encoding="utf-8") as file:
            json.dump(fixtures.hpcc4(), file)
        # An empty shared object would be better still; the loader only grumbles about this one.
        self.library = self.path("libfathom.so")
        open(self.library, "w", encoding="utf-8").close()

    def write_program(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), stat.S_IRWXU)

    def run_job(self, *words, **variables):
        variables.setdefault("FATHOM_LIBRARY", self.library)
        variables.setdefault("PATH", self.folder + ":" + os.environ["PATH"])
        return self.fathom("run", *words, **variables)

    def seen(self):
        with open(self.path("seen.json"), encoding="utf-8") as file:
            return json.load(file)

    def exported(self, words=None):
        """NAME → VALUE of every -x, one dictionary for each application context."""
        contexts = [{}]
        words = words or self.seen()["words"]
        for before, word in zip([""] + words, words):
            if word == ":":
                contexts.append({})
            elif before == "-x":
                name, _, value = word.partition("=")
                contexts[-1][name] = value
        return contexts


class OpenMpi(RunTest):
    def test_ranks_are_preloaded_and_the_launcher_is_not(self):
        result = self.run_job("-o", "r", "--", "mpirun", "-n", "4", "./app", "-x", "A=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("fathom report r", result.stderr)
        self.assertEqual(self.seen()["words"][-5:], ["-n", "4", "./app", "-x", "A=1"])
        first = self.exported(self.seen()["words"][:-5])[0]
        self.assertEqual(first, {"LD_PRELOAD": self.library, "FATHOM_OUTPUT": self.path("r"), "FATHOM_TRACE": "request"})
        self.assertNotIn("LD_PRELOAD", self.seen()["environment"])

    def test_overlays_of_the_cache_are_offered_to_the_ranks_alone(self):
        for name in ("openmpi-4.1.4-peruse-overlay-1-aa", "openmpi-4.1.6-peruse-overlay-1-bb", "openmpi-4.1.4-peruse-full-1"):
            os.makedirs(self.path("cache", name, "replaces"))
        for name in ("4.1.4-peruse-overlay-1-aa", "4.1.6-peruse-overlay-1-bb"):
            open(self.path("cache", "openmpi-" + name, "replaces", "libmpi.so.40"), "w", encoding="utf-8").close()
        result = self.run_job("-o", "r", "--", "mpirun", "./a", ":", "./b", FATHOM_OVERLAY=None, FATHOM_CACHE=self.path("cache"))
        self.assertEqual(result.returncode, 0, result.stderr)
        first, second = self.exported()
        self.assertEqual(first, second)
        self.assertEqual(first["FATHOM_OVERLAY"], ":".join(self.path("cache", "openmpi-" + name) for name in
                                                           ("4.1.4-peruse-overlay-1-aa", "4.1.6-peruse-overlay-1-bb")))
        self.assertRegex(first["LD_PRELOAD"], f"^{re.escape(self.library)}:/.*/libfathom-overlay.so$")
        self.assertNotIn("FATHOM_OVERLAY", self.seen()["environment"])

    def test_overlay_is_for_sources_that_need_it(self):
        for words, variables, offered in ((["--source", "pml"], {}, False), (["--source", "auto"], {}, True),
                                          ([], {"FATHOM_SOURCE": "mpi_t"}, False), ([], {}, True)):
            self.run_job("--force", "-o", "r", *words, "--", "mpirun", "./a", FATHOM_OVERLAY="/an/overlay", **variables)
            self.assertEqual("libfathom-overlay.so" in self.exported()[0]["LD_PRELOAD"], offered, (words, variables))

    def test_options_choose_what_a_trace_holds(self):
        result = self.run_job("-o", "r", "--ranks", "3,0-1", "--functions", "-MPI_Test*,-MPI_I*", "--communicators", "solver*",
                              "--phases", "solve,write", "--after", "1500ms", "--for", "200us", "--sample", "10", "--call-sites", "0",
                              "--", "mpirun", "./app", FATHOM_TRACE_SIZE="1G", FATHOM_TRACE_PHASES="other")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = {name: value for name, value in self.exported()[0].items() if name.startswith("FATHOM_TRACE")}
        self.assertEqual({name: names.pop("FATHOM_TRACE_" + name) for name in ("AFTER", "FOR")}, {"AFTER": "1.5", "FOR": "0.0002"})
        self.assertEqual(names, {"FATHOM_TRACE_RANKS": "0-1,3", "FATHOM_TRACE_FUNCTIONS": "-MPI_Test*,-MPI_I*",
                                 "FATHOM_TRACE_COMMUNICATORS": "solver*", "FATHOM_TRACE_PHASES": "solve,write",
                                 "FATHOM_TRACE_SAMPLE": "10", "FATHOM_TRACE_SITES": "0", "FATHOM_TRACE_SIZE": "1G"})
        for words in (["--trace-level", "all"], ["--sample", "0"], ["--call-sites", "2"]):
            self.assert_refused(self.run_job(*words, "--", "mpirun", "./app"), 2, words[0])

    def test_settings_reach_the_ranks(self):
        self.run_job("-o", "r", "--source", "pml", "--pvar", "a", "--pvar", "b", "--", "mpirun", "./app",
                     FATHOM_LOG="quiet", FATHOM_SOURCE="mpi_t")
        names = self.exported()[0]
        self.assertEqual(names["FATHOM_SOURCE"], "pml")
        self.assertEqual(names["FATHOM_PVARS"], "a,b")
        self.assertEqual(names["FATHOM_LOG"], "quiet")

    def test_every_setting_of_the_documentation_reaches_every_host(self):
        """FATHOM_WAITS_MEMORY once stayed on the first one."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs/environment.md").read_text()
        table = text.split("## Read by the library, in every rank", 1)[1].split("The variables below", 1)[0]
        settings = set(re.findall(r"^\| `(FATHOM_\w+)`", table, re.M)) - {"FATHOM_OUTPUT", "FATHOM_DISABLE"}
        self.assertGreater(len(settings), 6)
        values = dict.fromkeys(settings, "1") | {"FATHOM_SOURCE": "pml", "FATHOM_LOG": "quiet"}
        self.run_job("-o", "r", "--", "mpirun", "./app", **values)
        self.assertLessEqual(settings, self.exported()[0].keys())

    def test_a_job_can_be_asked_for_a_trace_unless_it_counts_alone(self):
        for words, variables, asked in (([], {}, True), (["--live"], {}, True), (["--no-time"], {}, False), ([], {"FATHOM_TIME": "0"}, False),
                                        ([], {"FATHOM_TRACE": "0"}, False), (["--trace"], {}, False), (["--flight", "1M"], {}, False)):
            self.run_job("--force", "-o", "r", *words, "--", "mpirun", "./app", **variables)
            self.assertEqual(self.exported()[0].get("FATHOM_TRACE") == "request", asked, (words, variables))

    def test_settings_reach_every_context(self):
        self.run_job("-o", "r", "--", "mpirun", "-n", "1", "./a", ":", "-n", "2", "./b")
        both = self.exported()
        self.assertEqual(len(both), 2)
        self.assertEqual(both[0], both[1])

    def test_the_users_own_preload_comes_first(self):
        self.run_job("-o", "r", "--", "mpirun", "-x", "LD_PRELOAD=/their.so", "-x", "B", "-n", "1", "./a")
        self.assertEqual(self.exported()[0]["LD_PRELOAD"], "/their.so:" + self.library)
        self.assertEqual(sum("LD_PRELOAD" in word for word in self.seen()["words"]), 1)
        self.assertIn("B", self.exported()[0])

    def test_a_preload_from_the_environment_is_kept(self):
        # A library that is there: the loader is not to be confused.
        self.run_job("-o", "r", "--", "mpirun", "./a", LD_PRELOAD="libc.so.6")
        self.assertEqual(self.exported()[0]["LD_PRELOAD"], "libc.so.6:" + self.library)

    def test_a_list_in_the_environment_is_extended(self):
        self.run_job("-o", "r", "--", "mpirun", "-n", "1", "./a",
                     OMPI_MCA_mca_base_env_list="A=1;LD_PRELOAD=/their.so")
        self.assertEqual(self.seen()["words"], ["-n", "1", "./a"])
        self.assertEqual(self.seen()["environment"]["OMPI_MCA_mca_base_env_list"],
                         f"A=1;LD_PRELOAD=/their.so:{self.library};FATHOM_OUTPUT={self.path('r')};FATHOM_TRACE=request")

    def test_a_list_in_an_option_is_extended(self):
        self.run_job("-o", "r", "--", "mpirun", "--mca", "mca_base_env_list", "A=1", "./a")
        self.assertEqual(self.seen()["words"],
                         ["--mca", "mca_base_env_list",
                          f"A=1;LD_PRELOAD={self.library};FATHOM_OUTPUT={self.path('r')};FATHOM_TRACE=request", "./a"])

    def test_an_app_file_gets_a_list(self):
        self.run_job("-o", "r", "--", "mpirun", "--app", "jobs")
        self.assertIn("LD_PRELOAD=", self.seen()["environment"]["OMPI_MCA_mca_base_env_list"])
        self.assertEqual(self.seen()["words"], ["--app", "jobs"])

    def test_a_list_and_x_cannot_be_mixed(self):
        result = self.run_job("-o", "r", "--", "mpirun", "-x", "B=1", "./a",
                              OMPI_MCA_mca_base_env_list="A=1")
        self.assert_refused(result, 2, "mca_base_env_list")
        self.assertFalse(os.path.exists(self.path("r")))

    def test_mpirun_is_found_in_a_wrapper_and_by_full_path(self):
        self.run_job("-o", "r", "--", "env", "Q=1", self.path("mpirun"), "-n", "1", "./a")
        self.assertEqual(self.exported()[0]["LD_PRELOAD"], self.library)
        self.assertEqual(self.seen()["environment"]["Q"], "1")


class Prrte(RunTest):
    """Since Open MPI 5, mpirun is PRRTE's prterun, to which -x can always be given."""

    def setUp(self):
        super().setUp()
        version = 'import sys\nif "--version" in sys.argv: print("mpirun (Open MPI) 5.0.7"), sys.exit()\n'
        for name in ("mpirun", "prterun"):
            self.write_program(name, LAUNCHER.replace("import json", version + "import json", 1))

    def test_a_list_in_the_environment_and_x_are_both_kept(self):
        result = self.run_job("-o", "r", "--", "mpirun", "-x", "B=1", "./a",
                              OMPI_MCA_mca_base_env_list="A=1;LD_PRELOAD=/their.so")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.exported()[0], {"B": "1", "LD_PRELOAD": "/their.so:" + self.library, "FATHOM_OUTPUT": self.path("r"), "FATHOM_TRACE": "request"})
        self.assertEqual(self.seen()["environment"]["OMPI_MCA_mca_base_env_list"], "A=1;LD_PRELOAD=/their.so")

    def test_a_list_in_an_option_and_x_are_both_kept(self):
        self.run_job("-o", "r", "--", "mpirun", "--mca", "mca_base_env_list", "A=1;LD_PRELOAD=/their.so", "-x", "B=1", "./a")
        self.assertEqual(self.exported()[0]["LD_PRELOAD"], "/their.so:" + self.library)
        self.assertIn("A=1;LD_PRELOAD=/their.so", self.seen()["words"])

    def test_x_comes_before_an_app_file(self):
        for launcher in ("mpirun", "prterun"):
            self.run_job("--force", "-o", "r", "--", launcher, "-x", "B=1", "--app", "jobs")
            self.assertEqual(self.exported()[0]["LD_PRELOAD"], self.library)
            self.assertEqual(self.seen()["words"][-4:], ["-x", "B=1", "--app", "jobs"])
            self.assertNotIn("OMPI_MCA_mca_base_env_list", self.seen()["environment"])

    def test_an_app_file_that_preloads_is_refused(self):
        with open(self.path("jobs"), "w", encoding="utf-8") as file:
            file.write("-n 1 -x LD_PRELOAD=/their.so ./a\n")
        self.assert_refused(self.run_job("-o", "r", "--", "mpirun", "--app", "jobs"), 2, "jobs", "-x LD_PRELOAD")

    def test_values_of_its_options_are_not_the_program(self):
        self.run_job("--", "mpirun", "--prtemca", "plm_ssh_agent", "agent", "--pset", "p", "--pmixmca", "a", "b", "--spawn-timeout", "9",
                     "./app", SLURM_JOB_ID="17")
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("fathom-")], ["fathom-app-17"])


class AddressSanitizer(RunTest):
    """Its runtime must come first of what a program preloads, or the program does not start."""

    def setUp(self):
        super().setUp()
        subprocess.run(["gcc", "-fsanitize=address", "-x", "c", "-o", "app", "-"], input="int main(void) { return 0; }",
                       cwd=self.folder, text=True, check=True)
        dynamic = subprocess.run(["readelf", "-d", "app"], cwd=self.folder, text=True, check=True, capture_output=True)
        self.runtime = re.search(r"\[(libasan\.so\.\d+)\]", dynamic.stdout).group(1)

    def test_the_sanitizer_is_preloaded_first(self):
        self.run_job("-o", "r", "--", "mpirun", "-x", "LD_PRELOAD=/their.so", "-n", "1", "./app", ":", "-n", "1", "./other")
        self.assertEqual([context["LD_PRELOAD"] for context in self.exported()],
                         [f"{self.runtime}:/their.so:{self.library}", self.library])

    def test_the_sanitizer_is_named_once(self):
        self.run_job("-o", "r", "--", "mpirun", "-x", f"LD_PRELOAD=/lib/{self.runtime}", "-n", "1", "./app")
        self.assertEqual(self.exported()[0]["LD_PRELOAD"], f"/lib/{self.runtime}:{self.library}")

    def test_a_list_names_the_sanitizer_for_all_contexts(self):
        self.run_job("-o", "r", "--", "mpirun", "--mca", "mca_base_env_list", "A=1", "./app")
        self.assertIn(f"LD_PRELOAD={self.runtime}:{self.library}", self.seen()["words"][2])
        self.run_job("-o", "s", "--", "mpirun", "--mca", "mca_base_env_list", "A=1", "./app", ":", "./other")
        self.assertIn(f";LD_PRELOAD={self.library};", self.seen()["words"][2])

    def test_srun_preloads_the_sanitizer_first(self):
        self.run_job("-o", "r", "--", "srun", "-n", "4", "./app")
        self.assertEqual(self.seen()["words"][0], f"--export=ALL,FATHOM_OUTPUT,FATHOM_TRACE,LD_PRELOAD={self.runtime}:{self.library}")


class OtherLaunchers(RunTest):
    def test_srun_exports_the_settings(self):
        self.run_job("-o", "r", "--", "srun", "-n", "4", "./app")
        self.assertEqual(self.seen()["words"],
                         [f"--export=ALL,FATHOM_OUTPUT,FATHOM_TRACE,LD_PRELOAD={self.library}", "-n", "4", "./app"])
        self.assertEqual(self.seen()["environment"]["FATHOM_OUTPUT"], self.path("r"))
        self.assertNotIn("LD_PRELOAD", self.seen()["environment"])

    def test_srun_keeps_its_export_option(self):
        self.run_job("-o", "r", "--", "srun", "--export=A,LD_PRELOAD=/their.so", "./app")
        self.assertEqual(self.seen()["words"],
                         [f"--export=A,FATHOM_OUTPUT,FATHOM_TRACE,LD_PRELOAD=/their.so:{self.library}", "./app"])

    def test_a_program_without_a_launcher_is_preloaded(self):
        result = self.run_job("-o", "r", "--", "./single", "-n", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.seen()["words"], ["-n", "4"])
        self.assertEqual(self.seen()["environment"]["LD_PRELOAD"], self.library)

    def test_the_separator_may_be_omitted(self):
        self.run_job("-o", "r", "./single", "--help")
        self.assertEqual(self.seen()["words"], ["--help"])


class Results(RunTest):
    def test_the_exit_code_is_the_jobs(self):
        self.assertEqual(self.run_job("-o", "r", "--", "mpirun", LEAVE_WITH="7").returncode, 7)
        self.assertEqual(self.run_job("-o", "s", "--", "sh", "-c", "kill -9 $$").returncode, 137)

    def test_the_streams_are_the_jobs(self):
        result = self.run_job("-o", "r", "--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(result.stdout, "out\n")
        self.assertIn("err\n", result.stderr)

    def test_a_job_in_which_no_rank_reported_says_so(self):
        os.remove(self.path("leave.json"))
        result = self.run_job("-o", "r", "--", "mpirun", "./app")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no rank ever reported in", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 2)  # one more when the job starts
        self.assertFalse(os.path.exists(self.path("r")))

    def test_the_default_folder_is_named_after_the_application(self):
        self.run_job("--", "mpirun", "-n", "2", "--mca", "btl", "self", "/x/my app", SLURM_JOB_ID="17")
        self.run_job("--", "mpirun", "-n", "2", "/x/my app", SLURM_JOB_ID="17")
        self.run_job("--", "mpirun", "-n", "2", "python3", "-u", "job.py", SLURM_JOB_ID="18")
        folders = sorted(n for n in os.listdir(self.folder) if n.startswith("fathom-"))
        self.assertEqual(folders, ["fathom-job.py-18", "fathom-my-app-17", "fathom-my-app-17-2"])

    def test_force_removes_only_the_old_run(self):
        self.write_run("r", "old")
        os.makedirs(self.path("r", "world-5"))
        os.makedirs(self.path("r", "job-2"))
        os.makedirs(self.path("r", "snap-1"))
        os.makedirs(self.path("r", "signal-12"))
        os.makedirs(self.path("r", "signal-processing"))
        with open(self.path("r", "mine.txt"), "w", encoding="utf-8") as file:
            file.write("kept")
        os.remove(self.path("leave.json"))
        self.run_job("-o", "r", "--force", "--", "mpirun", "./app")
        self.assertEqual(sorted(os.listdir(self.path("r"))), ["mine.txt", "signal-processing"])

    def test_stages_run_after_the_job(self):
        result = self.run_job("-o", "r", "--then", "report --json", "--then",
                              "export --format csv -o 'my traffic.csv'", "--", "mpirun", "./app")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["ranks"], 4)
        self.assertTrue(os.path.exists(self.path("my traffic.csv")))

    def test_a_failing_stage_sets_the_exit_code(self):
        stage = ["--then", "report --class MPI_Foo"]
        self.assertEqual(self.run_job("-o", "r", *stage, "--", "mpirun").returncode, 1)
        self.assertEqual(self.run_job("-o", "s", *stage, "--", "mpirun", LEAVE_WITH="7").returncode, 7)


# Notes each signal that it gets, and ends a second after the first.
SIGNALLED = """#!/usr/bin/python3
import os, signal, sys, time
first = []
def note(number, frame):
    with open("signals", "a") as file:
        file.write(signal.Signals(number).name + "\\n")
    first.append(time.monotonic())
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, note)
open("ready", "w").close()
while not first or time.monotonic() < first[0] + 1.5:
    time.sleep(0.02)
sys.exit(5)
"""

# Dies of the signal at once; its child takes a second to end, as ranks do that write.
LEAVES_ORPHAN = """#!/bin/sh
sh -c 'trap "sleep 1; : >orphan-ended; exit" TERM; : >ready; while :; do sleep 0.05; done' &
wait
"""


class SignalsTest(RunTest):
    """mpirun leaves its ranks to themselves at the second signal within five seconds, so it must get each once."""

    def setUp(self):
        super().setUp()
        self.write_program("mpirun", SIGNALLED)

    def start(self, *before, launcher=("./mpirun",)):
        environment = dict(os.environ, FATHOM_LIBRARY=self.library)
        job = subprocess.Popen([*before, harness.FATHOM, "run", "-o", "r", "--", *launcher], cwd=self.folder, text=True,
                               env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # tests under nohup
        self.addCleanup(job.wait, 30)
        self.wait_until_ready()
        return job

    def wait_until_ready(self):
        for _ in range(1000):
            if os.path.exists(self.path("ready")):
                return
            time.sleep(0.02)
        self.fail("the job did not start")

    def signals(self):
        with open(self.path("signals"), encoding="utf-8") as file:
            return file.read().split()

    def assert_once(self, job, name="SIGTERM", code=5):
        output, errors = job.communicate(timeout=30)
        self.assertEqual((self.signals(), job.returncode), ([name], code), errors)
        self.assertEqual(errors.count("\n"), 2)
        self.assertIn(f"fathom: {name} ended the job", errors)

    def processes_of(self, group):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.getpgid(int(pid)) == group:
                    found.append(int(pid))
            except ProcessLookupError:
                pass
        return found

    def test_a_signal_to_fathom_alone_is_passed_on(self):
        job = self.start()
        job.send_signal(signal.SIGTERM)
        self.assert_once(job)

    def test_a_signal_to_the_process_group_arrives_once(self):
        job = self.start()
        os.killpg(job.pid, signal.SIGTERM)
        self.assert_once(job)

    def test_a_signal_to_each_process_as_slurm_sends_it_arrives_once(self):
        job = self.start()
        for pid in self.processes_of(job.pid):
            os.kill(pid, signal.SIGTERM)
        self.assert_once(job)

    def test_a_signal_from_timeout_arrives_once(self):
        self.assert_once(self.start("timeout", "4"), code=124)

    def test_a_signal_from_timeout_in_the_foreground_arrives_once(self):
        self.assert_once(self.start("timeout", "--foreground", "4"), code=124)

    def test_a_signal_reaches_a_launcher_in_another_group(self):
        job = self.start(launcher=("setsid", "./mpirun"))
        os.killpg(job.pid, signal.SIGTERM)
        self.assert_once(job)

    def test_a_second_signal_is_passed_on_as_another_one(self):
        job = self.start()
        job.send_signal(signal.SIGHUP)
        time.sleep(1)
        job.send_signal(signal.SIGHUP)
        job.communicate(timeout=30)
        self.assertEqual(self.signals(), ["SIGHUP", "SIGHUP"])

    def test_a_signal_that_does_not_end_the_job_is_passed_on_too(self):
        job = self.start()
        job.send_signal(signal.SIGUSR1)
        _, errors = job.communicate(timeout=30)
        self.assertEqual((self.signals(), job.returncode), (["SIGUSR1"], 5))
        self.assertIn("no rank ever reported in", errors)

    def test_ignored_signals_stay_ignored(self):
        self.write_program("mpirun", SIGNALLED.replace("signal.SIGHUP, ", ""))
        job = self.start("nohup")
        job.send_signal(signal.SIGHUP)
        time.sleep(1)
        job.send_signal(signal.SIGTERM)
        self.assert_once(job)

    def test_control_c_in_a_terminal_arrives_once(self):
        environment = dict(os.environ, FATHOM_LIBRARY=self.library)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(harness.FATHOM, [harness.FATHOM, "run", "-o", "r", "--", "./mpirun"], environment)
        self.wait_until_ready()
        os.write(terminal, b"\x03")
        said = b""
        with open(terminal, "rb", buffering=0) as screen:
            try:
                while some := screen.read(1024):
                    said += some
            except OSError:  # the last process has closed it
                pass
        _, status = os.waitpid(pid, 0)
        self.assertEqual((self.signals(), os.waitstatus_to_exitcode(status)), (["SIGINT"], 5))
        self.assertIn(b"fathom: SIGINT ended the job", said)

    def test_orphans_of_the_launcher_end_before_fathom(self):
        self.write_program("mpirun", LEAVES_ORPHAN)
        job = self.start()
        os.killpg(job.pid, signal.SIGTERM)
        _, errors = job.communicate(timeout=30)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM)
        self.assertTrue(os.path.exists(self.path("orphan-ended")), errors)


class Refusals(RunTest):
    def refused(self, result, *parts):
        self.assert_refused(result, 2, *parts)
        self.assertFalse(os.path.exists(self.path("seen.json")), "the job was started")

    def test_a_missing_command_is_refused(self):
        self.refused(self.run_job("-o", "r"), "name the job to run")

    def test_an_unknown_option_is_refused(self):
        self.refused(self.run_job("--bogus", "--", "mpirun", "./app"), "--bogus")

    def test_an_unknown_source_is_refused(self):
        self.refused(self.run_job("--source", "magic", "--", "mpirun", "./app"), "--source", "magic")

    def test_an_unknown_source_in_the_environment_is_refused(self):
        self.refused(self.run_job("-o", "r", "--", "mpirun", "./app", FATHOM_SOURCE="magic"), "FATHOM_SOURCE=magic", "peruse")

    def test_the_error_of_a_failing_launcher_comes_first(self):
        self.write_program("mpirun", "#!/bin/sh\necho 'not enough slots' >&2; exit 1\n")
        result = self.fathom("run", "-o", "r", "--", "./mpirun", "-n", "9", "./app", FATHOM_LIBRARY=self.library)
        self.assertEqual(result.returncode, 1)
        self.assertIn("ended with 1", result.stderr)
        self.assertIn("--oversubscribe", result.stderr)

    def test_an_unknown_command_is_refused(self):
        self.refused(self.run_job("-o", "r", "--", "./nothing"), "cannot start './nothing'")
        self.assertFalse(os.path.exists(self.path("r")))

    def test_a_run_is_never_overwritten_silently(self):
        self.write_run("r", "old")
        self.refused(self.run_job("-o", "r", "--", "mpirun", "./app"), "already holds a run", "--force")
        with open(self.path("r", "profile.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        self.refused(self.run_job("-o", "libfathom.so/r", "--", "mpirun", "./app"),
                     "cannot create the run directory")
        self.refused(self.run_job("-o", "libfathom.so", "--", "mpirun", "./app"),
                     "cannot create the run directory")

    def test_a_missing_library_is_refused(self):
        result = self.run_job("-o", "r", "--", "mpirun", "./app", FATHOM_LIBRARY="/no/such.so")
        self.refused(result, "FATHOM_LIBRARY")

    def test_a_library_whose_path_has_a_space_is_refused(self):
        os.rename(self.library, self.path("lib fathom.so"))
        result = self.run_job("-o", "r", "--", "mpirun", FATHOM_LIBRARY=self.path("lib fathom.so"))
        self.refused(result, "blank")

    def test_bad_stages_are_refused(self):
        for stage, part in (("bogus", "bogus"), ("report --bogus", "--bogus"), ("run", "cannot follow"),
                            ("report 'x", "quote"), ("", "name a subcommand")):
            self.refused(self.run_job("-o", "r", "--then", stage, "--", "mpirun", "./app"), part)
            self.assertFalse(os.path.exists(self.path("r")))


if __name__ == "__main__":
    harness.main()
