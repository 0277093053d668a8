#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the MPI entry points and the list of classes from mpi/functions.table.

usage: generate_wrappers.py TABLE wrappers OUTPUT.cpp          entry points that count
       generate_wrappers.py TABLE timed-wrappers OUTPUT.cpp    entry points that count and time: of the short calls
       generate_wrappers.py TABLE seldom-timed-wrappers OUTPUT.cpp   of the others
       generate_wrappers.py TABLE classes OUTPUT.h             classes of messages
       generate_wrappers.py TABLE traced-wrappers OUTPUT.cpp   entry points that also record: of the short calls
       generate_wrappers.py TABLE seldom-traced-wrappers OUTPUT.cpp  of the others
       generate_wrappers.py TABLE function-numbers OUTPUT.h    numbers of the functions
       generate_wrappers.py TABLE function-names OUTPUT.cpp    their names
       generate_wrappers.py TABLE traced-functions OUTPUT.cpp  their definition lines in a trace
       generate_wrappers.py TABLE live-calls OUTPUT.cpp        what calls say to readers of a running job
       generate_wrappers.py TABLE declarations OUTPUT.h        declarations in C of all functions
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'mpi'))
import call_attributes  # noqa: E402
import functions_table  # noqa: E402
from function_lists import classes, declarations, function_names, function_numbers, traced_functions  # noqa: E402
from functions_table import argument_name, split  # noqa: E402
from live_calls import live_calls  # noqa: E402
from wrapped_functions import GENERATED, INITIALIZES, NEVER_TIMED, TRACED_ONLY, counted, given_requests, identifiers, read  # noqa: E402


def maker(f):
    """The name of the function that makes a communicator, window or file: members may call either form."""
    return (f.small or f).name


def null_comm(value):
    return 'nullptr' if value == '-' else value


def body(f):
    """The statements between looking up the real function and returning."""
    o = f.options
    call = f'return next({f.arguments});'
    if f.role in ('blocking', 'nonblocking', 'persistent'):
        module = o.get('module', '-')
        offset = 'hooks::kNoModule' if module == '-' else f'openmpi::kModule_{module}'
        kind = {'blocking': 'BlockingCall', 'nonblocking': 'NonblockingCall',
                'persistent': 'PersistentInit'}[f.role]
        return [f'hooks::{kind} call(comm, {f.constant}, {offset});', call]
    if f.role == 'constructor':
        info, arguments = [], f.arguments
        if 'spawns' in o:
            several = 'array_of_info' in f.parameters
            info = [f'const session::SpawnInfo spawn(comm, root, {o["spawns"]}, {"array_of_info" if several else "&info"});']
            arguments = re.sub(r'\b(array_of_)?info\b', f'{"" if several else "*"}spawn.infos()', arguments)
        from_groups = ['session::before_first_communicator();'] if 'MPI_Group' in f.parameters and o['parent'] == '-' else []
        return [*info, *from_groups, f'hooks::ConstructorCall call("{f.name}", {null_comm(o["parent"])}, '
                f'{null_comm(o.get("other", "-"))}, {o.get("tag", "-1")});',
                f'const int result = next({arguments});',
                f'if (result == MPI_SUCCESS) call.made(*{o["new"]});', 'return result;']
    if f.role == 'window':
        return [f'hooks::WindowCall call("{maker(f)}", {o["parent"]});',
                f'const int result = next({f.arguments});',
                f'if (result == MPI_SUCCESS) call.made(*{o["new"]});', 'return result;']
    if f.role == 'file':
        return [f'hooks::FileCall call("{maker(f)}", {o["parent"]});', call]
    if f.role == 'partitioned':
        side, peer = ('kSent', 'dest') if ' dest,' in f.parameters else ('kReceived', 'source')
        return [f'const hooks::PartitionedInit call(profile::Direction::{side}, comm, {peer}, tag, buf, '
                'partitions * count, datatype);', f'const int result = next({f.arguments});',
                'if (result == MPI_SUCCESS) call.made(*request);', 'return result;']
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


def shape(f):
    return f'int (*)({f.parameters})'


