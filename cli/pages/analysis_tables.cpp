// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/analysis_tables.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/order/sort_stably.h"
#include "base/text.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

using analysis::Column;
using analysis::NamedColumn;
using analysis::Table;

constexpr std::size_t kRows = 10, kLongest = 44;

// What to show of a table: its columns, and the column to sort the rows by, largest first ("":
// unsorted). A table that is not listed shows all columns unsorted; an empty list of columns shows
// nothing.
struct View {
  std::string_view analysis, table, order, columns;
};
constexpr View kViews[] = {
    {"time-breakdown", "time", "", "kind seconds share"},
    {"time-breakdown", "unexplained", "", "name seconds share"},
    {"wait-states", "waits", "seconds",
     "kind rank culprit seconds count function file line late_for"},
    {"wait-states", "origins", "direct_seconds",
     "rank direct_seconds indirect_seconds count before file line work_after work_before"},
    {"critical-path", "path_by_communicator", "", ""},
    {"critical-path", "path", "seconds", "rank name seconds count file line leads_to follows"},
    {"critical-path", "slack", "mean_seconds",
     "rank name least_seconds mean_seconds count file line"},
    {"critical-path", "sums_by_routine", "", ""},
    {"critical-path", "path_metrics_by_routine", "",
     "routine bytes messages est_communication est_synchronisation run_s"},
    {"collectives", "algorithms", "",
     "name count algorithm rounds messages mean_inside_seconds late_source late_destination "
     "bytes_below"},
    {"transfers", "blocked", "wire_seconds",
     "rank peer side count bytes peer_seconds wire_seconds most_wire_seconds"},
    {"transfers", "transfers", "bytes",
     "rank side hidden protocol bytes_below count bytes unexpected mean_transfer_seconds "
     "overlap_share"},
    {"transfers", "messages", "", ""},
    {"lateness", "events", "", ""},
    {"flat-profile", "functions", "",
     "name count ranks exclusive_seconds inclusive_seconds most_seconds most_at_rank bytes"},
    {"idle-time", "idle_time", "",
     "rank seconds program_seconds mpi_seconds blocking_seconds waiting_seconds waits "
     "outside_seconds"},
    {"flat-profile", "calls", "exclusive_seconds",
     "rank name communicator count inclusive_seconds exclusive_seconds longest_seconds bytes"},
    {"matrices", "pairs", "bytes",
     "class source destination bytes messages mean_bytes communicator phase"},
    {"matrices", "all_pairs", "bytes", "source destination bytes messages mean_bytes"},
    {"matrices", "user_pairs", "", ""},
    {"matrices", "hidden_pairs", "", ""},
    {"matrices", "symmetric", "", ""},
    {"rank-histograms", "message_sizes", "bytes",
     "rank class sent low_bytes high_bytes messages bytes"},
    {"structure", "top_ranks_by_out_bytes", "", ""},
    {"structure", "top_ranks_by_in_bytes", "", ""},
    {"structure", "top_ranks_by_touch_bytes", "", ""},
    {"patterns", "patterns", "", ""},  // shown as sentences
    {"phases", "phases", "", ""},      // likewise
    {"phases", "loops", "",
     "phase loop inside iterations entered iteration_seconds first_line file name"},
    {"phases", "matrices", "bytes", "phase class source destination bytes messages"},
    {"traffic-issues", "issues", "", ""},  // shown as findings
    {"issues", "issues", "", ""},          // likewise
};

const View* view_of(const std::string& analysis, const std::string& table) {
  for (const View& view : kViews) {
    if (view.analysis == analysis && view.table == table) return &view;
  }
  return nullptr;
}

std::string text_of(const std::string& name, double value) {
  if (!std::isfinite(value)) return "-";
  if (name.ends_with("seconds") || name.ends_with("_s")) return fmt::format("{:.6f}", value);
  const bool whole = (value == std::floor(value) || value >= 1000) && value >= 0 && value < 1e15;
  return whole ? grouped(static_cast<std::uint64_t>(std::llround(value)))
               : fmt::format("{:.4g}", value);
}
// Signed numbers are names: ranks, lines, communicators. Unsigned ones are counts.
std::string text_of(const std::string& name, std::int64_t value) {
  return name == "line" && value == 0 ? "-" : std::to_string(value);
}
std::string text_of(const std::string& /*name*/, std::uint64_t value) { return grouped(value); }
std::string text_of(const std::string& /*name*/, bool value) { return value ? "yes" : "no"; }
std::string text_of(const std::string& name, const std::string& value) {
  const bool path = name == "file" || name.ends_with("_file");
  const std::string clean = printable(path ? value.substr(value.rfind('/') + 1) : value);
  return columns(clean) > kLongest ? left(clean, kLongest) : clean;
}
std::string text_of(const std::string& name, const std::vector<std::int64_t>& list) {
  std::string text;
  for (const std::int64_t value : list) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text_of(name, text);
}

