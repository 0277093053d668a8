// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/recording_state.h"

#include "base/seconds.h"
#include "profiler/calls/loaded_code.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/placement_of_process.h"
#include "profiler/recording/selection.h"
#include "trace/format/opening.h"

namespace fathom::profiler::tracing {
namespace {

std::atomic<State*> present{nullptr};

}  // namespace

TraceSettings settings_before_init;

State* state_now() { return present.load(std::memory_order_acquire); }
void set_state(State* state) { present.store(state, std::memory_order_release); }

profile::RowsHeader header_now(ProfiledProcess& process) {
  profile::RowsHeader header = process.header();
  header.end_reason = profile::EndReason::kExit;  // until finish() says otherwise
  return header;
}

void add_new_text(const State& state, DefinitionsFrame& frame, Written& written) {
  const RowsText& text = state.process.text();
  const RowsText& run_text = state.process.run_text();
  const std::size_t run_size = run_text.size(), size = text.size();
  frame.text(run_text.data() + written.run_text, run_size - written.run_text);
  frame.text(text.data() + written.text, size - written.text);
  written.run_text = run_size;
  written.text = size;
}

std::uint8_t how_known(const profile::CommunicatorRow& row) {
  const bool visible = (row.flags & profile::kInternal) == 0, by_itself = row.ordinal_key == 0;
  return static_cast<std::uint8_t>(1 + (visible ? 1 : 0) + (by_itself ? 1 : 0));
}

void add_communicators(State& state, DefinitionsFrame& frame) {
  const auto& rows = state.process.registry().rows();
  const auto& foreign = state.process.registry().foreign_members();
  frame.rows(profile::Section::kCommunicators, rows.data(), rows.size());
  frame.rows(profile::Section::kForeignMembers, foreign.data(), foreign.size());
  state.written_kinds.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) state.written_kinds[i] = how_known(rows[i]);
}

void every_second() {
  State* const state = state_now();
  if (state == nullptr) return;
  try {
    const double seconds = base::seconds(nanoseconds_of(CLOCK_MONOTONIC) - state->opened_at_ns);
    const TraceSettings& settings = state->settings;
    const bool before = seconds < settings.after_seconds;
    const bool after =
        settings.for_seconds > 0 && seconds >= settings.after_seconds + settings.for_seconds;
    if (settings.after_seconds > 0 || settings.for_seconds > 0) {
      state->gate.set(trace::PauseReason::kTimeWindow, before || after);
    }
    if (state->recorder.chunks_opened() == state->last_clock_chunks) return;  // nothing recorded
    state->last_clock_chunks = state->recorder.chunks_opened();
    const std::lock_guard guard(state->lock);
    Written written = state->written;
    const std::string code = describe_code(written.code);
    // The keeper reads the clocks itself: definitions in memory must not grow with time.
    if (is_flight(*state) && code.empty()) return;
    DefinitionsFrame frame(header_now(state->process));
    const trace::ClockRow row = JobClocks::now();
    frame.clocks(&row, 1);
    frame.text(code);
    if (frame.append_to(state->file)) state->written = written;
  } catch (...) {
  }
}

bool open_files(State& made, const std::string& run) {
  const std::uint32_t job = made.process.header().job, rank = made.process.header().rank;
  if (made.settings.flight_bytes > 0) {
    return made.flight.open(made.recorder, made.file, job, rank, made.settings.flight_bytes, run);
  }
  const std::string folder = run + "/trace";
  const std::string base = folder + "/" + std::to_string(job) + "." + std::to_string(rank);
  return make_directories(folder) && made.file.open((base + ".trace").c_str(), job, rank) &&
         made.recorder.open((base + ".live").c_str(), job, rank, made.settings.memory_bytes);
}

bool write_first_definitions(State& made, const std::string& more_text,
                             const WindowOpening* opening) {
  DefinitionsFrame frame(header_now(made.process));
  add_new_text(made, frame, made.written);
  frame.text(describe_recording(made.settings) + describe_place() +
             describe_code(made.written.code) + more_text);
  add_communicators(made, frame);
  if (opening != nullptr && opening->is_exact) {
    frame.rows(static_cast<profile::Section>(trace::kOpeningChannelSection),
               opening->channels.data(), opening->channels.size());
    frame.rows(static_cast<profile::Section>(trace::kOpeningSequenceSection),
               opening->sequences.data(), opening->sequences.size());
    frame.rows(static_cast<profile::Section>(trace::kOpeningHeldSection), opening->held.data(),
               opening->held.size());
  }
  const trace::ClockRow row = JobClocks::measured_now();
  frame.clocks(&row, 1);
  return frame.append_to(made.file);
}

void judge_all_communicators(ProfiledProcess& process) {
  const auto& kinds = process.registry().rows();
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind)
    ChosenCommunicators::judge(kind, kinds[kind].name, kinds[kind].made_by);
}

void clocks_measured(const trace::ClockRow& row) try {
  State* const state = state_now();
  if (state == nullptr) return;
  const std::lock_guard guard(state->lock);
  if (state->ended) return;
  DefinitionsFrame frame(header_now(state->process));
  frame.clocks(&row, 1);
  frame.append_to(state->file);
} catch (...) {
}

}  // namespace fathom::profiler::tracing
