"""mpirun -n P python3 together.py RUN: the same findings and the same messages for every P.

Without a RUN: makes one and starts itself so.
"""
import os
import subprocess
import sys
import tempfile


def part(path):
    from mpi4py import MPI
    import fathom
    comm = MPI.COMM_WORLD
    run = fathom.open(path, comm=comm)
    found = run.findings("wait-states")
    ranks = comm.gather(run.own_ranks())
    messages = comm.gather(run.messages()["bytes"].sum())
    met = []
    run.replay(receive=met.append)
    received = comm.gather(len(met))
    if comm.Get_rank() == 0:
        assert sorted(sum(ranks, [])) == list(range(run.ranks)), ranks
        print(sum(messages), sum(received), found[["kind", "seconds", "culprits", "count"]].to_json())


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-together-") as folder:
        path = os.path.join(folder, "run")
        subprocess.run([os.environ["FATHOM_TRACE_GENERATE"], path, "--ranks", "5", "--events", "20000"], check=True,
                       capture_output=True)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        answers = set()
        for processes in (1, 2, 3, 7):
            done = subprocess.run(["/usr/bin/mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n",
                                   str(processes), sys.executable, "-m", "mpi4py", os.path.abspath(__file__), path],
                                  env=environment, capture_output=True, text=True, timeout=100)
            if done.returncode != 0:
                sys.exit(f"{processes} processes: exit code {done.returncode}\n{done.stderr}")
            print(f"{processes} processes: {done.stdout}", end="")
            answers.add(done.stdout)
        if len(answers) != 1 or not answers.pop().strip():
            sys.exit("the answers differ")


if __name__ == "__main__":
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        print("skipped: python3-mpi4py is not installed")
        sys.exit(77)
    part(sys.argv[1]) if len(sys.argv) > 1 else main()
