# SPDX-License-Identifier: BSD-3-Clause
# mpi4py: buffers, pickled objects, non-blocking and persistent requests, communicators and collectives.
import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
directory = os.environ.get("EXPECT_DIR")
log = open(os.path.join(directory, f"{os.getpid()}.log"), "a") if directory else open(os.devnull, "w")
ranks = ",".join(map(str, range(size)))


def line(*fields):
    print(*fields, sep="\t", file=log, flush=True)


def sent(made_by, members, destination, nbytes, count=1):
    line("exact", "main", "point-to-point", f"{made_by}|{members}|", "", rank, destination, nbytes, count)


def collective(name, nbytes, count=1):
    for pair in ((rank, "*"), ("*", rank)):
        line("atleast", "main", name, f"predefined|{ranks}|", "", *pair, nbytes, count)


line("may", "main", "library", "*")
next_rank, previous = (rank + 1) % size, (rank - 1) % size
out, heard = bytearray(b"x" * 5000), bytearray(5000)

world.Sendrecv([out, 700, MPI.BYTE], next_rank, 1, [heard, 5000, MPI.BYTE], previous, 1)
sent("predefined", ranks, next_rank, 700)

# Pickled objects: the receiver probes for the length (a matched probe inside mpi4py).
message = {"rank": rank, "text": "y" * 1000}
request = world.isend(message, next_rank, 2)
got = world.recv(source=MPI.ANY_SOURCE, tag=2)
request.wait()
assert got["rank"] == previous
sent("predefined", ranks, next_rank, len(MPI.pickle.dumps(message)))

requests = [world.Irecv([heard, 5000, MPI.BYTE], MPI.ANY_SOURCE, 3), world.Isend([out, 5000, MPI.BYTE], next_rank, 3)]
MPI.Request.Waitall(requests)
sent("predefined", ranks, next_rank, 5000)

persistent = world.Send_init([out, 60, MPI.BYTE], next_rank, 4)
for _ in range(3):
    persistent.Start()
    world.Recv([heard, 60, MPI.BYTE], previous, 4)
    persistent.Wait()
persistent.Free()
sent("predefined", ranks, next_rank, 60, 3)

dup = world.Dup()
dup.Sendrecv([out, 10, MPI.BYTE], next_rank, 5, [heard, 10, MPI.BYTE], previous, 5)
sent("MPI_Comm_dup", ranks, next_rank, 10)
dup.Free()
split = world.Split(0, -rank)
split.Sendrecv([out, 20, MPI.BYTE], (split.Get_rank() + 1) % size, 6, [heard, 20, MPI.BYTE], MPI.ANY_SOURCE, 6)
sent("MPI_Comm_split", ",".join(map(str, reversed(range(size)))), previous, 20)
split.Free()

world.Barrier()
collective("MPI_Barrier", 0)
world.Allreduce([out, 100, MPI.BYTE], [heard, 100, MPI.BYTE], MPI.MAX)
collective("MPI_Allreduce", 100)
world.Iallreduce([out, 100, MPI.BYTE], [heard, 100, MPI.BYTE], MPI.MAX).Wait()
collective("MPI_Iallreduce", 100)

if rank == 0:
    print(f"python: ok on {size} ranks")
    sys.stdout.flush()