def more_parameters(f):
    parameters = f.fixed().parameters
    return ', ' + parameters if parameters not in ('', 'void') else ''


def next_functions(f):
    return [f'constinit Next<{shape(f)}> {which}_{short}{{"{prefix}{name}"}};'
            for name, short in identifiers(f) for which, prefix in (('next', 'P'), ('tool', ''))]


def wrapped(f):
    """A function that makes the call and does what the profile needs around it."""
    return [f'int wrapped_{f.short}({shape(f).replace("(*)", "(*next)")}{more_parameters(f)}) {{',
            *['  ' + statement for statement in body(f.fixed())], '}', '']


def entry_points(f, acting, at_once=None):
    """PMPI_X and MPI_X of all names; acting(next, caller) calls `next` with Fathom's additions, and so does
    at_once(next), inlined: for MPI_X where no other tool is in between."""
    return [line for name, short in identifiers(f) for line in entry_points_of(f, name, short, acting, at_once)]


def entry_points_of(f, name, short, acting, at_once):
    fixed = f.fixed()
    passed = ', ' + fixed.arguments if fixed.arguments else ''
    pass_on = 'pass_on_init' if f.role in ('init', 'init_thread', 'session_init') else 'pass_on'

    def opening(following):
        more = [f'  FATHOM_MORE({argument_name(split(f.parameters)[0])});'] if f.variadic else []
        return [*more, f'  const auto library = next_{short}.library();',
                f'  if (library == nullptr) return hooks::{pass_on}({following}_{short}{passed});']

    def ending(caller):
        return [f'  if (const auto tool = tool_{short}.other_tool()) {{',
                f'    const Chain chain(&next_{short});',
                f'    return {acting("tool", caller)};', '  }',
                *([f'  tool_{short}.goes_to(next_{short}, library);'] if at_once else []),
                f'  return {acting("library", caller)};', '}', '']
    of_library = [f'FATHOM_EXPORT int P{name}({f.parameters}) {{', *opening('next'),
                  f'  if (Chain::holds(&next_{short})) return library({fixed.arguments});',
                  f'  return {acting("library", "FATHOM_CALLER")};', '}']
    if not at_once:
        return [*of_library, f'FATHOM_EXPORT int {name}({f.parameters}) {{', *opening('tool'), *ending('FATHOM_CALLER')]
    # The rest is apart, so that MPI_X saves no registers for it.
    return [*of_library,
            f'[[gnu::noinline]] static int first_{short}(Caller caller{more_parameters(f)}) {{',
            *opening('tool'), *ending('caller'),
            f'FATHOM_EXPORT int {name}({f.parameters}) {{',
            f'  if (const auto direct = tool_{short}.direct()) [[likely]] return {at_once("direct")};',
            f'  return first_{short}(FATHOM_CALLER{passed});', '}', '']


def wrapper(f):
    arguments = f.fixed().arguments
    passed = ', ' + arguments if arguments else ''
    exported = entry_points(f, lambda function, _: f'wrapped_{f.short}({function}{passed})')
    return '\n'.join(next_functions(f) + wrapped(f)), '\n'.join(exported)


def wrappers(functions):
    return entry_point_file([wrapper(f) for f in counted(functions)], ['profiler/live/live_call.h'],
                            'const char* const* const kTimedFunctions = nullptr;\n'
                            'const std::uint32_t kTimedFunctionCount = 0;\n'
                            'const LiveFunction* const kLiveFunctions = nullptr;\n'
                            'const std::uint32_t kLiveFunctionCount = 0;')


def entry_point_file(pairs, headers, definition):
    """A source file of wrappers, each with its entry points: (wrapper, entry points), and what else it defines."""
    common = ['profiler/openmpi/mpi.h', 'rankmap/layouts/all.h', 'profiler/calls/function_names.h', 'profiler/openmpi/next_function.h',
              'profiler/wrappers/hooks.h', 'profiler/session/session.h', 'profiler/session/spawn_info.h']
    return '\n'.join([
        GENERATED,
        *[f'#include "{name}"' for name in sorted(common + headers)], '',
        'namespace fathom::profiler {', '', definition, '', 'namespace {', '',
        *[p[0] for p in pairs], '}  // namespace', '',
        'extern "C" {', '', *[p[1] for p in pairs], '}  // extern "C"', '',
        '}  // namespace fathom::profiler', ''])


