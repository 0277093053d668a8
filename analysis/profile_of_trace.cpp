#include "analysis/profile_of_trace.h"

#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

class Sizes {
 public:
  void add(std::uint64_t size) {
    if (const auto known = exact_.find(size); known != exact_.end()) {
      ++known->second;
    } else if (exact_.size() < kExactSizes) {
      exact_[size] = 1;
    } else {
      ++bins_[std::bit_floor(size)];
    }
  }
  profile::MessageSizes take(const std::string& class_name, bool hidden) const {
    profile::MessageSizes sizes{class_name, hidden, {}, {}, {}, {}};
    for (const auto& [size, messages] : exact_) {
      sizes.size.push_back(size);
      sizes.messages.push_back(messages);
    }
    for (const auto& [low, messages] : bins_) {
      sizes.bin_low.push_back(low);
      sizes.bin_messages.push_back(messages);
    }
    return sizes;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> exact_, bins_;
};

// Counts the messages of one kind, sent or received.
class Counted {
 public:
  void add(const Event& event, std::int64_t rank, const std::string& phase) {
    const bool sent = event.kind == EventKind::kMessageSent;
    if (event.peer < 0) return;
    blocks_[{event.code, event.communicator, phase}].add(
        profile::PairCount{sent ? rank : event.peer, sent ? event.peer : rank, event.bytes, 1});
    sizes_[event.code].add(event.bytes);
  }
  bool empty() const { return blocks_.empty(); }

  void write(const trace::Definitions& definitions, profile::Profile& profile) {
    for (auto& [key, sums] : blocks_) {
      const auto& [class_number, communicator, phase] = key;
      profile::Traffic block{definitions.classes[class_number], definitions.class_hidden[class_number],
                             communicator, phase, {}, {}, {}, {}};
      for (const profile::PairCount& pair : sums.take()) {
        block.source.push_back(pair.source);
        block.destination.push_back(pair.destination);
        block.bytes.push_back(pair.bytes);
        block.messages.push_back(pair.messages);
      }
      profile.traffic.push_back(std::move(block));
    }
    for (const auto& [class_number, sizes] : sizes_) {
      profile.message_sizes.push_back(
          sizes.take(definitions.classes[class_number], definitions.class_hidden[class_number]));
    }
  }

 private:
  using Key = std::tuple<std::uint32_t, std::int32_t, std::string>;
  std::map<Key, profile::PairSums> blocks_;
  std::map<std::uint32_t, Sizes> sizes_;
};

struct Counts {
  Counted sent, received;
};

void count_process(const trace::Trace& trace, std::size_t process, const Scope& scope, Counts& counts) {
  const trace::Definitions& definitions = trace.definitions();
  const std::int64_t rank = definitions.processes[process].rank;
  trace::EventCursor cursor = trace.events(process);
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> phases;  // open ones, by thread
  for (Event event; cursor.next(event) && event.time_ns < scope.to_ns;) {
    if (event.kind == EventKind::kPhaseBegin) phases[event.thread].push_back(event.code);
    if (event.kind == EventKind::kPhaseEnd && !phases[event.thread].empty()) phases[event.thread].pop_back();
    const bool message = event.kind == EventKind::kMessageSent || event.kind == EventKind::kMessageReceived;
    if (!message || event.time_ns < scope.from_ns) continue;
    const auto open = phases.find(event.thread);
    const bool named = open != phases.end() && !open->second.empty();
    const std::string phase = named ? definitions.phases[open->second.back()] : "";
    (event.kind == EventKind::kMessageSent ? counts.sent : counts.received).add(event, rank, phase);
  }
}

void describe(const trace::Definitions& definitions, profile::Profile& profile) {
  profile.world_size = definitions.world_size;
  profile.application = definitions.application;
  profile.source = definitions.source;
  profile.communicators = definitions.communicators;
  std::uint64_t last_ns = 0;
  for (const trace::Process& process : definitions.processes) {
    profile::Rank rank;
    rank.rank = process.rank;
    rank.host = process.host;
    rank.pid = process.pid;
    rank.seconds = static_cast<double>(process.last_ns - process.first_ns) * 1e-9;
    profile.ranks.push_back(std::move(rank));
    last_ns = std::max(last_ns, process.last_ns);
  }
  if (profile.application.seconds == 0) profile.application.seconds = static_cast<double>(last_ns) * 1e-9;
}

}  // namespace

profile::Profile profile_of_trace(const trace::Trace& trace, const Scope& scope) {
  profile::Profile profile;
  describe(trace.definitions(), profile);
  Counts counts;
  for (std::size_t process = 0; process < trace.definitions().processes.size(); ++process) {
    count_process(trace, process, scope, counts);
  }
  Counted& chosen = counts.received.empty() ? counts.sent : counts.received;
  chosen.write(trace.definitions(), profile);
  profile.coverage.verdict = "one-witness";
  return profile;
}

}  // namespace fathom::analysis
