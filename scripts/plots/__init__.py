"""What scripts/plot.py draws: profile.py reads, matrix.py and sizes.py draw."""
