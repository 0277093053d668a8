# SPDX-License-Identifier: BSD-3-Clause
"""What a user meets first: the package itself, its words, its refusals, and how it shows itself in a notebook."""
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import fathom
import pandas
from fathom import Filter

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
GENERATE, CLI = os.environ["FATHOM_TRACE_GENERATE"], os.environ["FATHOM_BINARY"]


def generated(test, *options):
    folder = tempfile.TemporaryDirectory(prefix="fathom-package-")
    test.addClassCleanup(folder.cleanup)
    path = os.path.join(folder.name, "run")
    subprocess.run([GENERATE, path, *options], check=True, capture_output=True)
    return path


def public_members(owner):
    """(name, what it is) of everything public that a class or module offers, inherited from this package too."""
    for name in sorted(dir(owner)):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(owner, name)
        member = member.fget if isinstance(member, property) else member
        member = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isfunction(member) and member.__module__.startswith("fathom"):
            yield name, member


class Package(unittest.TestCase):
    def test_the_version_is_that_of_the_tool(self):
        said = subprocess.run([CLI, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertIn(fathom.__version__, said.split())
        self.assertRegex(fathom.__version__, r"^\d+\.\d+\.\d+")

    def test_the_package_has_type_annotations(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(fathom.__file__), "py.typed")))
        for function in (fathom.open, fathom.Run.slice, fathom.Run.findings, fathom.Engine.step):
            self.assertIn("return", function.__annotations__)

    def test_every_public_member_has_a_docstring(self):
        missing, seen = [], 0
        for name in fathom.__all__:
            offered = getattr(fathom, name)
            members = [(name, offered)]
            if inspect.isclass(offered) and offered is not fathom.Error:
                members += [(f"{name}.{member}", of) for member, of in public_members(offered)]
            for full, member in members:
                seen += 1
                if full != "Error" and not inspect.getdoc(member):
                    missing.append(full)
        self.assertEqual(missing, [])
        self.assertGreater(seen, 70)

    def test_the_package_adds_one_name_at_the_top_level(self):
        """The extension was a module of its own, and the drawings a package named "plots"."""
        folder = os.path.dirname(os.path.dirname(fathom.__file__))
        self.assertEqual({module.name for module in pkgutil.iter_modules([folder])}, {"fathom"})

    def test_a_users_module_may_have_any_name(self):
        """Beside a file plots.py no picture was drawn, neither here nor by `fathom plot`."""
        path = generated(type(self), "--ranks", "4", "--events", "4000")
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.dirname(fathom.__file__)
            names = [module.name for module in pkgutil.iter_modules([package, os.path.join(package, "plots")])] + ["plots"]
            for name in names:
                if not name.startswith("_") and name not in sys.stdlib_module_names:
                    with open(os.path.join(folder, f"{name}.py"), "w", encoding="utf-8") as file:
                        file.write("raise SystemExit('the wrong module')\n")
            with open(os.path.join(folder, "mine.py"), "w", encoding="utf-8") as file:
                file.write("import sys, fathom\nrun = fathom.open(sys.argv[1])\n"
                           "for draw in (run.plot_comm_matrix, run.plot_timeline, run.plot_flat_profile): draw().savefig('x.png')\n")
            subprocess.run([sys.executable, "mine.py", path], cwd=folder, check=True)
            drawn = subprocess.run([CLI, "plot", path, "-o", "pictures"], cwd=folder, capture_output=True, text=True,
                                   env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))

    def test_importing_changes_no_settings_of_matplotlib(self):
        """Every figure of the user's own changed its type when the first picture was drawn."""
        path = generated(type(self), "--ranks", "4", "--events", "4000")
        before = dict(matplotlib.rcParams)
        fathom.open(path).plot_timeline()._repr_png_()
        self.assertEqual(dict(matplotlib.rcParams), before)


