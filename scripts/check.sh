#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What is checked beside the tests.
#
#   scripts/check.sh [CHECK...]     without arguments: format, clang, sanitizers, smallest, packages
#
#   format        clang-format
#   clang         a build of everything with clang, warnings as errors, and clang-tidy
#   sanitizers    the unit tests of that build, under AddressSanitizer and UBSan
#   smallest      the build with the fewest libraries, and a job
#   packages      the Debian package and the wheel, as a new user makes and uses them
#   reproducible  two builds in two folders install the same files
#
# Builds lie in build-checks/ and are kept. The last line counts: "N passed, N failed, N skipped".
set -uo pipefail
. "$(dirname "$0")/lib.sh"
cd "$fathom_root"
checks=build-checks
mkdir -p "$checks"
export MESON_TESTTHREADS=${MESON_TESTTHREADS:-2}

# check TITLE COMMAND...: one line of a log that count_tests.py can read.
check() {
  local title=$1 result=OK
  shift
  (step "$title" "$@") || result=FAIL
  printf '{"name": "%s", "result": "%s", "stdout": ""}\n' "$title" "$result" >>"$checks/checks.json"
}

# configure FOLDER OPTION...
configure() {
  local folder=$checks/$1
  shift
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$@"
}

format() {
  git ls-files '*.h' '*.cpp' '*.c' | grep -v '^test/golden' | xargs clang-format --dry-run -Werror
}

# One build for both, because building everything takes minutes; without optimization, because -O1 takes
# three times as long for a library. Those of the tests in test/core that bring a sanitizer of their own
# are not in it.
build_with_clang() {
  [ -z "${built_with_clang:-}" ] || return
  built_with_clang=yes
  CC=clang CXX=clang++ check "configure with clang" configure clang --werror \
    -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0
  check "build with clang" ninja -C "$checks/clang"
}

# The sources of the tree as they are compiled, largest batch first; generated code is left out.
compiled_sources() {
  python3 - "$1" <<'PYTHON'
import json, pathlib, sys
build = pathlib.Path(sys.argv[1]).resolve()
commands = json.loads((build / "compile_commands.json").read_text())
files = {(build / command["file"]).resolve() for command in commands}
wanted = [file for file in files if file.suffix == ".cpp" and (build not in file.parents or "-unity" in file.name)]
print(*sorted(wanted, key=lambda file: (-file.read_bytes().count(b"#include"), file)), sep="\n")
PYTHON
}

# By batch: each header is read once a batch instead of once a source, which takes a third of the time.
# Only misc-unused-using-decls needs sources one by one, as scripts/pre-commit reads them. Without the
# numbers of warnings that are not shown, so that a log's last lines are the errors.
tidy() {
  compiled_sources "$checks/clang" |
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$checks/clang" 2>&1 | sed '/ warnings\{0,1\} generated\.$/d'
}

clang() {
  build_with_clang
  check "clang-tidy" tidy
}

# Yielding, and with ample time, because CI runs this beside the tests.
sanitizers() {
  local lists=$fathom_root/test/sanitizers
  build_with_clang
  check "unit tests under sanitizers" env LSAN_OPTIONS=suppressions="$lists/leaks.txt" \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:suppressions="$lists/undefined.txt" \
    meson test -C "$checks/clang" --no-rebuild --print-errorlogs -t 30 --suite unit \
      --wrapper "$fathom_scripts/yielding"
}

smallest() {
  check "configure the smallest build" configure smallest --werror -Doptimization=0 \
    -Dpython=disabled -Dsimulator=disabled -Dmetis=disabled -Dscotch=disabled -Dotf2=disabled -Dmetrics=disabled \
    -Dview=disabled -Dfortran=disabled -Dtests=disabled -Dbench=disabled
  check "build the smallest" ninja -C "$checks/smallest"
  check "the smallest needs few libraries" needs_few "$checks/smallest/cli/fathom"
  check "the smallest profiles a job" profiles_a_job "$fathom_root/$checks/smallest/cli/fathom"
}

# Packages, as a new user makes and uses them. With the cache of the compiler, where there is one.
packages() {
  local version
  version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
  check "Debian package" python3 test/install/debian_package.py . "$version"
  check "wheel" python3 test/install/wheel.py . "$version"
}

needs_few() {
  ! ldd "$1" | grep -E 'otf2|metis|scotch|hwloc|yaml|pugixml|python'
}

profiles_a_job() {
  local folder status=0
  folder=$(mktemp -d)
  # In a TMPDIR of its own: of two mpiruns of Open MPI 4.1 that share one, the first to end removes a
  # folder that the other needs.
  (cd "$folder" && TMPDIR=$folder PATH=/usr/bin:/bin "$1" run -o run -- mpirun --oversubscribe -n 2 /usr/bin/hpcc >/dev/null 2>&1
   "$1" report run | grep -q '^exact') || status=1
  rm -rf "$folder"
  return $status
}

: >"$checks/checks.json"
if [ $# = 0 ]; then set -- format clang sanitizers smallest packages; fi
for name in "$@"; do
  case $name in
    format) check "format" format ;;
    clang | sanitizers | smallest | packages) "$name" ;;
    reproducible) check "reproducible" env CCACHE_DISABLE=1 python3 test/install/reproducible.py . ;;
    *) die "there is no check '$name'; there are format, clang, sanitizers, smallest, packages, reproducible" ;;
  esac
done
python3 "$fathom_root/scripts/count_tests.py" "$checks/checks.json"
