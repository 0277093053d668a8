#!/usr/bin/env python3
"""Writes the MPI entry points and the list of classes from mpi_functions.table.

usage: generate_wrappers.py TABLE wrappers OUTPUT.cpp
       generate_wrappers.py TABLE classes OUTPUT.h
"""
import re
import sys
from dataclasses import dataclass


@dataclass
class Function:
    role: str
    options: dict
    name: str
    parameters: str  # as in the prototype

    @property
    def arguments(self):
        return ', '.join(argument_name(p) for p in split(self.parameters))

    @property
    def class_name(self):
        return self.options.get('class', self.name)

    @property
    def constant(self):
        return 'k' + self.class_name.removeprefix('MPI_')


def split(parameters):
    return [] if parameters in ('void', '') else [p.strip() for p in parameters.split(',')]


def argument_name(parameter):
    return re.search(r'(\w+)\s*(\[\])*$', parameter).group(1)


def read(path):
    functions = []
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if line.startswith('#') or not line.strip():
            continue
        match = re.fullmatch(r'(\w+)\s+(.*?)\s*int (MPIX?_\w+)\((.*)\)\n', line)
        if not match:
            sys.exit(f'{path}:{number}: expected "role options int MPI_Name(parameters)"')
        role, options, name, parameters = match.groups()
        pairs = dict(o.split('=') for o in options.split() if o != '-')
        functions.append(Function(role, pairs, name, parameters))
    return functions


def collectives(functions):
    return [f for f in functions if f.role in ('blocking', 'nonblocking', 'persistent')]


def null_comm(value):
    return 'nullptr' if value == '-' else value


def body(f):
    """The statements between the look-up of the real function and the return."""
    o = f.options
    call = f'return next({f.arguments});'
    if f.role in ('blocking', 'nonblocking', 'persistent'):
        module = o.get('module', '-')
        offset = 'hooks::kNoModule' if module == '-' else f'openmpi::kModule_{module}'
        kind = {'blocking': 'BlockingCall', 'nonblocking': 'NonblockingCall',
                'persistent': 'PersistentInit'}[f.role]
        return [f'hooks::{kind} call(comm, {f.constant}, {offset});', call]
    if f.role == 'constructor':
        return [f'hooks::ConstructorCall call("{f.name}", {null_comm(o["parent"])}, '
                f'{null_comm(o.get("other", "-"))}, {o.get("tag", "-1")});',
                f'const int result = next({f.arguments});',
                f'if (result == MPI_SUCCESS) call.made(*{o["new"]});', 'return result;']
    if f.role == 'window':
        return [f'hooks::WindowCall call("{f.name}", {o["parent"]});',
                f'const int result = next({f.arguments});',
                f'if (result == MPI_SUCCESS) call.made(*{o["new"]});', 'return result;']
    if f.role == 'file':
        return [f'hooks::FileCall call("{f.name}", {o["parent"]});', call]
    if f.role == 'destructor':
        return ['hooks::communicator_freed(comm);', call]
    if f.role == 'request_free':
        return ['hooks::request_freed(request);', call]
    if f.role == 'window_free':
        return ['hooks::window_freed(win);', call]
    if f.role == 'rma':
        if 'origin_count' in f.parameters:
            outgoing = 'origin_count, origin_datatype'
        else:
            outgoing = '1, datatype'
        incoming = 'result_count, result_datatype' if 'result_count' in f.parameters else outgoing
        op = 'op' if re.search(r'MPI_Op op\b', f.parameters) else 'nullptr'
        moved = {'put': f'hooks::put(win, target_rank, {outgoing});',
                 'get': f'hooks::get(win, target_rank, {outgoing});',
                 'both': f'hooks::exchange(win, target_rank, {outgoing}, {incoming}, {op});'}
        return [f'const int result = next({f.arguments});',
                f'if (result == MPI_SUCCESS) {moved[o["moves"]]}', 'return result;']
    arguments = f', {f.arguments}' if f.arguments else ''
    return [f'return hooks::{f.role}(next{arguments});']


def wrapper(f):
    short = f.name.removeprefix('MPI_').removeprefix('MPIX_')
    prefix = 'PMPIX_' if f.name.startswith('MPIX_') else 'PMPI_'
    pmpi = prefix + short
    variadic = '...' in f.parameters
    parameters = f.parameters.replace(', ...', '')
    arguments = f.arguments if not variadic else argument_name(split(parameters)[0])
    shape = f'int (*)({f.parameters})'
    f = Function(f.role, f.options, f.name, parameters)
    more = ', ' + parameters if parameters not in ('', 'void') else ''
    passed = ', ' + arguments if arguments else ''
    lines = [f'constinit Next<{shape}> next_{short}{{"{pmpi}"}};',
             f'constinit Next<{shape}> tool_{short}{{"{f.name}"}};',
             f'int wrapped_{short}({shape.replace("(*)", "(*next)")}{more}) {{']
    lines += ['  ' + statement for statement in body(f)]
    lines += ['}', '']
    signature = parameters + (', ...' if variadic else '')
    exported = [f'FATHOM_EXPORT int {pmpi}({signature}) {{',
                f'  const auto library = next_{short}.library();',
                '  if (library == nullptr) return MPI_ERR_OTHER;',
                f'  if (Chain::holds(&next_{short})) return library({arguments});',
                f'  return wrapped_{short}(library{passed});', '}',
                f'FATHOM_EXPORT int {f.name}({signature}) {{',
                f'  if (const auto tool = tool_{short}.other_tool()) {{',
                f'    const Chain chain(&next_{short});',
                f'    return wrapped_{short}(tool{passed});', '  }',
                f'  return {pmpi}({arguments});', '}', '']
    return '\n'.join(lines), '\n'.join(exported)


def wrappers(functions):
    pairs = [wrapper(f) for f in functions]
    return '\n'.join([
        '// Generated by profiler/generate_wrappers.py from mpi_functions.table. Do not edit.',
        '#define OMPI_SKIP_MPICXX 1', '#include <mpi.h>', '#include <mpi-ext.h>', '',
        '#include "openmpi_layout.h"', '#include "profiler/hooks.h"', '#include "profiler/next.h"', '',
        'namespace fathom::profiler {', 'namespace {', '', *[p[0] for p in pairs], '}  // namespace', '',
        'extern "C" {', '', *[p[1] for p in pairs], '}  // extern "C"', '',
        '}  // namespace fathom::profiler', ''])


def classes(functions):
    known = collectives(functions)
    names = ['"point-to-point"', '"one-sided"', '"io"', '"library"'] + [
        f'"{f.class_name}"' for f in known]
    return '\n'.join([
        '// Generated by profiler/generate_wrappers.py from mpi_functions.table. Do not edit.',
        '#pragma once', '', '#include <cstdint>', '', 'namespace fathom::profiler {', '',
        'enum Class : std::uint32_t {', '  kPointToPoint,', '  kOneSided,', '  kIo,', '  kLibrary,',
        *[f'  {f.constant},' for f in known], '  kClassCount,', '};', '',
        'inline constexpr const char* kClassNames[] = {', *[f'    {n},' for n in names], '};', '',
        '}  // namespace fathom::profiler', ''])


def main():
    table, what, output = sys.argv[1:]
    text = {'wrappers': wrappers, 'classes': classes}[what](read(table))
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main()
