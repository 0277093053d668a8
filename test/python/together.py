# SPDX-License-Identifier: BSD-3-Clause
"""The same findings, the same messages and the same of an engine's callbacks for every number of processes.

together.py DOCUMENT: makes a run and starts itself by mpirun, as together.py RUN, and the example of the engine in
DOCUMENT, which gives the same without mpirun and without mpi4py.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import check_examples  # noqa: E402
import open_mpi  # noqa: E402

STOCK = open_mpi.stock()  # which Debian's mpi4py is built with
WITHOUT_MPI4PY = "import sys; sys.modules['mpi4py'] = None; exec(open(sys.argv[1]).read())"


def findings_and_messages(path, comm):
    import fathom
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


def refused(engine, comm, mapping, message):
    """At every process, and each can go on."""
    import fathom
    engine.set_mapping(mapping)
    try:
        engine.loads()
    except fathom.Error as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"{mapping} is not refused")
    comm.Barrier()


def mappings(engine, comm):
    """The traces are with whom the mapping says; and the numbers of events show it."""
    size, ranks = comm.Get_size(), len(engine.ranks)
    asked = []
    engine.set_mapping(lambda records, processes: asked.append(len(records)) or [processes - 1] * len(records))
    assert engine.own_ranks() == (engine.ranks if comm.Get_rank() == size - 1 else []), engine.own_ranks()
    loads = engine.loads()
    assert loads[:-1] == [0] * (size - 1) and loads[-1] > 10000, loads
    assert asked == ([ranks] if size > 1 else []), asked
    if size > 1:
        refused(engine, comm, [0] * (ranks - 1), f"owners for {ranks - 1} processes; the job has {ranks}")
        refused(engine, comm, [0] * (ranks - 1) + [size], f"process {ranks - 1} to an analysis process that does not exist")
        refused(engine, comm, [-1] * ranks, "process 0 to an analysis process that does not exist")
        refused(engine, comm, [comm.Get_rank()] * ranks, "not the same at every analysis process")
    by_turns = [rank % size for rank in engine.ranks]
    engine.set_mapping(by_turns)
    assert engine.mapping() == dict(enumerate(by_turns))


def engine_together(path, comm):
    import fathom
    engine = fathom.Engine(path, comm)
    assert engine.parallel == (comm.Get_size() > 1)
    mappings(engine, comm)
    receives, calls = [], {}
    engine.on("receive", "receives", receives.append)
    engine.on("leave", "calls", lambda step: calls.setdefault(step.rank, []).append((step.index, step.function)), backward=True)
    engine.run()
    if receives:
        engine.want(receives[0].partner, 10**6)  # there is none
    away = [step for step in receives if engine.step(step.partner, step.partner_index) is None]
    assert len(away) == sum(step.partner not in engine.own_ranks() for step in receives)
    for step in away:
        engine.want(step.partner, step.partner_index)
    engine.fetch()
    for step in receives:
        sent = engine.step(step.partner, step.partner_index)
        assert (sent.kind, sent.rank, sent.partner, sent.partner_index, sent.bytes) == (
            "send", step.partner, step.rank, step.index, step.bytes), (step, sent)
    engine.barrier()
    engine.run(backward=True)
    assert set(calls) == set(engine.own_ranks())
    assert engine.forget() is None and all(engine.step(step.partner, step.partner_index) is None for step in away)
    shared = (sorted(engine.gather(receives)), sorted(engine.gather(calls.items())))
    engine.parallel = False
    receives.clear(), calls.clear()
    engine.run(), engine.run(backward=True)
    assert (engine.rank, engine.size, engine.own_ranks()) == (0, 1, engine.ranks)
    alone = (sorted(engine.gather(receives)), sorted(engine.gather(calls.items())))
    assert shared == (alone if comm.Get_rank() == 0 else ([], []))
    engine.parallel = True
    assert sum(comm.allgather(engine.run())) == len(alone[0])
    if comm.Get_rank() == 0:
        print(len(alone[0]), hash_of(alone))


def hash_of(value):
    import hashlib
    return hashlib.sha256(repr(value).encode()).hexdigest()


def part(path):
    from mpi4py import MPI
    findings_and_messages(path, MPI.COMM_WORLD)
    engine_together(path, MPI.COMM_WORLD)


def output_of(command, folder):
    done = subprocess.run(command, cwd=folder, env=STOCK.environment, capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    print(f"{' '.join(command)}: {done.stdout}", end="")
    return done.stdout


def under_mpirun(processes, *program):
    return STOCK.launch(processes, sys.executable, "-m", "mpi4py", *program)


def check_same(answers):
    if len(answers) != 1 or not answers.pop().strip():
        sys.exit("the answers differ")


def main(document):
    with tempfile.TemporaryDirectory(prefix="fathom-together-") as folder:
        subprocess.run([os.environ["FATHOM_TRACE_GENERATE"], os.path.join(folder, "r1"), "--ranks", "5", "--events", "20000"],
                       check=True, capture_output=True)
        check_same({output_of(under_mpirun(processes, os.path.abspath(__file__), "r1"), folder) for processes in (1, 2, 3, 7)})
        example, = (one for one in check_examples.examples_of(document) if "fathom.Engine(" in one)
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as program:
            program.write(example)
        answers = {output_of(under_mpirun(processes, "program.py"), folder) for processes in (1, 2, 3)}
        answers.add(output_of([sys.executable, "program.py"], folder))
        answers.add(output_of([sys.executable, "-c", WITHOUT_MPI4PY, "program.py"], folder))
        answers.add(output_of(STOCK.launch(1, sys.executable, "-c", WITHOUT_MPI4PY, "program.py"), folder))
        check_same(answers)


if __name__ == "__main__":
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        print("skipped: python3-mpi4py is not installed")
        sys.exit(77)
    main(sys.argv[1]) if sys.argv[1].endswith(".md") else part(sys.argv[1])
