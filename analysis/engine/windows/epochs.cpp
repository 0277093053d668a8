// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/windows/epochs.h"

namespace fathom::analysis {
namespace {

using mpi::Epoch;

std::vector<NoticeEnd> one_each(NoticeKind kind, const std::vector<std::int32_t>& peers) {
  std::vector<NoticeEnd> all;
  for (const std::int32_t peer : peers) all.push_back({kind, peer});
  return all;
}

}  // namespace

void Epochs::entered(Epoch does, std::uint64_t window) {
  Groups& groups = windows_[window];
  if (does == Epoch::kPost) groups.origins.clear();
  if (does == Epoch::kStart) groups.targets.clear();
}

std::vector<NoticeEnd> Epochs::given(Epoch does, std::uint64_t window, std::int32_t member) {
  if (member == rank_) return {};
  if (does == Epoch::kStart) windows_[window].targets.push_back(member);
  if (does != Epoch::kPost) return {};
  windows_[window].origins.push_back(member);
  return {{NoticeKind::kPostToStart, member}, {NoticeKind::kPostToComplete, member}};
}

Epochs::AtLeave Epochs::left(Epoch does, std::uint64_t window) {
  Groups& groups = windows_[window];
  AtLeave all;
  switch (does) {
    case Epoch::kStart: all.heard = one_each(NoticeKind::kPostToStart, groups.targets); break;
    case Epoch::kComplete:
      all.heard = one_each(NoticeKind::kPostToComplete, groups.targets);
      all.told = one_each(NoticeKind::kComplete, groups.targets);
      groups.targets.clear();
      break;
    case Epoch::kWait:
      all.heard = one_each(NoticeKind::kComplete, groups.origins);
      groups.origins.clear();
      break;
    case Epoch::kPost:
    case Epoch::kNone: break;
  }
  return all;
}

}  // namespace fathom::analysis
