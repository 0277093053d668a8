# SPDX-License-Identifier: BSD-3-Clause
"""Tests of programs that sleep for a known time, on a machine that may be busy."""
import time


def until_it_passes(attempt, attempts=6):
    """Calls attempt(number) until it raises no AssertionError or LookupError, at most `attempts` times. A busy machine
    can spoil what was measured in one attempt by chance, but not in all of them; a defect fails each time. What
    spoiled one is printed. Whatever else is raised, a program that failed or a file that cannot be read, is no matter
    of time and ends it at once."""
    for number in range(attempts):
        try:
            return attempt(number)
        except (AssertionError, LookupError) as error:
            if number == attempts - 1:
                raise
            print(f"attempt {number + 1}: {error!r}", flush=True)
            time.sleep(number)
