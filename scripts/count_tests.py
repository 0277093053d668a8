#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up meson's test logs: one line "N passed, N failed, N skipped".

usage: count_tests.py TESTLOG.json...

A test that prints "N passed, N failed[, N skipped]" as its last line counts with those numbers (the MPI
suite runs many cases in one meson test); any other test counts as one. A log that is not there counts as one
failure, because what writes it did not run. Exits 1 if anything failed or nothing ran.
"""
import json
import re
import sys

SUMMARY = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.M)
PASSED = ('OK', 'SKIP', 'EXPECTEDFAIL')  # what meson says of a test that is no failure
DOCTEST = re.compile(r'test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed')


def counts(test):
    output = test.get('stdout') or ''
    summaries = SUMMARY.findall(output)
    if summaries:
        passed, failed, skipped = summaries[-1]
        found = int(passed), int(failed), int(skipped or 0)
    elif doctest := DOCTEST.search(output):
        found = int(doctest[2]), int(doctest[3]), 0
    else:
        found = (0, 0, 1) if test['result'] == 'SKIP' else (1, 0, 0)
    if test['result'] not in PASSED and found[1] == 0:
        found = found[0] if summaries else 0, 1, found[2]
    return found


def main():
    tests = []
    for name in sys.argv[1:]:
        try:
            with open(name, encoding='utf-8') as log:
                tests += [counts(json.loads(line)) for line in log]
        except FileNotFoundError:
            print(f'there is no {name}', file=sys.stderr)
            tests.append((0, 1, 0))
    totals = [sum(column) for column in zip(*tests)]
    passed, failed, skipped = totals or (0, 0, 0)
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
