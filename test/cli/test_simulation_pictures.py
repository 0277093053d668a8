# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of simulations say: units, whole names, titles, what is marked and where nodes stand. Not pixels."""
import json
import os
import re
import sys
import unittest

import fixtures
import harness

try:
    import matplotlib
    import numpy
    from matplotlib import collections, patches
except ImportError:
    matplotlib = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python", "fathom"))
if matplotlib:
    from plots import combinations, layouts, loads, network, placement, simulation, style

DRAGONFLY = "dragonfly:switches=4;globals=2;hosts=2"


def texts(picture):
    """Everything that can be read in a picture."""
    return [text.get_text() for text in picture.findobj(matplotlib.text.Text) if text.get_text()]


def with_gid(picture, gid):
    return [text.get_text() for text in picture.findobj(matplotlib.text.Text) if text.get_gid() == gid]


@unittest.skipUnless(matplotlib, "python3-matplotlib is not installed")
class PictureTest(harness.CliTest):
    def setUp(self):
        super().setUp()
        rows = [(a, b, 1_000_000 * (1 + (a + b) % 3), 1) for a in range(8) for b in range(8) if a < b]
        self.write_run("job", fixtures.profile(8, [fixtures.block("point-to-point", False, rows)], []))

    def simulated(self, network, *more, job="job", folder="out"):
        """The runs of the results."""
        result = self.fathom("simulate", "--cluster", network, "--job", job, *more, "-o", folder, "--force")
        self.assertEqual(result.returncode, 0, result.stderr)
        return simulation.load_results(self.path(folder, "results.json"))

    def assert_titled(self, picture, run, worst):
        """Cluster, job, routing and worst link."""
        title = "\n".join(with_gid(picture, "title"))
        for part in (run["cluster"], run["job"], "routing " + run["routing"], "placement " + run["placement"], worst):
            self.assertIn(part, title)

    def assert_inside(self, picture):
        """No text leaves the picture: whole names."""
        renderer = matplotlib.backends.backend_agg.FigureCanvasAgg(picture).get_renderer()
        picture.draw(renderer)
        width, height = picture.get_size_inches() * picture.dpi
        ticks = {id(label) for axes in picture.axes for label in axes.get_xticklabels() + axes.get_yticklabels(minor=False)}
        for text in picture.findobj(matplotlib.text.Text):
            if text.get_text() and text.get_visible() and id(text) not in ticks:
                box = text.get_window_extent(renderer)
                self.assertTrue(box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1, (text, box))


