#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks an Open MPI of another Debian release, with its libraries and compilers, into a folder.
#
#   scripts/openmpi/debian.sh RELEASE PREFIX              (called by scripts/openmpi.sh)
#
# PREFIX/root       the packages, unpacked; nothing is installed and nothing is compiled
# PREFIX/enter      runs a program of PREFIX/root: enter.sh
# PREFIX/bin        mpirun, ompi_info and the compilers: links to PREFIX/enter
# PREFIX/include    mpi.h
# PREFIX/about.txt  the packages and their versions
#
# They need a newer libc than this machine may have, hence the compilers, the shell and the other
# tools that jobs start: all of them are of that release.
#
# The packages come from the Debian archive in this machine's own apt configuration, with the name of
# the suite exchanged, and apt verifies them against the keys of Debian that this machine trusts
# (Debian 12's package debian-archive-keyring has those of Debian 13 and of sid). apt's own lists, cache
# and state stay as they are.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

release=$1 prefix=$2
case $release in
  5.0.*) suite=trixie ;;
  *) suite=sid ;;
esac
packages=(openmpi-bin libopenmpi-dev libucx0 gcc g++ gfortran
  bash dash coreutils grep sed util-linux hostname iproute2)
root=$prefix/root
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A configuration file is read last, after this machine's proxies and the like. Its hooks are cleared,
# because some write to apt's state.
configure_apt() {
  local archive options keyring
  command -v apt-get dpkg-deb >/dev/null ||
    die "Open MPI $release is taken from packages of Debian, for which there must be apt and dpkg"
  archive=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  [ -n "$archive" ] || die "Open MPI $release is taken from packages of Debian, and apt knows no" \
    "archive of Debian here (on Debian, run 'apt-get update' as root first)"
  options=arch=$(dpkg --print-architecture)
  for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ ! -f "$keyring" ] || options="$options signed-by=$keyring"
  done
  printf 'deb [%s] %s %s main\n' "$options" "$archive" "$suite" >"$work/sources.list"
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/empty"
  : >"$work/state/status"
  cat >"$work/apt.conf" <<-END
	#clear APT::Update;
	#clear DPkg::Pre-Install-Pkgs;
	APT::Update::Error-Mode "any";
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "1";
	Acquire::http::Timeout "20";
	Acquire::https::Timeout "20";
	Dir::Cache "$work/cache";
	Dir::Etc::preferences "$work/none";
	Dir::Etc::preferencesparts "$work/empty";
	Dir::Etc::sourcelist "$work/sources.list";
	Dir::Etc::sourceparts "$work/empty";
	Dir::State "$work/state";
	Dir::State::status "$work/state/status";
	END
}

# "6.0.0~rc2-2+b1" is 6.0.0rc2.
offered() {
  apt-cache -c="$work/apt.conf" show --no-all-versions libopenmpi40 |
    sed -n 's/^Version: \([0-9]*:\)\?//p' | sed 's/-[^-]*$//; s/~//'
}

fetch() {
  apt-get -c="$work/apt.conf" --yes --download-only install "${packages[@]}"
}

unpack() {
  local folder
  mkdir -p "$root/usr" "$prefix/bin"
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
  "$prefix/bin/ompi_info" --version | grep -F "Open MPI v$release"
}

configure_apt
apt-get -c="$work/apt.conf" update >"$work/update.log" 2>&1 ||
  die "Open MPI $release cannot be had: apt cannot fetch or verify Debian's suite $suite" \
    "($(sed -n 's/^[EW]: //p' "$work/update.log" | head -n 1))"
there=$(offered)
[ "$there" = "$release" ] || die "Open MPI $release cannot be had: Debian's suite $suite has" \
  "${there:-no Open MPI}"
step "fetch Open MPI $release and what it needs" fetch
step "unpack Open MPI $release" unpack
step "arrange Open MPI $release" arrange
