// SPDX-License-Identifier: BSD-3-Clause
// Which single events count, in addition to the scope: a filter of the Python package makes one.
//
// A call counts if its Enter event is chosen. Time outside all calls is no event, so with a choice
// it never counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom::analysis {

class EventChoice {
 public:
  explicit EventChoice(std::size_t processes) : kept_(processes) {}

  // kept[i]: whether event i of the process's trace counts; events past the end of `kept` do not.
  void set(std::uint32_t process, std::vector<bool> kept) { kept_[process] = std::move(kept); }
  bool holds(std::uint32_t process, std::uint64_t event) const {
    return event < kept_[process].size() && kept_[process][event];
  }

 private:
  std::vector<std::vector<bool>> kept_;
};

}  // namespace fathom::analysis
