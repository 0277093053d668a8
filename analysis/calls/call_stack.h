// SPDX-License-Identifier: BSD-3-Clause
// The open calls on each thread of a process, kept while its events are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace fathom::analysis {

struct OpenCall {
  std::uint64_t enter_ns = 0;
  std::uint64_t inside_ns = 0;  // in calls nested inside it
  std::uint64_t bytes = 0;
  std::uint32_t function = 0;
  std::int32_t communicator = -1;
  std::uint32_t phase = ~std::uint32_t{0};
  bool chosen = true;  // counts (EventChoice)
};

class CallStacks {
 public:
  std::vector<OpenCall>& of(std::uint32_t thread) {
    if (stacks_.size() <= thread) stacks_.resize(thread + 1);
    return stacks_[thread];
  }
  std::size_t threads() const { return stacks_.size(); }

  // Number of calls that a leave closes: the one it names and those above it, whose leaves were
  // lost. 0: its own enter was lost.
  template <typename Call>
  static std::size_t closed_by(const std::vector<Call>& open, std::uint32_t function) {
    if (!open.empty() && open.back().function == function) return 1;
    const auto found = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Call& call) { return call.function == function; });
    return found == open.rend() ? 0 : static_cast<std::size_t>(found - open.rbegin()) + 1;
  }

 private:
  std::vector<std::vector<OpenCall>> stacks_;
};

// The phase a process is in.
class PhaseStack {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void take(const trace::Event& event) {
    if (event.kind == trace::EventKind::kPhaseBegin) {
      open_.push_back(event.code);
    } else if (event.kind == trace::EventKind::kPhaseEnd) {
      const auto found = std::find(open_.rbegin(), open_.rend(), event.code);
      if (found != open_.rend()) open_.erase(std::next(found).base(), open_.end());
    }
  }
  std::uint32_t now() const { return open_.empty() ? kNone : open_.back(); }

 private:
  std::vector<std::uint32_t> open_;
};

}  // namespace fathom::analysis
