// SPDX-License-Identifier: BSD-3-Clause
// The function, file and line of an address in a process that has ended: the meaning of its trace's
// call sites.
//
// The process recorded which files were mapped where (CodeSegment). libdw reads the debug
// information, from the file or from where the system keeps it apart (build-id, .gnu_debuglink).
// Without any, the symbol table names the function. A stripped file gives "app+0x1234", the place
// in the file's address space, which addr2line accepts once the debug information turns up; so does
// a file that is gone or whose build-id differs from the recorded one, because its contents would
// mislead.
//
// Threading: one thread. Memory: at most most_cached answers and kMostFiles open files; libdw reads
// the line tables of only those compilation units that addresses fall into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/definitions.h"

namespace fathom::trace {

struct CodeSite {
  std::string function;  // demangled; empty if not known
  std::string file;      // of the source; empty if not known
  int line = 0;
  std::string module;  // path of the mapped file; empty if no segment holds the address
  std::uint64_t offset =
      0;  // in the module's own address space; the address itself without a module
};

// As much as is known: "solve (solver.c:120)", "solve", "app+0x1234", "0x7f…".
std::string describe(const CodeSite& site);

class CodeSites {
 public:
  static constexpr std::size_t kMostFiles = 8;

  explicit CodeSites(std::vector<CodeSegment> segments,
                     std::size_t most_cached = std::size_t{1} << 16);
  CodeSites(CodeSites&&) noexcept;
  CodeSites& operator=(CodeSites&&) noexcept;
  ~CodeSites();

  // The site of the call that returns to this address. The reference is valid until the next call.
  const CodeSite& of_call(std::uint64_t return_address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
