#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up everything, builds Fathom and runs every test.
#
#   scripts/test.sh [SUITE...]     all suites, or only those named (unit, cli, mpi, ...)
#
# The last line counts the tests of all suites: "N passed, N failed, N skipped".
set -euo pipefail
. "$(dirname "$0")/lib.sh"

"$fathom_scripts/setup.sh" --tests
export FATHOM_OPENMPI=$openmpi_prefix
cd "$fathom_build"
suites=()
for suite in "$@"; do suites+=(--suite "$suite"); done
status=0
meson test --no-rebuild --print-errorlogs "${suites[@]}" || status=$?
python3 "$fathom_root/scripts/count_tests.py" meson-logs/testlog.json || status=1
exit "$status"
