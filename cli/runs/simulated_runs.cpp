// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/simulated_runs.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "base/byte_source.h"
#include "base/json/reader.h"

namespace fathom::cli {
namespace {

using base::List;
using base::Object;
using base::Target;

// Sums of the same bytes in another order differ by less.
constexpr double kRounding = 1e-9;
constexpr char kSchema[] = "fathom-simulation/1";
constexpr char kAdvice[] = "is this the result of fathom simulate?";

// In the order in which they are asked for.
constexpr std::array<Criterion, 3> kCriteria = {
    {{"response_s", "mean response of the jobs", &SimulatedRun::response_s},
     {"seconds", "run time", &SimulatedRun::seconds},
     {"max_congestion", "congestion of the worst link", &SimulatedRun::max_congestion}}};

Object target_of(SimulatedLink& link) {
  return Object{[&link](std::string_view key) -> Target {
                  if (key == "source") return &link.source;
                  if (key == "target") return &link.target;
                  if (key == "capacity") return &link.capacity;
                  if (key == "traffic") return &link.traffic;
                  return std::monostate();
                },
                {}};
}

Target text_target(SimulatedRun& run, std::string_view key) {
  if (key == "cluster") return &run.cluster;
  if (key == "job") return &run.job;
  if (key == "scheduler") return &run.scheduler;
  if (key == "selection") return &run.selection;
  if (key == "placement") return &run.placement;
  if (key == "routing") return &run.routing;
  if (key == "model") return &run.model;
  return std::monostate();
}

Target number_target(SimulatedRun& run, std::string_view key) {
  if (key == "seed") return &run.seed;
  if (key == "seconds") return &run.seconds;
  if (key == "max_congestion") return &run.max_congestion;
  if (key == "mean_congestion") return &run.mean_congestion;
  if (key == "p95_congestion") return &run.p95_congestion;
  if (key == "imbalance") return &run.imbalance;
  return std::monostate();
}

Object target_of(SimulatedRun& run) {
  return Object{[&run](std::string_view key) -> Target {
                  if (key == "worst_link") return target_of(run.worst_link);
                  if (key == "worst_host_link") return target_of(run.worst_host_link);
                  if (key == "varied") {
                    return Object{[&run](std::string_view name) -> Target {
                                    return &run.varied.emplace_back(name, "").second;
                                  },
                                  {}};
                  }
                  if (key == "response_s") {
                    return Object{[&run](std::string_view name) -> Target {
                                    if (name == "mean") return &run.response_s;
                                    return std::monostate();
                                  },
                                  {}};
                  }
                  const Target text = text_target(run, key);
                  return std::holds_alternative<std::monostate>(text) ? number_target(run, key)
                                                                      : text;
                },
                {}};
}

}  // namespace

base::Result<std::vector<SimulatedRun>> read_simulated_runs(const std::string& path) {
  std::error_code ignored;
  const std::string file =
      std::filesystem::is_directory(path, ignored) ? path + "/results.json" : path;
  auto source = base::open_file(file);
  if (!source) return source.error();
  std::string schema;
  std::vector<SimulatedRun> runs;
  const Object root{[&](std::string_view key) -> Target {
                      if (key == "schema") return &schema;
                      if (key == "runs") {
                        return List{[&runs]() -> Target { return target_of(runs.emplace_back()); }};
                      }
                      return std::monostate();
                    },
                    {}};
  if (auto read = base::read_json(**source, file, root, kAdvice); !read) return read.error();
  if (schema != kSchema)
    return base::Error{file + ": is not the result of fathom simulate (schema " + kSchema + ")"};
  if (runs.empty()) return base::Error{file + ": holds no run"};
  return runs;
}

const Criterion& criterion_of(const SimulatedRun& run) {
  for (const Criterion& criterion : kCriteria) {
    if (!std::isnan(run.*criterion.value)) return criterion;
  }
  return kCriteria.back();
}

bool is_better(const SimulatedRun& one, const SimulatedRun& other) {
  for (const auto value :
       {criterion_of(one).value, &SimulatedRun::max_congestion, &SimulatedRun::mean_congestion}) {
    // A value that is not known is the worst.
    if (std::isnan(one.*value) != std::isnan(other.*value)) return std::isnan(other.*value);
    const double difference = one.*value - other.*value;
    if (std::abs(difference) > kRounding * std::abs(one.*value)) return difference < 0;
  }
  return false;
}

bool comparable(const SimulatedRun& one, const SimulatedRun& other) {
  return one.job == other.job && one.model == other.model &&
         &criterion_of(one) == &criterion_of(other);
}

}  // namespace fathom::cli
