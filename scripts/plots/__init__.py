# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/plot.py draws: profile.py reads, matrix.py and sizes.py draw."""
