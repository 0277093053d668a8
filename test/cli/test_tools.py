# SPDX-License-Identifier: BSD-3-Clause
"""The other subcommands: plot, export, import, doctor, and the help of all of them."""
import json
import os
import re
import shutil
import subprocess
import unittest

import fixtures
import harness

try:
    import matplotlib
except ImportError:
    matplotlib = None


class Help(harness.CliTest):
    def test_help_of_every_level_shows_examples(self):
        for name in ("run", "report", "plot", "export", "import", "simulate", "doctor"):
            for words in ((name, "--help"), ("help", name)):
                result = self.fathom(*words)
                self.assertEqual(result.returncode, 0)
                self.assertIn("Examples:\n  fathom " + name, result.stdout)
        result = self.fathom("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Examples:", result.stdout)

    def test_the_version_is_printed(self):
        result = self.fathom("--version")
        self.assertRegex(result.stdout, r"^fathom \d+\.\d+\.\d+\n"
                         r"commit ([0-9a-f]{7,40}(-dirty)?|unknown)\nOpen MPI \d+\.\d+(, \d+\.\d+)*\n$")

    def test_usage_errors_exit_with_2(self):
        self.assertEqual(self.fathom().returncode, 2)
        self.assert_refused(self.fathom("bogus"), 2, "'bogus'", "report")
        self.assert_refused(self.fathom("help", "bogus"), 2, "'bogus'")


@unittest.skipIf(matplotlib is None, "python3-matplotlib is not installed")
class Plot(harness.CliTest):
    def test_three_pictures_are_drawn_for_any_number_of_ranks(self):
        beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
        foreign = fixtures.profile(
            2, [fixtures.block("point-to-point", False, [(0, 2, 5, 1), (1, 0, 0, 3)])], [])
        foreign["ranks"].append({"rank": 2, "host": "n0", "world": "other", "rank_in_world": 0})
        cases = (("hpcc4", fixtures.hpcc4(), "png", []), ("big", fixtures.stencil(), "png", []),
                 ("empty", fixtures.empty(), "svg", ["--linear"]), ("foreign", foreign, "pdf", []))
        for name, document, kind, options in cases:
            self.write_run(name, document)
            result = self.fathom("plot", name, "-o", name + "/plots", "--format", kind, *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, "")
            self.assertEqual(sorted(os.listdir(self.path(name, "plots"))),
                             [f"{p}.{kind}" for p in ("messages", "sizes", "traffic")])
            for picture in os.listdir(self.path(name, "plots")):
                with open(self.path(name, "plots", picture), "rb") as file:
                    self.assertTrue(file.read(16).startswith(beginnings[kind]), picture)

    def test_the_help_says_which_pictures_need_no_trace(self):
        without, _, traced = self.fathom("plot", "--help").stdout.partition("Of a traced run")
        for picture in ("calls (", "calls-by-rank (", "ranks (", "waits (", "path ("):
            self.assertIn(picture, " ".join(without.split()))
            self.assertNotIn(picture, traced)

    def test_times_waits_and_the_path_are_drawn_without_a_trace(self):
        def drawn(name, document, *options):
            self.write_run(name, document)
            result = self.fathom("plot", name, "-o", name + "/plots", "--format", "svg", *options)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return {os.path.splitext(picture)[0] for picture in os.listdir(self.path(name, "plots"))} - {"messages", "sizes", "traffic"}
        self.assertEqual(drawn("waits", fixtures.with_waits(fixtures.hpcc4())), {"calls", "calls-by-rank", "ranks", "waits", "path"})
        for picture, words in (("waits", "140 s of waiting"), ("ranks", "36 % of the ranks. time is waiting"), ("path", "97 % of it is computing"),
                               ("calls", "2,000 calls"), ("calls-by-rank", "(?s)MPI_Waitall.*48.1 s.*white: none")):
            with open(self.path("waits", "plots", picture + ".svg"), encoding="utf-8") as file:
                self.assertRegex(file.read(), words)
        self.assertEqual(drawn("times", fixtures.with_times(fixtures.hpcc4())), {"calls", "calls-by-rank", "ranks"})
        with open(self.path("times", "plots", "ranks.svg"), encoding="utf-8") as file:
            self.assertNotIn("waiting", file.read())  # not known
        self.assertEqual(drawn("one", fixtures.with_waits(fixtures.hpcc4()), "--classes", "MPI_Bcast"), set())

    def test_figures_in_cells_can_be_read(self):
        """On a middling colour they were dark on dark."""
        document = fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 242_000_000, 1), (1, 0, 311_000_000, 1)])], [])
        self.write_run("r", document)
        self.assertEqual(self.fathom("plot", "r", "-o", "p", "--format", "svg").returncode, 0)
        with open(self.path("p", "traffic.svg"), encoding="utf-8") as file:
            picture = file.read()
        for cell in ("242 MB", "311 MB"):
            self.assertRegex(picture, f'fill: #ffffff[^>]*>{cell}<')

    def test_a_picture_says_that_sizes_are_unknown(self):
        document = fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 20, 6), (1, 0, 8, 1)])],
                                    [{"class": "point-to-point", "size": [8], "messages": [1]}], verdict="incomplete")
        for known, named in ((1, True), (7, False)):
            document["message_sizes"][0]["messages"] = [known]
            self.write_run(f"r{known}", document)
            self.assertEqual(self.fathom("plot", f"r{known}", "-o", f"p{known}", "--format", "svg").returncode, 0)
            with open(self.path(f"p{known}", "sizes.svg"), encoding="utf-8") as file:
                self.assertEqual("sizes of 6 more not known" in file.read(), named)

    def test_filters_reach_the_picture(self):
        self.write_run("r")
        for options, total in ((["--hidden"], "1.02 GB"), (["--user"], "2.02 GB"),
                               (["--class", "MPI_Alltoall"], "960 MB")):
            result = self.fathom("plot", "r", "-o", "p", "--format", "svg", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("p", "traffic.svg"), encoding="utf-8") as file:
                self.assertIn(total, file.read())

    def test_a_failed_plot_is_an_error(self):
        self.write_run("r")
        self.assert_refused(self.fathom("plot", "r", "-o", "p", "--class", "MPI_Foo"), 1, "MPI_Foo",
                            "point-to-point")
        self.assert_refused(self.fathom("plot", "r", "-o", "r/profile.json"), 1, "r/profile.json")
        self.write_run("bad", "{")
        self.assert_refused(self.fathom("plot", "bad", "-o", "p"), 1, "damaged")

    def test_wrong_usage_of_plot_is_refused(self):
        self.assert_refused(self.fathom("plot", "r"), 2, "--output DIR is missing")
        self.assert_refused(self.fathom("plot", "r", "-o", "p", "--format", "bmp"), 2, "bmp")
        self.assert_refused(self.fathom("plot", "r", "-o", "p", "--hidden", "--user"), 2, "--hidden")
        self.assert_refused(self.fathom("plot", "nowhere", "-o", "p"), 1, "there is no run")
        self.write_run("r")
        result = self.fathom("plot", "r", "-o", "p", FATHOM_PYTHON="/no/python")
        self.assert_refused(result, 1, "/no/python", "FATHOM_PYTHON")


