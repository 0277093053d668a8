# SPDX-License-Identifier: BSD-3-Clause
"""What a program said it sent (expect.h) against what a profile.json says it sent.

A process is a pair (world, rank there): "main" is the job that was started, spawned jobs have the names
that the programs give them. A profile numbers the processes of other worlds on from its own world's size;
which of its worlds has which of the programs' names is found by trying (there are three at most).
"""
import collections
import glob
import itertools
import json
import os

POINT_TO_POINT, ONE_SIDED = "point-to-point", "one-sided"
ANY = "*"
LIMIT = 6  # differences shown per kind


class Lines:
    """The expectation log of one run, all processes' lines together."""

    def __init__(self, directory):
        self.exact = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.unreceived = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.uncounted = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.sizes = collections.defaultdict(collections.Counter)  # (world, class) -> size -> messages
        self.at_least = collections.defaultdict(lambda: [0, 0])
        self.may, self.no_bytes, self.names, self.instances, self.comms = set(), set(), set(), {}, set()
        self.balanced = set()
        self.worlds = {"main"}
        self.count = 0
        for path in sorted(glob.glob(os.path.join(directory, "*.log"))):
            with open(path) as log:
                for line in log:
                    self.count += 1
                    self.add(line.rstrip("\n").split("\t"))

    def add(self, fields):
        kind, world = fields[0], fields[1]
        self.worlds.add(world)
        if kind in ("exact", "unreceived", "uncounted", "atleast"):
            class_name, comm, phase, source, destination = fields[2:7]
            size, count = int(fields[7]), int(fields[8])
            key = (class_name, comm_key(comm, world, class_name), phase)
            pair = (process(source, world), process(destination, world))
            if kind == "atleast":
                cell = self.at_least[(world, *key, *pair)]
                cell[0] += size
                cell[1] += count
                return
            cell = getattr(self, kind)[key][pair]
            cell[0] += size * count
            cell[1] += count
            if kind == "exact":
                for touched in {pair[0][0], pair[1][0]}:
                    self.sizes[(touched, class_name)][size] += count
        elif kind == "may":
            self.may.add((world, fields[2], comm_key(fields[3], world)))
        elif kind == "nobytes":
            self.no_bytes.add((world, fields[2], comm_key(fields[3], world)))
        elif kind == "balanced":
            self.balanced.add((world, fields[2], comm_key(fields[3], world)))
        elif kind == "name":
            self.names.add((world, comm_key(fields[2], world), fields[3]))
        elif kind == "instances":
            self.instances[(world, comm_key(fields[2], world))] = int(fields[3])
        elif kind == "comm":
            self.comms.add((world, fields[2]))
        else:
            raise ValueError(f"unknown line {fields}")


def process(token, world):
    if token == ANY:
        return ANY
    name, _, rank = token.rpartition(".")
    return (name or world, int(rank))


def comm_key(text, world, class_name=""):
    """A communicator by a name that both its sides and every world agree on."""
    if text == ANY:
        return ANY
    made_by, ranks, remote = text.split("|")
    sides = [tuple(process(t, world) for t in side.split(",")) for side in (ranks, remote) if side]
    return normal_key(made_by, sides, class_name)


def normal_key(made_by, sides, class_name=""):
    sides = tuple(sorted(sides))
    if made_by == "MPI_Comm_connect":
        made_by = "MPI_Comm_accept"  # one intercommunicator, made by two calls
    if len({p[0] for side in sides for p in side}) > 1:
        made_by = ANY  # spawn here, get_parent there
    if class_name == ONE_SIDED:
        made_by = ANY  # a window's communicator is the library's own; its group is the program's
    return (made_by, sides)


