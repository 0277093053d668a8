# SPDX-License-Identifier: BSD-3-Clause
"""A trace of three ranks whose every figure can be worked out by hand, written by Python's otf2 and imported.

    ns    0    100   200   300   400   500        1000         1400  1500  1600
    0     Send(100 B to 1)                        Barrier ................ |
    1     Recv ......... Send(50 B, sub)                            Barrier|
    2     Recv(sub) ..................                         Barrier ....|

`sub` holds the world ranks 1 and 2, which are 0 and 1 in it.
"""
import otf2
from otf2.enums import GroupType, LocationGroupType, Paradigm

START = 1000


def write(folder):
    with otf2.writer.open(folder, timer_resolution=10**9) as trace:
        defined = trace.definitions
        node = defined.system_tree_node("node")
        groups = [defined.location_group(f"MPI Rank {rank}", location_group_type=LocationGroupType.PROCESS,
                                         system_tree_parent=node) for rank in range(3)]
        places = [defined.location(f"main {rank}", group=group) for rank, group in enumerate(groups)]
        writers = [trace.event_writer_from_location(place) for place in places]
        defined.group(name="MPI", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=places)

        def communicator(name, members):
            return defined.comm(name, group=defined.group(name="", group_type=GroupType.COMM_GROUP,
                                                          paradigm=Paradigm.MPI, members=members))

        world, sub = communicator("MPI_COMM_WORLD", places), communicator("sub", places[1:])
        send, recv, barrier = (defined.region(name, paradigm=Paradigm.MPI)
                               for name in ("MPI_Send", "MPI_Recv", "MPI_Barrier"))

        def sends(rank, begin, end, peer, comm, tag, size):
            writers[rank].enter(START + begin, send)
            writers[rank].mpi_send(START + begin, peer, comm, tag, size)
            writers[rank].leave(START + end, send)

        def receives(rank, begin, end, peer, comm, tag, size):
            writers[rank].enter(START + begin, recv)
            writers[rank].mpi_recv(START + end, peer, comm, tag, size)
            writers[rank].leave(START + end, recv)

        def waits(rank, begin):
            writers[rank].enter(START + begin, barrier)
            writers[rank].leave(START + 1600, barrier)

        sends(0, 0, 100, 1, world, 7, 100)
        waits(0, 1000)
        receives(1, 0, 200, 0, world, 7, 100)
        sends(1, 300, 400, 1, sub, 8, 50)
        waits(1, 1500)
        receives(2, 0, 500, 0, sub, 8, 50)
        waits(2, 1400)
