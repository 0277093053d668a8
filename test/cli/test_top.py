# SPDX-License-Identifier: BSD-3-Clause
"""fathom top on states that were saved: the page, the verdict, JSON, and the screen in a terminal (tmux)."""
import json
import os
import shutil
import subprocess
import time
import unittest

import harness
import job_states


class TopTest(harness.CliTest):
    def save(self, state, name="state.json"):
        with open(self.path("new"), "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.rename(self.path("new"), self.path(name))
        return name

    def printed(self, *words, code=0):
        result = self.fathom("top", *words)
        self.assertEqual((result.returncode, result.stderr), (code, ""), result.stdout)
        return result.stdout


class Verdict(TopTest):
    def test_a_stuck_job_has_an_exit_code_of_its_own(self):
        said = self.printed(self.save(job_states.stuck()), "--why", code=4)
        self.assertEqual(" ".join(said.split()),
                         "3 of 4 ranks have been in MPI_Barrier #3 on MPI_COMM_WORLD (solver.c:221) for 41 s; rank 3 is not "
                         "there: it has been in MPI_Recv from 0, tag 7 (halo.c:88) for 41 s.")

    def test_a_slow_job_is_not_stuck(self):
        said = " ".join(self.printed(self.save(job_states.slow()), "--why").split())
        self.assertIn("rank 3 is not there: it has been computing for 42 s, since its call at solver.c:10, while 3 messages wait "
                      "unexpected there.", said)

    def test_json(self):
        verdict = json.loads(self.printed(self.save(job_states.stuck()), "--why", "--json", code=4))
        self.assertEqual((verdict["schema"], verdict["cause"], verdict["hung"], verdict["culprits"], verdict["victims"]),
                         ("fathom-verdict/1", "missing-participant", True, [3], [0, 1, 2, 3]))


class Page(TopTest):
    def test_ranks_are_sorted_by_waiting(self):
        lines = self.printed(self.save(job_states.slow()), "--once").splitlines()
        self.assertEqual(lines[0], "./app  4 ranks on 1 host  running for 100.0 s  MPI 40 %")
        ranks = [line.replace("!", " ").split()[0] for line in lines if "%" in line and "node" not in line and line is not lines[0]]
        self.assertEqual(ranks, ["3", "2", "1", "0"])
        self.assertTrue(any(line.split() == ["0", "->", "1", "p2p", "9.00", "kB", "9", "2"] for line in lines), lines)

    def test_unexpected_messages_are_shown_and_what_is_not_known_is_not_zero(self):
        state = job_states.slow()
        state["ranks"][1].update(unexpected=None, posted=None, queues="unknown")
        page = self.printed(self.save(state), "--once")
        self.assertIn("2 not received yet, 5 in queues of unexpected messages", " ".join(page.split()))
        header = next(line for line in page.splitlines() if "unexp." in line)
        end = header.index("unexp.") + len("unexp.")
        shown = {line.replace("!", " ").split()[0]: line[:end].split()[-1] for line in page.splitlines() if "solver.c" in line and "%" in line}
        self.assertEqual(shown, {"0": "0", "1": "-", "2": "2", "3": "3"})
        self.assertNotIn("ptrace", page)
        state["ranks"][2].update(unexpected=None, posted=None, queues="not-permitted")
        self.assertIn("kernel.yama.ptrace_scope", self.printed(self.save(state), "--once"))
        for rank in state["ranks"]:
            rank.update(unexpected=None, posted=None, queues="unknown")
        self.assertNotIn("unexpected", self.printed(self.save(state), "--once"))

    def test_json_is_read_again(self):
        first = self.printed(self.save(job_states.slow()), "--json")
        state = json.loads(first)
        self.assertEqual((state["schema"], state["verdict"]["cause"]), ("fathom-live/1", "slow-rank"))
        self.assertEqual(self.printed(self.save(state, "again.json"), "--json"), first)

    def test_output_goes_to_a_file_once(self):
        self.save(job_states.slow())
        self.printed("state.json", "-o", "page.txt")
        self.assert_refused(self.fathom("top", "state.json", "-o", "page.txt"), 2, "already exists")

    def test_control_characters_do_not_reach_the_terminal(self):
        state = job_states.slow()
        state["program"] = state["ranks"][3]["host"] = state["ranks"][3]["threads"][0]["place"] = "x\x1b[2Jy"
        state["pairs"][0]["kind"] = "\x1b[1m"
        for words in (["--once"], ["--why"]):
            self.assertNotIn("\x1b", self.printed(self.save(state), *words))

    def test_no_such_job(self):
        self.assert_refused(self.fathom("top", "nowhere"), 1, "there is no run 'nowhere'")
        self.save({"schema": "fathom-profile/1"})
        self.assert_refused(self.fathom("top", "state.json", "--once"), 1, "not the state of a running job")
        self.save(job_states.slow())
        self.assert_refused(self.fathom("top", "state.json"), 1, "stdin and stdout must be a terminal; use --once")


@unittest.skipUnless(shutil.which("tmux"), "there is no tmux")
class Screen(TopTest):
    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", self.path("socket"), *words], check=check, text=True,
                              capture_output=True, cwd=self.folder).stdout

    def start(self, state, *words):
        self.save(state)
        environment = [f"-e{name}={value}" for name, value in (("LC_ALL", "C.UTF-8"), ("TERM", "screen"))]
        self.tmux("new-session", "-d", "-x", "100", "-y", "24", *environment,
                  f"{harness.FATHOM} top state.json --interval 50ms {' '.join(words)}; echo exit code $?; exec sleep 600")
        self.addCleanup(self.tmux, "kill-server", check=False)

    def shown(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, *parts, absent=()):
        for _ in range(600):
            screen = self.shown()
            if all(part in screen for part in parts) and not any(part in screen for part in absent):
                return screen
            time.sleep(0.05)
        return self.fail(f"the screen has no {parts} or still has {absent}:\n{screen}")

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def test_shows_the_job_and_quits(self):
        self.start(job_states.slow())
        screen = self.wait_for("./app  4 ranks on 1 host", "it has been computing for 42 s", "q quit", "0 -> 1")
        self.assertNotIn("exit code", screen)
        self.keys("q")
        self.wait_for("exit code 0", absent=["q quit"])  # the screen before it is there again

    def test_follows_the_size_of_the_terminal(self):
        self.start(job_states.job([job_states.rank(number) for number in range(64)]))
        self.wait_for("more ranks", absent=["host "])
        self.tmux("resize-window", "-x", "140", "-y", "80")
        self.wait_for("host ", "node15", "q quit", absent=["more ranks"])
        self.tmux("resize-window", "-x", "60", "-y", "10")
        self.wait_for("more ranks", "q quit", absent=["node15"])

    def test_sorts(self):
        self.start(job_states.job([job_states.rank(number) for number in range(4)]))
        order = lambda: [line.split()[0] for line in self.shown().splitlines() if "computing" in line and "%" in line]
        self.wait_for("s sort: waiting")
        self.assertEqual(order(), ["3", "2", "1", "0"])
        self.keys("s", "s", "s")
        self.wait_for("s sort: rank")
        self.assertEqual(order(), ["0", "1", "2", "3"])

    def test_shows_a_chosen_rank(self):
        self.start(job_states.slow())
        self.wait_for("rank: all")
        self.keys("Down", "Down")
        self.wait_for("rank: 2", "rank 2: process 1002 on node0", "thread 0: 41.0 s MPI_Barrier #3")
        self.keys("Escape")
        self.wait_for("rank: all", absent=["process 1002"])

    def test_chooses_a_class_and_a_window(self):
        self.start(job_states.slow())
        self.wait_for("c class: all", "w window: 1 s", "0 -> 1", "1 -> 0")
        self.keys("c", "w")
        self.wait_for("c class: MPI_Bcast", "w window: 5 s", "1 -> 0", absent=["0 -> 1"])

    def test_shows_what_changes_unless_it_is_paused(self):
        self.start(job_states.slow())
        self.wait_for("it has been computing")
        self.save(job_states.stuck())
        self.wait_for("it has been in MPI_Recv from 0")
        self.keys("p")
        self.wait_for("(paused)")
        self.save(job_states.slow())
        time.sleep(0.3)
        self.assertIn("it has been in MPI_Recv from 0", self.shown())
        self.keys("p")
        self.wait_for("it has been computing", absent=["(paused)"])

    def test_a_job_that_ends_ends_the_watcher(self):
        self.start(job_states.slow())
        self.wait_for("q quit")
        os.unlink(self.path("state.json"))
        self.wait_for("The job of state.json has ended.", "exit code 0", absent=["q quit"])


if __name__ == "__main__":
    harness.main()
