#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program on two ranks under Valgrind with the library: no error and no definite leak is Fathom's.

Open MPI has errors and leaks of its own, so only those count whose stack passes through libfathom.so or
a function of namespace fathom. A leak that the library only passed on (its wrapper called PMPI_X, which
leaked) counts too unless the same stack, seen from below the wrapper, leaks without the library.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402

SKIPPED = 77
KINDS_THAT_COUNT = {"InvalidRead", "InvalidWrite", "InvalidFree", "MismatchedFree", "InvalidJump", "Overlap",
                    "UninitCondition", "UninitValue", "SyscallParam", "Leak_DefinitelyLost"}


def run(arguments, library, folder):
    """The error elements of all ranks."""
    folder.mkdir()
    mpi = open_mpi.stock()
    environment = dict(mpi.environment, FATHOM_OUTPUT=str(folder / "run"))
    preload = ["-x", f"LD_PRELOAD={library}"] if library else []
    # Fair, or a thread that spins for a message keeps PMIx's thread, which it waits for, from running on a busy machine.
    # Preloaded into Valgrind itself too, where it sleeps: no MPI_Init is ever called there.
    command = mpi.launch(2, "-x", "FATHOM_OUTPUT", *preload,
               arguments.valgrind, "--fair-sched=yes", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40",
               "--xml=yes", f"--xml-file={folder}/%p.xml", arguments.program)
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=240)
    if done.returncode != 0 or done.stdout != "1\n1\n":
        sys.exit(f"the program failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    errors, ranks = [], 0
    for path in folder.glob("*.xml"):
        root = xml.parse(path).getroot()
        ranks += root.find("args/argv/exe").text == arguments.program
        errors += root.findall("error")
    if ranks != 2:
        sys.exit(f"Valgrind reported on {ranks} ranks instead of 2")
    return errors


def frames_of(error):
    frames = error.find("stack").findall("frame")
    return [(frame.findtext("obj", ""), frame.findtext("fn", "")) for frame in frames]


def is_ours(frame):
    return frame[0].endswith("/libfathom.so") or frame[1].startswith("fathom::")


def frames_beside_the_allocator(error):
    return [frame for frame in frames_of(error) if "/vgpreload_" not in frame[0]]


def below_us(error):
    """What was called, from the innermost frame up to the first of ours; empty if we allocated."""
    inner = []
    for frame in frames_beside_the_allocator(error):
        if is_ours(frame):
            break
        inner.append(frame[1])
    return error.findtext("kind"), tuple(inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--library", required=True)
    arguments = parser.parse_args()
    arguments.valgrind = shutil.which("valgrind")
    if arguments.valgrind is None:
        print("no valgrind here")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        without = [(error.findtext("kind"), tuple(fn for _, fn in frames_beside_the_allocator(error)))
                   for error in run(arguments, None, folder / "native")]
        errors = run(arguments, arguments.library, folder / "fathom")
        if not (folder / "fathom/run/profile.json").exists():
            sys.exit("no profile was written: the library was not there")
    ours = []
    for error in errors:
        if error.findtext("kind") not in KINDS_THAT_COUNT or not any(map(is_ours, frames_of(error))):
            continue
        kind, inner = below_us(error)
        if inner and any(kind == other and stack[:len(inner)] == inner for other, stack in without):
            continue
        ours.append(error)
    for error in ours:
        print(error.findtext("kind"), error.findtext("what") or error.findtext("xwhat/text"))
        for obj, function in frames_of(error):
            print("   ", function or "?", f"({os.path.basename(obj)})")
    print(f"{len(errors)} errors with the library, {len(without)} without; {len(ours)} of the library's own")
    return 1 if ours else 0


if __name__ == "__main__":
    sys.exit(main())
