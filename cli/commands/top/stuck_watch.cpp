// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/stuck_watch.h"

#include <algorithm>
#include <utility>

namespace fathom::cli {

bool is_stuck(const live::Verdict& verdict, double patience_s) {
  const bool proved = verdict.hung || verdict.cause == live::Cause::kIdleRank ||
                      verdict.cause == live::Cause::kPollingRank;
  return proved && verdict.since_s >= patience_s;
}

StuckWatch::StuckWatch(std::string run, double patience_s)
    : run_(std::move(run)), patience_s_(patience_s) {}

std::chrono::seconds StuckWatch::interval() const {
  return std::chrono::seconds(static_cast<int>(std::clamp(patience_s_ / 4, 1.0, 10.0)));
}

std::optional<live::Verdict> StuckWatch::look() {
  if (!source_) {
    auto opened = open_job(run_, false);
    if (!opened) return std::nullopt;
    source_ = std::move(*opened);
  }
  auto state = source_->read();
  if (!state || !*state) return std::nullopt;
  const live::JobState earlier = std::exchange(last_, std::move(**state));
  if (earlier.ranks.empty()) return std::nullopt;  // one sample proves nothing
  live::Verdict verdict = live::judge(last_, earlier);
  const bool stuck = is_stuck(verdict, patience_s_);
  // Details of a large job cost something: only for a second look.
  if (is_stuck(verdict, patience_s_ / 2)) source_->want_details();
  if (std::exchange(was_stuck_, stuck) || !stuck) return std::nullopt;
  return verdict;
}

}  // namespace fathom::cli
