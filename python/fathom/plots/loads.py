# SPDX-License-Identifier: BSD-3-Clause
"""What pictures of simulations share: congestion with its unit, links that are equally loaded, titles.

Congestion is bytes over capacity: seconds, if capacities are bytes/s, and then shown in µs, ms or s. Capacities below
1 MB/s are relative to each other (simulator/routing/load_spread.h); congestion then has no unit.
"""
import numpy

from . import style

LEAST_REAL_CAPACITY = 1e6
ROUNDING = 1e-9   # sums of the same bytes in another order differ by less
MOST_LABELLED = 6  # hot links with a number


class Unit:
    """Of congestion, for an axis that reaches up to `most`."""

    def __init__(self, capacities, most):
        self.relative = bool(len(capacities)) and min(capacities) < LEAST_REAL_CAPACITY
        size_ns, sign, _ = style.time_unit(most * 1e9)
        self.size, self.sign = (1, "") if self.relative else (size_ns / 1e9, sign)
        self.label = "congestion: bytes over relative capacity" if self.relative else \
            f"congestion: time that a link needs for its bytes, {self.sign}"

    def text(self, congestion):
        """"960 µs", or "0.107"."""
        if not self.relative:
            return style.seconds(congestion)
        return f"{congestion:,.0f}" if congestion >= 10000 else f"{congestion:.4g}"


def link_name(link):
    return style.printable(f"{link['source']} → {link['target']}")


def congestion(link, key="traffic"):
    return link[key] / link["capacity"]


def equals(loads, most=MOST_LABELLED):
    """The highest distinct loads: (load, numbers of the links that have it), at most `most`. Links without load are in none."""
    loads = numpy.asarray(loads, float)
    found = []
    for number in numpy.argsort(-loads, kind="stable"):
        if loads[number] <= 0:
            break
        if found and loads[number] >= found[-1][0] * (1 - ROUNDING):
            found[-1][1].append(int(number))
        elif len(found) == most:
            break
        else:
            found.append((float(loads[number]), [int(number)]))
    return found


def hot_links(loads, names, amounts, unit, are_hosts=None):
    """(heading, details) of each of the hottest: "s1.0 → s2.0", "960 µs · 12.0 MB · and 71 more"."""
    lines = []
    for load, numbers in equals(loads):
        first = numbers[0]
        more = f" · and {len(numbers) - 1:,} more" if len(numbers) > 1 else ""
        host = " · a host's" if are_hosts is not None and are_hosts[first] else ""
        lines.append((names[first], f"{unit.text(load)} · {style.shortened(amounts[first], 'B')}{host}{more}"))
    return lines


def p95(loads):
    """95 % of them are no higher (nearest rank)."""
    return float(numpy.sort(loads)[max(int(numpy.ceil(0.95 * len(loads))), 1) - 1]) if len(loads) else 0.0


def heading(run, what):
    """"halo.json on torus:dims=4,4: WHAT"."""
    return f"{style.printable(run['job'])} on {style.printable(run['cluster'])}: {what}"


def choices(run):
    """"placement block · routing dmodk · …"."""
    names = ("routing", "placement", "selection", "scheduler", "model")
    return " · ".join(f"{name} {style.printable(run[name])}" for name in names if run.get(name)) + f" · seed {run['seed']}"


def worst(run):
    """"worst link s1.0 → s2.0: 960 µs, 12.0 MB at 12.5 GB/s", and the link of a host that is worse still."""
    inner, host = run.get("worst_link"), run.get("worst_host_link")
    if inner is None and run.get("links"):  # results of an earlier version
        inner = max(run["links"], key=congestion)
    unit = Unit([link["capacity"] for link in (inner, host) if link], 1)

    def said(link):
        rate = "" if unit.relative else f" at {style.shortened(link['capacity'], 'B/s')}"
        return f"{link_name(link)}, {unit.text(congestion(link))} ({style.shortened(link['traffic'], 'B')}{rate})"
    if inner and inner["traffic"] > 0:
        text = "worst link " + said(inner)
        if host and congestion(host) > congestion(inner):
            text += "; the bottleneck is a host's: " + said(host)
        return text
    between = "no link between switches carries anything"
    return f"{between}; the bottleneck is a host's link: {said(host)}" if host else between
