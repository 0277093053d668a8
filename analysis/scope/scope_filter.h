// SPDX-License-Identifier: BSD-3-Clause
// A Scope translated to the numbering of a trace's definitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/scope/input.h"

namespace fathom::analysis {

class ScopeFilter {
 public:
  ScopeFilter(const Scope& scope, const trace::Definitions& definitions) : scope_(scope) {
    for (const trace::Process& process : definitions.processes) {
      processes_.push_back(!scope.ranks || scope.ranks->contains(process.rank));
    }
    if (!scope.phase) return;
    const auto found =
        std::find(definitions.phases.begin(), definitions.phases.end(), *scope.phase);
    phase_ = static_cast<std::uint32_t>(found - definitions.phases.begin());
  }

  bool process(std::uint32_t process) const { return processes_[process]; }
  bool phase(std::uint32_t phase) const { return !scope_.phase || phase == phase_; }
  const std::vector<bool>& processes() const { return processes_; }
  std::vector<std::uint32_t> chosen() const {  // ascending
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i]) list.push_back(i);
    }
    return list;
  }
  // For a phase that no process has, one past the last number.
  std::uint32_t phase_number() const { return scope_.phase ? phase_ : ~std::uint32_t{0}; }

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
  std::uint32_t phase_ = ~std::uint32_t{0};
};

}  // namespace fathom::analysis
