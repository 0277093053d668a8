// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/chosen_communicators.h"

#include <memory>
#include <utility>

#include "base/name_patterns.h"

namespace fathom::profiler {

bool ChosenCommunicators::open(std::vector<std::string> patterns) {
  if (patterns.empty()) return true;
  auto made = std::make_unique<Choice>();
  if (!made->left_out.reserve(kKinds)) return false;
  made->patterns = std::move(patterns);
  choice_ = made.release();
  return true;
}

void ChosenCommunicators::judge(std::uint32_t kind, std::string_view name,
                                std::string_view made_by) {
  if (choice_ == nullptr || kind >= kKinds) return;
  choice_->left_out.data()[kind] =
      base::chooses(choice_->patterns, name.empty() ? made_by : name) ? 0 : 1;
}

}  // namespace fathom::profiler
