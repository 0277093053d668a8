#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports of a generated trace, held against the programs that they are for.

  test/unit/exporters/read_by_other_programs.py FATHOM TRACE_GENERATE

otf2-print and Python's otf2 read the OTF2 archive; JSON nests, speedscope's by its rules; SQLite answers; smpirun replays the SMPI trace;
and an archive that EZTrace recorded of a real MPI job is imported. What is not installed is skipped, and said.
"""
import collections
import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.append("/usr/lib/python3/dist-packages")  # for Debian's otf2
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import open_mpi  # noqa: E402

FATHOM, GENERATE = (os.path.abspath(path) for path in sys.argv[1:3])
RANKS = 4
NO_SITE = dict.fromkeys(("caller", "file", "line", "module", "place"))  # an archive lacks the program's segments


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **keywords)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done


def export(directory, to, name):
    run(FATHOM, "export", "run", "--format", to, "-o", name, cwd=directory)
    return os.path.join(directory, name)


def check_events(directory):
    with open(export(directory, "events", "events.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = collections.Counter(row["kind"] for row in rows)
    assert kinds["sent"] == kinds["received"] > 0, kinds
    ends = collections.Counter(row["message"] for row in rows if row["message"])
    assert set(ends.values()) == {2}, "a message has other than two ends"
    return rows, kinds


def check_otf2(directory, rows, kinds):
    anchor = os.path.join(export(directory, "otf2", "archive"), "traces.otf2")
    printed = run("otf2-print", anchor)
    assert not printed.stderr.strip(), printed.stderr[:2000]
    try:
        import otf2
    except ImportError:
        print("skipped: Python's otf2 module is not installed")
        return
    counts, last, stacks = collections.Counter(), {}, collections.defaultdict(list)
    sent, received = collections.defaultdict(list), collections.defaultdict(list)
    irecvs, isends = set(), set()
    sources = collections.Counter()
    with otf2.reader.open(anchor) as trace:
        assert len(trace.definitions.locations) == RANKS
        regions = {region.name for region in trace.definitions.regions}
        ranks = {location: index for index, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            kind = type(event).__name__
            counts[kind] += 1
            assert event.time >= last.get(location, 0), "time goes back within a location"
            last[location] = event.time
            if kind == "Enter":
                stacks[location].append(event.region.name)
                where = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
                if "fathom::site" in where:
                    source = where["fathom::source"]
                    sources[event.region.name, source.file, source.line_number] += 1
            elif kind == "Leave":
                assert stacks[location].pop() == event.region.name
            elif kind in ("MpiSend", "MpiIsend"):
                assert stacks[location], "a message outside every call"
                key = (event.communicator.name, ranks[location], event.receiver, event.msg_tag)
                sent[key].append((event.time, event.msg_length))
                if kind == "MpiIsend":
                    isends.add((location, event.request_id))
            elif kind in ("MpiRecv", "MpiIrecv"):
                key = (event.communicator.name, event.sender, ranks[location], event.msg_tag)
                received[key].append((event.time, event.msg_length))
            elif kind == "MpiIsendComplete":
                isends.remove((location, event.request_id))
            if kind == "MpiIrecvRequest":
                irecvs.add((location, event.request_id))
            elif kind == "MpiIrecv":
                irecvs.remove((location, event.request_id))
    calls = [row for row in rows if row["kind"] == "call"]
    assert regions == {row["name"] for row in calls}
    assert sources == collections.Counter((row["name"], f"app+{int(row['place']):#x}", 0) for row in calls if row["site"])
    assert sources["MPI_Allreduce", "app+0x123f", 0] > 0
    assert counts["Enter"] == counts["Leave"] == len(calls), counts
    assert counts["MpiSend"] + counts["MpiIsend"] == kinds["sent"], counts
    assert counts["MpiRecv"] + counts["MpiIrecv"] == kinds["received"], counts
    assert counts["MpiIsend"] > 0 and counts["MpiIrecv"] > 0 and not irecvs and not isends
    assert counts["MpiCollectiveEnd"] == sum(row["name"] == "MPI_Allreduce" for row in calls)
    assert sent.keys() == received.keys()
    for key, sends in sent.items():
        for (send_time, send_bytes), (receive_time, receive_bytes) in zip(sends, received[key], strict=True):
            assert send_time < receive_time and send_bytes == receive_bytes, key
    run(FATHOM, "import", "archive", "-o", "back", cwd=directory)
    run(FATHOM, "export", "back", "--format", "events", "-o", "back.csv", cwd=directory)
    with open(os.path.join(directory, "events.csv")) as before, open(os.path.join(directory, "back.csv")) as after:
        before, after = ([{**row, **NO_SITE} for row in csv.DictReader(file)] for file in (before, after))
        assert before == after, "OTF2 and back is not the same"


def check_otf2_of_some_ranks(directory):
    """Readers require an event of each location, also of ranks that are not in the trace."""
    run(FATHOM, "trace", "filter", "run", "--ranks", "1", "-o", "one", cwd=directory)
    run(FATHOM, "export", "one", "--format", "otf2", "-o", "one-archive", cwd=directory)
    checked = ["valgrind", "-q", "--error-exitcode=9"] if shutil.which("valgrind") else []
    assert not run(*checked, "otf2-print", "one-archive/traces.otf2", cwd=directory).stderr


def check_otf2_names(directory):
    """Names that are no UTF-8: Python's otf2 stops at those."""
    suffix, read_as = b'\xff"\x01\xed\xa0\x80', '\ufffd"\x01\ufffd\ufffd\ufffd'
    run(GENERATE, "odd", "--ranks", "2", "--events", "500", "--suffix", suffix, cwd=directory)
    run(FATHOM, "export", "odd", "--format", "otf2", "-o", "odd-archive", cwd=directory)
    run(FATHOM, "import", "odd-archive", "-o", "odd-back", cwd=directory)
    printed = run(FATHOM, "trace", "print", "--json", "odd-back", cwd=directory).stdout.splitlines()
    events = map(json.loads, printed)
    phases = [event["phase"] for event in events if event["kind"] == "phase-begin"]
    assert phases == ["solve" + read_as] * 2, phases
    try:
        import otf2
    except ImportError:
        return
    with otf2.reader.open(os.path.join(directory, "odd-archive", "traces.otf2")) as trace:
        found = {string.name for string in trace.definitions.strings}
        assert {"n0" + read_as, "main" + read_as, "MPI_COMM_WORLD" + read_as} <= found, found


