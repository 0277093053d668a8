# SPDX-License-Identifier: BSD-3-Clause
"""Spack's Open MPI with what Fathom needs of it: the internal headers, which it is compiled against, and PERUSE."""
from spack_repo.builtin.packages.openmpi.package import Openmpi as BuiltinOpenmpi

from spack.package import *


class Openmpi(BuiltinOpenmpi):
    __doc__ = BuiltinOpenmpi.__doc__

    variant("internal_headers", default=True, description="Install the internal headers")
    variant("peruse", default=True, when="@:4", description="PERUSE: Fathom's second witness")

    def configure_args(self):
        arguments = super().configure_args()
        if self.spec.satisfies("+internal_headers"):
            arguments.append("--with-devel-headers")
        if self.spec.satisfies("+peruse"):
            arguments.append("--enable-peruse")
        return arguments
