// SPDX-License-Identifier: BSD-3-Clause
#include "profile/header_targets.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom::profile {
namespace {

base::Target object(Application& application) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "executable") return &application.executable;
                        if (key == "arguments") return &application.arguments;
                        if (key == "started_unix_ns") return &application.started_unix_ns;
                        if (key == "seconds") return &application.seconds;
                        return {};
                      },
                      nullptr};
}

base::Target object(MpiLibrary& mpi) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "library") return &mpi.library;
                        if (key == "version") return &mpi.version;
                        if (key == "pml") return &mpi.pml;
                        return {};
                      },
                      nullptr};
}

base::Target object(Rank& rank) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "rank") return &rank.rank;
                        if (key == "host") return &rank.host;
                        if (key == "pid") return &rank.pid;
                        if (key == "seconds") return &rank.seconds;
                        if (key == "world") return &rank.world;
                        if (key == "rank_in_world") return &rank.rank_in_world;
                        if (key == "peak_memory_bytes") return &rank.peak_memory_bytes;
                        if (key == "processor_wait_seconds") return &rank.processor_wait_seconds;
                        if (key == "reported") return &rank.reported;
                        return {};
                      },
                      nullptr};
}

base::Target object(Communicator& communicator) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "id") return &communicator.id;
                        if (key == "name") return &communicator.name;
                        if (key == "made_by") return &communicator.made_by;
                        if (key == "parent") return base::IntegerOrNull{&communicator.parent};
                        if (key == "internal") return &communicator.internal;
                        if (key == "instances") return &communicator.instances;
                        if (key == "world_ranks") return &communicator.world_ranks;
                        if (key == "remote_world_ranks") return &communicator.remote_world_ranks;
                        return {};
                      },
                      nullptr};
}

base::Target object(std::vector<double>& values) { return &values; }

base::Target object(PerformanceVariable& variable) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "name") return &variable.name;
                        if (key == "description") return &variable.description;
                        if (key == "bound_to") return &variable.bound_to;
                        if (key == "rank") return &variable.rank;
                        if (key == "values") return base::list_of(variable.values, &object);
                        return {};
                      },
                      [&]() -> std::optional<base::Complaint> {
                        if (variable.values.size() == variable.rank.size()) return std::nullopt;
                        return unequal_columns("values", variable.values.size(), "rank",
                                               variable.rank.size());
                      }};
}

base::Target object(CallSite& site) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "id") return &site.id;
                        if (key == "module") return &site.module;
                        if (key == "build_id") return &site.build_id;
                        if (key == "offset") return &site.offset;
                        if (key == "function") return &site.function;
                        if (key == "file") return &site.file;
                        if (key == "line") return &site.line;
                        return {};
                      },
                      nullptr};
}

base::Target object(CallDurations& durations) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "function") return &durations.function;
                        if (key == "site") return &durations.site;
                        if (key == "low_ns") return &durations.low_ns;
                        if (key == "calls") return &durations.calls;
                        return {};
                      },
                      [&]() -> std::optional<base::Complaint> {
                        if (durations.calls.size() == durations.low_ns.size()) return std::nullopt;
                        return unequal_columns("calls", durations.calls.size(), "low_ns",
                                               durations.low_ns.size());
                      }};
}

base::Target totals_member(Totals& totals, std::string_view key) {
  if (key == "bytes") return &totals.bytes;
  if (key == "messages") return &totals.messages;
  if (key == "witness") return &totals.witness;
  return {};
}

base::Target object(Totals& totals) {
  return base::Object{[&](std::string_view key) { return totals_member(totals, key); }, nullptr};
}

// The file stores tables column by column, memory stores them row by row. So a table is read into
// separate columns, which its closing bracket turns into rows.
base::Target table(std::vector<PairCount>& rows) {
  const auto columns = std::make_shared<Traffic>();
  return base::Object{[columns](std::string_view key) -> base::Target {
                        if (key == "source") return &columns->source;
                        if (key == "destination") return &columns->destination;
                        if (key == "bytes") return &columns->bytes;
                        if (key == "messages") return &columns->messages;
                        return {};
                      },
                      [columns, &rows]() -> std::optional<base::Complaint> {
                        if (auto complaint = unequal_columns(*columns)) return complaint;
                        rows.clear();
                        for (std::size_t row = 0; row < columns->source.size(); ++row) {
                          rows.push_back({columns->source[row], columns->destination[row],
                                          columns->bytes[row], columns->messages[row]});
                        }
                        return std::nullopt;
                      }};
}

