#!/usr/bin/env python3
"""What tracing costs the job: message latency and rate, collectives, a whole program; and bytes per event.

    bench/trace/overhead.py [--sets N] [--rounds N] [--pairs N] [--only NAME] [--build peruse|stock] [--write]

As bench/overhead.py: one job per variant (native, counting only, calls traced, calls and transfers traced), which
take turns of a few milliseconds on the same cores; medians of rounds. Below the table: events recorded and their
bytes, raw and compressed, for HPCC (`fathom trace info --json`). --write puts the tables into docs/trace-speed.md.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402
import overhead  # noqa: E402

VARIANTS = ["native", "fathom auto", "trace calls", "trace calls and transfers"]
jobs.VARIANTS["fathom auto"] = ("ob1", "auto")
# Room for a turn's events, so that a benchmark of nothing but messages loses none.
MEMORY = {"FATHOM_TRACE_MEMORY": "64M"}


def bytes_per_event(workspace, installation, variant):
    """One run of HPCC: events, raw and stored bytes of each."""
    directory = workspace.run_directory()
    (directory / "hpccinf.txt").write_bytes(pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_bytes())
    jobs.launch(workspace, installation, variant, 4, ["/usr/bin/hpcc"], directory=directory, mpirun=jobs.OVERSUBSCRIBED)
    info = subprocess.run([jobs.BUILD / "cli/fathom", "trace", "info", "--json", directory / "profile"],
                          stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(info.stdout)


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=4, help="runs of HPCC for each variant (4)")
    parser.add_argument("--only", action="append", choices=[*overhead.MICRO, "hpcc"])
    parser.add_argument("--build", choices=["peruse", "stock"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wanted = options.only or [*overhead.MICRO, "hpcc"]
    names = [name for name in overhead.MICRO if name in wanted]
    text = []
    with jobs.Workspace() as workspace:
        for installation in (jobs.peruse_build(), jobs.stock_build()):
            if options.build and options.build != ("peruse" if installation.has_peruse else "stock"):
                continue
            rows = []
            if names:
                samples = overhead.measure_micro(workspace, installation, names, options.sets, options.rounds,
                                                 VARIANTS, MEMORY)
                rows += [overhead.micro_row(name, samples[name], options.sets) for name in names]
            if "hpcc" in wanted:
                rows.append(overhead.hpcc_row(overhead.measure_hpcc(workspace, installation, options.pairs, VARIANTS)))
            text.append(jobs.markdown_table([installation.name, *VARIANTS], rows))
            print(text[-1], flush=True)
            if "hpcc" in wanted:
                for variant in ("trace calls", "trace calls and transfers"):
                    facts = bytes_per_event(workspace, installation, variant)
                    line = (f"HPCC, {installation.name}, {variant}: {facts['records']:,} events, "
                            f"{facts['raw_bytes'] / facts['records']:.1f} bytes each raw, "
                            f"{facts['file_bytes'] / facts['records']:.1f} stored; {facts['lost_records']:,} lost.")
                    text.append(line)
                    print(line, flush=True)
    text.append(f"Median over {options.sets} sets × {options.rounds} rounds; HPCC over {options.pairs} interleaved "
                f"runs. {jobs.machine()}, load {os.getloadavg()[0]:.1f} at the end.")
    print(text[-1])
    if options.write:
        jobs.write_section("trace-speed.md", "trace-overhead", "\n\n".join(text))


if __name__ == "__main__":
    jobs.main(measure)
