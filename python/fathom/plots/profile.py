# SPDX-License-Identifier: BSD-3-Clause
"""A profile.json (docs/profile-format.md), as far as the pictures need it."""
import dataclasses
import json
import os

import numpy

from . import numbers, style

# A damaged file may claim any number of ranks; the pictures' memory does not depend on it, but the
# counters by rank do.
MOST_RANKS = 1 << 24
UNKNOWN_HOST = "unknown host"


class BadProfile(Exception):
    """One sentence for the user."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which part of the traffic is meant."""
    classes: list[str] | None = None  # exact names, as are the communicators' ids and the phases; None: all
    hidden: bool = False  # only what MPI sent on its own behalf
    user: bool = False    # only what the program's own sends sent
    communicators: list[int] | None = None
    phases: list[str] | None = None  # "" is the time outside every named phase
    words: str = ""       # classes, communicators and phases as the user chose them

    def admits(self, entry):
        return (self._admits_class(entry)
                and (self.communicators is None or entry.get("communicator", 0) in self.communicators)
                and (self.phases is None or entry.get("phase", "") in self.phases))

    def is_of_messages(self):
        """Whether it says something that calls do not have."""
        return self.classes is not None or self.hidden or self.user

    def admits_calls(self, entry):
        return ((self.communicators is None or entry.get("communicator") in self.communicators)
                and (self.phases is None or entry.get("phase", "") in self.phases))

    def admits_sizes(self, entry):
        """Message sizes are recorded by class alone."""
        return self.communicators is None and self.phases is None and self._admits_class(entry)

    def _admits_class(self, entry):
        return ((self.classes is None or entry.get("class") in self.classes)
                and not (self.hidden and not entry.get("hidden", False))
                and not (self.user and entry.get("hidden", False)))

    def __str__(self):
        parts = [self.words or ", ".join(self.classes or [])]
        parts = [part for part in parts if part]
        parts += ["inside MPI calls only"] if self.hidden else []
        parts += ["the program's own sends only"] if self.user else []
        return ", ".join(parts)


class Profile:
    """The chosen pairs as parallel arrays: source, destination, bytes, messages; and the times of the chosen calls."""

    def __init__(self, document, choice):
        self.choice = choice
        executable = document.get("application", {}).get("executable", "")
        self.name = style.printable(os.path.basename(executable))
        self.name = self.name or "unnamed program"
        self.seconds = document.get("application", {}).get("seconds", 0)
        self.world_size = int(document.get("world_size", 0))
        listed = document.get("ranks", [])
        blocks = [entry for entry in document.get("traffic", []) if choice.admits(entry)]
        self.source = self._column(blocks, "source", numpy.int64)
        self.destination = self._column(blocks, "destination", numpy.int64)
        self.bytes = self._column(blocks, "bytes", numpy.float64)
        self.messages = self._column(blocks, "messages", numpy.float64)
        columns = {len(c) for c in (self.source, self.destination, self.bytes, self.messages)}
        if len(columns) != 1:
            raise ValueError("columns of unequal length")
        if len(self.source) and min(self.source.min(), self.destination.min()) < 0:
            raise ValueError("negative rank")
        highest = max((int(c.max()) + 1 for c in (self.source, self.destination) if len(c)),
                      default=0)
        self.ranks = max(self.world_size, len(listed), highest, 1)
        if self.ranks > MOST_RANKS:
            raise ValueError(f"{self.ranks} ranks are too many to draw; at most {MOST_RANKS} can be drawn")
        self.hosts = {entry.get("rank"): entry.get("host") or UNKNOWN_HOST for entry in listed}
        self.times = self._times(document, choice)
        self.sizes = [entry for entry in document.get("message_sizes", []) if choice.admits_sizes(entry)]

    @staticmethod
    def _times(document, choice):
        """The tables of numbers.of_profile(), or None: calls were not timed, or only some messages are chosen."""
        if not document.get("calls") or choice.is_of_messages():
            return None
        def rows(blocks, *keys):
            return [(block, *row) for block in blocks if choice.admits_calls(block) for row in zip(*(block[key] for key in keys))]
        calls = [(rank, block["function"], count, ns) for block, rank, count, ns in rows(document["calls"], "rank", "calls", "total_ns")]
        waits = path = None
        if "waits" in document.get("coverage", {}):
            waits = [(rank, awaited, block["function"], ns)
                     for block, rank, awaited, ns in rows(document.get("waits", []), "rank", "awaited", "total_ns")
                     if block["kind"] not in numbers.OUTSIDE]
        for window in document.get("path", []):
            if window["window"] == "":
                path = [(rank, part["function"], part.get("program", False), ns)
                        for part, rank, ns in rows(window["parts"], "rank", "total_ns")]
        seconds = {entry["rank"]: entry.get("seconds", 0.0) for entry in document.get("ranks", [])
                   if entry.get("reported", True) and "world" not in entry}
        return numbers.of_profile(calls, waits, path, seconds)

    @staticmethod
    def _column(blocks, key, kind):
        return numpy.concatenate([numpy.zeros(0, kind)] +
                                 [numpy.asarray(block.get(key, []), kind) for block in blocks])

    @classmethod
    def load(cls, path, choice):
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except (ValueError, RecursionError) as error:
            raise BadProfile(f"{path} is not valid JSON: {error}; the file is damaged") from None
        if not isinstance(document, dict) or document.get("schema") != "fathom-profile/1":
            raise BadProfile(f"{path} is not a Fathom profile: its schema is not fathom-profile/1")
        try:
            profile = cls(document, choice)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadProfile(f"{path} is damaged: {error}; 'fathom report' tells where") from None
        classes = {entry.get("class") for entry in document.get("traffic", [])}
        unknown = [name for name in choice.classes or [] if name not in classes]
        if unknown:
            there = ", ".join(sorted(map(str, classes))) or "none at all"
            raise BadProfile(f"{path} holds no traffic of class '{unknown[0]}'; "
                             f"it holds {there}")
        return profile

    def host_runs(self):
        """Ranks first..last of each stretch on one host, in rank order: (host, first, end)."""
        runs = []
        for rank in range(self.world_size):
            host = self.hosts.get(rank, UNKNOWN_HOST)
            if runs and runs[-1][0] == host:
                runs[-1][2] = rank + 1
            else:
                runs.append([host, rank, rank + 1])
        return runs
