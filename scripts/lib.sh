# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts of this folder: paths, timed steps, error sentences. Source it, do not run it.

fathom_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fathom_cache=${FATHOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/fathom}
fathom_build=${FATHOM_BUILD:-$fathom_root/build}

# The Open MPI release that the PERUSE build is made from. The prefix name changes whenever the
# configuration does, so that an outdated build in the cache is never taken for a current one.
openmpi_version=4.1.4
openmpi_prefix=${FATHOM_OPENMPI:-$fathom_cache/openmpi-$openmpi_version-peruse-1}

# mpirun refuses to run as root unless two variables allow it; inside a container or CI root is all there is.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

die() { printf 'fathom: %s\n' "$*" >&2; exit 1; }

# step TITLE COMMAND...: runs the command, its output in a log; one line says what and how long.
step() {
  local title=$1 started=$SECONDS log
  shift
  log=$fathom_cache/log/$(printf '%s' "$title" | tr -c 'A-Za-z0-9\n' '-').log
  mkdir -p "$(dirname "$log")"
  printf '==> %s ...\n' "$title"
  if "$@" >"$log" 2>&1; then
    printf '    done in %d s\n' $((SECONDS - started))
  else
    local status=$?
    tail -n 30 "$log" >&2
    die "\"$title\" failed with exit code $status after $((SECONDS - started)) s; the whole log is $log"
  fi
}

skip() { printf '==> %s: %s\n' "$1" "$2"; }
