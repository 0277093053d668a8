#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Published run times of CG and MILC on a real cluster beside what the models say of the same traffic.

    bench/simulator/published_times.py FATHOM DATA [--write]

DATA is a folder with the reference simulator's example data: milk.graphml, cg-c-128.tar.gz, milc-128.tar.gz. Skips
where it is absent. The times are those of Takahashi et al. (HPCMASPA 2017): 128 processes in blocks on 16 hosts with
gigabit links (117 MB/s for data), with all traffic over one spanning tree, with D-mod-K, and with the paper's dynamic
routing. Three models, all of the communication alone:

  load   bytes over capacity of the worst link, for all that the run sends
  flow   all that the run sends, at once, max-min fair
  steps  replay of the traffic as exchanges: every rank sends to one other and receives from one at a time, partners
         of the largest messages first, all partners in turn, 20 times

The profile does not tell the order of messages. "steps" is a guess at it: the pairs' bytes are dealt out to
permutations, which for both programs come out complete. --write puts the table into docs/simulator-models.md.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402

RATE_BPS, ROUNDS = 117e6, 20
ROUTINGS = (("minimal", "single path"), ("dmodk", "D-mod-K"), ("greedy-max", "dynamic"))
PUBLISHED_S = {"cg-c-128": (453.92, 380.88, 294.75), "milc-128": (816.45, 378.26, 346.92)}
LOGGOPS = "L=10000,o=5000,g=0,G=0.2,O=0,S=65536"


def traffic(archive):
    """{(source, destination): bytes} of different ranks."""
    pairs = {}
    with tarfile.open(archive) as files:
        for member in files:
            one = json.load(files.extractfile(member))
            pairs.update({(one["rank"], to): size for to, size in enumerate(one["tx_bytes"]) if size and to != one["rank"]})
    return pairs


def steps_of(pairs):
    """Pairs dealt out to steps in which each rank sends once and receives once: [{source: (destination, bytes)}]."""
    sends, receives, steps = collections.defaultdict(set), collections.defaultdict(set), []
    for (source, to), size in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0][0] ^ pair[0][1], pair[0])):
        number = next(n for n in range(len(pairs)) if n not in sends[source] and n not in receives[to])
        sends[source].add(number)
        receives[to].add(number)
        steps += [{}] * (number + 1 - len(steps))
        steps[number] = {**steps[number], source: (to, size)}
    return steps


def write_goal(path, steps, ranks):
    """Each rank begins a step when its own last one has ended."""
    with open(path, "w", encoding="utf-8") as file:
        print("num_ranks", ranks, file=file)
        for rank in range(ranks):
            print(f"rank {rank} {{", file=file)
            label, before = 0, []
            for number, step in list(enumerate(steps)) * ROUNDS:
                transfers = [f"send {size // ROUNDS}b to {to} tag {number}" for source, (to, size) in step.items()
                             if source == rank and size >= ROUNDS]
                transfers += [f"recv {size // ROUNDS}b from {source} tag {number}" for source, (to, size) in step.items()
                              if to == rank and size >= ROUNDS]
                now = list(range(label + 1, label + 1 + len(transfers)))
                for label, transfer in zip(now, transfers):
                    print(f"l{label}: {transfer}", file=file)
                    for earlier in before:
                        print(f"l{label} requires l{earlier}", file=file)
                before = now or before
            print("}", file=file)


def predicted(fathom, cluster, job, model, folder):
    """By routing."""
    ends = ["--loggops", LOGGOPS] if model == "replay" else []
    done = subprocess.run([fathom, "simulate", "--cluster", cluster, "--job", job, "--model", model, "--routing",
                           ",".join(name for name, _ in ROUTINGS), *ends, "-o", folder, "--force"], capture_output=True, text=True)
    if done.returncode != 0:
        raise jobs.Failed(done.stderr)
    runs = json.loads((folder / "results.json").read_text())["runs"]
    return [run["max_congestion"] if model == "load" else run["seconds"] for run in runs]


def table(fathom, data, folder):
    cluster = folder / "milk.graphml"  # the file's capacities are relative, all 1
    cluster.write_text((data / "milk.graphml").read_text().replace('<data key="d5">1<', f'<data key="d5">{RATE_BPS:.0f}<'))
    rows = []
    for name, times in PUBLISHED_S.items():
        archive, goal = data / f"{name}.tar.gz", folder / f"{name}.goal"
        pairs = traffic(archive)
        write_goal(goal, steps_of(pairs), 1 + max(max(pair) for pair in pairs))
        models = [predicted(fathom, cluster, job, model, folder)
                  for job, model in ((archive, "load"), (archive, "flow"), (goal, "replay"))]
        for at, (_, routing) in enumerate(ROUTINGS):
            rows.append([f"{name.split('-')[0].upper()}, {routing}", f"{times[at]:.1f} s", f"{times[at] - times[1]:+.1f} s",
                         *(f"{model[at]:.1f} s ({model[at] - model[1]:+.1f})" for model in models)])
    return jobs.markdown_table(["", "published", "against D-mod-K", "load (against D-mod-K)", "flow", "steps"], rows)


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) != 2:
        sys.exit(__doc__)
    fathom, data = os.path.abspath(words[0]), pathlib.Path(words[1])
    missing = [name for name in ("milk.graphml", *(f"{name}.tar.gz" for name in PUBLISHED_S)) if not (data / name).exists()]
    if missing:
        print(f"skipped: {data} has no {', '.join(missing)}")
        return
    with tempfile.TemporaryDirectory(prefix="fathom-published.") as folder:
        text = table(fathom, data, pathlib.Path(folder))
    print(text)
    if "--write" in sys.argv:
        jobs.write_section("simulator-models.md", "published-times", text)


if __name__ == "__main__":
    jobs.main(main)