def place_and_size(f):
    """C++ expressions: the communicator of a call and the bytes in its arguments; None if it has none."""
    found = {a.name: a.expression for a in call_attributes.at_enter(f.fixed())}
    return found.get('comm'), found.get('bytes')


def timed_class(f):
    """Point-to-point calls are the short ones: their wrappers keep everything inline."""
    if 'polling' in f.waits:
        return 'PollingCall'
    is_short = f.options.get('group') in ('send', 'receive', 'sendreceive', 'probe', 'completion') or \
        f.options.get('effect') == 'start'
    return 'TimedCall' if is_short else 'SeldomTimedCall'


def is_inlined(f):
    """Whether all of the call is in MPI_X itself, where its arguments need not be passed on once more. Only those
    calls are compiled with all optimization."""
    return not is_seldom(f) and not f.name.endswith(('_c', '_init'))


def around_calls(f, name, lines, idle=''):
    """The function `name` with the statements `lines`, and its entry points. One that is inlined also has a copy for
    the ways in which fewer programs come. A test that goes untimed (UntimedPoll) is a function of its own, to which
    MPI_X jumps before it has saved a register. `idle`: what else must be true for that."""
    fixed = f.fixed()
    inlined = is_inlined(f)
    parameters = (f'([[maybe_unused]] Caller caller, {shape(f).replace("(*)", "(*next)")}{more_parameters(f)})')
    given = ''.join(', ' + a for a in ('next', fixed.arguments) if a)
    passed = ', ' + fixed.arguments if fixed.arguments else ''
    start = '[[gnu::always_inline]] inline int' if inlined else 'int'
    defined = []
    if is_test(f):
        untimed = f'return untimed_{f.short}({fixed.arguments}, next);'
        defined += [f'[[gnu::noinline]] int untimed_{f.short}({fixed.parameters}, {shape(f).replace("(*)", "(*next)")}) {{',
                    *['  ' + line for line in untimed_poll(f)], '}', '',
                    f'[[gnu::noinline]] int {name}_{f.short}_in_full{parameters} {{',
                    f'  if ({idle}UntimedPoll::is_next(caller, "{f.name}")) {untimed}',
                    *['  ' + line for line in lines], '}', '']
        lines = [f'if ({idle}UntimedPoll::is_next_at(caller.return_address)) {untimed}',
                 f'return {name}_{f.short}_in_full(caller{given});']
    defined += [f'{start} {name}_{f.short}{parameters} {{', *['  ' + line for line in lines], '}', '']
    if not inlined:
        return defined, entry_points(f, lambda function, caller: f'{name}_{f.short}({caller}, {function}{passed})')
    defined += [f'[[gnu::noinline]] int {name}_{f.short}_apart{parameters} {{',
                f'  return {name}_{f.short}(caller{given});', '}', '']
    return defined, entry_points(f, lambda function, caller: f'{name}_{f.short}_apart({caller}, {function}{passed})',
                                 lambda function: f'{name}_{f.short}(FATHOM_CALLER, {function}{passed})')


def handle_of_object(f):
    """A C++ expression: the window or file that a call is given or makes; None if there is none."""
    for name, kind in functions_table.typed(f.parameters).items():
        if kind in ('MPI_Win', 'MPI_File'):
            return f'native({name})'
        if kind in ('MPI_Win*', 'MPI_File*'):
            return f'given({name})'
    return None


def found_requests(f):
    """C++ arguments: the same, of a call that has found some of them complete, and which ones."""
    names = [argument_name(p) for p in split(f.parameters)]
    if 'array_of_indices' in names:
        return f'{given_requests(f)}, static_cast<int>(given(outcount)), array_of_indices'
    return given_requests(f) + (', 1, index' if 'index' in names else '')


