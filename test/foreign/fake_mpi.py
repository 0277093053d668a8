# SPDX-License-Identifier: BSD-3-Clause
"""Writes an MPI library that is none, and a program that calls every function of it, from mpi/functions.table.

Each function of the library prints its name and its arguments as they arrive, and returns a number of its own. The
program calls each under its two names, the bindings of Fortran that Fathom has entry points for under all of theirs.
What it passes for handles is what MPICH and the standard ABI pass: integers.
"""
import dataclasses

HANDLES = ("MPI_Comm", "MPI_Datatype", "MPI_Op", "MPI_Win", "MPI_Group", "MPI_Request", "MPI_Info", "MPI_File",
           "MPI_Errhandler", "MPI_Message", "MPI_Session")
# Their sizes in registers and on the stack are those of long; the callee knows better what they mean.
SIXTY_FOUR_BITS = ("MPI_Aint", "MPI_Offset", "MPI_Count")


@dataclasses.dataclass
class Kind:
    """How a parameter travels: its C type in the library, in the program, and the value to pass."""
    received: str
    passed: str
    value: str


def kind_of(parameter, position, handle_is_pointer):
    kind = parameter.replace("const", "").split()
    if "*" in parameter or "[" in parameter:
        return Kind("void*", "void*", f"(void*)0x7f00000{position:05x}")
    if kind[0] in SIXTY_FOUR_BITS:
        return Kind("long", "long", f"-{position + 1}000000000000L")
    if kind[0] in HANDLES and handle_is_pointer:  # the standard ABI: MPI_COMM_WORLD is (MPI_Comm)0x101
        return Kind("void*", "void*", f"(void*)0x{0x101 + position:x}")
    if kind[0] in HANDLES:  # MPICH: MPI_COMM_WORLD is 0x44000000, MPI_INT 0x4c000405; created ones are negative
        return Kind("int", "int", f"(int)0x{0x84000000 + position:x}u")
    return Kind("int", "int", str(-position - 1))


def library(functions, fortran, version, handle_is_pointer):
    lines = ["#include <stdarg.h>", "#include <stdio.h>", "#include <string.h>", ""]
    number = 100
    for f in functions:
        for name in (f.name, f.pmpi):
            number += 1
            if name.endswith("MPI_Get_library_version"):
                lines.append(f'int {name}(char* text, int* length) {{ strcpy(text, "{version}"); '
                             f'*length = (int)strlen(text); return 0; }}')
                continue
            kinds = [kind_of(p, i, handle_is_pointer) for i, p in enumerate(f.fixed_parameters)]
            declared = ", ".join(f"{k.received} a{i}" for i, k in enumerate(kinds)) or "void"
            if f.variadic:  # MPI_Pcontrol
                lines.append(f'int {name}({declared}, ...) {{ va_list more; va_start(more, a0); printf("{name} %d %lx", a0, '
                             f'va_arg(more, long)); printf(" %s\\n", va_arg(more, char*)); va_end(more); return {number}; }}')
                continue
            values = "".join(f", (long)a{i}" for i in range(len(kinds)))
            lines.append(f'int {name}({declared}) {{ printf("{name}{" %lx" * len(kinds)}\\n"{values}); return {number}; }}')
    for name in fortran:
        lines.append(f'void {name}(void* a, void* b, void* c, void* d, void* e) '
                     f'{{ printf("{name} %p %p %p %p %p\\n", a, b, c, d, e); }}')
    return "\n".join(lines) + "\n"


def program(functions, fortran, handle_is_pointer):
    """The calls, in a function that a main program or a plug-in has."""
    lines, calls = ["#include <stdio.h>", ""], []
    for f in functions:
        kinds = [kind_of(p, i, handle_is_pointer) for i, p in enumerate(f.fixed_parameters)]
        declared = ", ".join(k.passed for k in kinds) or "void"
        for name in (f.name, f.pmpi):
            if name.endswith("MPI_Get_library_version"):
                lines.append(f"int {name}(char*, int*);")
                calls.append(f'{{ char text[8192] = ""; int n = 0; printf("{name} %d %d %.12s\\n", '
                             f'{name}(text, &n), n, text); }}')
                continue
            lines.append(f"int {name}({declared}{', ...' if f.variadic else ''});")
            values = [k.value for k in kinds] + (["0x123456789aL", '"more"'] if f.variadic else [])
            calls.append(f'printf("%d\\n", {name}({", ".join(values)}));')
    for name in fortran:
        lines.append(f"void {name}(void*, void*, void*, void*, void*);")
        calls.append(f'{name}((void*)1, (void*)2, (void*)3, (void*)4, (void*)5);')
    body = "\n  ".join(calls)
    return "\n".join(lines) + f"\nint call_all(void) {{\n  {body}\n  return 7;\n}}\n"


MAIN = "int call_all(void);\nint main(void) { return call_all(); }\n"

# Loads the program's calls, and with them the library, as Python loads its modules: where nobody else sees them.
LOADER = """#include <dlfcn.h>
int main(int argc, char** argv) {
  (void)argc;
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*call_all)(void) = plugin ? (int (*)(void))dlsym(plugin, "call_all") : 0;
  return call_all ? call_all() : 1;
}
"""
