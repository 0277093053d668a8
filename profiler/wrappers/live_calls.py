# SPDX-License-Identifier: BSD-3-Clause
"""What calls say to readers of a running job (profiler/live/live_call.h): functions between a wrapper and what it calls."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'mpi'))
import call_attributes  # noqa: E402
import functions_table  # noqa: E402
from functions_table import argument_name, split  # noqa: E402
from wrapped_functions import GENERATED, NEVER_TIMED, given_requests, identifiers  # noqa: E402


def can_block(f):
    """Whether the call itself can take long, other than by computing."""
    return not f.makes_request and set(f.waits) - {'never', 'polling', ''} and \
        f.role not in (*NEVER_TIMED, 'session_init', 'session_finalize')


def is_poll(f):
    return 'polling' in f.waits and (f.role == 'completion' or f.group == 'probe' or 'sees' in f.options)


def live_poll_statements(f, called):
    """The same for a call that tests or probes and returns at once."""
    flag = 'outcount' if 'outcount' in f.parameters else 'flag'
    if f.group == 'probe':
        asked = 'communicator(comm), native_rank(source), native_tag(tag)'
    else:
        asked = given_requests(f)
    return [f'const int code = {called};', f'if (code == MPI_SUCCESS && {flag} != nullptr && *{flag} == 0) {{',
            f'  LivePoll::found_nothing({asked});', '} else {', '  LivePoll::found();', '}', 'return code;']


def live_kind(f):
    kind = {'send': 'SynchronousSend' if f.options.get('mode') == 'synchronous' else 'Send', 'receive': 'Receive',
            'probe': 'Receive'}.get(f.group, 'Collective' if f.in_sequence or f.role == 'persistent' else 'Other')
    return f'live::RequestKind::k{kind}'


def live_statements(f, called):
    """What a call says to readers of the job (profiler/live/live_call.h) around `called`."""
    found = {a.name: a.expression for a in call_attributes.at_enter(f)}
    comm, none = found.get('comm', 'live::kNoCommunicator'), 'live::kNoRank'
    first = [found.get('peer', none), found.get('tag', none), found.get('bytes', '0')]
    if f.makes_request:
        request = next(name for name, kind in functions_table.typed(f.parameters).items() if kind == 'MPI_Request*')
        sequence = ['made.is_collective();'] if f.in_sequence and 'comm' in found else []
        return [f'const LiveRequest made({", ".join([live_kind(f), comm, *first])});', *sequence,
                f'const int code = {called};', f'if (code == MPI_SUCCESS) made.made(given({request}));', 'return code;']
    said = []
    if f.group in ('send', 'receive', 'probe'):
        said = [f'call.waits_for({", ".join([live_kind(f), *first])});']
    if f.group == 'sendreceive':
        second = [found.get(name, none) for name in ('peer2', 'tag2', 'bytes2')]
        said = [f'call.waits_for({", ".join(["live::RequestKind::kSend", *first])});',
                f'call.waits_for({", ".join(["live::RequestKind::kReceive", *second])});', 'call.waits_for_all();']
    if f.role == 'completion':
        one, two = [argument_name(p) for p in split(f.parameters)][:2]
        given = f'{one}, {two}' if two == 'array_of_requests' else '1, request'
        said = [f'call.completes({given}, {"true" if f.options["completes"] == "all" else "false"});']
    if f.in_sequence and 'comm' in found:
        said.append(f'call.is_collective({found.get("root", none)});')
    if 'bytes' in found:
        said.append(f'call.moves({found["bytes"]});')
    return [f'static constexpr LiveName kName{{"{f.name}"}};', f'LiveCall call(kName, {comm});', 'if (call.on()) {',
            *['  ' + line for line in said], '  call.begun();', '}', f'return {called};']


# Two of each, because what a wrapper calls next is the MPI library or another tool.
def live_calls(functions):
    """Functions between a wrapper and what it calls next: one for the MPI library's, one for another tool's."""
    definitions, rows = [], []
    for f in (f for f in functions if not f.variadic and (can_block(f) or f.makes_request or is_poll(f))):
        for name, short in identifiers(f):
            definitions += [f'template <int kOfTool>', f'int (*real_{short})({f.parameters}) = nullptr;',
                            f'template <int kOfTool>', f'int live_{short}({f.parameters}) {{',
                            *['  ' + line for line in (live_poll_statements if is_poll(f) else live_statements)(
                                f, f'real_{short}<kOfTool>({f.arguments})')], '}', '']
            rows += [f'    {{"{prefix}{name}", reinterpret_cast<void*>(&live_{short}<{which}>), '
                     f'reinterpret_cast<void**>(&real_{short}<{which}>)}},' for which, prefix in ((0, 'P'), (1, ''))]
    return '\n'.join([
        GENERATED,
        '#include "profiler/calls/arguments.h"', '#include "profiler/live/live_call.h"', '',
        'namespace fathom::profiler {', 'namespace {', '', 'using namespace calls;', '', *definitions,
        'const LiveFunction kFunctions[] = {', *rows, '};', '', '}  // namespace', '',
        'const LiveFunction* const kLiveFunctions = kFunctions;',
        f'const std::uint32_t kLiveFunctionCount = {len(rows)};', '', '}  // namespace fathom::profiler', ''])
