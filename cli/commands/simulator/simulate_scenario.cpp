// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/simulate_scenario.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "base/text_lines.h"
#include "cli/language/command_line.h"
#include "cli/pages/simulation_comparison.h"
#include "cli/pages/simulation_page.h"
#include "cli/runs/results_folder.h"
#include "cli/runs/simulated_runs.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"
#include "scenario/combination.h"
#include "scenario/scenario_reader.h"
#include "scenario/share.h"
#include "simulator/run/results.h"

namespace fathom::cli {
namespace {

using scenario::Part;
using scenario::Scenario;
using scenario::ScenarioFile;
using scenario::Share;

// What a combination returns to the first process, in the order of Part::texts: little, because
// there may be many. What is long stays in its folder run-N, which all processes see.
enum Text { kRow, kLine };

// The combination's object for results.json, until that is put together.
constexpr char kJson[] = "/.result.json";
constexpr char kReport[] = "/report.txt";

std::string folder_of(const std::string& directory, std::size_t combination) {
  return directory + "/run-" + std::to_string(combination + 1);
}

// Other processes may start later and have longer combinations, so the first must not give up soon.
constexpr double kLeastPatience_s = 600;

base::Status write_text(const std::string& path, const std::string& text) {
  base::AtomicFile file;
  if (auto opened = file.open(path, base::AtomicFile::Existing::kReplace); !opened) return opened;
  file.append(text);
  return file.commit();
}

base::Status make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return base::Done{};
  return base::Error{folder + ": cannot be created: " + failed.message()};
}

// The process that runs a combination removes its old run-N; others may have begun theirs already.
base::Result<Part> run_one(const Scenario& scenario, const scenario::Workload& workload,
                           std::size_t index, const std::string& directory,
                           const scenario::JobProgress& progress) {
  const std::string folder = folder_of(directory, index);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (auto made = make_folder(folder); !made) return made.error();
  const auto run = scenario::run_combination(scenario, workload, folder, progress);
  if (!run) return base::Error{fmt::format("run {}: {}", index + 1, run.error().message)};
  if (auto written = scenario::write_tables(*run, folder); !written) return written.error();
  if (auto written = write_text(folder + kJson, scenario::run_json(*run)); !written)
    return written.error();
  if (auto written = write_text(folder + kReport, simulation_report(*run)); !written)
    return written.error();
  return Part{index, {scenario::run_row(*run), simulation_line(index + 1, *run)}};
}

// Distributes combinations over threads, and remembers the first failure.
class Pool {
 public:
  Pool(const ScenarioFile& file, const scenario::Workload& workload, const std::string& directory,
       std::vector<std::size_t> mine)
      : file_(file),
        workload_(workload),
        directory_(directory),
        mine_(std::move(mine)),
        parts_(mine_.size()) {}

  base::Result<std::vector<Part>> run(unsigned threads) {
    std::vector<std::thread> pool;
    for (unsigned at = 1; at < std::min<std::size_t>(threads, mine_.size()); ++at) {
      pool.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& thread : pool) thread.join();
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K");
    if (failed_) return base::Error{failure_};
    return std::move(parts_);
  }

 private:
  void work() {
    for (std::size_t at = next_++; at < mine_.size() && !failed_; at = next_++) {
      auto part =
          run_one(file_.combinations[mine_[at]], workload_, mine_[at], directory_, of_jobs());
      const std::lock_guard lock(mutex_);
      if (part) {
        parts_[at] = std::move(*part);
      } else if (!failed_.exchange(true)) {
        failure_ = part.error().message;
      }
      ++done_;
      if (isatty(STDERR_FILENO) && mine_.size() > 1) {
        std::fprintf(stderr, "\rfathom: %zu of %zu combinations", done_, mine_.size());
      }
    }
  }

  // A single combination may be long, too.
  scenario::JobProgress of_jobs() const {
    if (mine_.size() > 1 || !isatty(STDERR_FILENO)) return {};
    return [](std::size_t arrived, std::size_t of) {
      std::fprintf(stderr, "\rfathom: %zu of %zu jobs have arrived", arrived, of);
    };
  }

