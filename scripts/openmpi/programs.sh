#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Adds HPCC, LAMMPS and NetPIPE of the same Debian to an Open MPI that scripts/openmpi.sh has
# unpacked, for bench/exactness.py.
#
#   scripts/openmpi/programs.sh VERSION...
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/archive.sh"

add() {
  local work=$1 root=$2 libraries name
  apt-get -c="$work/apt.conf" --yes --download-only install hpcc lammps netpipe-openmpi
  printf '%s\0' "$work"/cache/archives/*.deb |
    xargs -0 -P "$(nproc)" -I '{}' dpkg-deb --extract '{}' "$root"
  # What update-alternatives would do.
  libraries=$(dirname "$(echo "$root"/usr/lib/*/blas)")
  for name in blas lapack; do
    ln -sf "$name/lib$name.so.3" "$libraries/lib$name.so.3"
  done
}

[ $# -gt 0 ] || die "name the versions: scripts/openmpi/programs.sh $fathom_releases"
for version; do
  prefix=$("$fathom_scripts/openmpi.sh" "$version")
  work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
  open_archive "$work" "$version" deb
  step "add HPCC, LAMMPS and NetPIPE to Open MPI $version" add "$work" "$prefix/root"
  rm -rf "$work"
done
