// SPDX-License-Identifier: BSD-3-Clause
#include "profile/witnesses.h"

#include <map>
#include <utility>

namespace fathom::profile {
namespace {

// The name of the witness for messages that were never received.
constexpr char kUnexpectedQueue[] = "unexpected queue";

struct Both {
  Count sent, received, unreceived;
};

void compare(std::int64_t source, std::int64_t destination, const Both& both, Coverage& coverage) {
  if (both.sent == both.received) return;
  Count arrived = both.received;
  arrived += both.unreceived;
  const bool all_were_sent =
      both.sent.messages >= arrived.messages && both.sent.bytes >= arrived.bytes;
  if (all_were_sent && both.unreceived.messages > 0) {
    coverage.unreceived.bytes += both.unreceived.bytes;
    coverage.unreceived.messages += both.unreceived.messages;
    coverage.unreceived.witness = kUnexpectedQueue;
    coverage.unreceived_pairs.push_back(
        {source, destination, both.unreceived.bytes, both.unreceived.messages});
  }
  if (both.sent == arrived) return;
  coverage.differences.push_back({source, destination, both.sent.bytes, both.sent.messages,
                                  both.received.bytes, both.received.messages});
}

}  // namespace

void compare_witnesses(const std::vector<PairCell>& cells,
                       const std::function<bool(const PairCell&)>& counted_twice,
                       const std::function<bool(std::int64_t)>& has_reported, Coverage& coverage) {
  std::map<std::pair<std::int64_t, std::int64_t>, Both> pairs;
  for (const PairCell& cell : cells) {
    if (!counted_twice(cell)) continue;
    coverage.sent.bytes += cell.sent.bytes;
    coverage.sent.messages += cell.sent.messages;
    coverage.received.bytes += cell.received.bytes;
    coverage.received.messages += cell.received.messages;
    // Comparable only if both ends reported.
    if (!has_reported(cell.source) || !has_reported(cell.destination)) continue;
    Both& both = pairs[{cell.source, cell.destination}];
    both.sent += cell.sent;
    both.received += cell.received;
    both.unreceived += cell.unreceived;
  }
  if (coverage.sent.witness.empty() || coverage.received.witness.empty()) return;
  for (const auto& [pair, both] : pairs) compare(pair.first, pair.second, both, coverage);
}

}  // namespace fathom::profile
