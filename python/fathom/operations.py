# SPDX-License-Identifier: BSD-3-Clause
"""Pipit's operations over time."""
import numpy
import pandas

from fathom import events as columns

PIECE = 1 << 20
# As fathom::trace::Group.
_COMPLETIONS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Recv")


class Operations:
    """The operations of a Part."""

    def _pieces(self, kind):
        """(position among the processes, columns) of calls or segments, a bounded piece at a time."""
        if self._filters:
            made_of = getattr(columns, f"{kind}_of")
            for made, kept in self._whole_processes():
                yield made["Process"].cat.codes.iat[0], made_of(made, kept)
            return
        for position, process in enumerate(self._definitions["processes"]):
            read = getattr(self._core.reader(process["process"]), kind)
            while (piece := read(PIECE)) is not None:
                yield position, piece

    def _call_sums(self):
        """By process (row) and function (column): inclusive ns, exclusive ns, calls."""
        def make():
            shape = (len(self._definitions["processes"]), len(self._definitions["functions"]))
            sums = {key: numpy.zeros(shape) for key in ("time.inc", "time.exc", "count")}
            for position, piece in self._pieces("calls"):
                names = piece["name"]
                for key, weights in (("time.inc", (piece["end_ns"] - piece["start_ns"]).astype(float)),
                                     ("time.exc", piece["exclusive_ns"]), ("count", None)):
                    sums[key][position] += numpy.bincount(names, weights=weights, minlength=shape[1])
            return sums
        return self._once("call sums", make)

    def _long(self, metrics):
        """Sums as a table by Name and Process, of functions that were called anywhere."""
        sums = self._call_sums()
        called = numpy.flatnonzero(sums["count"].sum(axis=0))
        names = [self._definitions["functions"][code] for code in called]
        ranks = self._listed_ranks()
        index = pandas.MultiIndex.from_product([names, ranks], names=["Name", "Process"])
        return pandas.DataFrame({metric: sums[metric][:, called].T.ravel() for metric in metrics}, index=index)

    def flat_profile(self, metrics="time.exc", groupby_column="Name", per_process=False):
        """Time in each function, in ns: "time.exc", "time.inc", "count", or a list of these.

        The mean over all processes of the trace, those that never called it included; or one row for each
        process.
        """
        if groupby_column != "Name":
            raise ValueError("flat_profile groups by 'Name'; use run.calls() and pandas for other columns")
        metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        for metric in metrics:
            if metric not in ("time.exc", "time.inc", "count"):
                raise ValueError(f"there is no metric '{metric}'; there are time.exc, time.inc, count")
        table = self._long(metrics)
        if per_process:
            return table
        return table.groupby(level="Name").mean().sort_values(metrics[0], ascending=False)

    def load_imbalance(self, metric="time.exc", num_processes=1):
        """Largest over mean of all processes, and the processes with the most; by mean, largest first."""
        table = self._long([metric])[metric].unstack("Process")
        mean = table.mean(axis=1)
        top = numpy.argsort(-table.to_numpy(), axis=1, kind="stable")[:, :num_processes]
        made = pandas.DataFrame({
            f"{metric}.imbalance": table.max(axis=1) / mean.where(mean > 0),
            "Top processes": [list(table.columns[row]) for row in top], f"{metric}.mean": mean})
        return made.sort_values(f"{metric}.mean", ascending=False)

    def idle_time(self, idle_functions=("Idle",), mpi_events=False):
        """Inclusive ns of each process in these functions; mpi_events adds waits and MPI_Recv."""
        wanted = set(idle_functions) | (set(_COMPLETIONS) if mpi_events else set())
        codes = [code for code, name in enumerate(self._definitions["functions"]) if name in wanted]
        return pandas.DataFrame({"Process": self._listed_ranks(),
                                 "Idle Time": self._call_sums()["time.inc"][:, codes].sum(axis=1)})

    def _span(self):
        first = min(entry["first_ns"] for entry in self._definitions["processes"])
        last = max(entry["last_ns"] for entry in self._definitions["processes"])
        return max(first, self._scope["from_ns"]), min(last, self._scope["to_ns"])

    def time_profile(self, num_bins=50, normalized=False):
        """Exclusive ns of each function in equal bins of time, summed over the processes.

        idle_time is the rest: time outside every recorded call, which for Fathom's traces is the program's
        own computing. normalized divides by the time that all processes have in a bin.
        """
        first, last = self._span()
        edges = numpy.linspace(first, last, num_bins + 1)
        functions = self._definitions["functions"]
        sums = numpy.zeros((len(functions), num_bins))
        for _, piece in self._pieces("segments"):
            _add_to_bins(sums, piece, first, (last - first) / num_bins, num_bins)
        whole = (edges[1] - edges[0]) * len(self._definitions["processes"])
        busy = sums.sum(axis=0)
        made = {"bin_start": edges[:-1], "bin_end": edges[1:], "idle_time": numpy.maximum(whole - busy, 0)}
        made.update({name: sums[code] for code, name in enumerate(functions) if sums[code].any()})
        made = pandas.DataFrame(made)
        if normalized and whole > 0:
            made.iloc[:, 2:] /= whole
        return made

    def comm_over_time(self, output="size", message_type="send", bins=50, range=None, density=False):
        """Bytes ("size") or messages ("count") sent (or received) by bin of time: values and edges, as of
        numpy.histogram().
        """
        kind = "sent" if message_type == "send" else "received"
        code = len(self._definitions["functions"]) + self._definitions["kinds"].index(kind)
        first, last = self._span()
        edges = numpy.histogram_bin_edges([], bins=bins, range=range or (first, last))
        values = numpy.zeros(len(edges) - 1, numpy.int64)
        for times, sizes in self._moments_of(code):
            values += numpy.histogram(times, bins=edges, weights=sizes if output == "size" else None)[0]
        if density:
            values = values / numpy.diff(edges) / max(values.sum(), 1)
        return values, edges

    def _moments_of(self, code):
        """(times, bytes) of the events of this name, a bounded piece at a time."""
        if self._filters:
            for made, kept in self._whole_processes():
                chosen = kept & (made["Name"].cat.codes.to_numpy() == code)
                yield made["Timestamp (ns)"].to_numpy()[chosen], made["Bytes"].to_numpy()[chosen]
            return
        for process in self._definitions["processes"]:
            reader = self._core.reader(process["process"])
            while (piece := reader.events(PIECE, 0)) is not None:
                chosen = piece["name"] == code
                yield piece["time_ns"][chosen], piece["bytes"][chosen]


def _add_to_bins(sums, piece, first, width, num_bins):
    """Adds the overlap of each segment with each bin to sums[function, bin]."""
    if width <= 0 or len(piece["name"]) == 0:
        return
    names = piece["name"]
    start, end = (piece["start_ns"] - first) / width, (piece["end_ns"] - first) / width
    low = numpy.clip(start.astype(numpy.int64), 0, num_bins - 1)
    high = numpy.clip(end.astype(numpy.int64), 0, num_bins - 1)
    same = low == high
    numpy.add.at(sums, (names[same], low[same]), (end - start)[same] * width)
    for name, begin, stop, a, b in zip(names[~same], start[~same], end[~same], low[~same], high[~same]):
        sums[name, a] += (a + 1 - begin) * width
        sums[name, a + 1:b] += width
        sums[name, b] += (stop - b) * width