class Seen:
    """One profile.json under one naming of its foreign worlds."""

    def __init__(self, profile, world, names):
        self.world = world
        ranks = {}
        for entry in profile["ranks"]:
            foreign = entry.get("world")
            if foreign and entry["rank"] >= profile["world_size"]:
                ranks[entry["rank"]] = (names[foreign], entry["rank_in_world"])
            else:
                ranks[entry["rank"]] = (world, entry["rank"])
        for rank in range(profile["world_size"]):
            ranks.setdefault(rank, (world, rank))
        self.ranks = ranks
        self.comms = {}
        self.instances = collections.Counter()
        self.entries = collections.Counter()
        self.names = set()
        self.raw_comms = set()
        # All processes' MPI_COMM_SELF are one entry without members; a row r to r is rank r's own.
        self.selves = {c["id"] for c in profile["communicators"]
                       if c["made_by"] == "predefined" and c.get("name") == "MPI_COMM_SELF" and not c["world_ranks"]}
        # So is what is made from it alone. Others list their members, who know them as the same.
        own = set(self.selves)
        for comm in profile["communicators"]:
            if comm.get("parent") in own and not comm["world_ranks"]:
                own.add(comm["id"])
        self.without_members = [(c["id"], c["made_by"]) for c in profile["communicators"]
                                if not c["world_ranks"] and c["id"] not in own]
        for comm in profile["communicators"]:
            sides = [tuple(ranks.get(r, ("?", r)) for r in side)
                     for side in (comm["world_ranks"], comm.get("remote_world_ranks") or []) if side]
            self.comms[comm["id"]] = (comm["made_by"], sides)
            key = normal_key(comm["made_by"], sides)
            self.instances[key] += comm.get("instances", 1)
            self.entries[key] += 1
            self.names.add((key, comm.get("name", "")))
            self.raw_comms.add((comm["made_by"], tuple(sorted(sides))))
        self.traffic = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.messages = [0, 0]  # bytes and number of all: what both witnesses count
        self.has_posted = False
        # By class and the communicator's id in the profile.
        self.on_each = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.problems = []
        for block in profile["traffic"]:
            name = block["class"]
            columns = [block[c] for c in ("source", "destination", "bytes", "messages")]
            if len({len(c) for c in columns}) != 1:
                self.problems.append(f"{name}: columns of different length")
            # Posted operations are the program's own; the messages of a window are hidden.
            posted = name == ONE_SIDED and not block["hidden"]
            self.has_posted |= posted
            if name != ONE_SIDED and block["hidden"] != (name != POINT_TO_POINT):
                self.problems.append(f"{name}: hidden is {block['hidden']}")
            if block["communicator"] not in self.comms:
                self.problems.append(f"{name}: communicator {block['communicator']} is not listed")
                continue
            made_by, sides = self.comms[block["communicator"]]
            for source, destination, size, messages in zip(*columns):
                if messages == 0:
                    continue
                if block["communicator"] in self.selves:
                    sides = [(ranks.get(source, ("?", source)),)]
                key = (name, normal_key(made_by, sides, name), block.get("phase") or "")
                pair = tuple(ranks.get(rank, ("?", rank)) for rank in (source, destination))
                alone = (name, block["communicator"])
                for cell in (self.traffic[key][pair], self.on_each[alone][pair]):
                    cell[0] += size
                    cell[1] += messages
                if not posted:
                    self.messages[0] += size
                    self.messages[1] += messages


def show_process(p):
    return str(p) if p == ANY else (str(p[1]) if p[0] == "main" else f"{p[0]}.{p[1]}")


def show_key(key):
    name, comm, phase = key
    if comm == ANY:
        where = "any communicator"
    else:
        where = comm[0] + "[" + " | ".join(",".join(map(show_process, side)) for side in comm[1]) + "]"
    return f"{name} on {where}" + (f" in phase {phase!r}" if phase else "")


def show_cell(cell):
    return f"{cell[0]} B in {cell[1]}"


def compare_pairs(key, want, got, problems):
    differing = [p for p in sorted(set(want) | set(got), key=str) if list(want.get(p, [0, 0])) != list(got.get(p, [0, 0]))]
    for pair in differing[:LIMIT]:
        problems.append(f"{show_key(key)}: {show_process(pair[0])} to {show_process(pair[1])}: "
                        f"expected {show_cell(want.get(pair, [0, 0]))}, profile has {show_cell(got.get(pair, [0, 0]))}")
    if len(differing) > LIMIT:
        problems.append(f"{show_key(key)}: {len(differing) - LIMIT} more pairs differ")


