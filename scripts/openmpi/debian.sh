#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks an Open MPI of another Debian release, with its libraries and compilers, into a folder.
#
#   scripts/openmpi/debian.sh RELEASE PREFIX              (called by scripts/openmpi.sh)
#
# PREFIX/root       the packages, unpacked; nothing is installed and nothing is compiled
# PREFIX/enter      runs a program of PREFIX/root: enter.sh
# PREFIX/bin        mpirun, ompi_info and the compilers: links to PREFIX/enter
# PREFIX/inside     bash, for recipes that build something there: another link
# PREFIX/include    mpi.h
# PREFIX/about.txt  the packages and their versions
#
# They need a newer libc than this machine may have, hence the compilers, the shell and the other
# tools that jobs start: all of them are of that release.
#
# archive.sh says where the packages come from and how they are verified.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/archive.sh"

release=$1 prefix=$2
packages=(openmpi-bin libopenmpi-dev libucx0 gcc g++ gfortran
  bash dash coreutils grep sed mawk util-linux hostname iproute2)
case $release in  # for overlay.sh
  5.0.*) packages+=(make libc-bin diffutils findutils pkgconf libucx-dev libfabric-dev) ;;
esac
case $release-$(dpkg --print-architecture) in
  5.0.*-amd64) packages+=(libpsm2-dev) ;;
esac
root=$prefix/root
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
trap 'rm -rf "$work"' EXIT

fetch() {
  apt-get -c="$work/apt.conf" --yes --download-only install "${packages[@]}"
}

unpack() {
  local folder
  mkdir -p "$root/usr" "$prefix/bin" "$prefix/inside"
  for folder in bin sbin lib lib64; do
    mkdir -p "$root/usr/$folder"
    ln -s "usr/$folder" "$root/$folder"
  done
  printf '%s\0' "$work"/cache/archives/*.deb |
    xargs -0 -P "$(nproc)" -I '{}' dpkg-deb --extract '{}' "$root"
  (cd "$work/cache/archives" && printf '%s\n' *.deb) >"$prefix/about.txt"
  rm -rf "$root"/usr/share/{doc,doc-base,fonts,info,javascript,lintian,locale,man,nodejs}
}

# What the packages' own scripts would do when they are installed.
arrange() {
  local file libraries name
  for file in "$root"/usr/bin/*.openmpi; do
    [ -e "${file%.openmpi}" ] || ln -s "$(basename "$file")" "${file%.openmpi}"
  done
  ln -sf gcc "$root/usr/bin/cc"
  ln -sf g++ "$root/usr/bin/c++"
  ln -sf mawk "$root/usr/bin/awk"
  libraries=$(echo "$root"/usr/lib/*/openmpi)
  ln -sf openmpi/lib/libmpi.so "$libraries/../libmpi.so"
  ln -s "${libraries#"$prefix/"}/include" "$prefix/include"
  # The standard ABI, which the packages of 6.0.0rc2 leave without a compiler and a soname.
  if [ -f "$root/usr/share/openmpi/mpicc_abi-wrapper-data.txt" ]; then
    [ -e "$root/usr/bin/mpicc_abi" ] || ln -s opal_wrapper "$root/usr/bin/mpicc_abi"
    [ -e "$libraries/../libmpi_abi.so.1" ] ||
      ln -s openmpi/lib/libmpi_abi.so "$libraries/../libmpi_abi.so.1"
  fi
  # Places for those of this machine.
  touch "$root"/etc/{passwd,group,hosts,resolv.conf,nsswitch.conf}
  install -m 755 "$fathom_scripts/openmpi/enter.sh" "$prefix/enter"
  for name in mpirun mpiexec mpicc mpicxx mpic++ mpiCC mpif77 mpif90 mpifort mpicc_abi ompi_info; do
    [ ! -e "$root/usr/bin/$name" ] || ln -s ../enter "$prefix/bin/$name"
  done
  ln -s ../enter "$prefix/inside/bash"
  "$prefix/bin/ompi_info" --version | grep -F "Open MPI v$release"
}

open_archive "$work" "$release" deb
step "fetch Open MPI $release and what it needs" fetch
step "unpack Open MPI $release" unpack
step "arrange Open MPI $release" arrange