class Export(harness.CliTest):
    def test_every_listed_format_is_written(self):
        self.write_run("r", fixtures.with_waits(fixtures.hpcc4()))
        listed = self.fathom("export", "--list").stdout
        of_traffic, of_trace, *of_both = ([line.split()[0] for line in part.splitlines() if line.startswith("  ")]
                                          for part in re.split("of the trace|of both", listed))
        self.assertIn("csv", of_traffic)
        self.assertIn("otf2", of_trace)
        for name in of_trace:
            self.assert_refused(self.fathom("export", "r", "--format", name, "-o", "out-" + name), 1, "r")
            self.assertFalse(os.path.exists(self.path("out-" + name)))
        for name in of_traffic + sum(of_both, []):
            result = self.fathom("export", "r", "--format", name, "-o", "out-" + name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(os.path.exists(self.path("out-" + name)))

    def test_times_of_calls_are_a_table(self):
        self.write_run("r", fixtures.with_times(fixtures.hpcc4()))
        self.assertEqual(self.fathom("export", "r", "-o", "r.calls.csv").returncode, 0)
        with open(self.path("r.calls.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 1 + 2 * 4)
        self.assertEqual(lines[2], "1,MPI_Waitall,,,500,1000000000,10,48100000000,0,0,exchange,src/halo.c,88,/usr/bin/hpcc,4660")
        self.write_run("untimed")
        self.assert_refused(self.fathom("export", "untimed", "-o", "u.calls.csv"), 1, "no times of calls", "--no-time")
        self.assert_refused(self.fathom("export", "untimed", "-o", "u.waits.csv"), 1, "who waited for whom", "--no-time")
        self.assert_refused(self.fathom("export", "untimed", "-o", "u.path.csv"), 1, "no critical path", "--no-time")

    def test_nothing_is_overwritten_silently(self):
        self.write_run("r")
        words = ("export", "r", "--format", "csv", "-o", "t.csv")
        self.assertEqual(self.fathom(*words).returncode, 0)
        self.assertEqual(self.fathom(*words).returncode, 1)
        self.assertEqual(self.fathom(*words, "--force").returncode, 0)

    def test_a_failed_export_is_an_error(self):
        self.write_run("r")
        self.assert_refused(self.fathom("export", "r", "--format", "bogus", "-o", "x"), 2, "bogus", "csv")
        self.assert_refused(self.fathom("export", "r", "-o", "x"), 2, "--format")
        self.assert_refused(self.fathom("export", "r", "--format", "csv"), 2, "-o")
        self.assert_refused(self.fathom("export", "--format", "csv"), 2, "run")
        self.assert_refused(self.fathom("export", "no", "--format", "csv", "-o", "x"), 1, "there is no run")
        self.assert_refused(self.fathom("export", "r", "--format", "csv", "-o", "x", "--class", "Q"), 1, "'Q'")
        self.assert_refused(self.fathom("export", "r", "--format", "csv", "-o", "no/x.csv"), 1, "no/x.csv")
        self.assert_refused(self.fathom("export", "r", "--format", "otf2", "-o", "x", "--class", "Q"), 2, "--class")


class Import(harness.CliTest):
    def test_an_export_is_imported_again(self):
        self.write_run("r")
        self.assertEqual(self.fathom("export", "r", "--format", "pfprof", "-o", "pf").returncode, 0)
        result = self.fathom("import", "pf", "-o", "again")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("fathom report again", result.stderr)
        self.assertIn("3.03 GB in 35,092 messages", self.fathom("report", "again").stdout)

    def test_json_says_what_was_imported(self):
        self.write_run("r")
        self.assertEqual(self.fathom("export", "r", "--format", "pfprof", "-o", "pf").returncode, 0)
        result = self.fathom("import", "pf", "-o", "again", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout), {"schema": "fathom-import/1", "run": "again", "format": "pfprof",
                                                     "holds": "profile", "ranks": 4, "notes": []})

    def test_a_failed_import_is_an_error(self):
        self.assert_refused(self.fathom("import", "nowhere", "-o", "r"), 1, "there is no 'nowhere'")
        self.assert_refused(self.fathom("import", "x"), 2, "--output RUN is missing")
        with open(self.path("notes.txt"), "w", encoding="utf-8") as file:
            file.write("no trace")
        self.assert_refused(self.fathom("import", "notes.txt", "-o", "r"), 1, "detected as pfprof", "--format", "otf2")
        self.assert_refused(self.fathom("import", "x", "-o", "r", "--format", "bogus"), 2, "bogus")
        os.makedirs(self.path("hollow"))
        self.assertEqual(self.fathom("import", "hollow", "-o", "r").returncode, 1)
        self.assertFalse(os.path.exists(self.path("r")))


class Doctor(harness.CliTest):
    def test_without_a_library_nothing_can_be_measured(self):
        result = self.fathom("doctor", FATHOM_LIBRARY="/no/such.so")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no    library", result.stdout)
        self.assertIn("nothing can be measured", result.stdout)

    def test_an_installed_tool_does_not_send_its_user_to_scripts_of_a_checkout(self):
        os.makedirs(self.path("bin"))
        installed = shutil.copy(harness.FATHOM, self.path("bin"))
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        for words in (["doctor"], ["run", "--", "true"]):
            result = subprocess.run([installed, *words], cwd=self.folder, env=environment, text=True, capture_output=True,
                                    timeout=120, check=False)
            self.assertNotEqual(result.returncode, 0)
            said = " ".join((result.stdout + result.stderr).split())
            self.assertIn("install Fathom again", said)
            self.assertNotIn("scripts/", said)

    def build_peruse(self, script, *words):
        with open(self.path("openmpi.sh"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(self.path("openmpi.sh"), 0o755)
        return self.fathom("doctor", "--build-peruse", *words, FATHOM_SCRIPTS=self.folder)

    def test_peruse_is_built_for_the_release_that_is_installed(self):
        result = self.build_peruse('echo "$@" >words; echo progress\n', "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(json.loads(result.stdout)["schema"], "fathom-doctor/1")
        self.assertIn("progress", result.stderr)
        with open(self.path("words"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"^\d+\.\d+\.\d+\w*-peruse\n$")

    def test_peruse_is_built_from_given_sources(self):
        self.build_peruse('echo "$@" >words\n', "--sources", self.folder)
        with open(self.path("words"), encoding="utf-8") as file:
            self.assertTrue(file.read().endswith(f"-peruse --sources {self.folder}\n"))

    def test_peruse_that_cannot_be_built(self):
        result = self.build_peruse("echo why >&2; exit 1\n")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("why", result.stderr)
        self.assert_refused(self.fathom("doctor", "--sources", "/"), 2, "--sources needs --build-peruse")

    def other_mpi(self, pml, release="6.0.0"):
        """An Open MPI whose library cannot be loaded here; it looks at it in a process that its mpirun starts."""
        os.makedirs(self.path("bin"), exist_ok=True)
        os.makedirs(self.path("there/lib"), exist_ok=True)
        with open(self.path("there/lib/libmpi.so.40"), "wb") as file:
            file.write(b"no library\0mca_pml\0")
        for name, text in (("mpirun", f'[ "$1" != --version ] || {{ echo "mpirun (Open MPI) {release}"; exit; }}; shift 2; exec "$@"'),
                           ("ompi_info", f"""cat <<END
path:libdir:{self.path("there/lib")}
mca:pml:base:param:pml:value:{pml}
mca:pml:base:param:pml:source:file (/its/own.conf:7)
mca:pml:ob1:version:"component:{release}"
mca:pml:ucx:version:"component:{release}"
END""")):
            with open(self.path("bin", name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text + "\n")
            os.chmod(self.path("bin", name), 0o755)
        return self.path("bin/mpirun")

    def findings(self, *words, **variables):
        told = json.loads(self.fathom("doctor", *words, "--json", **variables).stdout)
        return told, {line["what"]: (line["verdict"], line["finding"]) for line in told["findings"]}

    def test_another_open_mpi_is_asked_through_its_own_launcher(self):
        told, lines = self.findings(self.other_mpi("^ucx"))
        self.assertTrue(told["able"])
        self.assertEqual(lines["MPI library"], ("ok", f"Open MPI v6.0.0 ({self.path('there/lib/libmpi.so.40')})"))
        self.assertEqual((lines["source pml"][0], lines["source peruse"][0]), ("ok", "warn"))
        self.assertNotIn("--build-peruse", told["summary"])
        self.assertEqual(lines["default PML"][0], "ok")
        self.assertIn("ob1 (pml=^ucx, file (/its/own.conf:7))", lines["default PML"][1])

    def test_an_open_mpi_that_takes_ucx_says_what_ob1_would_show(self):
        _, lines = self.findings(self.other_mpi(""))
        self.assertRegex(lines["default PML"][1], "^ucx where .* else ob1; .*PERUSE")

    def test_an_overlay_for_another_open_mpi_is_found(self):
        launcher = self.other_mpi("^ucx")
        os.makedirs(self.path("overlay/replaces"))
        shutil.copy(self.path("there/lib/libmpi.so.40"), self.path("overlay/replaces"))
        _, lines = self.findings(launcher, FATHOM_OVERLAY=self.path("overlay"))
        self.assertEqual(lines["source peruse"][0], "ok")
        self.assertIn(self.path("overlay"), lines["source peruse"][1])

    def test_a_release_that_fathom_does_not_know(self):
        told, lines = self.findings(self.other_mpi("", "7.1.0"))
        self.assertFalse(told["able"])
        self.assertIn("Fathom knows Open MPI 4.1, 5.0, 6.0", lines["MPI library"][1])

    def test_what_is_no_mpirun_is_refused(self):
        for word, what in (("/no/mpirun", "mpirun"), ("/bin/true", "MPI library")):
            told, lines = self.findings(word)
            self.assertEqual((told["able"], lines[what][0]), (False, "no"))
        self.assertEqual(self.fathom("doctor", "--build-peruse", "/bin/true").returncode, 2)

    def test_a_missing_launcher_is_reported(self):
        result = self.fathom("doctor", PATH="/nowhere")
        self.assertIn("warn  mpirun", result.stdout)


if __name__ == "__main__":
    harness.main()
