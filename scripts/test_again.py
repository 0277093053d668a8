#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests that have just failed once more, one at a time.

usage: test_again.py BUILD [OPTION OF MESON TEST...]

Tests of real jobs run beside each other, on machines that others use too, and a job that gets no processor for seconds
can fail a test by chance. A defect fails alone as well. What fails now is the result, and replaces that in meson's log,
from which count_tests.py counts; the last lines name what failed first and passed now, so that nobody overlooks a test
that often does. More than a few failures are not by chance: then nothing is run. Exits 1 unless all passed.
"""
import json
import pathlib
import subprocess
import sys

from count_tests import PASSED

MOST = 5


def results(log):
    """{"project:suite / name": all that meson says of it}"""
    return {test['name']: test for test in map(json.loads, log.read_text(encoding='utf-8').splitlines())}


def failed(tests):
    return [name for name, test in tests.items() if test['result'] not in PASSED]


def main():
    build = pathlib.Path(sys.argv[1])
    log = build / 'meson-logs/testlog.json'
    tests = results(log)
    names = failed(tests)
    if len(names) > MOST:
        print(f'{len(names)} tests failed: too many to be by chance')
    if not 0 < len(names) <= MOST:
        return 1 if names else 0
    print(f'once more, one at a time: {"; ".join(names)}', flush=True)
    subprocess.run(['meson', 'test', '--no-rebuild', '--print-errorlogs', '--num-processes', '1', '--logbase', 'again', *sys.argv[2:],
                    *(name.split(' / ', 1)[-1] for name in names)], cwd=build, check=False)
    again = results(build / 'meson-logs/again.json')
    tests |= {name: again[name] for name in names if name in again}
    log.write_text(''.join(json.dumps(test) + '\n' for test in tests.values()), encoding='utf-8')
    for name in names:
        if tests[name]['result'] in PASSED:
            print(f'failed beside others, passed alone: {name}')
    return 1 if failed(tests) else 0


if __name__ == '__main__':
    sys.exit(main())
