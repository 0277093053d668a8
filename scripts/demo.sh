#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a clean checkout to the exact traffic of a real program: installs and builds what is needed, runs
# Debian's HPC Challenge benchmark on 4 processes under the profiler, prints the report and draws the plots.
#
#   scripts/demo.sh [DIRECTORY]     DIRECTORY (default: fathom-demo) receives the run and the plots.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

demo=$(realpath -m "${1:-fathom-demo}")
"$fathom_scripts/setup.sh" --demo
. "$fathom_scripts/env.sh"

mkdir -p "$demo" || die "cannot make the folder $demo; name another one: scripts/demo.sh DIRECTORY"
cd "$demo"
cp /usr/share/doc/hpcc/examples/_hpccinf.txt hpccinf.txt
step "run hpcc on 4 processes under the profiler" \
  fathom run --force -o "$demo/run" -- mpirun --oversubscribe -n 4 hpcc
fathom report "$demo/run"
step "draw the plots" fathom plot "$demo/run" -o "$demo/plots"
printf '\nprofile: %s\n' "$demo/run/profile.json"
printf 'plot:    %s\n' "$demo"/plots/*.png
[ -e "$fathom_build/profiler/libfathom-trace.so" ] ||
  printf '\nscripts/setup.sh builds the rest: traces, and the Python package\n'
