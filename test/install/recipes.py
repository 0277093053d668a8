# SPDX-License-Identifier: BSD-3-Clause
"""What can be checked of the recipes in packaging/ without Spack and without containers.

usage: recipes.py SOURCE_ROOT

The Spack recipe runs against a stand-in for Spack's functions: each option that it passes exists, and its Open MPI is one
that Fathom knows. Both container files install the same packages.
"""
import pathlib
import re
import sys
import types

SOURCE = pathlib.Path(sys.argv[1])


def read(name):
    return (SOURCE / name).read_text(encoding="utf-8")


class Spec(dict):
    def satisfies(self, _):
        return True

    def __missing__(self, name):
        return types.SimpleNamespace(command=types.SimpleNamespace(path=f"/bin/{name}"))


class When:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def run_recipe():
    """(the arguments for Meson, what the package depends on)"""
    needed = []

    def nothing(*_, **__):
        return None

    spack = types.ModuleType("spack.package")
    directives = {"license": nothing, "version": nothing, "variant": nothing, "extends": nothing,
                  "depends_on": lambda spec, **_: needed.append(spec), "when": lambda _: When(),
                  "run_after": lambda _: lambda function: function,
                  "on_package_attributes": lambda **_: lambda function: function}
    vars(spack).update(directives)
    meson = types.ModuleType("spack_repo.builtin.build_systems.meson")
    meson.MesonPackage = object
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": spack, meson.__name__: meson})
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[parent] = types.ModuleType(parent)
    names = {}
    exec(compile(read("packaging/spack/spack_repo/fathom/packages/fathom/package.py"), "package.py", "exec"), names)
    package = names["Fathom"]()
    package.spec = Spec()
    return package.meson_args(), needed


def main():
    known = dict(re.findall(r"option\('(\w+)', type: '(\w+)'", read("meson_options.txt")))
    arguments, needed = run_recipe()
    for argument in arguments:
        name, value = re.fullmatch(r"-D(\w+)=(.+)", argument).groups()
        assert known[name] != "feature" or value in ("enabled", "disabled"), argument
    layouts = re.findall(r"openmpi_(\d+)_(\d+)", read("rankmap/layouts/all.h"))
    releases = {f"{major}.{minor}" for major, minor in layouts}
    assert releases
    (openmpi,) = [spec for spec in needed if spec.startswith("openmpi@")]
    assert re.match(r"openmpi@([\d.]+)", openmpi).group(1) in releases, openmpi

    def packages(name):
        last = read(name).split("apt-get install")[-1].split("rm -rf")[0]
        return {word for word in last.split() if re.fullmatch(r"[a-z][a-z0-9.+-]+", word)} - {"bash-completion"}

    containers = [packages(f"packaging/containers/{name}") for name in ("Dockerfile", "fathom.def")]
    assert containers[0] == containers[1] and "openmpi-bin" in containers[0], containers[0] ^ containers[1]
    print(f"{len(arguments)} options of Meson, {len(needed)} packages of Spack, {len(containers[0])} of Debian")


main()