struct DifferenceColumns {
  std::vector<std::int64_t> source, destination;
  std::vector<std::uint64_t> sent_bytes, sent_messages, received_bytes, received_messages;
};

base::Target table(std::vector<PairDifference>& rows) {
  const auto columns = std::make_shared<DifferenceColumns>();
  return base::Object{[columns](std::string_view key) -> base::Target {
                        if (key == "source") return &columns->source;
                        if (key == "destination") return &columns->destination;
                        if (key == "sent_bytes") return &columns->sent_bytes;
                        if (key == "sent_messages") return &columns->sent_messages;
                        if (key == "received_bytes") return &columns->received_bytes;
                        if (key == "received_messages") return &columns->received_messages;
                        return {};
                      },
                      [columns, &rows]() -> std::optional<base::Complaint> {
                        const DifferenceColumns& from = *columns;
                        const std::size_t count = from.source.size();
                        for (const auto& [name, size] :
                             {std::pair("destination", from.destination.size()),
                              std::pair("sent_bytes", from.sent_bytes.size()),
                              std::pair("sent_messages", from.sent_messages.size()),
                              std::pair("received_bytes", from.received_bytes.size()),
                              std::pair("received_messages", from.received_messages.size())}) {
                          if (size != count) return unequal_columns(name, size, "source", count);
                        }
                        rows.clear();
                        for (std::size_t row = 0; row < count; ++row) {
                          rows.push_back({from.source[row], from.destination[row],
                                          from.sent_bytes[row], from.sent_messages[row],
                                          from.received_bytes[row], from.received_messages[row]});
                        }
                        return std::nullopt;
                      }};
}

base::Target unreceived(Coverage& coverage) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "pairs") return table(coverage.unreceived_pairs);
                        return totals_member(coverage.unreceived, key);
                      },
                      nullptr};
}

base::Target object(NotVisible& gap) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "communicator") return base::IntegerOrNull{&gap.communicator};
                        if (key == "function") return &gap.function;
                        if (key == "module") return &gap.module;
                        if (key == "calls") return &gap.calls;
                        if (key == "reason") return &gap.reason;
                        return {};
                      },
                      nullptr};
}

base::Target object(StepDown& step) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "source") return &step.source;
                        if (key == "reason") return &step.reason;
                        return {};
                      },
                      nullptr};
}

base::Target object(TraceLoss& loss) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "reason") return &loss.reason;
                        if (key == "error") return &loss.error;
                        if (key == "ranks") return &loss.ranks;
                        if (key == "records") return &loss.records;
                        return {};
                      },
                      nullptr};
}

base::Target object(WaitCoverage& waits) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "threshold_ns") return &waits.threshold_ns;
                        if (key == "left_out") return &waits.left_out;
                        if (key == "left_out_ns") return &waits.left_out_ns;
                        if (key == "unresolved") return &waits.unresolved;
                        if (key == "unresolved_ns") return &waits.unresolved_ns;
                        return {};
                      },
                      nullptr};
}

base::Target object(Coverage& coverage) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "verdict") return &coverage.verdict;
                        if (key == "sent") return object(coverage.sent);
                        if (key == "received") return object(coverage.received);
                        if (key == "unreceived") return unreceived(coverage);
                        if (key == "differences") return table(coverage.differences);
                        if (key == "not_visible")
                          return base::list_of(coverage.not_visible, &object);
                        if (key == "steps_down") return base::list_of(coverage.steps_down, &object);
                        if (key == "lost_messages") return &coverage.lost_messages;
                        if (key == "untimed_calls") return &coverage.untimed_calls;
                        if (key == "waits") return object(coverage.waits.emplace());
                        if (key == "waits_unknown") return &coverage.waits_unknown;
                        if (key == "trace_lost") return base::list_of(coverage.trace_lost, &object);
                        if (key == "cut_short") return &coverage.cut_short;
                        if (key == "notes") return &coverage.notes;
                        return {};
                      },
                      nullptr};
}

}  // namespace

