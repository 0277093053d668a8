// SPDX-License-Identifier: BSD-3-Clause
// A Scope translated to the numbering of a trace's definitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/scope/input.h"
#include "base/name_patterns.h"

namespace fathom::analysis {

// `chosen` has a flag for each phase and one for what is outside of all; empty: all are chosen.
inline bool holds_phase(const std::vector<bool>& chosen, std::uint32_t phase) {
  return chosen.empty() || chosen[std::min<std::size_t>(phase, chosen.size() - 1)];
}

class ScopeFilter {
 public:
  ScopeFilter(const Scope& scope, const trace::Definitions& definitions) : scope_(scope) {
    for (const trace::Process& process : definitions.processes) {
      processes_.push_back(!scope.ranks || scope.ranks->contains(process.rank));
    }
    if (!scope.phases) return;
    for (const std::string& name : definitions.phases)
      phases_.push_back(base::chooses(*scope.phases, name));
    phases_.push_back(base::chooses(*scope.phases, ""));
  }

  bool process(std::uint32_t process) const { return processes_[process]; }
  // A number after the last phase's is outside of all.
  bool phase(std::uint32_t phase) const { return holds_phase(phases_, phase); }
  const std::vector<bool>& processes() const { return processes_; }
  const std::vector<bool>& phases() const { return phases_; }  // as holds_phase() takes them
  std::vector<std::uint32_t> chosen() const {                  // ascending
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i]) list.push_back(i);
    }
    return list;
  }
  // The length of the part of an interval inside the window.
  std::uint64_t inside_ns(std::uint64_t from_ns, std::uint64_t to_ns) const {
    const std::uint64_t begin = std::max(from_ns, scope_.from_ns),
                        end = std::min(to_ns, scope_.to_ns);
    return end > begin ? end - begin : 0;
  }
  bool at(std::uint64_t time_ns) const {
    return time_ns >= scope_.from_ns && time_ns < scope_.to_ns;
  }

 private:
  const Scope& scope_;
  std::vector<bool> processes_;
  std::vector<bool> phases_;
};

}  // namespace fathom::analysis
