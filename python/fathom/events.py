"""Columns of C++ as DataFrames with Pipit's names. No Python object is made for an event."""
import numpy
import pandas

EVENT_TYPES = ["Enter", "Leave", "Instant"]
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


def frame(columns, ranks, definitions, first_row=0):
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
        "_matching_event": moved(columns["matching"]),
        "_matching_timestamp": columns["matching_time_ns"],
        "_depth": columns["depth"], "_parent": moved(columns["parent"]),
        "time.inc": columns["inclusive_ns"], "time.exc": columns["exclusive_ns"],
    }, index=pandas.RangeIndex(first_row, first_row + rows), copy=False)
