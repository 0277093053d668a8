# SPDX-License-Identifier: BSD-3-Clause
"""A run and what can be asked of it."""
import os

import numpy
import pandas
from scipy import sparse

import _fathom
from fathom import events as columns
from fathom import replay as replays
from fathom.filters import Filter, nanoseconds

_LAST = 2**64 - 1
_PIECE = 1 << 20
# As fathom::trace::Group.
_COMPLETIONS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Recv")


def analyses():
    """Every analysis: its name, what it does, whether it needs a trace, whether findings() runs it."""
    return pandas.DataFrame(_fathom.analyses(), columns=["name", "help", "needs_trace", "by_default"]).set_index("name")


def _tables(section):
    return {name: pandas.DataFrame(table, copy=False) for name, table in section["tables"].items()}


def compare(runs):
    """Runs side by side, as `fathom compare`: the tables runs, classes and pairs."""
    return _tables(_fathom.compare([run._core for run in runs], [run.path for run in runs]))


def multirun_analysis(runs, metric_column="Timestamp (ns)", groupby_column="Name"):
    """flat_profile() of each run, one row a run; functions with most first. Of "Timestamp (ns)" it is time.exc."""
    metric = "time.exc" if metric_column == "Timestamp (ns)" else metric_column
    rows = [run.flat_profile(metric, groupby_column)[metric] for run in runs]
    made = pandas.concat(rows, axis=1).T.fillna(0.0)
    made.index = pandas.Index([len(run.processes()) for run in runs], name="Number of Processes")
    return made[made.sum().sort_values(ascending=False, kind="stable").index]


class Analysis:
    """What one analysis gave: `figures` by name, `tables` of DataFrames; run["table"] is one of them."""

    def __init__(self, name, section, limits):
        self.name, self.figures, self.tables, self.limits = name, section["figures"], _tables(section), limits

    def __getitem__(self, table):
        return self.tables[table]

    def __repr__(self):
        shapes = ", ".join(f"{name} ({len(table)} rows)" for name, table in self.tables.items())
        return f"<fathom.Analysis {self.name}: {len(self.figures)} figures; tables {shapes}>"


