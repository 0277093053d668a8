#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what was built: what hot code calls, what the library shows, what the table covers.

Each check prints what is wrong, one line a name, and fails if there is anything.
"""

import _ctypes
import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402

# What the objects of the hot path may call. Nothing here allocates, locks, waits or calls the kernel,
# except the names given with a reason.
EVERYWHERE = {
    "_GLOBAL_OFFSET_TABLE_",
    "memcpy", "memset", "memmove", "strlen",
    "fathom::rankmap::member(",
    "fathom::profiler::Counter::",
    "fathom::profiler::classify_hidden(",
    # While partitioned communication is set up, and for its messages.
    "fathom::profiler::Live::", "fathom::profiler::Partitioned::",
    "fathom::profiler::count_slowly(",
    "fathom::profiler::ProfiledProcess::active_",
    "fathom::profiler::WaitLog::",
}
HOT_OBJECTS = {
    "calls/call_sites.cpp": {
        "dladdr": "the first time that a place in a binding or in the MPI library calls",
        "dl_iterate_phdr": "CallSites::open, once",
        "fathom::profiler::frame_size_at(": "the first time",
        "strncmp": "the first time", "strrchr": "the first time", "strchr": "the first time",
    },
    "calls/unwind_table.cpp": {"memcmp": "the first time that a place in a binding calls"},
    "calls/call_times.cpp": {
        "clock_gettime": "the clock's rate, at start and end; Ticks::now where the processor's counter is not even",
        "fathom::profiler::CallSites::open(": "CallTimes::open",
        "mmap64": "tables of a new thread", "munmap": "when they are not to be had",
        "pthread_key_create": "CallTimes::open", "pthread_setspecific": "once for a thread",
        # CallTimes::describe: the first time that a thread calls from a place.
        "fathom::profiler::place_in_file(": "new place", "pthread_mutex_": "new place", "memcmp": "new place",
        "operator new(unsigned long)": "new place", "operator delete(void*, unsigned long)": "new place",
        "std::__throw_": "new place; caught there", "__cxa_": "new place; caught there",
        "__gxx_personality_v0": "new place; caught there", "_Unwind_Resume": "new place; caught there",
        "__dso_handle": "new place", "snprintf": "CallTimes::open and close",
    },
    "waits/wait_log.cpp": {
        "mmap64": "WaitLog::open; a call that completes more requests than any before it on this thread",
        "munmap": "the same, and when a thread ends", "fathom::profiler::TimeLog::": "", "fathom::profiler::CallLog::": "",
        "fathom::profiler::MatchedMessages::": "messages that a probe takes",
        "fathom::profiler::PostedOrder::": "receives with a wildcard that complete out of order, or are cancelled",
        "__cxa_thread_atexit": "the same", "__dso_handle": "the same", "__tls_": "the same",
        "clock_gettime": "Ticks::now where the processor's counter is not even",
        "fathom::mpi::": "WaitLog::open", "sched_yield": "another thread has its turn, and no processor",
        "operator new(unsigned long)": "WaitLog::open", "operator delete(void*, unsigned long)": "WaitLog::open",
        "__gxx_personality_v0": "WaitLog::open", "_Unwind_Resume": "WaitLog::open",
    },
    "waits/collective_log.cpp": {
        "clock_gettime": "Ticks::now where the processor's counter is not even",
        "fathom::mpi::": "WaitLog::open", "memcmp": "WaitLog::open",
        # The requests of non-blocking and persistent collectives; windows and files.
        "operator new(unsigned long)": "a collective is started", "operator delete(void*, unsigned long)": "it is complete",
        "pthread_mutex_": "both", "std::__": "a collective is started; caught there", "__cxa_": "the same",
        "__gxx_personality_v0": "the same", "_Unwind_Resume": "the same",
    },
    "waits/matched_messages.cpp": {"fathom::profiler::TimeLog::": ""},
    "waits/time_log.cpp": {"mmap64": "TimeLog::open", "munmap": "destructor"},
    "waits/call_log.cpp": {"mmap64": "CallLog::open", "munmap": "destructor", "madvise": "CallLog::rewrite, when memory ends"},
    "counting/counter.cpp": {
        "mmap64": "Counter::open reserves its address space, once",
        "munmap": "destructor",
    },
    "counting/counting.cpp": {},
    "counting/live_communicator.cpp": {
        "operator delete[](void*)": "Live::reset drops a communicator's tag runs when it is freed",
    },
    "sources/source_peruse.cpp": {
        "fathom::profiler::find_in_mpi(": "open_peruse, once",
        # The handles of the events of freed requests: a lock and a list, once for each communicator and
        # when events are switched on or off.
        "operator new(unsigned long)": "subscribe",
        "operator delete(void*, unsigned long)": "subscribe",
        "std::__throw_": "subscribe, watch_freed_requests",
        "__cxa_guard_": "subscribe, watch_freed_requests",
        "__gxx_personality_v0": "subscribe, watch_freed_requests",
        "_Unwind_Resume": "subscribe, watch_freed_requests",
        "pthread_mutex_": "subscribe, watch_freed_requests",
    },
    "sources/source_pml.cpp": {
        "fathom::profiler::Communicators::added(": "once for each communicator",
        "fathom::profiler::Communicators::removed(": "once for each communicator",
        "fathom::profiler::count_unreceived(": "once for each communicator",
        "fathom::profiler::receive_requests::": "entries of its own, where there is no PERUSE",
        "fathom::profiler::find_variable_in_mpi(": "hook_pml, once",
        # The map of persistent sends: written when one is initialised or freed, looked up when started.
        "operator new(unsigned long)": "persistent sends",
        "operator delete(void*, unsigned long)": "persistent sends",
        "pthread_mutex_lock": "persistent sends",
        "pthread_mutex_unlock": "persistent sends",
        "std::__detail::_Prime_rehash_policy::": "persistent sends",
        "std::__throw_": "persistent sends; caught in adopt()",
        "__cxa_": "persistent sends; caught in adopt()",
        "__gxx_personality_v0": "persistent sends; caught in adopt()",
        "_Unwind_Resume": "persistent sends; caught in adopt()",
    },
}

# What records calls. The entry points themselves (traced_wrappers.cpp) call everything that MPI has.
HOT_OBJECTS_OF_THE_TRACE = {
    "recording/traced_completion.cpp": {
        "mmap64": "KeptRequests' memory, once for a thread",
        "munmap": "when the thread ends",
        "__cxa_thread_atexit": "once for a thread",
        "__dso_handle": "once for a thread",
        "fathom::profiler::traced::": "its own",
        "fathom::profiler::native_error_in_abi": "a call failed",
        "_Unwind_Resume": "an error handler of the program throws", "__gxx_personality_v0": "the same",
    },
}
EVERYWHERE_IN_THE_TRACE = {
    "fathom::profiler::Recorder::",  # a chunk is full, the thread is new, a record is taken back
    "clock_gettime",                 # Ticks::now where the processor's counter is not even
}

# The names that the library shows: MPI's entry points, the phases, and the two ways out of a process
# that run no exit handler.
SHOWN = re.compile(r"(P?MPIX?_[A-Z]\w*|fathom_library_\w+|_exit|_Exit|abort)$")
SHOWN_BY_THE_TRACE = re.compile(r"(p?mpi_[a-z_]+|ompi_[a-z_]+_f)$")  # Fortran
MUST_NOT_LINK = re.compile(r"lib(mpi|stdc\+\+|open-)")
# The C library, and what finds source lines where that cannot be linked in (profiler/meson.build).
OF_EVERY_HOST = re.compile(r"(lib(c|m|dl|pthread|rt|dw|elf|lzma|bz2|z|zstd)|ld-linux.*)\.so")

# Functions of MPI that the profile needs, of those that the headers declare. A new release's collectives,
# constructors and one-sided operations match as well, and must then have a role of their own.
COLLECTIVE = (r"(I?(neighbor_)?(allgatherv?|alltoall[vw]?)|I?(allreduce|barrier|bcast|exscan|gatherv?|"
              r"reduce|reduce_scatter|reduce_scatter_block|scan|scatterv?))(_init)?")
CONSTRUCTOR = (r"(comm_(i?dup\w*|split\w*|create|create_group|create_from_group|spawn\w*|accept|connect|join)|"
               r"comm_i?shrink|cart_(create|sub)|graph_create|dist_graph_create\w*|intercomm_(create|merge)\w*)")
OTHERS = (r"(comm_(free|disconnect)|win_(create|create_dynamic|allocate\w*|free)|file_open|"
          r"r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|"
          r"request_free|p(send|recv)_init|init|init_thread|finalize|session_(init|finalize)|abort|pcontrol)")
COVERED = re.compile(f"P?MPIX?_({COLLECTIVE}|{CONSTRUCTOR}|{OTHERS})(_c)?$", re.IGNORECASE)


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def needed_libraries(binary):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", binary))


def table_functions(table):
    sys.path.insert(0, str(pathlib.Path(table).parent))
    sys.dont_write_bytecode = True
    import functions_table
    return functions_table.read(table)


def table_roles(table):
    """{name: role}; a function with an earlier name has both."""
    return {name: function.role for function in table_functions(table) for name in function.names}


def hot_path(arguments):
    """Undefined symbols of hot objects outside the allow-list."""
    wrong = []
    library = pathlib.Path(arguments.library)
    what = {"libfathom-count": "count", "libfathom": "timed", "libfathom-trace": "trace"}[library.stem]
    traced = what == "trace"
    for source, more in ((HOT_OBJECTS | HOT_OBJECTS_OF_THE_TRACE) if traced else HOT_OBJECTS).items():
        allowed = tuple(EVERYWHERE | set(more) | (EVERYWHERE_IN_THE_TRACE if traced else set()))
        name = source.replace("/", "_") + ".o"
        own = library.with_name(f"libfathom_hot_{what}.a.p") / name  # else one that all libraries share
        shared = library.with_name("libfathom_hot.a.p") / name
        symbols = output_of("nm", "-uC", own if own.exists() else shared).splitlines()
        if not symbols:
            wrong.append(f"{source}: nm shows no undefined symbol at all; was it built with LTO?")
        for line in symbols:
            name = line.split(None, 1)[1]
            if not name.startswith(allowed):
                wrong.append(f"{source}: {name}")
    return wrong


def shown_symbols(arguments):
    """Symbols that the preloaded library adds to a program, beyond MPI's; libraries it brings along."""
    wrong = []
    for line in output_of("nm", "-D", "--defined-only", arguments.library).splitlines():
        name = line.split()[-1]
        if not SHOWN.match(name) and not ("-trace" in arguments.library and SHOWN_BY_THE_TRACE.match(name)):
            wrong.append(f"shown: {name}")
    return wrong + [f"linked: {name}" for name in needed_libraries(arguments.library) if MUST_NOT_LINK.match(name)]


