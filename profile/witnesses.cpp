#include "profile/witnesses.h"

#include <map>
#include <utility>

namespace fathom::profile {
namespace {

struct Both {
  Count sent, received;
};

void compare(std::int64_t source, std::int64_t destination, const Count& sent, const Count& received, Coverage& coverage) {
  if (sent.bytes == received.bytes && sent.messages == received.messages) return;
  if (sent.messages > received.messages && sent.bytes >= received.bytes) {
    const Count open{sent.bytes - received.bytes, sent.messages - received.messages};
    coverage.unreceived.bytes += open.bytes;
    coverage.unreceived.messages += open.messages;
    coverage.unreceived_pairs.push_back({source, destination, open.bytes, open.messages});
    return;
  }
  coverage.differences.push_back({source, destination, sent.bytes, sent.messages, received.bytes, received.messages});
}

}  // namespace

void compare_witnesses(const std::vector<PairCell>& cells, const std::function<bool(const PairCell&)>& counted_twice,
                       const std::function<bool(std::int64_t)>& has_reported, Coverage& coverage) {
  std::map<std::pair<std::int64_t, std::int64_t>, Both> pairs;
  for (const PairCell& cell : cells) {
    if (!counted_twice(cell)) continue;
    coverage.sent.bytes += cell.sent.bytes;
    coverage.sent.messages += cell.sent.messages;
    coverage.received.bytes += cell.received.bytes;
    coverage.received.messages += cell.received.messages;
    // Only where both ends have spoken can they be held against each other.
    if (!has_reported(cell.source) || !has_reported(cell.destination)) continue;
    Both& both = pairs[{cell.source, cell.destination}];
    both.sent += cell.sent;
    both.received += cell.received;
  }
  if (coverage.sent.witness.empty() || coverage.received.witness.empty()) return;
  for (const auto& [pair, both] : pairs) compare(pair.first, pair.second, both.sent, both.received, coverage);
}

}  // namespace fathom::profile
