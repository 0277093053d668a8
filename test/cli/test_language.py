# SPDX-License-Identifier: BSD-3-Clause
"""The command line is one language: the same words mean, and are parsed, the same in every subcommand."""
import json
import os
import re
import subprocess

import fixtures
import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
CLUSTER = "torus:dims=2,2"


class LanguageTest(harness.CliTest):
    def generate(self, name="r", *options):
        subprocess.run([GENERATE, self.path(name), "--ranks", "4", "--events", "4000", *options], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        return name

    def printed(self, *words):
        result = self.fathom(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def events(self, *words):
        return [json.loads(line) for line in self.printed("trace", "print", "--json", *words).splitlines()]

    def help(self, *words):
        return self.printed(*words, "--help")

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return file.read()


class OldSpellings(LanguageTest):
    """What README, docs and the manual once showed goes on working, and is shown no more."""

    def test_old_options_of_a_format_still_work(self):
        self.write_run("p")
        for option in ("--to", "--format"):
            self.printed("export", "p", option, "pfprof", "-o", "pf" + option)
            self.printed("export", "p", option, "csv", "-o", option + ".csv")
            for source in ("--from", "--format"):
                self.printed("import", "pf" + option, source, "pfprof", "-o", "again" + option + source)
            self.printed("place", "p", "--cluster", CLUSTER, option, "host", "-o", "hosts" + option)
        self.assertEqual(self.read("--to.csv"), self.read("--format.csv"))
        self.assertEqual(self.read("hosts--to"), self.read("hosts--format"))
        for name, old in (("export", "--to"), ("import", "--from"), ("place", "--to")):
            self.assertNotRegex(self.help(name), old + r"\b")

    def test_old_options_that_choose_events_still_work(self):
        self.generate()
        for old, new, value in (("--function", "--functions", "MPI_Isend"), ("--kind", "--kinds", "messages"),
                                ("--communicator", "--communicators", "0")):
            chosen = self.events("r", old, value)
            self.assertTrue(chosen)
            self.assertEqual(chosen, self.events("r", new, value))
            self.assertNotRegex(self.help("trace", "print"), old + r"\b(?!s)")
        self.assertEqual(self.events("r", "--function", "MPI_Isend", "--function", "MPI_Irecv"),
                         self.events("r", "--functions", "MPI_Isend,MPI_Irecv"))
        self.assertEqual(self.printed("trace", "info", "r", "--ranks"), self.printed("trace", "info", "r", "--processes"))

    def test_old_options_of_analyze_still_work(self):
        self.write_run("p", fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 20, 2)], phase="solve")], []))
        old = self.printed("analyze", "p", "--only", "structure", "--only", "matrices", "--phase", "solve", "--json")
        new = self.printed("analyze", "p", "--only", "structure,matrices", "--phases", "solve", "--json")
        self.assertEqual(old, new)
        self.assertNotRegex(self.help("analyze"), r"--phase\b(?!s)")

    def test_old_options_of_run_still_work(self):
        self.assertNotRegex(self.help("run"), r"--pvar\b(?!s)")
        result = self.fathom("run", "--pvar", "a", "--pvar", "b")
        self.assert_refused(result, 2, "name the job to run")  # not: there is no option


