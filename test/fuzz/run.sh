#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes the profile reader: test/fuzz/run.sh [SECONDS], 60 if not given. Needs clang. The seeds are the
# golden files; inputs worth keeping stay in build-fuzz/corpus, a crash in build-fuzz/crash-*.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
[ -f build-fuzz/build.ninja ] || CC=clang CXX=clang++ meson setup build-fuzz -Doptimization=1
ninja -C build-fuzz test/fuzz/profile_reader_fuzz
mkdir -p build-fuzz/corpus build-fuzz/seeds
cp test/golden/*.json build-fuzz/seeds/
cd build-fuzz
export TMPDIR=$PWD
exec test/fuzz/profile_reader_fuzz -max_len=8192 -rss_limit_mb=1024 -timeout=10 \
  -max_total_time="$seconds" -print_final_stats=1 corpus seeds
