#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What CI checks beside the tests: format, clang-tidy, a build with clang, the unit tests under
# AddressSanitizer and UBSan, the smallest build, the Debian package and the wheel.
#
#   scripts/check.sh [format|clang|sanitizers|smallest|packages]...     all of them without arguments
#   scripts/check.sh reproducible     builds Fathom twice, in two folders, and compares what is installed
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
# Only misc-unused-using-decls needs sources one by one, as scripts/pre-commit reads them.
tidy() {
  compiled_sources "$checks/clang" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$checks/clang"
}

clang() {
  CC=clang CXX=clang++ check "configure with clang" configure clang --werror
  check "build with clang" ninja -C "$checks/clang"
  check "clang-tidy" tidy
  check "unit tests of the clang build" meson test -C "$checks/clang" --no-rebuild --print-errorlogs --suite unit
}

# The targets that the unit suite runs.
unit_programs() {
  python3 - "$1" <<'PYTHON'
import json, pathlib, sys
build = pathlib.Path(sys.argv[1]).resolve()
tests, targets = (json.loads((build / f"meson-info/intro-{what}.json").read_text()) for what in ("tests", "targets"))
built = {pathlib.Path(name) for target in targets for name in target["filename"]}
run = {build / word for test in tests if "fathom:unit" in test["suite"] for word in test["cmd"]}
print(*sorted(str(name.relative_to(build)) for name in built & run))
PYTHON
}

# Without --werror: g++ warns of uninitialised memory where a sanitizer's code is in the way.
sanitizers() {
  check "configure with sanitizers" configure sanitizers \
    -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dpython=disabled
  check "build with sanitizers" ninja -C "$checks/sanitizers" $(unit_programs "$checks/sanitizers")
  check "unit tests under sanitizers" meson test -C "$checks/sanitizers" --no-rebuild --print-errorlogs --suite unit
}

smallest() {
  check "configure the smallest build" configure smallest --werror \
    -Dpython=disabled -Dsimulator=disabled -Dmetis=disabled -Dotf2=disabled -Dtests=disabled -Dbench=disabled
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
  ! ldd "$1" | grep -E 'otf2|metis|hwloc|yaml|pugixml|python'
}

profiles_a_job() {
  local folder status=0
  folder=$(mktemp -d)
  (cd "$folder" && PATH=/usr/bin:/bin "$1" run -o run -- mpirun --oversubscribe -n 2 /usr/bin/hpcc >/dev/null 2>&1
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
