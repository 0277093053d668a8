# SPDX-License-Identifier: BSD-3-Clause
"""fathom report: the figures, the page, the JSON, and what it says when it cannot."""
import json

import fixtures
import harness


def sums(document):
    blocks = document["traffic"]
    return sum(sum(b["bytes"]) for b in blocks), sum(sum(b["messages"]) for b in blocks)


class Figures(harness.CliTest):
    def report(self, document, *options):
        self.write_run("r", document)
        result = self.fathom("report", "r", "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_totals_are_those_of_the_file(self):
        document = fixtures.hpcc4()
        report = self.report(document)
        self.assertEqual((report["total"]["bytes"], report["total"]["messages"]), sums(document))
        hidden = [b for b in document["traffic"] if b["hidden"]]
        self.assertEqual(report["hidden"]["bytes"], sum(sum(b["bytes"]) for b in hidden))
        self.assertEqual(report["pairs"], 12)
        self.assertEqual(report["density"], 1)
        self.assertEqual(report["classes"][0]["class"], "point-to-point")

    def test_pairs_add_up_over_classes(self):
        document = fixtures.hpcc4()
        top = self.report(document, "--top", "1")["top_pairs"]
        self.assertEqual(len(top), 1)
        pair = (top[0]["source"], top[0]["destination"])
        expected = sum(b["bytes"][i] for b in document["traffic"] for i in range(len(b["source"]))
                       if (b["source"][i], b["destination"][i]) == pair)
        self.assertEqual(top[0]["bytes"], expected)

    def test_a_class_restricts_every_figure(self):
        report = self.report(fixtures.hpcc4(), "--class", "MPI_Bcast")
        self.assertEqual(report["total"]["messages"], 270)
        self.assertEqual([c["class"] for c in report["classes"]], ["MPI_Bcast"])
        self.assertEqual(report["top_senders"][0]["rank"], 0)
        self.assertEqual(report["imbalance_sent"], 4)  # one of four ranks sends everything
        self.assertEqual([(b["low"], b["messages"]) for b in report["message_sizes"]], [(262144, 270)])

    def test_sizes_fall_into_powers_of_two(self):
        document = fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 20, 6)])],
                                    [{"class": "point-to-point", "size": [0, 1, 7, 8],
                                      "messages": [1, 1, 1, 3]}])
        bins = self.report(document)["message_sizes"]
        self.assertEqual([(b["low"], b["high"], b["messages"]) for b in bins],
                         [(0, 0, 1), (1, 1, 1), (2, 3, 0), (4, 7, 1), (8, 15, 3)])

    def test_messages_without_a_known_size_are_named(self):
        """A job of which a rank was killed: the histogram held fewer messages than the table, without a word."""
        document = fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 20, 6), (1, 0, 8, 1)])],
                                    [{"class": "point-to-point", "size": [8], "messages": [1]}], verdict="incomplete")
        warnings = {entry["kind"]: entry["text"] for entry in self.report(document)["warnings"]}
        self.assertIn("the sizes of 6 of the 7 messages are not known", warnings["unknown-sizes"])
        document["message_sizes"][0]["messages"] = [7]
        self.assertNotIn("unknown-sizes", [entry["kind"] for entry in self.report(document)["warnings"]])

    def test_traffic_between_hosts_is_shown(self):
        document = fixtures.profile(
            4, [fixtures.block("point-to-point", False, [(0, 1, 10, 1), (1, 2, 7, 2), (3, 0, 5, 1)])],
            [], hosts=2)  # ranks 0, 1 on n0; 2, 3 on n1
        self.assertEqual(self.report(document)["between_hosts"], {"bytes": 12, "messages": 3})

    def test_warnings_and_limits_are_shown(self):
        report = self.report(fixtures.trouble())
        self.assertEqual([w["kind"] for w in report["warnings"]],
                         ["cut-short", "silent-ranks", "lost", "unreceived", "tiny-messages",
                          "imbalance", "dominant-pair"])
        self.assertEqual([w["kind"] for w in report["limits"]], ["not-timed", "step-down", "not-visible", "note"])
        self.assertEqual(report["exactness"]["pairs_that_differ"], 1)

    def test_the_advice_fits_the_class_of_the_tiny_messages(self):
        for name, advice in (("point-to-point", "send fewer, larger messages"),
                             ("MPI_Allreduce", "combine several of its calls into one with more data"),
                             ("MPI_Barrier", "remove the barriers that the program does not need")):
            document = fixtures.profile(2, [fixtures.block(name, name[0] == "M", [(0, 1, 8000, 10000)])],
                                        [{"class": name, "size": [0], "messages": [10000]}])
            warnings = {entry["kind"]: entry["text"] for entry in self.report(document)["warnings"]}
            self.assertTrue(warnings["tiny-messages"].endswith(f"most in {name}: latency matters, not bandwidth; {advice}"),
                            warnings)

    def test_a_clean_run_has_no_warning(self):
        self.assertEqual(self.report(fixtures.hpcc4())["warnings"], [])

    def test_the_report_begins_with_the_time_in_mpi(self):
        self.write_run("timed", fixtures.with_times(fixtures.hpcc4()))
        page = " ".join(self.fathom("report", "timed").stdout.split())
        self.assertIn("hpcc 4 ranks, 1 host · wall time 96.2 s · Open MPI", page)
        self.assertIn("time: 60 % computing, 40 % in MPI, from 3.1 % on rank 1 to 52 % on rank 0", page)
        self.assertIn("memory at most 50.0 MB on rank 3, on average 50.0 MB", page)
        self.assertIn("MPI-IO: 12 calls, 8.00 s of all ranks (5.2 % of MPI), 0 B read, 4.00 MB written", page)
        self.assertIn("share: of all ranks' time; worst rank (1.50×): its time is 1.5 times the mean", page)
        self.assertIn("MPI_Waitall at halo.c:88 2,000 2 min 25 s 38 % 0 (1.32×) 0 B", page)
        everything = " ".join(self.fathom("report", "timed", "--all").stdout.split())
        self.assertIn("MPI_Waitall in exchange (halo.c:88) 2,000 2 min 25 s 38 % 0 (1.32×) 0 B", everything)
        self.assertIn("MPI_File_write_at in hpcc+0x270f 12 8.00 s", page)
        document = json.loads(self.fathom("report", "timed", "--json").stdout)
        self.assertEqual(document["rank_times"][1], {"rank": 1, "seconds": 96.2, "mpi_seconds": 3.0, "peak_memory_bytes": 50_000_001,
                                                     "processor_wait_seconds": 0})
        self.assertEqual((document["call_sites"][0]["line"], document["call_sites"][0]["calls"]), (88, 2000))
        self.assertNotIn("call site", self.fathom("report", "timed", "--class", "MPI_Barrier").stdout)

    def test_the_command_is_shown_where_it_has_arguments(self):
        document = fixtures.hpcc4()
        self.write_run("r", document)
        self.assertNotIn("command:", self.fathom("report", "r").stdout)
        document["application"]["arguments"] = ["-in", "x\x1b.txt", "y" * 200]
        self.write_run("r", document)
        line = self.fathom("report", "r").stdout.splitlines()[1]
        self.assertTrue(line.startswith("command: /usr/bin/hpcc -in x?.txt yyy"), line)
        self.assertEqual((len(line), line[-1]), (80, "~"))

    def test_memory_processors_and_files_are_in_the_json(self):
        document = fixtures.with_times(fixtures.hpcc4())
        document["ranks"][2]["processor_wait_seconds"] = 48.1
        report = self.report(document)
        self.assertEqual(report["memory"], {"most_bytes": 50_000_003, "rank": 3, "mean_bytes": 50_000_001.5})
        self.assertEqual(report["processor_wait"], {"seconds": 48.1, "worst_rank": {"rank": 2, "seconds": 48.1, "share": 0.5}})
        by_rank = [(rank["peak_memory_bytes"], rank["processor_wait_seconds"]) for rank in report["rank_times"]]
        self.assertEqual(by_rank[2:], [(50_000_002, 48.1), (50_000_003, 0)])
        self.assertEqual(report["mpi_io"], {"calls": 12, "seconds": 8, "read_bytes": 0, "written_bytes": 4_000_000})

    def test_a_run_without_times_says_so_and_what_memory_it_took(self):
        document = fixtures.with_times(fixtures.hpcc4())
        del document["calls"]
        report = self.report(document)
        self.assertEqual(report["memory"]["most_bytes"], 50_000_003)
        self.assertEqual(report["limits"][0]["kind"], "not-timed")
        lines = self.fathom("report", "r").stdout.splitlines()
        self.assertEqual(lines[1:4], ["memory at most 50.0 MB on rank 3, on average 50.0 MB",
                                      "calls were not timed; without --no-time, fathom run shows where time goes", ""])
        self.assertNotIn("not timed", self.fathom("report", "r", "--class", "MPI_Barrier").stdout)
        document["source"] = "ipm"
        self.assertNotIn("--no-time", json.dumps(self.report(document)["limits"]))

    def test_the_report_says_who_waits_for_whom_and_of_what_the_critical_path_consists(self):
        self.write_run("waits", fixtures.with_waits(fixtures.hpcc4()))
        lines = self.fathom("report", "waits").stdout.splitlines()
        page = " ".join(" ".join(lines).split())
        self.assertIn("who waits for whom: 2 min 20 s, 36 % of all ranks' time, in 4 pairs", page)
        self.assertIn("3 ← 1 46.0 s 48 % late sender MPI_Waitall in exchange (halo.c:88)", page)
        self.assertIn("0 ← 3 1.50 s 1.6 % collective MPI_File_write_at in hpcc+0x270f", page)
        self.assertIn("critical path: 96.2 s, 12 changes of rank up to 2.00 s (2.1 %) of it may be waiting in the calls that are left out", page)
        self.assertIn("rank 1 92.2 s 96 % computing before MPI_Waitall in exchange (halo.c:88)", page)
        self.assertIn("windows: first half 48.0 s", page)
        order = [page.index(text) for text in ("in MPI, from", "call site", "who waits", "critical path", "pairs: ", "exact: ", "--all")]
        self.assertEqual(order, sorted(order))
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_each_call_of_a_pair_has_its_own_waits(self):
        """All that a pair waited was printed beside one call: "0 <- 1 0.55 s MPI_Recv", of which MPI_Barrier had 0.25 s."""
        document = fixtures.with_waits(fixtures.hpcc4())
        document["waits"].append({**document["waits"][1], "kind": "wait-at-barrier", "function": "MPI_Barrier", "rank": [3], "awaited": [1],
                                  "waits": [7], "total_ns": [30_000_000_000]})
        self.write_run("r", document)
        page = " ".join(self.fathom("report", "r").stdout.split())
        self.assertIn("3 ← 1 46.0 s 48 % late sender MPI_Waitall in exchange (halo.c:88)", page)
        self.assertIn("3 ← 1 30.0 s 31 % barrier MPI_Barrier in hpcc+0x270f", page)
        report = self.report(document)
        self.assertAlmostEqual(report["top_waits"][0]["seconds"], 76.000000003)
        self.assertAlmostEqual(report["top_waits"][0]["mostly"]["seconds"], 46.000000003)
        self.assertEqual([(call["rank"], call["function"], call["waits"]) for call in report["top_waiting_calls"]][:4:3],
                         [(3, "MPI_Waitall", 403), (3, "MPI_Barrier", 7)])

    def test_waits_at_the_end_are_no_part_of_a_share(self):
        """They are longer than the time that the share was of: "1 <- 2 0.26 s 426 % MPI_Finalize"."""
        document = fixtures.with_waits(fixtures.hpcc4())
        for kind, function, seconds in (("wait-at-init", "MPI_Init", 1), ("wait-at-finalize", "MPI_Finalize", 400)):
            document["waits"].append({**document["waits"][0], "kind": kind, "function": function, "rank": [2, 3], "awaited": [1, 1],
                                      "waits": [1, 1], "total_ns": [seconds * 10**9, seconds * 5 * 10**9],
                                      "longest_ns": [10**9, 10**9]})
        self.write_run("r", document)
        page = " ".join(self.fathom("report", "r").stdout.split())
        self.assertIn("who waits for whom: 2 min 20 s, 36 % of all ranks' time, in 4 pairs", page)
        self.assertIn("3 ← 1 46.0 s 48 % late sender", page)
        self.assertIn("not included: MPI_Init 6.00 s (most 3 ← 1), MPI_Finalize 40 min 00 s (most 3 ← 1)", page)
        report = self.report(document)
        self.assertAlmostEqual(report["waits"]["seconds"], 139.500000005)
        self.assertEqual([(edge["kind"], edge["waits"], edge["seconds"], edge["longest_pair"]["rank"]) for edge in report["edge_waits"]],
                         [("wait-at-init", 2, 6, 3), ("wait-at-finalize", 2, 2400, 3)])

    def test_computing_before_the_end_has_no_place(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["call_sites"].append({"id": 2, "module": "", "offset": 0})
        document["path"][0]["parts"][3].update(function="MPI_Finalize", site=2)
        self.write_run("end", document)
        self.assertIn("1.0 %  computing before MPI_Finalize\n", self.fathom("report", "end").stdout)
        self.assertIn("rank 0 computing before MPI_Finalize, 3 times", " ".join(self.fathom("critical-path", "end").stdout.split()))
        self.write_run("before", fixtures.with_waits(fixtures.hpcc4()))
        self.assertIn("1.00 s more of computing before MPI_Finalize, on rank 0\n", self.fathom("compare", "before", "end").stdout)

    def test_a_long_name_of_a_function_does_not_hide_the_line(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["call_sites"][0]["function"] = "halo::Exchange<double, 3>::finish(halo::Grid const&)"
        self.write_run("long", document)
        lines = self.fathom("report", "long").stdout.splitlines()
        for start, end in (("  3 ← 1", "MPI_Waitall at halo.c:88"), ("  rank 1     92.2 s", "computing before MPI_Waitall at halo.c:88")):
            line, = (line for line in lines if line.startswith(start))
            self.assertTrue(line.endswith(end), line)

    def test_waits_and_the_path_are_in_the_json(self):
        report = self.report(fixtures.with_waits(fixtures.hpcc4()))
        self.assertEqual((report["waits"]["pairs"], report["waits"]["left_out"]), (4, 5))
        self.assertAlmostEqual(report["waits"]["seconds"], 139.500000005)
        first = report["top_waits"][0]
        self.assertEqual((first["rank"], first["awaited"], first["waits"]), (3, 1, 403))
        self.assertEqual((first["mostly"]["kind"], first["mostly"]["line"]), ("late-sender", 88))
        path = report["critical_path"][0]
        self.assertEqual((path["window"], path["jumps"], path["parts"][0]["program"]), ("", 12, True))
        self.assertAlmostEqual(sum(part["seconds"] for part in path["parts"]), path["seconds"])
        self.assertEqual([rank["rank"] for rank in path["ranks"]], [0, 1])
        self.assertNotIn("waits", self.report(fixtures.with_waits(fixtures.hpcc4()), "--class", "MPI_Barrier"))

    def test_a_phase_restricts_waits_and_the_path(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["traffic"].append(fixtures.block("point-to-point", False, [(0, 3, 8, 1)], phase="write"))
        report = self.report(document, "--phases", "write")
        self.assertEqual([(pair["rank"], pair["awaited"]) for pair in report["top_waits"]], [(0, 3)])
        self.assertEqual([part["seconds"] for part in report["critical_path"][0]["parts"]], [1.0])

    def test_what_the_waits_leave_out_is_said_where_it_matters(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["coverage"]["waits"].update(left_out=70_000, left_out_ns=9_000_000_000, unresolved=3,
                                             unresolved_ns=8_000_000_000)
        document["coverage"]["waits"]["threshold_ns"] = 128_000
        kinds = [entry["kind"] for entry in self.report(document)["limits"]]
        self.assertEqual(kinds, ["waits-left-out", "waits-unresolved"])
        page = self.fathom("report", "r").stdout
        self.assertIn("left out of the waits: 70,000 calls shorter than 128 µs, 9.00 s in total, for want of memory "
                      "(FATHOM_WAITS_MEMORY)", " ".join(page.split()))
        order = [page.index(text) for text in ("3 ← 1", "70,000 calls", "it is not known when the other", "critical path", "point-to-point")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(page.count("left out of the waits"), 2)
        del document["coverage"]["waits"], document["waits"], document["path"]
        document["coverage"]["waits_unknown"] = "the ranks' clocks could not be compared"
        limits = self.report(document)["limits"]
        self.assertEqual([entry["text"] for entry in limits],
                         ["who waits for whom and the critical path are not known: the ranks' clocks could not be compared"])

    def test_a_run_that_was_cut_short_says_why_it_has_no_waits(self):
        document = fixtures.with_times(fixtures.hpcc4())
        document["coverage"]["cut_short"] = "rank 1 called MPI_Abort with error code 9"
        self.write_run("r", document)
        page = " ".join(self.fathom("report", "r").stdout.split())
        why = "the run ended before MPI_Finalize, where they are found (rank 1 called MPI_Abort with error code 9)"
        self.assertIn("who waits for whom and the critical path are not known: " + why, page)
        self.assertLess(page.index(why), page.index("point-to-point"))
        self.assertEqual(page.count(why), 1)
        self.assertIn("waits and the critical path are not known: " + why, " ".join(self.fathom("analyze", "r").stdout.split()))
        for command in (("critical-path", "r"), ("analyze", "r", "--only", "wait-states")):
            refused = self.fathom(*command)
            self.assert_refused(refused, 1, "this one has none: " + why)
            self.assertNotIn("--no-time", refused.stderr)

    def test_64_bit_counts_survive(self):
        document = fixtures.profile(
            2, [fixtures.block("point-to-point", False, [(0, 1, 2**63 + 1, 2**53 + 1)])], [])
        report = self.report(document)
        self.assertEqual(report["total"], {"bytes": 2**63 + 1, "messages": 2**53 + 1})


class Page(harness.CliTest):
    def page(self, document, *options):
        self.write_run("r", document)
        result = self.fathom("report", "r", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_report_fits_one_screen(self):
        for name, make in fixtures.ALL.items():
            for options in ([], ["--class", "point-to-point"]):
                if name == "empty" and options:
                    continue
                lines = self.page(make(), *options).splitlines()
                self.assertLessEqual(len(lines), 40, name)
                self.assertLessEqual(max(map(len, lines)), 80, name)

    def test_a_run_with_times_fits_one_screen_and_all_shows_the_rest(self):
        document = fixtures.with_waits(fixtures.hpcc4())
        document["application"]["arguments"] = ["-in", "file"]
        document["coverage"]["notes"] = ["a first note " + "x " * 60, "a second note " + "x " * 60]
        for number in range(2, 20):  # call sites, the last ones without time
            document["call_sites"].append({**document["call_sites"][0], "id": number, "function": "a_long_name_of_a_function", "line": number})
            document["calls"].append({**document["calls"][0], "site": number, "total_ns": [10 ** (11 - number // 2)] * 4,
                                      "longest_ns": [10] * 4})
            document["path"][0]["parts"].append({**document["path"][0]["parts"][0], "site": number, "total_ns": [10 ** (10 - number // 2)]})
        document["traffic"] += [fixtures.block(f"MPI_Class{number}", True, [(0, 3, 8, 1)], phase=f"p{number}") for number in range(9)]
        document["message_sizes"][-1]["messages"][0] += 9
        document["waits"].append({**document["waits"][0], "kind": "wait-at-finalize", "function": "MPI_Finalize"})
        document["coverage"]["waits"].update(left_out=70_000, left_out_ns=9_000_000_000)
        page = self.page(document)
        lines = page.splitlines()
        self.assertLessEqual(len(lines), 42, page)
        self.assertLessEqual(max(map(len, lines)), 80, page)
        self.assertIn("MPI_Waitall at halo.c:2 ", page)
        self.assertIn("  classes: point-to-point 66 %, MPI_Alltoall (hidden) 32 %,", page)
        self.assertIn("and 12 more", page)
        self.assertIn("  pairs: 0 → 1 8.7 %, 3 → 2 8.7 %, 3 → 1 8.6 %, and 9 more\n", page)
        self.assertIn("--all adds tables of calls and traffic and 2 notes on how this was measured", page)
        self.assertNotIn(" 0.0 ms", page.split("more ")[0])
        for table in ("class  ", "message size", "top pairs", "most sent by rank", "a first note"):
            self.assertNotIn(table, page)
            self.assertIn(table, self.page(document, "--all"))
        self.assertIn("10 call sites more", self.page(document, "--all"))

    def test_the_exactness_line_says_exact(self):
        text = " ".join(self.page(fixtures.hpcc4()).split())
        self.assertIn("exact: the 35,092 messages (3.03 GB) counted by senders (pml) and by receivers "
                      "(peruse) agree on all 12 pairs", text)

    def test_a_difference_is_named(self):
        self.assertIn("disagree on 1 pair, most on 1 → 2", self.page(fixtures.trouble()))

    def test_a_receiver_that_counted_less_is_not_called_unreceived(self):
        """Messages that were not waiting at the receiver were called "sent and never received"."""
        document = fixtures.trouble()
        del document["coverage"]["unreceived"]["pairs"]
        document["coverage"]["unreceived"] = {}
        text = " ".join(self.page(document).split())
        self.assertIn("they may have been in flight, or received without being counted", text)
        self.assertNotIn("never received", text)
        table = document["coverage"]["differences"]
        table["received_bytes"], table["received_messages"] = [9_500_000], [101]
        self.assertNotIn("under way", " ".join(self.page(document).split()))

    def test_there_are_no_escape_sequences_outside_a_terminal(self):
        self.assertNotIn("\x1b", self.page(fixtures.trouble()))  # its name holds one

    def test_the_output_is_ascii_where_the_locale_is(self):
        self.write_run("r", fixtures.with_waits(fixtures.hpcc4()))
        text = self.fathom("report", "r", LC_ALL="C").stdout
        self.assertTrue(text.isascii(), text)

    def test_a_run_without_messages_is_reported(self):
        self.assertIn("no messages were sent", self.page(fixtures.empty()))


class Failures(harness.CliTest):
    def test_a_missing_run_is_an_error(self):
        self.assert_refused(self.fathom("report", "nowhere"), 1, "there is no run 'nowhere'")

    def test_a_folder_without_a_run_is_an_error(self):
        self.assert_refused(self.fathom("report", "."), 1, "holds no profile.json")

    def test_a_damaged_profile_is_an_error(self):
        self.write_run("r", json.dumps(fixtures.hpcc4())[:500])
        self.assert_refused(self.fathom("report", "r"), 1, "profile.json", "byte")

    def test_a_foreign_file_is_an_error(self):
        self.write_run("r", '{"schema": "other/1"}')
        self.assert_refused(self.fathom("report", "r"), 1, "schema")

    def test_an_unknown_class_is_answered_with_the_known_ones(self):
        self.write_run("r")
        self.assert_refused(self.fathom("report", "r", "--class", "MPI_Foo"), 1, "MPI_Foo",
                            "point-to-point")

    def test_wrong_options_are_refused(self):
        self.assert_refused(self.fathom("report"), 2, "RUN is missing", "--help")
        self.assert_refused(self.fathom("report", "r", "--bogus"), 2, "--bogus")
        self.assert_refused(self.fathom("report", "r", "--top", "none"), 2, "--top")


if __name__ == "__main__":
    harness.main()