class Words(unittest.TestCase):
    """A wrong name is an error that lists the right ones."""

    @classmethod
    def setUpClass(cls):
        cls.path = generated(cls, "--ranks", "4", "--events", "4000", "--suffix", "-a")
        cls.run_ = fathom.open(cls.path)

    def assert_listed(self, kind, act, *right):
        with self.assertRaises(kind) as raised:
            act()
        for name in right:
            self.assertIn(str(name), str(raised.exception))

    def test_an_unknown_choice_of_traffic_is_answered_with_the_known_ones(self):
        run = self.run_
        for wrong in (lambda: run.comm_matrix(class_name="point"), lambda: run.comm_by_process(class_name="point"),
                      lambda: run.plot_comm_matrix(class_name="point"), lambda: run.plot_message_histogram(class_name="point"),
                      lambda: run.slice(0, 140_000).comm_matrix(class_name="point")):
            self.assert_listed(ValueError, wrong, "'point'", "point-to-point", "MPI_Allreduce")
        self.assert_listed(ValueError, lambda: run.comm_matrix(phase="solv"), "'solv'", "solve-a")
        self.assert_listed(ValueError, lambda: run.comm_matrix(communicator=7), "'7'", "0")
        self.assert_listed(ValueError, lambda: run.comm_matrix("sizes"), "size", "count", "mean")
        self.assert_listed(ValueError, lambda: run.comm_over_time("bytes"), "size", "count")
        self.assert_listed(ValueError, lambda: run.comm_over_time("size", "sent"), "send", "receive")
        self.assert_listed(ValueError, lambda: run.plot_comm_matrix("mean"), "size", "count")

    def test_a_known_class_that_a_part_lacks_is_accepted(self):
        self.assertEqual(self.run_.slice(0, 140_000).comm_matrix(class_name="MPI_Allreduce").sum(), 0)
        self.assertEqual(self.run_.select(phase="solve-a").select(phase="").ranks, 4)

    def test_an_unknown_field_of_a_filter_is_answered_with_the_known_ones(self):
        self.assert_listed(ValueError, lambda: self.run_.filter("Nmae", "==", "MPI_Send"), "'Nmae'", "Name", "Site")
        self.assert_listed(ValueError, lambda: self.run_.filter("Nmae == 'MPI_Send'").events, "'Nmae'", "Name", "Timestamp (ns)")
        self.assert_listed(ValueError, lambda: Filter("Name", "=", 1), "==", "not-in")

    def test_an_unknown_rank_or_phase_is_answered_with_the_known_ones(self):
        self.assert_listed(ValueError, lambda: self.run_.select(ranks=[1, 9]), "9", "0 to 3")
        self.assert_listed(ValueError, lambda: self.run_.select(phase="solv"), "'solv'", "solve-a")

    def test_an_empty_slice_is_refused(self):
        for wrong in ((5, 3), (5, 5), ("2 ms", "1 ms"), (-1, 3)):
            with self.assertRaisesRegex(ValueError, "the window from .* is empty"):
                self.run_.slice(*wrong)

    def test_an_unknown_result_is_answered_with_the_known_ones(self):
        structure = self.run_.analysis("structure")
        self.assert_listed(KeyError, lambda: structure["rank"], "'rank'", "top_links")
        self.assert_listed(KeyError, lambda: structure.figures["densities"], "density")
        self.assert_listed(KeyError, lambda: self.run_.analyze("structure")["strcture"], "structure")
        self.assert_listed(fathom.Error, lambda: self.run_.analysis("strcture"), "structure")

    def test_events_and_calls_have_call_sites(self):
        """Each call of the generated job has an address of its own, in a program of which no name is known."""
        events, calls = self.run_.events, self.run_.calls()
        enters = events[events["Event Type"] == "Enter"]
        self.assertEqual(set(enters[enters["Name"] == "MPI_Allreduce"]["Site"]), {"app+0x123f"})
        self.assertTrue(events[events["Event Type"] != "Enter"]["Site"].isna().all())
        for name, sites in (("MPI_Waitall", {"app+0x11ff"}), ("MPI_Isend", {"app+0x107f", "app+0x1087", "app+0x108f", "app+0x1097"})):
            self.assertEqual(set(calls[calls["Name"] == name]["Site"]), sites)
        self.assertTrue(calls[calls["Name"].str.startswith("MPI_Init")]["Site"].isna().all())
        self.assertEqual(calls["Site"].value_counts().to_dict(), enters["Site"].value_counts().to_dict())
        few = self.run_.filter("Site", "==", "app+0x11ff")
        self.assertEqual(set(few.calls()["Name"]), {"MPI_Waitall"})
        chunks = [piece["Site"].dropna() for piece in self.run_.event_chunks(rows=100)]
        self.assertEqual([site for piece in chunks for site in piece], enters["Site"].dropna().tolist())

    def test_call_sites_are_a_table_by_the_names_that_events_have(self):
        sites = self.run_.call_sites
        self.assertEqual(set(sites.index), set(self.run_.events["Site"].dropna()))
        self.assertEqual(sites.columns.tolist(), ["function", "file", "line", "module", "offset"])
        self.assertEqual(sites.loc["app+0x123f"].tolist(), ["", "", 0, "/gone/app", 0x123f])
        few = self.run_.filter("Name", "==", "MPI_Allreduce").call_sites
        self.assertEqual(few.index.tolist(), ["app+0x123f"])

    def test_a_moment_has_the_same_name_everywhere(self):
        """A Step's was time_ns, a process's first_ns, a call's start_ns; messages had a sender, traffic a source."""
        step = self.run_.step(0, 0)
        self.assertEqual(step.time_ns, step.start_ns)
        self.assertNotIn("time_ns", repr(step))
        self.assertIn("start_ns", self.run_.calls().columns)
        processes = self.run_.processes()
        self.assertTrue((processes["start_ns"] < processes["end_ns"]).all())
        self.assertLessEqual({"source", "destination"}, set(self.run_.messages().columns) & set(self.run_.traffic.columns))


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = generated(cls, "--ranks", "4", "--events", "8000", "--suffix", "<i>")
        cls.run_ = fathom.open(cls.path)

    def test_objects_describe_themselves_in_html(self):
        shown = self.run_.select(ranks=[0, 2]).filter("Bytes", ">", 8)._repr_html_()
        for part in ("solver&lt;i&gt;", ">ranks<", ">4<", "0, 2", "Filter(&#x27;Bytes&#x27;"):
            self.assertIn(part, shown)
        self.assertNotIn("<i>", shown)
        self.assertIn("top_links", self.run_.analysis("structure")._repr_html_())

    def test_pictures_can_be_shown_as_png(self):
        """They were shown only after %matplotlib inline."""
        run = self.run_
        for draw in (run.plot_comm_matrix, run.plot_message_histogram, run.plot_time_profile, run.plot_comm_over_time,
                     run.plot_idle_time, run.plot_timeline, run.plot_flat_profile, run.plot_calls_by_rank, run.plot_wait_matrix):
            self.assertTrue(draw()._repr_png_().startswith(b"\x89PNG"), draw.__name__)
        self.assertNotIn("matplotlib.pyplot", sys.modules)


