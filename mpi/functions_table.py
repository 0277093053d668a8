# SPDX-License-Identifier: BSD-3-Clause
"""Reads functions.table, one row per MPI function, for generators at build time and for tests."""
import re
import sys
from dataclasses import dataclass, replace

GROUPS = {'blocking': 'collective', 'nonblocking': 'collective', 'persistent': 'collective',
          'constructor': 'communicator', 'destructor': 'communicator', 'window': 'onesided',
          'window_free': 'onesided', 'rma': 'onesided', 'file': 'io', 'request_free': 'other',
          'init': 'environment', 'init_thread': 'environment', 'finalize': 'environment',
          'abort': 'environment', 'pcontrol': 'environment', 'session_init': 'environment',
          'session_finalize': 'environment', 'unrecorded': 'other'}

# Parameters that MPI_Count and MPI_Aint replace in the form for large counts (MPI 4.0, 2.5.8).
COUNTS = re.compile(r'\w*counts?|target_cout|insize|outsize|position|stride|(true_)?(lb|extent)|start_array|'
                    r'(array_of_)?block_?lengths?|array_of_displacements|(g|sub)?size_array')
DISPLACEMENTS = re.compile(r'[sr]?displs|disp_unit')

# What a function's operation can wait for: option waits= of its row. In words for docs/analysis.md.
WAITS = {
    'sender': 'the process that sends the message',
    'receiver': 'the process that receives the message: a synchronous send always, others if the library does not '
                'send the message before its receive is posted',
    'requests': 'whatever the operations of its requests wait for',
    'polling': 'nothing; but a loop of calls that fail waits for what the call that succeeds has found',
    'members': 'the last member of the communicator to enter',
    'root': 'the root, everywhere else',
    'others': 'at the root, the last of the others to enter',
    'lower': 'the last to enter of the lower ranks',
    'neighbours': 'the last to enter of the neighbours that it receives from, and of those that it sends to if the library does not send a message before its receive is posted',
    'new': 'the last member of the communicator that it makes to enter',
    'spawned': 'the processes that it starts',
    'job': 'the last process of the job to enter',
    'window': 'the last process of the window to enter',
    'file': 'the last process that has the file open to enter',
    'pointer': 'the process that is moving the shared file pointer',
    'post': 'the targets, until they post',
    'complete': 'the origins, until they complete',
    'lock': 'the process that holds the lock',
    'target': 'the targets, for whatever the library has put off: a lock, a post, or their help',
    'buffer': 'the receivers of buffered messages',
    'session': 'the processes that the session communicated with',
    'never': 'nobody',
}


@dataclass
class Function:
    role: str
    options: dict
    returned: str
    name: str
    parameters: str  # as in the prototype
    small: 'Function' = None  # of the form for large counts: the function with int counts

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
        return replace(self, parameters=self.parameters.replace(', ...', words))

    def large(self):
        """The form for large counts: MPI_X_c of MPI_X."""
        sizes = self.options['large'].split(',')[1:]
        parameters = ', '.join(large_parameter(p, sizes) for p in split(self.parameters))
        options = {name: value for name, value in self.options.items() if name not in ('large', 'formerly')}
        return replace(self, options=options, name=self.name + '_c', parameters=parameters, small=self)

    @property
    def constant(self):
        """Of the class of its messages. Both forms have one class: members may call either."""
        return 'k' + (self.small or self).short

    @property
    def group(self):
        return self.options.get('group') or GROUPS[self.role]

    @property
    def waits(self):
        """What its operation can wait for: keys of WAITS."""
        return self.options['waits'].split(',')

    @property
    def frees_object(self):
        """Whether it frees a window or file, which its members can then no longer name."""
        return self.role == 'window_free' or 'frees' in self.options

    @property
    def in_sequence(self):
        """Whether all members of a communicator call it in the same order."""
        return self.role in ('blocking', 'nonblocking') or 'members' in self.waits and self.role != 'persistent'

    @property
    def makes_request(self):
        """Whether the call returns a request that it was not given."""
        types = typed(self.parameters)
        return ('MPI_Request*' in types.values() and
                self.role not in ('completion', 'request_free') and 'request' not in self.options)


def split(parameters):
    return [] if parameters in ('void', '') else [p.strip() for p in parameters.split(',')]


def large_parameter(parameter, sizes):
    """A parameter of the form for large counts; `sizes`: names of further counts."""
    name = argument_name(parameter)
    if re.search(r'(User|conversion)_function \*', parameter):
        return parameter.replace('_function *', '_function_c *')
    if name in sizes or COUNTS.fullmatch(name):
        return re.sub(r'\b(int|MPI_Aint)\b', 'MPI_Count', parameter)
    if DISPLACEMENTS.fullmatch(name):
        return re.sub(r'\bint\b', 'MPI_Aint', parameter)
    return parameter


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
    """Every row, including those of functions that no library wraps (role `unrecorded`), and after a row with
    large= its form for large counts."""
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
        unknown = [word for word in pairs.get('waits', '(nothing)').split(',') if word not in WAITS]
        if unknown:
            sys.exit(f'{path}:{number}: waits={unknown[0]} is not one of {", ".join(WAITS)}')
        functions.append(Function(role, pairs, returned, name, parameters))
        if 'large' in pairs:
            functions.append(functions[-1].large())
    return functions
