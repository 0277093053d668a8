# SPDX-License-Identifier: BSD-3-Clause
# Puts `fathom` on the PATH, and `import fathom` within reach of /usr/bin/python3. For bash.
#
#   . scripts/env.sh              the MPI stays the one that it is
#   . scripts/env.sh VERSION      also mpicc, mpif90 and mpirun of scripts/openmpi.sh VERSION

[ -n "${BASH_VERSION:-}" ] || { echo "fathom: scripts/env.sh is for bash: bash -c '. scripts/env.sh; ...'" >&2; return 1; }
. "$(dirname "${BASH_SOURCE[0]:-$0}")/lib.sh"
export PATH=$fathom_build/cli:$PATH
export PYTHONPATH=$fathom_build/python${PYTHONPATH:+:$PYTHONPATH}
if [ -n "${1:-}" ]; then
  fathom_prefix=$("$fathom_scripts/openmpi.sh" "$1") || return 1
  export PATH=$fathom_prefix/bin:$PATH
  # A whole Open MPI of its own; an overlay is put into the ranks by its mpirun.
  if [ -d "$fathom_prefix/lib/openmpi" ]; then
    export LD_LIBRARY_PATH=$fathom_prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
fi
