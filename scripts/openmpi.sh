#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes an Open MPI available and prints its prefix as the last line.
#
#   scripts/openmpi.sh VERSION [--full] [--sources PATH] [--check]
#
#   stock           the Open MPI on the PATH, as it is
#   4.1.4-peruse    the same with PERUSE: an overlay of two files, built once and cached. Any 4.1 or
#                   5.0 release, when it is the one on the PATH
#   5.0.7, 6.0.0rc2 Debian's, as packages of Debian 13 and of sid, unpacked into the cache in less
#                   than a minute (800 MB each). Its mpirun and compilers are wrappers that see /usr
#                   and /etc of that Debian in a mount namespace of their own, so this needs root or
#                   user namespaces, and apt with an archive of Debian
#   5.0.7-peruse    the same with PERUSE: an overlay of one file, built there in four minutes or more
#   --full          build a whole Open MPI with PERUSE instead, with its own launcher and without
#                   InfiniBand (UCX, verbs, libfabric)
#   --check         fetch and build nothing; fail if that would be necessary
#   --sources PATH  the source archive or folder of this release. Default: the source package from
#                   which the installed package was built, through this machine's apt
#
# PREFIX/bin holds mpirun and mpicc in every case. Where a version cannot be had, the last line on
# standard error says why. To add a version, add a function and a row to the `case` at the end: it sets
# `prefix` and builds what is missing there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
exec 3>&1 1>&2  # the prefix alone goes to stdout

version= full=no check=no sources=
while [ $# -gt 0 ]; do
  case $1 in
    --full) full=yes ;;
    --check) check=yes ;;
    --sources) sources=$(realpath "${2:?--sources needs a path}"); shift ;;
    -*) die "openmpi.sh has no option $1; there are --full, --sources and --check" ;;
    *) version=$1 ;;
  esac
  shift
done

# Where this Open MPI is installed: its ompi_info, which is linked to its libmpi.
find_installed() {
  ompi_info=$(command -v ompi_info) ||
    die "there is no Open MPI on the PATH (no ompi_info); install openmpi-bin or load its module"
  release=$(sed -n 's/^Open MPI v\([^ ]*\).*/\1/p' < <("$ompi_info" --version))
  libmpi=$(realpath "$(ldd "$ompi_info" | awk '$1 == "libmpi.so.40" { print $3 }')")
  [ -f "$libmpi" ] || die "cannot find the libmpi.so.40 of $ompi_info"
  component=$("$ompi_info" --path pkglibdir --parsable | cut -d: -f3-)/mca_pml_ob1.so
}

stock() {
  find_installed
  prefix=$(dirname "$(dirname "$ompi_info")")
}

# The name of a folder in the cache changes with the recipe that fills it (the number), and the name
# of an overlay with the files that it replaces and, if it is one over Debian's, with their folder.
peruse() {
  local wanted=${version%-peruse} made_for
  if [ -n "${FATHOM_OPENMPI:-}" ] && ! other_series "$wanted"; then
    grep -aqs PERUSE_Event_comm_register "$FATHOM_OPENMPI/lib/libmpi.so.40" ||
      die "FATHOM_OPENMPI=$FATHOM_OPENMPI holds no Open MPI with PERUSE; unset it, and one is built"
    prefix=$FATHOM_OPENMPI
    return
  elif [ "$full" = yes ]; then
    prefix=$fathom_cache/openmpi-$wanted-peruse-full-1
    provide "$fathom_scripts/openmpi/full.sh" "$wanted"
  elif [[ $wanted = 5.0.* ]] && ! ompi_info --version 2>&1 | grep -Fqx "Open MPI v$wanted"; then
    peruse_unpacked "$wanted"
    return
  else
    find_installed
    [ "$release" = "$wanted" ] || die "the Open MPI on the PATH is release $release" \
      "($ompi_info), so an overlay with PERUSE can be built only for $release"
    made_for=$({
      cat "$libmpi" $([ ! -f "$component" ] || echo "$component")
      printf %s "${launchers:-}"
    } | sha256sum | cut -c 1-12)
    prefix=$fathom_cache/openmpi-$wanted-peruse-overlay-1-$made_for
    export ompi_info libmpi component
    provide "$fathom_scripts/openmpi/overlay.sh" "$wanted"
  fi
  # For tests that are started without this script.
  ln -sfn "$prefix" "$fathom_cache/openmpi-$version"
}

