// SPDX-License-Identifier: BSD-3-Clause
#include "python/run.h"

#include <filesystem>
#include <utility>

#include "analysis/scope/profile_of_trace.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/time/flat_profile.h"
#include "python/failure.h"

namespace fathom::python {

namespace py = pybind11;

Run::Run(const std::string& path, const std::optional<std::set<std::int64_t>>& ranks,
         std::uint64_t from_ns, std::uint64_t to_ns, const std::optional<std::string>& phase,
         const py::object& comm) {
  if (!comm.is_none()) transport_ = std::make_unique<ObjectTransport>(comm);
  scope_.ranks = ranks;
  scope_.from_ns = from_ns;
  scope_.to_ns = to_ns;
  if (phase) scope_.phases = {*phase};
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  directory_ = folder ? path : std::filesystem::path(path).parent_path().string();
  profile_path_ = folder ? path + "/profile.json" : path;
  if (!std::filesystem::exists(profile_path_, ignored)) profile_path_.clear();
  has_trace_ = folder && std::filesystem::exists(path + "/trace", ignored);
  if (profile_path_.empty() && !has_trace_) {
    throw Failure("there is no run '" + path + "': it holds neither profile.json nor trace/");
  }
}

const trace::Trace& Run::trace() {
  if (loaded_ && loaded_->trace) return *loaded_->trace;
  if (!has_trace_) throw Failure("this run has no trace; record one with fathom run --trace");
  if (!trace_) trace_ = value_or_throw(trace::Trace::open(directory_));
  return *trace_;
}

const analysis::LoadedRun& Run::loaded() {
  if (!loaded_)
    loaded_ = value_or_throw(
        analysis::load_run(profile_path_, has_trace_ ? directory_ : "", scope_, transport_.get()));
  return *loaded_;
}

const profile::Profile& Run::counted_profile() {
  if (!choice_) return profile();
  if (chosen_profile_) return *chosen_profile_;
  const trace::Trace& opened = trace();
  auto made = [&] {
    const py::gil_scoped_release released;
    return analysis::profile_of_trace(opened, scope_, choice());
  }();
  if (!chosen_profile_) chosen_profile_ = std::move(made);
  return *chosen_profile_;
}

const analysis::JoinedJob& Run::joined(bool hidden) {
  std::unique_ptr<analysis::JoinedJob>& job = joined_[hidden];
  if (!job) {
    analysis::JoinOptions options;
    options.hidden_messages = hidden;
    analysis::Transport& transport =
        transport_ ? *transport_ : static_cast<analysis::Transport&>(alone_);
    const trace::Trace& opened = trace();
    const py::gil_scoped_release released;
    job = value_or_throw(analysis::join_job(opened, transport, options));
  }
  return *job;
}

void Run::choose_none() { choice_.emplace(trace().definitions().processes.size()); }

void Run::choose(std::uint32_t process, std::vector<bool> kept) {
  if (!choice_) choose_none();
  if (process >= trace().definitions().processes.size())
    throw Failure("the trace has no such process");
  choice_->set(process, std::move(kept));
}

std::vector<std::uint32_t> Run::processes() {
  return analysis::ScopeFilter(scope_, trace().definitions()).chosen();
}

std::int32_t Run::site_number(std::uint32_t process, std::uint64_t address) {
  if (!places_) places_ = std::make_unique<trace::CallSiteNames>(trace().definitions());
  const trace::CodeSite& site = places_->of_call(process, address);
  const std::string name = trace::describe(site);
  const auto [entry, is_new] =
      site_numbers_.try_emplace(name, static_cast<std::int32_t>(site_names_.size()));
  if (is_new) {
    site_names_.push_back(name);
    named_sites_.push_back(site);
  }
  return entry->second;
}

const std::vector<trace::Span>& Run::programs() {
  if (programs_.empty()) {
    const trace::ProgramSpans spans(trace());
    for (std::size_t process = 0; process < trace().definitions().processes.size(); ++process)
      programs_.push_back(spans.of(process));
  }
  return programs_;
}

const std::vector<analysis::CallRow>& Run::calls() {
  if (calls_) return *calls_;
  analysis::SingleProcess alone;
  const analysis::CountedEvents events = counted(alone);
  auto rows = [&] {
    const py::gil_scoped_release released;
    return value_or_throw(analysis::count_calls(events));
  }();
  // Another thread may have counted them meanwhile, because the interpreter lock was released.
  if (!calls_) calls_ = std::move(rows);
  return *calls_;
}

}  // namespace fathom::python
