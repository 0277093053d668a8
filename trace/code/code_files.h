// SPDX-License-Identifier: BSD-3-Clause
// The function, file and line of a place in an executable file.
//
// libdw reads the debug information, from the file or from where the system keeps it apart
// (build-id, .gnu_debuglink). Without any, the symbol table names the function; a Fortran procedure
// outside modules then keeps the compiler's underscore ("relax_"). A stripped file
// gives "app+0x1234", the place in the file's address space, which addr2line accepts once the debug
// information turns up; so does a file that is gone or whose build-id differs from the recorded
// one, because its contents would mislead.
//
// Threading: one thread. Memory: at most kMostFiles open files; libdw reads the line tables of only
// those compilation units that addresses fall into.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace fathom::trace {

struct CodeSite {
  std::string function;  // as the source has it (demangled.h); empty if not known
  std::string file;      // of the source; empty if not known
  int line = 0;
  std::string module;  // path of the mapped file; empty if no segment holds the address
  std::uint64_t offset =
      0;  // in the module's own address space; the address itself without a module
};

// As much as is known: "solve (solver.c:120)", "solve", "app+0x1234", "0x7f…".
std::string describe(const CodeSite& site);

// The content of a column "file": the source file. For a place of which no name is known, as in a
// stripped program, "app+0x1234", so that such places are not taken for one. Else empty.
std::string file_or_module(const CodeSite& site);

class CodeFiles {
 public:
  static constexpr std::size_t kMostFiles = 8;

  CodeFiles();
  CodeFiles(CodeFiles&&) noexcept;
  CodeFiles& operator=(CodeFiles&&) noexcept;
  ~CodeFiles();

  // The address, in the layout made by the linker, of a byte of a file. Nothing if the file is not
  // there, or has another build id; an empty `build_id` fits any.
  std::optional<std::uint64_t> virtual_address(const std::string& path, const std::string& build_id,
                                               std::uint64_t file_offset);

  // Fills in function, file and line of site.module at site.offset, as far as they are known.
  void look_up(const std::string& build_id, CodeSite& site);

 private:
  class Module;
  Module* module_of(const std::string& path, const std::string& build_id);

  std::deque<std::pair<std::string, std::unique_ptr<Module>>> open_;  // last used first
};

}  // namespace fathom::trace
