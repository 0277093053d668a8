# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` gives `import fathom` and the command `fathom`: a wheel is built, installed into a fresh environment, used,
and removed.

usage: wheel.py SOURCE_ROOT VERSION [WHEEL]

With WHEEL, one that was built before is used. There is no package index: meson-python must be there (Debian:
python3-mesonpy), and numpy, pandas and scipy are those of the machine. `scripts/check.sh packages` runs this.
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import source_copy
import use_fathom

SOURCE, VERSION = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
PYTHON = "/usr/bin/python3"


def build(folder):
    """From a copy of what is in git, because meson-python writes into the source tree."""
    copy = source_copy.make(SOURCE, folder / "source")
    (copy / "python/fathom/__pycache__").mkdir()
    (copy / "python/fathom/__pycache__/left.pyc").write_bytes(b"")
    env = use_fathom.environment("/usr/bin", CCACHE_BASEDIR=str(copy), CCACHE_NOHASHDIR="1")
    use_fathom.run(PYTHON, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder,
                   f"--config-settings=builddir={copy}/build", copy, env=env, cwd=folder, limit_s=3600)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    wanted = {"fathom/__init__.py", "fathom/py.typed", "fathom/tool_in_wheel.py", "fathom/bin/fathom",
              "fathom/lib/libfathom.so", "fathom/lib/libfathom-trace.so", "fathom/lib/libfathom-mpi.so", "fathom/share/plot.py"}
    if source_copy.has_viewer(SOURCE):
        wanted |= {f"fathom/share/view/{name}" for name in ("index.html", "app.js", "app.css", "machine3d.js")}
    assert wanted <= set(names), wanted - set(names)
    wrong = [name for name in names if not name.startswith(("fathom/", "fathom_mpi-")) or "__pycache__" in name]
    assert not wrong, wrong


def main():
    if subprocess.run([PYTHON, "-c", "import mesonpy, pip, venv"], capture_output=True, check=False).returncode != 0:
        print(f"skipped: {PYTHON} has no meson-python, pip or venv (Debian: python3-mesonpy, python3-pip, python3-venv)")
        return 77
    with tempfile.TemporaryDirectory(prefix="fathom-wheel-") as scratch:
        folder = pathlib.Path(scratch)
        wheel = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else build(folder)
        check_contents(wheel)
        venv = folder / "venv"
        plain = use_fathom.environment("/usr/bin")
        use_fathom.run(PYTHON, "-m", "venv", "--system-site-packages", venv, env=plain, cwd=folder)
        use_fathom.run(venv / "bin/pip", "install", "--quiet", "--no-deps", "--no-index", wheel, env=plain, cwd=folder)
        env = use_fathom.environment(venv / "bin")
        assert use_fathom.run("fathom", "--version", env=env, cwd=folder).startswith(f"fathom {VERSION}\n")
        use_fathom.run("bash", "-c", f"mpicc -I{SOURCE}/profiler -o phases {use_fathom.HERE}/phases.c", env=env, cwd=folder)
        use_fathom.profile("./phases", "r", env, folder)
        use_fathom.read("r", env, folder)
        if source_copy.has_viewer(SOURCE):
            use_fathom.view("r", env, folder)
        found = use_fathom.import_fathom(venv / "bin/python", "r", env, folder, VERSION)
        assert found.startswith(str(venv)), found
        use_fathom.run(venv / "bin/pip", "uninstall", "--yes", "--quiet", "fathom-mpi", env=plain, cwd=folder)
        left = [str(path) for path in venv.rglob("*fathom*") if "__pycache__" not in str(path)]
        assert not left, left
        print(f"{wheel.name}: built, installed, used, removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
