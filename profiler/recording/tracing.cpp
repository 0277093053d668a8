// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/tracing.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/name_patterns.h"
#include "function_numbers.h"
#include "message_events.h"
#include "profiler/calls/loaded_code.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/recording_state.h"
#include "profiler/recording/selection.h"
#include "profiler/recording/traced_call.h"

namespace fathom::profiler::tracing {
namespace {

constexpr std::uint32_t kOutsidePhases = 0;  // profiler/session/phases.cpp

void open_or_throw(ProfiledProcess& process) {
  const auto give_up = [&process](int error) {
    process.text().add("trace-lost", std::string("no-trace 0 ") + std::strerror(error));
  };
  process.claim_run_directory();
  auto* made = new State(process, settings_before_init, *new Recorder);
  if (!open_files(*made, process.run_directory())) {
    const int error = errno;
    made->file.remove();
    if (made->settings.flight_bytes == 0) return give_up(error);
    return process.text().add(
        "note", std::string("there is no flight recorder, because its memory or its keeper "
                            "(fathom-keeper beside libfathom-trace.so) could not be started: ") +
                    std::strerror(error));
  }
  if (made->settings.sample > 1 && !made->recorder.add_up_left_out()) made->settings.sample = 1;
  if (!made->recorder.survives_kill()) {
    process.text().add("note", "there was little space in " + process.run_directory() +
                                   "/trace: if a process was killed, its last events are lost");
  }
  apply_selection(made->settings);
  if (!ChosenCommunicators::open(made->settings.communicators)) {
    process.text().add("note", "no memory to choose communicators: all are traced");
  }
  judge_all_communicators(process);
  traced::Requests::open();
  events::Level::requests = made->settings.transfers && process.source() != SourceName::kPeruse;
  WaitLog::set_tracer(&events::on_complete<false>);
  made->gate.open(made->recorder);
  made->opened_at_ns = nanoseconds_of(CLOCK_MONOTONIC);
  set_state(made);
  if (!write_first_definitions(*made, "", nullptr)) {
    const int error = errno;
    set_state(nullptr);
    if (made->settings.flight_bytes > 0) made->flight.end();
    made->recorder.close(made->settings.flight_bytes == 0);
    made->file.remove();
    return give_up(error);
  }

  pthread_atfork(nullptr, nullptr, Recorder::forget);
  made->recorder.start();
  if (made->settings.after_seconds > 0) made->gate.set(trace::PauseReason::kTimeWindow, true);
  if (base::chooses(made->settings.phases, "")) {
    made->chosen_phases.push_back(kOutsidePhases);
  } else {
    made->gate.set(trace::PauseReason::kPhase, true);
  }
  JobClocks::set_observer(clocks_measured);
  if (is_flight(*made)) {
    made->drain.start_watching(made->recorder, every_second);
  } else {
    made->drain.start(made->recorder, made->file, made->settings.size_cap_bytes, every_second);
  }
}

}  // namespace

void prepare(const Settings& settings) noexcept try {
  settings_before_init = read_trace_settings();
  events::Level::transfers =
      settings_before_init.transfers && settings_before_init.wanted && !settings.disabled;
} catch (...) {
}

bool needs_clocks() noexcept { return settings_before_init.wanted; }

void open(ProfiledProcess& process) noexcept try {
  for (const std::string& sentence : settings_before_init.not_understood)
    process.text().add("note", sentence);
  if (settings_before_init.on_request) return let_others_ask(process);
  if (!settings_before_init.wanted || process.source() == SourceName::kNone) return;
  if (!list_holds(settings_before_init.ranks, process.header().rank)) return;
  open_or_throw(process);
} catch (...) {
}

void communicator_renamed(const void* comm) noexcept try {
  const Live* live = Communicators::find(comm);
  State* const state = state_now();
  if (state == nullptr || live == nullptr || ChosenCommunicators::leaves_none_out()) return;
  const std::lock_guard guard(state->lock);
  ChosenCommunicators::judge(live->kind, rankmap::given_name(comm), {});
} catch (...) {
}

void communicator_known(std::uint32_t kind) noexcept try {
  State* const state = state_now();
  if (state == nullptr) return;
  const std::lock_guard guard(state->lock);
  if (state->ended) return;
  const auto& rows = state->process.registry().rows();
  if (kind >= rows.size()) return;
  ChosenCommunicators::judge(kind, rows[kind].name, rows[kind].made_by);
  const std::uint8_t how = how_known(rows[kind]);
  if (state->written_kinds.size() < rows.size()) state->written_kinds.resize(rows.size());
  if (state->written_kinds[kind] >= how) return;
  state->written_kinds[kind] = how;
  DefinitionsFrame frame(header_now(state->process));
  frame.rows(profile::Section::kCommunicators, &rows[kind], 1);
  const auto& foreign = state->process.registry().foreign_members();
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    if (foreign[i].communicator == kind)
      frame.rows(profile::Section::kForeignMembers, &foreign[i], 1);
  }
  frame.append_to(state->file);
} catch (...) {
}

