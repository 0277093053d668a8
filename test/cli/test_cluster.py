# SPDX-License-Identifier: BSD-3-Clause
"""fathom cluster: what it shows, what it writes, and each refusal with its sentence."""
import collections
import json
import os

import fixtures
import harness

TREE = "xgft:m=2,3;w=1,2;capacity=1e9;latency=1e-6;taper=2"
DETOUR = """<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
<link id="ab" bandwidth="10MBps" latency="1us"/><link id="bc" bandwidth="20MBps" latency="1us"/>
<link id="slow" bandwidth="1MBps" latency="1us"/>
<route src="a" dst="b"><link_ctn id="ab"/></route><route src="b" dst="c"><link_ctn id="bc"/></route>
<route src="a" dst="c"><link_ctn id="ab"/><link_ctn id="slow"/><link_ctn id="bc"/></route>
</zone></platform>"""


class Cluster(harness.CliTest):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def loads(self, cluster, *more):
        """{(source, target): traffic} of a run of four processes that all send to each other."""
        rows = [(a, b, 1000 * a + b + 1, 1) for a in range(4) for b in range(4) if a != b]
        self.write_run("run", fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], []))
        result = self.fathom("simulate", "--cluster", cluster, "--job", "run", "--host-links", *more,
                             "-o", "out", "--force")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        return run["routing"], {(link["source"], link["target"]): link["traffic"] for link in run["links"]
                                if link["traffic"] > 0}

    def test_a_cluster_is_shown_and_as_json(self):
        shown = self.fathom("cluster", TREE)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for line in ("hosts     6 with 6 slots", "switches  5",
                     "links     24, one for each direction: 12 between switches, 12 of hosts",
                     "routes    not given"):
            self.assertIn(line, shown.stdout)
        made = json.loads(self.fathom("cluster", TREE, "--json").stdout)
        self.assertEqual((made["schema"], made["hosts"], made["slots"], made["switches"], made["links"],
                          made["links_between_switches"], made["routes_given"]),
                         ("fathom-cluster/1", 6, 6, 5, 24, 12, False))

    def test_each_format_gives_the_same_simulation_when_it_is_read_again(self):
        _, loads = self.loads(TREE, "--routing", "dmodk")
        self.assertEqual(len(loads), 16)  # 8 of hosts, 8 between switches
        for form, name in (("graphml", "c.graphml"), ("simgrid", "c.xml")):
            written = self.fathom("cluster", TREE, "--format", form, "-o", name)
            self.assertEqual(written.returncode, 0, written.stderr)
            self.assertEqual(self.loads(name, "--routing", "dmodk"), ("dmodk", loads), form)

    def test_a_written_routing_is_the_default_of_the_platform(self):
        for routing in ("dmodk", "smodk"):
            _, loads = self.loads(TREE, "--routing", routing)
            written = self.fathom("cluster", TREE, "--routing", routing, "--format", "simgrid", "-o", "r.xml", "--force")
            self.assertEqual(written.returncode, 0, written.stderr)
            name, again = self.loads("r.xml")
            self.assertEqual(name, "given")
            # What joins media there are links too, so the loads are among those of the platform.
            self.assertEqual(collections.Counter(loads.values()) - collections.Counter(again.values()),
                             collections.Counter(), routing)

    def test_prescribed_routes_are_used_and_written(self):
        self.write("detour.xml", DETOUR)
        more = ("--hosts", "a,b,c", "--slots", "2", "--placement", "cyclic")
        name, loads = self.loads("detour.xml", *more)
        self.assertEqual(name, "given")
        self.assertIn(("slow.in", "slow.out"), loads)
        self.assertEqual(self.loads("detour.xml", "--routing", "given", *more), (name, loads))
        self.assertIn("given by the file", self.fathom("cluster", "detour.xml").stdout)
        written = self.fathom("cluster", "detour.xml", "--slots", "2", "--format", "simgrid", "-o", "again.xml")
        self.assertEqual(written.returncode, 0, written.stderr)
        again = self.loads("again.xml", *more)[1]
        self.assertEqual(sorted(loads.values()), sorted(again.values()))

    def test_a_scenario_without_a_routing_takes_the_prescribed_routes(self):
        self.write("detour.xml", DETOUR)
        for cluster, routing in (("detour.xml", "given"), ("torus:dims=2,2", "dmodk")):
            self.write("s.yml", f"cluster: '{cluster}'\nslots: 2\njobs:\n  - pattern: {{kind: ring, ranks: 4, bytes: 9}}\n"
                                "    duration: 1\n")
            result = self.fathom("simulate", "s.yml", "-o", "out", "--force", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["runs"][0]["routing"], routing)

    def test_each_refusal_has_its_sentence(self):
        self.write("nothing", "anything\n")
        self.write("there.xml", "")
        refused = [(2, [], "name a cluster"), (2, [TREE, "-o", "c.xml"], "give both --format FORMAT and -o FILE"),
                   (2, [TREE, "--format", "dot", "-o", "c"], "there is no format 'dot'; there are graphml, simgrid"),
                   (2, [TREE, "--format", "graphml", "-o", "c", "--routing", "dmodk"], "--routing needs --format simgrid"),
                   (2, [TREE, "--format", "simgrid", "-o", "c", "--routing", "best"], "there is no routing 'best'"),
                   (2, [TREE, "--format", "simgrid", "-o", "there.xml"], "already exists"),
                   (1, [TREE, "--format", "simgrid", "-o", "c", "--routing", "optimal"], "splits flows"),
                   (1, [TREE, "--format", "simgrid", "-o", "c", "--routing", "given"], "prescribes no routes"),
                   (1, ["leafspine:leaves=100;spines=1;hosts=100", "--format", "simgrid", "-o", "c", "--routing", "dmodk"],
                    "has 10000 hosts; the routes between more than 8192 are too many"),
                   (1, ["nothing"], "is not a description of a cluster; GraphML, SimGrid platforms, Slurm's")]
        for code, words, sentence in refused:
            with self.subTest(words=words):
                self.assert_refused(self.fathom("cluster", *words), code, sentence)
        self.assertFalse(os.path.exists(self.path("c")))


if __name__ == "__main__":
    harness.main()
