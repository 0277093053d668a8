"""fathom trace: a made-up job's trace is looked at, cut, joined and held against its profile."""
import json
import os
import shutil
import subprocess
import unittest

import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]


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

    def test_info(self):
        self.generate()
        text = self.ok("info", "r", "--scan", "--ranks")
        for part in ("4 of 4 ranks", "MPI_Allreduce", "received", "n0", "nothing known"):
            self.assertIn(part, text)
        self.assertNotIn("problems", text)

    def test_print_is_in_order_and_chooses(self):
        self.generate()
        everything = self.events("r")
        times = [event["time_ns"] for event in everything]
        self.assertEqual(times, sorted(times))
        self.assertEqual({event["rank"] for event in everything}, {0, 1, 2, 3})
        chosen = self.events("r", "--ranks", "1,3", "--kind", "messages", "--from", "500us", "--to", "1ms")
        self.assertEqual(chosen, [event for event in everything if event["rank"] in (1, 3) and
                                  event["kind"] in ("sent", "received") and 500_000 <= event["time_ns"] < 1_000_000])
        self.assertTrue(chosen)
        calls = self.events("r", "--function", "MPI_Isend")
        self.assertEqual({event.get("function") for event in calls if event["kind"] in ("enter", "leave")}, {"MPI_Isend"})
        self.assertIn("MPI_Isend comm=0 peer=", self.ok("print", "r"))

    def test_slice_and_filter_write_what_print_shows(self):
        self.generate()
        self.ok("filter", "r", "--kind", "messages", "--ranks", "0-1", "-o", "f")
        self.assertEqual(self.events("f"), self.events("r", "--kind", "messages", "--ranks", "0-1"))
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

    def test_check_finds_one_message(self):
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

    def test_wrong_usage(self):
        self.generate()
        os.mkdir(self.path("none"))
        self.assert_refused(self.fathom("trace", "info", "none"), 1, "there is no trace in 'none'")
        self.assert_refused(self.fathom("trace"), 2, "see fathom trace --help")
        for words, part in ((("--ranks", "x"), "no list of ranks"), (("--from", "1h"), "is no time"),
                            (("--ranks", "9"), "none of the ranks"), (("--function", "MPI_Nothing"), "MPI_Nothing"),
                            (("--kind", "odd"), "'odd'"), (("--communicator", "7"), "no communicator 7")):
            self.assert_refused(self.fathom("trace", "print", "r", *words), 2, part)


if __name__ == "__main__":
    harness.main()
