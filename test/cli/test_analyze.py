# SPDX-License-Identifier: BSD-3-Clause
"""fathom analyze: the page, the JSON, the part of a run that is meant, and what it refuses."""
import json
import os
import pty
import re
import subprocess
import unittest

import fixtures
import harness

SCHEMA = os.path.join(os.path.dirname(__file__), "../../docs/analysis.schema.json")


class Analyze(harness.CliTest):
    def analyze(self, document, *options):
        """The document that --json prints; the same is in the file."""
        self.write_run("r", document)
        result = self.fathom("analyze", "r", "--json", "-o", self.path("out.json"), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), result.stdout)
        return json.loads(result.stdout)

    def page(self, document, *options):
        self.write_run("r", document)
        result = self.fathom("analyze", "r", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_results_follow_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        for document in [make() for make in fixtures.ALL.values()] + [fixtures.with_waits(fixtures.hpcc4())]:
            jsonschema.validate(self.analyze(document), schema)

    def test_the_histogram_is_cumulative(self):
        table = self.analyze(fixtures.hpcc4(), "--only", "histograms")["analyses"]["histograms"]
        rows = [row for row in zip(*table["message_sizes"].values())
                if row[0] == "MPI_Alltoall"]
        self.assertEqual(rows, [("MPI_Alltoall", 1, 88888, 88888, 10800, 88888 * 10800.0, 1.0, 1.0)])

    def test_a_stencil_is_found(self):
        table = self.analyze(fixtures.stencil())["analyses"]["patterns"]["patterns"]
        found = {(c, k): (tuple(e), tuple(p)) for c, k, e, p in
                 zip(table["class"], table["kind"], table["extents"], table["periodic"])}
        self.assertEqual(found[("point-to-point", "halo")], ((32, 32), (1, 1)))
        self.assertIn(("MPI_Allreduce", "butterfly"), found)
        self.assertIn("grid of 32 x 32 ranks", " ".join(self.page(fixtures.stencil()).split()))

    def test_thresholds_change_what_is_found(self):
        kinds = [f["kind"] for f in self.analyze(fixtures.trouble())["findings"]]
        self.assertIn("link-hotspot", kinds)
        kinds = [f["kind"] for f in self.analyze(fixtures.trouble(), "--set", "link_share=0.9")["findings"]]
        self.assertNotIn("link-hotspot", kinds)

    def test_matrices_add_up(self):
        document = fixtures.hpcc4()
        tables = self.analyze(document, "--only", "matrices")["analyses"]["matrices"]
        total = sum(sum(block["bytes"]) for block in document["traffic"])
        for name in ("pairs", "all_pairs", "symmetric", "hosts"):
            self.assertEqual(sum(tables[name]["bytes"]), total, name)
        self.assertEqual(sum(tables["user_pairs"]["bytes"]) + sum(tables["hidden_pairs"]["bytes"]), total)
        self.assertEqual(sum(tables["ranks"]["bytes_sent"]), total)

    def test_a_phase_limits_the_analysis(self):
        document = fixtures.profile(4, [fixtures.block("point-to-point", False, [(0, 1, 7, 1)]),
                                        fixtures.block("point-to-point", False, [(2, 3, 9, 1)], phase="solve")], [])
        tables = self.analyze(document, "--only", "matrices", "--phases", "solve")["analyses"]["matrices"]
        self.assertEqual((tables["pairs"]["source"], tables["pairs"]["bytes"]), ([2], [9]))
        tables = self.analyze(document, "--only", "matrices", "--phases", "")["analyses"]["matrices"]
        self.assertEqual(tables["pairs"]["source"], [0])

    def test_ranks_choose_pairs(self):
        tables = self.analyze(fixtures.hpcc4(), "--only", "matrices", "--ranks", "2")["analyses"]["matrices"]
        for source, destination in zip(tables["pairs"]["source"], tables["pairs"]["destination"]):
            self.assertIn(2, (source, destination))

    def test_the_report_fits_a_screen(self):
        for name, make in fixtures.ALL.items():
            lines = self.page(make()).splitlines()
            self.assertLessEqual(len(lines), 45, name)
            self.assertLessEqual(max(map(len, lines)), 80, name)

    def test_named_analyses_show_their_tables(self):
        page = self.page(fixtures.hpcc4(), "--only", "histograms", "--only", "structure")
        rows = [line.split() for line in page.splitlines()]
        self.assertIn(["MPI_Alltoall", "1", "88,888", "88,888", "10,800", "959,990,400"], rows)
        self.assertIn("columns that did not fit: ", page)
        self.assertIn("top_links", page)
        self.assertIn("more rows: analysis.json", page)
        self.assertNotIn("nothing found", page)
        links = [row for row in rows[rows.index(["top_links"]) + 2:] if len(row) == 5][:10]
        self.assertEqual(len(links), 10)
        self.assertLessEqual(max(map(len, page.splitlines())), 112)
        self.assertNotIn("top_links", self.page(fixtures.hpcc4()))

    def test_named_matrices_have_the_heaviest_pairs_first(self):
        document = fixtures.hpcc4()
        page = self.page(document, "--only", "matrices")
        rows = [line.split() for line in page[page.index("all_pairs"):].splitlines()]
        shown = [int(row[2].replace(",", "")) for row in rows[2:12]]
        table = self.analyze(document, "--only", "matrices")["analyses"]["matrices"]["all_pairs"]
        self.assertEqual(shown, sorted(table["bytes"], reverse=True)[:10])

    def test_without_a_trace_says_what_one_would_add(self):
        self.assertIn("fathom run --trace", self.page(fixtures.hpcc4()))

    def test_waits_of_a_profile_become_the_findings_of_a_trace(self):
        results = self.analyze(fixtures.with_waits(fixtures.hpcc4()))
        found = results["findings"][0]
        # Rank 1 computes 93.2 s of 3 x 46.1 s and that.
        self.assertEqual((found["kind"], found["culprits"], found["victims"]), ("load-imbalance", [1], [3, 2, 0]))
        self.assertEqual(found["summary"], "rank 1 computes 1.61 × the mean: 138 s of others' waiting in MPI_Waitall (halo.c:88)")
        self.assertEqual(found["severity"], "critical")
        symptom, = found["symptoms"]
        self.assertEqual((symptom["kind"], symptom["victims"], symptom["seconds"], symptom["passed_on"]),
                         ("late-sender", [3, 2, 0], found["seconds"], False))
        self.assertEqual(symptom["text"], "ranks 0, 2 and 3 wait 138 s in MPI_Waitall (halo.c:88) for messages that are sent late")
        self.assertEqual((symptom["where"]["file"], symptom["where"]["line"], symptom["where"]["caller"]), ("src/halo.c", 88, "exchange"))
        self.assertEqual((found["count"], found["confidence"]), (1205, 1))
        self.assertNotIn("meanwhile", found)
        self.assertNotIn("nothing", [other["kind"] for other in results["findings"]])
        section = results["analyses"]["wait-states"]
        self.assertAlmostEqual(section["wait_seconds"], 139.500000005)
        self.assertAlmostEqual(section["wait_share"], 139.5 / (4 * 96.2))
        rows = list(zip(*(section["waits"][name] for name in ("kind", "rank", "culprit", "function", "line", "count"))))
        self.assertIn(("wait-at-nxn", 0, 3, "MPI_File_write_at", 0, 2), rows)
        self.assertTrue(any("who delayed it in turn" in limit for limit in results["limits"]))
        self.assertTrue(any(limit.startswith("5 calls shorter than 1 us are left out") for limit in results["limits"]), results["limits"])

    def test_waits_of_a_program_without_debug_information_name_its_functions(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        self.assertRegex(self.page(document, "--only", "wait-states"), r"(?m)^ +late-sender .* MPI_Waitall +halo.c +88\b")
        site = document["call_sites"][0]
        del site["file"], site["line"]
        page = self.page(document, "--only", "wait-states")
        self.assertRegex(page, r"(?m)^ +late-sender .* MPI_Waitall +\(exchange\) +-( |$)")
        self.assertRegex(page, r"(?m)^ +wait-at-nxn .* MPI_File_write_at +hpcc\+0x270f +-( |$)")

    def test_the_page_begins_with_where_the_time_went(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        found = self.analyze(document)["analyses"]["time-breakdown"]
        self.assertEqual(sum(found["time"]["ns"]), 4 * 96_200_000_000)
        times = dict(zip(found["time"]["kind"], found["time"]["ns"]))
        self.assertEqual(times["computing"], 3 * 46_100_000_000 + 93_200_000_000)
        self.assertEqual(sum(found["unexplained"]["ns"]), times["unexplained"])
        self.assertIn("MPI_File_write_at", found["unexplained"]["name"])
        page = self.page(document).splitlines()
        self.assertEqual(page[2], "   all ranks' time, 4 × 96.2 s from MPI_Init to MPI_Finalize: 6 min 25 s")
        self.assertRegex(page[3], r"^     computing +3 min 52 s +60 %$")
        self.assertRegex(page[4], r"^     waiting: late sender ")
        self.assertTrue(any(re.match(r" {7}MPI_File_write_at \d", line) for line in page), page)

    def test_nothing_is_found_only_where_little_is_unexplained(self):
        quiet = fixtures.profile(4, [fixtures.block("point-to-point", False, [(0, 1, 7, 1)])], [])
        self.assertIn("no findings; times are not known", self.page(quiet))
        document = fixtures.with_times(quiet)
        for block, ns in zip(document["calls"], (1_000_000_000, 500_000_000)):
            block["total_ns"] = [ns] * 4
        self.assertIn(" · nothing found", self.page(document))
        document["calls"][1]["total_ns"] = [9_000_000_000] * 4
        page = self.page(document)
        self.assertNotIn("nothing found", page)
        self.assertIn("no findings, but 10 % of the time is unexplained", page)
        self.assertIn("MPI_File_write_at 36.0 s", page)

    def test_the_critical_path_of_a_profile_adds_up(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        section = self.analyze(document, "--only", "critical-path")["analyses"]["critical-path"]
        self.assertEqual((section["path_seconds"], section["changes_of_rank"], section["error_seconds"]), (96.2, 12, 2.0))
        for table in ("path_by_rank", "path_by_function", "path_by_communicator", "path"):
            self.assertAlmostEqual(sum(section[table]["seconds"]), 96.2, msg=table)
        self.assertEqual(section["path_by_rank"]["rank"], [1, 0])
        self.assertEqual(section["path_by_function"]["name"][0], "(program)")
        self.assertEqual(section["path"]["leads_to"].count("MPI_Waitall"), 1)
        self.assertEqual(section["windows"], {"window": ["first half"], "openings": [1], "seconds": [48.0], "changes_of_rank": [1],
                                              "error_seconds": [0.0], "idle_seconds": [0.0], "most_idle_seconds": [0.0]})
        self.assertEqual(section["window_path"]["line"], [88])
        text = self.fathom("critical-path", "r").stdout
        self.assertIn("critical path: 96.200000 s, 12 changes of rank", text)
        self.assertIn("rank 1 computing before MPI_Waitall (halo.c:88), 3 times", " ".join(text.split()))
        self.assertIn("critical path of first half: 48.000000 s", text)
        self.assertEqual(json.loads(self.fathom("critical-path", "r", "--json").stdout)["path_by_rank"]["rank"], [1, 0])

    def test_ranks_and_phases_choose_waits(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["traffic"].append(fixtures.block("point-to-point", False, [(0, 3, 8, 1)], phase="write"))
        waits = self.analyze(document, "--ranks", "2-3")["analyses"]["wait-states"]["waits"]
        self.assertEqual((waits["rank"], waits["culprit"]), ([2, 3], [1, 1]))
        waits = self.analyze(document, "--phases", "write")["analyses"]["wait-states"]["waits"]
        self.assertEqual((waits["rank"], waits["culprit"], waits["phase"]), ([0], [3], ["write"]))
        self.assertNotIn("wait-states", self.analyze(document, "--communicators", "MPI_COMM_WORLD")["analyses"])

    def test_a_profile_without_times_says_what_waits_need(self):
        document = fixtures.hpcc4()
        self.write_run("r", document)
        self.assert_refused(self.fathom("analyze", "r", "--only", "wait-states"), 1, "'wait-states' needs a trace",
                            "unless --no-time is given")
        self.assert_refused(self.fathom("critical-path", "r"), 1, "needs a trace", "its calls were not timed")
        document = fixtures.with_times(document)
        document["coverage"]["waits_unknown"] = "a rank ended without MPI_Finalize"
        self.write_run("r", document)
        self.assert_refused(self.fathom("critical-path", "r"), 1, "this one has none: a rank ended without MPI_Finalize")

    def test_an_unknown_analysis_is_answered_with_the_known_ones(self):
        self.write_run("r")
        self.assert_refused(self.fathom("analyze", "r", "--only", "nonsense"), 2, "nonsense", "histograms")

    def test_an_unknown_threshold_is_answered_with_the_known_ones(self):
        self.write_run("r")
        self.assert_refused(self.fathom("analyze", "r", "--set", "nonsense=1"), 2, "link_share")
        self.assert_refused(self.fathom("analyze", "r", "--set", "link_share=high"), 2, "needs a number")

    def test_a_window_needs_a_trace(self):
        self.write_run("r")
        self.assert_refused(self.fathom("analyze", "r", "--from", "1s"), 1, "needs a trace")
        self.assert_refused(self.fathom("analyze", "r", "--from", "2s", "--to", "1s"), 2, "--from")

    def test_an_unknown_phase_or_rank_is_refused(self):
        self.write_run("r")
        self.assert_refused(self.fathom("analyze", "r", "--phases", "solve"), 1, "no phase 'solve'")
        self.assert_refused(self.fathom("analyze", "r", "--ranks", "4"), 1, "no rank 4", "0 to 3")

    def test_a_change_of_the_run_is_refused_if_it_cannot_be_read_or_made(self):
        self.write_run("r")
        for change, reason in (("rank 3", "FACTOR"), ("rank 3 : -1", "factor"), ("rank x : 2", "list of ranks"),
                               ("speed : 2", "no 'speed'"), ("before rank 3 : 2", "'before' needs")):
            self.assert_refused(self.fathom("analyze", "r", "--what-if", change), 2, "--what-if", reason)
        self.assert_refused(self.fathom("analyze", "r", "--what-if", "rank 3 : 0.8"), 1, "'what-if' needs a trace")

    def test_a_missing_run_is_an_error(self):
        self.assert_refused(self.fathom("analyze", "nowhere"), 1, "there is no run 'nowhere'")

    def test_part_of_the_run_does_not_replace_the_results_of_the_whole(self):
        document = fixtures.profile(4, [fixtures.block("point-to-point", False, [(0, 1, 7, 1)])], [])
        self.page(document)
        with open(self.path("r", "analysis.json"), encoding="utf-8") as file:
            whole = file.read()
        self.assertIn("was not written", self.page(document, "--ranks", "1"))
        self.assertIn("was not written", self.page(document, "--phases", ""))
        with open(self.path("r", "analysis.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), whole)
        self.assertNotIn("was not written", self.page(document, "--ranks", "1", "-o", self.path("part.json")))
        with open(self.path("part.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["scope"], {"ranks": [1]})

    def on_a_terminal(self, **variables):
        """What the page looks like where stdout is a terminal."""
        self.write_run("r")
        ours, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OMPI_", "PMIX_", "PMI_", "CLICOLOR", "NO_COLOR"))}
        environment.update(TERM="xterm", **variables)
        try:
            subprocess.run([harness.FATHOM, "analyze", self.path("r")], stdout=theirs, env=environment, check=True, timeout=60)
            return os.read(ours, 1 << 16)
        finally:
            os.close(ours)
            os.close(theirs)

    def test_the_terminal_that_a_launcher_makes_gets_no_colours(self):
        self.assertIn(b"\033[", self.on_a_terminal())
        launched = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}
        self.assertNotIn(b"\033[", self.on_a_terminal(**launched))
        self.assertIn(b"\033[", self.on_a_terminal(**launched, CLICOLOR_FORCE="1"))
        self.assertNotIn(b"\033[", self.on_a_terminal(**launched, CLICOLOR_FORCE="0"))

    def test_colours_are_allowed_where_they_are_not_forced(self):
        self.assertIn(b"\033[", self.on_a_terminal(CLICOLOR_FORCE="0"))

    def kept(self):
        with open(self.path("r", "analysis.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_naming_an_analysis_keeps_the_results_of_the_others(self):
        document = fixtures.trouble()
        self.page(document)
        before = self.kept()
        self.page(document, "--only", "traffic-issues", "--set", "link_share=0.9")
        after = self.kept()
        self.assertEqual(set(after["analyses"]), set(before["analyses"]))
        self.assertEqual(after["analyses"]["patterns"], before["analyses"]["patterns"])
        kinds = [finding["kind"] for finding in before["findings"]]
        self.assertEqual([finding["kind"] for finding in after["findings"]],
                         [kind for kind in kinds if kind != "link-hotspot"])
        self.page(document, "--only", "traffic-issues")
        self.assertEqual(self.kept()["findings"], before["findings"])

    def test_an_analysis_outside_the_default_set_is_added(self):
        document = fixtures.hpcc4()
        self.page(document)
        before = self.kept()
        self.assertNotIn("matrices", before["analyses"])
        self.page(document, "--only", "matrices")
        after = self.kept()
        alone = self.analyze(document, "--only", "matrices")["analyses"]["matrices"]
        self.assertEqual(after["analyses"].pop("matrices"), alone)
        self.assertEqual(after, before)

    def test_results_of_another_run_are_not_kept(self):
        self.page(fixtures.trouble())
        self.page(fixtures.hpcc4(), "--only", "histograms")
        self.assertEqual(list(self.kept()["analyses"]), ["histograms"])
        with open(self.path("r", "analysis.json"), "r+", encoding="utf-8") as file:
            file.truncate(100)
        self.page(fixtures.hpcc4(), "--only", "matrices")
        self.assertEqual(list(self.kept()["analyses"]), ["matrices"])

    def test_output_goes_to_the_given_file(self):
        self.write_run("r")
        self.assertEqual(self.fathom("analyze", "r", "-o", "elsewhere.json").returncode, 0)
        self.assertTrue(os.path.exists(self.path("elsewhere.json")))
        self.assertFalse(os.path.exists(self.path("r", "analysis.json")))


if __name__ == "__main__":
    unittest.main()