def compare(lines, profile, world, names, options):
    """Everything in which `profile` differs from what the program said; an empty list if nothing."""
    seen = Seen(profile, world, names)
    problems = list(seen.problems)
    coverage = profile["coverage"]
    received_counted = bool(coverage["received"].get("witness"))
    # With senders alone the matrix holds what was sent, received or not.
    as_sent = not received_counted

    def touches(pair):
        return pair[0][0] == world or pair[1][0] == world

    want = collections.defaultdict(dict)
    for source in [lines.exact, lines.unreceived, lines.uncounted] if as_sent else [lines.exact]:
        for key, pairs in source.items():
            for pair, cell in pairs.items():
                if touches(pair):
                    before = want[key].get(pair, [0, 0])
                    want[key][pair] = [before[0] + cell[0], before[1] + cell[1]]
    bounds = {k[1:]: v for k, v in lines.at_least.items() if k[0] == world}
    bounded = {(name, comm) for name, comm, _, _, _ in bounds}
    may = {(name, comm) for w, name, comm in lines.may if w == world}
    if seen.has_posted != any(key[0] == ONE_SIDED for key in want):
        problems.append("one-sided operations are counted as posted" if seen.has_posted else
                        "one-sided operations are not counted as posted")

    for key in sorted(set(want) | set(seen.traffic), key=str):
        name, comm, _ = key
        if key in want:
            compare_pairs(key, want[key], seen.traffic.get(key, {}), problems)
        elif not ({(name, comm), (name, ANY)} & (bounded | may)):
            cells = seen.traffic[key].values()
            total = [sum(c[0] for c in cells), sum(c[1] for c in cells)]
            problems.append(f"{show_key(key)}: not expected at all, profile has {show_cell(total)}")

    for (name, comm, phase, source, destination), bound in sorted(bounds.items(), key=str):
        total = [0, 0]
        for key, pairs in seen.traffic.items():
            if key[0] == name and comm in (ANY, key[1]) and key[2] == phase:
                for pair, cell in pairs.items():
                    if source in (ANY, pair[0]) and destination in (ANY, pair[1]):
                        total[0] += cell[0]
                        total[1] += cell[1]
        if total[0] < bound[0] or total[1] < bound[1]:
            problems.append(f"{show_key((name, comm, phase))}: {show_process(source)} to {show_process(destination)}: "
                            f"at least {show_cell(bound)}, profile has {show_cell(total)}")

    for w, name, comm in sorted(lines.no_bytes, key=str):
        total = sum(cell[0] for key, pairs in seen.traffic.items() if key[:2] == (name, comm) for cell in pairs.values())
        if w == world and total:
            problems.append(f"{show_key((name, comm, ''))}: carries no data, profile has {total} B")
    problems += [f"communicator {identity}, {made_by}: not all of its members know it"
                 for identity, made_by in seen.without_members]
    for (name, identity), pairs in sorted(seen.on_each.items()):
        if (world, name, normal_key(*seen.comms[identity])) not in lines.balanced:
            continue
        for (a, b), cell in sorted(pairs.items()):
            back = pairs.get((b, a), [0, 0])
            if a < b and cell != back or (b, a) not in pairs:
                problems.append(f"{name} on communicator {identity}, {seen.comms[identity][0]}: "
                                f"{show_process(a)} to {show_process(b)} {show_cell(cell)}, "
                                f"back {show_cell(back)}")
    for w, comm, name in sorted(lines.names, key=str):
        if w == world and (comm, name) not in seen.names:
            problems.append(f"{show_key(('communicator', comm, ''))}: name {name!r} is missing")
    for (w, comm), count in lines.instances.items():
        if w == world and (seen.entries[comm], seen.instances[comm]) != (1, count):
            problems.append(f"{show_key(('communicator', comm, ''))}: {count} one after the other, profile has "
                            f"{seen.entries[comm]} entries with {seen.instances[comm]} instances")
    for w, text in sorted(lines.comms):
        made_by, ranks, remote = text.split("|")
        sides = tuple(sorted(tuple(process(t, w) for t in side.split(",")) for side in (ranks, remote) if side))
        if w == world and len({p[0] for side in sides for p in side}) > 1 and (made_by, sides) not in seen.raw_comms:
            problems.append(f"no communicator {made_by} of {sides} with processes of another world")

    problems += compare_sizes(lines, profile, world, seen, as_sent)
    problems += compare_coverage(lines, profile, world, seen, received_counted, options)
    return problems


