# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that are far too large, or have no end: each is refused in moments, with its number, in little memory."""
import os
import resource
import time

import fixtures
import harness

SECONDS = 5  # refused in less than one where nothing else runs
BYTES = 1 << 30

PRODUCT = """
cluster: 'torus:dims=2,2'
{lists}
scheduler: [fcfs, easy, conservative]
jobs:
  - pattern: {{kind: ring, ranks: {ten}, bytes: {ten}}}
    duration: {ten}
"""
JOB = """
cluster: 'torus:dims=2,2'
jobs:
  - pattern: {{kind: {kind}, ranks: {ranks}, bytes: 10}}
    duration: 1
"""


class LargeInputs(harness.CliTest):
    def setUp(self):
        super().setUp()
        rows = [(0, 1, 100, 1)]
        self.write_run("run", fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], []))
        big = fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], [])
        big["world_size"] = 10**9
        self.write_run("big", big)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def refused(self, sentence, *words):
        with self.subTest(" ".join(words)):
            began = time.monotonic()
            self.assert_refused(self.fathom(*words), 1, sentence)
            self.assertLess(time.monotonic() - began, SECONDS)
            self.assertFalse(os.path.exists(self.path("out", "results.json")))

    def tearDown(self):
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, BYTES)

    def test_ten_million_combinations_are_counted_and_not_made(self):
        ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
        lists = "\n".join(f"{key}: {ten}" for key in ("seed", "slots", "capacity", "duration"))
        self.write("s.yml", PRODUCT.format(lists=lists, ten=ten))
        self.refused("s.yml: its lists make 30000000 combinations; a scenario may have 100000", "simulate", "s.yml", "-o", "out")

    def test_an_all_to_all_of_65536_ranks_is_not_made(self):
        self.write("s.yml", JOB.format(kind="all-to-all", ranks=65536))
        self.refused("s.yml:4:5: pattern all-to-all of 65536 ranks has 4294901760 pairs; at most 67108864", "simulate", "s.yml", "-o", "out")
        self.write("s.yml", JOB.format(kind="ring", ranks=10**9))
        self.refused("s.yml:4:34: 'ranks' must not be above 16777216", "simulate", "s.yml", "-o", "out")

    def test_jobs_without_end_are_refused(self):
        self.write("s.yml", JOB.format(kind="ring", ranks=2) + "    submit: {distribution: exponential, mean: 1.0e-300}\nduration: 1\n")
        self.refused("s.yml:4:5: more than 2000000 jobs 'ring' would arrive", "simulate", "s.yml", "-o", "out")

    def test_ten_million_hosts_are_not_made(self):
        self.write("slurm.conf", "SwitchName=s Nodes=n[0-9999999]\n")
        self.refused("slurm.conf:1: 'n[0-9999999]': names 10000000 nodes", "simulate", "--cluster", "slurm.conf", "--job", "run", "-o", "out")
        self.write("p.xml", """<platform version="4.1"><cluster id="c" prefix="n" radical="0-9999999" suffix="" speed="1Gf" bw="1GBps"
 lat="1us"/></platform>""")
        self.refused("'0-9999999': that is 10000000 hosts and switches", "place", "run", "--cluster", "p.xml")
        self.refused("that is 20000000 hosts and switches; at most 2097152", "place", "run", "--cluster", "torus:dims=10000,1000")

    def test_a_world_of_a_billion_is_refused_by_what_keeps_numbers_for_each_rank(self):
        for words in (["simulate", "--cluster", "torus:dims=2,2", "--job", "big", "-o", "out"],
                      ["simulate", "--cluster", "torus:dims=2,2", "--job", "big", "--model", "flow", "-o", "out"],
                      ["place", "big", "--cluster", "torus:dims=2,2"], ["analyze", "big"], ["export", "big", "--format", "metis", "-o", "out"]):
            self.refused("1000000000 ", *words)
        self.write("s.yml", "cluster: 'torus:dims=2,2'\njobs: [{profile: big, duration: 1}]\n")
        self.refused("1000000000 processes", "simulate", "s.yml", "-o", "out")
        self.write("job.goal", "num_ranks 1000000000\n")
        result = self.fathom("simulate", "--cluster", "torus:dims=2,2", "--model", "replay", "--job", "job.goal", "-o", "out")
        self.assertIn("job.goal:1:11: expected a whole number up to 16777216", result.stderr)
        self.assertEqual(self.fathom("report", "big").returncode, 0)

    def test_a_device_is_no_input(self):
        end = "/dev/zero: is a device, not a file"
        cluster = ("--cluster", "torus:dims=2,2")
        self.refused(end, "simulate", "/dev/zero", "-o", "out")
        self.refused(end, "simulate", "--cluster", "/dev/zero", "--job", "run", "-o", "out")
        self.refused(end, "simulate", *cluster, "--job", "run", "--rankfile", "/dev/zero", "-o", "out")
        self.refused(end, "simulate", *cluster, "--job", "run", "--node", "/dev/zero", "-o", "out")
        self.refused(end, "place", "run", "--cluster", "/dev/zero")
        self.write("s.yml", "cluster: 'torus:dims=2,2'\njobs: [{log: /dev/zero, pattern: {kind: ring}}]\n")
        self.refused(end, "simulate", "s.yml", "-o", "out")
        os.symlink("/dev/zero", self.path("zero.goal"))
        self.refused("zero.goal: is a device", "simulate", *cluster, "--model", "replay", "--job", "zero.goal", "-o", "out")
        self.refused(end, "plot", "/dev/zero", "-o", "out")
        for words in (["report"], ["analyze"], ["compare", "run"], ["place", *cluster], ["trace", "info"], ["critical-path"]):
            self.refused("/dev/zero", *words, "/dev/zero")

    def test_many_combinations_keep_their_results_in_files(self):
        self.write("s.yml", "cluster: 'torus:dims=2,2'\nseed: [" + ", ".join(map(str, range(300))) + "]\n"
                   "jobs: [{pattern: {kind: ring, ranks: 4, bytes: 10}, duration: 1}]\n")
        result = self.fathom("simulate", "s.yml", "-o", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        table = result.stdout.split("\n\n")[1]  # after what all runs have in common
        self.assertEqual(len(table.splitlines()), 301)
        self.assertEqual(sorted(os.listdir(self.path("out", "run-300"))), ["jobs.csv", "links.csv", "report.txt", "timeline.csv"])


if __name__ == "__main__":
    harness.main()
