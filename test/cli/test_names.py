# SPDX-License-Identifier: BSD-3-Clause
"""Names of hosts, phases and communicators may hold any byte, and every JSON output is valid JSON."""
import json
import os
import subprocess
import unittest

import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
SUFFIX = b'\xff\xc3("\\\x01\x7f\xed\xa0\x80\xf5'  # no UTF-8, and what JSON must escape
READ_AS = '\ufffd\ufffd("\\\x01\x7f\ufffd\ufffd\ufffd\ufffd'


def texts(document):
    """Every string in a JSON document, keys too."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from texts(value)
    elif isinstance(document, str):
        yield document


class Names(harness.CliTest):
    def setUp(self):
        super().setUp()
        subprocess.run([GENERATE, self.path("r"), "--ranks", "4", "--events", "2000", "--transfers",
                        "--suffix", SUFFIX], check=True, stdout=subprocess.DEVNULL, timeout=60)

    def made(self, *words):
        """What the command printed, as bytes."""
        done = subprocess.run([harness.FATHOM, *words], cwd=self.folder, capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def file(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def assert_json(self, data, *names):
        found = set(texts(json.loads(data.decode("utf-8"))))
        for name in names:
            self.assertTrue(any(name + READ_AS in text for text in found), (name, sorted(found)))

    def test_trace_print_holds_every_name(self):
        lines = b"[" + b",".join(self.made("trace", "print", "--json", "r").splitlines()) + b"]"
        self.assert_json(lines, "MPI_Init", "solve")

    def test_trace_info_holds_every_name(self):
        self.assert_json(self.made("trace", "info", "--json", "--scan", "r"),
                         "n0", "MPI_COMM_WORLD", "MPI_Init")

    def test_chrome_output_holds_every_name(self):
        self.made("export", "r", "--format", "chrome", "-o", "chrome.json")
        self.assert_json(self.file("chrome.json"),
                         "n0", "main", "MPI_COMM_WORLD", "MPI_Init", "solve")

    def test_pyrite_output_holds_every_name(self):
        self.made("export", "r", "--format", "pyrite", "-o", "pyrite.json")
        self.assert_json(self.file("pyrite.json"))

    def test_perfetto_output_holds_names_in_utf8(self):
        self.made("export", "r", "--format", "perfetto", "-o", "p")
        data = self.file("p")
        for name in (b"n0", b"main", b"MPI_Init", b"solve"):
            self.assertTrue(name + READ_AS.encode() in data, name)
            self.assertFalse(name + SUFFIX in data, name)

    def test_profile_and_report_hold_every_name(self):
        self.assert_json(self.file("r", "profile.json"), "n0", "MPI_COMM_WORLD", "/opt/halo/solver")
        self.assert_json(self.made("report", "--json", "r"), "/opt/halo/solver")
        self.made("export", "r", "--format", "pfprof", "-o", "pf")
        self.assert_json(self.file("pf", "oxton-result0.json"), "n0")

    def test_analysis_and_comparison_hold_every_name(self):
        self.made("analyze", "r")
        self.assert_json(self.file("r", "analysis.json"), "solve", "MPI_Init")
        self.assert_json(self.made("analyze", "--json", "r"), "solve", "MPI_Init")
        self.assert_json(self.made("compare", "--json", "r", "r"))

    def test_simulation_holds_every_name(self):
        simulate = ["simulate", "--cluster", "torus:dims=2,2", "--job", "r", "-o"]
        self.made(*simulate, "sim")
        self.made(*simulate, "times", "--model", "replay")
        for folder in ("sim", "times"):
            for name in os.listdir(self.path(folder)):
                if name.endswith(".json"):
                    self.assert_json(self.file(folder, name))


if __name__ == "__main__":
    unittest.main(verbosity=1)