def root_or_neighbors(f):
    """A C++ expression: which members a process waits for in a collective, if the function does not say it all."""
    if 'neighbours' in f.waits:
        return 'neighbors_of(comm)'
    return 'root' if 'root' in [argument_name(p) for p in split(f.parameters)] else '-1'


def can_prepare(f):
    """Whether the program is likely to wait in the call, for which time costs nothing, and what the call is counted
    under is known before."""
    waits = f.options.get('group') in ('receive', 'probe', 'completion') and 'polling' not in f.waits
    return waits and not f.makes_request and not is_seldom(f) and 'given(' not in (place_and_size(f)[0] or '')


def found_something(f, result):
    """A C++ expression: whether a call that tests or probes has."""
    what = 'flag' if 'int *flag' in f.parameters else 'outcount'
    return f'{result} == MPI_SUCCESS && static_cast<int>(given({what})) > 0'


def timing(f, result, left=''):
    """Statements before and after the timed call. Handles that the call frees are looked at before it."""
    place, size = place_and_size(f)
    before, comm = [], place
    if place and 'given(' in place:
        before = [f'const std::uint32_t comm_before = timed.on() ? {place} : 0;']
        comm = 'comm_before'
    if f.role == 'completion':
        before.append(f'timed.completes({given_requests(f)});')
    comm = comm or 'profile::kNoCommunicator'
    leave = [f'timed.leave({comm}, {size or 0});']
    if f.in_sequence and comm != 'profile::kNoCommunicator':
        before.append(f'if (timed.is_paused()) timed.pass_collective({place});')
        given = [comm, str(size or 0), root_or_neighbors(f)]
        if 'MPI_Request *request' in f.parameters:
            given.append(f'{result} == MPI_SUCCESS ? given(request) : nullptr')
        leave = [f'timed.leave_collective({", ".join(given)});']
    elif {'window', 'file'} & set(f.waits):
        before.append('const void* const object = timed.on() || timed.is_paused() ? '
                      f'{handle_of_object(f)} : nullptr;')
        before.append('if (timed.is_paused()) timed.pass_collective_on(object);')
        if f.frees_object:
            before.append('if (timed.on()) timed.frees_object(object);')
        leave = [f'timed.leave_collective_on(object, {comm}, {size or 0}{", true" if f.makes_request else ""});']
    succeeded = f'{result} == MPI_SUCCESS'
    takes_message = f.group == 'probe' and 'MPI_Message *message' in f.parameters
    if 'polling' in f.waits:
        succeeded = found_something(f, result)
        leave = [f'timed.leave({comm}, {size or 0}, !found);']
    if can_prepare(f):
        before.append(f'if (timed.on()) timed.prepare({comm}, {size or 0});')
        leave = ['timed.leave_prepared();']
    if f.group == 'probe':
        before.append('const ProbeStatus seen(status);')
        if not takes_message:
            leave.insert(0, 'if (found) timed.found(comm, seen);')
    if 'sees' in f.options:
        before.append(f'timed.completes({given_requests(f)});')
        leave.insert(0, f'if (found && timed.ends_loop()) saw_complete({found_requests(f)});')
    looked = [f'const bool found = {succeeded};'] if f.group == 'probe' or 'polling' in f.waits else []
    if takes_message:
        looked.append('if (found) timed.took(comm, seen, given(message));')
    else:
        leave[:0] = looked
        looked = []
    leaving = [f'if (timed.on()) {leave[0]}'] if len(leave) == 1 else [
        'if (timed.on()) {', *['  ' + line for line in leave], '}']
    leaving[:0] = looked
    if f.role == 'persistent':
        leaving.append(f'if ({result} == MPI_SUCCESS) timed.made_persistent({place}, {root_or_neighbors(f)}, '
                       'given(request));')
    if f.role == 'request_free':
        before.append('timed.frees(given(request));')
    if f.options.get('effect') == 'start':
        leaving.insert(0, f'if ({result} == MPI_SUCCESS) timed.started({given_requests(f)});')
    if f.role == 'constructor' and 'new' in f.waits:
        leaving.insert(0, f'if ({result} == MPI_SUCCESS) timed.constructed(communicator(given({f.options["new"]})));')
    if f.role in ('window', 'file'):
        leaving.append(f'if ({result} == MPI_SUCCESS) timed.made({handle_of_object(f)});')
    return before, [f'timed.returned({left});', *leaving]


