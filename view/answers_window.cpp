// SPDX-License-Identifier: BSD-3-Clause
// Statistics, matrix and sizes of exactly one window: the figures of `fathom analyze --from --to`, as whole
// nanoseconds, because the same analyses compute them.
#include <algorithm>
#include <map>
#include <numeric>

#include "mpi/meaning.h"
#include "trace/attributes.h"
#include "view/columns.h"
#include "view/session.h"

namespace fathom::view {
namespace {

constexpr std::size_t kMostWaits = 200, kMostPairs = 20'000;

using Numbers = std::vector<std::uint64_t>;

std::uint64_t sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

struct RankRow {
  std::uint64_t program_ns = 0, mpi_ns = 0, wait_ns = 0, caused_ns = 0, bytes_sent = 0,
                bytes_received = 0, messages_sent = 0, messages_received = 0;
};

// Positions of the `most` largest, largest first.
std::vector<std::size_t> largest(const Numbers& numbers, std::size_t most) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

template <typename T>
void write_chosen(base::JsonWriter& json, const char* name, const std::vector<T>& column,
                  const std::vector<std::size_t>& chosen) {
  json.list(name, chosen, [&](std::size_t at) { json.value(column[at]); });
}

std::map<std::int64_t, RankRow> rows_of(const analysis::Results& results) {
  std::map<std::int64_t, RankRow> rows;
  const auto add = [&rows](const analysis::Table* table, const char* key, const Numbers& column,
                           std::uint64_t RankRow::*member) {
    const auto ranks = column_of<std::int64_t>(table, key);
    for (std::size_t i = 0; i < ranks.size() && i < column.size(); ++i)
      rows[ranks[i]].*member += column[i];
  };
  const analysis::Table* idle = find_table(results, "idle-time", "idle_time");
  add(idle, "rank", ns_column(idle, "program_seconds"), &RankRow::program_ns);
  add(idle, "rank", ns_column(idle, "mpi_seconds"), &RankRow::mpi_ns);
  add(idle, "rank", ns_column(idle, "waiting_seconds"), &RankRow::wait_ns);
  const analysis::Table* waits = find_table(results, "wait-states", "waits");
  add(waits, "culprit", ns_column(waits, "seconds"), &RankRow::caused_ns);
  const analysis::Table* traffic = find_table(results, "matrices", "ranks");
  const auto add_traffic = [&](const char* name, std::uint64_t RankRow::*member) {
    add(traffic, "rank", column_of<std::uint64_t>(traffic, name), member);
  };
  add_traffic("bytes_sent", &RankRow::bytes_sent);
  add_traffic("bytes_received", &RankRow::bytes_received);
  add_traffic("messages_sent", &RankRow::messages_sent);
  add_traffic("messages_received", &RankRow::messages_received);
  return rows;
}

void write_ranks(base::JsonWriter& json, const std::map<std::int64_t, RankRow>& rows) {
  const auto column = [&](const char* name, std::uint64_t RankRow::*member) {
    json.list(name, rows, [&](const auto& row) { json.value(row.second.*member); });
  };
  json.object("by_rank", [&] {
    json.list("rank", rows, [&](const auto& row) { json.value(row.first); });
    column("computing_ns", &RankRow::program_ns);
    column("mpi_ns", &RankRow::mpi_ns);
    column("wait_ns", &RankRow::wait_ns);
    column("caused_ns", &RankRow::caused_ns);
    column("bytes_sent", &RankRow::bytes_sent);
    column("bytes_received", &RankRow::bytes_received);
    column("messages_sent", &RankRow::messages_sent);
    column("messages_received", &RankRow::messages_received);
  });
}

void write_functions(base::JsonWriter& json, const analysis::Results& results) {
  const analysis::Table* table = find_table(results, "flat-profile", "functions");
  json.object("functions", [&] {
    const auto names = column_of<std::string>(table, "name");
    json.field("name", names);
    json.list("group", names, [&](const std::string& name) {
      json.value(name.starts_with("(program") ? "program"
                                              : trace::name_of(mpi::meaning_of(name).group));
    });
    json.field("calls", column_of<std::uint64_t>(table, "count"));
    json.field("inclusive_ns", ns_column(table, "inclusive_seconds"));
    json.field("ns", ns_column(table, "exclusive_seconds"));
    json.field("bytes", column_of<std::uint64_t>(table, "bytes"));
  });
}

void write_waits(base::JsonWriter& json, const analysis::Results& results) {
  const analysis::Table* table = find_table(results, "wait-states", "waits");
  const Numbers ns = ns_column(table, "seconds");
  const std::vector<std::size_t> chosen = largest(ns, kMostWaits);
  json.object("waits", [&] {
    write_chosen(json, "rank", column_of<std::int64_t>(table, "rank"), chosen);
    write_chosen(json, "awaited", column_of<std::int64_t>(table, "culprit"), chosen);
    write_chosen(json, "kind", column_of<std::string>(table, "kind"), chosen);
    write_chosen(json, "function", column_of<std::string>(table, "function"), chosen);
    write_chosen(json, "file", column_of<std::string>(table, "file"), chosen);
    write_chosen(json, "line", column_of<std::int64_t>(table, "line"), chosen);
    write_chosen(json, "ns", ns, chosen);
    write_chosen(json, "count", column_of<std::uint64_t>(table, "count"), chosen);
  });
  json.field("waits_more", ns.size() - chosen.size());
}

void write_traffic(base::JsonWriter& json, const analysis::Results& results) {
  const analysis::Table* pairs = find_table(results, "matrices", "all_pairs");
  const auto bytes = column_of<std::uint64_t>(pairs, "bytes");
  const auto messages = column_of<std::uint64_t>(pairs, "messages");
  json.object("traffic", [&] {
    json.field("bytes", sum(bytes));
    json.field("messages", sum(messages));
  });
  const std::vector<std::size_t> chosen = largest(bytes, kMostPairs);
  json.object("matrix", [&] {
    write_chosen(json, "source", column_of<std::int64_t>(pairs, "source"), chosen);
    write_chosen(json, "destination", column_of<std::int64_t>(pairs, "destination"), chosen);
    write_chosen(json, "bytes", bytes, chosen);
    write_chosen(json, "messages", messages, chosen);
  });
  json.field("matrix_more", bytes.size() - chosen.size());
}

// Sizes that were counted one by one, and bins [low, 2 × low) of the others.
void write_sizes(base::JsonWriter& json, const analysis::Results& results) {
  const analysis::Table* table = find_table(results, "histograms", "message_sizes");
  const auto low = column_of<std::uint64_t>(table, "low_bytes");
  const auto high = column_of<std::uint64_t>(table, "high_bytes");
  const auto hidden = column_of<std::int64_t>(table, "hidden");
  std::vector<std::size_t> exact, bins;
  for (std::size_t i = 0; i < low.size(); ++i) (low[i] == high[i] ? exact : bins).push_back(i);
  const auto write = [&](const char* name, const char* size, const std::vector<std::size_t>& rows) {
    json.object(name, [&] {
      write_chosen(json, "class", column_of<std::string>(table, "class"), rows);
      json.list("hidden", rows, [&](std::size_t at) { json.value(hidden[at] != 0); });
      write_chosen(json, size, low, rows);
      write_chosen(json, "messages", column_of<std::uint64_t>(table, "messages"), rows);
    });
  };
  write("sizes", "size", exact);
  write("size_bins", "low", bins);
}

}  // namespace

Reply answer_window(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  const auto lock = (*run)->lock_joined();
  if (!lock) return busy();
  const auto results = (*run)->analyse(
      {"idle-time", "flat-profile", "wait-states", "matrices", "histograms"}, *scope, false);
  if (!results) return refuse(422, results.error().message);
  const std::map<std::int64_t, RankRow> rows = rows_of(*results);
  const auto total = [&rows](std::uint64_t RankRow::*member) {
    std::uint64_t all = 0;
    for (const auto& [rank, row] : rows) all += row.*member;
    return all;
  };
  return json_reply([&](base::JsonWriter& json) {
    json.field("from_ns", scope->from_ns);
    if (scope->to_ns < analysis::Scope{}.to_ns) {
      json.field("to_ns", scope->to_ns);
    } else {
      json.key("to_ns");
      json.null();
    }
    json.field("ranks", rows.size());
    json.field("all_ns", ns_of(results->all_ranks_seconds));
    json.field("computing_ns", total(&RankRow::program_ns));
    json.field("mpi_ns", total(&RankRow::mpi_ns));
    json.field("wait_ns", total(&RankRow::wait_ns));
    write_ranks(json, rows);
    write_functions(json, *results);
    write_waits(json, *results);
    write_traffic(json, *results);
    write_sizes(json, *results);
    json.field("limits", results->limits);
    json.field("skipped", results->skipped);
  });
}

}  // namespace fathom::view
