# SPDX-License-Identifier: BSD-3-Clause
"""What the trace library records of a call: its attributes at enter and at leave.

They follow from parameter names and types, by MPI's own naming (`dest`, `tag`, `comm`,
`origin_count` …); a row of the table adds what these do not show. Names, widths and packing of
attributes are defined in trace/format/format.h, the expressions in traced_call.h and
profiler/calls/arguments.h.
"""
import pathlib
import sys
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'mpi'))
from functions_table import typed  # noqa: E402

WIDE = ('request', 'win', 'file', 'offset', 'message')  # 8 bytes; the others take 4

# (count, datatype) of what is sent, posted or moved; LENGTHS2: of the other side, if there is one.
LENGTHS = (('sendcount', 'sendtype'), ('origin_count', 'origin_datatype'), ('count', 'datatype'),
           ('count', 'type'), ('incount', 'datatype'), ('outcount', 'datatype'))
LENGTHS2 = (('recvcount', 'recvtype'), ('result_count', 'result_datatype'))

COUNT = ('int', 'MPI_Count')


@dataclass
class Attribute:
    name: str        # as in the definitions
    expression: str  # C++; 64 bits wide for lengths


def first_of(types, wanted):
    return next((name for name, kind in types.items() if kind == wanted), None)


def communicator(f, types):
    if name := first_of(types, 'MPI_Comm'):
        return f'communicator({name})'
    if f.role == 'destructor':
        return f'communicator(given({first_of(types, "MPI_Comm*")}))'
    if name := first_of(types, 'MPI_Win'):
        return f'communicator_of({name})'
    if (name := first_of(types, 'MPI_Message*')) and f.group == 'receive':
        return f'communicator_of(given({name}))'
    return 'communicator_of(given(win))' if f.role == 'window_free' else None


def tag(f, types):
    """That of a non-blocking neighbourhood collective is its messages': nothing else says which of several they are of."""
    if 'sendtag' in types:
        return 'native_tag(sendtag)'
    if f.role in ('nonblocking', 'persistent') and f.options['operation'].startswith('neighbor_'):
        return 'tag_of_next_collective(comm)'
    return 'native_tag(tag)' if types.get('tag') == 'int' else None


def peer(f, types):
    for name in ('dest', 'target_rank', 'source'):
        if types.get(name) == 'int':
            return name
    return 'rank' if f.group == 'onesided' and types.get('rank') == 'int' else None


def lengths(f, types):
    """Expressions of `bytes` and `bytes2`; None for those that the call does not have."""
    if f.role in ('blocking', 'nonblocking', 'persistent'):
        if f.options['operation'] == 'barrier':
            return None, None
        passed = [name for name, kind in types.items() if kind not in ('MPI_Request*', 'MPI_Info')]
        return f'sent::{f.options["operation"]}({", ".join(passed)})', None
    if f.role == 'rma' and 'origin_count' not in types:
        first = 'bytes_unless_no_op(op, 1, datatype)' if 'op' in types else 'bytes(1, datatype)'
        return first, 'bytes(1, datatype)'
    first = second = None
    for count, datatype in LENGTHS:
        if types.get(count) in COUNT and types.get(datatype) == 'MPI_Datatype':
            how_many = f'partitions * {count}' if 'partitions' in types else count
            first = f'bytes({how_many}, {datatype})'
            break
    if first and types.get('op') == 'MPI_Op' and f.role == 'rma':
        first = first.replace('bytes(', 'bytes_unless_no_op(op, ')
    for count, datatype in LENGTHS2:
        if types.get(count) in COUNT and types.get(datatype) == 'MPI_Datatype':
            second = f'bytes({count}, {datatype})'
    if 'sendtag' in types and second is None:  # one buffer for both
        second = first
    return first, second


