// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/run_table.h"

#include <algorithm>
#include <utility>

#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNameWidth = 10;   // of selections and routings: "greedy-max"
constexpr std::size_t kFigureWidth = 7;  // "99.9 ms"

std::size_t widest(const std::vector<std::string>& names, std::size_t least) {
  for (const std::string& name : names) least = std::max(least, columns(printable(name)));
  return least;
}

}  // namespace

RunTable::RunTable(Names names, std::vector<std::string> figures, std::string last_title)
    : has_clusters_(names.clusters.size() > 1),
      has_jobs_(names.jobs.size() > 1),
      cluster_width_(widest(names.clusters, columns("cluster"))),
      job_width_(widest(names.jobs, columns("job"))),
      placement_width_(widest(names.placements, columns("placement"))),
      figures_(std::move(figures)),
      last_title_(std::move(last_title)) {}

std::string RunTable::row(const SimulatedRun& names, const std::vector<std::string>& figures,
                          const std::string& last) const {
  std::string text;
  if (has_clusters_) text += left(printable(names.cluster), cluster_width_) + "  ";
  if (has_jobs_) text += left(printable(names.job), job_width_) + "  ";
  text += left(names.selection, kNameWidth) + "  " +
          left(printable(names.placement), placement_width_) + "  " +
          left(names.routing, kNameWidth);
  for (std::size_t at = 0; at < figures.size(); ++at)
    text += "  " + right(figures[at], std::max({kFigureWidth, columns(figures_[at]),
                                                columns(figures[at])}));  // nothing is cut
  return text + "  " + last + "\n";
}

std::string RunTable::heading() const {
  SimulatedRun titles;
  titles.cluster = "cluster";
  titles.job = "job";
  titles.selection = "hosts";
  titles.placement = "placement";
  titles.routing = "routing";
  return row(titles, figures_, last_title_);
}

std::string RunTable::line(const SimulatedRun& run, const std::vector<std::string>& figures,
                           const std::string& last) const {
  return row(run, figures, last);
}

}  // namespace fathom::cli
