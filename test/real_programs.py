# SPDX-License-Identifier: BSD-3-Clause
"""Real programs, as Debian packages them, that tests and benchmarks run."""

import collections
import pathlib
import shutil

HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 200
"""

# `files`: {name: text}, in the folder where it runs.
Program = collections.namedtuple("Program", "title ranks command files")
PROGRAMS = {
    "hpcc": Program("HPCC", 4, ["hpcc"], {"hpccinf.txt": HPCC_INPUT.read_text() if HPCC_INPUT.exists() else ""}),
    "lammps": Program("LAMMPS, Lennard-Jones melt", 4, ["lmp", "-in", "melt", "-log", "none"], {"melt": MELT}),
    # A fixed number of repeats: without -n, NetPIPE sends as often as time allows.
    "netpipe": Program("NetPIPE", 2, ["NPopenmpi", "-n", "50", "-u", "1048576"], {}),
}


def is_installed(name):
    return shutil.which(PROGRAMS[name].command[0]) is not None and (name != "hpcc" or HPCC_INPUT.exists())


def prepare(program, folder):
    """Writes its files into the folder."""
    for name, text in program.files.items():
        (folder / name).write_text(text)
