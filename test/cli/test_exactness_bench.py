# SPDX-License-Identifier: BSD-3-Clause
"""What bench/exactness.py reads of a profile, which it once took for a list of objects."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import exactness  # noqa: E402


class ReadsProfiles(unittest.TestCase):
    def test_unreceived_and_different_pairs_count_for_their_side(self):
        profile = json.loads((ROOT / "test/golden/profile-1.json").read_text())
        received, sent = exactness.counts_of(profile)
        self.assertEqual(received[(0, 1)], [8120, 90])
        self.assertEqual(sent[(0, 1)], [8120, 90])
        self.assertNotIn((2, 3), received)
        self.assertEqual(sent[(2, 3)], [120, 2])
        self.assertEqual(received[(1, 0)], [8, 1])
        self.assertEqual(sent[(1, 0)], [10, 2])


if __name__ == "__main__":
    unittest.main(verbosity=1)
