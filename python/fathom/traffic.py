# SPDX-License-Identifier: BSD-3-Clause
"""Who sent how much to whom: matrices and sizes of the messages."""
from __future__ import annotations

import numpy
import pandas
from scipy import sparse

from fathom import events as columns
from fathom import shown


class Traffic:
    """The traffic of a Part. With a filter it is that of the MpiSend events left."""

    @property
    def traffic(self) -> pandas.DataFrame:
        """Every pair that talked, by class, communicator and phase."""
        def make():
            made = self._counted.traffic()
            for key in ("class", "phase"):
                made[key] = columns.categories(*made[key])
            made["hidden"] = made["hidden"].view(bool)
            return pandas.DataFrame(made, copy=False)
        return self._once("traffic", make)

    def _chosen(self, class_name=None, hidden=None, communicator=None, phase=None):
        table = self.traffic
        for column, wanted in (("class", class_name), ("hidden", hidden), ("communicator", communicator), ("phase", phase)):
            if wanted is not None:
                self._check_there(column, wanted)
                table = table[table[column] == wanted]
        return table

    def _check_there(self, column, wanted):
        """Whether the whole run has it, which a part of the run may not."""
        if column == "hidden":
            there = [True, False]
        elif column == "communicator":
            there = list(self.communicators["id"])
        else:
            there = list(self.traffic[column].cat.categories)
            if wanted not in there:
                there = self._known_classes() if column == "class" else self._known_phases()
        if wanted not in there:
            raise ValueError(shown.no_such(column, wanted, there))

    def _known_classes(self):
        """Those of the traffic of the whole run, in its order."""
        return list(self._whole().traffic["class"].cat.categories)

    def comm_matrix(self, output: str = "size", class_name: str | None = None, hidden: bool | None = None,
                    communicator: int | None = None, phase: str | None = None, sparse_matrix: bool = False):
        """Bytes ("size"), messages ("count") or bytes a message ("mean") from rank (row) to rank (column).

        All messages, those inside collectives too; hidden=False leaves the program's own. World ranks.
        sparse_matrix gives a scipy.sparse.csr_array, whose memory follows the pairs that talked.
        """
        if output not in ("size", "count", "mean"):
            raise ValueError(shown.no_such("output", output, ("size", "count", "mean")))
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

    def comm_by_process(self, output: str = "size", **choice) -> pandas.DataFrame:
        """What each rank sent and received."""
        matrix = self.comm_matrix(output, sparse_matrix=True, **choice)
        made = pandas.DataFrame({"Sent": numpy.asarray(matrix.sum(axis=1)).ravel(),
                                 "Received": numpy.asarray(matrix.sum(axis=0)).ravel()})
        made.index.name = "Process"
        return made

    def message_sizes(self) -> pandas.DataFrame:
        """Sizes of each class, exact or [low, high] of a bin, with how many messages had them."""
        rows = []
        for entry in self.sizes_by_class():
            for size, messages in zip(entry["size"], entry["messages"]):
                rows.append((entry["class"], entry["hidden"], size, size, messages))
            for low, messages in zip(entry["bin_low"], entry["bin_messages"]):
                rows.append((entry["class"], entry["hidden"], low, max(2 * low - 1, low), messages))
        return pandas.DataFrame(rows, columns=["class", "hidden", "low", "high", "messages"])

    def sizes_by_class(self) -> list[dict]:
        """message_sizes() as profile.json has them: a dictionary for each class."""
        return self._counted.message_sizes()

    def message_histogram(self, bins=20, **kwargs) -> tuple[numpy.ndarray, numpy.ndarray]:
        """numpy.histogram() of the sizes of all messages: counts and edges."""
        sizes = self.message_sizes()
        middle = (sizes["low"] + sizes["high"]) / 2
        return numpy.histogram(middle.to_numpy(float), bins=bins, weights=sizes["messages"].to_numpy(numpy.int64), **kwargs)
