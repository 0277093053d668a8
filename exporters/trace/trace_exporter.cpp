// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/trace_exporter.h"

#include <algorithm>

namespace fathom::exporters {

std::string_view class_name(const trace::Definitions& definitions, std::uint32_t message_class) {
  return message_class < definitions.classes.size()
             ? std::string_view(definitions.classes[message_class])
             : "unknown class";
}

std::string communicator_name(const trace::Definitions& definitions, std::int32_t communicator) {
  if (communicator < 0) return "no communicator";
  const auto position = static_cast<std::size_t>(communicator);
  if (position < definitions.communicators.size() &&
      !definitions.communicators[position].name.empty()) {
    return definitions.communicators[position].name;
  }
  return "communicator " + std::to_string(communicator);
}

std::string process_name(const trace::Process& process) {
  std::string name =
      "rank " + std::to_string(process.rank) + (process.host.empty() ? "" : " on " + process.host);
  if (process.lost_records > 0)
    name += " (lost " + std::to_string(process.lost_records) + " records)";
  return name;
}

std::string_view kind_name(trace::EventKind kind) {
  switch (kind) {
    case trace::EventKind::kEnter:
    case trace::EventKind::kLeave: return "call";
    case trace::EventKind::kMessageSent: return "sent";
    case trace::EventKind::kMessageReceived: return "received";
    case trace::EventKind::kRequestCompleted: return "completed";
    case trace::EventKind::kTransfer: return "transfer";
    case trace::EventKind::kUnexpected: return "unexpected";
    case trace::EventKind::kPhaseBegin: return "phase begin";
    case trace::EventKind::kPhaseEnd: return "phase end";
    case trace::EventKind::kPause: return "pause";
    case trace::EventKind::kResume: return "resume";
    case trace::EventKind::kProcessor: return "processor";
    case trace::EventKind::kLost: return "lost";
    case trace::EventKind::kSampled: return "sampled";
    case trace::EventKind::kRequestGiven: return "given";
    case trace::EventKind::kMemberGiven: return "member";
  }
  return "unknown";
}

bool is_hidden(const trace::Definitions& definitions, std::uint32_t message_class) {
  return message_class < definitions.class_hidden.size() && definitions.class_hidden[message_class];
}

std::int64_t rank_count(const trace::Definitions& definitions) {
  std::int64_t count = definitions.world_size;
  for (const trace::Process& process : definitions.processes)
    count = std::max(count, process.rank + 1);
  return count;
}

void note(const trace::WalkSummary& summary, Notes& notes) {
  notes.insert(notes.end(), summary.problems.begin(), summary.problems.end());
  if (summary.unmatched_sends + summary.unmatched_receives == 0) return;
  notes.push_back(std::to_string(summary.unmatched_sends) + " messages sent and " +
                  std::to_string(summary.unmatched_receives) +
                  " received have no other end in the trace; they have no arrow");
}

void note_loss(const trace::Definitions& definitions, Notes& notes) {
  std::uint64_t lost = 0;
  for (const trace::Process& process : definitions.processes) {
    lost += process.lost_records;
    for (const std::string& problem : process.problems) notes.push_back(problem);
  }
  if (lost > 0)
    notes.push_back("the trace lost " + std::to_string(lost) +
                    " records; their events are missing");
}

void walk_job(const trace::Trace& trace, trace::Visitor& visitor, Notes& notes) {
  note(trace::walk_job(trace, visitor), notes);
  note_loss(trace.definitions(), notes);
}

std::uint32_t FlatTags::tag_of(std::int32_t communicator, std::int32_t tag) {
  if (communicator == 0 && tag >= 0 && static_cast<std::uint32_t>(tag) < kFirstOther) {
    return static_cast<std::uint32_t>(tag);
  }
  const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(communicator))
                                << 32 |
                            static_cast<std::uint32_t>(tag);
  const auto number = static_cast<std::uint32_t>(kFirstOther + others_.size());
  return others_.try_emplace(key, number).first->second;
}

}  // namespace fathom::exporters