def compare_sizes(lines, profile, world, seen, as_sent):
    problems = []
    histogram = collections.defaultdict(collections.Counter)
    binned = set()
    for entry in profile["message_sizes"]:
        for size, messages in zip(entry["size"], entry["messages"]):
            histogram[entry["class"]][size] += messages
        if sum(entry.get("bin_messages") or []):
            binned.add(entry["class"])
    totals = collections.defaultdict(lambda: [0, 0])
    for key, pairs in seen.traffic.items():
        for cell in pairs.values():
            totals[key[0]][0] += cell[0]
            totals[key[0]][1] += cell[1]
    for name, total in sorted(totals.items()):
        if name in binned:
            continue
        counted = [sum(s * m for s, m in histogram[name].items()), sum(histogram[name].values())]
        if counted != total:
            problems.append(f"message_sizes of {name}: {show_cell(counted)}, traffic has {show_cell(total)}")
    if not as_sent or not (lines.unreceived or lines.uncounted):
        bounded = {k[1] for k in lines.at_least if k[0] == world}
        for (w, name), sizes in sorted(lines.sizes.items()):
            if w == world and name not in binned | bounded and sizes != histogram[name]:
                problems.append(f"message_sizes of {name}: expected {dict(sizes)}, profile has {dict(histogram[name])}")
    return problems


def sum_by_pair(tables, world):
    """What `world` sent according to these tables, all classes and communicators together."""
    total = collections.defaultdict(lambda: [0, 0])
    for table in tables:
        for pairs in table.values():
            for pair, cell in pairs.items():
                if pair[0][0] == world:
                    total[pair][0] += cell[0]
                    total[pair][1] += cell[1]
    return total


def sum_of(cells):
    cells = list(cells)
    return [sum(cell[0] for cell in cells), sum(cell[1] for cell in cells)]


def coverage_pairs(table, columns, seen):
    """The rows of a table in `coverage`, by pair."""
    if not table:
        return {}
    ends = zip(table["source"], table["destination"])
    return {(seen.ranks[s], seen.ranks[d]): list(row)
            for (s, d), row in zip(ends, zip(*(table[column] for column in columns)))}


def compare_coverage(lines, profile, world, seen, received_counted, options):
    problems = []
    coverage = profile["coverage"]
    # Sent and not counted by the receiver: seen waiting there, or not.
    unproven = bool(options.get("unproven"))
    waiting = sum_by_pair([] if unproven else [lines.unreceived], world)
    missing = sum_by_pair([lines.uncounted, *([lines.unreceived] if unproven else [])], world)
    verdict = options.get("verdict") or ("differs" if missing else "exact")
    if coverage["verdict"] != verdict:
        problems.append(f"verdict is {coverage['verdict']!r}, expected {verdict!r}; differences "
                        f"{str(coverage.get('differences'))[:300]}; "
                        f"steps down {coverage.get('steps_down')}; notes {coverage.get('notes')}")
    if options.get("received") and not received_counted:
        problems.append("no witness of what was received")
    if bool(coverage.get("cut_short")) != bool(options.get("cut_short")):
        problems.append(f"cut_short is {coverage.get('cut_short')!r}")
    if not received_counted:
        return problems
    got = coverage["unreceived"]
    total = sum_of(waiting.values())
    counted = [got.get("bytes", 0), got.get("messages", 0)]
    if counted != total:
        problems.append(f"unreceived: expected {show_cell(total)}, "
                        f"profile has {show_cell(counted)}")
    found = coverage_pairs(got.get("pairs"), ("bytes", "messages"), seen)
    compare_pairs(("unreceived", ANY, ""), waiting, found, problems)
    sides = ("sent_bytes", "sent_messages", "received_bytes", "received_messages")
    differing = coverage_pairs(coverage.get("differences"), sides, seen)
    short = {pair: [row[0] - row[2] - waiting[pair][0], row[1] - row[3] - waiting[pair][1]]
             for pair, row in differing.items()}
    compare_pairs(("what receivers lack", ANY, ""), missing, short, problems)
    if len(lines.worlds) == 1:
        moved = seen.messages
        sent = sum_of([moved, total, sum_of(missing.values())])
        for side, expected in (("received", moved), ("sent", sent)):
            counted = [coverage[side].get("bytes", 0), coverage[side].get("messages", 0)]
            if counted != expected:
                problems.append(f"coverage.{side} is {show_cell(counted)}, traffic and what was "
                                f"not received make {show_cell(expected)}")
    return problems


