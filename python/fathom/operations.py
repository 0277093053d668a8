# SPDX-License-Identifier: BSD-3-Clause
"""Pipit's operations over time. The figures are those that `fathom analyze` gives: the extension counts them, and
here they are laid out as Pipit does.
"""
from __future__ import annotations

import numbers

import numpy
import pandas

from fathom import shown


class Operations:
    """The operations of a Part. Each process of a job works them out by itself."""

    def _names(self, functions):
        return [self._definitions["functions"][number] for number in functions]

    def flat_profile(self, metrics: str | list[str] = "time.exc", groupby_column: str = "Name",
                     per_process: bool = False) -> pandas.DataFrame:
        """Time in each function, in ns: "time.exc", "time.inc", "count", or a list of these.

        The mean over all processes of the trace, those that never called it included; or one row for each
        process.
        """
        if groupby_column != "Name":
            raise ValueError("flat_profile groups only by 'Name'; for other columns, use run.calls() and pandas")
        metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        found = {metric: self._counted.balance(metric, 0, True) for metric in metrics}
        if per_process:
            return self._by_process(found)
        means = pandas.DataFrame({metric: pandas.Series(of["mean"], index=of["function"]) for metric, of in found.items()})
        means = means.loc[found[metrics[0]]["function"]]
        return means.set_axis(pandas.Index(self._names(means.index), name="Name"))

    def _by_process(self, found):
        """One row for each function and process, in the order of the trace's definitions."""
        ranks = self._listed_ranks()
        made, functions = {}, []
        for metric, of in found.items():
            order = numpy.argsort(of["function"])
            functions = of["function"][order]
            made[metric] = of["values"].reshape(-1, max(len(ranks), 1))[order].ravel()
        index = pandas.MultiIndex.from_product([self._names(functions), ranks], names=["Name", "Process"])
        return pandas.DataFrame(made, index=index)

    def load_imbalance(self, metric: str = "time.exc", num_processes: int = 1) -> pandas.DataFrame:
        """Largest over mean of all processes, and the processes with the most; by mean, largest first. Start-up and end
        (MPI_Init, MPI_Finalize) are left out.
        """
        found = self._counted.balance(metric, num_processes, False)
        ranks = self._listed_ranks()
        return pandas.DataFrame({
            f"{metric}.imbalance": found["imbalance"],
            "Top processes": [[ranks[position] for position in top] for top in found["top"]],
            f"{metric}.mean": found["mean"]}, index=pandas.Index(self._names(found["function"]), name="Name"))

    def idle_time(self, idle_functions=("Idle",), mpi_events: bool = False) -> pandas.DataFrame:
        """Inclusive ns of each process in these functions; mpi_events adds the calls of MPI that can wait: that
        receive, complete or probe.
        """
        return pandas.DataFrame({"Process": self._listed_ranks(),
                                 "Idle Time": self._counted.idle_ns(set(idle_functions), mpi_events)})

    def time_profile(self, num_bins: int = 50, normalized: bool = False) -> pandas.DataFrame:
        """Exclusive ns of each function in equal bins of time, summed over the processes.

        idle_time is the rest: time outside every recorded call, which for Fathom's traces is the program's
        own computing. The bins go from the first rank that leaves MPI_Init to the last that enters MPI_Finalize.
        normalized divides by the time that all processes have in a bin. Bins are whole nanoseconds wide, so their
        widths may differ by one.
        """
        edges, functions = self._counted.time_by_bin(num_bins)
        whole = numpy.diff(edges) * len(self._definitions["processes"])
        busy = sum(functions.values(), numpy.zeros(num_bins))
        made = {"bin_start": edges[:-1], "bin_end": edges[1:], "idle_time": numpy.maximum(whole - busy, 0)}
        made.update(zip(self._names(functions), functions.values()))
        made = pandas.DataFrame(made)
        if normalized:
            made.iloc[:, 2:] = made.iloc[:, 2:].div(numpy.maximum(whole, 1), axis=0)
        return made

    def comm_over_time(self, output: str = "size", message_type: str = "send", bins=50, range=None, density: bool = False):
        """Bytes ("size") or messages ("count") sent (or received) by bin of time: values and edges.

        A number of bins without a range are those of time_profile(); otherwise bins and range are as of
        numpy.histogram().
        """
        for kind, chosen, there in (("output", output, ("size", "count")), ("message_type", message_type, ("send", "receive"))):
            if chosen not in there:
                raise ValueError(shown.no_such(kind, chosen, there))
        received = message_type == "receive"
        if isinstance(bins, numbers.Integral) and range is None:
            sizes, messages, edges = self._counted.messages_by_bin(int(bins), received)
        else:
            edges = numpy.histogram_bin_edges([], bins=bins, range=range or tuple(self._counted.time_edges(1)))
            sizes, messages = self._counted.messages_between(_whole(edges).tolist(), received)[:2]
        values = sizes if output == "size" else messages
        if density:
            values = values / numpy.diff(edges) / max(values.sum(), 1)
        return values, edges


def _whole(edges):
    """Whole nanoseconds between which lie the same moments; the last edge belongs to its bin, as in NumPy."""
    whole = numpy.ceil(edges)
    whole[-1] = numpy.floor(edges[-1]) + 1
    return numpy.clip(whole, 0, 2.0**63).astype(numpy.uint64)
