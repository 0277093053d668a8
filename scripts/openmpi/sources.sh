# SPDX-License-Identifier: BSD-3-Clause
# The sources of Open MPI, for the recipes beside this file. Source it after lib.sh.

. "$fathom_scripts/openmpi/archive.sh"

# fetch_sources FOLDER RELEASE [PATH]: unpacks the sources into FOLDER/source. PATH: an archive, or a
# folder; without it they come from the source package of the installed libmpi (of any package
# `openmpi` of this release if none is installed).
fetch_sources() {
  local folder=$1 release=$2 path=${3:-} unpacked
  mkdir -p "$folder"
  cd "$folder"
  if [ -d "$path" ]; then
    cp -a "$path" source
  elif [ -n "$path" ]; then
    tar -xf "$path"
    mv -- */ source
  else
    fetch_package "$release"
    mv openmpi-*/ source
  fi
  [ -x source/configure ] || die "$path holds no 'configure': give the archive of a release"
  unpacked=$(sed -n 's/^\(major\|minor\|release\)=//p' source/VERSION | paste -sd.)
  [ "$unpacked" = "$release" ] || die "$path holds the sources of Open MPI $unpacked, not of $release"
  # A distribution's patches make the sources of the shipped generated files look newer than these
  # are; without this, make would want the exact autotools of the release.
  local generated
  for generated in aclocal.m4 configure Makefile.in '*.h.in' '*_lex.c'; do
    sleep 0.1
    find source -name "$generated" -exec touch {} +
  done
}

# Through apt, from the archives this machine already uses: their `deb` entries are read as `deb-src`
# from a private list, and the machine's own apt configuration stays as it is.
fetch_package() {
  local release=$1 exact= origin
  chmod 755 .  # apt drops its privileges to fetch
  for origin in Debian Ubuntu; do
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
      'Created-By: Packages' "Origin: $origin"
  done | sort -u | sed 's/^/deb-src /' >sources.list
  [ -s sources.list ] || die "apt knows no archive of Debian or Ubuntu: run 'apt-get update' as" \
    "root first, or give the sources: --sources openmpi-$release.tar.bz2"
  mkdir -p lists/partial
  local private=(-o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
  apt-get "${private[@]}" update
  if [ -n "${libmpi:-}" ]; then
    exact=$(dpkg-query -W -f '${source:Version}\n' "$(package_of "$libmpi")")
  else
    exact=$(apt-cache "${private[@]}" showsrc --only-source openmpi |
      sed -n "s/^Version: \($release-.*\)/\1/p" | head -n 1)
  fi
  apt-get "${private[@]}" source "openmpi=$exact" ||
    die "apt has no sources of openmpi $exact; give them with --sources openmpi-$release.tar.bz2"
}

# fetch_debian_sources FOLDER RELEASE: those of the suite of Debian that has this release, in
# FOLDER/openmpi-RELEASE.
fetch_debian_sources() {
  command -v dpkg-source >/dev/null ||
    die "unpacking Debian's sources of Open MPI $2 needs dpkg-source; install dpkg-dev"
  open_archive "$1" "$2" deb-src
  cd "$1"
  apt-get -c="$1/apt.conf" source --only-source openmpi
}

# dpkg may know a file by its name before /lib became a link to /usr/lib.
package_of() {
  { dpkg-query -S "$1" || dpkg-query -S "${1#/usr}"; } 2>/dev/null | head -n 1 | sed 's/: .*//' |
    grep . || die "no package owns $1, so apt cannot fetch its sources;" \
      "give the archive of its release: --sources openmpi-….tar.bz2"
}
