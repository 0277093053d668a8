#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what Fathom needs, builds a PERUSE-enabled Open MPI once, and builds Fathom.
#
#   scripts/setup.sh [--packages-only]
#
#   FATHOM_OPENMPI   prefix of an existing PERUSE build of Open MPI 4.1 to use instead of building one
#   FATHOM_CACHE     where the build is kept (default: ~/.cache/fathom)
#   FATHOM_BUILD     Fathom's build directory (default: build)
#
# Every step says what it does and how long it took; what is done already is skipped. Nothing is changed
# before it is clear that everything can be had.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

install_packages() {
  local missing=() package
  while read -r package; do
    case $package in '' | '#'*) continue ;; esac
    [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = 'install ok installed' ] || missing+=("$package")
  done <"$fathom_root/scripts/packages.txt"
  if [ ${#missing[@]} = 0 ]; then
    skip "Debian packages" "all installed"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    die "these Debian packages are missing and only root can install them; nothing was changed. Run: apt-get install ${missing[*]}"
  fi
  if ! apt-get install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    apt-get update >/dev/null 2>&1 || true
    apt-get install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
      die "these Debian packages are missing and apt cannot get them (no network, or not Debian 12?); nothing was changed: ${missing[*]}"
  fi
  step "install ${#missing[@]} Debian packages" \
    env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

has_peruse() {
  [ -x "$1/bin/mpirun" ] && grep -aq PERUSE_Event_comm_register "$1"/lib/libmpi.so.40
}

# Earlier versions left a build in the cache whose mpif90 does not find mpif.h. Builds elsewhere are
# their owners' and stay as they are.
repair_wrappers() {
  local repair=$fathom_root/scripts/repair_wrappers.sh
  case $openmpi_prefix in "$fathom_cache"/*) ;; *) return ;; esac
  "$repair" "$openmpi_prefix" --check && return
  if [ -w "$openmpi_prefix/share/openmpi" ]; then
    step "repair the compiler wrappers of Open MPI" "$repair" "$openmpi_prefix"
  else
    skip "compiler wrappers of Open MPI" \
      "$openmpi_prefix cannot be written; its mpif90 may not find mpif.h"
  fi
}

build_openmpi() {
  if has_peruse "$openmpi_prefix"; then
    skip "Open MPI with PERUSE" "already in $openmpi_prefix"
    repair_wrappers
    return
  fi
  if [ -n "${FATHOM_OPENMPI:-}" ]; then
    die "FATHOM_OPENMPI=$FATHOM_OPENMPI holds no Open MPI built with --enable-peruse; unset it to have one built"
  fi
  # Into a place of its own first, so that an interrupted build is never taken for a whole one.
  rm -rf "$openmpi_prefix"
  "$fathom_root/scripts/build_openmpi.sh" "$openmpi_prefix" ||
    { rm -rf "$openmpi_prefix"; exit 1; }
}

build_fathom() {
  if [ ! -f "$fathom_build/build.ninja" ]; then
    step "configure Fathom" meson setup "$fathom_build" "$fathom_root" ${FATHOM_MESON_OPTIONS:-}
  fi
  step "build Fathom" ninja -C "$fathom_build"
}

install_packages
mkdir -p "$fathom_cache" 2>/dev/null || die "cannot make the cache folder $fathom_cache; set FATHOM_CACHE to one that can be written"
[ "${1:-}" = --packages-only ] && exit 0
build_openmpi
build_fathom