def at_enter(f):
    types = typed(f.parameters)
    bytes1, bytes2 = lengths(f, types)
    comm = communicator(f, types)
    both = 'sendtag' in types  # sends and receives
    request = first_of(types, 'MPI_Request')
    if f.role == 'request_free' or f.options.get('request') == 'enter':
        request = f'given({first_of(types, "MPI_Request*")})'
    file = first_of(types, 'MPI_File') or (
        'given(fh)' if f.role != 'file' and 'MPI_File*' in types.values() else None)
    window = first_of(types, 'MPI_Win') or ('given(win)' if f.role == 'window_free' else None)
    offset = next((name for name, kind in types.items()
                   if kind == 'MPI_Offset' and name in ('offset', 'disp') or name == 'target_disp'), None)
    count = next((name for name in ('count', 'incount') if name in types), None)
    other = peer(f, types)
    message = first_of(types, 'MPI_Message*')
    lock = (f'kind_of_lock({"lock_type" if "lock_type" in types else "0"}, assert)'
            if f.options.get('lock') == 'lock' else None)
    found = [('comm', comm), ('peer', comm and other and f'native_rank({other})'),
             ('tag', comm and tag(f, types)), ('bytes', bytes1),
             ('root', 'native_rank(root)' if types.get('root') == 'int' else None),
             ('peer2', 'native_rank(source)' if both else None),
             ('tag2', 'native_tag(recvtag)' if both else None), ('bytes2', bytes2),
             ('count', count if 'array_of_requests' in types else None), ('lock', lock),
             ('request', request and f'number({request})'), ('win', window and f'number({window})'),
             ('file', file and f'number({file})'), ('offset', offset),
             ('message', message and f.group == 'receive' and f'number(given({message}))')]
    return [Attribute(name, expression) for name, expression in found if expression]


def at_leave(f):
    types = typed(f.parameters)
    found = []
    comm, request = first_of(types, 'MPI_Comm*'), first_of(types, 'MPI_Request*')
    if comm and f.role != 'destructor':
        found.append(('newcomm', f'communicator(given({comm}))', '~0u'))
    if types.get('flag') == 'int*':
        found.append(('flag', 'given(flag)', '~0u'))
    elif 'sees' in f.options:
        found.append(('flag', 'static_cast<int>(given(outcount)) > 0', '~0u'))
    if f.role == 'completion' and 'array_of_requests' in types:
        found.append(('completed', 'ended.completed', None))
    if request and f.role not in ('completion', 'request_free') and 'request' not in f.options:
        found.append(('request', f'number(given({request}))', '0'))
    if f.role == 'window':
        found.append(('win', 'number(given(win))', '0'))
    if f.role == 'file':
        found.append(('file', 'number(given(fh))', '0'))
    if (message := first_of(types, 'MPI_Message*')) and f.group == 'probe':
        number = f'number(given({message}))'
        found.append(('message', f'(given(flag) != 0 ? {number} : 0)' if 'flag' in types else number, '0'))
    return [Attribute(name, expression if none is None else f'succeeded ? {expression} : {none}')
            for name, expression, none in found]


def words(attributes):
    """The payload: 4-byte attributes two to a word, then the 8-byte ones."""
    narrow = [short(a) for a in attributes if a.name not in WIDE]
    pairs = [f'pair({", ".join(narrow[i:i + 2])})' for i in range(0, len(narrow), 2)]
    return pairs + [a.expression for a in attributes if a.name in WIDE]


def short(attribute):
    return {'bytes': 'short_bytes(bytes1)', 'bytes2': 'short_bytes(bytes2)'}.get(attribute.name, attribute.expression)


def enter_statements(f):
    attributes = at_enter(f)
    sizes = {a.name: a.expression for a in attributes if a.name in ('bytes', 'bytes2')}
    payload = ', '.join(words(attributes))
    if not sizes:
        return [f'recorded.enter({payload});']
    names = [{'bytes': 'bytes1', 'bytes2': 'bytes2'}[name] for name in sizes]
    lines = [f'const std::uint64_t {name} = {expression};' for name, expression in zip(names, sizes.values())]
    suffix = '2' if len(names) == 2 else ''
    return lines + [f'enter_sized{suffix}(recorded, {", ".join(names)}, {payload});']


def definition(number, f):
    """A line of the trace's definitions (trace/format/format.h)."""
    lists = [','.join(a.name for a in attributes) for attributes in (at_enter(f), at_leave(f))]
    return f'function {number} {f.name} {f.group} enter={lists[0]} leave={lists[1]}'
