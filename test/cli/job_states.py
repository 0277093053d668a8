# SPDX-License-Identifier: BSD-3-Clause
"""States of running jobs, as `fathom top --json` prints them."""


def rank(number, **members):
    state = {"rank": number, "host": f"node{number // 4}", "pid": 1000 + number, "state": "running", "mpi_s": 40.0,
             "waiting_s": float(number), "elapsed_s": 100.0, "processor_s": 99.0, "sent": 10, "sent_bytes": 1000,
             "received": 10, "received_bytes": 1000, "unexpected": number, "posted": 1, "queues": "read", "threads": [thread()]}
    state.update(members)
    return state


def thread(**members):
    return {"thread": 0, "function": "", "place": "solver.c:10", "since_s": 42.0, "calls": 7, **members}


def barrier(ordinal=3, **members):
    return thread(function="MPI_Barrier", place="solver.c:221", since_s=41.0, communicator=1, collective=ordinal, **members)


def receive(source, tag, **members):
    return thread(function="MPI_Recv", place="halo.c:88", since_s=41.0, communicator=1, waits_for_all=True,
                  pending=[{"kind": "receive", "peer": source, "tag": tag, "communicator": 1, "bytes": 8}], **members)


def job(ranks, **members):
    return {"schema": "fathom-live/1", "run": "made", "program": "./app", "taken_at_s": 1.7e9, "world_size": len(ranks),
            "communicators": [{"id": 1, "name": "MPI_COMM_WORLD", "members": list(range(len(ranks)))}],
            "ranks": ranks, **members}


def stuck():
    """Ranks 0 to 2 are in a barrier, to which rank 3 cannot come."""
    return job([rank(number, threads=[barrier()]) for number in range(3)] + [rank(3, threads=[receive(0, 7)])])


def slow():
    """The same, but rank 3 computes."""
    return job([rank(number, threads=[barrier()]) for number in range(3)] + [rank(3)],
               pairs=[{"from": 0, "to": 1, "kind": "p2p", "sent": 9, "sent_bytes": 9000, "received": 7, "received_bytes": 7000},
                      {"from": 1, "to": 0, "kind": "MPI_Bcast", "sent": 1, "sent_bytes": 8, "received": 1, "received_bytes": 8}])
