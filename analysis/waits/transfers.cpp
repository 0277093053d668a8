// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/transfers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/waits/blocked_time.h"
#include "analysis/waits/transfer_steps.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

// NaN for a moment or duration that was not observed.
double seen(std::uint64_t ns) { return ns > 0 ? base::seconds(ns) : std::nan(""); }

std::string name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEager: return "eager";
    case Protocol::kRendezvous: return "rendezvous";
    case Protocol::kUnknown: break;
  }
  return "unknown";
}

struct Seen {
  std::vector<TransferRow> rows;
  std::vector<Transfer> messages;
  bool steps = false;  // PERUSE steps
};

struct Limits {
  std::uint64_t steps = 0, largest_eager = 0, smallest_rendezvous = ~std::uint64_t{0};
};

// For sizes between `least` and `most`, by what the job's other messages of these sizes used.
Protocol by_size(std::uint64_t least, std::uint64_t most, const Limits& limits) {
  if (limits.largest_eager >= limits.smallest_rendezvous)
    return Protocol::kUnknown;  // both protocols occur at one size
  if (most <= limits.largest_eager) return Protocol::kEager;
  return least >= limits.smallest_rendezvous ? Protocol::kRendezvous : Protocol::kUnknown;
}

// Only a receive that was posted before its message came shows the protocol, so the sizes of these
// decide for all other ends.
void set_by_size(Seen& seen, const Limits& limits) {
  for (TransferRow& row : seen.rows) {
    if (row.protocol != Protocol::kUnknown) continue;
    const std::uint64_t below = std::uint64_t{1} << std::min(row.size_bin, 63u);
    row.protocol = by_size(below / 2, below - 1, limits);
  }
  for (Transfer& message : seen.messages) {
    if (message.protocol == Protocol::kUnknown)
      message.protocol = by_size(message.bytes, message.bytes, limits);
  }
}

auto key(const TransferRow& row) {
  return std::tie(row.process, row.receiving, row.hidden, row.protocol, row.size_bin);
}

// Sorts the rows and merges those that turned out to be equal.
std::vector<TransferRow> put_together(std::vector<TransferRow> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const TransferRow& a, const TransferRow& b) { return key(a) < key(b); });
  std::vector<TransferRow> together;
  for (const TransferRow& row : rows) {
    if (together.empty() || key(together.back()) != key(row)) {
      together.push_back(row);
      continue;
    }
    TransferRow& sum = together.back();
    sum.count += row.count;
    sum.bytes += row.bytes;
    sum.unexpected += row.unexpected;
    sum.queued_ns += row.queued_ns;
    sum.most_queued_ns = std::max(sum.most_queued_ns, row.most_queued_ns);
    sum.transfer_ns += row.transfer_ns;
    sum.overlap_ns += row.overlap_ns;
    sum.asked_to_begin_ns += row.asked_to_begin_ns;
    sum.end_to_complete_ns += row.end_to_complete_ns;
  }
  return together;
}

base::Result<Seen> look(const Input& input) {
  const ScopeFilter scope(input.scope, input.trace->definitions());
  TransferSteps transfers(input.trace->definitions(), scope,
                          static_cast<std::size_t>(input.thresholds.transfer_messages));
  JoinOptions options;
  options.steps = false;
  options.consumers = {&transfers};
  Transport& transport = input.job->transport();
  auto job = join_job(*input.trace, transport, options);
  if (!job) return job.error();
  Seen seen;
  seen.rows = gathered(transport, transfers.rows());
  seen.messages = gathered(transport, transfers.messages);
  Limits limits;
  for (const Limits& one :
       gathered(transport, std::vector{Limits{transfers.steps_seen, transfers.largest_eager,
                                              transfers.smallest_rendezvous}})) {
    limits.steps += one.steps;
    limits.largest_eager = std::max(limits.largest_eager, one.largest_eager);
    limits.smallest_rendezvous = std::min(limits.smallest_rendezvous, one.smallest_rendezvous);
  }
  seen.steps = limits.steps > 0;
  if (seen.steps) set_by_size(seen, limits);
  seen.rows = put_together(std::move(seen.rows));
  std::sort(seen.messages.begin(), seen.messages.end(), [](const Transfer& a, const Transfer& b) {
    return std::tie(a.process, a.number) < std::tie(b.process, b.number);
  });
  return seen;
}

void transfer_table(const std::vector<TransferRow>& rows, const trace::Definitions& definitions,
                    Section& section) {
  Table& table = section.table("transfers");
  const auto mean = [](std::uint64_t ns, std::uint64_t count) {
    return count > 0 ? base::seconds(ns) / static_cast<double>(count) : 0.0;
  };
  add_column(table, "rank", rows,
             [&](const TransferRow& row) { return definitions.processes[row.process].rank; });
  add_column(table, "side", rows, [](const TransferRow& row) {
    return std::string(row.receiving ? "receive" : "send");
  });
  add_column(table, "hidden", rows,
             [](const TransferRow& row) { return std::int64_t{row.hidden}; });
  add_column(table, "protocol", rows, [](const TransferRow& row) { return name_of(row.protocol); });
  add_column(table, "bytes_below", rows, [](const TransferRow& row) {
    return std::uint64_t{1} << std::min(row.size_bin, 63u);
  });
  add_column(table, "count", rows, [](const TransferRow& row) { return row.count; });
  add_column(table, "bytes", rows, [](const TransferRow& row) { return row.bytes; });
  add_column(table, "unexpected", rows, [](const TransferRow& row) { return row.unexpected; });
  add_column(table, "queued_seconds", rows,
             [](const TransferRow& row) { return base::seconds(row.queued_ns); });
  add_column(table, "most_queued_seconds", rows,
             [](const TransferRow& row) { return base::seconds(row.most_queued_ns); });
  add_column(table, "mean_asked_to_begin_seconds", rows,
             [&](const TransferRow& row) { return mean(row.asked_to_begin_ns, row.count); });
  add_column(table, "mean_transfer_seconds", rows,
             [&](const TransferRow& row) { return mean(row.transfer_ns, row.count); });
  add_column(table, "overlap_seconds", rows,
             [](const TransferRow& row) { return base::seconds(row.overlap_ns); });
  add_column(table, "overlap_share", rows, [](const TransferRow& row) {
    return row.transfer_ns > 0
               ? static_cast<double>(row.overlap_ns) / static_cast<double>(row.transfer_ns)
               : 0.0;
  });
}

