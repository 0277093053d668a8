// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/profile_of_trace.h"

#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "base/seconds.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

class Sizes {
 public:
  void add(std::uint64_t size) {
    // Consecutive messages often have the same size, so the last count is cached.
    if (!last_ || size != last_size_) {
      last_ = &count_of(size);
      last_size_ = size;
    }
    ++*last_;
  }
  bool empty() const { return exact_.empty() && bins_.empty(); }
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
  // Map references stay valid while others are added.
  std::uint64_t& count_of(std::uint64_t size) {
    if (const auto known = exact_.find(size); known != exact_.end()) return known->second;
    return exact_.size() < kExactSizes ? exact_[size] : bins_[std::bit_floor(size)];
  }

  std::map<std::uint64_t, std::uint64_t> exact_, bins_;
  std::uint64_t* last_ = nullptr;  // count of the last size seen
  std::uint64_t last_size_ = 0;
};

constexpr std::uint32_t kNoPhase = ~std::uint32_t{0};

struct TracePair {
  std::uint32_t message_class = 0, phase = 0;
  std::int32_t communicator = 0, peer = 0;
  bool operator==(const TracePair&) const = default;
};
struct TracePairHash {
  std::uint64_t operator()(const TracePair& key) const {
    return base::mixed(
        (std::uint64_t{key.message_class} << 32 ^ static_cast<std::uint32_t>(key.peer)) +
        (std::uint64_t{key.phase} << 32 | static_cast<std::uint32_t>(key.communicator)) *
            0x9e3779b97f4a7c15u);
  }
};

// RowCounts of one kind of messages, sent or received.
class Counted {
 public:
  // `sized`: its size counts.
  void add(const Event& event, std::uint32_t phase, bool sized) {
    if (event.peer < 0) return;
    profile::Volume& volume = of_process_[{event.code, phase, event.communicator, event.peer}];
    volume.bytes += event.bytes;
    ++volume.messages;
    if (!sized) return;
    if (event.code >= sizes_.size()) sizes_.resize(event.code + 1);
    sizes_[event.code].add(event.bytes);
  }
  // Called after all messages of the process were added.
  void end(std::int64_t rank, bool sent, const trace::Definitions& definitions) {
    of_process_.for_each([&](const TracePair& key, const profile::Volume& volume) {
      const std::string phase = key.phase == kNoPhase ? "" : definitions.phases[key.phase];
      blocks_[{key.message_class, key.communicator, phase}].add(profile::PairCount{
          sent ? rank : key.peer, sent ? key.peer : rank, volume.bytes, volume.messages});
    });
    of_process_.clear();
  }
  bool empty() const { return blocks_.empty(); }

  void write(const trace::Definitions& definitions, profile::Profile& profile) {
    for (auto& [key, sums] : blocks_) {
      const auto& [class_number, communicator, phase] = key;
      profile::Traffic block{definitions.classes[class_number],
                             definitions.class_hidden[class_number],
                             communicator,
                             phase,
                             {},
                             {},
                             {},
                             {}};
      for (const profile::PairCount& pair : sums.take()) {
        block.source.push_back(pair.source);
        block.destination.push_back(pair.destination);
        block.bytes.push_back(pair.bytes);
        block.messages.push_back(pair.messages);
      }
      profile.traffic.push_back(std::move(block));
    }
    for (std::size_t class_number = 0; class_number < sizes_.size(); ++class_number) {
      if (sizes_[class_number].empty()) continue;
      profile.message_sizes.push_back(sizes_[class_number].take(
          definitions.classes[class_number], definitions.class_hidden[class_number]));
    }
  }

 private:
  using Key = std::tuple<std::uint32_t, std::int32_t, std::string>;
  base::FlatMap<TracePair, profile::Volume, TracePairHash> of_process_;
  std::map<Key, profile::PairSums> blocks_;
  std::vector<Sizes> sizes_;  // by class
};

struct RowCounts {
  Counted sent, received;
};

void count_process(const trace::Trace& trace, std::uint32_t process, const Scope& scope,
                   const EventChoice* choice, RowCounts& counts) {
  const trace::Definitions& definitions = trace.definitions();
  const std::int64_t rank = definitions.processes[process].rank;
  const bool own_sizes = !scope.ranks || scope.ranks->contains(rank);
  trace::EventCursor cursor = trace.events(process);
  // What came before the window matters only for the phases that are open there, and for positions.
  if (definitions.phases.empty() && choice == nullptr && scope.from_ns > 0)
    cursor.seek(scope.from_ns);
  std::vector<std::vector<std::uint32_t>> phases;  // open phases, by thread
  std::uint64_t position = 0;
  for (Event event; cursor.next(event) && event.time_ns < scope.to_ns; ++position) {
    switch (event.kind) {
      case EventKind::kMessageSent:
      case EventKind::kMessageReceived: break;
      case EventKind::kPhaseBegin:
        if (phases.size() <= event.thread) phases.resize(event.thread + 1);
        phases[event.thread].push_back(event.code);
        continue;
      case EventKind::kPhaseEnd:
        if (event.thread < phases.size() && !phases[event.thread].empty())
          phases[event.thread].pop_back();
        continue;
      default: continue;
    }
    const bool sent = event.kind == EventKind::kMessageSent;
    if (event.time_ns < scope.from_ns) continue;
    if (choice != nullptr && !(sent && choice->holds(process, position))) continue;
    const bool named = event.thread < phases.size() && !phases[event.thread].empty();
    (sent ? counts.sent : counts.received)
        .add(event, named ? phases[event.thread].back() : kNoPhase,
             own_sizes || scope.ranks->contains(event.peer));
  }
  counts.sent.end(rank, true, definitions);
  counts.received.end(rank, false, definitions);
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
    rank.seconds = base::seconds(process.last_ns - process.first_ns);
    profile.ranks.push_back(std::move(rank));
    last_ns = std::max(last_ns, process.last_ns);
  }
  if (profile.application.seconds == 0) profile.application.seconds = base::seconds(last_ns);
}

}  // namespace

profile::Profile profile_of_trace(const trace::Trace& trace, const Scope& scope,
                                  const EventChoice* choice) {
  profile::Profile profile;
  describe(trace.definitions(), profile);
  RowCounts counts;
  for (std::uint32_t process = 0; process < trace.definitions().processes.size(); ++process) {
    count_process(trace, process, scope, choice, counts);
  }
  Counted& chosen = counts.received.empty() ? counts.sent : counts.received;
  chosen.write(trace.definitions(), profile);
  profile.coverage.verdict = "one-witness";
  profile::Totals& counted =
      counts.received.empty() ? profile.coverage.sent : profile.coverage.received;
  counted.witness = "trace";
  for (const profile::Traffic& block : profile.traffic) {
    counted.bytes = std::accumulate(block.bytes.begin(), block.bytes.end(), counted.bytes);
    counted.messages =
        std::accumulate(block.messages.begin(), block.messages.end(), counted.messages);
  }
  return profile;
}

}  // namespace fathom::analysis
