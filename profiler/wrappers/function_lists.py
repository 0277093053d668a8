# SPDX-License-Identifier: BSD-3-Clause
"""Lists of the functions: classes of messages, numbers, names, definitions in a trace, declarations."""
import call_attributes
from wrapped_functions import GENERATED, collectives


def classes(functions):
    known = collectives(functions)
    names = ['"point-to-point"', '"one-sided"', '"one-sided"', '"io"', '"library"', '"partitioned"'] + [
        f'"{f.name}"' for f in known]
    return '\n'.join([
        GENERATED,
        '#pragma once', '', '#include <cstdint>', '', 'namespace fathom::profiler {', '',
        'enum Class : std::uint32_t {', '  kPointToPoint,', '  kOneSided,  // messages',
        '  kPosted,  // one-sided operations whose data move past the PML', '  kIo,', '  kLibrary,', '  kPartitioned,',
        *[f'  {f.constant},' for f in known], '  kClassCount,', '};', '',
        'inline constexpr const char* kClassNames[] = {', *[f'    {n},' for n in names], '};', '',
        '}  // namespace fathom::profiler', ''])


def function_numbers(functions):
    return '\n'.join([
        GENERATED,
        '#pragma once', '', '#include <cstdint>', '', 'namespace fathom::profiler {', '',
        'enum FunctionNumber : std::uint32_t {', *[f'  kFunction_{f.name},' for f in functions], '};', '',
        '}  // namespace fathom::profiler', ''])


def function_names(functions):
    return '\n'.join([
        GENERATED,
        '#include "profiler/calls/function_names.h"', '', 'namespace fathom::profiler {', '',
        f'const std::uint32_t kFunctionCount = {len(functions)};',
        'const char* const kFunctionNames[] = {', *[f'    "{f.name}",' for f in functions], '};', '',
        '}  // namespace fathom::profiler', ''])


def traced_functions(functions):
    lines = [call_attributes.definition(number, f) for number, f in enumerate(functions)]
    return '\n'.join([
        GENERATED,
        '#include "profiler/recording/traced_functions.h"', '', 'namespace fathom::profiler {', '',
        'const char kTracedFunctionLines[] =', *[f'    "{line}\\n"' for line in lines], '    ;', '',
        '}  // namespace fathom::profiler', ''])


def declarations(functions):
    """With Fathom's own types, or with those of an Open MPI's mpi.h that was included before."""
    return '\n'.join([
        GENERATED,
        '#pragma once', '', '#ifndef MPI_VERSION', '#include "profiler/openmpi/mpi.h"', '#endif', '', 'extern "C" {',
        *[f'int P{name}({f.parameters});' for f in functions for name in f.names],
        '}', ''])
