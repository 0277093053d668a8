# SPDX-License-Identifier: BSD-3-Clause
"""Drawing, apart from where the numbers come from: each function takes a Job and tables, as columns by name, and makes
a matplotlib Figure. `fathom plot` (scripts/plot.py) takes the tables from profile.json and from the tool, and
fathom.Run from the extension, so this package imports nothing of the rest of fathom.
"""