class Loads(PictureTest):
    def test_the_curve_holds_all_links_from_the_highest_to_the_lowest(self):
        run, = self.simulated(DRAGONFLY, "--selection", "random")
        picture = simulation.draw_loads(run)
        values = sorted((link["traffic"] / link["capacity"] for link in run["links"]), reverse=True)
        steps, = [patch for patch in picture.axes[0].patches if isinstance(patch, patches.StepPatch)]
        numpy.testing.assert_allclose(steps.get_data().values, numpy.array(values) * 1e3)  # a host's link needs more than 1 ms
        self.assertEqual(picture.axes[0].get_ylabel(), "congestion: time that a link needs for its bytes, ms")
        mean, high = sum(values) / len(values), run["p95_congestion"]
        self.assertEqual(with_gid(picture, "level")[:2], [f"p95 {style.seconds(high)}", f"mean {style.seconds(mean)}"])
        unused = sum(value == 0 for value in values)
        self.assertEqual(with_gid(picture, "facts"), [f"imbalance {values[0] / mean:.3g} (max over mean)", f"{unused} of 180 links unused"])
        self.assertGreater(unused, 0)
        worst = run["worst_link"]
        self.assert_titled(picture, run, f"worst link {worst['source']} → {worst['target']}, {style.seconds(values[0])} "
                                         f"({style.shortened(worst['traffic'], 'B')} at 12.5 GB/s)")
        self.assertIn(f"1  {worst['source']} → {worst['target']}", with_gid(picture, "hot link"))
        self.assert_inside(picture)

    def test_equally_loaded_links_are_one_entry(self):
        rows = [(a, b, 1_000_000, 1) for a in range(4) for b in range(4) if a != b]
        self.write_run("all", fixtures.profile(4, [fixtures.block("point-to-point", False, rows)], []))
        run, = self.simulated("torus:dims=4", job="all", folder="all-out")
        groups = loads.equals([link["traffic"] for link in run["links"]])
        self.assertEqual(len(groups), len({link["traffic"] for link in run["links"]}))
        picture = simulation.draw_loads(run)
        self.assertEqual(len(with_gid(picture, "hot link")), len(groups))
        self.assertTrue(any(f"· and {len(groups[0][1]) - 1} more" in text for text in texts(picture)))
        self.assertEqual(loads.equals([0, 3, 0, 3 + 1e-12, 2]), [(3 + 1e-12, [3, 1]), (2, [4])])

    def test_a_host_that_is_the_bottleneck_is_named(self):
        rows = [(rank, 0, 5_000_000, 1) for rank in range(1, 8)]
        self.write_run("gather", fixtures.profile(8, [fixtures.block("point-to-point", False, rows)], []))
        for network_kind in (DRAGONFLY, "leafspine:leaves=2;spines=1;hosts=8"):  # in the second, no other link carries anything
            run, = self.simulated(network_kind, "--graphml", job="gather")
            host = run["worst_host_link"]
            name = f"{host['source']} → {host['target']}"
            self.assertEqual(host["traffic"], 35_000_000)
            picture = simulation.draw_loads(run)
            self.assert_titled(picture, run, f"the bottleneck is a host's{'' if 'worst_link' in run else ' link'}: {name}, 2.80 ms")
            self.assertEqual(any(text == "link of a host 2.80 ms" for text in with_gid(picture, "level")), "worst_link" in run)
            drawn = network.draw_network(self.path("out", "links-1.graphml"), run)
            self.assert_titled(drawn, run, f"worst link {name} (a host's), 2.80 ms (35.0 MB at 12.5 GB/s)")
        run, = self.simulated("torus:dims=4,4", "--selection", "random")
        run["worst_host_link"]["traffic"] = 1
        self.assertNotIn("bottleneck", "".join(texts(simulation.draw_loads(run))))

    def test_relative_capacities_have_no_unit(self):
        run, = self.simulated(DRAGONFLY, "--selection", "random")
        for link in (*run["links"], run["worst_link"], run["worst_host_link"]):
            link["capacity"] = 10
        picture = simulation.draw_loads(run)
        self.assertEqual(picture.axes[0].get_ylabel(), "congestion: bytes over relative capacity")
        self.assertNotRegex("\n".join(texts(picture)), r"\d (s|ms|µs|ns)\b|B/s")

    def test_results_of_earlier_versions_are_drawn(self):
        run, = self.simulated(DRAGONFLY, "--selection", "random")
        worst = run.pop("worst_link")
        for key in ("worst_host_link", "p95_congestion", "imbalance"):
            del run[key]
        self.assert_titled(simulation.draw_loads(run), run, f"worst link {worst['source']} → {worst['target']}")

    def test_many_jobs_have_two_curves(self):
        with open(self.path("s.yml"), "w", encoding="utf-8") as file:
            file.write("cluster: torus:dims=4,4\njobs: [{profile: job, duration: 3, submit: 2, count: 3}]\n")
        self.assertEqual(self.fathom("simulate", "s.yml", "-o", "s").returncode, 0)
        run, = simulation.load_results(self.path("s", "results.json"))
        picture = simulation.draw_loads(run)
        curves = [patch for patch in picture.axes[0].patches if isinstance(patch, patches.StepPatch)]
        self.assertEqual([curve.get_label() for curve in curves], ["highest at any time", "mean over time"])
        self.assertTrue((curves[0].get_data().values >= curves[1].get_data().values).all())
        self.assert_titled(picture, run, "scheduler fcfs")


