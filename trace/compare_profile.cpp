// SPDX-License-Identifier: BSD-3-Clause
#include "trace/compare_profile.h"

#include <map>
#include <tuple>
#include <utility>

namespace fathom::trace {
namespace {

struct CellName {
  std::string class_name;
  bool hidden = false;
  std::int64_t communicator = 0, source = 0, destination = 0;
  auto operator<=>(const CellName&) const = default;
};

struct Counts {
  MessageCount sent, received, profile;
};

void add(MessageCount& to, std::uint64_t bytes, std::uint64_t messages) {
  to.bytes += bytes;
  to.messages += messages;
}

class Comparison {
 public:
  Comparison(const Trace& trace, const profile::Profile& profile)
      : trace_(trace), profile_(profile) {}

  ProfileComparison run() {
    for (std::size_t process = 0; process < trace_.definitions().processes.size(); ++process)
      read(process);
    name_cells();
    add_profile();
    for (const profile::PairCount& pair : profile_.coverage.unreceived_pairs) {
      add(unreceived_[{pair.source, pair.destination}], pair.bytes, pair.messages);
    }
    judge();
    return std::move(result_);
  }

 private:
  // class, communicator, source, destination; numbers, not names, because there are many events
  using Key = std::tuple<std::uint32_t, std::int32_t, std::int64_t, std::int64_t>;

  void read(std::size_t process) {
    const Process& facts = trace_.definitions().processes[process];
    std::string& reason = reasons_[facts.rank];
    const auto give_reason = [&](const char* why) {
      if (reason.empty()) reason = why;
    };
    if (!facts.complete) give_reason("its trace was cut short");
    if (facts.lost_records > 0) give_reason("records were lost");
    EventCursor cursor = trace_.events(process);
    for (Event event; cursor.next(event);) {
      const std::int64_t own = facts.rank;
      if (event.kind == EventKind::kMessageSent) {
        add(counted_[{event.code, event.communicator, own, event.peer}].sent, event.bytes, 1);
      } else if (event.kind == EventKind::kMessageReceived) {
        add(counted_[{event.code, event.communicator, event.peer, own}].received, event.bytes, 1);
      } else if (event.kind == EventKind::kLost) {
        give_reason("records were lost");
      } else if (event.kind == EventKind::kPause) {
        give_reason("recording was paused");
      } else if (event.kind == EventKind::kSampled) {
        give_reason("events were left out by sampling");
      }
    }
    for (const std::string& problem : cursor.problems()) result_.notes.push_back(problem);
    for (const std::string& problem : facts.problems) result_.notes.push_back(problem);
  }

  void name_cells() {
    const Definitions& definitions = trace_.definitions();
    for (const auto& [key, counts] : counted_) {
      const auto& [class_number, communicator, source, destination] = key;
      CellName name{definitions.classes[class_number], definitions.class_hidden[class_number],
                    communicator, source, destination};
      if (is_left_out(name.class_name, name.hidden)) continue;
      Counts& cell = cells_[name];
      add(cell.sent, counts.sent.bytes, counts.sent.messages);
      add(cell.received, counts.received.bytes, counts.received.messages);
      add(result_.sent, counts.sent.bytes, counts.sent.messages);
      add(result_.received, counts.received.bytes, counts.received.messages);
    }
    result_.sends_recorded = result_.sent.messages > 0;
    result_.receives_recorded = result_.received.messages > 0;
  }

  bool is_left_out(const std::string& class_name, bool hidden) const {
    const bool posted = class_name == profile::kOneSided && !hidden;
    return posted || class_name == profile::kIo || (hidden && holds_calls_only());
  }
  bool holds_calls_only() const { return trace_.definitions().level == "calls"; }

  void add_profile() {
    for (const profile::Traffic& traffic : profile_.traffic) {
      if (is_left_out(traffic.class_name, traffic.hidden)) continue;
      for (std::size_t i = 0; i < traffic.source.size(); ++i) {
        const CellName name{traffic.class_name, traffic.hidden, traffic.communicator,
                            traffic.source[i], traffic.destination[i]};
        add(cells_[name].profile, traffic.bytes[i], traffic.messages[i]);
        add(result_.profile, traffic.bytes[i], traffic.messages[i]);
      }
    }
  }

  // Checks that sent and received agree with the profile, as far as they were recorded and both
  // ends have a trace.
  void judge() {
    result_.cells = cells_.size();
    if (holds_calls_only()) {
      result_.notes.push_back(
          "the trace holds calls only: messages inside collectives were not compared");
    }
    if (!result_.sends_recorded && result_.receives_recorded) {
      result_.notes.push_back("the trace holds no sent messages; only receives were compared");
    }
    if (result_.sends_recorded && !result_.receives_recorded) {
      result_.notes.push_back("the trace holds no received messages; only sends were compared");
    }
    for (const auto& [name, counts] : cells_) {
      const bool sent_right = !result_.sends_recorded || is_foreign(name.source) ||
                              counts.sent == counts.profile || is_unreceived(name, counts);
      const bool received_right = !result_.receives_recorded || is_foreign(name.destination) ||
                                  counts.received == counts.profile;
      if (sent_right && received_right) continue;
      result_.differences.push_back({name.class_name, name.hidden, name.communicator, name.source,
                                     name.destination, counts.sent, counts.received, counts.profile,
                                     reason_for(name, counts)});
    }
  }

  bool is_foreign(std::int64_t rank) const { return rank >= profile_.world_size; }

  // Messages sent and not received may belong to any class of the pair, but together they must not
  // exceed what the profile reports.
  bool is_unreceived(const CellName& name, const Counts& counts) {
    const auto found = unreceived_.find({name.source, name.destination});
    if (found == unreceived_.end() || counts.sent.messages < counts.profile.messages ||
        counts.sent.bytes < counts.profile.bytes) {
      return false;
    }
    const MessageCount more{counts.sent.bytes - counts.profile.bytes,
                            counts.sent.messages - counts.profile.messages};
    if (more.bytes > found->second.bytes || more.messages > found->second.messages) return false;
    found->second.bytes -= more.bytes;
    found->second.messages -= more.messages;
    return true;
  }

  std::string reason_for(const CellName& name, const Counts& counts) const {
    if (!trace_.definitions().chosen_communicators.empty() &&
        counts.sent.messages + counts.received.messages == 0) {
      return "its communicator was not chosen";
    }
    for (const std::int64_t rank : {name.source, name.destination}) {
      const auto reason = reasons_.find(rank);
      if (is_foreign(rank)) continue;
      if (reason == reasons_.end()) return "rank " + std::to_string(rank) + " left no trace";
      if (!reason->second.empty()) return "rank " + std::to_string(rank) + ": " + reason->second;
    }
    for (const profile::PairDifference& pair : profile_.coverage.differences) {
      if (pair.source == name.source && pair.destination == name.destination)
        return "sender and receiver disagree on this pair in the profile too";
    }
    return "";
  }

  const Trace& trace_;
  const profile::Profile& profile_;
  ProfileComparison result_;
  std::map<Key, Counts> counted_;
  std::map<CellName, Counts> cells_;
  std::map<std::pair<std::int64_t, std::int64_t>, MessageCount> unreceived_;
  std::map<std::int64_t, std::string> reasons_;  // by rank; empty: its trace is complete
};

}  // namespace

ProfileComparison compare_with_profile(const Trace& trace, const profile::Profile& profile) {
  return Comparison(trace, profile).run();
}

}  // namespace fathom::trace