def stays_when_closed(arguments):
    """The library is unloaded by dlclose, while Open MPI and the ends of threads still call it."""
    library = os.path.abspath(arguments.library)
    _ctypes.dlclose(ctypes.CDLL(library)._handle)
    return [] if library in pathlib.Path("/proc/self/maps").read_text() else [library]


def declared_functions(folder):
    extensions = "#include <mpi-ext.h>\n" if (folder / "mpi-ext.h").exists() else ""
    headers = output_of("gcc", "-E", "-P", "-DOMPI_SKIP_MPICXX", f"-I{folder}", "-",
                        input=f"#include <mpi.h>\n{extensions}")
    names = set(re.findall(r"\b(P?MPIX?_[A-Z]\w*)\s*\(", headers))
    return {name.removeprefix("P") for name in names}


def table_covers_headers(arguments):
    """Functions that a release declares but without a row, or without the role that the profile needs."""
    folders, missing = open_mpi.include_folders()
    declared = set().union(*map(declared_functions, folders))
    print("\n".join(missing))
    roles = table_roles(arguments.table)
    profiled = {name for name, role in roles.items() if role not in ("traced", "completion", "unrecorded")}
    wanted = {name for name in declared if COVERED.match(name)}
    wrong = [f"no row: {name}" for name in sorted(declared - set(roles))]
    wrong += [f"no role in the profile: {name}" for name in sorted(wanted - profiled) if name in roles]
    wrong += [f"row that the pattern of this test does not know: {name}"
              for name in sorted(profiled - wanted) if name in declared]
    if not missing:
        wrong += [f"row that no header declares: {function.name}" for function in table_functions(arguments.table)
                  if declared.isdisjoint(function.names)]
    return wrong