# FATHOM_OPENMPI names one of the 4.1 series, for instance, and this is not its release.
other_series() {
  local there
  there=$("$FATHOM_OPENMPI/bin/ompi_info" --version 2>/dev/null | sed -n 's/^Open MPI v//p') || true
  [ -n "$there" ] && [ "${there%.*}" != "${1%.*}" ]
}

# peruse_unpacked RELEASE: an overlay over Debian's. This script builds it in the user space of that
# Debian, where this release is the one on the PATH, except that the sources come from here.
peruse_unpacked() {
  local release=$1 unpacked
  debian "$release"
  unpacked=$prefix
  inside() {
    env -u FATHOM_OPENMPI PATH=/usr/bin:/usr/sbin launchers="$unpacked/bin" \
      "$unpacked/inside/bash" "$fathom_scripts/openmpi.sh" "$version" "$@"
  }
  if prefix=$(inside --check 2>/dev/null); then
    skip "Open MPI" "already in $prefix"
    return
  fi
  not_only_checked
  if [ -z "$sources" ]; then
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    . "$fathom_scripts/openmpi/sources.sh"
    step "fetch the sources of Open MPI $release from Debian" fetch_debian_sources "$scratch" "$release"
    sources=$(echo "$scratch"/openmpi-*/)
  fi
  prefix=$(inside --sources "$sources") || exit 1
}

# A whole user space, which no other program of this machine sees.
debian() {
  local release=$1 refused namespace=(unshare --mount)
  [ "$(id -u)" = 0 ] || namespace+=(--map-root-user)
  refused=$("${namespace[@]}" true 2>&1) || die "Open MPI $version needs a mount namespace of its" \
    "own, which this account is not allowed to make ($refused)"
  prefix=$fathom_cache/openmpi-$release-debian-2
  provide "$fathom_scripts/openmpi/debian.sh" "$release"
  cmp -s "$fathom_scripts/openmpi/enter.sh" "$prefix/enter" || {  # from an earlier version of Fathom
    install -m 755 "$fathom_scripts/openmpi/enter.sh" "$prefix/enter.new"
    mv "$prefix/enter.new" "$prefix/enter"
  }
  ln -sfn "$prefix" "$fathom_cache/openmpi-$release"
}

available() {
  [ -x "$prefix/bin/mpirun" ] && [ -f "$prefix/complete" ] || return 1
  skip "Open MPI" "already in $prefix"
}

# provide RECIPE RELEASE: one process at a time; what an interrupted one left is removed.
provide() {
  if available; then return; fi
  not_only_checked
  exec 4>"$fathom_cache/openmpi.lock"
  flock --nonblock 4 || {
    printf '==> another process builds an Open MPI in %s; waiting for it\n' "$fathom_cache"
    flock 4
    if available; then return; fi
  }
  rm -rf "$prefix"
  "$1" "$2" "$prefix" $sources 4>&- || { rm -rf "$prefix"; exit 1; }
  touch "$prefix/complete"
  exec 4>&-
}

not_only_checked() {
  [ "$check" = no ] || die "Open MPI $version is not in the cache yet; scripts/openmpi.sh $version" \
    "puts it there"
}

mkdir -p "$fathom_cache" ||
  die "cannot make the cache folder $fathom_cache; set FATHOM_CACHE to a folder that you can write to"
case $version in
  stock) stock ;;
  *-peruse) peruse ;;
  5.0.* | 6.*) debian "$version" ;;
  '') die "name the version: scripts/openmpi.sh stock, $fathom_openmpi or $fathom_releases" ;;
  *) die "there is no recipe for Open MPI '$version'; there are stock, $fathom_openmpi and" \
    "$fathom_releases" ;;
esac
printf '%s\n' "$prefix" >&3
