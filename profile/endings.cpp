// SPDX-License-Identifier: BSD-3-Clause
#include "profile/endings.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace fathom::profile {
namespace {

// The higher, the more an end explains: who aborted, then which signal struck, then who left.
int severity(EndReason reason, std::uint32_t detail) {
  constexpr std::uint32_t kSigterm = 15;  // the launcher sends it to the other processes
  switch (reason) {
    case EndReason::kAbort: return 5;
    case EndReason::kSignal: return detail == kSigterm ? 2 : 4;
    case EndReason::kExit: return 3;
    case EndReason::kUnconnected: return 1;
    case EndReason::kFinalize: return 0;
  }
  return 0;
}

}  // namespace

std::string Endings::why_cut_short(std::int64_t world_size) const {
  const std::string end = worst_end(), missing = who_is_missing(world_size);
  return end + (end.empty() || missing.empty() ? "" : "; ") + missing;
}

std::string Endings::worst_end() const {
  // Ties: lowest rank, because max_element returns the first.
  const auto worst = std::max_element(ends_.begin(), ends_.end(), [](const auto& a, const auto& b) {
    return severity(a.second.reason, a.second.detail) < severity(b.second.reason, b.second.detail);
  });
  if (worst == ends_.end()) return "";
  const std::string who = "rank " + std::to_string(worst->first);
  const std::uint32_t detail = worst->second.detail;
  switch (worst->second.reason) {
    case EndReason::kAbort:
      return who + " called MPI_Abort with error code " + std::to_string(detail);
    case EndReason::kSignal:
      return who + " was ended by signal " + std::to_string(detail) + " (" +
             strsignal(static_cast<int>(detail)) + ")";
    case EndReason::kExit: return who + " left without MPI_Finalize";
    default: return "";
  }
}

std::string Endings::who_is_missing(std::int64_t world_size) const {
  constexpr int kNamed = 8;
  const auto missing = world_size - static_cast<std::int64_t>(ends_.size());
  if (missing <= 0) return "";
  std::string list;
  int named = 0;
  for (std::int64_t rank = 0; rank < world_size && named < kNamed; ++rank) {
    if (ends_.contains(rank)) continue;
    base::add_to_list(list, std::to_string(rank));
    ++named;
  }
  if (missing > named) list += ", …";
  return std::to_string(missing) + " of " + std::to_string(world_size) +
         " processes left no counts (rank " + list +
         "): killed with SIGKILL, ended with _exit, or run without Fathom";
}

}  // namespace fathom::profile