  const ScenarioFile& file_;
  const scenario::Workload& workload_;
  const std::string& directory_;
  std::vector<std::size_t> mine_;
  std::vector<Part> parts_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards the members below
  std::string failure_;
  std::size_t done_ = 0;
};

base::Result<std::vector<Part>> run_share(ScenarioFile& file, const Share& share,
                                          const std::string& directory, unsigned threads) {
  std::vector<std::size_t> mine;
  scenario::Workload workload;
  for (std::size_t index = 0; index < file.combinations.size(); ++index) {
    if (!share.mine(index)) continue;
    mine.push_back(index);
    if (auto loaded = workload.load(file.combinations[index]); !loaded) return loaded.error();
  }
  return Pool(file, workload, directory, std::move(mine)).run(threads);
}

base::Status write_results(const std::vector<Part>& parts, const std::string& directory) {
  simulator::ResultsWriter results;
  if (auto opened = results.open(directory + "/results.json"); !opened) return opened;
  std::string rows = scenario::run_row_heading();
  for (const Part& part : parts) {
    const std::string path = folder_of(directory, part.combination) + kJson;
    const auto json = base::read_text(path);
    if (!json) return json.error();
    results.add_text(*json);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    rows += std::to_string(part.combination + 1) + ',' + part.texts[kRow];
  }
  if (auto written = write_text(directory + "/runs.csv", rows); !written) return written;
  return results.finish();
}

// `directory` has results.json.
base::Status print(const std::vector<Part>& parts, const std::string& directory) {
  const Terminal terminal = Terminal::of_stdout();
  if (parts.size() == 1) {
    const auto report = base::read_text(folder_of(directory, parts.front().combination) + kReport);
    if (!report) return report.error();
    std::fputs(terminal.text(*report).c_str(), stdout);
    return base::Done{};
  }
  const auto runs = read_simulated_runs(directory);
  if (!runs) return runs.error();
  std::vector<std::string> lines;
  for (const Part& part : parts) lines.push_back(part.texts[kLine]);
  const std::string page = simulation_table(lines, best_runs(*runs)) + '\n' +
                           folded(best_lines(*runs), terminal.width(), 6);
  std::fputs(terminal.text(page).c_str(), stdout);
  return base::Done{};
}

// With several processes the first removes old results; all refuse in the same way.
base::Status take_folder(const ScenarioRequest& request, const std::string& directory,
                         const Share& share, std::size_t combinations) {
  if (share.process > 0 && request.replace) return make_folder(directory);
  return take_results_folder(directory, request.replace, share.processes > 1 ? combinations : 0);
}

unsigned thread_count(const ScenarioRequest& request, const Share& share) {
  if (request.threads > 0) return request.threads;
  return share.processes > 1 ? 1 : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

int simulate_scenario(const ScenarioRequest& request) {
  const auto give_up = [](const std::string& why) { return fail(kFailed, "simulate", why); };
  const auto begin = std::chrono::steady_clock::now();
  auto file = scenario::read_scenarios(request.path);
  if (!file) return give_up(file.error().message);
  const std::string directory = request.directory.empty() ? file->output : request.directory;
  if (directory.empty())
    return fail(kWrongUsage, "simulate", "name the folder for the results with -o DIR");
  const Share share = scenario::share_from();
  if (auto taken = take_folder(request, directory, share, file->combinations.size()); !taken) {
    return share.process > 0 ? kWrongUsage : fail(kWrongUsage, "simulate", taken.error().message);
  }
  auto parts = run_share(*file, share, directory, thread_count(request, share));
  if (share.process > 0) {
    const auto left = scenario::leave_parts(share, directory, parts ? *parts : std::vector<Part>{},
                                            parts ? "" : parts.error().message);
    return left && parts ? kFine : kFailed;  // the first process reports what went wrong
  }
  if (!parts) return give_up(parts.error().message);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double patience_s = std::max(kLeastPatience_s, 10 * took.count());
  auto gathered = scenario::gather_parts(share, directory, patience_s, *parts);
  if (gathered) gathered = write_results(*parts, directory);
  if (!gathered) return give_up(gathered.error().message);
  const auto printed = request.json ? print_results(directory) : print(*parts, directory);
  if (!printed) return give_up(printed.error().message);
  std::fprintf(stderr, "fathom: results in %s/results.json, runs.csv and run-N/\n",
               directory.c_str());
  return kFine;
}

}  // namespace fathom::cli
