#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the profiler cannot see is said, with the place and the reason, and what a killed process left out is
filled in from its peers.

usage: gaps.py BINARIES LIBFATHOM FATHOM
On each Open MPI of open_mpi.tested() without PERUSE: Debian's have coll/sm, or in 6.0 coll/acoll, and osc/rdma. Last line:
"N passed, N failed, N skipped".
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import open_mpi  # noqa: E402

BINARIES, LIBRARY, FATHOM = (os.path.abspath(path) for path in sys.argv[1:4])


def profiled(build, program, *arguments, mca=()):
    """The profile of a 4-rank run, and its exit code."""
    with tempfile.TemporaryDirectory() as where:
        run = os.path.join(where, 'run')
        os.mkdir(os.path.join(where, 'expect'))
        launch = build.launch(4, '-x', f'LD_PRELOAD={LIBRARY}', '-x', f'FATHOM_OUTPUT={run}',
                              '-x', f'EXPECT_DIR={where}/expect')
        for name, value in mca:
            launch += ['--mca', name, value]
        code = subprocess.run(launch + [build.program(os.path.join(BINARIES, program)), *arguments], env=build.environment, cwd=where,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False).returncode
        subprocess.run([FATHOM, 'report', run], env=build.environment, capture_output=True, timeout=60, check=False)
        with open(os.path.join(run, 'profile.json'), encoding='utf-8') as file:
            return json.load(file), code


def collectives_in_shared_memory_are_named(build):
    if build.series == 6:
        module, mca = 'coll/acoll', [('coll_acoll_priority', '95'), ('coll_acoll_comm_size_thresh', '2')]
    else:
        module, mca = 'coll/sm', [('coll_sm_priority', '95')]
    profile, code = profiled(build, 'linear', mca=mca)
    gaps = {(gap['function'], gap['module']) for gap in profile['coverage']['not_visible']}
    assert code == 0, code
    for function in ('MPI_Barrier', 'MPI_Bcast', 'MPI_Allreduce'):
        assert (function, module) in gaps, gaps
    assert all(gap['calls'] > 0 and gap['reason'] for gap in profile['coverage']['not_visible'])
    if module == 'coll/sm':  # acoll also sends messages
        visible = {entry['class'] for entry in profile['traffic']}
        assert 'MPI_Barrier' not in visible, 'coll/sm sends nothing for a barrier'


def the_module_of_one_sided_operations_is_named(build):
    profile, code = profiled(build, 'rma', 'create')
    assert code == 0, code
    modules = {gap['module'] for gap in profile['coverage']['not_visible'] if gap['function'] == 'one-sided'}
    assert all(module.startswith('osc/') for module in modules) and modules, modules


def a_killed_rank_is_filled_in_from_its_peers(build):
    profile, code = profiled(build, 'ending', 'sigkill')
    assert code == 137, code
    silent = [rank['rank'] for rank in profile['ranks'] if rank.get('reported') is False]
    assert len(silent) == 1 and str(silent[0]) in profile['coverage']['cut_short'], (silent, profile['coverage'])
    assert profile['coverage']['verdict'] == 'incomplete'
    touching = [(source, destination) for entry in profile['traffic']
                for source, destination in zip(entry['source'], entry['destination'])
                if silent[0] in (source, destination)]
    assert any(source == silent[0] for source, _ in touching), 'what it sent, its receivers counted'
    assert any(destination == silent[0] for _, destination in touching), 'what it received, its senders counted'


def unfinished_job_leaves_rows(build, program, *arguments):
    profile, code = profiled(build, program, *arguments)
    assert code != 0, code
    assert profile['coverage']['cut_short'], profile['coverage']
    assert any(rank.get('reported', True) for rank in profile['ranks']), 'no rank left its counts'


def the_first_process_to_end_does_not_cut_its_neighbours_short(build):
    """mpirun's grace between SIGTERM and SIGKILL ends with the first process's end: one run in five lost rows."""
    for _ in range(5):
        profile, _ = profiled(build, 'ending', 'sigkill')
        reported = [rank['rank'] for rank in profile['ranks'] if rank.get('reported', True)]
        assert len(reported) == 3, (reported, profile['coverage'])


def a_vfork_child_does_not_disarm_the_rescue(build):
    unfinished_job_leaves_rows(build, 'leaves', 'vfork')


def a_job_ended_by_an_alarm_leaves_rows(build):
    unfinished_job_leaves_rows(build, 'leaves', 'alarm')


def a_crash_of_a_gfortran_program_leaves_rows(build):
    unfinished_job_leaves_rows(build, 'f_crash')


def a_partly_preloaded_job_ends(build):
    """Only rank 0, or all but rank 0, run with the library: the job ends as it would have."""
    with tempfile.TemporaryDirectory() as where:
        program = build.program(os.path.join(BINARIES, 'sendrecv'))

        def job(first, rest):
            return subprocess.run(build.launch(1, '-x', f'EXPECT_DIR={where}', *first, program,
                                               ':', '-n', '3', '-x', f'EXPECT_DIR={where}', *rest, program),
                                  env=build.environment, cwd=where, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60, check=False)

        native = job([], [])
        if native.returncode == -signal.SIGSEGV:
            raise open_mpi.Skipped('natively, mpirun of Debian\'s 5.0.7 crashes where several programs are one job')
        assert native.returncode == 0, native
        library = ['-x', f'LD_PRELOAD={LIBRARY}', '-x', f'FATHOM_OUTPUT={where}/run']
        for first, rest in ((library, []), ([], library)):
            done = job(first, rest)
            assert done.returncode == 0, done


TESTS = [collectives_in_shared_memory_are_named, the_module_of_one_sided_operations_is_named,
         a_killed_rank_is_filled_in_from_its_peers, the_first_process_to_end_does_not_cut_its_neighbours_short,
         a_vfork_child_does_not_disarm_the_rescue, a_job_ended_by_an_alarm_leaves_rows,
         a_crash_of_a_gfortran_program_leaves_rows, a_partly_preloaded_job_ends]

if __name__ == '__main__':
    without_peruse = [open_mpi.OpenMpi(row) for row in open_mpi.tested() if not row.has_peruse]
    sys.exit(open_mpi.report_cases(
        without_peruse, lambda build: {test.__name__: lambda _, test=test: test(build) for test in TESTS}))
