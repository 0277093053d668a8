# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for Fathom (Spack 1.0 or newer). It builds a checkout, because there is no public archive of releases yet:

    spack repo add packaging/spack/spack_repo/fathom      # in the root of the checkout
    spack dev-build fathom@main
    spack load fathom
"""
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Fathom(MesonPackage):
    """What an MPI job really sends, and to whom: counts and traces every message of an Open MPI job, including those
    inside collectives, with a traffic matrix that two independent witnesses confirm."""

    license("BSD-3-Clause")

    version("main")

    variant("python", default=True, description="The Python package: import fathom")
    variant("simulator", default=True, description="fathom simulate and fathom place")
    variant("metis", default=True, when="+simulator", description="Placement by recursive bisection")
    variant("scotch", default=True, when="+simulator", description="Placements by Scotch to start from")
    variant("otf2", default=True, description="OTF2 archives, written and read")
    variant("fortran", default=True, description="The Fortran module for named phases")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    # Of the releases whose structures Fathom knows (rankmap/layouts/), the one that its tests are built with.
    depends_on("openmpi@4.1")

    depends_on("cli11")
    depends_on("elfutils")  # libdw, libelf
    depends_on("libarchive")
    depends_on("rapidjson")
    depends_on("spdlog")
    depends_on("sqlite")
    depends_on("xxhash")
    depends_on("zstd libs=static,shared")  # static inside the preloaded library

    # mpi/functions.table is read by a Python script, so one is needed in any case.
    depends_on("python@3.9:", type="build", when="~python")
    depends_on("python@3.9:", type=("build", "link", "run"), when="+python")
    with when("+python"):
        extends("python")
        depends_on("py-pybind11", type="build")
        depends_on("py-matplotlib", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-pandas", type="run")
        depends_on("py-scipy", type="run")
    depends_on("ncurses")
    with when("+simulator"):
        depends_on("hwloc")
        depends_on("pugixml")
        depends_on("yaml-cpp")
    depends_on("metis", when="+metis")
    depends_on("scotch~mpi", when="+scotch")
    depends_on("otf2", when="+otf2")

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        features = ("python", "simulator", "metis", "scotch", "otf2", "fortran")
        return [feature(name) for name in features] + [
            "-Dmetrics=disabled",
            "-Dtests=disabled",
            "-Dbench=disabled",
            f"-Dpython_interpreter={self.spec['python'].command.path}",
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def installed_version(self):
        Executable(join_path(self.prefix.bin, "fathom"))("--version")
