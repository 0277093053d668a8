#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing costs the job: message latency and rate, collectives, a whole program; and bytes per event.

    bench/trace/overhead.py [--sets N] [--rounds N] [--pairs N] [--only NAME] [--variant NAME] [--before FOLDER]
                            [--build peruse|stock] [--write]

As bench/overhead.py: one job per variant (native, counting only, calls traced, calls and transfers traced, the latter with
a flight recorder, with a recording that has not begun, and with one for which nobody asks), which take turns of a few milliseconds on the same cores; medians of rounds. A send to MPI_PROC_NULL is two
records and next to nothing else. In the other patterns a turn is shorter than the thread that compresses
rests, so it works while other jobs have their turn; "compressing beside it" takes long enough to pay for that
too, on the same cores if there are no others. Below the table: events recorded and their bytes, raw and compressed, for HPCC and
LAMMPS, from the frames' headers (trace/format/format.h). --write puts the tables into docs/trace-speed.md.
"""

import argparse
import json
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402
import overhead  # noqa: E402
import real_programs  # noqa: E402

VARIANTS = ["native", "fathom auto", "trace calls", "trace calls and transfers", "flight recorder", "recording not begun", "request"]
jobs.VARIANTS["fathom auto"] = ("ob1", "auto")
overhead.MICRO.update({
    "steady-8": ("8 B ping-pong, compressing beside it", 2, "pingpong", 8, 100000, 10, "median"),
    "self-8": ("8 B of one bound rank to itself, compressing beside it", 1, "self", 8, 100000, 10, "median"),
    "nobody-8": ("8 B to MPI_PROC_NULL", 2, "nobody", 8, 5000, 8, "fastest"),
    "outstanding-10": ("10 requests at once, each", 2, "outstanding", 10, 100, 8, "fastest"),
    "outstanding-10000": ("10,000 requests at once, each", 2, "outstanding", 10000, 1, 8, "fastest"),
})
STEADY = ("steady-8", "self-8")  # long enough to compress in the turn, in the usual memory
# Room for a turn's events, so that a benchmark of nothing but messages loses none.
MEMORY = {"FATHOM_TRACE_MEMORY": "64M"}


FRAME = struct.Struct("<4sBBHIIQQQIIQII")  # FrameHeader; magic, kind, …, records at 5, raw and stored bytes at 9, 10
EVENTS = 2


def frames(path):
    """(records, raw bytes, stored bytes) of each frame of events in a trace file."""
    data = path.read_bytes()
    at = 24
    while at + FRAME.size <= len(data) and data[at:at + 4] == b"FRAM":
        fields = FRAME.unpack_from(data, at)
        if fields[1] == EVENTS:
            yield fields[5], fields[9], fields[10]
        at += FRAME.size + (fields[10] + 7) // 8 * 8


def bytes_per_event(workspace, installation, variant, program):
    """One run: records, their raw bytes, their bytes in the files, and the sentence on losses if any."""
    directory = workspace.run_directory()
    real_programs.prepare(program, directory)
    jobs.launch(workspace, installation, variant, program.ranks, program.command, directory=directory,
                mpirun=jobs.OVERSUBSCRIBED)
    traces = list((directory / "profile/trace").glob("*.trace"))
    records, raw, _ = (sum(column) for column in zip(*(frame for path in traces for frame in frames(path))))
    coverage = json.loads((directory / "profile/profile.json").read_text())["coverage"]
    lost = ", ".join(f"{loss['records']} lost ({loss['reason']})"
                     for loss in coverage.get("trace_lost", [])) or "none lost"
    return records, raw, sum(path.stat().st_size for path in traces), lost


def sizes(workspace, installation):
    """A sentence for each program and level."""
    lines = []
    for name in ("hpcc", "lammps"):
        program = real_programs.PROGRAMS[name]
        for variant in ("trace calls", "trace calls and transfers"):
            records, raw, stored, lost = bytes_per_event(workspace, installation, variant, program)
            lines.append(f"{program.title}, {installation.title}, {variant}: {records:,} records, {raw / records:.1f} bytes "
                         f"each in memory, {stored / records:.1f} in the files; {lost}.")
            print(lines[-1], flush=True)
    return lines


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=4, help="runs of HPCC for each variant (4)")
    parser.add_argument("--only", action="append", choices=[*overhead.MICRO, "hpcc"])
    jobs.add_variant_options(parser, VARIANTS)
    parser.add_argument("--build", choices=["peruse", "stock"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    variants = jobs.chosen_variants(options, VARIANTS)
    wanted = options.only or [*overhead.MICRO, "hpcc"]
    names = [name for name in overhead.MICRO if name in wanted]
    text = []
    with jobs.Workspace() as workspace:
        for installation in (jobs.peruse_build(), jobs.stock_build()):
            if options.build and options.build != installation.name:
                continue
            rows = []
            if names:
                samples = {}
                for some, memory in ([name for name in names if name not in STEADY], MEMORY), \
                        ([name for name in names if name in STEADY], None):
                    if some:
                        samples |= overhead.measure_micro(workspace, installation, some, options.sets, options.rounds,
                                                          variants, memory)
                rows += [overhead.micro_row(name, samples[name], options.sets) for name in names]
            if "hpcc" in wanted:
                rows.append(overhead.program_row("hpcc", overhead.measure_program(
                    workspace, installation, "hpcc", options.pairs, variants)))
            text.append(jobs.markdown_table([installation.title, *variants], rows))
            print(text[-1], flush=True)
            if "hpcc" in wanted:
                text += sizes(workspace, installation)
    medians = [f"Median over {options.sets} sets × {options.rounds} rounds"] if names else []
    medians += [f"HPCC: median over {options.pairs} runs in turns"] if "hpcc" in wanted else []
    text.append(f"{'; '.join(medians)}. {jobs.machine()}, load {os.getloadavg()[0]:.1f} at the end.")
    print(text[-1])
    if options.write:
        jobs.write_section("trace-speed.md", "trace-overhead", "\n\n".join(text))


if __name__ == "__main__":
    jobs.main(measure)
