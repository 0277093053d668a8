// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/pyramid.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "analysis/scope/trace_span.h"

namespace fathom::view {
namespace {

namespace fs = std::filesystem;

constexpr char kCalls[] = "calls.pyramid", kWaits[] = "waits.pyramid";

Geometry geometry_in(const trace::Definitions& definitions) {
  const analysis::TraceSpan span = analysis::recorded_span(definitions);
  std::uint64_t events = 0;
  for (const trace::Process& process : definitions.processes) events += process.records;
  return geometry_of(span.from_ns, span.to_ns, events,
                     static_cast<std::uint32_t>(definitions.processes.size()));
}

std::string temporary_folder() {
  std::error_code failed;
  std::string folder = (fs::temp_directory_path(failed) / "fathom-view-XXXXXX").string();
  return mkdtemp(folder.data()) == nullptr ? "" : folder;
}

}  // namespace

Pyramid::Pyramid(ViewedRun& run, analysis::LoadedRun& loaded)
    : run_(run),
      loaded_(loaded),
      directory_(fs::path(run.folder()).parent_path().string()),
      identity_(trace_identity(directory_)),
      geometry_(geometry_in(loaded.trace->definitions())) {
  const auto folder = run.kept_folder();
  if (folder && access(folder->c_str(), W_OK) == 0) {
    folder_ = *folder;
  } else {
    folder_ = run.folder();  // to read from
    temporary_ = temporary_folder();
  }
  thread_ = std::thread([this] { build(); });
}

Pyramid::~Pyramid() {
  state_.stop = true;
  thread_.join();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

std::shared_ptr<const Layer> Pyramid::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::shared_ptr<const Layer> Pyramid::waits() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

Pyramid::Progress Pyramid::progress() const {
  constexpr const char* kStages[] = {"calls and messages", "waits", "the joined trace"};
  const double all = std::max(1u, geometry_.processes);
  return {kStages[std::min<int>(stage_, 2)], std::min(1.0, state_.done / all)};
}

std::string Pyramid::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void Pyramid::abandon() {
  state_.stop = true;
  state_.writing.lock();  // and never again
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

std::string Pyramid::place(const char* name) const {
  return (temporary_.empty() ? folder_ : temporary_) + "/" + name;
}

std::shared_ptr<const Layer> Pyramid::kept(const char* name, std::uint32_t columns) const {
  for (const std::string& path : {folder_ + "/" + name, place(name)}) {
    if (std::shared_ptr<const Layer> layer = Layer::open(path, identity_, geometry_, columns))
      return layer;
  }
  return nullptr;
}

void Pyramid::publish(std::shared_ptr<const Layer>& where, std::shared_ptr<const Layer> layer) {
  const std::lock_guard lock(mutex_);
  where = std::move(layer);
  if (!where && problem_.empty())
    problem_ = "the timeline's pyramid could not be read back from " + place("");
}

void Pyramid::build() {
  const auto fails = [this](const base::Status& done) {
    if (done) return false;
    const std::lock_guard lock(mutex_);
    problem_ = done.error().message;
    return true;
  };
  auto calls = kept(kCalls, kCallColumns);
  if (!calls) {
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
    if (fails(
            build_call_layer(*loaded_.trace, geometry_, identity_, place(kCalls), threads, state_)))
      return;
    calls = kept(kCalls, kCallColumns);
  }
  publish(calls_, calls);
  auto waits = kept(kWaits, kWaitColumns);
  if (waits) publish(waits_, waits);
  if (state_.stop) return;
  stage_ = waits ? 2 : 1;
  state_.done = 0;
  const std::lock_guard use(run_.joined_mutex());
  const auto job = loaded_.job->joined();
  if (!job) return void(fails(job.error()));
  joined_ = true;
  if (!waits && !state_.stop) {
    if (fails(build_wait_layer(**job, geometry_, identity_, place(kWaits), state_))) return;
    publish(waits_, kept(kWaits, kWaitColumns));
  }
  stage_ = 2;
}

}  // namespace fathom::view