void message_table(const std::vector<Transfer>& rows, const trace::Definitions& definitions,
                   Section& section) {
  Table& table = section.table("messages");
  add_column(table, "rank", rows,
             [&](const Transfer& row) { return definitions.processes[row.process].rank; });
  add_column(table, "side", rows,
             [](const Transfer& row) { return std::string(row.receiving ? "receive" : "send"); });
  add_column(table, "peer", rows, [](const Transfer& row) { return std::int64_t{row.peer}; });
  add_column(table, "communicator", rows,
             [](const Transfer& row) { return std::int64_t{row.communicator}; });
  add_column(table, "tag", rows, [](const Transfer& row) { return std::int64_t{row.tag}; });
  add_column(table, "class", rows, [&](const Transfer& row) {
    return row.message_class < definitions.classes.size() ? definitions.classes[row.message_class]
                                                          : std::string();
  });
  add_column(table, "bytes", rows, [](const Transfer& row) { return row.bytes; });
  add_column(table, "protocol", rows, [](const Transfer& row) { return name_of(row.protocol); });
  add_column(table, "unexpected", rows,
             [](const Transfer& row) { return std::int64_t{row.unexpected}; });
  add_column(table, "queued_seconds", rows,
             [](const Transfer& row) { return base::seconds(row.queued_ns); });
  add_column(table, "posted_s", rows, [](const Transfer& row) { return seen(row.asked_ns); });
  add_column(table, "matched_s", rows, [](const Transfer& row) { return seen(row.matched_ns); });
  add_column(table, "begin_s", rows, [](const Transfer& row) { return seen(row.begin_ns); });
  add_column(table, "end_s", rows, [](const Transfer& row) { return seen(row.end_ns); });
  add_column(table, "complete_s", rows, [](const Transfer& row) { return seen(row.complete_ns); });
  add_column(table, "overlap_seconds", rows,
             [](const Transfer& row) { return base::seconds(row.overlap_ns); });
}

void blocked_table(const std::vector<BlockedRow>& rows, const trace::Definitions& definitions,
                   Section& section) {
  std::uint64_t peer_ns = 0, wire_ns = 0;
  for (const BlockedRow& row : rows) peer_ns += row.peer_ns, wire_ns += row.wire_ns;
  section.figure("blocked_by_peers_seconds", base::seconds(peer_ns));
  section.figure("blocked_by_the_wire_seconds", base::seconds(wire_ns));
  Table& table = section.table("blocked");
  add_column(table, "rank", rows,
             [&](const BlockedRow& row) { return definitions.processes[row.process].rank; });
  add_column(table, "peer", rows,
             [&](const BlockedRow& row) { return definitions.processes[row.peer].rank; });
  add_column(table, "side", rows,
             [](const BlockedRow& row) { return std::string(row.receiving ? "receive" : "send"); });
  add_column(table, "count", rows, [](const BlockedRow& row) { return row.count; });
  add_column(table, "bytes", rows, [](const BlockedRow& row) { return row.bytes; });
  add_column(table, "peer_seconds", rows,
             [](const BlockedRow& row) { return base::seconds(row.peer_ns); });
  add_column(table, "wire_seconds", rows,
             [](const BlockedRow& row) { return base::seconds(row.wire_ns); });
  add_column(table, "most_wire_seconds", rows,
             [](const BlockedRow& row) { return base::seconds(row.most_wire_ns); });
}

void limits(const Seen& seen, Outcome& outcome) {
  if (!seen.steps && !seen.rows.empty()) {
    outcome.limits.push_back(
        "transfers: the trace was recorded without PERUSE, so blocked times are known, but not "
        "when "
        "messages were matched and transferred, the unexpected queue, the protocol (eager or "
        "rendezvous) or the overlap");
  }
  std::uint64_t all = 0;
  for (const TransferRow& row : seen.rows) all += row.count;
  if (seen.messages.size() < all) {
    outcome.limits.push_back("transfers: the table of messages holds " +
                             std::to_string(seen.messages.size()) + " of " + std::to_string(all) +
                             " ends; --set transfer_messages=N shows more");
  }
}

}  // namespace

base::Result<Outcome> transfers(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const std::vector<BlockedRow> blocked = blocked_time(**joined, input.scope);
  const auto seen = look(input);
  if (!seen) return seen.error();
  Outcome outcome;
  if (input.job->transport().rank() != 0) return outcome;
  const trace::Definitions& definitions = input.trace->definitions();
  blocked_table(blocked, definitions, outcome.section);
  transfer_table(seen->rows, definitions, outcome.section);
  message_table(seen->messages, definitions, outcome.section);
  limits(*seen, outcome);
  if (input.scope.phases) outcome.limits.push_back("transfers: the tables cover all phases");
  return outcome;
}

}  // namespace fathom::analysis
