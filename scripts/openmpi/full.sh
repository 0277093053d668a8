#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds a whole Open MPI with PERUSE, from the distribution's sources, into a prefix of its own.
#
#   scripts/openmpi/full.sh RELEASE PREFIX [SOURCES]      (called by scripts/openmpi.sh --full)
#
# It knows shared memory and TCP only. Jobs over InfiniBand need the site's own Open MPI, with the
# overlay.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/sources.sh"

release=$1 prefix=$2 sources=${3:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset libmpi

configure() {
  cd "$work/source"
  # --with-devel-headers: the internal headers that the library is compiled against.
  # --enable-mpi-cxx and Fortran: Debian's own binaries run on this build unchanged.
  # --enable-spc: software performance counters, readable as MPI_T pvars.
  ./configure --prefix="$prefix" --enable-peruse --with-devel-headers --enable-mpi-cxx --enable-spc \
    --with-pmix="$(pkg-config --variable=prefix pmix)" --with-libevent=external --with-hwloc=external \
    --enable-mpi-fortran=all --disable-oshmem --disable-mpi-java --disable-man-pages \
    --without-verbs --without-ucx --without-libfabric --without-psm2 --enable-ipv6 \
    CFLAGS='-O3 -g1' CXXFLAGS='-O3' FCFLAGS='-O3'
}

step "fetch the sources of Open MPI $release" fetch_sources "$work" "$release" $sources
step "configure Open MPI $release with PERUSE" configure
step "compile Open MPI $release" make -C "$work/source" -j"$(nproc)"
step "install Open MPI $release" make -C "$work/source" install
"$fathom_scripts/openmpi/repair_wrappers.sh" "$prefix"