def check_run(expect_directory, run_directory, options):
    """Compares every world's profile under `run_directory`. Returns the problems."""
    lines = Lines(expect_directory)
    paths = {"main": os.path.join(run_directory, "profile.json")}
    others = sorted(glob.glob(os.path.join(run_directory, "world-*", "profile.json")))
    children = sorted(lines.worlds - {"main"})
    if not os.path.exists(paths["main"]):
        return [f"no profile.json in {sorted(os.listdir(run_directory)) if os.path.isdir(run_directory) else 'a missing directory'}"]
    if len(others) != len(children):
        return [f"{len(children)} spawned worlds, {len(others)} profiles of them"]
    best = None
    for order in itertools.permutations(others):
        problems = []
        for world, path in [("main", paths["main"]), *zip(children, order)]:
            with open(path) as file:
                profile = json.load(file)
            if profile["schema"] != "fathom-profile/1":
                problems.append(f"schema is {profile['schema']!r}")
            problems += [text if world == "main" else f"{world}: {text}"
                         for text in best_naming(lines, profile, world, options)]
        if best is None or len(problems) < len(best):
            best = problems
    return best


def best_naming(lines, profile, world, options):
    foreign = sorted({r["world"] for r in profile["ranks"] if r.get("world") and r["rank"] >= profile["world_size"]})
    others = sorted(lines.worlds - {world})
    if len(foreign) > len(others):
        return [f"processes of {len(foreign)} other worlds, expected {len(others)}"]
    best = None
    for chosen in itertools.permutations(others, len(foreign)):
        problems = compare(lines, profile, world, dict(zip(foreign, chosen)), options)
        if best is None or len(problems) < len(best):
            best = problems
    return best


def check_monitoring(expect_directory, prefix):
    """The log against pml_monitoring's own files (NAME.RANK.prof), per pair, all classes that use messages:
    a check of the test programs, without the profiler."""
    lines = Lines(expect_directory)
    got = {"E": collections.defaultdict(lambda: [0, 0]), "I": collections.defaultdict(lambda: [0, 0])}
    for path in glob.glob(prefix + ".*.prof"):
        with open(path) as file:
            for line in file:
                fields = line.split()
                if fields and fields[0] in got:
                    cell = got[fields[0]][(("main", int(fields[1])), ("main", int(fields[2])))]
                    cell[0] += int(fields[3])
                    cell[1] += int(fields[5])
    want = {"E": collections.defaultdict(lambda: [0, 0]), "I": collections.defaultdict(lambda: [0, 0])}
    for table in (lines.exact, lines.unreceived, lines.uncounted):
        for key, pairs in table.items():
            if key[0] == ONE_SIDED:
                continue
            for pair, cell in pairs.items():
                target = want["E" if key[0] == POINT_TO_POINT else "I"][pair]
                target[0] += cell[0]
                target[1] += cell[1]
    # pml_monitoring files the library's own persistent requests, and whatever else it sends with a user's
    # tag, as user messages: where hidden messages are known too, only the sum of both says something.
    problems = []
    known = not lines.at_least and not lines.may
    if known and not any(pairs for pairs in want["I"].values()):
        compare_pairs(("user messages by pml_monitoring", ANY, ""), want["E"], got["E"], problems)
    elif known:
        both = [{p: [t["E"][p][0] + t["I"][p][0], t["E"][p][1] + t["I"][p][1]] for p in {*t["E"], *t["I"]}}
                for t in (want, got)]
        compare_pairs(("all messages by pml_monitoring", ANY, ""), *both, problems)
    else:
        for pair, cell in want["E"].items():
            if got["E"][pair][0] < cell[0] or got["E"][pair][1] < cell[1]:
                compare_pairs(("user messages by pml_monitoring", ANY, ""), {pair: cell}, {pair: got["E"][pair]}, problems)
        need = [sum(v[i] for k, v in lines.at_least.items() if k[5] == ANY) for i in (0, 1)]
        have = [sum(c[i] for c in [*got["I"].values(), *got["E"].values()]) for i in (0, 1)]
        if have[0] < need[0] or have[1] < need[1]:
            problems.append(f"hidden messages: at least {show_cell(need)}, pml_monitoring has {show_cell(have)}")
    return problems