base::Complaint unequal_columns(const std::string& column, std::size_t size,
                                const std::string& first, std::size_t first_size) {
  return {column, "has " + std::to_string(size) + " values but \"" + first + "\" has " +
                      std::to_string(first_size)};
}

std::optional<base::Complaint> unequal_columns(const Traffic& block) {
  const std::size_t rows = block.source.size();
  for (const auto& [name, size] :
       {std::pair("destination", block.destination.size()), std::pair("bytes", block.bytes.size()),
        std::pair("messages", block.messages.size())}) {
    if (size != rows) return unequal_columns(name, size, "source", rows);
  }
  return std::nullopt;
}

std::optional<base::Complaint> unequal_columns(const CallTimes& block) {
  const std::size_t rows = block.rank.size();
  for (const auto& [name, size] :
       {std::pair("calls", block.calls.size()), std::pair("total_ns", block.total_ns.size()),
        std::pair("shortest_ns", block.shortest_ns.size()),
        std::pair("longest_ns", block.longest_ns.size()), std::pair("bytes", block.bytes.size()),
        std::pair("estimated", block.estimated.empty() ? rows : block.estimated.size())}) {
    if (size != rows) return unequal_columns(name, size, "rank", rows);
  }
  return std::nullopt;
}

std::optional<base::Complaint> unequal_columns(const CallWaits& block) {
  const std::size_t rows = block.rank.size();
  for (const auto& [name, size] :
       {std::pair("awaited", block.awaited.size()), std::pair("waits", block.waits.size()),
        std::pair("total_ns", block.total_ns.size()),
        std::pair("longest_ns", block.longest_ns.size())}) {
    if (size != rows) return unequal_columns(name, size, "rank", rows);
  }
  return std::nullopt;
}

std::optional<base::Complaint> unequal_columns(const PathPart& block) {
  const std::size_t rows = block.rank.size();
  for (const auto& [name, size] : {std::pair("stretches", block.stretches.size()),
                                   std::pair("total_ns", block.total_ns.size())}) {
    if (size != rows) return unequal_columns(name, size, "rank", rows);
  }
  for (const auto& [name, size] :
       {std::pair("calls", block.calls.size()), std::pair("bytes", block.bytes.size())}) {
    if (size != rows && size != 0) return unequal_columns(name, size, "rank", rows);
  }
  return std::nullopt;
}

std::optional<base::Complaint> unequal_columns(const WindowRanks& block) {
  if (block.total_ns.size() == block.rank.size()) return std::nullopt;
  return unequal_columns("total_ns", block.total_ns.size(), "rank", block.rank.size());
}

std::optional<base::Complaint> unequal_columns(const WindowCalls& block) {
  const std::size_t rows = block.rank.size();
  for (const auto& [name, size] :
       {std::pair("calls", block.calls.size()), std::pair("total_ns", block.total_ns.size()),
        std::pair("waiting_ns", block.waiting_ns.size()), std::pair("bytes", block.bytes.size())}) {
    if (size != rows) return unequal_columns(name, size, "rank", rows);
  }
  return std::nullopt;
}

base::Target header_member(Header& header, std::string_view key) {
  if (key == "world_size") return &header.world_size;
  if (key == "application") return object(header.application);
  if (key == "mpi") return object(header.mpi);
  if (key == "source") return &header.source;
  if (key == "ranks") return base::list_of(header.ranks, &object);
  if (key == "communicators") return base::list_of(header.communicators, &object);
  if (key == "performance_variables") return base::list_of(header.performance_variables, &object);
  if (key == "call_sites") return base::list_of(header.call_sites, &object);
  if (key == "call_durations") return base::list_of(header.call_durations, &object);
  if (key == "coverage") return object(header.coverage);
  return {};
}

}  // namespace fathom::profile
