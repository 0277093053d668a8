#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the compiler wrappers of an Open MPI built from Debian's sources find its own headers and
# libraries.
#
#   scripts/openmpi/repair_wrappers.sh PREFIX [--check]
#
# --check changes nothing and fails if there is something to do.
#
# A Debian patch sends mpif90, mpif77 and mpifort to the folders of Debian's packages, and for mpif.h
# to one that is named after the compiler's version, which only Debian's packaging fills in. Debian
# also installs each wrapper as NAME.openmpi; when LD_LIBRARY_PATH names this build, those too read
# their data here.
set -euo pipefail

prefix=${1:?usage: scripts/openmpi/repair_wrappers.sh PREFIX [--check]}
data=$prefix/share/openmpi
check=${2:-}

change() {
  [ -z "$check" ] || exit 1
  "$@"
}

for name in mpicc mpic++ mpicxx mpiCC mpif77 mpif90 mpifort; do
  file=$name-wrapper-data.txt
  [ -f "$data/$file" ] || continue
  if grep -q '@COMPILER_VERSION@' "$data/$file"; then
    change sed -i -e '/^compiler_version=/d' -e 's|^includedir=.*|includedir=${includedir}|' \
      -e 's|^libdir=.*|libdir=${libdir}|' "$data/$file"
  fi
  alias=$data/$name.openmpi-wrapper-data.txt
  [ -e "$alias" ] || change ln -s "$file" "$alias"
done
