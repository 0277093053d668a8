# SPDX-License-Identifier: BSD-3-Clause
"""fathom trace: a made-up job's trace is looked at, cut, joined and held against its profile."""
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

try:
    import matplotlib
except ImportError:
    matplotlib = None

import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
DRAWINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/fathom")


class Trace(harness.CliTest):
    def generate(self, name="r", *options):
        subprocess.run([GENERATE, self.path(name), "--ranks", "4", "--events", "4000", *options], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)

    def ok(self, *words):
        result = self.fathom("trace", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def events(self, *words):
        return [json.loads(line) for line in self.ok("print", "--json", *words).splitlines()]

    def test_info_describes_the_trace(self):
        self.generate()
        text = self.ok("info", "r", "--scan", "--ranks")
        for part in ("4 of 4 ranks", "MPI_Allreduce", "received", "n0", "none known"):
            self.assertIn(part, text)
        self.assertNotIn("problems", text)

    def test_print_is_in_order_of_time_and_chooses_events(self):
        self.generate()
        everything = self.events("r")
        times = [event["time_ns"] for event in everything]
        self.assertEqual(times, sorted(times))
        self.assertEqual({event["rank"] for event in everything}, {0, 1, 2, 3})
        chosen = self.events("r", "--ranks", "1,3", "--kinds", "messages", "--from", "500us", "--to", "1ms")
        self.assertEqual(chosen, [event for event in everything if event["rank"] in (1, 3) and
                                  event["kind"] in ("sent", "received") and 500_000 <= event["time_ns"] < 1_000_000])
        self.assertTrue(chosen)
        calls = self.events("r", "--functions", "MPI_Isend")
        self.assertEqual({event.get("function") for event in calls if event["kind"] in ("enter", "leave")}, {"MPI_Isend"})
        self.assertIn("MPI_Isend comm=0 peer=", self.ok("print", "r"))

    @unittest.skipIf(matplotlib is None, "python3-matplotlib is not installed")
    def test_the_timeline_is_drawn_with_the_profile_or_alone(self):
        self.generate()
        drawn = self.fathom("plot", "r", "-o", "p", "--format", "svg")
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        pictures = [f"{name}.svg" for name in ("calls-by-rank", "calls", "messages", "ranks", "sizes", "time-profile", "timeline", "traffic", "waits")]
        self.assertEqual(sorted(os.listdir(self.path("p"))), pictures)
        self.assertFalse(os.path.exists(self.path("r", "analysis.json")))  # that is for the user's own analyses
        alone = shutil.copytree(self.path("r", "trace"), self.path("alone", "trace"))
        window = self.fathom("plot", "alone", "-o", "q", "--format", "svg", "--from", "500us", "--to", "1ms")
        self.assertEqual((window.returncode, sorted(os.listdir(self.path("q")))),
                         (0, pictures), window.stderr)
        with open(self.path("q", "timeline.svg"), encoding="utf-8") as file:
            self.assertIn("after 0.0005", file.read())
        for bad, code, part in ((["--from", "5s"], 1, "5s"), (["--from", "2ms", "--to", "1ms"], 2, "before --to"),
                                (["--from", "soon"], 2, "'soon' is not a time")):
            self.assert_refused(self.fathom("plot", "r", "-o", "q", *bad), code, part)
        shutil.rmtree(alone)
        os.mkdir(alone)
        os.remove(self.path("alone", "profile.json"))  # made from the trace
        self.assert_refused(self.fathom("plot", "alone", "-o", "q"), 1, "no trace")

    @unittest.skipIf(matplotlib is None, "python3-matplotlib is not installed")
    def test_the_timeline_shows_calls_that_began_before_the_window(self):
        """They were left out, and stood there as the program's own work."""
        self.generate()
        sys.path.insert(0, DRAWINGS)
        from plots import timeline
        whole = timeline.load(harness.FATHOM, self.path("r"), None, "1s")[2]
        wait = max((bar for bar in whole.bars if bar[0] == 2), key=lambda bar: bar[3] - bar[2])
        inside = (wait[2] + wait[3]) // 2
        part = timeline.load(harness.FATHOM, self.path("r"), f"{inside}ns", f"{inside + 10}ns")[2]
        self.assertIn((2, 0, inside, inside + 10, wait[4]), part.bars)

    @unittest.skipIf(matplotlib is None, "python3-matplotlib is not installed")
    def test_the_timeline_never_shows_start_up_by_itself(self):
        """The window that nobody chose used to lie where the middle of the trace was, which a long MPI_Init may cover."""
        self.generate()
        sys.path.insert(0, DRAWINGS)
        from plots import timeline
        job, overview, detail = timeline.load(harness.FATHOM, self.path("r"), None, None)
        init = [event["time_ns"] for event in self.events("r", "--functions", "MPI_Init") if event["kind"] == "leave"]
        self.assertEqual(round(overview.begin), min(init))
        self.assertGreater(detail.begin, max(init))
        self.assertEqual(list(overview.first), [0, 1, 2, 3])
        phase = overview.longest_phase()
        self.assertTrue(phase.begin < detail.begin < phase.end)
        self.assertGreater(len(detail.arrows), 10)
        self.assertNotIn("MPI_Init", {bar[4] for bar in detail.bars})
        self.assertIn("from MPI_Init to MPI_Finalize", job.details())

    @unittest.skipIf(matplotlib is None, "python3-matplotlib is not installed")
    def test_the_timeline_joins_calls_and_messages(self):
        sys.path.insert(0, DRAWINGS)
        from plots import timeline
        event = lambda time, rank, kind, **more: {"time_ns": time, "rank": rank, "thread": 0, "kind": kind, **more}  # noqa: E731
        message = {"class": "point-to-point", "comm": 0, "tag": 5}
        found = timeline.Detail([
            event(5, 2, "enter", function="MPI_Barrier"),                  # all the window long
            event(6, 1, "enter", function="MPI_Init"), event(7, 0, "sent", peer=1, **message),
            event(8, 3, "enter", function="MPI_Recv"), event(9, 3, "leave", function="MPI_Recv"),
            event(10, 1, "leave", function="MPI_Init"), event(11, 1, "received", peer=0, **message),
            event(20, 0, "enter", function="MPI_Allreduce"),
            event(21, 0, "enter", function="MPI_Bcast"),                   # made by the other call
            event(22, 0, "sent", peer=1, **message), event(23, 0, "sent", peer=1, **message | {"tag": 6}),
            event(24, 0, "leave", function="MPI_Bcast"), event(30, 0, "leave", function="MPI_Allreduce"),
            event(40, 1, "enter", function="MPI_Recv"), event(41, 1, "received", peer=0, **message),
            event(42, 1, "received", peer=0, **message | {"class": "MPI_Allreduce", "tag": 6}),
            event(43, 1, "received", peer=0, **message),                   # sent before all that was read
        ], 10, 50, [0, 1, 2, 3])
        self.assertEqual(sorted(found.bars), [(0, 0, 20, 30, "MPI_Allreduce"), (1, 0, 10, 10, "MPI_Init"),
                                              (1, 0, 40, 50, "MPI_Recv"), (2, 0, 10, 50, "MPI_Barrier")])
        self.assertEqual(found.arrows, [(0, 0, 22, 1, 0, 41, False), (0, 0, 23, 1, 0, 42, True)])
        self.assertEqual([timeline.family(group) for group in ("collective", "probe", "completion", "communicator", None)],
                         ["collective", "receive", "wait and test", timeline.OTHER, timeline.OTHER])

    def test_slice_and_filter_write_what_print_shows(self):
        self.generate()
        self.ok("filter", "r", "--kinds", "messages", "--ranks", "0-1", "-o", "f")
        self.assertEqual(self.events("f"), self.events("r", "--kinds", "messages", "--ranks", "0-1"))
        self.ok("slice", "r", "--from", "500us", "--to", "1ms", "-o", "s")
        self.assertEqual(self.events("s"), self.events("r", "--from", "500us", "--to", "1ms"))
        self.assert_refused(self.fathom("trace", "slice", "r", "-o", "x"), 2, "--from")
        self.assert_refused(self.fathom("trace", "slice", "r", "--from", "1s", "-o", "s"), 2, "already holds a run")

    def test_merge_joins_what_was_split(self):
        self.generate()
        for name, ranks in (("a", "01"), ("b", "23")):
            os.makedirs(self.path(name, "trace"))
            for rank in ranks:
                shutil.copy(self.path("r", "trace", f"1.{rank}.trace"), self.path(name, "trace"))
        self.ok("merge", "a", "b", "-o", "m")
        self.assertEqual(self.events("m"), self.events("r"))
        self.assert_refused(self.fathom("trace", "merge", "a", "a", "-o", "n"), 1, "same process")

    def test_check_finds_one_missing_message(self):
        self.generate()
        self.assertIn("equal: trace and profile agree", self.ok("check", "r"))
        with open(self.path("r", "profile.json"), encoding="utf-8") as file:
            profile = json.load(file)
        profile["traffic"][0]["messages"][0] += 1
        with open(self.path("r", "profile.json"), "w", encoding="utf-8") as file:
            json.dump(profile, file)
        result = self.fathom("trace", "check", "r")
        self.assertEqual(result.returncode, 1)
        self.assertIn("differs: 1 of", result.stdout)

    def test_damage_is_named_as_the_reason(self):
        self.generate()
        path = self.path("r", "trace", "1.2.trace")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        at = data.rindex(b"FRAM", 0, data.rindex(b"FRAM"))  # the last frame of events
        data[at + 100] ^= 1
        with open(path, "wb") as file:
            file.write(data)
        result = self.fathom("trace", "check", "r")
        self.assertEqual(result.returncode, 1)
        self.assertIn("rank 2: records were lost", result.stdout)
        self.assertIn("1.2.trace, byte", self.ok("info", "r", "--scan"))

    def test_every_reader_shows_what_was_lost(self):
        """A trace said what it had lost under a name that no reader knew: "nothing known"."""
        self.generate("r", "--lost", "1234")
        self.assertRegex(self.ok("info", "r"), r"\nlost +1,234 records\n")
        info = json.loads(self.ok("info", "r", "--json"))
        self.assertEqual((info["lost_records"], info["processes"][1]["lost_records"]), (1234, 1234))
        self.assertIn("\nlost      1,234 records: rank 1 1,234\n", self.ok("check", "r"))
        analysed = self.fathom("analyze", "r")
        self.assertIn("note: rank 1 lost 1234 records: its times lack the lost calls", analysed.stdout)
        with open(self.path("r", "analysis.json"), encoding="utf-8") as file:
            self.assertIn("rank 1 lost 1234 records", json.dumps(json.load(file)))
        for name in ("chrome", "perfetto", "otf2", "sqlite"):
            result = self.fathom("export", "r", "--format", name, "-o", "x." + name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the trace lost 1234 records", result.stderr)
        for name in ("chrome", "perfetto"):
            with open(self.path("x." + name), "rb") as file:
                self.assertIn(b"rank 1 on n0 (lost 1234 records)", file.read())
        with contextlib.closing(sqlite3.connect(self.path("x.sqlite"))) as connection:
            lost = connection.execute("SELECT SUM(lost_records) FROM process").fetchone()
        self.assertEqual(lost, (1234,))
        for words in (["import", "x.otf2", "-o", "back"],
                      ["trace", "slice", "r", "--from", "1us", "-o", "part"]):
            result = self.fathom(*words)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(self.ok("info", words[-1]), r"\nlost +1,234 records\n")

    def lose_definitions(self, rank):
        path = self.path("r", "trace", f"1.{rank}.trace")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[data.index(b"FRAM") + 100] ^= 1  # in the payload of the first frame
        with open(path, "wb") as file:
            file.write(data)

    def test_no_reader_shows_a_host_without_a_name(self):
        """The host of a process whose definitions are damaged is unknown: an empty name was printed."""
        self.generate()
        self.lose_definitions(0)
        self.lose_definitions(2)
        text = self.ok("info", "r", "--ranks")
        self.assertRegex(text, r"hosts +\d \(n[^)]*\), and 2 processes on unknown hosts\n")
        self.assertRegex(text, r"\n +2  unknown host ")
        info = json.loads(self.ok("info", "r", "--json"))
        hosts = [process["host"] for process in info["processes"]]
        self.assertEqual(hosts, ["unknown host", "n0"] * 2)
        self.assertNotIn("host  ", " ".join(info["problems"]))
        os.remove(self.path("r", "profile.json"))  # made from the trace again
        for name, path in (("sqlite", "x.db"), ("chrome", "x.json"), ("paraver", "x.prv"),
                           ("graphml", "x.graphml"), ("pfprof", "x")):
            result = self.fathom("export", "r", "--format", name, "-o", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("host  ", result.stderr)
        with contextlib.closing(sqlite3.connect(self.path("x.db"))) as connection:
            hosts = dict(connection.execute("SELECT rank, host FROM process"))
        self.assertEqual(hosts[2], "unknown host")
        with open(self.path("x.row"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"LEVEL NODE SIZE \d\n(.+\n)*unknown host\n")
        with open(self.path("x.graphml"), encoding="utf-8") as file:
            self.assertIn('<node id="2"><data key="host">unknown host</data></node>', file.read())
        with open(self.path("x", "oxton-result2.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["processor_name"], "unknown host")
        for words in (["report", "r"], ["analyze", "r"]):
            result = self.fathom(*words)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotRegex(" ".join(result.stdout.split("\n")), r"host (\(|'' |is not known)")

    def test_wrong_usage_is_refused(self):
        self.generate()
        os.mkdir(self.path("none"))
        self.assert_refused(self.fathom("trace", "info", "none"), 1, "there is no trace in 'none'")
        self.assert_refused(self.fathom("trace"), 2, "see fathom trace --help")
        for words, part in ((("--ranks", "x"), "is not a list of ranks"), (("--from", "1h"), "is not a time"),
                            (("--ranks", "9"), "none of the ranks"), (("--functions", "MPI_Nothing"), "MPI_Nothing"),
                            (("--kinds", "odd"), "'odd'"), (("--communicators", "7"), "no communicator '7'")):
            self.assert_refused(self.fathom("trace", "print", "r", *words), 2, part)


if __name__ == "__main__":
    harness.main()