bool is_text(const Column& column) {
  return std::holds_alternative<std::vector<std::string>>(column) ||
         std::holds_alternative<std::vector<std::vector<std::int64_t>>>(column);
}

std::size_t rows_of(const Column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column);
}

const NamedColumn* column_named(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const NamedColumn& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

// Row indices, largest value in `order` first.
std::vector<std::size_t> ordered(const Table& table, std::string_view order, std::size_t rows) {
  std::vector<std::size_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  const NamedColumn* by = order.empty() ? nullptr : column_named(table, order);
  if (by == nullptr) return numbers;
  std::visit(
      [&](const auto& values) {
        base::sort_stably(numbers,
                          [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
      },
      by->values);
  return numbers;
}

std::vector<const NamedColumn*> shown_columns(const Table& table, const View* view) {
  std::vector<const NamedColumn*> shown;
  if (view == nullptr) {
    for (const NamedColumn& column : table.columns) shown.push_back(&column);
    return shown;
  }
  for (std::string_view left = view->columns; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (const NamedColumn* column = column_named(table, left.substr(0, end)))
      shown.push_back(column);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return shown;
}

// Name and cells of a column, padded to one width. Where no file is known, its cell has the program's
// function: "(exchange)".
std::vector<std::string> padded(const Table& table, const NamedColumn& column,
                                const std::vector<std::size_t>& rows) {
  std::vector<std::string> cells = {column.name};
  std::visit(
      [&](const auto& values) {
        for (const std::size_t row : rows)
          cells.push_back(text_of(
              column.name, typename std::decay_t<decltype(values)>::value_type(values[row])));
      },
      column.values);
  const NamedColumn* caller = column.name == "file" ? column_named(table, "caller") : nullptr;
  for (std::size_t i = 0; caller != nullptr && i < rows.size(); ++i) {
    const auto& name = std::get<std::vector<std::string>>(caller->values)[rows[i]];
    if (cells[i + 1].empty() && !name.empty()) cells[i + 1] = "(" + text_of("caller", name) + ")";
  }
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, columns(cell));
  for (std::string& cell : cells)
    cell = is_text(column.values) ? left(cell, width) : right(cell, width);
  return cells;
}

std::string table_text(const Table& table, const View* view, const std::string& all,
                       std::size_t width) {
  const std::size_t count = table.columns.empty() ? 0 : rows_of(table.columns.front().values);
  if (count == 0) return fmt::format("   {}: none\n", table.name);
  std::vector<std::size_t> rows = ordered(table, view == nullptr ? "" : view->order, count);
  const bool over_time = column_named(table, "bin_start_s") != nullptr;  // useless in part
  if (!over_time) rows.resize(std::min(rows.size(), kRows));
  std::vector<std::string> lines(rows.size() + 1, "    ");
  std::string left_out;
  for (const NamedColumn* column : shown_columns(table, view)) {
    const std::vector<std::string> cells = padded(table, *column, rows);
    if (!left_out.empty() || columns(lines[0]) + 1 + columns(cells[0]) > width) {
      base::add_to_list(left_out, column->name);
      continue;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += " " + cells[i];
  }
  std::string text = fmt::format("   {}\n", table.name);
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (!left_out.empty())
    text += folded(fmt::format("     columns that did not fit: {}: {}\n", left_out, all), width, 7);
  if (count > rows.size())
    text += fmt::format("     and {} more rows: {}\n", grouped(count - rows.size()), all);
  return text;
}

std::string figures_text(const std::vector<analysis::Figure>& figures) {
  std::size_t width = 0;
  for (const analysis::Figure& figure : figures) width = std::max(width, columns(figure.name));
  std::string text;
  for (const analysis::Figure& figure : figures) {
    text += fmt::format(
        "   {} {}\n", left(figure.name, width),
        std::visit([&](const auto& value) { return text_of(figure.name, value); }, figure.value));
  }
  return text;
}

}  // namespace

std::string section_text(const analysis::NamedSection& named, const std::string& all,
                         std::size_t width) {
  std::string text = figures_text(named.section.figures);
  for (const Table& table : named.section.tables) {
    const View* view = view_of(named.name, table.name);
    if (view != nullptr && view->columns.empty()) continue;
    text += (text.empty() ? "" : "\n") + table_text(table, view, all, width);
  }
  return text;
}

}  // namespace fathom::cli
