# SPDX-License-Identifier: BSD-3-Clause
# Puts `fathom` and the PERUSE build's mpicc, mpif90 and mpirun on the PATH:  . scripts/env.sh
#
# For bash. Programs built with Debian's own Open MPI run on the PERUSE build as they are (same release, same ABI).

[ -n "${BASH_VERSION:-}" ] || { echo "fathom: scripts/env.sh is for bash: bash -c '. scripts/env.sh; ...'" >&2; return 1; }
. "$(dirname "${BASH_SOURCE[0]:-$0}")/lib.sh"
export FATHOM_OPENMPI=$openmpi_prefix
export PATH=$fathom_build/cli:$openmpi_prefix/bin:$PATH
export LD_LIBRARY_PATH=$openmpi_prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# import fathom, for Debian's own interpreter: /usr/bin/python3
export PYTHONPATH=$fathom_build/python${PYTHONPATH:+:$PYTHONPATH}
