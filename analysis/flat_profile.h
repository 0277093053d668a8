// Where each process spends its time: calls of each MPI function, and the program outside of MPI.
//
// Inclusive time is from enter to leave, exclusive less the calls of MPI inside. With a window of time calls
// count for the part of them inside it. Calls that sampling left out are in `count` and in the times.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/input.h"
#include "analysis/registry.h"

namespace fathom::analysis {

struct CallRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0;      // kProgram: outside of MPI
  std::int32_t communicator = -1;  // -1: names none
  std::uint32_t reserved = 0;
  std::uint64_t count = 0, inclusive_ns = 0, exclusive_ns = 0, shortest_ns = ~std::uint64_t{0}, longest_ns = 0;
  std::uint64_t bytes = 0;  // as given to the calls
};
inline constexpr std::uint32_t kProgram = ~std::uint32_t{0};

// At analysis process 0: by process, function, communicator. Collective over the input's transport.
base::Result<std::vector<CallRow>> call_rows(const Input& input);

base::Result<Outcome> flat_profile(const Input& input);

}  // namespace fathom::analysis