class Networks(PictureTest):
    KINDS = ("xgft:m=4,4;w=1,2", "torus:dims=3,3,3", "hyperx:dims=4,4", DRAGONFLY, "slimfly:q=4", "leafspine:leaves=4;spines=2;hosts=2")

    def test_every_network_says_what_its_load_is(self):
        for kind in self.KINDS:
            with self.subTest(kind):
                run, = self.simulated(kind, "--graphml", "--host-links")
                picture = network.draw_network(self.path("out", "links-1.graphml"), run)
                hottest = max(run["links"], key=loads.congestion)
                self.assert_titled(picture, run, f", {style.seconds(loads.congestion(hottest))} (")
                unused, used = ([c for c in picture.axes[0].collections if c.get_gid() == gid][0] for gid in ("unused", "used"))
                idle = sum(link["traffic"] == 0 for link in run["links"])
                self.assertEqual((len(unused.get_segments()), len(used.get_segments())), (idle, len(run["links"]) - idle))
                grey = unused.get_colors()[0][:3]
                self.assertEqual(grey[0], grey[1])
                self.assertEqual(grey[1], grey[2])
                self.assertGreater(used.get_array().min(), 0)
                self.assertIn("congestion: time that a link needs for its bytes, ms", texts(picture))
                self.assertAlmostEqual(used.get_array().max(), loads.congestion(hottest) * 1e3)
                listed = with_gid(picture, "hot link")
                self.assertEqual(with_gid(picture, "hot"), [str(number + 1) for number in range(len(listed))])
                name, = [text for text in listed if text.startswith("1  ")]
                self.assertEqual(max(link["traffic"] / link["capacity"] for link in run["links"]
                                     if loads.link_name(link) == name[3:]), loads.congestion(hottest))
                self.assertIn(f"grey: {idle:,} unused", with_gid(picture, "facts")[0])
                self.assert_inside(picture)

    def groups_of(self, kind, folder="out", rename=None):
        self.simulated(kind, "--graphml", "--slots", "1", folder=folder)
        path = self.path(folder, "links-1.graphml")
        if rename:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(re.sub(r'"(s[0-9.]+)"', lambda found: f'"{rename(found[1])}"', text))
        drawn = network.Network(path)
        return drawn, layouts.placed(drawn)

    def assert_apart(self, drawn, places):
        """Each switch stands nearest to the middle of its own group, and so do its hosts."""
        centres = numpy.array(places.centres)
        for number, members in enumerate(places.members):
            for switch in members:
                for node in [switch, *drawn.hosts_of(switch)]:
                    self.assertEqual(numpy.argmin(numpy.linalg.norm(centres - places.places[node], axis=1)), number)

    def test_dragonflies_are_drawn_as_groups(self):
        drawn, places = self.groups_of(DRAGONFLY)
        self.assertIsInstance(places, layouts.Groups)
        self.assertEqual(places.names, [f"s{group}" for group in range(9)])
        self.assertEqual([[drawn.nodes[switch] for switch in members] for members in places.members],
                         [[f"s{group}.{at}" for at in range(4)] for group in range(9)])
        self.assert_apart(drawn, places)
        picture = network.draw_network(self.path("out", "links-1.graphml"))
        self.assertEqual(with_gid(picture, "group"), places.names)
        self.assertEqual(sum(isinstance(patch, patches.Circle) for patch in picture.axes[0].patches), 9)

    def test_groups_are_found_without_their_names(self):
        numbers = {}
        drawn, places = self.groups_of(DRAGONFLY, rename=lambda name: f"switch{numbers.setdefault(name, 7 * len(numbers) % 36)}")
        self.assertIsInstance(places, layouts.Groups)
        self.assertEqual(sorted(map(len, places.members)), [4] * 9)
        for members in places.members:
            for one in members:
                self.assertTrue(set(members) - {one} <= set(drawn.neighbours[one]))
        self.assert_apart(drawn, places)

    def test_a_dragonfly_of_simgrid_has_its_groups(self):
        drawn, places = self.groups_of(os.path.join(ROOT, "test", "simulator", "platforms", "dragonfly.xml"))
        self.assertEqual((places.names, [len(members) for members in places.members]), (["c.r0.0", "c.r1.0", "c.r2.0"], [4, 4, 4]))
        self.assert_apart(drawn, places)

    def test_other_networks_are_not_taken_for_dragonflies(self):
        for kind, layout in (("xgft:m=4,4;w=1,2", layouts.Layers), ("torus:dims=4,4", layouts.GridPlaces),
                             ("hyperx:dims=4,4", layouts.GridPlaces)):
            self.assertIsInstance(self.groups_of(kind)[1], layout)
        drawn, places = self.groups_of("slimfly:q=5", rename=lambda name: "x" + name.replace(".", "_"))
        self.assertIsInstance(places, layouts.Circle)
        self.assertEqual(layouts.by_links(drawn), [])

    def test_long_names_are_whole(self):
        node = '<node id="{}"><data key="t">{}</data><data key="s">1</data></node>'.format
        edge = '<edge source="{}" target="{}"><data key="c">1e9</data></edge>'.format
        hosts = [f"compute-node-with-a-long-name-{number:04d}.cluster.example.org" for number in range(8)]
        leaves = [f"leaf-switch-in-rack-{number:04d}.fabric.example.org" for number in range(2)]
        with open(self.path("long.graphml"), "w", encoding="utf-8") as file:
            file.write('<graphml><key id="t" for="node" attr.name="typ"/><key id="s" for="node" attr.name="slots"/>'
                       '<key id="c" for="edge" attr.name="capacity"/><graph edgedefault="undirected">'
                       + "".join([node(name, "host") for name in hosts] + [node(name, "switch") for name in (*leaves, "spine")])
                       + "".join([edge(name, leaves[at // 4]) for at, name in enumerate(hosts)] + [edge(name, "spine") for name in leaves])
                       + "</graph></graphml>")
        run, = self.simulated("long.graphml", "--graphml", "--model", "flow", "--snapshots", "1ms")
        worst = max((run["worst_link"], run["worst_host_link"]), key=loads.congestion)
        name = loads.link_name(worst)
        for picture in (network.draw_network(self.path("out", "links-1.graphml"), run), simulation.draw_loads(run),
                        simulation.draw_timeline(self.path("out", "utilisation-1.csv"), run)):
            self.assert_titled(picture, run, name)
            self.assert_inside(picture)
        listed = [text.replace("\n    → ", " → ") for text in with_gid(network.draw_network(self.path("out", "links-1.graphml"), run), "hot link")]
        self.assertIn("1  " + name, listed)

    def test_a_snapshot_belongs_to_its_run(self):
        runs = [{"number": 1}, {"number": 2}, {"number": 3}]
        for name, expected in (("network-links-2", (runs[1], "")), ("network-links-3-at-0.005", (runs[2], "5.00 ms")),
                               ("network-run-2-links-at-50", (runs[1], "50.0 s")), ("utilisation-1", (runs[0], "")),
                               ("run-3-utilisation", (runs[2], "")), ("network-links-9", (None, ""))):
            self.assertEqual(simulation.run_and_moment(name, runs), expected, name)
        run, = self.simulated("torus:dims=4,4", "--model", "flow", "--snapshots", "100us")
        picture = network.draw_network(self.path("out", "links-1-at-0.0001.graphml"), run, "100 µs")
        self.assertIn(f"job on torus:dims=4,4: load of the network at 100 µs", texts(picture))


class OverTime(PictureTest):
    def test_links_over_time_share_a_line_if_they_are_alike(self):
        run, = self.simulated("torus:dims=4,4", "--model", "flow")
        picture = simulation.draw_timeline(self.path("out", "utilisation-1.csv"), run)
        self.assertRegex(picture.axes[0].get_xlabel(), "^simulated time, (µs|ms)$")
        labels = [text.get_text() for text in picture.axes[0].get_yticklabels()]
        links = {(row["source"], row["target"]) for row in simulation.read_rows(self.path("out", "utilisation-1.csv"))}
        together = sum(int(found[1]) if (found := re.search(r" and (\d+) more$", label)) else 0 for label in labels)
        self.assertEqual(len(labels) + together, len(links))
        bars = [collection for collection in picture.axes[0].collections if isinstance(collection, collections.PolyCollection)]
        self.assertEqual(len(bars), len(labels))
        self.assert_titled(picture, run, labels[0].split(" and ")[0])
        worst = run["worst_host_link"]  # of all links: each rank sends through its host's
        self.assertEqual(labels[0].split(" and ")[0], loads.link_name(worst))
        self.assert_titled(picture, run, f" {style.shortened(worst['traffic'] / run['seconds'], 'B/s')} on average, over {style.seconds(run['seconds'])}")
        self.assert_inside(picture)
        self.assertIn("% of the capacity in use", texts(picture))

    def test_the_scale_ends_at_the_most_that_was_in_use(self):
        """On a scale up to 100 %, links that are little used looked alike."""
        with open(self.path("utilisation-1.csv"), "w", encoding="utf-8") as file:
            file.write("source,target,from_s,to_s,utilisation\na,b,0,0.001,0.04\nb,c,0,0.001,0.01\n")
        picture = simulation.draw_timeline(self.path("utilisation-1.csv"))
        self.assertAlmostEqual(picture.axes[1].get_ylim()[1], 4)
        busy, idle = (bars.get_facecolor()[0] for bars in picture.axes[0].collections[:2])
        numpy.testing.assert_allclose(busy, style.amounts()(1.0))
        numpy.testing.assert_allclose(idle, style.amounts()(0.25))


class Combinations(PictureTest):
    def test_the_best_combination_has_a_star(self):
        self.simulated(DRAGONFLY, "--placement", "block,random", "--routing", "dmodk,greedy-max", "--selection", "random", folder="A")
        self.simulated(DRAGONFLY + ";capacity=25e9", "--placement", "block,random", "--routing", "dmodk,greedy-max", "--selection", "random", folder="B")
        made = json.loads(self.fathom("simulate", "--compare", "A", "B", "--json").stdout)
        draw, = combinations.pictures(made).values()
        picture = draw()
        labels = [text.get_text() for text in picture.axes[0].get_yticklabels()]
        best = {f"{one['placement']}, {one['routing']}" for one in made["combinations"] if one["best"]}
        self.assertEqual({label[2:] for label in labels if label.startswith("★ ")}, best)
        self.assertEqual(len(labels), 4)
        self.assertLess(len(best), 4)
        self.assertTrue(labels[0].startswith("★"))
        values = sorted(style.seconds(run["value"]) for one in made["combinations"] for run in one["runs"])
        self.assertEqual(sorted(with_gid(picture, "value")), values)
        legend = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
        self.assertEqual(legend, ["A: " + DRAGONFLY, f"B: {DRAGONFLY};capacity=25e9"])
        self.assertRegex("\n".join(with_gid(picture, "title")), f"★ best: ({'|'.join(map(re.escape, best))}) in B, ")
        self.assert_inside(picture)

    def test_plot_draws_the_combinations_of_a_simulation(self):
        self.simulated("torus:dims=4,4", "--placement", "block,random")
        result = self.fathom("plot", "out", "-o", "plots", "--format", "svg")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(os.listdir(self.path("plots"))), ["combinations.svg", "links-1.svg", "links-2.svg"])
        self.assertEqual(self.fathom("simulate", "--compare", "out", "-o", "C").returncode, 0)
        for place in ("C", "C/comparison.json"):
            result = self.fathom("plot", place, "-o", "more", "--format", "svg")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(self.path("more")), ["combinations.svg"])


class Placements(PictureTest):
    def test_a_placement_is_drawn_before_and_after(self):
        self.write_run("pairs", fixtures.profile(4, [fixtures.block("point-to-point", False, [(0, 2, 2_000_000, 1), (1, 3, 1_000_000, 1)])], []))
        result = self.fathom("place", "pairs", "--cluster", "torus:dims=2;slots=2", "-o", "placed.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("placed.json"), encoding="utf-8") as file:
            made = json.load(file)
        picture = placement.draw_placement(made)
        cells = with_gid(picture, "cell")
        self.assertEqual([cells[at::len(cells) // 4][:4] for at in (3,)], [["worst link", "240 µs", "0", "-100.0 %"]])
        for side, curve in zip(("before", "after"), [patch for patch in picture.axes[0].patches if isinstance(patch, patches.StepPatch)]):
            self.assertEqual(curve.get_label(), side)
            expected = sorted((link[side] / link["capacity"] * 1e6 for link in made["links"]), reverse=True)
            numpy.testing.assert_allclose(curve.get_data().values, expected)
        self.assertIn(made["before"]["worst_link"]["source"], "".join(texts(picture)))
        self.assert_inside(picture)
        result = self.fathom("plot", "placed.json", "-o", "plots", "--format", "svg")
        self.assertEqual((result.returncode, os.listdir(self.path("plots"))), (0, ["placement.svg"]), result.stderr)


if __name__ == "__main__":
    harness.main()