def job_end(f, entered, site):
    """Tells when MPI_Init or MPI_Finalize was entered, and from where."""
    note = 'initialized' if f.role in INITIALIZES else 'finalizes'
    return f'{note}({entered}, kFunction_{f.name}, {site});'


def arguments_of_call(f):
    """What the call passes on: what it was given, but for the status of a probe."""
    arguments = f.fixed().arguments
    return re.sub(r'\bstatus\b', 'seen.used()', arguments) if f.group == 'probe' else arguments


def is_test(f):
    return f.role == 'completion' and 'polling' in f.waits


def untimed_poll(f):
    """The statements of a test that goes untimed."""
    what = 'flag' if 'int *flag' in f.parameters else 'outcount'
    return ['int code;', '{', f'  UntimedPoll poll({given_requests(f)});', f'  code = next({arguments_of_call(f)});',
            '  poll.returned();', '}', f'return UntimedPoll::leave(kFunction_{f.name}, code, {what});']


def timed_call(f, passed):
    site = f'CallSites::site(caller, "{f.name}")'
    if f.role in INITIALIZES:
        return ['const MomentBeforeInit began;', f'const int code = wrapped_{f.short}({passed});',
                job_end(f, 'began.ticks()', site), 'return code;']
    if f.role in NEVER_TIMED:
        told = [job_end(f, 'Ticks::now()', site)] if f.role == 'finalize' else []
        return [*told, f'return wrapped_{f.short}({passed});']
    before, after = timing(f, 'code')
    called = f'next({arguments_of_call(f)})' if f.role in TRACED_ONLY else f'wrapped_{f.short}({passed})'
    return [f'{timed_class(f)} timed(caller, kFunction_{f.name}, "{f.name}");', *before,
            f'const int code = {called};', *after, 'return code;']


def timed_wrapper(f):
    given = ''.join(', ' + a for a in ('next', f.fixed().arguments) if a)[2:]
    lines = next_functions(f) + ([] if f.role in TRACED_ONLY else wrapped(f))
    defined, exported = around_calls(f, 'timed', timed_call(f, given))
    return '\n'.join(lines + defined), '\n'.join(exported)


TIMED_FUNCTIONS = (
    'const char* const* const kTimedFunctions = kFunctionNames;\n'
    'const std::uint32_t kTimedFunctionCount = kFunctionCount;\n\n')
TIMED_HEADERS = ['profiler/calls/arguments.h', 'profiler/calls/neighbors.h', 'profiler/calls/timed_call.h', 'profiler/wrappers/seen_requests.h',
                 'function_numbers.h']


def is_seldom(f):
    return timed_class(f) == 'SeldomTimedCall'


def timed_wrappers(functions):
    return entry_point_file([timed_wrapper(f) for f in functions if is_inlined(f)], TIMED_HEADERS,
                            TIMED_FUNCTIONS + 'using namespace calls;')


def seldom_timed_wrappers(functions):
    return entry_point_file([timed_wrapper(f) for f in functions if not is_inlined(f)], TIMED_HEADERS,
                            'using namespace calls;')


