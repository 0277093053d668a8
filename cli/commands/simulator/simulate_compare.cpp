// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/simulate_compare.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/pages/simulation_comparison.h"
#include "cli/runs/simulated_runs.h"

namespace fathom::cli {
namespace {

int write_comparison(const ComparisonRequest& request, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(request.directory, failed);
  if (failed) {
    return fail(kFailed, "simulate",
                request.directory + ": cannot be created: " + failed.message());
  }
  ResultOutput output;
  output.path = request.directory + "/comparison.json";
  output.force = request.replace;
  const int written = deliver(output, "simulate", text);
  if (written == kFine) {
    std::fprintf(stderr, "fathom: the comparison is in %s; fathom plot %s -o PICTURES draws it\n",
                 output.path.c_str(), output.path.c_str());
  }
  return written;
}

}  // namespace

int compare_simulations(const ComparisonRequest& request) {
  std::vector<SimulationFolder> folders;
  for (const std::string& folder : request.folders) {
    auto runs = read_simulated_runs(folder);
    if (!runs) return fail(kFailed, "simulate", runs.error().message);
    folders.push_back({folder, std::move(*runs)});
  }
  const std::string json = comparison_json(folders);
  if (!request.directory.empty()) {
    if (const int written = write_comparison(request, json); written != kFine) return written;
  }
  ResultOutput screen;
  screen.json = request.json;
  return deliver(screen, "simulate",
                 request.json ? json : comparison_page(folders, Terminal::of_stdout()));
}

}  // namespace fathom::cli
