// SPDX-License-Identifier: BSD-3-Clause
#include "view/viewed_run.h"

#include <chrono>
#include <filesystem>

#include "analysis/registry.h"
#include "base/process/parallel.h"
#include "view/pyramid/pyramid.h"

namespace fathom::view {
namespace {

namespace fs = std::filesystem;

// Classes and communicators choose traffic, and calls have neither: as in `fathom analyze`.
void leave_out_times(analysis::Input& input) {
  if (!input.scope.chooses_traffic()) return;
  input.trace = nullptr;
  input.job = nullptr;
  input.calls = nullptr;
}

base::Result<std::vector<const analysis::Row*>> rows_of(const std::vector<std::string>& names,
                                                        const analysis::Input& input) {
  if (names.empty()) return analysis::default_analyses(input);
  std::vector<const analysis::Row*> rows;
  for (const std::string& name : names) {
    const auto row = analysis::find_analysis(name);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace

ViewedRun::ViewedRun(std::string path, const Tools& tools)
    : path_(std::move(path)), tools_(tools) {}
ViewedRun::~ViewedRun() = default;

Pyramid* ViewedRun::pyramid() {
  const auto run = loaded();
  if (!run || (*run)->trace == nullptr || (*run)->trace->definitions().processes.empty())
    return nullptr;
  const std::lock_guard lock(loading_);
  if (!pyramid_) pyramid_ = std::make_unique<Pyramid>(*this, **run);
  return pyramid_.get();
}

analysis::TraceSpan ViewedRun::program_span() {
  const auto run = loaded();
  if (!run || (*run)->trace == nullptr) return {};
  const std::lock_guard lock(loading_);
  if (!program_) {
    // Not LazyJob::programs(): an analysis may be at work with that.
    const trace::Definitions& definitions = (*run)->trace->definitions();
    const trace::ProgramSpans spans(*(*run)->trace);
    std::vector<analysis::TraceSpan> programs(definitions.processes.size());
    base::in_parallel(programs.size(),
                      [&](std::size_t process) { programs[process] = spans.of(process); });
    program_ = analysis::span_of(programs, definitions, {});
  }
  return *program_;
}

void ViewedRun::abandon() {
  const std::lock_guard lock(loading_);
  if (pyramid_) pyramid_->abandon();
}

std::string ViewedRun::name() const {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path_, ignored).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  return named.filename().string();
}

std::string ViewedRun::folder() const {
  std::error_code ignored;
  const fs::path run(path_);
  const fs::path directory = fs::is_directory(run, ignored) ? run : run.parent_path();
  return (directory / "view").string();
}

base::Result<std::string> ViewedRun::kept_folder() const {
  std::error_code failed;
  fs::create_directory(folder(), failed);
  if (!fs::is_directory(folder(), failed))
    return base::Error{"cannot make the folder " + folder() + ": " + failed.message()};
  return folder();
}

base::Result<analysis::LoadedRun*> ViewedRun::loaded() {
  const std::lock_guard lock(loading_);
  // Not before the job has ended: the files of a trace are cut to their length then, and who still had them
  // mapped would die of it; and a run is loaded once.
  if (!run_ || (!*run_ && was_running_)) {
    was_running_ = mark().state == "running";
    run_ = was_running_ ? base::Error{"the job " + path_ +
                                      " is still running: the page Live shows it now, the other "
                                      "pages once it has ended"}
                        : tools_.load(path_, {});
  }
  if (!*run_) return run_->error();
  return &**run_;
}

std::unique_lock<std::timed_mutex> ViewedRun::lock_joined() {
  return std::unique_lock(joined_mutex_, std::chrono::seconds(1));
}

base::Result<analysis::Results> ViewedRun::analyse(const std::vector<std::string>& names,
                                                   const analysis::Scope& scope, bool causes) {
  const auto run = loaded();
  if (!run) return run.error();
  const auto profile = analysis::profile_of_part(**run, scope);
  if (!profile) return profile.error();
  analysis::CallRowsKept calls;
  analysis::Input input = (*run)->input({});
  input.profile = &*profile;
  input.scope = scope;
  input.calls = &calls;
  input.causes = causes;
  leave_out_times(input);
  const auto rows = rows_of(names, input);
  if (!rows) return rows.error();
  return analysis::run_analyses(*rows, input);
}

const CallsInWindow& ViewedRun::calls(const trace::Trace& trace) {
  const std::lock_guard lock(calls_mutex_);
  if (!calls_) calls_ = std::make_unique<CallsInWindow>(trace);
  return *calls_;
}

trace::CallSiteNames& ViewedRun::sites(const analysis::JoinedJob& job) {
  if (sites_) return *sites_;
  sites_ = std::make_unique<trace::CallSiteNames>(job.definitions());
  for (const std::uint32_t process : job.own()) {
    for (const std::uint64_t address : job.site_addresses(process))
      sites_->number_of(process, address);
  }
  return *sites_;
}

void ViewedRun::watch() {
  constexpr double kInterval_s = 1;
  if (live_ || !tools_.live || mark().state != "running") return;
  auto read = tools_.live(path_);
  if (read)
    live_ = std::make_unique<LiveHistory>(std::move(*read), kInterval_s,
                                          [this] { return mark().state == "running"; });
}

}  // namespace fathom::view