class Values(LanguageTest):
    def test_a_time_is_written_the_same_way_everywhere(self):
        self.generate()
        whole = self.events("r", "--from", "500us", "--to", "1ms")
        self.assertTrue(whole)
        for begin, end in (("0.5ms", "1000us"), ("500000ns", "0.001"), ("0.0005s", "0.001s")):
            self.assertEqual(self.events("r", "--from", begin, "--to", end), whole)
        texts = [self.help(*words) for words in (("trace", "print"), ("trace", "slice"), ("trace", "filter"), ("analyze",), ("plot",))]
        for text in texts:
            self.assertRegex(text, r"\n  --from TIME +start of the window: 1\.5s, 443ms, 200us")
            self.assertRegex(text, r"\n  --to TIME +end of the window, not included")
        sentence = "'1h' is not a time; write 1.5s, 443ms, 200us or 7ns"
        for words in (("trace", "print", "r", "--from", "1h"), ("trace", "slice", "r", "-o", "x", "--to", "1h"),
                      ("analyze", "r", "--from", "1h"), ("plot", "r", "-o", "x", "--to", "1h"),
                      ("run", "--after", "1h", "./app"), ("run", "--for", "1h", "./app"),
                      ("simulate", "--cluster", CLUSTER, "--job", "r", "-o", "x", "--snapshots", "1h")):
            self.assert_refused(self.fathom(*words), 2, sentence)
        for words in (("trace", "print", "r"), ("trace", "slice", "r", "-o", "x"), ("analyze", "r"), ("plot", "r", "-o", "x")):
            self.assert_refused(self.fathom(*words, "--from", "2ms", "--to", "1ms"), 2, "--from must be before --to")

    def test_ranks_are_written_the_same_way_everywhere(self):
        self.generate()
        for words in (("trace", "print", "r"), ("trace", "filter", "r", "-o", "x"), ("analyze", "r"), ("run", "./app")):
            name, *rest = words
            for bad in ("3-1", "x", "1,,2", "-1"):
                at = 2 if name == "trace" else 1
                result = self.fathom(*words[:at], "--ranks", bad, *words[at:])
                self.assert_refused(result, 2, f"--ranks: '{bad}' is not a list of ranks; write 0-3,7")
        self.assertEqual(self.events("r", "--ranks", "0-1,3"), self.events("r", "--ranks", "3,1", "--ranks", "0"))

    def test_names_are_patterns(self):
        self.generate()
        called = lambda *words: {event["function"] for event in self.events("r", "--kinds", "calls", *words)}  # noqa: E731
        everything = called()
        self.assertEqual(called("--functions", "MPI_I*"), {name for name in everything if name.startswith("MPI_I")})
        self.assertEqual(called("--functions", "MPI_I*,-MPI_Irecv"), called("--functions", "MPI_I*") - {"MPI_Irecv"})
        self.assertEqual(called("--functions", "-MPI_I*"), everything - called("--functions", "MPI_I*"))
        self.assert_refused(self.fathom("trace", "print", "r", "--functions", "MPI_Isent"), 2,
                            "the trace has no function 'MPI_Isent'; did you mean MPI_Isend?")
        self.assert_refused(self.fathom("trace", "print", "r", "--functions", "-MPI*"), 2, "leave no function")
        self.assertEqual(self.events("r", "--communicators", "MPI_COMM_WORLD"), self.events("r", "--communicators", "0"))
        self.assert_refused(self.fathom("run", "--communicators", "0", "./app"), 2, "by name or constructor")

    def test_phases_of_a_trace_can_be_chosen(self):
        self.generate("r", "--suffix", "-all")
        everything = self.events("r")
        inside, depth = [], {}
        for event in everything:
            rank = event["rank"]
            depth[rank] = depth.get(rank, 0) + (event["kind"] == "phase-begin")
            if depth[rank]:
                inside.append(event)
            depth[rank] -= event["kind"] == "phase-end"
        self.assertTrue(0 < len(inside) < len(everything))
        for pattern in ("solve-all", "solve*", "solve*,-write"):
            self.assertEqual(self.events("r", "--phases", pattern), inside)
        self.assertEqual(self.events("r", "--phases", "-solve*"), [event for event in everything if event not in inside])
        middle = inside[len(inside) // 2]["time_ns"]  # the phase began before the window
        sent = [event for event in inside if event["kind"] == "sent" and event["time_ns"] >= middle]
        self.assertTrue(sent)
        found = self.events("r", "--phases", "solve-all", "--kinds", "messages", "--from", f"{middle}ns")
        self.assertEqual([event for event in found if event["kind"] == "sent"], sent)
        self.assert_refused(self.fathom("trace", "print", "r", "--phases", "nowhere"), 2, "no phase 'nowhere'")

    def test_phases_of_a_profile_can_be_chosen(self):
        blocks = [fixtures.block("point-to-point", False, [(0, 1, 10 ** at, 1)], phase=phase)
                  for at, phase in enumerate(("", "solve", "solve-more", "write"))]
        self.write_run("p", fixtures.profile(2, blocks, []))
        def phases(*words):
            tables = json.loads(self.printed("analyze", "p", "--only", "matrices", "--json", *words))
            return set(tables["analyses"]["matrices"]["pairs"]["phase"]), tables["scope"]
        self.assertEqual(phases("--phases", "solve,write"), ({"solve", "write"}, {"phases": ["solve", "write"]}))
        self.assertEqual(phases("--phases", "solve*"), ({"solve", "solve-more"}, {"phase": "solve*"}))
        self.assertEqual(phases("--phases", "-write")[0], {"", "solve", "solve-more"})
        self.assertEqual(phases("--phases", "")[0], {""})
        self.assert_refused(self.fathom("analyze", "p", "--phases", "solve,reed"), 1, "no phase 'reed'")

    def test_results_of_a_part_say_what_was_chosen(self):
        self.generate()
        self.printed("trace", "filter", "r", "--from", "0.5ms", "--ranks", "1,0", "--kinds", "calls,messages", "-o", "f")
        chosen = re.findall(r"\nchosen +(.*)", self.printed("trace", "info", "f"))
        self.assertEqual(chosen, ["from 500us", "ranks 0-1", "kinds calls,messages"])


class Formats(LanguageTest):
    def test_the_ending_of_the_output_chooses_the_format(self):
        self.generate()
        for name in ("a.csv", "a.npz", "a.graph", "a.perfetto-trace", "a.prv", "a.sqlite"):
            self.printed("export", "r", "-o", name)
            self.assertTrue(os.path.exists(self.path(name)))
        self.assertIn("source", self.read("a.csv").splitlines()[0])  # of the traffic, not events
        self.assert_refused(self.fathom("export", "r", "-o", "a.json"), 2, "may be chrome or pyrite", "--format")
        longer = self.fathom("export", "r", "-o", "a.speedscope.json")  # not any .json
        self.assertNotIn("--format", longer.stderr)
        self.assert_refused(self.fathom("export", "r", "-o", "a.xyz"), 2, "name the format with --format")
        self.assert_refused(self.fathom("export", "r", "--format", "chorme", "-o", "x"), 2, "did you mean chrome?")


class Misspelt(LanguageTest):
    def test_a_misspelt_subcommand_is_answered_with_the_nearest(self):
        for words, sentence in ((("anlyze",), "fathom: there is no subcommand 'anlyze'; did you mean analyze?\n"),
                                (("help", "polt"), "fathom: there is no subcommand 'polt'; did you mean plot?\n"),
                                (("trace", "chek", "r"), "fathom trace: there is no subcommand 'chek'; did you mean check?\n"),
                                (("trace", "mergee"), "fathom trace: there is no subcommand 'mergee'; did you mean merge?\n")):
            result = self.fathom(*words)
            self.assertEqual((result.returncode, result.stderr), (2, sentence))
        self.assert_refused(self.fathom("xyzzy"), 2, "there are run, status, snap", "fathom --help")
        self.assert_refused(self.fathom("trace", "xyzzy"), 2, "there are info, print", "fathom trace --help")

    def test_a_misspelt_option_is_answered_with_the_nearest(self):
        for words, sentence in ((("report", "r", "--clas", "x"), "there is no option --clas; did you mean --classes?"),
                                (("plot", "r", "--outptu", "x"), "there is no option --outptu; did you mean --output?"),
                                (("plot", "r", "--ouput=x"), "there is no option --ouput; did you mean --output?"),
                                (("trace", "print", "r", "--rank", "3"), "there is no option --rank; did you mean --ranks?"),
                                (("run", "--forse", "./app"), "there is no option --forse; did you mean --force?"),
                                (("analyze", "r", "--xyzzy"), "there is no option --xyzzy; see fathom analyze --help")):
            self.assert_refused(self.fathom(*words), 2, sentence)
        self.assert_refused(self.fathom("run", "--then", "plot --formt svg", "./app"), 2, "did you mean --format?")
        self.assert_refused(self.fathom("report", "r", "s"), 2, "'s' is one argument too many")


class Results(LanguageTest):
    def commands(self):
        self.generate()
        self.write_run("p")
        return {"fathom-report/1": ("report", "p"), "fathom-comparison/1": ("compare", "p", "p"),
                "fathom-critical-path/1": ("critical-path", "r"), "fathom-trace-check/1": ("trace", "check", "r"),
                "fathom-doctor/1": ("doctor",), None: ("trace", "info", "r")}

    def test_text_and_json_can_go_to_files(self):
        for schema, words in self.commands().items():
            text = self.fathom(*words)
            self.assertEqual(text.stderr, "")
            name = words[-2] + words[-1] if len(words) > 1 else words[0]
            for options, path, as_json in (([], name + ".txt", False), ([], name + ".json", True), (["--json"], name + ".out", True)):
                result = self.fathom(*words, *options, "-o", path)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (text.returncode, "", ""))
                if as_json:
                    self.assertEqual(json.loads(self.read(path)).get("schema"), schema)
                    self.assertEqual(self.read(path), self.fathom(*words, "--json").stdout)
                else:
                    self.assertEqual(self.read(path), text.stdout)
                self.assert_refused(self.fathom(*words, *options, "-o", path), 2, f"'{path}' already exists", "--force")
                self.assertEqual(self.fathom(*words, *options, "-o", path, "--force").returncode, text.returncode)
            result = self.fathom(*words, "-o", "no/such/folder")
            self.assertEqual(result.returncode, 1)
            self.assertIn("no/such/folder", result.stderr)

    def test_events_can_go_to_a_file(self):
        self.generate()
        for path, options in (("a.txt", []), ("a.json", ["--json"])):
            self.printed("trace", "print", "r", "-o", path)
            self.assertEqual(self.read(path), self.printed("trace", "print", "r", *options))
            self.assert_refused(self.fathom("trace", "print", "r", "-o", path), 2, "already exists")

    def test_check_and_critical_path_can_go_to_files(self):
        self.generate()
        check = json.loads(self.printed("trace", "check", "r", "--json"))
        self.assertEqual((check["equal"], check["differences"], check["lost_records"]), (True, [], 0))
        self.assertEqual(check["profile"], check["received"])
        path = json.loads(self.printed("critical-path", "r", "--json"))
        analysis = json.loads(self.printed("analyze", "r", "--only", "critical-path", "--json"))
        self.assertEqual({"schema": "fathom-critical-path/1", **analysis["analyses"]["critical-path"]}, path)

    def test_a_placement_can_go_to_a_file(self):
        self.write_run("p")
        text = self.printed("place", "p", "--cluster", CLUSTER)
        made = json.loads(self.printed("place", "p", "--cluster", CLUSTER, "--json"))
        self.assertEqual((made["schema"], made["ranks"], made["objective"]), ("fathom-placement/1", 4, "congestion"))
        self.assertEqual(made["candidates"][0]["placement"], "present")
        tried = text[text.index("all that were tried"):text.rindex("lower bound")].splitlines()
        self.assertEqual(len(tried) - 3, len(made["candidates"]))  # two headings, and what stands before "lower bound"
        for candidate in made["candidates"]:
            self.assertEqual(len(candidate["host_of_rank"]), 4)
            self.assertGreaterEqual(candidate["congestion"], made["lower_bound"]["congestion"])
        self.assertEqual((made["before"]["placement"], made["after"]["placement"]),
                         (made["candidates"][0]["placement"], made["candidates"][1]["placement"]))
        for side in ("before", "after"):
            loads = {(link["source"], link["target"]): link[side] / link["capacity"] for link in made["links"]}
            worst = made[side]["worst_link"]
            self.assertAlmostEqual(max(loads.values()), made[side]["congestion"])
            self.assertEqual(loads[worst["source"], worst["target"]], max(loads.values()))
            self.assertAlmostEqual(made[side]["imbalance"], max(loads.values()) / (sum(loads.values()) / len(loads)))
        moved = sum(one != other for one, other in zip(*(candidate["host_of_rank"] for candidate in made["candidates"][:2])))
        self.assertEqual(made["moved_ranks"], moved)
        # FILE.json without a format holds the same.
        self.assertEqual(self.printed("place", "p", "--cluster", CLUSTER, "-o", "placed.json"), "")
        self.assertEqual(json.loads(self.read("placed.json")), made)
        self.assert_refused(self.fathom("place", "p", "--cluster", CLUSTER, "-o", "placed.json"), 2, "already exists", "--force")
        self.assert_refused(self.fathom("place", "p", "--cluster", CLUSTER, "-o", "placed.txt"), 2, "give both --format FORMAT and -o FILE")


if __name__ == "__main__":
    harness.main()
