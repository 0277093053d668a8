#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up everything, builds Fathom and runs every test.
#
#   scripts/test.sh [--all-open-mpi] [SUITE...]     all suites, or only those named (unit, cli, mpi, ...)
#
#   --all-open-mpi   everything that launches MPI jobs (suites mpi, trace, analysis, hosts) also runs on
#                    the later releases that scripts/openmpi.sh makes available; without it, a few quick
#                    cases of the suite mpi do
#
# What fails is run once more, alone (test_again.py). The last line counts the tests of all suites:
# "N passed, N failed, N skipped".
set -euo pipefail
. "$(dirname "$0")/lib.sh"

if [ "${1:-}" = --all-open-mpi ]; then
  export FATHOM_TEST_LATER=1
  shift
fi
"$fathom_scripts/setup.sh" --tests
export FATHOM_OPENMPI=$openmpi_prefix
cd "$fathom_build"
suites=()
for suite in "$@"; do suites+=(--suite "$suite"); done
patience=(${FATHOM_TEST_LATER:+--timeout-multiplier 3})
status=0
meson test --no-rebuild --print-errorlogs "${patience[@]}" "${suites[@]}" ||
  python3 "$fathom_root/scripts/test_again.py" . "${patience[@]}" || status=1
python3 "$fathom_root/scripts/count_tests.py" meson-logs/testlog.json || status=1
exit "$status"
