# SPDX-License-Identifier: BSD-3-Clause
"""fathom view: what is answered, and that every number is the one of fathom analyze."""
import json
import os
import random
import struct

import fixtures
import harness
from viewer import HOSTILE, ViewTest


class Answers(ViewTest):
    def test_runs_that_cannot_be_shown_say_why(self):
        self.write_run("good")
        self.write_run("damaged", "{\"schema\": \"fathom-prof")
        os.makedirs(self.path("empty"))
        self.assert_refused(self.fathom("view", "good", "absent", "--no-browser"), 1, "absent")
        self.serve("good", "damaged", "empty")
        runs = self.ask("/api/runs")["runs"]
        self.assertEqual([run["name"] for run in runs], ["good", "damaged", "empty"])
        self.assertEqual([bool(run["error"]) for run in runs], [False, True, True])
        for number in (1, 2):
            self.assertIn(runs[number]["error"], self.ask("/api/meta", 422, run=number)["error"])
        for path in ("/api/tile", "/api/raw", "/api/messages", "/api/strip", "/api/path", "/api/phases"):
            self.assertIn("trace", self.ask(path, 422)["error"])
        self.assertIn("trace", self.ask("/api/window", 422, **{"from": 1, "to": 2})["error"])

    def test_the_trace_of_a_running_job_is_left_alone_until_it_has_ended(self):
        self.generate("run", "--ranks", "2", "--events", "500")
        with open("/proc/self/stat", encoding="utf-8") as file:
            start = file.read().rpartition(")")[2].split()[19]
        mark = f"{os.getpid()} {start} {os.readlink('/proc/self/ns/pid')} {os.uname().nodename}"
        with open(self.path("run", ".running"), "w", encoding="utf-8") as file:
            file.write(f"{mark}\ncommand\na trace\n")
        self.serve("run")
        for _ in range(2):
            self.assertIn("still running", self.ask("/api/meta", 422)["error"])
        self.assertIn("still running", self.ask("/api/runs")["runs"][0]["error"])
        os.unlink(self.path("run", ".running"))
        self.assertEqual(self.ask("/api/meta")["ranks"], 2)

    def test_a_profile_alone_has_matrix_report_calls_and_findings(self):
        self.write_run("r1", fixtures.with_waits(fixtures.hpcc4()))
        self.serve("r1")
        meta = self.ask("/api/meta")
        self.assertEqual((meta["ranks"], meta["timeline"], meta["has_trace"]), (4, None, False))
        self.assertEqual(self.ask("/api/report")["report"], json.loads(self.fathom("report", "r1", "--json").stdout))
        said = json.loads(self.fathom("analyze", "r1", "--json").stdout)
        found = self.ask("/api/findings")["findings"]
        self.assertEqual([{k: v for k, v in one.items() if k != "id"} for one in found], said["findings"])
        self.assertEqual(self.ask("/api/analysis")["analysis"], said)
        tree = self.ask("/api/calls")["tree"]
        top = [i for i, parent in enumerate(tree["parent"]) if parent == -1]
        document = fixtures.with_waits(fixtures.hpcc4())
        self.assertEqual(sum(tree["ns"][i] for i in top), sum(sum(c["total_ns"]) for c in document["calls"]))
        self.assertEqual(sum(tree["wait_ns"][i] for i in top), sum(sum(w["total_ns"]) for w in document["waits"]))
        # A profile does not say when calls were made: the page says that these are those of the whole run.
        calls = self.ask("/api/calls", **{"from": 1, "to": 2})
        self.assertEqual((calls["whole_run"], calls["tree"]), (True, tree))
        # A function may be chosen whose class has no messages here.
        matrix = self.ask("/api/matrix", **{"class": "MPI_Scan"})
        self.assertEqual((matrix["size"], matrix["source"]), (4, []))

    def test_every_number_of_any_window_is_that_of_analyze(self):
        self.generate("run", "--ranks", "6", "--events", "30000")
        self.serve("run")
        meta = self.when_ready()
        chance = random.Random(18)
        span = meta["span"]
        for _ in range(6):
            begin, end = sorted(chance.sample(range(span["from_ns"], span["to_ns"]), 2))
            ranks = chance.choice(["", "0-2", "1,4"])
            asked = {"from": begin, "to": end, **({"ranks": ranks} if ranks else {})}
            words = ["--from", f"{begin}ns", "--to", f"{end}ns", *(["--ranks", ranks] if ranks else [])]
            window = self.ask("/api/window", **asked)
            said = self.analyze("run", "idle-time,flat-profile,wait-states,matrices,histograms", *words)
            def ns(column):
                return [round(second * 1e9) for second in column]
            idle, ranks_table = said["idle-time"]["idle_time"], window["by_rank"]
            at = [ranks_table["rank"].index(rank) for rank in idle["rank"]]
            for mine, theirs in (("mpi_ns", "mpi_seconds"), ("wait_ns", "waiting_seconds"), ("computing_ns", "program_seconds")):
                self.assertEqual([ranks_table[mine][i] for i in at], ns(idle[theirs]))
                self.assertEqual(window[mine], sum(ns(idle[theirs])))
            functions = said["flat-profile"]["functions"]
            self.assertEqual(window["functions"]["name"], functions["name"])
            self.assertEqual(window["functions"]["ns"], ns(functions["exclusive_seconds"]))
            self.assertEqual(window["functions"]["calls"], functions["count"])
            waits = said["wait-states"]["waits"]
            self.assertEqual(sorted(window["waits"]["ns"]) if not window["waits_more"] else [],
                             sorted(ns(waits["seconds"])) if not window["waits_more"] else [])
            pairs = said["matrices"]["all_pairs"]
            self.assertEqual(window["traffic"], {"bytes": sum(pairs["bytes"]), "messages": sum(pairs["messages"])})
            matrix = self.ask("/api/matrix", **asked)
            self.assertEqual(sorted(zip(matrix["source"], matrix["destination"], matrix["value"])),
                             sorted(zip(pairs["source"], pairs["destination"], pairs["bytes"])))
            sizes = said["histograms"]["message_sizes"]
            self.assertEqual(list(zip(window["sizes"]["class"], window["sizes"]["size"], window["sizes"]["messages"])),
                             list(zip(sizes["class"], sizes["low_bytes"], sizes["messages"])))
            self.assertEqual((sum(window["sizes"]["messages"]), window["size_bins"]["messages"]), (sum(pairs["messages"]), []))
            tree = self.ask("/api/calls", **asked)["tree"]
            self.assertFalse(self.ask("/api/calls", **asked)["whole_run"])
            places = [i for i, kind in enumerate(tree["kind"]) if kind == "mpi"]
            def by_function(column):
                return {name: sum(tree[column][i] for i in places if tree["name"][i] == name) for name in functions["name"]}
            for mine, theirs in (("calls", functions["count"]), ("ns", ns(functions["exclusive_seconds"])), ("bytes", functions["bytes"])):
                self.assertEqual(by_function(mine), {name: 0 if name.startswith("(") else value
                                                     for name, value in zip(functions["name"], theirs)})
            waiting = {}
            for place in zip(waits["function"], waits["file"], waits["line"], ns(waits["seconds"])):
                waiting[place[:3]] = waiting.get(place[:3], 0) + place[3]
            self.assertEqual({(tree["name"][i], tree["file"][i], tree["line"][i]): tree["wait_ns"][i] for i in places if tree["wait_ns"][i]},
                             waiting)
            self.assertEqual(self.ask("/api/analysis", only="wait-states", **asked)["analysis"]["analyses"]["wait-states"],
                             said["wait-states"])

    def test_analyses_findings_and_matrices_of_any_window_are_those_of_analyze(self):
        self.generate("run", "--ranks", "6", "--events", "12000", "--suffix", "x")  # with a phase
        self.serve("run")
        meta = self.when_ready()
        chance = random.Random(4)
        span = meta["span"]
        def ns(column):
            return [round(second * 1e9) for second in column]
        for turn in range(4):
            begin, end = sorted(chance.sample(range(span["from_ns"], span["to_ns"]), 2))
            asked = {"from": begin, "to": end}
            words = ["--from", f"{begin}ns", "--to", f"{end}ns"]
            if turn % 2:
                asked["ranks"] = "0-1,4"
                words += ["--ranks", "0-1,4"]
            said = self.analyze("run", "time-breakdown,flat-profile,idle-time,wait-states,matrices", *words)
            self.assertEqual(self.ask("/api/breakdown", **asked)["breakdown"], said["time-breakdown"])
            functions = self.ask("/api/functions", **asked)
            self.assertEqual((functions["flat-profile"], functions["idle-time"]), (said["flat-profile"], said["idle-time"]))
            whole = json.loads(self.fathom("analyze", "run", "--json", *words).stdout)
            found = self.ask("/api/findings", **asked)
            self.assertEqual([{k: v for k, v in one.items() if k != "id"} for one in found["findings"]], whole["findings"])
            pairs = said["matrices"]["all_pairs"]
            pairs = list(zip(pairs["source"], pairs["destination"], pairs["bytes"], pairs["messages"]))
            def cells(matrix):
                return sorted(cell for cell in zip(matrix["source"], matrix["destination"], matrix["value"]) if cell[2])
            self.assertEqual(cells(self.ask("/api/matrix", what="messages", **asked)), sorted((a, b, n) for a, b, _, n in pairs if n))
            waits, expected = said["wait-states"]["waits"], {}
            for victim, culprit, spent in zip(waits["rank"], waits["culprit"], ns(waits["seconds"])):
                expected[culprit, victim] = expected.get((culprit, victim), 0) + spent
            waiting = self.ask("/api/matrix", what="waits", **asked)
            self.assertEqual(cells(waiting), sorted((a, b, spent) for (a, b), spent in expected.items() if spent))
            by_host, hosts = self.ask("/api/matrix", by="host", **asked), {}
            rank_hosts = [meta["hosts"][host] for _, host in sorted(zip(meta["processes"]["rank"], meta["processes"]["host"]))]
            for a, b, number, _ in pairs:
                ends = rank_hosts[a], rank_hosts[b]
                hosts[ends] = hosts.get(ends, 0) + number
            order = list(dict.fromkeys(rank_hosts))
            self.assertEqual(sorted((order[a], order[b], number) for a, b, number in cells(by_host)),
                             sorted((a, b, number) for (a, b), number in hosts.items() if number))
            # What chooses a part of the traffic, as the page names it.
            for name, option, values in (("class", "--classes", sorted(set(meta["classes"]["name"]))),
                                         ("communicator", "--communicators", [str(one["id"]) for one in meta["communicators"]]),
                                         ("phase", "--phases", meta["phases"])):
                self.assertTrue(values, name)
                for value in values[:3]:
                    told = self.fathom("analyze", "run", "--json", "--only", "matrices", *words, option, value)
                    part = json.loads(told.stdout)["analyses"]["matrices"]["all_pairs"] if told.returncode == 0 else None
                    part = [] if part is None else sorted(cell for cell in zip(part["source"], part["destination"], part["bytes"]) if cell[2])
                    self.assertEqual(cells(self.ask("/api/matrix", **asked, **{name: value})), part, (name, value, told.stderr))
            if turn % 2:
                continue
            # The page Machine has no ranks in its questions: it dims them.
            sizes = self.ask("/api/machine/sizes", **asked)
            profile = said["flat-profile"]["functions"]
            calls = dict(zip(profile["name"], profile["count"]))
            for at, name in enumerate(sizes["functions"]):
                self.assertEqual(sum(sizes["calls"][at]) + sizes["unsized"][at], calls.get(name, 0), name)
            traffic = self.ask("/api/machine/traffic", bins=7, **asked)
            sums = {}
            for a, b, number, count in zip(*(traffic["flows"][column] for column in ("source", "destination", "bytes", "messages"))):
                before = sums.get((a, b), (0, 0))
                sums[a, b] = before[0] + number, before[1] + count
            self.assertEqual((sums, traffic["left_out"]), ({(a, b): (number, count) for a, b, number, count in pairs}, 0))
            idle, busy = said["idle-time"]["idle_time"], {}
            for rank, spent in zip(traffic["activity"]["rank"], traffic["activity"]["busy_ns"]):
                busy[rank] = busy.get(rank, 0) + spent
            self.assertEqual({rank: busy.get(rank, 0) for rank in idle["rank"]}, dict(zip(idle["rank"], ns(idle["mpi_seconds"]))))

    def test_sizes_of_messages_of_some_ranks_in_a_window_are_those_of_the_trace(self):
        self.generate("run", "--ranks", "6", "--events", "12000", "--bytes", "5000")
        self.generate("named", "--ranks", "6", "--events", "12000", "--suffix", "x")  # with a phase
        self.serve("run", "named")
        for run, name in ((0, "run"), (1, "named")):
            span = self.ask("/api/meta", run=run)["span"]
            begin = span["from_ns"] + (span["to_ns"] - span["from_ns"]) // 3
            end = begin + (span["to_ns"] - span["from_ns"]) // 4
            expected = {}
            for line in self.fathom("trace", "print", name, "--json").stdout.splitlines():
                event = json.loads(line)
                if event["kind"] == "received" and begin <= event["time_ns"] < end and {event["rank"], event["peer"]} & {2, 5}:
                    expected[event["class"], event["bytes"]] = expected.get((event["class"], event["bytes"]), 0) + 1
            self.assertGreater(len(expected), 1)
            sizes = self.ask("/api/window", run=run, ranks="2,5", **{"from": begin, "to": end})["sizes"]
            self.assertEqual(dict(zip(zip(sizes["class"], sizes["size"]), sizes["messages"])), expected)
            said = self.analyze(name, "histograms", "--from", f"{begin}ns", "--to", f"{end}ns", "--ranks", "2,5")
            sizes = said["histograms"]["message_sizes"]
            self.assertEqual(dict(zip(zip(sizes["class"], sizes["low_bytes"]), sizes["messages"])), expected)

    def test_lines_of_many_ranks_add_up_to_their_ranks(self):
        self.generate("run", "--ranks", "531", "--events", "60000")
        self.serve("run")
        layout = self.when_ready()["timeline"]
        self.assertEqual(layout["groups"], [1, 8, 64])
        def lines(group):
            found = []
            for row in range(-(-(-(-531 // group)) // 64)):
                tile = self.ask("/api/tile", row=row, **({"group": group} if group > 1 else {}))
                high, bins, _, _, first, ranks = struct.unpack_from("<6I", tile, 32)
                self.assertEqual((first, ranks), (64 * row * group, group))
                at = 64
                planes = []
                for kind, size in zip("IIffHHBBBB", (4, 4, 4, 4, 2, 2, 1, 1, 1, 1)):
                    planes.append(struct.unpack_from(f"<{high * bins}{kind}", tile, at))
                    at += size * high * bins
                self.assertEqual(at, len(tile))
                found += [[plane[i * bins:(i + 1) * bins] for plane in planes] for i in range(high)]
            return found
        single = lines(1)
        self.assertEqual(len(single), 531)
        for group in (8, 64):
            grouped = lines(group)
            self.assertEqual(len(grouped), -(-531 // group))
            for at, line in enumerate(grouped):
                members = single[at * group:(at + 1) * group]
                for plane in (1, 2, 3):  # messages, bytes in and out
                    self.assertEqual(list(line[plane]), [sum(column) for column in zip(*(member[plane] for member in members))])
                for share, exact in ((7, 1), (8, 1)):  # in MPI and waiting, each rounded
                    for whole, parts in zip(line[share], zip(*(member[share] for member in members))):
                        self.assertLessEqual(abs(whole - sum(parts) / len(members)), exact)
                for bin, (function, part) in enumerate(zip(line[4], line[6])):
                    there = {member[4][bin] for member in members} - {65535}
                    self.assertEqual(part > 0, function in there)
        for wrong in ({"group": 9}, {"group": 512}, {"group": 64, "row": 1}):
            self.ask("/api/tile", 404, **wrong)
        self.assertEqual(self.ask("/api/strip")["messages"], [sum(line[1][bin] for line in single) for bin in range(len(single[0][1]))])

    def test_tiles_add_up_to_the_whole_run(self):
        self.generate("wide", "--ranks", "70", "--events", "20000")
        self.generate("long", "--ranks", "2", "--events", "80000")
        self.serve("wide", "long")
        for run, name, rows, levels in ((0, "wide", 2, 1), (1, "long", 1, 2)):
            self.check_tiles(run, name, rows, levels)

    def test_strips_of_some_ranks_add_up_to_the_strip_of_all(self):
        self.generate("run", "--ranks", "70", "--events", "30000")
        self.serve("run")
        self.when_ready()
        whole = self.ask("/api/strip")
        parts = [self.ask("/api/strip", ranks=ranks) for ranks in ("0-2,69", "3-40", "41-68")]
        for name in ("mpi_ns", "wait_ns", "path_ns", "messages", "bytes_in", "bytes_out"):
            self.assertEqual([sum(column) for column in zip(*(part[name] for part in parts))], whole[name], name)
        self.assertEqual(sum(part["all_ns"] for part in parts), whole["all_ns"])
        for at, group in enumerate(whole["groups"]):
            self.assertEqual([sum(column) for column in zip(*(part["ns"][at] for part in parts))], whole["ns"][at], group)
        for part in parts:
            self.assertEqual((part["groups"], part["bins"], part["bin_ns"], part["ready"]),
                             (whole["groups"], whole["bins"], whole["bin_ns"], 7))
            self.assertEqual([sum(column) for column in zip(*part["ns"])], part["mpi_ns"])
        self.assertEqual(self.ask("/api/strip", ranks="0-69")["ns"], whole["ns"])
        self.ask("/api/strip", 400, ranks="x")

    def test_what_a_window_puts_on_links_is_the_traffic_of_analyze(self):
        self.generate("run", "--ranks", "6", "--events", "20000")
        self.serve("run")
        if "error" in json.loads(self.raw("/api/network", Authorization=f"Bearer {self.token}")[2]):
            self.skipTest("built without the simulator")
        span = self.when_ready()["span"]
        chance = random.Random(7)
        # A rank on each host: what a host's two links carry is what its rank sends and receives.
        network = {"cluster": "leafspine:leaves=2;spines=1;hosts=3", "placement": "block"}
        whole = self.ask("/api/network", **network)
        nodes, links, host_of = whole["nodes"], whole["links"], whole["runs"][0]["rank_host"]
        rank_of = {host: rank for rank, host in enumerate(host_of)}
        for model in ("load", "flow", "replay"):
            begin, end = sorted(chance.sample(range(span["from_ns"], span["to_ns"]), 2))
            window = {"from": begin, "to": end}
            pairs = self.analyze("run", "matrices", "--from", f"{begin}ns", "--to", f"{end}ns")["matrices"]["all_pairs"]
            pairs = list(zip(pairs["source"], pairs["destination"], pairs["bytes"]))
            for chosen, keep in (({}, lambda a, b: True), ({"ranks": "1,4"}, lambda a, b: {a, b} & {1, 4}),
                                 ({"pair": "0-1"}, lambda a, b: (a, b) == (0, 1))):
                said = self.ask("/api/network", only="chosen", model=model, **network, **window, **chosen)["runs"][0]
                carried = dict(zip(said["link"], said["bytes"]))
                expected = {}
                for link, (source, target) in enumerate(zip(links["source"], links["target"])):
                    if not links["host"][link]:
                        continue
                    sent = [number for a, b, number in pairs if a != b and keep(a, b) and
                            (rank_of[source] == a if nodes["host"][source] else rank_of[target] == b)]
                    expected[link] = sum(sent)
                self.assertEqual({link: carried.get(link, 0) for link in expected}, expected, (model, chosen))
                self.assertGreater(sum(expected.values()), 0)
            for link in expected:
                content = self.ask("/api/network/link", link=link, model=model, **network, **window)
                sent = {(a, b): number for a, b, number in pairs if a != b and number and
                        (rank_of[links["source"][link]] == a if nodes["host"][links["source"][link]] else rank_of[links["target"][link]] == b)}
                self.assertEqual(dict(zip(zip(content["pairs"]["source"], content["pairs"]["destination"]), content["pairs"]["bytes"])), sent)
                self.assertEqual((content["bytes"], sum(content["flows"]["bytes"])), (sum(sent.values()), sum(sent.values())))
        self.ask("/api/network", 422, only="chosen", **network, **{"from": span["to_ns"] + 10**9})
        for path in ("/api/network", "/api/network/link"):
            for wrong in ({"from": 5, "to": 4}, {"from": "x"}, {"to": "-1"}, {"ranks": "3-"}):
                self.ask(path, 400, **({"link": 0} if path.endswith("link") else {}), **network, **wrong)

    def test_a_simulation_of_a_window_is_that_of_simulate(self):
        self.generate("run", "--ranks", "6", "--events", "20000", "--suffix", "x")  # with a phase
        self.serve("run")
        if "error" in json.loads(self.raw("/api/network", Authorization=f"Bearer {self.token}")[2]):
            self.skipTest("built without the simulator")
        span = self.when_ready()["span"]
        chance = random.Random(11)
        for model in ("load", "flow", "load", "flow"):
            begin, end = sorted(chance.sample(range(span["from_ns"], span["to_ns"]), 2))
            placement = chance.choice(["block", "cyclic", "treematch"])
            network = {"cluster": "leafspine:leaves=3;spines=2;hosts=2", "placement": placement, "model": model}
            said = self.fathom("simulate", "--job", "run", "--host-links", "--json", "--force", "-o", "simulated", "--from", f"{begin}ns",
                               "--to", f"{end}ns", *(word for name, value in network.items() for word in (f"--{name}", value)))
            self.assertEqual(said.returncode, 0, said.stderr)
            wanted = json.loads(said.stdout)["runs"]
            answer = self.ask("/api/network", **network, **{"from": begin, "to": end})
            run, hosts = answer["runs"][0], {name for name, host in zip(answer["nodes"]["name"], answer["nodes"]["host"]) if host}
            self.assertEqual([run["result"]], wanted)
            pairs = self.analyze("run", "matrices", "--from", f"{begin}ns", "--to", f"{end}ns")["matrices"]["all_pairs"]
            sent = sum(number for a, b, number in zip(pairs["source"], pairs["destination"], pairs["bytes"]) if a != b)
            host_links = [link["traffic"] for link in run["result"]["links"] if link["source"] in hosts]
            self.assertGreater(sent, 0)
            if model == "load":
                self.assertEqual(sum(host_links), sent)
                continue
            # What the slider goes through is what the window put on the links.
            self.assertAlmostEqual(sum(run["carried"]["bytes"]) / sum(link["traffic"] for link in run["result"]["links"]), 1)
        self.assert_refused(self.fathom("simulate", "--job", "run", "--cluster", "torus:dims=3,3", "--model", "replay", "--from", "1ms",
                                        "-o", "replayed"), 1, "fathom trace slice")

    def check_tiles(self, run, name, rows, levels):
        layout = self.when_ready(run)["timeline"]
        self.assertEqual((layout["rows"], layout["levels"], layout["columns"][0]), (rows, levels, 1))
        strip = self.ask("/api/strip", run=run)
        totals = []
        for level, columns in enumerate(layout["columns"]):
            messages = 0
            for row in range(rows):
                for column in range(columns):
                    tile = self.ask("/api/tile", run=run, level=level, row=row, column=column)
                    kind, *numbers = struct.unpack_from("<4s3I2d8I", tile)
                    self.assertEqual((kind, numbers[:3]), (b"FVT1", [level, row, column]))
                    processes, bins, planes, ready, first = numbers[5:10]
                    high = {"wide": (64, 6), "long": (2,)}[name][row]
                    self.assertEqual((processes, planes, ready, first), (high, 1023, 7, 64 * row))
                    cells = processes * bins
                    self.assertEqual(len(tile), 64 + cells * 24)
                    messages += sum(struct.unpack_from(f"<{cells}I", tile, 64 + 4 * cells))
            totals.append(messages)
        self.assertEqual(set(totals), {sum(strip["messages"])})
        said = self.analyze(name, "matrices")["matrices"]["all_pairs"]
        # Each message is counted at both ends.
        self.assertEqual(totals[0], 2 * sum(said["messages"]))
        self.assertEqual(sum(strip["bytes_in"]), sum(said["bytes"]))
        self.assertEqual(sum(map(sum, strip["ns"])), sum(strip["mpi_ns"]))
        small = self.ask("/api/tile", run=run, planes="function,mpi_share")
        self.assertEqual(len(small), 64 + high * 256 * 3 if rows == 1 else 64 + 64 * 256 * 3)
        for wrong in ({"level": 99}, {"row": 2}, {"column": layout["columns"][0]}, {"level": "x"}):
            self.ask("/api/tile", 404, run=run, **wrong)
        self.ask("/api/tile", 400, run=run, planes="nothing")

    def test_the_pyramid_is_kept_and_made_anew_when_the_trace_changes(self):
        self.generate("run", "--ranks", "4", "--events", "20000")
        self.serve("run")
        self.when_ready()
        first = self.ask("/api/tile")
        self.end()
        kept = {name: os.stat(self.path("run", "view", name)).st_mtime_ns
                for name in ("calls.pyramid", "waits.pyramid")}
        self.serve("run")
        self.when_ready()
        self.assertEqual(self.ask("/api/tile"), first)
        self.end()
        for name, time_ns in kept.items():
            self.assertEqual(os.stat(self.path("run", "view", name)).st_mtime_ns, time_ns)
        self.generate("other", "--ranks", "4", "--events", "40000")
        os.rename(self.path("run", "trace"), self.path("old"))
        os.rename(self.path("other", "trace"), self.path("run", "trace"))
        with open(self.path("run", "view", "waits.pyramid"), "r+b") as file:
            file.truncate(100)
        self.serve("run")
        self.when_ready()
        self.assertNotEqual(self.ask("/api/tile"), first)

    def test_single_calls_are_those_of_the_trace(self):
        self.generate("run", "--ranks", "4", "--events", "8000")
        self.serve("run")
        meta = self.when_ready()
        middle = (meta["span"]["from_ns"] + meta["span"]["to_ns"]) // 2
        begin, end = middle - 200_000, middle + 200_000
        body = self.ask("/api/raw", **{"from": begin, "to": end})
        name, count, left_out, ready = struct.unpack_from("<4s3I", body)
        self.assertEqual((name, left_out, ready), (b"FVR1", 0, 7))
        self.assertEqual(len(body), 16 + count * (4 * 8 + 4 * 4 + 2 + 2))
        begins = struct.unpack_from(f"<{count}d", body, 16)
        ends = struct.unpack_from(f"<{count}d", body, 16 + 8 * count)
        processes = struct.unpack_from(f"<{count}I", body, 16 + 32 * count)
        functions = struct.unpack_from(f"<{count}I", body, 16 + 36 * count)
        numbers = struct.unpack_from(f"<{count}I", body, 16 + 44 * count)
        sites = self.ask("/api/sites")["sites"]
        self.assertEqual(sites["id"], list(range(len(sites["id"]))))
        # The program is gone: where in its file the call was.
        where = [int(sites["file"][n].partition("+")[2], 16) if n != 4294967295 else 0 for n in numbers]
        found = sorted((int(a), int(b), p, meta["functions"]["name"][f], site)
                       for a, b, p, f, site in zip(begins, ends, processes, functions, where))
        said = self.fathom("trace", "print", "run", "--json")
        self.assertEqual(said.returncode, 0, said.stderr)
        expected, open_calls = [], {}
        for line in said.stdout.splitlines():
            event = json.loads(line)
            if event["kind"] == "enter":
                open_calls[event["rank"]] = event
            elif event["kind"] == "leave":
                enter = open_calls[event["rank"]]
                a, b = enter["time_ns"], event["time_ns"]
                if a < end and b > begin:
                    # Its address is the one that it returns to; the file begins at 0x400000.
                    expected.append((a, b, event["rank"], event["function"], int(enter.get("site", "0x400001"), 16) - 0x400001))
        self.assertEqual(found, sorted(expected))
        whole = self.ask("/api/raw", **{"from": meta["span"]["from_ns"], "to": meta["span"]["to_ns"] + 1})
        count = struct.unpack_from("<I", whole, 4)[0]
        said = self.analyze("run", "wait-states")["wait-states"]["waits"]["seconds"]
        self.assertEqual(sum(struct.unpack_from(f"<{count}d", whole, 16 + 16 * count)), sum(round(s * 1e9) for s in said))
        some = self.ask("/api/messages", **{"from": begin, "to": end, "top": 3})
        every = self.ask("/api/messages", **{"from": begin, "to": end, "top": 5000})
        self.assertEqual(some["shown"] + some["more"], every["shown"])
        self.assertEqual(some["messages"]["wait_ns"], sorted(every["messages"]["wait_ns"])[::-1][:3])

    def test_hostile_names_arrive_as_text(self):
        self.generate("run", "--ranks", "2", "--events", "500", "--suffix", HOSTILE)
        folder = "<img src=x onerror=alert(1)>\"'\u2028 ..%2f"
        os.rename(self.path("run"), self.path(folder))
        self.serve(folder)
        meta = self.when_ready()
        self.assertIn(HOSTILE, meta["hosts"][0])
        self.assertIn(HOSTILE, meta["application"])
        self.assertEqual((meta["name"], self.ask("/api/runs")["runs"][0]["name"]), (folder, folder))
        for path in ("/api/meta", "/api/report", "/api/matrix"):
            status, headers, body = self.raw(path, Authorization=f"Bearer {self.token}")
            self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))

    def test_views_are_saved_with_the_run(self):
        self.write_run("r1")
        self.serve("r1")
        self.assertEqual(self.ask("/api/views")["views"], [])
        views = {"views": [{"name": HOSTILE, "state": {"window": [1, 2.5, None]}, "note": "n\u00e4her"}]}
        token = f"Bearer {self.token}"
        body = json.dumps(views).encode()
        self.assertEqual(self.raw("/api/views", "PUT", body, Authorization=token)[0], 405)  # as a form could
        status, _, said = self.raw("/api/views", "PUT", body, Authorization=token, X_Fathom="1")
        self.assertEqual(status, 200, said)
        self.end()
        self.serve("r1")
        saved = self.ask("/api/views")["views"]
        self.assertEqual([(v["name"], v["state"], v["note"]) for v in saved],
                         [(HOSTILE, {"window": [1, 2.5, None]}, "n\u00e4her")])
        token = f"Bearer {self.token}"
        for wrong in (b"", b"[]", b"{\"views\": 3}", b"{\"views\": [{\"name\": 3}]}", b"x" * 300_000,
                      b"{\"views\": [" + b"{}," * 1000 + b"{}]}", b"{\"views\": [{\"state\": " + b"[" * 10000):
            status = self.raw("/api/views", "PUT", wrong, Authorization=token, X_Fathom="1")[0]
            self.assertIn(status, (400, 413), wrong[:50])
        self.assertEqual(len(self.ask("/api/views")["views"]), 1)

    def test_two_runs_are_compared_as_by_compare(self):
        self.write_run("a")
        self.write_run("b", fixtures.with_times(fixtures.hpcc4()))
        self.serve("a", "b")
        said = json.loads(self.fathom("compare", "a", "b", "--json").stdout)
        self.assertEqual(self.ask("/api/compare", **{"run": 0, "with": 1})["compare"], said)
        self.ask("/api/compare", 400, **{"run": 0, "with": 0})

    def test_large_matrices_come_as_tiles_that_add_up(self):
        chance = random.Random(4)
        rows = sorted({(chance.randrange(3000), chance.randrange(3000)): None for _ in range(5000)})
        traffic = fixtures.block("point-to-point", False, [(s, d, 1 + chance.randrange(9999), 1) for s, d in rows])
        self.write_run("big", fixtures.profile(3000, [traffic], [], hosts=30))
        self.serve("big")
        for order in ("rank", "pattern", "cluster", "host"):
            for level, cell in enumerate((16, 4, 1) if order == "rank" else (16,)):
                tiles = -(-(-(-3000 // cell)) // 256)
                total = 0
                for row in range(tiles):
                    for column in range(tiles):
                        body = self.ask("/api/matrix", order=order, level=level, row=row, column=column)
                        name, _, _, _, high, wide, width, levels, size = struct.unpack_from("<4s8I", body)
                        all_bytes, most = struct.unpack_from("<2d", body, 36)
                        self.assertEqual((name, levels, width, len(body)), (b"FVM1", 3, cell, 52 + 8 * high * wide + 4 * size))
                        self.assertEqual(size, 3000 if level == 0 else 0)
                        if size:  # who stands where, in whatever order
                            placed = struct.unpack_from(f"<{size}I", body, 52 + 8 * high * wide)
                            self.assertEqual(sorted(placed), list(range(size)))
                            if order in ("rank", "pattern"):
                                self.assertEqual(placed == tuple(range(size)), order == "rank")
                        total += sum(struct.unpack_from(f"<{high * wide}d", body, 52))
                self.assertEqual(total, sum(traffic["bytes"]))
                self.assertEqual((all_bytes, most), (sum(traffic["bytes"]), max(traffic["bytes"])))
        by_host = self.ask("/api/matrix", by="host")
        self.assertEqual((by_host["size"], sum(by_host["value"])), (30, sum(traffic["bytes"])))


if __name__ == "__main__":
    harness.main()
