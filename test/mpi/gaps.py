#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the profiler cannot see is said, with the place and the reason, and what a killed process left out is
filled in from its peers.

usage: gaps.py BINARIES LIBFATHOM FATHOM
On Debian's Open MPI, which has coll/sm and osc/rdma. Last line: "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import open_mpi  # noqa: E402

BINARIES, LIBRARY, FATHOM = (os.path.abspath(path) for path in sys.argv[1:4])
STOCK = open_mpi.stock()


def profiled(program, *arguments, mca=()):
    """The profile of a 4-rank run, and its exit code."""
    with tempfile.TemporaryDirectory() as where:
        run = os.path.join(where, 'run')
        os.mkdir(os.path.join(where, 'expect'))
        launch = STOCK.launch(4, '-x', f'LD_PRELOAD={LIBRARY}', '-x', f'FATHOM_OUTPUT={run}',
                              '-x', f'EXPECT_DIR={where}/expect')
        for name, value in mca:
            launch += ['--mca', name, value]
        code = subprocess.run(launch + [os.path.join(BINARIES, program), *arguments], env=STOCK.environment, cwd=where,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False).returncode
        subprocess.run([FATHOM, 'report', run], env=STOCK.environment, capture_output=True, timeout=60, check=False)
        with open(os.path.join(run, 'profile.json'), encoding='utf-8') as file:
            return json.load(file), code


def collectives_in_shared_memory_are_named():
    profile, code = profiled('linear', mca=[('coll_sm_priority', '95')])
    gaps = {(gap['function'], gap['module']) for gap in profile['coverage']['not_visible']}
    assert code == 0, code
    for function in ('MPI_Barrier', 'MPI_Bcast', 'MPI_Allreduce'):
        assert (function, 'coll/sm') in gaps, gaps
    assert all(gap['calls'] > 0 and gap['reason'] for gap in profile['coverage']['not_visible'])
    visible = {entry['class'] for entry in profile['traffic']}
    assert 'MPI_Barrier' not in visible, 'coll/sm sends nothing for a barrier'


def the_module_of_one_sided_operations_is_named():
    profile, code = profiled('rma', 'create')
    assert code == 0, code
    modules = {gap['module'] for gap in profile['coverage']['not_visible'] if gap['function'] == 'one-sided'}
    assert all(module.startswith('osc/') for module in modules) and modules, modules


def a_killed_rank_is_filled_in_from_its_peers():
    profile, code = profiled('ending', 'sigkill')
    assert code == 137, code
    silent = [rank['rank'] for rank in profile['ranks'] if rank.get('reported') is False]
    assert len(silent) == 1 and str(silent[0]) in profile['coverage']['cut_short'], (silent, profile['coverage'])
    assert profile['coverage']['verdict'] == 'incomplete'
    touching = [(source, destination) for entry in profile['traffic']
                for source, destination in zip(entry['source'], entry['destination'])
                if silent[0] in (source, destination)]
    assert any(source == silent[0] for source, _ in touching), 'what it sent, its receivers counted'
    assert any(destination == silent[0] for _, destination in touching), 'what it received, its senders counted'


def unfinished_job_leaves_rows(program, *arguments):
    profile, code = profiled(program, *arguments)
    assert code != 0, code
    assert profile['coverage']['cut_short'], profile['coverage']
    assert any(rank.get('reported', True) for rank in profile['ranks']), 'no rank left its counts'


def the_first_process_to_end_does_not_cut_its_neighbours_short():
    """mpirun's grace between SIGTERM and SIGKILL ends with the first process's end: one run in five lost rows."""
    for _ in range(5):
        profile, _ = profiled('ending', 'sigkill')
        reported = [rank['rank'] for rank in profile['ranks'] if rank.get('reported', True)]
        assert len(reported) == 3, (reported, profile['coverage'])


def a_vfork_child_does_not_disarm_the_rescue():
    unfinished_job_leaves_rows('leaves', 'vfork')


def a_job_ended_by_an_alarm_leaves_rows():
    unfinished_job_leaves_rows('leaves', 'alarm')


def a_crash_of_a_gfortran_program_leaves_rows():
    unfinished_job_leaves_rows('f_crash')


def a_partly_preloaded_job_ends():
    """Only rank 0, or all but rank 0, run with the library: the job ends as it would have."""
    with tempfile.TemporaryDirectory() as where:
        program = os.path.join(BINARIES, 'sendrecv')
        library = ['-x', f'LD_PRELOAD={LIBRARY}', '-x', f'FATHOM_OUTPUT={where}/run']
        for first, rest in ((library, []), ([], library)):
            done = subprocess.run(STOCK.launch(1, '-x', f'EXPECT_DIR={where}', *first, program,
                                               ':', '-n', '3', '-x', f'EXPECT_DIR={where}', *rest, program),
                                  env=STOCK.environment, cwd=where, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60, check=False)
            assert done.returncode == 0, done


def main():
    failed = 0
    tests = [collectives_in_shared_memory_are_named, the_module_of_one_sided_operations_is_named,
             a_killed_rank_is_filled_in_from_its_peers, the_first_process_to_end_does_not_cut_its_neighbours_short,
             a_vfork_child_does_not_disarm_the_rescue, a_job_ended_by_an_alarm_leaves_rows,
             a_crash_of_a_gfortran_program_leaves_rows, a_partly_preloaded_job_ends]
    for test in tests:
        try:
            test()
            print(f'ok   {test.__name__}')
        except (AssertionError, OSError, KeyError, subprocess.TimeoutExpired) as problem:
            failed += 1
            print(f'FAIL {test.__name__}: {problem!r}')
    print(f'{len(tests) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
