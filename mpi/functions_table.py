# SPDX-License-Identifier: BSD-3-Clause
"""Reads functions.table, one row per MPI function, for generators at build time and for tests."""
import re
import sys
from dataclasses import dataclass

GROUPS = {'blocking': 'collective', 'nonblocking': 'collective', 'persistent': 'collective',
          'constructor': 'communicator', 'destructor': 'communicator', 'window': 'onesided',
          'window_free': 'onesided', 'rma': 'onesided', 'file': 'io', 'request_free': 'other',
          'init': 'environment', 'init_thread': 'environment', 'finalize': 'environment',
          'abort': 'environment', 'pcontrol': 'environment', 'unrecorded': 'other'}


@dataclass
class Function:
    role: str
    options: dict
    returned: str
    name: str
    parameters: str  # as in the prototype

    @property
    def arguments(self):
        return ', '.join(argument_name(p) for p in split(self.parameters))

    @property
    def short(self):
        return self.name.removeprefix('MPI_').removeprefix('MPIX_')

    @property
    def pmpi(self):
        return 'P' + self.name

    @property
    def names(self):
        """All names under which programs call it: that of the standard, and an earlier one."""
        return [self.name, *filter(None, [self.options.get('formerly')])]

    @property
    def variadic(self):
        return '...' in self.parameters

    def fixed(self):
        """The function with the words that FATHOM_MORE takes from "..." as parameters."""
        words = ''.join(f', void *more{i}' for i in range(1, 6))
        return Function(self.role, self.options, self.returned, self.name,
                        self.parameters.replace(', ...', words))

    @property
    def constant(self):
        """Of the class of its messages."""
        return 'k' + self.short

    @property
    def group(self):
        return self.options.get('group') or GROUPS[self.role]

    @property
    def makes_request(self):
        """Whether the call returns a request that it was not given."""
        types = typed(self.parameters)
        return ('MPI_Request*' in types.values() and
                self.role not in ('completion', 'request_free') and 'request' not in self.options)


def split(parameters):
    return [] if parameters in ('void', '') else [p.strip() for p in parameters.split(',')]


def argument_name(parameter):
    return re.search(r'(\w+)\s*(\[\d*\])*$', parameter).group(1)


def typed(parameters):
    """{name: type}; a trailing [] is part of the type."""
    result = {}
    for parameter in [] if parameters in ('void', '') else parameters.split(','):
        match = re.fullmatch(r'(.*?)\s*(\**)\s*(\w+)((?:\[\d*\])*)', parameter.strip())
        if match:
            name, kind = match.group(3), ' '.join(match.group(1).split())
            result[name] = kind + match.group(2) + match.group(4)
    return result


def read(path):
    """Every row, including those of functions that no library wraps (role `unrecorded`)."""
    functions = []
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if line.startswith('#') or not line.strip():
            continue
        match = re.fullmatch(r'(\w+)\s+(.*?)\s*(\w+) (MPIX?_\w+)\((.*)\)\n', line)
        if not match:
            sys.exit(f'{path}:{number}: expected "role options type MPI_Name(parameters)"')
        role, options, returned, name, parameters = match.groups()
        if role != 'unrecorded' and returned != 'int':
            sys.exit(f'{path}:{number}: a wrapper returns int')
        pairs = dict(o.split('=') for o in options.split() if o != '-')
        functions.append(Function(role, pairs, returned, name, parameters))
    return functions
