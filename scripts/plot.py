#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a run: traffic and message matrices and the histogram of message sizes; time by call, by call and rank, time of
each rank, who waited for whom and the critical path; of a traced run also its timeline and calls over time. Or a
simulation: loads of links, the network coloured by load for each snapshot beside the results, and links over time. Or a
comparison: what changed, and how the program scales.

Called by `fathom plot`; works on its own too: plot.py RUN/profile.json -o DIR, plot.py SIMULATION/results.json -o DIR,
plot.py COMPARISON.json -o DIR
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys


def load_drawing():
    """The package of drawings, python/fathom/plots, without the rest of fathom: that needs an extension for one Python,
    and this runs with any that has matplotlib."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(here, "plots"), os.path.join(here, "../python/fathom/plots")):
        start = os.path.join(folder, "__init__.py")
        if os.path.exists(start):
            spec = importlib.util.spec_from_file_location("fathom_plots", start, submodule_search_locations=[folder])
            package = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(package)
            return
    sys.exit("fathom plot: cannot find the folder plots/ beside plot.py; install Fathom again")


load_drawing()
from fathom_plots import (bars, calls_by_rank, combinations, comparison, matrix, network, numbers, over_time, placement, simulation,  # noqa: E402
                          sizes, style, timeline)
from fathom_plots.profile import BadProfile, Choice, Profile  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(prog="fathom plot", description=__doc__.splitlines()[0])
    parser.add_argument("profile")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--class", dest="classes", action="append")
    parser.add_argument("--communicator", dest="communicators", action="append", type=int)
    parser.add_argument("--phase", dest="phases", action="append", help="'': outside every phase")
    parser.add_argument("--chosen", default="", help="the choice of traffic in words, for titles")
    parser.add_argument("--name", help="the program's name, for titles")
    origin = parser.add_mutually_exclusive_group()
    origin.add_argument("--hidden", action="store_true")
    origin.add_argument("--user", action="store_true")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png")
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--fathom", help="the tool, which reads the trace")
    parser.add_argument("--from", dest="begin")
    parser.add_argument("--to", dest="end")
    return parser.parse_args()


def save(figure, folder, name, extension):
    """Appears whole or not at all."""
    path = os.path.join(folder, f"{name}.{extension}")
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        figure.savefig(temporary, format=extension, dpi=150)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return path


def simulation_pictures(path):
    """What draws each picture, by its name."""
    runs = simulation.load_results(path)
    pictures = {f"links-{number}": lambda run=run: simulation.draw_loads(run)
                for number, run in enumerate(runs, 1)}
    folder = os.path.dirname(path) or "."
    for name, snapshot in simulation.snapshots(folder).items():
        run, at = simulation.run_and_moment(name, runs)
        pictures[name] = lambda snapshot=snapshot, run=run, at=at: network.draw_network(snapshot, run, at)
    for name, times in simulation.timelines(folder).items():
        run, _ = simulation.run_and_moment(name, runs)
        pictures[name] = lambda times=times, run=run: simulation.draw_timeline(times, run)
    return pictures


def compared_runs(path, tool):
    """The runs of a simulation side by side, as `fathom simulate --compare` judges them."""
    if not tool:
        return {}
    command = [tool, "simulate", "--compare", path, "--json"]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    if said.returncode != 0:  # such as a tool without the simulator: the other pictures need it no more
        print(f"fathom plot: the combinations are not drawn: {said.stderr.strip()}", file=sys.stderr)
        return {}
    return combinations.pictures(json.loads(said.stdout))


# What draws the documents of one kind each: those that `fathom compare`, `simulate --compare` and `place` write.
DRAWN_DOCUMENTS = (comparison, combinations, placement)


def document_in(path):
    """(what draws it, a document of one of these kinds); None if the file is something else."""
    try:
        with open(path, encoding="utf-8") as file:
            begin = file.read(200)  # profiles may be large
            kind = next((kind for kind in DRAWN_DOCUMENTS if f'"{kind.SCHEMA}"' in begin), None)
            if kind is None:
                return None
            file.seek(0)
            return kind, json.load(file)
    except (OSError, ValueError):
        return None


def trace_pictures(arguments):
    run = os.path.dirname(os.path.abspath(arguments.profile))
    if not arguments.fathom or not os.path.isdir(os.path.join(run, "trace")):
        if arguments.begin or arguments.end:
            raise timeline.BadWindow("--from and --to choose a window of the timeline, which needs a trace, and this run has none")
        return {}
    job, overview, detail = timeline.load(arguments.fathom, run, arguments.begin, arguments.end)
    # Start-up and end would hide what the program does, so all pictures of time leave them out.
    window = int(overview.begin), int(overview.end) + 1
    found = numbers.analyses(arguments.fathom, run, ["flat-profile", "idle-time", "time-profile", "wait-states"], window)
    waits, idle = found["wait-states"]["waits"], found["idle-time"]["idle_time"]
    return {
        "timeline": lambda: timeline.draw(job, overview, detail),
        "calls": lambda: bars.draw_calls(job, found["flat-profile"]["functions"], waits),
        "calls-by-rank": lambda: calls_by_rank.draw(job, found["flat-profile"]["calls"], arguments.linear),
        "ranks": lambda: bars.draw_ranks(job, idle),
        "time-profile": lambda: over_time.draw_time_profile(job, *over_time.of_analysis(found["time-profile"]["time_profile"],
                                                                                       len(idle["rank"]))),
        "waits": lambda: matrix.draw_waits(job, waits, job.ranks, arguments.linear),
    }


def profile_pictures(arguments):
    choice = Choice(arguments.classes, arguments.hidden, arguments.user, arguments.communicators, arguments.phases,
                    arguments.chosen)
    profile = Profile.load(arguments.profile, choice)
    if arguments.name:
        profile.name = style.printable(arguments.name)
    pictures = {
        "traffic": lambda: matrix.draw(profile, "bytes", arguments.linear),
        "messages": lambda: matrix.draw(profile, "messages", arguments.linear),
        "sizes": lambda: sizes.draw(profile),
    }
    times = profile.times
    if not times:
        return pictures
    job = numbers.Job(profile.name[:40], profile.world_size, profile.seconds, timeline.WINDOW)
    pictures["calls"] = lambda: bars.draw_calls(job, times["functions"], times["waits"])
    pictures["calls-by-rank"] = lambda: calls_by_rank.draw(job, times["by_rank"], arguments.linear)
    pictures["ranks"] = lambda: bars.draw_ranks(job, times["idle_time"])
    if times["waits"]:
        pictures["waits"] = lambda: matrix.draw_waits(job, times["waits"], profile.world_size, arguments.linear)
    if times["path"]:
        pictures["path"] = lambda: bars.draw_path(job, times["path"])
    return pictures


def main():
    arguments = parse_arguments()
    if os.path.basename(arguments.profile) == "results.json":
        pictures = simulation_pictures(arguments.profile) | compared_runs(arguments.profile, arguments.fathom)
    elif found := document_in(arguments.profile):
        kind, document = found
        pictures = kind.pictures(document)
    else:  # an imported trace has no profile
        pictures = trace_pictures(arguments)
        if not pictures or os.path.exists(arguments.profile):
            pictures = profile_pictures(arguments) | pictures
    os.makedirs(arguments.output, exist_ok=True)
    for name, draw in pictures.items():
        print(save(draw(), arguments.output, name, arguments.format))


if __name__ == "__main__":
    try:
        main()
    except (BadProfile, timeline.BadWindow, OSError) as error:
        sys.exit(f"fathom plot: {error}")
