# SPDX-License-Identifier: BSD-3-Clause
"""fathom compare: growth, exponents, the scaling table, pairs that changed."""
import json
import unittest

import fixtures
import harness


def exchange(ranks, seconds, bytes_each=1000):
    rows = [(a, b, bytes_each, 2) for a in range(ranks) for b in range(ranks) if a != b]
    ring = [(a, (a + 1) % ranks, 5000, 1) for a in range(ranks)]
    return fixtures.profile(ranks, [fixtures.block("MPI_Alltoall", True, rows),
                                    fixtures.block("point-to-point", False, ring)], [],
                            application={"executable": "app", "arguments": [], "started_unix_ns": 0,
                                         "seconds": seconds})


class Compare(harness.CliTest):
    def compare(self, *documents):
        names = [self.write_run(f"r{i}", document) for i, document in enumerate(documents)]
        result = self.fathom("compare", *names, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = self.fathom("compare", *names)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertLessEqual(max(map(len, page.stdout.splitlines())), 120)
        return json.loads(result.stdout), page.stdout

    def test_growth_is_reported_with_its_scaling(self):
        made, page = self.compare(exchange(4, 8.0), exchange(8, 5.0), exchange(16, 4.0))
        runs, classes = made["runs"], made["classes"]
        self.assertEqual(runs["ranks"], [4, 8, 16])
        self.assertEqual(runs["speedup"], [1, 1.6, 2])
        self.assertEqual(runs["efficiency"], [1, 0.8, 0.5])
        self.assertEqual(runs["bytes"], [12000 + 20000, 56000 + 40000, 240000 + 80000])
        self.assertEqual(classes["class"], ["MPI_Alltoall", "point-to-point"])
        self.assertEqual(classes["growth_bytes"], [20, 4])
        self.assertAlmostEqual(classes["exponent_bytes"][1], 1)
        # slope of log(p (p - 1)) over log(p), the middle of three equidistant points does not count
        self.assertAlmostEqual(classes["exponent_bytes"][0], 2.160964, 5)
        self.assertEqual(made["pairs"]["source"], [])
        self.assertIn("ranks^2.16", page)
        self.assertIn("assumes strong scaling: the same problem at every size\n", page)
        self.assertIn("(weak scaling), it is 1.6 at 8 ranks, 2 at 16 ranks ", " ".join(page.split()))

    def test_two_runs_of_one_size_are_compared(self):
        after = exchange(4, 9.0)
        after["traffic"][1]["bytes"][2] = 9000
        after["traffic"].append(fixtures.block("MPI_Bcast", True, [(0, 1, 7, 1)]))
        made, page = self.compare(exchange(4, 8.0), after)
        self.assertEqual(made["classes"]["class"], ["point-to-point", "MPI_Bcast", "MPI_Alltoall"])
        self.assertEqual(made["classes"]["growth_bytes"], [1.2, None, 1])
        self.assertEqual(list(zip(*made["pairs"].values())), [(2, 3, 6000, 10000, 3, 3), (0, 1, 6000, 6007, 3, 4)])
        self.assertEqual(made["exponent_bytes"], None)
        self.assertIn("new", page)
        self.assertNotIn("strong scaling", page)

    def test_long_names_are_whole(self):
        names = ["results-of-the-small-machine", "a-name-that-is-much-longer-than-any-column-should-be"]
        for name in names:
            self.write_run(name, exchange(4, 8.0))
        page = self.fathom("compare", *names).stdout
        self.assertIn(names[0], page)
        self.assertIn(names[1] + "\n", page)

    def test_waits_and_the_path_are_compared(self):
        """One pair waits 8 s more, the work before it takes 5 s more, and a site is gone."""
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        after["waits"][0]["total_ns"][2] += 8_000_000_000
        after["path"][0]["parts"][0]["total_ns"][0] += 5_000_000_000
        del after["path"][0]["parts"][2]
        made, page = self.compare(before, after)
        rows = list(zip(*made["waits"].values()))
        self.assertEqual(rows[0][:5], ("MPI_Waitall", *2 * ["exchange (halo.c:88)"], 3, 1))
        self.assertAlmostEqual(made["waits"]["last_seconds"][0] - made["waits"]["first_seconds"][0], 8)
        self.assertEqual([row[3:5] for row in rows], [(3, 1), (0, 3), (0, 1), (2, 1)])
        path = list(zip(*made["path"].values()))
        rank = after["path"][0]["parts"][0]["rank"][0]
        self.assertEqual(path[0], ("MPI_Waitall", *2 * ["exchange (halo.c:88)"], 1, rank, 92.2, 97.2, 97.2 / 92.2))
        self.assertEqual(path[1][:4] + path[1][5:7], ("MPI_File_write_at", *2 * ["hpcc+0x270f"], 0, 2.0, 0.0))
        page = " ".join(page.split())
        self.assertIn("8.00 s more in MPI_Waitall in exchange (halo.c:88), rank 3 waits for rank 1 parts of", page)
        self.assertIn(f"5.00 s more of computing before MPI_Waitall in exchange (halo.c:88), on rank {rank} "
                      "2.00 s less in MPI_File_write_at in hpcc+0x270f", page)

    def test_waits_are_compared_only_if_all_runs_know_them(self):
        unknown = fixtures.with_times(fixtures.hpcc4())
        made, page = self.compare(fixtures.with_waits(fixtures.hpcc4()), unknown)
        self.assertFalse({"waits", "path"} & set(made))
        self.assertNotIn("changed most rank", page)
        self.assertIn("waits are not known for r1 and are not compared", page)

    def test_sites_that_moved_to_other_lines_are_the_same(self):
        """Lines added on top of a program used to make its calls new ones, with all of their time and waits."""
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        for site in after["call_sites"]:
            if site.get("line"):
                site["line"] += 2
                site["file"] = "/elsewhere/" + site["file"].split("/")[-1]
        after["waits"][0]["total_ns"][2] += 8_000_000_000
        made, page = self.compare(before, after)
        self.assertNotIn(None, made["call_sites"]["growth"])
        sites = dict(zip(made["call_sites"]["place"], made["call_sites"]["first_place"]))
        self.assertEqual(sites["exchange (halo.c:90)"], "exchange (halo.c:88)")
        self.assertNotIn("exchange (halo.c:88)", sites)
        changed = [row for row in zip(*(made["waits"][name] for name in ("place", "rank", "awaited", "first_seconds", "last_seconds")))
                   if row[3] != row[4]]
        self.assertEqual([row[:3] for row in changed], [("exchange (halo.c:90)", 3, 1)])
        self.assertAlmostEqual(changed[0][4] - changed[0][3], 8)
        self.assertEqual(made["path"]["first_seconds"], made["path"]["last_seconds"])
        self.assertIn("matched 1 call site that moved; the table has the places of the last run", page)

    def test_waits_and_the_path_say_where_the_first_run_has_them(self):
        """Only the table of call sites used to tell the old line of a call that moved."""
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        for site in after["call_sites"]:
            if site.get("line"):
                site["line"] += 2
        names = [self.write_run(name, document) for name, document in (("before", before), ("after", after))]
        for words in (names, (names[0], names[0], "--with", names[1], names[1])):
            made = json.loads(self.fathom("compare", *words, "--json").stdout)
            for table in ("call_sites", "waits", "path"):
                moved = {(new, old) for new, old in zip(made[table]["place"], made[table]["first_place"]) if new != old}
                self.assertEqual(moved, {("exchange (halo.c:90)", "exchange (halo.c:88)")}, table)

    def test_a_moved_site_is_not_the_one_whose_line_it_takes(self):
        """Two calls in lines 88 and 90 move down by two: line 90 is what line 88 was."""
        documents = []
        for first_line in (88, 90):
            document = fixtures.with_waits(fixtures.hpcc4())
            site = next(site for site in document["call_sites"] if site.get("line") == 88)
            site["line"] = first_line
            document["call_sites"].append(dict(site, id=99, line=first_line + 2))
            block = next(block for block in document["calls"] if block["function"] == "MPI_Waitall")
            document["calls"].append(dict(block, site=99, total_ns=[3 * ns for ns in block["total_ns"]]))
            documents.append(document)
        made = self.compare(*documents)[0]
        rows = {new: (old, growth) for function, new, old, growth in zip(
            *(made["call_sites"][name] for name in ("function", "place", "first_place", "growth"))) if function == "MPI_Waitall"}
        self.assertEqual(rows, {"exchange (halo.c:90)": ("exchange (halo.c:88)", 1),
                                "exchange (halo.c:92)": ("exchange (halo.c:90)", 1)})

    def test_sites_without_lines_are_matched_by_their_offsets(self):
        """A program without debug information had new calls whenever it was built anew."""
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        for site in after["call_sites"]:
            if not site.get("line"):
                site["offset"] += 16
        made = self.compare(before, after)[0]
        self.assertNotIn(None, made["call_sites"]["growth"])
        self.assertIn(("hpcc+0x271f", "hpcc+0x270f"), list(zip(made["path"]["place"], made["path"]["first_place"])))

    def test_a_site_that_is_gone_keeps_the_others_apart(self):
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        extra = dict(next(site for site in before["call_sites"] if site.get("line") == 88), id=99, line=120)
        after["call_sites"].append(extra)
        after["calls"].append(dict(next(block for block in after["calls"] if block["function"] == "MPI_Waitall"), site=99))
        made, page = self.compare(before, after)
        self.assertEqual(made["call_sites"]["place"], made["call_sites"]["first_place"])
        self.assertNotIn("moved", page)

    def test_a_run_without_times_is_named(self):
        """It used to be said that nothing grew, though the run took four times as long."""
        before, after = fixtures.hpcc4(), fixtures.with_waits(fixtures.hpcc4())
        after["application"]["seconds"] = 4 * before["application"]["seconds"]
        page = " ".join(self.compare(before, after)[1].split())
        self.assertIn("calls were not timed in r0, so times, waits and the critical path are not compared", page)
        self.assertNotIn("nothing grew", page)
        after["application"]["seconds"] = before["application"]["seconds"]
        self.assertNotIn("nothing grew", self.compare(before, after)[1])

    def test_a_program_without_timed_calls_has_times(self):
        """Its calls were said not to be timed, below what had changed on the critical path."""
        before, after = (fixtures.with_waits(fixtures.hpcc4()) for _ in range(2))
        after.update(calls=[], waits=[])
        after["path"][0]["parts"] = after["path"][0]["parts"][:1]
        after["path"][0]["parts"][0]["function"] = "MPI_Finalize"
        made, page = self.compare(before, after)
        self.assertNotIn("not timed", page)
        self.assertIn("parts of the critical path that changed most", page)
        times = dict(zip(made["functions"]["name"], made["functions"]["last_seconds"]))
        self.assertEqual(times["MPI_Waitall"], 0)
        self.assertGreater(times["(program)"], 0)

    def test_runs_of_different_sizes_say_that_waits_are_not_compared(self):
        larger = fixtures.with_waits(fixtures.hpcc4())
        larger["world_size"] = 8
        page = self.compare(fixtures.with_waits(fixtures.hpcc4()), larger)[1]
        self.assertIn("who waits for whom is compared only for runs with the same number of ranks\n", page)

    def test_repeats_that_take_longer_grew(self):
        """The first of the old runs was compared with the last of the new ones, which are by chance the same."""
        before, after = self.repeats(12, 10, 10), self.repeats(12.5, 12.5, 11.9)
        page = self.fathom("compare", *before, "--with", *after).stdout
        self.assertIn("the traffic is the same", page)
        self.assertNotIn("nothing grew", page)

    def repeats(self, *seconds):
        """Run directories of runs that took so long, all the same but for that."""
        return [self.write_run(f"s{number}-{value}", exchange(4, value)) for number, value in enumerate(seconds)]

    def test_repeats_are_compared_by_their_medians(self):
        before, after = self.repeats(10, 10.2, 9.9, 10.1), self.repeats(11, 11.4, 11.2, 11.1)
        result = self.fathom("compare", *before, "--with", *after, "--json")
        made = json.loads(result.stdout)
        self.assertEqual(made["runs"]["side"], ["first"] * 4 + ["last"] * 4)
        row = dict(zip(made["totals"], list(zip(*made["totals"].values()))[0]))
        self.assertEqual([row[key] for key in ("quantity", "first", "first_least", "first_most")],
                         ["seconds", 10.05, 9.9, 10.2])
        self.assertAlmostEqual(row["last"], 11.15)
        self.assertAlmostEqual(row["p"], 2 / 70)
        page = self.fathom("compare", *before, "--with", *after).stdout
        self.assertTrue(page.startswith("slower: 11.1 s instead of 10.1 s, by more than chance explains (p = 0.029)\n"), page)
        page = self.fathom("compare", *before, "--with", *before).stdout
        self.assertTrue(page.startswith("chance alone may explain the difference in run time"), page)
        page = self.fathom("compare", *before[:3], "--with", *after[:3]).stdout
        self.assertTrue(page.startswith("too few repeats to tell a difference from chance"), page)

    def test_an_odd_repeat_does_not_choose_the_rank_of_the_path(self):
        """The change is that of the medians, and its rank used to be that of the means."""
        def run(name, *seconds_of_ranks):
            document = fixtures.with_waits(fixtures.hpcc4())
            part = document["path"][0]["parts"][0]
            part.update(rank=[0, 1], stretches=[3, 3], total_ns=[int(value * 1e9) for value in seconds_of_ranks])
            return self.write_run(name, document)
        before = [run(f"b{i}", 10, 40) for i in range(3)]
        after = [run("a0", 10, 45), run("a1", 10, 45), run("a2", 25, 45)]
        made = json.loads(self.fathom("compare", *before, "--with", *after, "--json").stdout)
        self.assertEqual((made["path"]["program"][0], made["path"]["rank"][0]), (1, 1))
        page = self.fathom("compare", *before, "--with", *after).stdout
        self.assertIn("5.00 s more of computing before MPI_Waitall in exchange (halo.c:88), on rank 1",
                      " ".join(page.split()))

    def test_a_limit_decides_the_exit_code(self):
        before, after = self.repeats(10, 10.2, 9.9, 10.1), self.repeats(11, 11.4, 11.2, 11.1)
        for limit, code, says in (("seconds=5%", 3, "limit exceeded: seconds grew by +10.9 %, at most 5 %, p = 0.029"),
                                  ("seconds=15", 0, "limit kept: seconds grew by +10.9 %, at most 15 %"),
                                  ("messages=0%", 0, "limit kept: messages grew by +0 %, at most 0 %")):
            result = self.fathom("compare", *before, "--with", *after, "--limit", limit)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(says, result.stdout)
        overlapping = self.repeats(12, 10, 9.5, 11)
        result = self.fathom("compare", *before, "--with", *overlapping, "--limit", "seconds=1%")
        self.assertEqual(result.returncode, 0)
        self.assertIn("limit kept, because chance explains it: seconds grew by", result.stdout)
        result = self.fathom("compare", *before, "--with", *after, "--limit", "seconds=5%", "--limit", "bytes=0%", "--json")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(json.loads(result.stdout)["limits"]["exceeded"], [1, 0])
        self.assert_refused(self.fathom("compare", *before, "--limit", "speed=5%"), 2, "have no 'speed'", "messages")
        self.assert_refused(self.fathom("compare", *before, "--limit", "seconds"), 2, "seconds=5%")

    def test_repeats_of_different_sizes_are_refused(self):
        names = [self.write_run("four", exchange(4, 8.0)), self.write_run("eight", exchange(8, 8.0))]
        self.assert_refused(self.fathom("compare", names[0], "--with", *names), 1, "the same number of ranks")

    def test_a_comparison_is_drawn(self):
        before, after = fixtures.with_waits(fixtures.hpcc4()), fixtures.with_waits(fixtures.hpcc4())
        after["calls"][0]["total_ns"] = [2 * ns for ns in after["calls"][0]["total_ns"]]
        names = [self.write_run("before", before), self.write_run("after", after)]
        sizes = [self.write_run(f"p{ranks}", exchange(ranks, 40 / ranks)) for ranks in (4, 8, 16)]
        for words, pictures in (((names[0], "--with", names[1], names[1]), {"changes.png", "repeats.png"}),
                                (names, {"changes.png"}), (sizes, {"scaling.png"})):
            self.assertEqual(self.fathom("compare", *words, "-o", "made.json", "--force").returncode, 0)
            drawn = self.fathom("plot", "made.json", "-o", "plots")
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            self.assertEqual({line.split("/")[-1] for line in drawn.stdout.splitlines()}, pictures)

    def test_equal_runs_show_no_growth(self):
        self.assertIn("nothing grew", self.compare(exchange(4, 8.0), exchange(4, 8.0))[1])

    def test_runs_that_cannot_be_compared_are_refused(self):
        self.write_run("r")
        self.assert_refused(self.fathom("compare", "r"), 2, "two runs")
        self.assert_refused(self.fathom("compare", "r", "nowhere"), 1, "there is no run 'nowhere'")


if __name__ == "__main__":
    unittest.main()
