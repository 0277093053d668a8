// SPDX-License-Identifier: BSD-3-Clause
// The traffic matrix of a part of a run, by rank or host, in several orders; as tiles where it is large.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "profile/pair_sums.h"
#include "profile/summary.h"
#include "view/bytes.h"
#include "view/columns.h"
#include "view/matrix_order.h"
#include "view/session.h"

namespace fathom::view {
struct Matrix {
  std::vector<std::uint32_t> order;
  std::vector<std::string> labels;  // hosts; empty by rank
  std::vector<std::string> hosts;   // of each row
  std::vector<MatrixCell> cells;    // each pair once, in order
  std::uint32_t size = 0;
};

namespace {

constexpr std::uint32_t kWholeSize = 1024, kTileCells = 256;

// "what" as the sum of what a pair exchanged; by "class" and the like, the scope has chosen already.
base::Result<std::vector<profile::PairCount>> pairs_of(ViewedRun& run, const std::string& what,
                                                       const analysis::Scope& scope) {
  const auto loaded = run.loaded();
  if (!loaded) return loaded.error();
  if (what != "waits") {
    // A class without messages in this part is an empty matrix, and no mistake.
    analysis::Scope any = scope;
    any.classes.clear();
    const auto part = analysis::profile_of_part(**loaded, any);
    if (!part) return part.error();
    profile::Selection chosen;
    if (!scope.classes.empty()) chosen.classes.emplace(scope.classes.begin(), scope.classes.end());
    std::vector<profile::PairCount> pairs = profile::sum_pairs(*part, chosen);
    if (what == "messages") {
      for (profile::PairCount& pair : pairs) pair.bytes = pair.messages;
    }
    return pairs;
  }
  const auto results = run.analyse({"wait-states"}, scope);
  if (!results) return results.error();
  const analysis::Table* table = find_table(*results, "wait-states", "waits");
  const auto victims = column_of<std::int64_t>(table, "rank");
  const auto culprits = column_of<std::int64_t>(table, "culprit");
  const auto ns = ns_column(table, "seconds");
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> sums;
  for (std::size_t i = 0; i < ns.size(); ++i) sums[{culprits[i], victims[i]}] += ns[i];
  std::vector<profile::PairCount> pairs;
  for (const auto& [pair, sum] : sums) pairs.push_back({pair.first, pair.second, sum, 0});
  return pairs;
}

std::vector<std::string> hosts_by_rank(const profile::Profile& profile, std::uint32_t size) {
  std::vector<std::string> hosts(size);
  for (const profile::Rank& rank : profile.ranks) {
    if (rank.rank >= 0 && rank.rank < size) hosts[static_cast<std::size_t>(rank.rank)] = rank.host;
  }
  return hosts;
}

Matrix by_rank(const std::vector<profile::PairCount>& pairs, const profile::Profile& profile) {
  Matrix matrix;
  matrix.size = static_cast<std::uint32_t>(profile::rank_count(profile));
  matrix.hosts = hosts_by_rank(profile, matrix.size);
  for (const profile::PairCount& pair : pairs) {
    if (pair.source < 0 || pair.destination < 0 || pair.source >= matrix.size ||
        pair.destination >= matrix.size)
      continue;
    matrix.cells.push_back({static_cast<std::uint32_t>(pair.source),
                            static_cast<std::uint32_t>(pair.destination), pair.bytes});
  }
  return matrix;
}

Matrix by_host(const Matrix& ranks) {
  Matrix matrix;
  std::map<std::string, std::uint32_t> numbers;
  for (const std::string& host : ranks.hosts) {
    if (numbers.emplace(host, static_cast<std::uint32_t>(numbers.size())).second)
      matrix.labels.push_back(profile::shown_host(host));
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;
  for (const MatrixCell& cell : ranks.cells)
    sums[{numbers[ranks.hosts[cell.source]], numbers[ranks.hosts[cell.destination]]}] += cell.value;
  for (const auto& [pair, sum] : sums) matrix.cells.push_back({pair.first, pair.second, sum});
  matrix.size = static_cast<std::uint32_t>(matrix.labels.size());
  matrix.hosts = matrix.labels;
  return matrix;
}

// Empty: there is no such order.
std::vector<std::uint32_t> order_of(const Matrix& matrix, const std::string& name) {
  if (name == "host") return host_order(matrix.hosts);
  if (name == "pattern") return pattern_order(matrix.size, matrix.cells);
  if (name == "cluster") return cluster_order(matrix.size, matrix.cells);
  std::vector<std::uint32_t> natural;
  for (std::uint32_t one = 0; one < matrix.size; ++one) natural.push_back(one);
  return natural;
}

Reply whole_matrix(const Matrix& matrix, const std::string& what, const std::string& by) {
  std::uint64_t total = 0, most = 0;
  for (const MatrixCell& cell : matrix.cells) {
    total += cell.value;
    most = std::max(most, cell.value);
  }
  return json_reply([&](base::JsonWriter& json) {
    json.field("what", what);
    json.field("by", by);
    json.field("size", matrix.size);
    json.field("labels", matrix.labels);
    json.field("order", matrix.order);
    json.field("hosts", matrix.hosts);
    json.field("total", total);
    json.field("max", most);
    const auto column = [&](const char* name, auto of) {
      json.list(name, matrix.cells, [&](const MatrixCell& cell) { json.value(of(cell)); });
    };
    column("source", [](const MatrixCell& cell) { return cell.source; });
    column("destination", [](const MatrixCell& cell) { return cell.destination; });
    column("value", [](const MatrixCell& cell) { return cell.value; });
  });
}

// Levels of cells a quarter as wide, down to single ranks.
std::vector<std::uint32_t> cell_widths(std::uint32_t size) {
  std::vector<std::uint32_t> widths{1};
  while ((size + widths.front() - 1) / widths.front() > kTileCells)
    widths.insert(widths.begin(), widths.front() * 4);
  return widths;
}

Reply matrix_tile(const Matrix& matrix, const Query& query) {
  const std::vector<std::uint32_t> widths = cell_widths(matrix.size);
  const auto level = query.number("level", 0, widths.size() - 1);
  if (!level) return refuse(404, level.error().message);
  const std::uint32_t width = widths[*level];
  const std::uint32_t cells = (matrix.size + width - 1) / width;
  const std::uint32_t tiles = (cells + kTileCells - 1) / kTileCells;
  const auto row = query.number("row", 0, tiles - 1);
  if (!row) return refuse(404, row.error().message);
  const auto column = query.number("column", 0, tiles - 1);
  if (!column) return refuse(404, column.error().message);
  std::vector<std::uint32_t> position(matrix.size);
  for (std::uint32_t at = 0; at < matrix.size; ++at) position[matrix.order[at]] = at;
  const auto first_row = static_cast<std::uint32_t>(*row * kTileCells);
  const auto first_column = static_cast<std::uint32_t>(*column * kTileCells);
  const std::uint32_t rows = std::min(kTileCells, cells - first_row);
  const std::uint32_t columns = std::min(kTileCells, cells - first_column);
  std::vector<double> values(std::size_t{rows} * columns);
  std::uint64_t total = 0, most = 0;
  for (const MatrixCell& cell : matrix.cells) {
    total += cell.value;
    most = std::max(most, cell.value);
    const std::uint32_t at_row = position[cell.source] / width - first_row;
    const std::uint32_t at_column = position[cell.destination] / width - first_column;
    if (at_row < rows && at_column < columns)  // below the first: a large number
      values[std::size_t{at_row} * columns + at_column] += static_cast<double>(cell.value);
  }
  Reply reply;
  reply.type = kBinary;
  reply.body = "FVM1";
  for (const std::uint64_t number : {*level, *row, *column})
    put(reply.body, static_cast<std::uint32_t>(number));
  for (const std::uint32_t number :
       {rows, columns, width, static_cast<std::uint32_t>(widths.size()),
        *level == 0 ? matrix.size : 0u})
    put(reply.body, number);
  put_real(reply.body, total);
  put_real(reply.body, most);
  put_all(reply.body, values);
  if (*level == 0) put_all(reply.body, matrix.order);
  return reply;
}

std::size_t bytes_of(const Matrix& matrix) {
  std::size_t bytes =
      sizeof matrix + matrix.cells.size() * sizeof(MatrixCell) + 4 * matrix.order.size();
  for (const auto* names : {&matrix.labels, &matrix.hosts}) {
    for (const std::string& name : *names) bytes += sizeof(std::string) + name.capacity();
  }
  return bytes;
}

}  // namespace

Reply answer_matrix(Session& session, const Query& query) {
  const std::string what = query.text("what", "bytes"), by = query.text("by", "rank"),
                    order = query.text("order", "rank");
  if (what != "bytes" && what != "messages" && what != "waits")
    return refuse(400, "'what' must be bytes, messages or waits");
  if (by != "rank" && by != "host") return refuse(400, "'by' must be rank or host");
  if (order != "rank" && order != "host" && order != "pattern" && order != "cluster")
    return refuse(400, "'order' must be rank, host, pattern or cluster");
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  Query::Parameters question = query.parameters();
  for (const char* place : {"level", "row", "column"}) question.erase(place);
  const std::string key = Query(question).key("matrix");
  std::shared_ptr<const Matrix> matrix = session.matrices.find(key);
  if (!matrix) {
    std::unique_lock<std::timed_mutex> lock;
    if (what == "waits") {
      lock = (*run)->lock_joined();
      if (!lock) return busy();
    }
    const auto pairs = pairs_of(**run, what, *scope);
    if (!pairs) return refuse(422, pairs.error().message);
    Matrix made = by_rank(*pairs, *(*(*run)->loaded())->profile);
    if (by == "host") made = by_host(made);
    made.order = order_of(made, order);
    matrix = std::make_shared<const Matrix>(std::move(made));
    session.matrices.keep(key, matrix, bytes_of(*matrix));
  }
  if (query.has("level") || matrix->size > kWholeSize) return matrix_tile(*matrix, query);
  return whole_matrix(*matrix, what, by);
}

}  // namespace fathom::view
