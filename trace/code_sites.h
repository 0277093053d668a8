// SPDX-License-Identifier: BSD-3-Clause
// The function, file and line of an address in a process that has ended: what its trace's call
// sites mean.
//
// The process said which files were mapped where (CodeSegment). Debug information is read with
// libdw, from the file or from where the system keeps it apart (build-id, .gnu_debuglink); without
// any, the symbol table names the function; a stripped file leaves "app+0x1234", the place in the
// file's address space, which addr2line accepts once the debug information turns up. A file that is
// gone or whose build-id differs from the recorded one is never guessed about: it gives the same.
//
// Threading: one thread. Memory: at most most_cached answers and kMostFiles open files; libdw reads
// the line tables of those compilation units alone that addresses fall into.
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

// "solve (solver.c:120)", "solve", "app+0x1234", "0x7f…": as much as is known.
std::string describe(const CodeSite& site);

class CodeSites {
 public:
  static constexpr std::size_t kMostFiles = 8;

  explicit CodeSites(std::vector<CodeSegment> segments,
                     std::size_t most_cached = std::size_t{1} << 16);
  CodeSites(CodeSites&&) noexcept;
  CodeSites& operator=(CodeSites&&) noexcept;
  ~CodeSites();

  // Of the call that returns to this address. The reference holds until the next call.
  const CodeSite& of_call(std::uint64_t return_address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