class Run:
    """A run directory, or the part of it that slice(), filter() and select() leave. Reads when asked."""

    def __init__(self, path, ranks=None, from_ns=0, to_ns=_LAST, phase=None, filters=(), comm=None):
        self.path = os.fspath(path)
        self._scope = {"ranks": ranks, "from_ns": from_ns, "to_ns": to_ns, "phase": phase}
        self._filters = tuple(filters)
        self._core = _fathom.Run(self.path, ranks, from_ns, to_ns, phase, comm)
        self._comm = comm
        self._kept = {}

    def __repr__(self):
        parts = [f"{key}={value}" for key, value in self._scope.items() if value not in (None, 0, _LAST)]
        return f"<fathom.Run {self.path}{' ' if parts else ''}{' '.join(parts)}>"

    def _once(self, key, make):
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    # ---- what the run is ----

    @property
    def has_trace(self):
        return self._core.has_trace

    @property
    def header(self):
        return self._once("header", self._core.header)

    @property
    def application(self):
        return self.header["application"]

    @property
    def seconds(self):
        return self.header["seconds"]

    @property
    def ranks(self):
        """How many."""
        return self.header["ranks"]

    @property
    def communicators(self):
        """Size 0: each process has its own (MPI_COMM_SELF), or a member left no counts."""
        return pandas.DataFrame(self.header["communicators"], columns=["id", "name", "made_by", "size"])

    @property
    def _definitions(self):
        return self._once("definitions", self._core.definitions)

    def processes(self):
        """The processes of the trace: rank, host, first and last moment, events, lost ones."""
        table = pandas.DataFrame(self._definitions["processes"],
                                 columns=["process", "rank", "host", "first_ns", "last_ns", "records", "lost"])
        return table.set_index("rank")

    @property
    def lost_records(self):
        """How many records the trace is without, of the ranks of this run or of a selection."""
        return sum(process["lost"] for process in self._definitions["processes"])

    # ---- parts of a run ----

    def select(self, ranks=None, phase=None):
        """The traffic and calls of these ranks, of this phase."""
        scope = dict(self._scope)
        scope["ranks"] = self._scope["ranks"] if ranks is None else set(ranks)
        scope["phase"] = self._scope["phase"] if phase is None else phase
        return Run(self.path, **scope, filters=self._filters, comm=self._comm)

    def slice(self, start, end, clip_values=True):
        """From start to before end (nanoseconds, or text like "1.5 s"). Calls that it cuts are clipped; with
        clip_values=False it is the filter that keeps such calls whole.
        """
        if not clip_values:
            return self.filter("Timestamp (ns)", "between", [start, end])
        scope = dict(self._scope)
        scope["from_ns"] = max(nanoseconds(start), scope["from_ns"])
        scope["to_ns"] = min(nanoseconds(end), scope["to_ns"])
        return Run(self.path, **scope, filters=self._filters, comm=self._comm)

    def filter(self, *filters):
        """Only events for which all filters hold: Filters, or the field, operator and value of one.

        Holds for events and for what is summed up from them: traffic is then that of the MpiSend events left.
        The analyses refuse it: they need whole calls and messages.
        """
        if filters and isinstance(filters[0], str):
            filters = (Filter(*filters) if len(filters) > 1 else Filter(expr=filters[0]),)
        if not all(isinstance(entry, Filter) for entry in filters):
            raise TypeError("filter() takes fathom.Filter objects, or a field, an operator and a value")
        return Run(self.path, **self._scope, filters=self._filters + filters, comm=self._comm)

    # ---- traffic ----

    @property
    def traffic(self):
        """Every pair that talked, by class, communicator and phase."""
        def make():
            if self._filters:
                return self._sent_traffic()
            made = self._core.traffic()
            for key in ("class", "phase"):
                made[key] = columns.categories(*made[key])
            made["hidden"] = made["hidden"].view(bool)
            return pandas.DataFrame(made, copy=False)
        return self._once("traffic", make)

    def _sent(self):
        """The messages sent that the filters leave, in the order of the processes."""
        def make():
            names = columns.unique(self._definitions["classes"])
            hidden = dict(zip(names, self._definitions["class_hidden"]))
            made = [piece.loc[kept & (piece["Name"] == "MpiSend"), ["Process", "Peer", "Bytes", "Communicator", "Class"]]
                    for piece, kept in self._whole_processes()]
            made = pandas.concat(made, ignore_index=True) if made else pandas.DataFrame()
            made["hidden"] = made["Class"].map(hidden).astype(bool)
            return made
        return self._once("sent", make)

    def _sent_traffic(self):
        sent = self._sent()
        keys = ["Class", "hidden", "Communicator", "Process", "Peer"]
        made = sent.groupby(keys, observed=True)["Bytes"].agg(bytes="sum", messages="count").reset_index()
        made.insert(1, "phase", columns.categories(numpy.zeros(len(made), numpy.int8), [""]))
        made["Process"] = made["Process"].astype(numpy.int64)
        return made.rename(columns={"Class": "class", "Communicator": "communicator", "Process": "source",
                                    "Peer": "destination"})

    def _chosen(self, class_name=None, hidden=None, communicator=None, phase=None):
        table = self.traffic
        for column, wanted in (("class", class_name), ("hidden", hidden), ("communicator", communicator), ("phase", phase)):
            if wanted is not None:
                table = table[table[column] == wanted]
        return table

    def comm_matrix(self, output="size", class_name=None, hidden=None, communicator=None, phase=None, sparse_matrix=False):
        """Bytes ("size"), messages ("count") or bytes a message ("mean") from rank (row) to rank (column).

        All messages, those inside collectives too; hidden=False leaves the program's own. World ranks.
        sparse_matrix gives a scipy.sparse.csr_array, whose memory follows the pairs that talked.
        """
        if output not in ("size", "count", "mean"):
            raise ValueError("output is 'size', 'count' or 'mean'")
        table = self._chosen(class_name, hidden, communicator, phase)
        shape = (self.ranks, self.ranks)
        where = (table["source"].to_numpy(), table["destination"].to_numpy())

        def summed(column):
            return sparse.coo_array((table[column].to_numpy().astype(numpy.int64), where), shape=shape).tocsr()

        matrix = summed("messages" if output == "count" else "bytes")
        if output == "mean":
            matrix, counts = matrix.astype(float), summed("messages")
            # Both hold the same pairs, in the same order.
            matrix.data = matrix.data / numpy.maximum(counts.data, 1)
        return matrix if sparse_matrix else matrix.toarray()

    def comm_by_process(self, output="size", **choice):
        """What each rank sent and received."""
        matrix = self.comm_matrix(output, sparse_matrix=True, **choice)
        made = pandas.DataFrame({"Sent": numpy.asarray(matrix.sum(axis=1)).ravel(),
                                 "Received": numpy.asarray(matrix.sum(axis=0)).ravel()})
        made.index.name = "Process"
        return made

    def message_sizes(self):
        """Sizes of each class, exact or [low, high] of a bin, with how many messages had them."""
        rows = []
        for entry in self.sizes_by_class():
            for size, messages in zip(entry["size"], entry["messages"]):
                rows.append((entry["class"], entry["hidden"], size, size, messages))
            for low, messages in zip(entry["bin_low"], entry["bin_messages"]):
                rows.append((entry["class"], entry["hidden"], low, max(2 * low - 1, low), messages))
        return pandas.DataFrame(rows, columns=["class", "hidden", "low", "high", "messages"])

    def sizes_by_class(self):
        """message_sizes() as profile.json has them: a dictionary for each class."""
        if not self._filters:
            return self._core.message_sizes()
        made = []
        for (name, hidden), rows in self._sent().groupby(["Class", "hidden"], observed=True):
            size, messages = numpy.unique(rows["Bytes"].to_numpy(), return_counts=True)
            made.append({"class": name, "hidden": bool(hidden), "size": size, "messages": messages, "bin_low": [],
                         "bin_messages": []})
        return made

    def message_histogram(self, bins=20, **kwargs):
        """numpy.histogram() of the sizes of all messages: counts and edges."""
        sizes = self.message_sizes()
        middle = (sizes["low"] + sizes["high"]) / 2
        return numpy.histogram(middle.to_numpy(float), bins=bins, weights=sizes["messages"].to_numpy(numpy.int64), **kwargs)

    # ---- events ----

    def event_chunks(self, rows=_PIECE):
        """Events as DataFrames of up to `rows` of one process each: a trace of any length in bounded memory.

        Calls whose ends lie in different pieces have no match and no times in either.
        """
        first_row = 0
        for position, process in enumerate(self._definitions["processes"]):
            reader = self._core.reader(process["process"])
            while (piece := reader.events(rows, position)) is not None:
                made = columns.frame(piece, self._listed_ranks(), self._definitions, first_row)
                first_row += len(made)
                yield self._filtered(made)

    def _listed_ranks(self):
        return [entry["rank"] for entry in self._definitions["processes"]]

    def _filtered(self, made):
        return made[self._mask(made)] if self._filters else made

    def _mask(self, made):
        kept = numpy.ones(len(made), bool)
        for entry in self._filters:
            kept &= entry.mask(made)
        return kept

    def _whole_processes(self):
        """(events of one process, which of them the filters keep), process by process."""
        for position, process in enumerate(self._definitions["processes"]):
            piece = self._core.reader(process["process"]).events(_LAST, position)
            if piece is not None:
                made = columns.frame(piece, self._listed_ranks(), self._definitions)
                yield made, self._mask(made)

    @property
    def events(self):
        """All events, process by process in order of time, with Pipit's columns."""
        return self._once("events", lambda: self._filtered(
            columns.frame(self._core.events(), self._listed_ranks(), self._definitions)))

    def calls(self):
        """Every call: function, process, start, end, inclusive and exclusive time in ns."""
        names = columns.unique(self._definitions["functions"])
        ranks = self._listed_ranks()
        made = []
        for position, piece in self._pieces("calls"):
            made.append(pandas.DataFrame({
                "Name": columns.categories(piece["name"], names),
                "Process": columns.categories(numpy.full(len(piece["name"]), position, numpy.int32), ranks),
                "Thread": piece["thread"], "depth": piece["depth"], "start_ns": piece["start_ns"],
                "end_ns": piece["end_ns"], "time.inc": piece["end_ns"] - piece["start_ns"],
                "time.exc": piece["exclusive_ns"]}, copy=False))
        return pandas.concat(made, ignore_index=True, copy=False) if made else pandas.DataFrame()

    def _pieces(self, kind):
        """(position among the processes, columns) of calls or segments, a bounded piece at a time."""
        if self._filters:
            made_of = getattr(columns, f"{kind}_of")
            for made, kept in self._whole_processes():
                yield made["Process"].cat.codes.iat[0], made_of(made, kept)
            return
        for position, process in enumerate(self._definitions["processes"]):
            read = getattr(self._core.reader(process["process"]), kind)
            while (piece := read(_PIECE)) is not None:
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

    # ---- joined steps ----

    def messages(self, hidden=False):
        """Every message with both its ends, of the processes of this analysis process.

        send_entered_ns is when the call that sends was entered, receive_posted_ns when the receive was
        posted, received_ns when it arrived; hidden adds those inside collectives. Of a slice those that arrived in
        it, of selected ranks those with one of them at either end.
        """
        self._refuse_filters()
        if self._scope["phase"] is not None:
            raise _fathom.Error("messages() knows no phases; take events, or a window of time with slice()")
        made = self._core.messages(hidden)
        made["hidden"] = made["hidden"].view(bool)
        made = pandas.DataFrame(made, copy=False)
        ranks, first, last = (self._scope[key] for key in ("ranks", "from_ns", "to_ns"))
        if ranks is not None:
            made = made[made["sender"].isin(ranks) | made["receiver"].isin(ranks)]
        if (first, last) != (0, _LAST):
            made = made[(made["received_ns"] >= first) & (made["received_ns"] < last)]
        return made.reset_index(drop=True)

    def _refuse_filters(self):
        if self._filters:
            raise _fathom.Error("a filter holds for events and what is summed up from them; choose ranks and phases "
                                "with select(), time with slice()")

    def step(self, rank, index, hidden=False):
        """Step number `index` of a rank; see fathom.Step."""
        return replays.made_step(self._core.step(self._position(rank), index, hidden), self._definitions["functions"])

    def _position(self, rank):
        for process in self._definitions["processes"]:
            if process["rank"] == rank:
                return process["process"]
        raise _fathom.Error(f"the trace holds no rank {rank}")

    def own_ranks(self):
        """The ranks that this analysis process looks after: all, unless it works with others."""
        ranks = {entry["process"]: entry["rank"] for entry in self._definitions["processes"]}
        return [ranks[process] for process in self._core.own_processes(False) if process in ranks]

    def replay(self, backward=False, hidden=False, **callbacks):
        """Goes through all steps in causal order, a message received after it was sent (backward: before).

        Callbacks by moment: enter, leave, send, receive, collective, done, lost; each gets a fathom.Step.
        Returns how many were called. The whole run is gone through, whatever slice() or filter() say.
        """
        replays.check_moments(callbacks)
        functions = self._definitions["functions"]
        return replays.call_back(
            self._core.replay(backward, hidden), {moment: [callback] for moment, callback in callbacks.items()},
            lambda process, index: replays.made_step(self._core.step(process, index, hidden), functions))

    # ---- operations over time ----

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
            while (piece := reader.events(_PIECE, 0)) is not None:
                chosen = piece["name"] == code
                yield piece["time_ns"][chosen], piece["bytes"][chosen]

    # ---- analyses ----

    def analyze(self, *names, **thresholds):
        """{name: Analysis} of these analyses, or of the default set. Thresholds by name, as --set takes them."""
        made = self._analyzed(names, thresholds)
        return {name: Analysis(name, section, made["limits"]) for name, section in made["sections"].items()}

    def _analyzed(self, names, thresholds):
        self._refuse_filters()
        return self._core.analyze(list(names), [f"{name}={value!r}" for name, value in thresholds.items()])

    def analysis(self, name, **thresholds):
        return self.analyze(name, **thresholds)[name]

    def findings(self, *names, **thresholds):
        """What costs the run time, most costly first: one row for each finding."""
        made = self._analyzed(names, thresholds)
        keys = ["kind", "seconds", "severity", "strength", "confidence", "count", "culprits", "victims", "pairs", "class",
                "function", "file", "line", "phase", "communicator", "windows", "meanwhile", "summary", "advice", "evidence"]
        return pandas.DataFrame(made["findings"], columns=keys)

    def patterns(self):
        return self.analysis("patterns")["patterns"]

    def issues(self, **thresholds):
        """The findings of the analysis "issues": Pyrite's kinds, most costly first."""
        return self.findings("issues", **thresholds)

    def critical_path_analysis(self):
        """The calls that the run time is made of, in order of time: where each is left, and time.exc, its part on the
        critical path, in ns. "(program)" is work between two calls.

        The path by function, rank and source line, and all else of the analysis: analysis("critical-path").
        """
        path = self.analysis("critical-path", path_stretches=1e15).tables.get("path_stretches")
        if path is None:
            path = pandas.DataFrame({"rank": [], "name": [], "from_s": [], "to_s": []})
        start, end = ((path[column] * 1e9).round().astype(numpy.int64) for column in ("from_s", "to_s"))
        leave = columns.categories(numpy.full(len(path), 1, numpy.int8), columns.EVENT_TYPES)
        return pandas.DataFrame({"Timestamp (ns)": end, "Event Type": leave, "Name": path["name"].astype("category"),
                                 "Process": path["rank"].astype("category"), "time.exc": end - start})

    def calculate_lateness(self, **thresholds):
        """Every communication event with its logical step and how late it was, in ns; Pipit's columns.

        Sums by rank, the latest partitions and who fell behind: analysis("lateness").
        """
        made = self.analysis("lateness", **{"lateness_events": 1e15, **thresholds})["events"]
        made["NextStride"] = columns.next_stride(made)
        made["Matching Step"] = columns.looked_up(made["Matching Event ID"], made["EventId"], made["Step"])
        return made

    # ---- pictures ----

    def plot_comm_matrix(self, output="size", linear=False, **choice):
        from fathom import plots
        return plots.comm_matrix(self, output, linear, **choice)

    def plot_message_histogram(self, **choice):
        from fathom import plots
        return plots.message_histogram(self, **choice)

    def plot_time_profile(self, num_bins=50, normalized=True):
        from fathom import plots
        return plots.time_profile(self, num_bins, normalized)

    def plot_timeline(self, start=None, end=None):
        from fathom import plots
        return plots.timeline(self, start, end)

    def plot_idle_time(self):
        from fathom import plots
        return plots.idle_time(self)

    def plot_comm_over_time(self, output="size", bins=50):
        from fathom import plots
        return plots.comm_over_time(self, output, bins)


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
