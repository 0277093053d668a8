#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes rankmap/layouts/ from Open MPI's internal headers.

For developers, when a new release of Open MPI is to be supported. The headers are those that
`make install --with-devel-headers` or Debian's libopenmpi-dev installs. One file holds for all
releases whose structures are the same; a release that differs needs a file and a row in LAYOUTS
below, and one in layouts/all.h. Where a value of layouts/common.h differs too, the script names it:
it then has to become a member of Layout.

  write_layouts.py 5.0.7 INCLUDE         writes every layout that follows from these headers
  write_layouts.py --check 5.0.7 INCLUDE compares instead, and fails on a difference

INCLUDE is the folder that holds mpi.h. --also adds include folders, for pmix.h (libpmix-dev).
"""
import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Every layout: releases, the release whose headers it is made from, and what is changed in them first.
# The field goes to the end of what Fathom reads, because functions in the header use it.
NO_INDEX_VECTOR = ('ompi/communicator/communicator.h',
                   r'(?s)(\n[^\n]*\bc_index_vec;)(.*?\bmca_coll_base_comm_coll_t \*c_coll;)', r'\2\1')
NO_FAULT_TOLERANCE = ('opal_config.h', r'(#define OPAL_ENABLE_FT_MPI) 1', r'\1 0')
LAYOUTS = {
    'openmpi_4_1': {
        'from': '4.1', 'first': (4, 1, 0), 'last': (4, 1, 8), 'changes': []},
    'openmpi_5_0_0': {
        'from': '5.0.7', 'first': (5, 0, 0), 'last': (5, 0, 6), 'changes': [NO_INDEX_VECTOR],
        'how': 'without the field c_index_vec, which 5.0.7 inserted into the communicator'},
    'openmpi_5_0_7': {
        'from': '5.0.7', 'first': (5, 0, 7), 'last': (5, 0, 10), 'changes': []},
    'openmpi_5_0_0_noft': {
        'from': '5.0.7', 'first': (5, 0, 0), 'last': (5, 0, 6),
        'changes': [NO_INDEX_VECTOR, NO_FAULT_TOLERANCE],
        'how': 'without the field c_index_vec, which 5.0.7 inserted into the communicator, and as '
               'configure --with-ft=no leaves them'},
    'openmpi_5_0_7_noft': {
        'from': '5.0.7', 'first': (5, 0, 7), 'last': (5, 0, 10), 'changes': [NO_FAULT_TOLERANCE],
        'how': 'as configure --with-ft=no leaves them'},
    'openmpi_6_0': {
        'from': '6.0.0', 'first': (6, 0, 0), 'last': (6, 0, 0), 'changes': []},
}

# opal_config.h of Open MPI 5 includes these, and no package installs them. From what they define,
# only the sizes of the two types matter, because both sit inside structures.
THREADS = {
    'threads_pthreads.h': '',
    'threads_pthreads_threads.h': 'typedef struct opal_thread_t opal_thread_t;\n',
    'threads_pthreads_mutex.h': '''#include <pthread.h>
#include <stdbool.h>
typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;
#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER
int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t*, bool);
void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t*);
int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t*);
void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t*);
void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t*);
int opal_thread_internal_cond_init(opal_thread_internal_cond_t*);
void opal_thread_internal_cond_wait(opal_thread_internal_cond_t*, opal_thread_internal_mutex_t*);
void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t*);
void opal_thread_internal_cond_signal(opal_thread_internal_cond_t*);
void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t*);
'''}


def changed_headers(include, where, changes):
    """A copy of the headers, completed and with the changes made."""
    headers = pathlib.Path(where) / 'include'
    shutil.copytree(include, headers)
    internal = headers / 'openmpi'
    threads = internal / 'opal/mca/threads/pthreads'
    for name, text in THREADS.items():
        if threads.parent.exists() and not (threads / name).exists():
            threads.mkdir(exist_ok=True)
            (threads / name).write_text('#pragma once\n' + text)
    for name, pattern, replacement in changes:
        path = internal / name
        text, found = re.subn(pattern, replacement, path.read_text())
        if found != 1:
            sys.exit(f'{name}: {found} places match {pattern}, expected one')
        path.write_text(text)
    return headers


def probed(compiler, include, also, changes):
    """{'common': text, 'layout': text}: what the probe prints for these headers."""
    with tempfile.TemporaryDirectory() as where:
        headers = changed_headers(include, where, changes)
        program = pathlib.Path(where) / 'probe'
        folders = [headers, headers / 'openmpi', *also]
        subprocess.run([compiler, '-w', *(f'-I{folder}' for folder in folders),
                        HERE / 'layout_probe.c', '-o', program], check=True)
        return {what: subprocess.run([program, what], check=True, capture_output=True, text=True).stdout
                for what in ('common', 'layout')}


def wrapped(text):
    lines, line = [], '//'
    for word in text.split():
        if len(line) + len(word) + 1 > 100:
            lines.append(line)
            line = '//'
        line += ' ' + word
    return '\n'.join([*lines, line])


def dotted(version):
    return '.'.join(map(str, version))


def layout_file(name, members):
    row = LAYOUTS[name]
    first, last = row['first'], row['last']
    releases = dotted(first) if first == last else f'{dotted(first)} to {dotted(last)}'
    how = f', {row["how"]}' if 'how' in row else ''
    fault_tolerance = ', built without fault tolerance' if name.endswith('_noft') else ''
    made = wrapped(f'Open MPI {releases}{fault_tolerance}. Written by rankmap/write_layouts.py from '
                   f'the internal headers of Open MPI {row["from"]}{how}. Do not edit.')
    constant = 'kOpenMpi_' + name.removeprefix('openmpi_')
    return (f'// SPDX-License-Identifier: BSD-3-Clause\n{made}\n#pragma once\n\n'
            '#include "rankmap/layouts/layout.h"\n\nnamespace fathom::openmpi {\n\n'
            f'inline constexpr Layout {constant}{{\n'
            f'    .first = {{{first[0]}, {first[1]}, {first[2]}}},\n'
            f'    .last = {{{last[0]}, {last[1]}, {last[2]}}},\n'
            f'{members}}};\n\n}}  // namespace fathom::openmpi\n')


def common_file(constants):
    made = wrapped('What Fathom reads at the same place in every release that it knows. Written by '
                   'rankmap/write_layouts.py from the internal headers of Open MPI, and equal for all '
                   'layouts in this folder. Do not edit.')
    return (f'// SPDX-License-Identifier: BSD-3-Clause\n{made}\n#pragma once\n\n#include <cstddef>\n\n'
            f'namespace fathom::openmpi {{\n{constants}\n}}  // namespace fathom::openmpi\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help='compare with the files instead of writing them')
    parser.add_argument('--also', action='append', default=[], help='another folder of headers')
    parser.add_argument('--compiler', default='cc')
    parser.add_argument('release', help='the release of the headers, as in LAYOUTS: ' +
                        ', '.join(sorted({row['from'] for row in LAYOUTS.values()})))
    parser.add_argument('include', help='the folder that holds mpi.h')
    arguments = parser.parse_args()
    rows = {name: row for name, row in LAYOUTS.items() if row['from'] == arguments.release}
    if not rows:
        parser.error(f'no layout is made from the headers of {arguments.release}')
    common, different = HERE / 'layouts/common.h', []
    for name, row in rows.items():
        printed = probed(arguments.compiler, arguments.include, arguments.also, row['changes'])
        files = {common: common_file(printed['common']),
                 HERE / f'layouts/{name}.h': layout_file(name, printed['layout'])}
        for path, text in files.items():
            there = path.read_text() if path.exists() else ''
            if there == text:
                continue
            lines = difflib.unified_diff(there.splitlines(), text.splitlines(), str(path), name, lineterm='', n=0)
            if arguments.check or (path == common and there):
                different += lines
            else:
                path.write_text(text)
    if different:
        print('\n'.join(different))
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
