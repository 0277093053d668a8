# SPDX-License-Identifier: BSD-3-Clause
"""fathom simulate: from a cluster and a job to results.json, and each refusal with its sentence."""
import csv
import json
import os
import re
import subprocess

import fixtures
import harness


CLUSTER = """<graphml><key id="t" for="node" attr.name="typ"/><key id="s" for="node" attr.name="slots"/>
<key id="c" for="edge" attr.name="capacity"/><graph edgedefault="undirected">{}</graph></graphml>"""


def cluster(edges=2, hosts=2, slots=1, cores=2):
    node = '<node id="{}"><data key="t">{}</data><data key="s">{}</data></node>\n'.format
    edge = '<edge source="{}" target="{}"><data key="c">10</data></edge>\n'.format
    text = "".join(node(f"core{c}", "switch", 0) for c in range(cores))
    for e in range(edges):
        text += node(f"edge{e}", "switch", 0)
        text += "".join(edge(f"edge{e}", f"core{c}") for c in range(cores))
        for h in range(hosts):
            text += node(f"n{e}{h}", "host", slots) + edge(f"n{e}{h}", f"edge{e}")
    return CLUSTER.format(text)


class Simulate(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write_cluster(cluster())
        rows = [(0, 2, 100, 1), (1, 3, 40, 1), (0, 1, 7, 1), (2, 0, 5, 1), (2, 2, 9, 1)]
        self.write_run("run", fixtures.profile(
            4, [fixtures.block("point-to-point", False, rows)], []))

    def write_cluster(self, text):
        with open(self.path("c.graphml"), "w", encoding="utf-8") as file:
            file.write(text)

    def simulate(self, *more, job="run", network="c.graphml"):
        return self.fathom("simulate", "--cluster", network, "--job", job, *more, "-o", "out", "--force")

    def runs(self, *more):
        return self.runs_on("c.graphml", *more)

    def runs_on(self, network, *more):
        result = self.simulate(*more, network=network)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            results = json.load(file)
        self.assertEqual(results["schema"], "fathom-simulation/1")
        return results["runs"]

    def test_json_prints_what_the_results_file_holds(self):
        for options in ((), ("--model", "flow"), ("--routing", "dmodk,smodk")):
            result = self.simulate("--json", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("out", "results.json"), encoding="utf-8") as file:
                self.assertEqual(result.stdout, file.read())
            self.assertEqual(json.loads(result.stdout)["schema"], "fathom-simulation/1")
        result = self.simulate("--json", "--routing", "dor")
        self.assertEqual((result.returncode, result.stdout), (1, ""))

    def test_results_hold_the_loads_of_links(self):
        run, = self.runs()
        self.assertEqual([run[key] for key in ("job", "selection", "placement", "routing", "seed")],
                         ["run", "linear", "block", "dmodk", 1])
        self.assertEqual((run["max_traffic"], run["max_congestion"], run["max_flows"]), (100, 10, 1))
        loads = {(link["source"], link["target"]): (link["traffic"], link["flows"])
                 for link in run["links"]}
        self.assertEqual(len(loads), 8)
        self.assertEqual(loads["edge0", "core0"], (100, 1))  # to host 2, even
        self.assertEqual(loads["core1", "edge1"], (40, 1))   # to host 3, odd
        self.assertEqual(loads["edge1", "core0"], (5, 1))

    def test_a_single_run_names_its_hot_links(self):
        text = self.simulate().stdout
        self.assertIn("congestion of 8 links between switches: max 10, p95 10, mean 3.625, σ 4.266\n"
                      "imbalance 2.76 (max over mean); 2 links carry nothing; bisection 3.625 (4 links)\n"
                      "the bottleneck is a host's link: n00 → edge0, 10.7, 1.07 times the worst between switches", text)
        self.assertRegex(text, r"\nhot links +bytes +congestion +flows\n  edge0 → core0 +100 B +10 +1\n")
        self.assertEqual(text.count(" → "), 2 + 6)  # in the table, the bottleneck; six of the eight links carry anything
        timed = self.simulate("--model", "flow").stdout
        self.assertRegex(timed, r"hot links +bytes +in use\n  n00 → edge0 +107 B +100 %\n")

    def test_tables_have_units_and_whole_names(self):
        network = "dragonfly:switches=4;globals=2;hosts=2;capacity=12.5e9"
        text = self.simulate("--selection", "fragmented", network=network).stdout
        self.assertIn(f"cluster  {network}: 72 hosts, 36 switches, 324 links of 12.5 GB/s\n"
                      "job      run: 4 ranks, 161 B between them\n", text)
        self.assertRegex(text, r"(?m)^fragmented +block +dmodk +[0-9.]+ ns +8.56 ns .* a host's: n0 → s0.0, 107 B$")
        self.assertRegex(text, r"congestion of 180 links between switches: max 8.00 ns, p95 0, mean 0.07 ns, ")
        timed = self.simulate("--model", "flow", network="torus:dims=2,2").stdout
        self.assertRegex(timed, r"hot links +bytes +in use +mean rate\n  n0 → s0.0 +107 B +100 % +12.5 GB/s\n")
        torus, tree = "torus:dims=4,4;capacity=1e9", "xgft:m=4,4;w=1,2;capacity=12.5e9"
        several = self.simulate("--cluster", torus, network=tree).stdout
        for name in (torus, tree):
            self.assertRegex(several, rf"(?m)^{re.escape(name)} +linear ")

    def test_tables_are_ascii_where_the_locale_is(self):
        words = ["simulate", "--cluster", "torus:dims=4", "--job", "run", "--placement", "block,cyclic", "-o"]
        for more in (["out1"], ["out2", "--model", "flow"]):
            result = self.fathom(*words, *more, LANG="C", LC_ALL="C")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.isascii(), result.stdout)
            self.assertIn(" -> ", result.stdout)
        for more in (["--compare", "out1"], ["--cluster", "torus:dims=4", "--job", "run", "-o", "out3"]):
            self.assertTrue(self.fathom("simulate", *more, LANG="C", LC_ALL="C").stdout.isascii())
        placed = self.fathom("place", "run", "--cluster", "torus:dims=4", LANG="C", LC_ALL="C")
        self.assertTrue(placed.stdout.isascii(), placed.stdout)

    def test_equally_hot_links_are_counted(self):
        rows = [(a, b, 100, 1) for a in range(8) for b in range(8) if a != b]
        self.write_run("all", fixtures.profile(8, [fixtures.block("point-to-point", False, rows)], []))
        text = self.simulate(job="all", network="torus:dims=8").stdout
        shown = text[text.index("hot links"):].splitlines()[1:]
        self.assertEqual(len([line for line in shown if "→" in line]), 8)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            traffic = sorted((link["traffic"] for link in json.load(file)["runs"][0]["links"]), reverse=True)
        self.assertEqual(shown[-1], f"  and {traffic.count(traffic[7]) - traffic[:8].count(traffic[7])} more like the last")

    def test_the_best_combination_is_named(self):
        rows = [(0, 2, 1000, 1), (2, 0, 1000, 1), (1, 3, 40, 1)]
        self.write_run("pairs", fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], []))
        self.write_cluster(cluster(hosts=1, slots=2))
        text = self.simulate("--placement", "block,cyclic", job="pairs").stdout
        self.assertRegex(text, r"\nbest: cyclic: congestion of the worst link 0; worst: block: 104\n$")
        equal = self.simulate("--placement", "block", "--routing", "dmodk,minimal,smodk", job="pairs", network="torus:dims=4").stdout
        self.assertIn("all 3 are equally good: congestion of the worst link 83.2 ns", equal)
        self.assertNotIn("best", self.simulate(job="pairs").stdout)

    def test_results_of_two_simulations_are_compared(self):
        self.write_cluster(cluster(hosts=1, slots=2))
        for name, network in (("A", "torus:dims=4"), ("B", "torus:dims=4;capacity=25e9")):
            result = self.fathom("simulate", "--cluster", network, "--job", "run", "--placement", "block,cyclic,random",
                                 "--routing", "dmodk,greedy-max", "-o", name)
            self.assertEqual(result.returncode, 0, result.stderr)
        result = self.fathom("simulate", "--compare", "A", "B", "-o", "C")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("A: cluster torus:dims=4\nB: cluster torus:dims=4;capacity=25e9\n\n"
                                                 "run, model load: 6 combinations, judged by congestion of the worst link\n"))
        self.assertRegex(result.stdout, r"\n  combination +A +B +change +mean link +max/mean")
        with open(self.path("C", "comparison.json"), encoding="utf-8") as file:
            made = json.load(file)
        self.assertEqual(made, json.loads(self.fathom("simulate", "--compare", "A", "B", "--json").stdout))
        self.assertEqual((made["schema"], made["folders"]), ("fathom-simulation-comparison/1", [
            {"name": "A", "cluster": "torus:dims=4"}, {"name": "B", "cluster": "torus:dims=4;capacity=25e9"}]))
        self.assertFalse(any("cluster" in one for one in made["combinations"]))
        with open(self.path("B", "results.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        least = min((run["max_congestion"], run["mean_congestion"]) for run in runs)
        best = {(run["placement"], run["routing"]) for run in runs if (run["max_congestion"], run["mean_congestion"]) == least}
        self.assertEqual({(one["placement"], one["routing"]) for one in made["combinations"] if one["best"]}, best)
        self.assertLess(len(best), 6)
        for line in result.stdout.splitlines():  # what is marked on the screen
            if found := re.match(r"([* ]) (\w+), ([\w-]+) ", line):
                self.assertEqual(found[1] == "*", (found[2], found[3]) in best, line)
        for one in made["combinations"]:
            self.assertEqual(one["judged_by"], "max_congestion")
            self.assertAlmostEqual(one["runs"][1]["value"], one["runs"][0]["value"] / 2)  # twice the capacity
            self.assertEqual(one["runs"][1]["run"], 1 + [(run["placement"], run["routing"]) for run in runs].index(
                (one["placement"], one["routing"])))
        self.assertEqual(result.stdout.count("-50.0 %"), 6)
        self.assertRegex(result.stdout, r"\nbest: [^:]* in B")

    def test_what_only_one_folder_has_is_compared_too(self):
        for name, more in (("A", ["--placement", "block"]), ("B", ["--placement", "block,cyclic", "--routing", "dmodk,smodk"])):
            self.assertEqual(self.fathom("simulate", "--cluster", "c.graphml", "--job", "run", *more, "-o", name).returncode, 0)
        made = json.loads(self.fathom("simulate", "--compare", "A", "B", "--json").stdout)
        self.assertEqual([[run is None for run in one["runs"]] for one in made["combinations"]],
                         [[False, False], [True, False], [True, False], [True, False]])
        timed = self.fathom("simulate", "--cluster", "c.graphml", "--job", "run", "--model", "flow", "-o", "T")
        self.assertEqual(timed.returncode, 0, timed.stderr)
        one, = json.loads(self.fathom("simulate", "--compare", "T", "--json").stdout)["combinations"]
        self.assertEqual((one["judged_by"], one["best"]), ("seconds", False))  # of one, none is best

    def test_only_results_are_compared(self):
        self.runs()
        self.assert_refused(self.fathom("simulate", "--compare", "out", "gone"), 1, "gone: cannot be")
        self.assert_refused(self.fathom("simulate", "--compare", "run/profile.json"), 1, "is not the result of fathom simulate")
        self.assert_refused(self.fathom("simulate", "--compare", "out", "--seed", "3"), 2, "--compare", "leave out --seed")
        self.assertEqual(self.fathom("simulate", "--compare", "out", "-o", "C").returncode, 0)
        self.assert_refused(self.fathom("simulate", "--compare", "out", "-o", "C"), 2, "'C/comparison.json' already exists", "--force")
        self.assertEqual(self.fathom("simulate", "--compare", "out", "-o", "C", "--force").returncode, 0)

    def test_results_name_the_worst_links_and_the_spread(self):
        for options in ((), ("--host-links",), ("--model", "flow", "--host-links")):
            run, = self.runs(*options)
            loads = sorted(link["traffic"] / link["capacity"] for link in run["links"])
            self.assertAlmostEqual(run["imbalance"], loads[-1] / (sum(loads) / len(loads)))
            self.assertEqual(run["p95_congestion"], loads[-(-95 * len(loads) // 100) - 1])
            for name, link in (("worst_link", ("edge0", "core0", 10, 100)), ("worst_host_link", ("n00", "edge0", 10, 107))):
                self.assertEqual((*list(run[name].values())[:3], round(run[name]["traffic"], 9)), link)
        run, = self.runs_on("leafspine:leaves=2;spines=1;hosts=4")
        self.assertNotIn("worst_link", run)
        self.assertEqual(run["worst_host_link"]["source"], "n0")

    def test_every_combination_is_simulated_with_host_links(self):
        runs = self.runs("--placement", "block,cyclic", "--routing", "dmodk,greedy-max,greedy-sum",
                         "--host-links")
        self.assertEqual(len(runs), 6)
        self.assertEqual(len(runs[0]["links"]), 16)
        self.assertEqual(runs[0]["max_traffic"], 107)  # what n00 sends

    def test_links_fail_and_topologies_are_given_by_numbers(self):
        run, = self.runs("--failed-links", "edge0=core0")
        loads = {(link["source"], link["target"]): link["traffic"] for link in run["links"]}
        self.assertEqual(loads["edge0", "core1"], 140)
        self.assertNotIn(("core0", "edge0"), loads)
        result = self.simulate("--failed-share", "0.5", network="torus:dims=3,3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_refused(self.simulate("--failed-links", "edge0=edge1"), 1, "are not linked")
        self.assert_refused(self.simulate(network="ring:n=3"), 1, "there is no topology 'ring'")

    def test_tables_and_snapshots_are_written(self):
        self.runs("--table", "destination", "--graphml", "--routing", "dmodk,smodk")
        with open(self.path("out", "forwarding-1.csv"), encoding="utf-8") as file:
            self.assertIn("edge0,*,n10,core0,", file.read())
        with open(self.path("out", "links-2.graphml"), encoding="utf-8") as file:
            self.assertIn('<data key="traffic">100</data>', file.read())
        self.assert_refused(self.simulate("--table", "openflow", "--routing", "optimal"), 2, "splits")

    def test_a_network_without_load_between_switches_says_so(self):
        result = self.simulate(network="leafspine:leaves=2;spines=1;hosts=4")
        self.assertIn("run: no message crosses a link between switches; add --host-links", result.stderr)
        plotted = self.fathom("plot", "out", "-o", "plots", "--format", "svg")
        if "matplotlib" not in plotted.stderr:
            self.assertEqual(plotted.returncode, 0, plotted.stderr)
            with open(self.path("plots", "links-1.svg"), encoding="utf-8") as file:
                self.assertIn("no load: none of the 4 links", file.read())
        self.assertNotIn("no message", self.simulate("--host-links", network="leafspine:leaves=2;spines=1;hosts=4").stderr)
        self.assertNotIn("no message", self.simulate().stderr)

    def test_results_are_replaced_only_on_request_and_then_completely(self):
        words = ["simulate", "--cluster", "c.graphml", "--job", "run", "-o", "out"]
        four = self.fathom(*words, "--model", "flow", "--routing", "dmodk,smodk", "--placement", "block,cyclic")
        self.assertEqual(four.returncode, 0, four.stderr)
        with open(self.path("out", "mine.csv"), "w", encoding="utf-8") as file:
            file.write("kept")
        before = sorted(os.listdir(self.path("out")))
        self.assertIn("utilisation-4.csv", before)
        self.assert_refused(self.fathom(*words), 2, "'out' already holds results of a simulation", "--force")
        with open(self.path("s.yml"), "w", encoding="utf-8") as file:
            file.write(self.SCENARIO)
        self.assert_refused(self.fathom("simulate", "s.yml", "-o", "out"), 2, "'out' already holds results", "--force")
        self.assertEqual(sorted(os.listdir(self.path("out"))), before)
        self.assertEqual(self.fathom("simulate", "s.yml", "-o", "out", "--force").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["mine.csv", "results.json", "run-1", "run-2", "run-3", "run-4", "runs.csv"])
        self.assertEqual(self.fathom(*words, "--force").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["mine.csv", "results.json"])

    def test_the_shipped_scenario_is_the_documented_one_and_runs(self):
        docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
        path = os.path.join(docs, "examples", "scenario.yml")
        with open(path, encoding="utf-8") as file, open(os.path.join(docs, "scenarios.md"), encoding="utf-8") as page:
            self.assertIn("```yaml\n" + file.read() + "```\n", page.read())
        result = self.fathom("simulate", path, "-o", "sim")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("sim", "results.json"), encoding="utf-8") as file:
            self.assertEqual(self.fathom("simulate", path, "-o", "same", "--json").stdout, file.read())
        with open(self.path("sim", "results.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        self.assertEqual(len(runs), 6)
        self.assertTrue(all(any(link["traffic"] > 0 for link in run["links"]) for run in runs))
        # What the page says of it; an example in which nothing makes a difference shows nothing.
        chosen = {(run["scheduler"], run["routing"]): run for run in runs}
        fcfs, easy = chosen["fcfs", "dmodk"], chosen["easy", "dmodk"]
        self.assertAlmostEqual(easy["wait_s"]["mean"] / fcfs["wait_s"]["mean"], 0.75, 1)
        self.assertAlmostEqual(chosen["easy", "random"]["max_congestion"] / easy["max_congestion"], 1.6)

    def test_the_lower_bound_is_reported(self):
        run, = self.runs("--routing", "optimal")
        self.assertGreater(run["congestion_bound"], 0)
        self.assertGreaterEqual(run["max_congestion"] * 1.000001, run["congestion_bound"])

    def test_hosts_can_replace_a_selection(self):
        run, = self.runs("--hosts", "n10,n11,n00,n01")
        self.assertEqual(run["selection"], "hosts")
        loads = {(link["source"], link["target"]): link["traffic"] for link in run["links"]}
        self.assertEqual(loads["edge1", "core0"], 100)

    def test_wrong_usage_is_answered_with_the_choices(self):
        for arguments, sentence in (
                (["--routing", "shortest"], "there is no routing 'shortest'; there are dmodk"),
                (["--placement", "best"], "there is no placement 'best'; there are block"),
                (["--selection", "best"], "there is no selection 'best'; there are linear"),
                (["--model", "packet"], "there is no model 'packet'; there are load, flow, replay")):
            with self.subTest(arguments):
                self.assert_refused(self.simulate(*arguments), 2, sentence)
        self.assert_refused(self.fathom("simulate", "--job", "run", "-o", "out"), 2, "--cluster")
        self.assert_refused(self.fathom("simulate", "--cluster", "c.graphml", "-o", "out"), 2, "--job")
        self.assert_refused(self.fathom("simulate", "--cluster", "c.graphml", "--job", "run"), 2, "-o")

    def test_a_job_that_cannot_be_simulated_is_refused(self):
        for arguments, sentence in (
                ({"job": "nowhere"}, "nowhere: does not exist"),
                ({"network": "nowhere.graphml"}, "nowhere.graphml: cannot be read")):
            with self.subTest(arguments):
                self.assert_refused(self.simulate(**arguments), 1, sentence)
        for hosts, sentence in (
                ("n00,n99", "has no host 'n99'"), ("n00,n00", "host 'n00' is named twice"),
                ("n00", "the chosen hosts have 1 slots and the job has 4 processes")):
            with self.subTest(hosts):
                self.assert_refused(self.simulate("--hosts", hosts), 1, sentence)
        self.write_cluster(cluster(hosts=1))
        self.assert_refused(self.simulate(), 1, "have 2 slots and the job has 4 processes", "--slots N")
        self.write_cluster(cluster(cores=0))
        self.assert_refused(self.simulate(), 1, "there is no path from 'n10' to 'n00' in 'c.graphml'")
        self.assertFalse(os.path.exists(self.path("out", "results.json")))

    def test_flows_of_phases_are_simulated(self):
        # 100 bytes at 10 bytes/s from host 0 to 2; then 40 and 40 share the way up of edge0: two cores, one each.
        blocks = [dict(fixtures.block("point-to-point", False, rows), phase=phase) for phase, rows in
                  (("first", [(0, 2, 100, 1)]), ("second", [(0, 3, 40, 1), (1, 3, 40, 1)]))]
        self.write_run("phased", fixtures.profile(4, blocks, []))
        result = self.simulate("--model", "flow", job="phased")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        self.assertEqual([(p["phase"], p["bytes"]) for p in run["phases"]], [("first", 100), ("second", 80)])
        self.assertAlmostEqual(run["phases"][0]["end_s"], 10)
        self.assertAlmostEqual(run["seconds"], 18)  # both go to host 3, whose link has 10 bytes/s
        self.assertTrue(os.path.exists(self.path("out", "utilisation-1.csv")))

    def test_a_schedule_is_replayed(self):
        with open(self.path("two.goal"), "w", encoding="utf-8") as file:
            file.write("num_ranks 2\nrank 0 {\nl1: calc 1000000000\nl2: send 100b to 1 tag 1\nl2 requires l1\n}\n"
                       "rank 1 {\nl1: recv 100b from 0 tag 1\nl2: calc 500000000\nl2 requires l1\n}\n")
        result = self.simulate("--model", "replay", "--hosts", "n00,n10", "--loggops", "L=0,o=0,g=0,G=0", "--snapshots", "500ms,6",
                               "--graphml", job="two.goal")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name, carried in (("links-1-at-0.5", 0), ("links-1-at-6", 50), ("links-1", 100)):  # sent from 1 s to 11 s
            with open(self.path("out", name + ".graphml"), encoding="utf-8") as file:
                traffic = [float(value) for value in re.findall(r'<data key="traffic">([^<]*)<', file.read())]
            self.assertAlmostEqual(max(traffic), carried, delta=2)  # times within an interval are not distinguished
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        self.assertAlmostEqual(run["seconds"], 1 + 10 + 0.5)
        self.assertAlmostEqual(run["ranks"][1]["wait_s"], 11)
        with open(self.path("out", "waiting-1.csv"), encoding="utf-8", newline="") as file:
            waiting = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        self.assertAlmostEqual(sum((one["to_s"] - one["from_s"]) * one["waiting_ranks"] for one in waiting), 11)
        self.assertAlmostEqual(waiting[-1]["to_s"], 11.5)
        plotted = self.fathom("plot", "out", "-o", "plots", "--format", "svg")
        if "matplotlib" not in plotted.stderr:
            self.assertEqual(plotted.returncode, 0, plotted.stderr)
            with open(self.path("plots", "utilisation-1.svg"), encoding="utf-8") as file:
                picture = file.read()
            self.assertIn("ranks that wait", picture)
            self.assertIn("two.goal on c.graphml: links over time", picture)
            with open(self.path("plots", "network-links-1-at-0.5.svg"), encoding="utf-8") as file:
                self.assertIn("two.goal on c.graphml: load of the network at 500 ms", file.read())
        self.assert_refused(self.simulate("--model", "replay", "--loggops", "Q=1", job="two.goal"), 2, "'Q=1' is not a LogGOPS")
        self.assert_refused(self.simulate("--model", "replay"), 1, "trace")
        self.assert_refused(self.simulate("--snapshots", "1"), 2, "--snapshots needs --model flow or replay")

    def test_a_trace_is_replayed(self):
        generate = os.environ.get("FATHOM_TRACE_GENERATE")
        if not generate:
            self.skipTest("FATHOM_TRACE_GENERATE is not set")
        subprocess.run([generate, self.path("traced"), "--ranks", "4", "--events", "4000"], check=True, capture_output=True)
        def replayed(job):
            result = self.simulate("--model", "replay", job=job, network="leafspine:leaves=2;spines=1;hosts=4")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("out", "results.json"), encoding="utf-8") as file:
                run, = json.load(file)["runs"]
            return run["messages"], run["seconds"]
        once = replayed("traced")
        self.assertGreater(once[0], 0)
        # The same through GOAL, where an empty message has a byte.
        self.assertEqual(self.fathom("export", "traced", "--format", "goal", "-o", "t.goal").returncode, 0)
        through_goal = replayed("t.goal")
        self.assertEqual(once[0], through_goal[0])
        self.assertAlmostEqual(once[1] / through_goal[1], 1, places=3)

    def test_a_trace_without_a_profile_is_a_job(self):
        generate = os.environ.get("FATHOM_TRACE_GENERATE")
        if not generate:
            self.skipTest("FATHOM_TRACE_GENERATE is not set")
        network = "leafspine:leaves=2;spines=1;hosts=4"
        for name in ("own", "t1", "t2", "t3", "t4", "t5", "t6"):
            subprocess.run([generate, self.path(name), "--ranks", "4", "--events", "4000"], check=True, capture_output=True)
            if name != "own":
                os.remove(self.path(name, "profile.json"))
        self.assert_refused(self.fathom("trace", "check", "t1"), 1, "no profile of its own")
        with open(self.path("s.yml"), "w", encoding="utf-8") as file:
            file.write(f"cluster: {network}\njobs: [{{profile: t1, duration: 1}}]\n")
        self.assert_refused(self.fathom("simulate", "s.yml", "-o", "scenario"), 1, "fathom report", "makes it from the trace")
        os.symlink("1", self.path("t6", ".started"))  # a job writes it, or was killed
        self.assert_refused(self.fathom("report", "t6"), 1, "the trace of a job that may still run")
        self.assertFalse(os.path.exists(self.path("t6", "profile.json")))
        totals = {}
        for name in ("own", "t1"):
            result = self.fathom("report", name, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            totals[name] = json.loads(result.stdout)["total"]
        self.assertEqual(totals["own"], totals["t1"])
        page = self.fathom("report", "t1").stdout
        self.assertIn("made from the trace", page)
        self.assertRegex(page, f"counted once: {totals['own']['messages']:,} messages .* by receivers")
        self.assert_refused(self.fathom("trace", "check", "t1"), 1, "no profile of its own")
        for words in (["export", "t2", "--format", "csv", "-o", "t2.csv"], ["simulate", "--cluster", network, "--job", "t3", "-o", "out"],
                      ["place", "t4", "--cluster", network], ["plot", "t5", "-o", "plots"]):
            with self.subTest(words[0]):
                result = self.fathom(*words)
                if "matplotlib" not in result.stderr:
                    self.assertEqual(result.returncode, 0, result.stderr)
        if os.path.exists(self.path("plots")):
            self.assertTrue(os.path.exists(self.path("plots", "traffic.png")))

    def scenario(self, text, *more, **variables):
        with open(self.path("s.yml"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.fathom("simulate", "s.yml", "-o", "out", "--force", *more, **variables)

    SCENARIO = """
cluster: c.graphml
scheduler: [fcfs, easy]
routing: [dmodk, greedy-max]
seed: 7
duration: 50
snapshots: [6]
jobs:
  - profile: run
    submit: {distribution: exponential, mean: 4}
    duration: 5
  - {pattern: {kind: ring, ranks: 2, bytes: 1000}, at: 3, duration: 8}
"""

    def test_a_scenario_runs_its_jobs(self):
        result = self.scenario(self.SCENARIO)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        self.assertEqual([(run["scheduler"], run["routing"]) for run in runs],
                         [("fcfs", "dmodk"), ("fcfs", "greedy-max"), ("easy", "dmodk"), ("easy", "greedy-max")])
        self.assertEqual({run["seed"] for run in runs}, {7})
        self.assertEqual(runs[3]["varied"], {"scheduler": "easy", "routing": "greedy-max"})
        for job in runs[0]["jobs"]:
            if job["end_s"] is not None:
                self.assertAlmostEqual(job["wait_s"], job["start_s"] - job["submit_s"])
                self.assertAlmostEqual(job["response_s"], job["end_s"] - job["submit_s"])
        for number in range(1, 5):
            for name in ("jobs.csv", "timeline.csv", "links.csv", "report.txt", "links-at-6.graphml"):
                self.assertTrue(os.path.exists(self.path("out", f"run-{number}", name)), (number, name))
        with open(self.path("out", "runs.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 5)
        self.assertRegex(result.stdout, r"^cluster c.graphml · selection linear · placement block · seed 7\n\n"
                                        r" run +scheduler +routing +ended +wait +slow-down +worst link +highest\n")
        self.assertEqual(len(re.findall(r"(?m)^[ *] +[1-4]  (?:fcfs|easy) ", result.stdout)), 4)
        self.assertIn("\n*", result.stdout)
        self.assertRegex(result.stdout, r"\n(best: |all 4 are equally good: )")

    def test_a_scenario_gives_the_same_results_however_the_work_is_shared(self):
        def results(*more, **variables):
            result = self.scenario(self.SCENARIO, *more, **variables)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("out", "results.json"), encoding="utf-8") as file:
                return file.read()
        once = results("--threads", "1")
        self.assertEqual(once, results("--threads", "4"))
        other = {"PMIX_RANK": "1", "PMIX_SIZE": "2", "PMIX_NAMESPACE": "j7"}
        self.assertEqual(self.scenario(self.SCENARIO, **other).stdout, "")
        self.assertTrue(os.path.exists(self.path("out", ".part-j7-1")))
        self.assertEqual(once, results(**{**other, "PMIX_RANK": "0"}))
        self.assertFalse(os.path.exists(self.path("out", ".part-j7-1")))

    def test_one_run_is_reported_on_one_screen(self):
        result = self.scenario(self.SCENARIO.replace("[fcfs, easy]", "easy").replace("[dmodk, greedy-max]", "dmodk"))
        self.assertLess(len(result.stdout.splitlines()), 45)
        for part in ("bounded slow-down", "bisection", "hot links", "seed 7"):
            self.assertIn(part, result.stdout)
        self.assertRegex(result.stdout, r"\n  wait +(0|[0-9.]+) (s|ms) +(0|[0-9.]+) (s|ms)\n  response +[0-9.]+ s ")

    def test_plots_are_drawn(self):
        self.assertEqual(self.scenario(self.SCENARIO).returncode, 0)
        result = self.fathom("plot", "out", "-o", "plots", "--format", "svg")
        if "matplotlib" in result.stderr:
            self.skipTest("python3-matplotlib is not installed")
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = ["combinations.svg"] + [f"links-{n}.svg" for n in range(1, 5)] + [f"network-run-{n}-links-at-6.svg" for n in range(1, 5)]
        self.assertEqual(sorted(os.listdir(self.path("plots"))), expected)
        with open(self.path("plots", "network-run-1-links-at-6.svg"), encoding="utf-8") as file:
            self.assertIn("edge1", file.read())

    OVERLAPS = """
import sys
sys.path.insert(0, sys.argv[1])
from plots import network
for path in sys.argv[2:]:
    picture = network.draw_network(path)
    names = [text for text in picture.axes[0].texts if text.get_gid() == "name"]
    boxes = [text.get_window_extent(picture.canvas.get_renderer()) for text in names]
    covered = [(one.get_text(), other.get_text()) for a, one in enumerate(names) for b, other in enumerate(names[:a])
               if boxes[a].overlaps(boxes[b])]
    switches = [text.get_text() for text in names if text.get_text().startswith("s")]
    print(len(switches), covered)
"""

    def test_names_in_pictures_of_networks_do_not_overlap(self):
        snapshots = []
        for number, (network, switches) in enumerate((("torus:dims=4,4", 16), ("torus:dims=3,4,3", 36), ("mesh:dims=2,2,2,2", 16),
                                                      ("hyperx:dims=4,4;hosts=3", 16), ("dragonfly:switches=4;globals=2;hosts=2", 36),
                                                      ("xgft:m=4,4;w=1,2", 6), ("slimfly:q=5", 50), ("torus:dims=12,20", 240))):
            result = self.fathom("simulate", "--cluster", network, "--job", "run", "--graphml", "-o", f"out{number}")
            self.assertEqual(result.returncode, 0, result.stderr)
            snapshots.append((self.path(f"out{number}", "links-1.graphml"), switches))
        drawings = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "fathom")
        drawn = subprocess.run(["/usr/bin/python3", "-c", self.OVERLAPS, drawings, *(path for path, _ in snapshots)],
                               capture_output=True, text=True, check=False)
        if "No module named" in drawn.stderr:
            self.skipTest("python3-matplotlib is not installed")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(drawn.stdout.splitlines(), [f"{switches} []" for _, switches in snapshots])

    def test_wrong_scenarios_are_refused(self):
        for text, sentence in ((self.SCENARIO.replace("seed: 7", "sed: 7"), "s.yml:5:1: there is no key 'sed'"),
                               (self.SCENARIO.replace("easy]", "sjf]"), "s.yml:3:19: there is no scheduler 'sjf'"),
                               (self.SCENARIO.replace("profile: run", "profile: gone"), "s.yml:9:5: "),
                               (self.SCENARIO.replace("profile: run", "profile: gone"), "gone: does not exist"),
                               (self.SCENARIO.replace("ranks: 2,", "ranks: 99,"), "has 99 processes; cluster"),
                               ("a: [", "s.yml:")):
            with self.subTest(sentence):
                self.assert_refused(self.scenario(text), 1, sentence)
        self.assert_refused(self.scenario(self.SCENARIO, "--job", "run"), 2, "a scenario sets its clusters, jobs", "leave out --job")

    def test_no_option_is_ignored_silently(self):
        for words in (["--seed", "3"], ["--routing", "dmodk"], ["--model", "flow"], ["--host-links"], ["--slots", "2"], ["--rankfile", "r"]):
            with self.subTest(words):
                self.assert_refused(self.scenario(self.SCENARIO, *words), 2, f"leave out {words[0]}, and set it in s.yml")
        self.assert_refused(self.simulate("--loggops", "L=1"), 2, "--loggops needs --model replay")
        for words in (["--placement", "cyclic"], ["--hosts", "n00"], ["--selection", "random"]):
            with self.subTest(words):
                self.assert_refused(self.simulate("--rankfile", "ranks", *words), 2, "--rankfile", words[0])

    def test_every_model_writes_its_tables(self):
        tables = []
        for model in ("load", "flow"):
            self.runs("--model", model, "--table", "flow")
            with open(self.path("out", "forwarding-1.csv"), encoding="utf-8") as file:
                tables.append(file.read())
        self.assertEqual(tables[0], tables[1])

    def test_a_topology_by_numbers_has_slots_and_capacity(self):
        run, = self.runs_on("torus:dims=2,1", "--slots", "2", "--capacity", "50", "--placement", "cyclic")
        self.assertEqual(run["links"][0]["capacity"], 50)
        result = self.simulate("--slots", "2", network="torus:dims=2,1;slots=1")
        self.assert_refused(result, 1, "have 2 slots and the job has 4 processes")

    def test_the_table_of_runs_shows_what_varies(self):
        result = self.scenario(self.SCENARIO.replace("seed: 7", "model: [load, flow]").replace("greedy-max]", "dmodk]"))
        lines = [line for line in result.stdout.splitlines() if re.match(r"[ *] +[1-8]  ", line)]
        self.assertEqual(len(lines), 8)
        self.assertEqual(len(set(re.sub(r"^[ *] +[1-8]", "", line) for line in lines)), 4)  # routing says dmodk twice
        self.assertEqual(sum("model=flow" in line for line in lines), 4)

    def test_a_rankfile_places_the_ranks(self):
        def write(text):
            with open(self.path("ranks"), "w", encoding="utf-8") as file:
                file.write(text)
        write("rank 1=n01 slot=0\nrank 0=n10 slot=0\nrank 2=n00 slot=0\nrank 3=n11 slot=0\n")
        run, = self.runs("--rankfile", "ranks")
        self.assertEqual((run["selection"], run["placement"]), ("file", "rankfile:ranks"))
        loads = {(link["source"], link["target"]): link["traffic"] for link in run["links"]}
        self.assertEqual(loads["edge1", "core0"], 100)  # rank 0 on n10 to rank 2 on n00, even
        write("n10,n01,n00,n11\n")
        self.assertEqual(run["links"], self.runs("--rankfile", "ranks")[0]["links"])
        for text, sentence in (("n10,n01", "for 2 ranks, but the job has 4"), ("n10,n10,n00,n11", "'n10' has 1 slots, but more"),
                               ("rank 0=n10\nrank 2=n00\n", "rank 1 is missing"), ("n10,n99,n00,n11", "no host 'n99'"),
                               ("rank 0=+n0 slot=0\n", "no host '+n0'; hosts must be named, not numbered"),
                               ("rank 0=n10\nrank 0=n00\n", "rank 0 is given twice")):
            with self.subTest(text):
                write(text)
                self.assert_refused(self.simulate("--rankfile", "ranks"), 1, sentence)

    def test_a_rankfile_is_one_placement_among_others(self):
        with open(self.path("ranks"), "w", encoding="utf-8") as file:
            file.write("n10,n01,n00,n11\n")
        runs = self.runs("--placement", "block,rankfile:ranks", "--selection", "linear,random")
        self.assertEqual([(run["selection"], run["placement"]) for run in runs],
                         [("linear", "block"), ("file", "rankfile:ranks"), ("random", "block")])
        self.assertEqual(runs[1]["links"], self.runs("--rankfile", "ranks")[0]["links"])
        self.assertNotEqual(runs[0]["links"], runs[1]["links"])
        self.assert_refused(self.simulate("--placement", "rankfile:"), 2, "there is no placement 'rankfile:'; there are block")
        self.assertIn("rankfile:FILE", self.fathom("simulate", "--list").stdout)

    PLACED = """
cluster: c.graphml
placement: [block, {rankfile: ranks}]
model: flow
jobs:
  - {profile: run}
  - {pattern: {kind: ring, ranks: 2, bytes: 100}, at: 1, placement: block}
"""

    def test_a_rankfile_places_the_ranks_in_a_scenario(self):
        with open(self.path("ranks"), "w", encoding="utf-8") as file:
            file.write("rank 1=n01 slot=0\nrank 0=n10 slot=0\nrank 2=n00 slot=0\nrank 3=n11 slot=0\n")
        result = self.scenario(self.PLACED)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        self.assertEqual([run["placement"] for run in runs], ["block", "rankfile:ranks"])
        self.assertEqual([job["placement"] for job in runs[1]["jobs"]], ["rankfile:ranks", "block"])
        self.assertGreater(runs[1]["jobs"][1]["wait_s"], 0)  # the cluster is full
        alone, = self.runs("--rankfile", "ranks", "--model", "flow")
        self.assertAlmostEqual(runs[1]["jobs"][0]["end_s"], alone["seconds"])
        with open(self.path("out", "..", "ranks"), "w", encoding="utf-8") as file:
            file.write("n10,n01\n")
        self.assert_refused(self.scenario(self.PLACED), 1, "ranks: is for 2 ranks; job 'run' has 4")
        self.assert_refused(self.scenario(self.PLACED.replace("ranks}]", "gone}]")), 1, "gone: cannot be read")
        with open(self.path("ranks"), "w", encoding="utf-8") as file:
            file.write("n10,n01,n00,n99\n")
        self.assert_refused(self.scenario(self.PLACED), 1, "no host 'n99'")

    def test_place_finds_a_better_placement(self):
        # Ranks 0, 2 and 1, 3 talk; block placement on two hosts of two slots tears both pairs apart.
        self.write_cluster(cluster(hosts=1, slots=2))
        rows = [(0, 2, 100, 1), (2, 0, 100, 1), (1, 3, 40, 1)]
        self.write_run("run", fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], []))
        result = self.fathom("place", "run", "--cluster", "c.graphml", "--format", "rankfile", "-o", "ranks.txt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n +before +after +change +lower bound\nplacement +present +\w+\nrouting +dmodk +dmodk +any\n"
                                        r"congestion +14 +0 +-100.0 % +0\n")
        self.assertRegex(result.stdout, r"\nhost-bytes +240 B +0 B +-100.0 % +0 B\n")
        self.assertIn("\nworst link before: edge0 → core1; after: none\n2 of 4 ranks run on another host afterwards\n", result.stdout)
        self.assertIn("no placement on these hosts can do better", result.stdout)
        with open(self.path("ranks.txt"), encoding="utf-8") as file:
            hosts = [line.split("=")[1].split()[0] for line in file]
        self.assertEqual((hosts[0], hosts[1]), (hosts[2], hosts[3]))
        self.assertNotEqual(hosts[0], hosts[1])
        self.assertIn("the placement is in ranks.txt: start the job with mpirun --rankfile ranks.txt", result.stderr)
        self.assertNotIn("made up", result.stderr)
        self.assert_refused(self.fathom("place", "run", "--cluster", "c.graphml", "--format", "rankfile", "-o", "ranks.txt"), 2,
                            "'ranks.txt' already exists", "--force")
        result = self.fathom("place", "run", "--cluster", "torus:dims=2,2", "--format", "host", "-o", "ranks.txt", "--force")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the hosts of 'torus:dims=2,2' are made up", result.stderr)
        for arguments, sentence in ((["--objective", "speed"], "there is no objective 'speed'; there are congestion"),
                                    (["--format", "pbs", "-o", "x"], "there is no format 'pbs'; there are rankfile"),
                                    (["--format", "rankfile"], "give both --format FORMAT and -o FILE"),
                                    (["--routing", "optimal"], "splits flows")):
            with self.subTest(arguments):
                self.assert_refused(self.fathom("place", "run", "--cluster", "c.graphml", *arguments), 2, sentence)

    def test_list_names_the_choices(self):
        listed = self.fathom("simulate", "--list").stdout
        for name in ("linear", "cyclic", "greedy-max"):
            self.assertIn(name, listed)


if __name__ == "__main__":
    harness.main()