def fortran_goes_through_c(arguments):
    """Functions that Open MPI's Fortran library offers, but does not call through PMPI_ in C."""
    library = output_of("ldconfig", "-p") if arguments.mpifh is None else arguments.mpifh
    path = re.search(r"(/\S*libmpi_mpifh\.so\.40)\b", library)
    if path is None:
        print("no libmpi_mpifh.so.40 here")
        sys.exit(77)
    symbols = [line.split() for line in output_of("nm", "-D", path.group(1)).splitlines()]
    called = {words[-1] for words in symbols if words[-2] == "U"}
    offered = {words[-1] for words in symbols if words[-2] != "U"}
    # The rows of which the C library beside it has the function.
    exported = output_of("nm", "-D", pathlib.Path(path.group(1)).with_name("libmpi.so.40"))
    rows = [function for function in table_functions(arguments.table)
            if function.role != "unrecorded" and any(f" P{name}\n" in exported for name in function.names)]
    direct = set(re.findall(r"fortran=direct.*\b(MPI_\w+)\(", pathlib.Path(arguments.table).read_text()))
    checked = [name for function in rows for name in function.names if name.lower() + "_" in offered]
    if len(checked) < len(rows) * 0.9:
        return [f"only {len(checked)} of {len(rows)} functions are found in {path.group(1)}"]
    return [f"{name} is not called as P{name}" for name in sorted(checked) if "P" + name not in called and name not in direct]


def companions_need_little(arguments):
    """Libraries that a program beside the ranks needs, and that hosts of ranks may lack."""
    return [name for name in needed_libraries(arguments.library) if not OF_EVERY_HOST.match(name)]


CHECKS = {check.__name__.replace("_", "-"): check
          for check in (hot_path, shown_symbols, stays_when_closed, table_covers_headers,
                        fortran_goes_through_c, companions_need_little)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--library", help="libfathom.so; its hot sources, compiled one by one, are in libfathom_hot*.a.p next to it")
    parser.add_argument("--table", help="mpi/functions.table")
    parser.add_argument("--mpifh", help="libmpi_mpifh.so.40, if not the linker's own")
    arguments = parser.parse_args()
    check = CHECKS[arguments.check]
    wrong = check(arguments)
    if wrong:
        print(check.__doc__)
        print("\n".join("  " + line for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