def recorded_call(f):
    """The statements of a recorded call: enter, the call itself, leave."""
    fixed = f.fixed()
    passed = ''.join(', ' + a for a in ('next', fixed.arguments) if a)[2:]
    new = [f'const void* const site = CallSites::site(caller, "{f.name}");',
           f'TracedCall recorded(kFunction_{f.name}, site);']
    timed = f.role not in NEVER_TIMED
    before, after = timing(f, 'ended.result', 'recorded.left_at()') if timed else ([], [])
    if timed:
        new += [f'{timed_class(f)} timed(kFunction_{f.name}, site);', 'recorded.began_at(timed.entered());', *before]
    enter = call_attributes.enter_statements(fixed)
    comm = next((a.expression for a in call_attributes.at_enter(fixed) if a.name == 'comm'), None)
    chosen = [f'if (!ChosenCommunicators::leaves_none_out()) recorded.on_communicator({comm});'] if comm else []
    if fixed.options.get('requests') == 'enter' and f.role == 'traced':
        enter.append('name_requests(recorded, count, array_of_requests);')
    if 'epoch' in fixed.options and 'MPI_Group group' in fixed.parameters:
        enter.append('name_members(recorded, group);')
    enter = ['if (recorded.on()) {', *['  ' + line for line in enter], '}'] if len(enter) > 1 else [
        f'if (recorded.on()) {enter[0]}']
    enter = chosen + enter
    if f.role == 'completion':
        call = [f'const Ended ended = completion::{f.short.lower()}(recorded, {passed});']
    elif f.role == 'traced':
        call = [f'const Ended ended{{next({arguments_of_call(f)})}};']
        if 'sees' in f.options and 'array_of_requests' in f.parameters:
            result_parameter = 'flag' if 'int *flag' in f.parameters else 'outcount'
            call += ['recorded.returned();',
                     f'if (ended.result == MPI_SUCCESS && static_cast<int>(given({result_parameter})) > 0)',
                     f'  name_found(recorded, {found_requests(f)});']
    else:
        call = [f'const Ended ended{{wrapped_{f.short}({passed})}};']
    leave = call_attributes.words(call_attributes.at_leave(fixed))
    returns_with_message = f.options.get('group') == 'receive' and 'MPI_Request' not in f.parameters
    if 'named' in f.options:
        call.append(f'tracing::communicator_renamed(native({f.options["named"]}));')
    leaving = [f'recorded.{"leave_with_message" if returns_with_message else "leave"}'
               f'({", ".join(["ended.result", *leave])});']
    if any('succeeded' in word for word in leave):
        leaving.insert(0, 'const bool succeeded = recorded.on() && ended.result == MPI_SUCCESS;')
    if f.role in INITIALIZES:  # recording begins within
        enter = [line.replace('recorded.enter(', 'recorded.enter_at(began.ticks()') for line in enter]
        return ['const MomentBeforeInit began;', *call, *new, job_end(f, 'began.ticks()', 'site'), *enter, *leaving,
                'return ended.result;']
    if f.role == 'finalize':
        enter.append(job_end(f, 'recorded.on() ? recorded.last_ticks() : Ticks::now()', 'site'))
    inside = [] if timed else ['const CallSites::Inside inside;']
    return [*new, *enter, *inside, *call, *leaving, *after, 'return ended.result;']


def for_short_call(f, lines):
    """The statements with communicator and bytes of the call in variables, because recording and timing both ask for
    them, and with nothing left to call. A call that nobody records, and that need not know them before it waits, looks
    them up when it has ended: until then another process waits for its message."""
    declared, found = [], []
    for kind, name, expression in zip(('uint32_t', 'uint64_t'), ('call_comm', 'call_bytes'), place_and_size(f)):
        if expression and sum(line.count(expression) for line in lines) > 1:
            lines = [line.replace(expression, name) for line in lines]
            declared.append((f'std::{kind} {name}', expression))
            found.append(f'{name} = {expression};')
    lines = [re.sub(r'\b(enter|enter_sized)\(', r'\1_at_once(', line) for line in lines]
    leaves = [i for i, line in enumerate(lines) if line.startswith('if (timed.on()) timed.leave(call_comm')]
    if not leaves or any('timed.prepare(' in line for line in lines):
        return [lines[0],  # it says what `site` is
                *(f'const {variable} = site == nullptr ? 0 : {value};' for variable, value in declared), *lines[1:]]
    entered = lines.index('recorded.began_at(timed.entered());') + 1
    early = ['const bool known = recorded.on() || !ChosenCommunicators::leaves_none_out();',
             *(f'{variable} = 0;' for variable, _ in declared), f'if (known && site != nullptr) {{ {" ".join(found)} }}']
    late = f'if (timed.on() && !known) {{ {" ".join(found)} }}'
    return [*lines[:entered], *early, *lines[entered:leaves[0]], late, *lines[leaves[0]:]]