class WithoutTrace(unittest.TestCase):
    """A profile with times of calls, waits and critical paths."""

    def setUp(self):
        self.run_ = fathom.open(os.path.join(ROOT, "test/golden/profile-1-waits.json"))

    def test_calls_are_those_of_the_profile(self):
        times = self.run_.call_times
        self.assertEqual(times["rank"].tolist(), [0, 1, 3])
        self.assertEqual(times["mpi_function"].tolist(), ["MPI_Send", "MPI_Send", "MPI_Wait"])
        self.assertEqual((times["communicator"].tolist(), times["total_ns"].tolist()), ([0, 0, -1], [4000, 6000, 18 * 10**18]))
        self.assertEqual((times["file"].tolist(), times["line"].tolist()), (["src/solver.c"] * 2 + [""], [120, 120, 0]))
        pandas.testing.assert_frame_equal(self.run_.calls(), times)
        self.assertEqual(self.run_.select(ranks=[1, 2]).call_times["calls"].tolist(), [6])

    def test_waits_say_who_waited_for_whom(self):
        waits = self.run_.waits
        self.assertEqual(list(zip(waits["rank"], waits["culprit"], waits["kind"]))[:2], [(1, 0, "late-sender"), (2, 1, "late-sender")])
        matrix = waits.pivot_table("seconds", "rank", "culprit", "sum", fill_value=0)
        self.assertAlmostEqual(matrix.loc[1, 3], 0.2)
        self.assertEqual(self.run_.select(ranks=[2]).waits["culprit"].tolist(), [1, 4])
        found = self.run_.findings()
        symptoms = [symptom for of_finding in found["symptoms"] for symptom in of_finding]
        self.assertIn("wait-at-nxn", [symptom["kind"] for symptom in symptoms])

    def test_the_critical_path_is_as_long_as_the_run(self):
        path = self.run_.critical_path
        self.assertAlmostEqual(path["seconds"].sum(), 1.5)
        self.assertEqual(path[path["name"] == "(program)"]["leads_to"].unique().tolist(), ["MPI_Allreduce"])
        self.assertEqual(self.run_.analysis("critical-path")["windows"]["window"].tolist(), ["solver"])
        with self.assertRaisesRegex(fathom.Error, "order .* needs a trace"):
            self.run_.critical_path_analysis()

    def test_two_profiles_are_compared(self):
        tables = fathom.compare([self.run_, self.run_])
        self.assertEqual(set(tables), {"runs", "totals", "classes", "pairs", "functions", "function_seconds", "call_sites", "phases",
                                       "waits", "path"})
        self.assertEqual(tables["waits"]["growth"].unique().tolist(), [1])

    def test_a_profile_without_times_says_so(self):
        run = fathom.open(os.path.join(ROOT, "test/golden/profile-1.json"))
        self.assertEqual(len(run.call_times), 0)
        with self.assertRaisesRegex(fathom.Error, "'wait-states' needs a trace"):
            run.waits
        with self.assertRaisesRegex(fathom.Error, "no times of calls"):
            run.plot_flat_profile()

    def test_pictures_of_times_need_no_trace(self):
        for draw in (self.run_.plot_flat_profile, self.run_.plot_calls_by_rank, self.run_.plot_idle_time, self.run_.plot_wait_matrix,
                     self.run_.plot_critical_path):
            self.assertTrue(draw()._repr_png_().startswith(b"\x89PNG"), draw.__name__)
        path = self.run_.plot_critical_path().axes[0]
        numpy.testing.assert_allclose([patch.get_height() for patch in path.patches], [0.3, 0, 0, 1.0, 0.1, 0.1, 0, 0], atol=1e-9)
        words = " ".join(text.get_text() for text in self.run_.plot_wait_matrix().texts)
        self.assertIn("968 ms of waiting", words)

    def test_pictures_leave_out_waits_outside_the_time_they_show(self):
        with open(self.run_.path, encoding="utf-8") as file:
            document = json.load(file)
        document["waits"].append({**document["waits"][0], "kind": "wait-at-finalize"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file)
            run = fathom.open(path)
            words = " ".join(text.get_text() for text in run.plot_wait_matrix().texts)
            self.assertIn("968 ms of waiting", words)
            self.assertEqual(run._profile_times()[0]["idle_time"], self.run_._profile_times()[0]["idle_time"])
        profile = drawing("profile")
        times = profile.Profile(document, profile.Choice(None, False, False)).times
        self.assertAlmostEqual(sum(times["waits"]["seconds"]), 0.968)


def drawing(name):
    return importlib.import_module(f"fathom.plots.{name}")


class Drawn(unittest.TestCase):
    """What the pictures show, from tables made by hand."""

    def setUp(self):
        self.job = drawing("numbers").Job.of("/opt/solver", 4)

    def pairs(self, ranks, values):
        matrix = drawing("matrix")
        row, column, value = (numpy.array(of) for of in zip(*values))
        return matrix.Pairs(ranks, row, column, value.astype(float), numpy.ones(len(row), bool),
                            lambda of: drawing("style").shortened(of, "B"))

    def cells(self, picture):
        return picture.axes[0].get_images()[0].get_array()

    def test_tiny_traffic_does_not_change_the_colours_of_the_rest(self):
        """A few bytes of the library's stretched the logarithmic scale until all else was black."""
        main = [(0, 1, 40_000_000), (1, 0, 60_000_000), (2, 3, 80_000_000)]
        tiny = [(0, 3, 3), (1, 3, 4)]
        matrix = drawing("matrix")
        alone = self.cells(matrix.draw_pairs(self.pairs(4, main), "", ""))
        both = self.cells(matrix.draw_pairs(self.pairs(4, main + tiny), "", ""))
        for row, column, _ in main:
            numpy.testing.assert_allclose(both[row, column], alone[row, column], atol=0.01)
        self.assertGreater(abs(both[0, 1] - both[2, 3]).sum(), 0.3)
        self.assertGreater(both[0, 3][:3].min(), 0.8)  # pale, and there
        self.assertEqual(both[0, 3][3], 1)
        self.assertEqual(both[3, 0][3], 0)             # never talked

    def test_the_scale_of_equal_traffic_ends_at_its_largest_value(self):
        norm = drawing("matrix").colour_scale(numpy.array([238e6, 357e6]), False)
        self.assertEqual((norm.vmin, norm.vmax), (0, 357e6))

    def test_cells_have_figures_up_to_16_ranks_and_lines_up_to_64(self):
        for ranks, figures, lines in ((16, True, True), (17, False, True), (64, False, True), (65, False, False)):
            axes = drawing("matrix").draw_pairs(self.pairs(ranks, [(0, 1, 5_000_000), (1, 2, 7_000_000)]), "", "").axes[0]
            self.assertEqual("5.00MB" in [text.get_text() for text in axes.texts], figures, ranks)
            self.assertEqual(len(axes.get_xticks(minor=True)) > 0, lines, ranks)

    def test_sizes_are_counted_by_messages_and_by_bytes(self):
        profile = drawing("profile").Profile({"world_size": 2, "traffic": [], "message_sizes": [
            {"class": "point-to-point", "size": [10, 1000], "messages": [100, 3], "bin_low": [4096], "bin_messages": [2]}]},
            drawing("profile").Choice())
        (label, messages, volume), = drawing("sizes").histogram(profile)
        self.assertEqual((messages[4], messages[10], messages[13]), (100, 3, 2))
        self.assertEqual((volume[4], volume[10], volume[13]), (1000, 3000, 2 * 1.5 * 4096))
        self.assertEqual([axes.get_ylabel() for axes in drawing("sizes").draw(profile).axes], ["messages", "bytes"])

    def test_bars_show_calls_with_their_waits(self):
        calls = {"name": ["MPI_Wait", "(program)", "MPI_Send", "MPI_Init"], "exclusive_seconds": [3.0, 6.0, 1.0, 1e-7], "count": [10, 0, 5, 4]}
        waits = {"function": ["MPI_Wait", "MPI_Wait"], "seconds": [1.0, 0.5]}
        picture = drawing("bars").draw_calls(self.job, calls, waits)
        axes = picture.axes[0]
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["MPI_Wait", "MPI_Send"])
        self.assertEqual([patch.get_width() for patch in axes.patches], [1.5, 0, 1.5, 1])
        self.assertIn("40 % of the ranks' time is inside MPI", " ".join(text.get_text() for text in picture.texts))

    def test_a_matrix_shows_who_waited_for_whom(self):
        waits = {"rank": [0, 0, 2, 1], "culprit": [1, 1, 3, -1], "seconds": [0.5, 0.25, 1.5, 9.0]}
        axes = drawing("matrix").draw_waits(self.job, waits, 4).axes[0]
        self.assertEqual({text.get_text() for text in axes.texts}, {"750 ms", "1.50 s"})
        self.assertEqual((axes.get_ylabel(), axes.get_xlabel()), ("rank that waited", "rank that it waited for"))

    def overview(self, rows, cells, phases=(), found=None):
        figures = {"from_s": 1.0, "to_s": 2.0, "bin_seconds": 0.1, "bins": 10}
        def columns(names, of):
            return dict(zip(names, zip(*of))) if of else {name: [] for name in names}
        tables = {"rows": columns(("rank", "last_rank", "thread", "threads"), rows),
                  "cells": columns(("row", "bin", "group", "seconds"), cells),
                  "phases": columns(("name", "bin", "seconds"), phases),
                  "functions": {"name": ["MPI_Send"], "group": ["send"]}}
        return drawing("timeline").Overview(figures, tables, found)

    def test_a_cell_has_the_colour_of_what_took_most_of_it(self):
        timeline = drawing("timeline")
        overview = self.overview([(0, 0, 0, 1)], [(0, 0, "collective", 0.1), (0, 1, "send", 0.03), (0, 1, "receive", 0.02)])
        picture = overview.pictured()
        numpy.testing.assert_allclose(picture[0, 0], matplotlib.colors.to_rgb(timeline.COLOURS["collective"]))
        numpy.testing.assert_allclose(picture[0, 1], 1 - 0.5 * (1 - numpy.array(matplotlib.colors.to_rgb(timeline.COLOURS["send"]))))
        numpy.testing.assert_allclose(picture[0, 2], [1, 1, 1])

    def test_the_picture_says_how_many_ranks_or_threads_a_row_has(self):
        self.assertEqual(self.overview([(0, 7, -1, 8), (8, 15, -1, 8)], []).ranks_of_rows(), "8 ranks to a row")
        self.assertEqual(self.overview([(0, 0, 0, 1), (0, 0, 1, 1)], []).ranks_of_rows(), "threads in rows of their own (t1, …)")
        self.assertEqual(self.overview([(0, 0, 0, 1), (1, 1, 0, 1)], []).ranks_of_rows(), "")

    def test_threads_have_rows_of_their_own(self):
        timeline = drawing("timeline")
        overview = self.overview([(0, 0, 0, 1), (0, 0, 1, 1)], [(1, 4, "send", 0.1)])
        detail = timeline.Detail((), 1_400_000_000, 1_500_000_000, [0])
        detail.bars = [(0, 0, 1_400_000_000, 1_450_000_000, "MPI_Send"), (0, 1, 1_410_000_000, 1_420_000_000, "MPI_Send")]
        self.assertEqual(detail.lanes(), [(0, 0), (0, 1)])
        above, below = timeline.draw(self.job, overview, detail).axes
        for axes in (above, below):
            self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["0", "t1"])

    def test_phases_are_bands_and_the_detail_is_in_the_longest(self):
        phases = [("start", at, 0.4) for at in range(2)] + [("solve", at, 0.4) for at in range(2, 9)] + [("start", 9, 0.1), ("solve", 9, 0.3)]
        overview = self.overview([(0, 0, 0, 1)], [], phases)
        self.assertEqual([(band.name, round(band.begin / 1e8), round(band.end / 1e8)) for band in overview.bands],
                         [("start", 10, 12), ("solve", 12, 20)])
        self.assertEqual(overview.longest_phase().name, "solve")
        self.assertEqual(drawing("timeline").moments_to_look_from(overview)[0], (1_600_000_000, 2_000_000_001))

    def test_phases_found_are_shown_where_none_is_named(self):
        found = {"phase": [1, 2], "from_s": [1.0, 1.3], "to_s": [1.2, 1.9], "iterations": [20, 30], "iteration_seconds": [0.01, 0.02]}
        overview = self.overview([(0, 0, 0, 1)], [], found=found)
        self.assertEqual([band.name for band in overview.bands], ["phase 1: 20 iterations", "phase 2: 30 iterations"])
        self.assertEqual(round(overview.longest_phase().begin), 1_300_000_000)
        self.assertEqual(round(overview.iteration_ns(1_500_000_000)), 20_000_000)

    def test_texts_never_overlap_whatever_the_number_of_ranks(self):
        """Labels of axes that overlap, and legends cut off at the edge, at 4 to 1,024 ranks."""
        for ranks in (4, 16, 64, 256, 1024):
            run = fathom.open(generated(type(self), "--ranks", str(ranks), "--events", str(max(20_000, 60 * ranks))))
            for draw in (run.plot_timeline, run.plot_comm_matrix, run.plot_idle_time, run.plot_flat_profile, run.plot_calls_by_rank,
                         run.plot_wait_matrix, run.plot_time_profile):
                picture = draw()
                with self.subTest(draw.__name__, ranks=ranks):
                    self.check_texts(picture)

    def check_texts(self, picture):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        canvas = FigureCanvasAgg(picture)
        canvas.draw()
        for axes in picture.axes:
            for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
                boxes = [(label.get_text(), label.get_window_extent()) for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels())
                         if label.get_text() and min(limits) <= place <= max(limits)]
                for (one, its), (other, box) in zip(boxes, boxes[1:]):
                    self.assertFalse(its.overlaps(box), (one, other))
            legend = axes.get_legend()
            texts = [axes.xaxis.label, axes.yaxis.label, *(legend.get_texts() if legend else ())]
            for text in texts:
                box = text.get_window_extent()
                if text.get_text():
                    self.assertGreaterEqual(min(box.x0, box.y0), 0, text.get_text())
                    self.assertLess(box.x1, picture.bbox.x1, text.get_text())


if __name__ == "__main__":
    unittest.main()
