#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds Open MPI with PERUSE from Debian's source package into a prefix of its own.
#
#   scripts/build_openmpi.sh PREFIX
#
# Debian's own Open MPI is built without PERUSE. The source comes through apt from the archives this
# machine already uses: their `deb` entries are read as `deb-src` from a private list, and the
# machine's own apt configuration stays as it is.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

prefix=${1:?usage: scripts/build_openmpi.sh PREFIX}
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # apt drops its privileges to fetch

fetch() {
  cd "$work"
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u |
    while read -r uri suite component; do
      printf 'deb-src %s %s %s\n' "$uri" "$suite" "$component"
    done >sources.list
  [ -s sources.list ] || die "apt knows no Debian archive: run 'apt-get update' as root first"
  mkdir -p lists/partial
  local private=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
  apt-get "${private[@]}" update
  apt-get "${private[@]}" source "openmpi=$(apt-cache "${private[@]}" showsrc --only-source openmpi |
    sed -n "s/^Version: \($openmpi_version-.*\)/\1/p" | head -n 1)"
  # Debian's patches make the sources of the shipped generated files look newer than these are;
  # without this, make would want the exact autotools of the release.
  cd "openmpi-$openmpi_version"
  local generated
  for generated in aclocal.m4 configure Makefile.in '*.h.in' '*_lex.c'; do
    sleep 0.1
    find . -name "$generated" -exec touch {} +
  done
}

configure() {
  cd "$work/openmpi-$openmpi_version"
  # --with-devel-headers: the internal headers that the library is compiled against.
  # --enable-mpi-cxx and Fortran: Debian's own binaries run on this build unchanged.
  # --enable-spc: software performance counters, readable as MPI_T pvars.
  ./configure --prefix="$prefix" --enable-peruse --with-devel-headers --enable-mpi-cxx --enable-spc \
    --with-pmix="$(pkg-config --variable=prefix pmix)" --with-libevent=external --with-hwloc=external \
    --enable-mpi-fortran=all --disable-oshmem --disable-mpi-java --disable-man-pages \
    --without-verbs --without-ucx --without-libfabric --without-psm2 --enable-ipv6 --disable-silent-rules \
    CFLAGS='-O3 -g1' CXXFLAGS='-O3' FCFLAGS='-O3'
}

step "fetch the Open MPI $openmpi_version source package" fetch
step "configure Open MPI with PERUSE" configure
step "compile Open MPI (a few minutes on two cores)" make -C "$work/openmpi-$openmpi_version" -j"$(nproc)"
step "install Open MPI into $prefix" make -C "$work/openmpi-$openmpi_version" install
"$fathom_root/scripts/repair_wrappers.sh" "$prefix"
