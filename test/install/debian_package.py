# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package: built from a copy of the tree, held against lintian, installed, used without the checkout, removed.

usage: debian_package.py SOURCE_ROOT VERSION [--package FILE]

With --package, a package that was built before is used. The machine stays as it is: the package is installed into an overlay
of it that only this process sees. That takes root; others build and check the package and skip the rest. `scripts/check.sh
package` runs this.
"""
import argparse
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import source_copy
import use_fathom

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
PYTHON = "/usr/bin/python3"


def call(*command, cwd, limit_s=3600):
    """Shows the end of what the command printed if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def build(source, folder, version):
    copy = source_copy.make(source, folder / f"fathom-mpi-{version}")
    call("dpkg-buildpackage", "-us", "-uc", "-b", cwd=copy)
    (changes,) = folder.glob("*.changes")
    (package,) = folder.glob(f"fathom-mpi_{version}_*.deb")
    if shutil.which("lintian"):
        print(call("lintian", "--fail-on", "error", "--allow-root", changes, cwd=folder).strip())
    else:
        print("skipped: lintian is not installed")
    return package


def mount(kind, target, flags=0, source="none", data=""):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(str(source).encode(), str(target).encode(), kind.encode() if kind else None, flags, data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {kind} on {target}: {os.strerror(ctypes.get_errno())}")


def enter_overlay(folder, hidden):
    """From here on, this process sees a copy of the machine that it can change, without the folder `hidden`."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    mount(None, "/", MS_REC | MS_PRIVATE)
    memory = folder / "memory"
    memory.mkdir()
    mount("tmpfs", memory)
    for name in ("upper", "work", "machine"):
        (memory / name).mkdir()
    machine = memory / "machine"
    mount("overlay", machine, source="overlay", data=f"lowerdir=/,upperdir={memory}/upper,workdir={memory}/work")
    for name in ("proc", "sys", "dev"):
        mount(None, machine / name, MS_BIND | MS_REC, source=f"/{name}")
    mount("tmpfs", f"{machine}{hidden}")
    os.chroot(machine)
    os.chdir("/")


def installed_files():
    listed = subprocess.run(["dpkg", "-L", "fathom-mpi"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [path for path in listed if path and not os.path.isdir(path)]


def check_installed(package, folder, version, wants_viewer):
    call("dpkg", "-i", package, cwd=folder)
    files = installed_files()
    env = use_fathom.environment("/usr/bin")
    assert use_fathom.run("fathom", "--version", env=env, cwd=folder).startswith(f"fathom {version}\n")
    use_fathom.run("bash", "-c", "mpicc -o in_c phases.c $(pkg-config --cflags fathom)", env=env, cwd=folder)
    use_fathom.run("bash", "-c", "mpif90 -o in_fortran phases.f90 $(pkg-config --cflags --libs fathom-fortran)", env=env,
                   cwd=folder)
    for name in ("c", "fortran"):
        use_fathom.profile(f"./in_{name}", name, env, folder)
    use_fathom.read("c", env, folder)
    if wants_viewer:
        use_fathom.view("c", env, folder)
    found = use_fathom.import_fathom(PYTHON, "c", env, folder, version)
    assert found.startswith("/usr/lib/python3/dist-packages/fathom/"), found
    assert "fathom.1" in use_fathom.run("man", "-w", "fathom", env=env, cwd=folder)
    call("dpkg", "--purge", "fathom-mpi", cwd=folder)
    left = [path for path in files if os.path.lexists(path)]
    assert not left and not os.path.exists("/usr/lib/python3/dist-packages/fathom"), left
    print(f"{package.name}: {len(files)} files installed, used, removed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("version")
    parser.add_argument("--package", type=pathlib.Path)
    options = parser.parse_args()
    source = options.source.resolve()
    wants_viewer = source_copy.has_viewer(source)
    if not shutil.which("dh"):
        print("skipped: debhelper is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="fathom-package-") as scratch:
        folder = pathlib.Path(scratch)
        package = options.package.resolve() if options.package else build(source, folder, options.version)
        for program in ("phases.c", "phases.f90"):
            shutil.copy(use_fathom.HERE / program, folder)
        child = os.fork()  # the overlay ends with its process
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        status = 1
        try:
            enter_overlay(folder, source)
            check_installed(package, folder, options.version, wants_viewer)
            status = 0
        except PermissionError as error:
            print(f"skipped: installing the package: {error}")
            status = 0
        except Exception:  # noqa: BLE001 - the child must not return into its parent's folder
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
