// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/pyramid.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "analysis/scope/trace_span.h"
#include "base/process/parallel.h"

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

// What threads have freed stays with this process otherwise: a hundred MiB after a thousand ranks were joined.
void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
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
  const Stage stage = stage_;
  if (stage == kJoining) return {"the joined trace", 0};
  const double all = std::max(1u, geometry_.processes);
  return {stage == kCalling ? "calls and messages" : "waits", std::min(1.0, state_.done / all)};
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

bool Pyramid::fails(const base::Status& done) {
  if (done) return false;
  const std::lock_guard lock(mutex_);
  problem_ = done.error().message;
  return true;
}

bool Pyramid::build_calls(unsigned threads) {
  if (fails(build_call_layer(*loaded_.trace, geometry_, identity_, place(kCalls), threads, state_)))
    return false;
  give_back_memory();
  publish(calls_, kept(kCalls, kCallColumns));
  return true;
}

void Pyramid::build() {
  build_layers();
  if (!joined_ || state_.stop) return;
  // What questions about the calls of a window need of the whole run, before anybody asks.
  run_.calls(*loaded_.trace);
  give_back_memory();
}

// Each step keeps all processors busy. The first layer comes first, because it needs no joining.
void Pyramid::build_layers() {
  const unsigned threads = base::worker_threads();
  const auto calls = kept(kCalls, kCallColumns);
  const auto waits = kept(kWaits, kWaitColumns);
  if (calls) publish(calls_, calls);
  if (waits) publish(waits_, waits);
  const std::lock_guard use(run_.joined_mutex());
  if (!calls && !build_calls(threads)) return;
  stage_ = kJoining;
  const auto job = loaded_.job->joined();
  if (!job) return void(fails(job.error()));
  if (state_.stop) return;
  give_back_memory();
  joined_ = true;
  if (waits) return;
  stage_ = kWaiting;
  if (fails(build_wait_layer(**job, geometry_, identity_, place(kWaits), threads, state_))) return;
  give_back_memory();
  publish(waits_, kept(kWaits, kWaitColumns));
  stage_ = kJoining;
}

}  // namespace fathom::view
