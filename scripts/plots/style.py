# SPDX-License-Identifier: BSD-3-Clause
"""Colours and type shared by the pictures. Safe for colour-blind readers and in greyscale.

Figures are made without pyplot: no display is needed, and no backend of the caller changed.
"""
import matplotlib
from matplotlib import colors
import numpy

INK = "#222222"
FAINT = "#777777"
RULE = "#dddddd"     # lines between hosts and cells
NOTHING = "#ffffff"  # a pair that never talked

# Okabe & Ito, "Color Universal Design" (2008), without its yellow, which is faint on white.
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")

matplotlib.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 10, "text.color": INK, "axes.labelcolor": INK,
    "axes.edgecolor": FAINT, "xtick.color": INK, "ytick.color": INK, "axes.linewidth": 0.8,
    "svg.fonttype": "none", "figure.facecolor": "white", "text.parse_math": False,
})


def amounts():
    """Light to dark. Begins well away from the white of pairs that never talked."""
    magma = matplotlib.colormaps["magma_r"](numpy.linspace(0.16, 0.92, 256))
    chosen = colors.ListedColormap(magma)
    chosen.set_bad((1, 1, 1, 0))  # lets the lines between hosts through
    return chosen


def ink_on(colour):
    """White or INK, whichever has more contrast with the colour (WCAG 2.1, relative luminance)."""
    def luminance(of):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(of)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(text):
        lighter, darker = sorted((luminance(text), luminance(colour)), reverse=True)
        return (lighter + 0.05) / (darker + 0.05)
    return max(("white", INK), key=contrast)


def plural(count, noun):
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def title(figure, heading, details):
    """Left-aligned above everything, in inches from the top so that it fits any height."""
    height = figure.get_figheight()
    figure.text(0.02, 1 - 0.32 / height, heading, fontsize=14, fontweight="bold", va="center")
    figure.text(0.02, 1 - 0.62 / height, details, fontsize=10, color=FAINT, va="center")
