// SPDX-License-Identifier: BSD-3-Clause
// The last minute's states of a job, so that rates can be of any window of it.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/job_state.h"

namespace fathom::cli {

class History {
 public:
  // Samples in the order of time. Keeps a minute, no more than 64 states, and of a large job as many as have ten million
  // pairs (a gigabyte), at least two.
  void add(live::JobState state) {
    while (!states_.empty() &&
           (states_.size() >= kMost || state.taken_at_s - states_.front().taken_at_s > kLongest_s))
      states_.pop_front();
    states_.push_back(std::move(state));
    std::size_t held = 0;
    for (const live::JobState& each : states_) held += each.pairs.size();
    for (; states_.size() > 2 && held > kMostPairs; states_.pop_front())
      held -= states_.front().pairs.size();
  }

  bool empty() const { return states_.empty(); }
  const live::JobState& now() const { return states_.back(); }  // requires !empty()

  // The newest state that is at least so old, else the oldest; one without ranks if there is only one.
  const live::JobState& before(double seconds) const {
    static const live::JobState kNone;
    if (states_.size() < 2) return kNone;
    for (auto at = states_.rbegin() + 1; at != states_.rend(); ++at) {
      if (now().taken_at_s - at->taken_at_s >= seconds * 0.9) return *at;
    }
    return states_.front();
  }

  // Classes of traffic, in alphabetical order.
  std::vector<std::string> kinds() const {
    std::set<std::string> found;
    for (const live::PairState& pair : now().pairs) found.insert(pair.kind);
    return {found.begin(), found.end()};
  }

 private:
  static constexpr std::size_t kMost = 64, kMostPairs = 10'000'000;
  static constexpr double kLongest_s = 61;
  std::deque<live::JobState> states_;
};

}  // namespace fathom::cli
