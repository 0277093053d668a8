// SPDX-License-Identifier: BSD-3-Clause
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "cli/commands/trace/trace.h"
#include "cli/language/command_line.h"
#include "cli/runs/run_directory.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> runs;
  std::string output;
  bool force = false;
};

// The job that a trace file belongs to: the beginning of its name. Two runs of one program have the
// same ranks and executable, so only this tells their files apart.
std::string job_in_name(const fs::path& file) {
  const std::string name = file.filename();
  return name.substr(0, name.find('.'));
}

class Merge {
 public:
  // Adds the files of one more run. An Error if they are from another job, or a process appears
  // twice.
  base::Status add(const std::string& run) {
    const auto trace = trace::Trace::open(run);
    if (!trace) return trace.error();
    const trace::Definitions& definitions = trace->definitions();
    if (files_.empty()) {
      world_size_ = definitions.world_size;
      executable_ = definitions.application.executable;
    }
    if (definitions.world_size != world_size_ ||
        definitions.application.executable != executable_) {
      return base::Error{
          fmt::format("'{}' is from another run ({} ranks of {}) than '{}' ({} ranks of {})", run,
                      definitions.world_size, definitions.application.executable, first_run_,
                      world_size_, executable_)};
    }
    if (first_run_.empty()) first_run_ = run;
    std::error_code failed;
    const fs::path inner = fs::path(run) / "trace";
    const fs::path folder = fs::is_directory(inner, failed) ? inner : fs::path(run);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".trace" && path.extension() != ".live") continue;
      if (job_.empty()) job_ = job_in_name(path);
      if (job_in_name(path) != job_) {
        return base::Error{fmt::format("'{}' belongs to job {}, but '{}' to job {}", path.string(),
                                       job_in_name(path), first_run_, job_)};
      }
      const auto [known, is_new] = files_.emplace(path.filename(), path);
      if (!is_new) {
        return base::Error{
            fmt::format("'{}' and '{}' belong to the same process; name each run once",
                        path.string(), known->second.string())};
      }
    }
    const fs::path profile = fs::path(run) / "profile.json";
    if (profile_.empty() && fs::is_regular_file(profile, failed)) profile_ = profile;
    return base::Done{};
  }

  base::Status write(const fs::path& run) const {
    std::error_code failed;
    fs::create_directories(run / "trace", failed);
    for (const auto& [name, path] : files_) {
      if (!failed) fs::copy_file(path, run / "trace" / name, failed);
      if (failed)
        return base::Error{fmt::format("cannot copy '{}' to '{}': {}", path.string(), run.string(),
                                       failed.message())};
    }
    if (!profile_.empty()) fs::copy_file(profile_, run / "profile.json", failed);
    if (failed)
      return base::Error{fmt::format("cannot copy '{}': {}", profile_.string(), failed.message())};
    return base::Done{};
  }

  std::size_t files() const { return files_.size(); }

 private:
  std::map<std::string, fs::path> files_;
  std::string first_run_, executable_, job_;
  std::int64_t world_size_ = 0;
  fs::path profile_;
};

int merge(const MergeOptions& options) {
  Merge together;
  for (const std::string& run : options.runs) {
    const auto added = together.add(run);
    if (!added) return fail(kFailed, "trace merge", added.error().message);
  }
  const auto directory = RunDirectory::create(options.output, options.force);
  if (!directory) return fail(kWrongUsage, "trace merge", directory.error().message);
  const auto written = together.write(directory->path());
  if (!written) return fail(kFailed, "trace merge", written.error().message);
  const auto trace = trace::Trace::open(directory->path());
  if (!trace) return fail(kFailed, "trace merge", trace.error().message);
  std::fprintf(stderr, "fathom: traces of %zu of %lld ranks in %s/trace\n",
               trace->definitions().processes.size(),
               static_cast<long long>(trace->definitions().world_size), directory->shown().c_str());
  return kFine;
}

}  // namespace

Action declare_trace_merge(CLI::App& app) {
  auto options = std::make_shared<MergeOptions>();
  app.add_option("RUN", options->runs, "run directories that one run left")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "run directory to create")
      ->required()
      ->type_name("RUN");
  app.add_flag("--force", options->force, "replace the run that the output directory holds");
  return [options] { return merge(*options); };
}

}  // namespace fathom::cli