def findings_of(directory, run_directory):
    run(FATHOM, "analyze", run_directory, "--only", "wait-states,lateness,load-imbalance", cwd=directory)
    with open(os.path.join(directory, run_directory, "analysis.json")) as file:
        found = json.load(file)["findings"]
    return [(one["kind"], one["seconds"], one["count"], one["culprits"], one["victims"], one["where"]["function"])
            for one in found]


def check_same_findings(directory):
    """A trace, and the same one exported and imported again."""
    run(FATHOM, "import", "archive", "-o", "again", cwd=directory)
    before, after = findings_of(directory, "run"), findings_of(directory, "again")
    assert before, "the generated trace has no findings to compare"
    assert before == after, f"recorded {before}\nimported {after}"


def write_archive(folder, ahead_ns):
    """Two processes send each other five messages in turns. Each takes 2 us, and its receiver has waited 100 us for it.
    The clock of process I is ahead of the archive's by ahead_ns[I]."""
    import otf2
    from otf2.enums import GroupType, LocationGroupType, LocationType, Paradigm
    begin, ranks = 10_000_000_000, (0, 1)
    with otf2.writer.open(folder, timer_resolution=1_000_000_000) as archive:
        define = archive.definitions
        node = define.system_tree_node("n1")
        locations = [define.location("main", type=LocationType.CPU_THREAD, group=define.location_group(
            f"rank {rank}", system_tree_parent=node, location_group_type=LocationGroupType.PROCESS)) for rank in ranks]
        send, receive = (define.region(name, paradigm=Paradigm.MPI) for name in ("MPI_Send", "MPI_Recv"))
        define.group("locations", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        world = define.comm("MPI_COMM_WORLD", group=define.group(
            "world", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks))
        for rank in ranks:
            events = archive.event_writer_from_location(locations[rank])
            for message in range(10):
                at, sender = begin + ahead_ns[rank] + message * 500_000, message % 2
                if sender == rank:
                    events.enter(at + 100_000, send)
                    events.mpi_send(at + 100_000, 1 - rank, world, 7, 64)
                    events.leave(at + 101_000, send)
                else:
                    events.enter(at, receive)
                    events.mpi_recv(at + 102_000, 1 - rank, world, 7, 64)
                    events.leave(at + 103_000, receive)


def check_clocks_of_others(directory):
    """Clocks that another tool did not synchronise, also one that is behind the beginning of the archive."""
    try:
        import otf2  # noqa: F401
    except ImportError:
        print("skipped: Python's otf2 module is not installed")
        return
    for name, ahead_ns in {"agree": (0, 0), "apart": (0, -7_000_000_000), "other-way": (0, 3_000_000)}.items():
        write_archive(os.path.join(directory, "by-" + name), ahead_ns)
        said = run(FATHOM, "import", "by-" + name, "-o", "from-" + name, cwd=directory).stderr
        assert ("not synchronised" in said) == (name != "agree"), (name, said)
        run(FATHOM, "analyze", "from-" + name, "--only", "wait-states", cwd=directory)
        with open(os.path.join(directory, "from-" + name, "analysis.json")) as file:
            found = json.load(file)
        waited = found["analyses"]["wait-states"]["wait_seconds"]
        assert abs(waited - 10 * 100e-6) <= 10 * 2e-6, (name, waited)
        assert any("clocks were not synchronised" in limit for limit in found["limits"]) == (name != "agree"), found
        info = json.loads(run(FATHOM, "trace", "info", "from-" + name, "--processes", "--json", cwd=directory).stdout)
        worst = max(process["clock_uncertainty_ns"] for process in info["processes"])
        assert worst == (0 if name == "agree" else 2_000), (name, worst)


def check_chrome(directory, kinds):
    with open(export(directory, "chrome", "trace.json")) as file:
        events = json.load(file)["traceEvents"]
    stacks, last = collections.defaultdict(list), {}
    flows = collections.defaultdict(list)
    for event in events:
        track = (event["pid"], event.get("tid"))
        if event["ph"] in "BE":
            assert event["ts"] >= last.get(track, 0)
            last[track] = event["ts"]
        if event["ph"] == "B":
            stacks[track].append(event["name"])
        elif event["ph"] == "E":
            stacks[track].pop()
        elif event["ph"] in "sf":
            flows[event["id"]].append((event["ph"], event["ts"]))
    assert not any(stacks.values())
    assert len(flows) == kinds["sent"]
    for ends in flows.values():
        assert [end[0] for end in ends] == ["s", "f"] and ends[0][1] <= ends[1][1]


def speedscope_problems(document):
    """What speedscope's specification forbids and a schema cannot say: one sentence each."""
    frames = len(document["shared"]["frames"])
    if not 0 <= document.get("activeProfileIndex", 0) < max(1, len(document["profiles"])):
        yield "activeProfileIndex is no profile"
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            if event["at"] < last:
                yield f"{profile['name']}: time goes back to {event['at']}"
            last = event["at"]
            if event["frame"] >= frames:
                yield f"{profile['name']}: there is no frame {event['frame']}"
            if event["type"] == "O":
                stack.append(event["frame"])
            elif not stack or stack.pop() != event["frame"]:
                yield f"{profile['name']}: frame {event['frame']} is closed but not on top"
        if stack:
            yield f"{profile['name']}: {len(stack)} frames stay open"
        if profile["endValue"] < last:
            yield f"{profile['name']}: ends before its last event"


def check_speedscope(directory, rows):
    with open(export(directory, "speedscope", "t.speedscope.json"), encoding="utf-8") as file:
        document = json.load(file)
    assert not list(speedscope_problems(document)), list(speedscope_problems(document))[:3]
    assert [profile["name"].split()[:2] for profile in document["profiles"]] == [["rank", str(r)] for r in range(RANKS)]
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert len(set(map(str, document["shared"]["frames"]))) == len(names), "a frame is listed twice"
    opened = collections.Counter(names[event["frame"]] for profile in document["profiles"]
                                 for event in profile["events"] if event["type"] == "O")
    for name, count in collections.Counter(row["name"] for row in rows if row["kind"] == "call").items():
        assert opened[name] == count, (name, opened[name], count)
    for damage in ({"activeProfileIndex": RANKS}, {"shared": {"frames": []}}):
        assert list(speedscope_problems(document | damage)), damage
    events = document["profiles"][0]["events"]
    events[0], events[-1] = events[-1], events[0]
    assert list(speedscope_problems(document)), "events in any order are accepted"
    events[0], events[-1] = events[-1], events[0]
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return
    schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "speedscope.schema.json")
    with open(schema, encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    small = document | {"profiles": [profile | {"events": profile["events"][:500]} for profile in document["profiles"]]}
    validator.validate(small)
    for damage in ({"profiles": [{"type": "evented"}]}, {"$schema": ""}, {"extra": 1}):
        assert not validator.is_valid(small | damage), damage


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, key
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def check_perfetto(directory, rows, kinds):
    with open(export(directory, "perfetto", "t.perfetto-trace"), "rb") as file:
        data = file.read()
    tracks, used, depth = set(), set(), collections.Counter()
    begins, flows, ends = 0, set(), set()
    slices = collections.defaultdict(list)
    for number, packet in fields(data):
        assert number == 1
        packet = dict(fields(packet))
        if 60 in packet:
            tracks.add(dict(fields(packet[60]))[1])
        if 11 not in packet:
            continue
        event = list(fields(packet[11]))
        flat = dict(event)
        used.add(flat[11])
        slices[flat[11]].append((packet[8], flat[9]))
        begins += flat[9] == 1
        flows |= {value for field, value in event if field == 47}
        ends |= {value for field, value in event if field == 48}
    assert used <= tracks
    for track, events in slices.items():
        depth = 0
        for time, kind in events:
            depth += {1: 1, 2: -1, 3: 0}[kind]
            assert depth >= 0
        assert depth == 0 and [t for t, _ in events] == sorted(t for t, _ in events), track
    assert flows == ends and len(flows) == kinds["sent"]
    assert begins == sum(row["kind"] == "call" for row in rows) + kinds["sent"]


def check_sqlite(directory, kinds):
    database = sqlite3.connect(export(directory, "sqlite", "t.sqlite"))
    assert database.execute("SELECT count(*) FROM message").fetchone()[0] == kinds["sent"]
    assert database.execute("SELECT count(*) FROM message WHERE received_ns < sent_ns").fetchone()[0] == 0
    assert database.execute("SELECT sum(end_ns - begin_ns) FROM calls WHERE name = 'MPI_Waitall'").fetchone()[0] > 0
    sites = dict(database.execute("SELECT (rank << 48) | address, count(*) FROM site GROUP BY 1"))
    called = database.execute("SELECT DISTINCT (rank << 48) | site FROM call WHERE site IS NOT NULL").fetchall()
    assert set(sites) == {place for place, in called} and set(sites.values()) <= {1}
    for query, index in (("FROM call WHERE function = 1", "call_by_function"),
                         ("FROM call WHERE rank = 1 AND begin_ns > 7", "call_by_time"),
                         ("FROM call WHERE rank = 1 AND site = 7", "call_by_site"),
                         ("FROM sent WHERE rank = 1 AND peer = 2", "sent_by_pair"),
                         ("FROM received WHERE peer = 1 AND rank = 2", "received_by_pair"),
                         ("FROM event WHERE kind = 'lost'", "event_by_kind")):
        plan = " ".join(row[3] for row in database.execute("EXPLAIN QUERY PLAN SELECT count(*) " + query))
        assert f"USING COVERING INDEX {index}" in plan or f"USING INDEX {index}" in plan, (query, plan)


def check_paraver(directory, kinds):
    with open(export(directory, "paraver", "t.prv")) as file:
        lines = file.read().splitlines()
    assert lines[0].startswith("#Paraver (")
    records = [line.split(":") for line in lines[1:] if line[0] in "123"]
    times = [int(record[5]) for record in records]
    assert times == sorted(times)
    assert sum(record[0] == "3" for record in records) == kinds["sent"]
    assert os.path.exists(os.path.join(directory, "t.pcf")) and os.path.exists(os.path.join(directory, "t.row"))


def check_goal(directory, kinds):
    with open(export(directory, "goal", "t.goal")) as file:
        lines = file.read().splitlines()
    assert lines[0] == f"num_ranks {RANKS}"
    sends, recvs, rank, known = collections.Counter(), collections.Counter(), None, set()
    for line in lines[1:]:
        words = line.split()
        if line.startswith("rank"):
            rank, known = int(words[1]), set()
        elif words[1:2] in (["requires"], ["irequires"]):
            assert words[0] in known and words[2] in known and int(words[0][1:]) > int(words[2][1:])
        elif len(words) > 1:
            known.add(words[0].rstrip(":"))
            if words[1] == "send":
                sends[rank, int(words[4]), words[6], words[2]] += 1
            elif words[1] == "recv":
                recvs[int(words[4]), rank, words[6], words[2]] += 1
    assert sends == recvs and sum(sends.values()) == kinds["sent"]


def check_smpi(directory):
    folder = export(directory, "smpi", "smpi")
    if not shutil.which("smpirun"):
        print("skipped: smpirun is not installed")
        return
    with open(os.path.join(directory, "platform.xml"), "w") as file:
        file.write("""<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="n" radical="0-3" suffix="" speed="1Gf"
bw="12.5GBps" lat="1us"/></zone></platform>""")
    with open(os.path.join(directory, "hosts"), "w") as file:
        file.write("n0\nn1\nn2\nn3\n")
    run("smpirun", "-np", str(RANKS), "-platform", "platform.xml", "-hostfile", "hosts", "-replay",
        os.path.join(folder, "trace.txt"), cwd=directory)


PROGRAM = r"""
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, size, in[2], out = 7;
  MPI_Request request[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 10; ++i) {
    MPI_Irecv(&in[0], 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Send(&out, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


def check_eztrace(directory):
    mpi = open_mpi.stock()
    if not shutil.which("eztrace") or not os.path.exists(mpi.mpicc):
        print("skipped: eztrace or Debian's Open MPI is not installed")
        return
    source = os.path.join(directory, "ring.c")
    with open(source, "w") as file:
        file.write(PROGRAM)
    clean = dict(mpi.environment, PATH="/usr/bin:/bin")
    run(mpi.mpicc, "-o", "ring", source, cwd=directory, env=clean)
    recorded = subprocess.run(mpi.launch(2, "eztrace", "-t", "openmpi", "./ring"),
                              cwd=directory, env=clean, capture_output=True, text=True, timeout=120)
    archives = [os.path.join(root, name) for root, _, names in os.walk(directory) for name in names
                if name.endswith(".otf2") and "archive" not in root]
    if not archives:
        print("skipped: eztrace recorded nothing here:", recorded.stderr[-300:])
        return
    run(FATHOM, "import", archives[0], "-o", "eztrace-run", cwd=directory)
    run(FATHOM, "export", "eztrace-run", "--format", "sqlite", "-o", "eztrace.sqlite", cwd=directory)
    database = sqlite3.connect(os.path.join(directory, "eztrace.sqlite"))
    calls = dict(database.execute("SELECT name, count(*) FROM calls GROUP BY name"))
    for name, count in {"MPI_Isend": 20, "MPI_Irecv": 20, "MPI_Waitall": 20, "MPI_Send": 10, "MPI_Recv": 10,
                        "MPI_Bcast": 20}.items():
        assert calls.get(name) == count, (name, calls)
    # Debian's EZTrace writes no MpiIrecv when a wait completes it: those messages have one end.
    assert database.execute("SELECT count(*), min(bytes), max(bytes) FROM sent").fetchone() == (30, 4, 4)
    joined = database.execute("SELECT count(*) FROM message").fetchone()[0]
    assert joined in (10, 30), joined
    print("an archive of EZTrace:", calls)


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-exports-") as directory:
        run(GENERATE, "run", "--ranks", str(RANKS), "--events", "20000", "--transfers", cwd=directory)
        rows, kinds = check_events(directory)
        check_otf2(directory, rows, kinds)
        check_same_findings(directory)
        check_clocks_of_others(directory)
        check_otf2_of_some_ranks(directory)
        check_otf2_names(directory)
        check_chrome(directory, kinds)
        check_perfetto(directory, rows, kinds)
        check_speedscope(directory, rows)
        check_sqlite(directory, kinds)
        check_paraver(directory, kinds)
        check_goal(directory, kinds)
        check_smpi(directory)
        check_eztrace(directory)


if __name__ == "__main__":
    main()
