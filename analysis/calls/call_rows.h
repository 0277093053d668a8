// SPDX-License-Identifier: BSD-3-Clause
// Times of calls by process, function and communicator (flat_profile.h), and the copy that several
// analyses of a run share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/definitions.h"

namespace fathom::analysis {

struct CallRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0;      // kProgram: outside MPI
  std::int32_t communicator = -1;  // -1: the call has none
  std::uint32_t reserved = 0;
  std::uint64_t count = 0, inclusive_ns = 0, exclusive_ns = 0, shortest_ns = ~std::uint64_t{0},
                longest_ns = 0;
  std::uint64_t bytes = 0;  // as passed to the calls
};
inline constexpr std::uint32_t kProgram = ~std::uint32_t{0};

// The name of the function in a CallRow.
inline std::string shown_function(const trace::Definitions& definitions, std::uint32_t function) {
  return function == kProgram ? "(program)" : definitions.functions[function].name;
}

// Counted when first asked for.
class CallRowsKept {
 public:
  template <typename Count>
  const base::Result<std::vector<CallRow>>& once(Count count) {
    if (!rows_) rows_ = count();
    return *rows_;
  }

 private:
  std::optional<base::Result<std::vector<CallRow>>> rows_;
};

}  // namespace fathom::analysis
