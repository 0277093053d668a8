# SPDX-License-Identifier: BSD-3-Clause
"""Columns of C++ as DataFrames with Pipit's names. No Python object is made for an event."""
import numpy
import pandas

EVENT_TYPES = ["Enter", "Leave", "Instant"]
# Of events, in their order.
NAMES = ("Timestamp (ns)", "Event Type", "Name", "Process", "Thread", "Peer", "Tag", "Bytes", "Communicator", "Root", "Request",
         "Class", "Site", "_matching_event", "_matching_timestamp", "_depth", "_parent", "time.inc", "time.exc")
# Message events are named as in OTF2.
_NAMES = {"sent": "MpiSend", "received": "MpiRecv"}


def instant_names(kinds):
    return [_NAMES.get(kind, kind) for kind in kinds]


def categories(codes, names):
    return pandas.Categorical.from_codes(codes, categories=names)


def unique(names):
    """Categories must differ; functions and kinds of events might share a name."""
    seen, made = set(), []
    for name in names:
        while name in seen:
            name += "'"
        seen.add(name)
        made.append(name)
    return made


def frame(columns, ranks, definitions, sites, first_row=0):
    """Events of one or more processes; row numbers begin at first_row, so that matches hold in the whole."""
    rows = len(columns["time_ns"])
    names = unique(list(definitions["functions"]) + instant_names(definitions["kinds"]))

    def moved(column):
        return numpy.where(column >= 0, column + first_row, -1) if first_row else column

    return pandas.DataFrame({
        "Timestamp (ns)": columns["time_ns"],
        "Event Type": categories(columns["type"], EVENT_TYPES),
        "Name": categories(columns["name"], names),
        "Process": categories(columns["process"], ranks),
        "Thread": columns["thread"],
        "Peer": columns["peer"], "Tag": columns["tag"], "Bytes": columns["bytes"],
        "Communicator": columns["communicator"], "Root": columns["root"], "Request": columns["request"],
        "Class": categories(columns["class"], unique(definitions["classes"])),
        "Site": categories(columns["site"], sites),
        "_matching_event": moved(columns["matching"]),
        "_matching_timestamp": columns["matching_time_ns"],
        "_depth": columns["depth"], "_parent": moved(columns["parent"]),
        "time.inc": columns["inclusive_ns"], "time.exc": columns["exclusive_ns"],
    }, index=pandas.RangeIndex(first_row, first_row + rows), copy=False)


def calls_of(made, kept):
    """The calls whose Enter rows are kept, as ColumnReader::calls() has them. `made` is one process, whole."""
    enters = made[kept & (made["Event Type"].cat.codes == 0) & (made["_matching_event"] >= 0)]
    return {"name": enters["Name"].cat.codes.to_numpy(), "thread": enters["Thread"].to_numpy(),
            "depth": enters["_depth"].to_numpy(), "start_ns": enters["Timestamp (ns)"].to_numpy(),
            "end_ns": enters["_matching_timestamp"].to_numpy(), "site": enters["Site"].cat.codes.to_numpy(), "exclusive_ns": enters["time.exc"].to_numpy()}


def next_stride(late):
    """The stride of the next event of the same process and partition that is no receive; -1 where there is none."""
    ordered = late.sort_values(["Process", "Start"], kind="stable")
    keys = [ordered["Process"], ordered["PartitionId"]]
    following = ordered["Stride"].where(ordered["Stride"] >= 0).groupby(keys).shift(-1).groupby(keys).bfill()
    return following.reindex(late.index).fillna(-1).astype(numpy.int64)


def looked_up(wanted, keys, values):
    """The value of each wanted key; -1 where there is none."""
    return wanted.map(pandas.Series(values.to_numpy(), index=keys)).fillna(-1).astype(numpy.int64)
