// SPDX-License-Identifier: BSD-3-Clause
// The function, file and line of an address in a process that has ended: the meaning of its trace's
// call sites.
//
// The process recorded which files were mapped where (CodeSegment); code_files.h looks into the
// files.
//
// Threading: one thread. Memory: at most most_cached answers and kMostFiles open files; libdw reads
// the line tables of only those compilation units that addresses fall into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/code/code_files.h"
#include "trace/definitions.h"

namespace fathom::trace {

class CodeSites {
 public:
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
