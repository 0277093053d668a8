#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes the profile reader: test/fuzz/run.sh [SECONDS], 60 if not given. Needs clang. Seeds are the golden
# files; what it finds worth keeping stays in build-fuzz/corpus, a crash in build-fuzz/crash-*.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
mkdir -p build-fuzz/corpus build-fuzz/seeds
cp test/golden/*.json build-fuzz/seeds/
sources=(base/{atomic_file,byte_source,utf8,json/reader,json/writer}.cpp profile/{header_targets,reader,writer}.cpp)
# RapidJSON adds to a null pointer when its stack is still empty: harmless, and not ours to mend.
clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined \
  -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined -I. \
  test/fuzz/profile_reader_fuzz.cpp "${sources[@]}" -o build-fuzz/profile_reader_fuzz
cd build-fuzz
export TMPDIR=$PWD
exec ./profile_reader_fuzz -max_len=8192 -rss_limit_mb=1024 -timeout=10 -max_total_time="$seconds" \
  -print_final_stats=1 corpus seeds
