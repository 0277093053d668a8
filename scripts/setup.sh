#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what Fathom needs, builds it, and builds PERUSE for the Open MPI on the PATH once.
#
#   scripts/setup.sh [--demo] [--tests] [--packages-only]
#
#   --demo           only what the demo needs, and its program (no traces, no Python)
#   --tests          also what the tests need, and the tests. That includes two later releases of Open
#                    MPI (scripts/openmpi.sh), without which the tests on them are skipped
#   --packages-only  stop before building
#
#   FATHOM_CACHE     where Open MPI's overlay is kept (default: ~/.cache/fathom)
#   FATHOM_BUILD     Fathom's build folder (default: build)
#   FATHOM_OPENMPI   an Open MPI with PERUSE that exists already: none is built
#
# Every step says what it does and how long it took; what is done already is skipped. Nothing is changed
# before it is clear that everything can be had.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

parts=(tool peruse) packages_only=no
for word in "$@"; do
  case $word in
    --demo) parts+=(demo) ;;
    --tests) parts+=(test demo) ;;
    --packages-only) packages_only=yes ;;
    *) die "setup.sh has no option $word; there are --demo, --tests and --packages-only" ;;
  esac
done

# The packages of these parts, under the names that this system gives them.
wanted_packages() {
  awk -v parts=" ${parts[*]} " -v here="$(. /etc/os-release; echo "${VERSION_CODENAME:-}")" '
    !/^#/ && NF && index(parts, " " $1 " ") {
      name = $2
      for (i = 3; i <= NF; i++) if (index($i, here "=") == 1) name = substr($i, length(here) + 2)
      if (name != "-") print name
    }' "$fathom_scripts/packages.txt"
}

# Other packages of Node bring npm with them, and conflict with Debian's.
is_installed() {
  case $1 in
    nodejs) ! command -v node >/dev/null || return 0 ;;
    npm) ! command -v npm >/dev/null || return 0 ;;
  esac
  [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = 'install ok installed' ]
}

# apt-get, as soon as no other package manager is at work. -o DPkg::Lock::Timeout waits for one of
# its locks only.
apt() {
  local waited=0 said
  while ! said=$(DEBIAN_FRONTEND=noninteractive apt-get "$@" 2>&1); do
    printf '%s\n' "$said"
    case $said in *'Could not get lock'* | *'Unable to lock'*) ;; *) return 1 ;; esac
    [ "$waited" -lt "${FATHOM_LOCK_TIMEOUT:-600}" ] || return 1
    printf 'waiting for the package manager that holds the lock (%d s)\n' "$waited"
    sleep 2
    waited=$((waited + 2))
  done
  printf '%s\n' "$said"
}

install_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null || {
    skip "packages" "this is not Debian or Ubuntu; docs/install.md says what is needed"
    return
  }
  for package in $(wanted_packages); do is_installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} = 0 ]; then
    skip "packages" "all installed"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    die "these packages are missing, and only root can install them; nothing was changed." \
      "Run: apt-get install ${missing[*]}"
  fi
  can_install() { apt-get install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1; }
  if ! can_install; then
    step "update the list of packages" apt update
    can_install || die "these packages are missing and apt cannot get them (no network, or a system" \
      "that names them differently?); nothing was changed: ${missing[*]}"
  fi
  step "install ${#missing[@]} packages" apt install -y --no-install-recommends "${missing[@]}"
}

# A build folder without tests becomes one with tests, never the other way round.
build_fathom() {
  local target=tool options=(-Dtests=disabled -Dbench=disabled)
  case " ${parts[*]} " in
    *' test '*) target=all options=(-Dtests=enabled -Dbench=enabled) ;;
    *' demo '*) target=demo ;;
  esac
  install_page_tools
  command -v meson >/dev/null || die "there is no meson on the PATH; run: pip install meson (1.0 or later)"
  if [ ! -f "$fathom_build/build.ninja" ]; then
    step "configure Fathom" meson setup "$fathom_build" "$fathom_root" "${options[@]}" \
      ${FATHOM_MESON_OPTIONS:-}
  elif [ "$target" = all ] && grep -q '"tests", "value": "disabled"' \
    "$fathom_build/meson-info/intro-buildoptions.json"; then
    step "configure Fathom's tests" meson configure "$fathom_build" "${options[@]}"
  fi
  if openmpi_is_ready; then
    step "build Fathom" ninja -C "$fathom_build" "$target"
    skip "Open MPI $fathom_openmpi" "already in $(realpath "$openmpi_prefix")"
  else
    step "build Fathom, and PERUSE for the installed Open MPI" build_both "$target"
  fi
}

# What builds the viewer's pages, as package-lock.json pins it. Without them, fathom view is left out.
install_page_tools() {
  local pages=$fathom_root/view/page said
  command -v npm >/dev/null || return 0
  if [ "$pages/node_modules/.package-lock.json" -nt "$pages/package-lock.json" ]; then
    skip "tools for the viewer's pages" "already in $pages/node_modules"
    return
  fi
  if said=$(cd "$pages" && npm ci --no-audit --no-fund 2>&1); then
    touch "$pages/node_modules/.package-lock.json"
  else
    skip "tools for the viewer's pages" "npm ci failed, so fathom view will be missing: ${said##*$'\n'}"
  fi
}

openmpi_is_ready() { "$fathom_scripts/openmpi.sh" "$fathom_openmpi" --check >/dev/null 2>&1; }

# At once, because Open MPI's `configure` uses one processor only. In a process group of its own, so
# that it ends with this script.
build_both() {
  local peruse
  set -m
  "$fathom_scripts/openmpi.sh" "$fathom_openmpi" &
  peruse=$!
  set +m
  trap 'kill -- "-$peruse" 2>/dev/null || true' EXIT
  ninja -C "$fathom_build" "$1"
  wait "$peruse"
  trap - EXIT
}

# What drives a browser in the tests of the viewer's pages.
install_page_tests() {
  local folder=$fathom_root/test/page
  if ! command -v npm >/dev/null; then
    skip "tests of the viewer's pages" "there is no npm on the PATH"
  elif [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ]; then
    skip "tests of the viewer's pages" "already in $folder/node_modules"
  else
    step "install what drives a browser in tests" npm ci --silent --prefix "$folder" ||
      skip "tests of the viewer's pages" "npm could not install what they need"
  fi
}

# openmpi.sh says why a release cannot be had.
fetch_releases() {
  local release
  for release in $fathom_releases; do
    "$fathom_scripts/openmpi.sh" "$release" 2>&1 >/dev/null ||
      skip "Open MPI $release" "tests on it will be skipped"
  done
}

install_packages
[ "$packages_only" = no ] || exit 0
case " ${parts[*]} " in *' test '*) fetch_releases && install_page_tests ;; esac
build_fathom
