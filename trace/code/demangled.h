// SPDX-License-Identifier: BSD-3-Clause
// The name that the source gives to a function, from the symbol that the compiler made of it:
//
//   _ZN4mesh5relaxEv                 mesh::relax()        C++ (Itanium ABI)
//   __mesh_MOD_relax                 mesh::relax          gfortran: a procedure of a module
//   __mesh.parts_MOD_relax           mesh.parts::relax    gfortran: of a submodule
//   _QMmeshPrelax, _QPrelax          mesh::relax, relax   flang
//   _QMmeshSpartsFrelaxPstep         mesh::parts::relax::step
//                                    flang: of a submodule, inside another procedure
//                                    (flang/docs/BijectiveInternalNameUniquing.md)
//
// Any other symbol is returned as it is. That includes "relax_": it may be relax of Fortran or
// relax_ of C, which only debug information tells apart (code_files.h).
#pragma once

#include <string>

namespace fathom::trace {

std::string demangled(const std::string& symbol);

}  // namespace fathom::trace