void phase_begun(std::uint32_t number, const char* name) noexcept try {
  note_phase_begun(number);
  State* const state = state_now();
  if (state == nullptr) return;
  if (name != nullptr) {
    const std::lock_guard guard(state->lock);
    if (state->ended) return;
    DefinitionsFrame frame(header_now(state->process));
    Written written = state->written;
    add_new_text(*state, frame, written);
    if (frame.append_to(state->file)) state->written = written;
    if (base::chooses(state->settings.phases, name)) state->chosen_phases.push_back(number);
  }
  if (!state->settings.phases.empty()) {
    const auto& chosen = state->chosen_phases;
    state->gate.set(trace::PauseReason::kPhase,
                    std::find(chosen.begin(), chosen.end(), number) == chosen.end());
  }
  Stream* stream = Recorder::stream();
  if (stream != nullptr)
    Recorder::append(*stream, Ticks::now(), trace::RecordKind::kPhaseBegin, number);
} catch (...) {
}

void phase_ended(std::uint32_t number, std::uint32_t outer) noexcept try {
  note_phase_ended();
  State* const state = state_now();
  if (state == nullptr) return;
  Stream* stream = Recorder::stream();
  if (stream != nullptr)
    Recorder::append(*stream, Ticks::now(), trace::RecordKind::kPhaseEnd, number);
  if (state->settings.phases.empty()) return;
  const auto& chosen = state->chosen_phases;
  state->gate.set(trace::PauseReason::kPhase,
                  std::find(chosen.begin(), chosen.end(), outer) == chosen.end());
} catch (...) {
}

void paused(bool is_paused) noexcept try {
  if (State* const state = state_now()) state->gate.set(trace::PauseReason::kPcontrol, is_paused);
} catch (...) {
}

namespace {

// Records the leave of MPI_Finalize now, because the trace closes inside it.
void leave_finalize() {
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr || traced::Selection::left_out[kFunction_MPI_Finalize]) return;
  Recorder::append(*stream, Ticks::now(), trace::RecordKind::kLeave, kFunction_MPI_Finalize);
}

}  // namespace

UserSignal user_signal() noexcept {
  const State* const state = state_now();
  return state != nullptr && is_flight(*state) ? &Flight::ask : nullptr;
}

void finish(ProfiledProcess& process, bool inside_finalize) noexcept try {
  State* const state = state_now();
  if (state != nullptr && inside_finalize) leave_finalize();
  if (end_windows() || state == nullptr) return;
  State& ending = *state;
  ending.recorder.stop();
  if (is_flight(ending)) {
    ending.flight.end();
    ending.drain.stop_watching();
    return ending.recorder.close(false);
  }
  ending.drain.stop();
  ending.recorder.give_back_room();
  const std::lock_guard guard(ending.lock);
  profile::RowsHeader header = header_now(process);
  header.end_reason = profile::EndReason::kFinalize;
  DefinitionsFrame frame(header);
  add_new_text(ending, frame, ending.written);
  add_communicators(ending, frame);
  const std::uint64_t lost = ending.recorder.lost();
  frame.text(describe_code(ending.written.code) + "lost " + std::to_string(lost) + '\n');
  const trace::ClockRow row = JobClocks::now();
  frame.clocks(&row, 1);
  const bool whole = frame.append_to(ending.file) && ending.file.finish();
  ending.recorder.close(whole);
  const auto tell = [&process](const char* reason, std::uint64_t records, const char* error) {
    if (records > 0)
      process.text().add("trace-lost",
                         std::string(reason) + ' ' + std::to_string(records) + ' ' + error);
  };
  const Drain& drain = ending.drain;
  tell("memory", lost - drain.over_cap() - drain.unwritten(), "");
  tell("size", drain.over_cap(), "");
  tell("unwritten", drain.unwritten(), std::strerror(drain.why_unwritten()));
} catch (...) {
}

}  // namespace fathom::profiler::tracing