def traced_wrapper(f):
    lines = next_functions(f) + ([] if f.role in TRACED_ONLY else wrapped(f))
    statements = recorded_call(f)
    defined, exported = around_calls(f, 'recorded', for_short_call(f, statements) if is_inlined(f) else statements,
                                     'Recorder::is_idle() && ')
    return '\n'.join(lines + defined), '\n'.join(exported)


def fortran_names(f):
    """The entry points in libmpi_mpifh: one function under all these names."""
    stem = f.short.lower()
    names = [f'{prefix}mpi_{stem}{end}' for prefix in ('', 'p') for end in ('', '_', '__')]
    return names + [f'MPI_{stem.upper()}', f'PMPI_{stem.upper()}', f'ompi_{stem}_f']


def fortran_wrapper(f):
    """Wraps a function whose Fortran bindings bypass C; all its arguments are pointers."""
    parameters = list(functions_table.typed(f.parameters))
    letters = 'abcde'
    place = dict(zip(parameters, letters))
    expressions = {'communicator(comm)': f'communicator(comm_of_fortran({place.get("comm")}))',
                   'communicator_of(win)': f'communicator_of(window_of_fortran({place.get("win")}))',
                   'number(win)': f'number(window_of_fortran({place.get("win")}))',
                   'succeeded ? given(flag) : ~0u': f'result == MPI_SUCCESS ? fortran_flag({place.get("flag")}) : ~0u'}

    def payload(attributes):
        return call_attributes.words([call_attributes.Attribute(a.name, expressions[a.expression]) for a in attributes])
    inner = fortran_names(f)[-1]
    more = ''.join(f', void* {letter}' for letter in letters)
    passed = ', '.join(letters)
    leave = ', '.join(['result', *payload(call_attributes.at_leave(f))])
    lines = [f'constinit FortranFunction fortran_{name}{{"{name}", "{inner}"}};' for name in fortran_names(f)]
    lines += [f'void recorded_fortran_{f.short}(Caller caller, FortranFunction::Function next{more}) {{',
              '  if (next == nullptr) return;',
              f'  if (!open_mpi_is_known()) return next({passed});',
              f'  TracedCall recorded(kFunction_{f.name}, CallSites::site(caller, "{f.name}"));',
              f'  if (recorded.on()) recorded.enter({", ".join(payload(call_attributes.at_enter(f)))});',
              '  const CallSites::Inside inside;', f'  next({passed});',
              f'  const int result = fortran_result({letters[len(parameters)]});', f'  recorded.leave({leave});', '}', '']
    exported = []
    for name in fortran_names(f):
        exported += [f'FATHOM_EXPORT void {name}({more[2:]}) {{',
                     f'  recorded_fortran_{f.short}(FATHOM_CALLER, fortran_{name}.next(), {passed});', '}']
    return '\n'.join(lines), '\n'.join(exported)


TRACED_HEADERS = TIMED_HEADERS + ['profiler/recording/traced_call.h', 'profiler/recording/traced_completion.h',
                                  'profiler/recording/traced_fortran.h', 'profiler/recording/tracing.h']


def traced_wrappers(functions):
    return entry_point_file([traced_wrapper(f) for f in functions if is_inlined(f)], TRACED_HEADERS,
                            TIMED_FUNCTIONS + 'using namespace traced;')


def seldom_traced_wrappers(functions):
    pairs = [traced_wrapper(f) for f in functions if not is_inlined(f)]
    pairs += [fortran_wrapper(f) for f in functions if f.options.get('fortran') == 'direct']
    return entry_point_file(pairs, TRACED_HEADERS, 'using namespace traced;')


OUTPUTS = {'declarations': declarations, 'wrappers': wrappers, 'classes': classes,
           'timed-wrappers': timed_wrappers, 'seldom-timed-wrappers': seldom_timed_wrappers,
           'traced-wrappers': traced_wrappers, 'seldom-traced-wrappers': seldom_traced_wrappers,
           'function-numbers': function_numbers, 'function-names': function_names,
           'traced-functions': traced_functions, 'live-calls': live_calls}


def main():
    table, what, output = sys.argv[1:]
    text = OUTPUTS[what](read(table))
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main()
