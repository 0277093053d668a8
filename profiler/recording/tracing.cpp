// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/tracing.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/name_patterns.h"
#include "base/seconds.h"
#include "base/text.h"
#include "function_numbers.h"
#include "message_events.h"
#include "profiler/calls/call_sites.h"
#include "profiler/calls/function_names.h"
#include "profiler/calls/loaded_code.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/definitions_writer.h"
#include "profiler/recording/drain.h"
#include "profiler/recording/flight.h"
#include "profiler/recording/placement_of_process.h"
#include "profiler/recording/trace_settings.h"
#include "profiler/recording/traced_call.h"
#include "profiler/recording/traced_functions.h"

namespace fathom::profiler::tracing {
namespace {

// The reasons why nothing is recorded at present: one bit for each trace::PauseReason.
class Gate {
 public:
  void set(trace::PauseReason reason, bool closed) {
    const std::lock_guard guard(lock_);
    const std::uint32_t bit = 1u << static_cast<int>(reason);
    const bool was_open = closed_ == 0;
    closed_ = closed ? closed_ | bit : closed_ & ~bit;
    const bool is_open = closed_ == 0;
    if (was_open == is_open) return;
    if (!is_open) mark(trace::RecordKind::kPause, reason);
    is_open ? recorder_->start() : recorder_->stop();
    if (is_open) mark(trace::RecordKind::kResume, reason);
  }
  void open(Recorder& recorder) { recorder_ = &recorder; }

 private:
  static void mark(trace::RecordKind kind, trace::PauseReason reason) {
    Stream* stream = Recorder::stream();
    if (stream != nullptr)
      Recorder::append(*stream, Ticks::now(), kind, static_cast<std::uint32_t>(reason));
  }

  std::mutex lock_;
  Recorder* recorder_ = nullptr;
  std::uint32_t closed_ = 0;
};

// How much of the data that only grows has reached the file.
struct Written {
  std::size_t text = 0, run_text = 0;
  unsigned long long code = 0;  // objects that the loader had loaded
};

constexpr std::uint32_t kOutsidePhases = 0;  // profiler/session/phases.cpp

struct State {
  ProfiledProcess* process = nullptr;
  TraceSettings settings;
  Recorder recorder;
  trace::FrameFile file;
  Drain drain;
  Flight flight;
  Gate gate;
  std::mutex lock;                          // protects what follows
  std::vector<std::uint8_t> written_kinds;  // how_known() of each row as last written
  Written written;
  std::vector<std::uint32_t> chosen_phases;
  std::uint64_t opened_at_ns = 0;
  std::uint64_t last_clock_chunks = ~std::uint64_t{0};
};

// Never destroyed: threads of the program may outlive everything else.
State* state = nullptr;
TraceSettings settings_before_init;

profile::RowsHeader header_now(ProfiledProcess& process) {
  profile::RowsHeader header = process.header();
  header.end_reason = profile::EndReason::kExit;  // until finish() says otherwise
  return header;
}

// Adds the text after `written` and advances `written`; valid once the frame has reached the file.
void add_new_text(DefinitionsFrame& frame, Written& written) {
  const RowsText& text = state->process->text();
  const RowsText& run_text = state->process->run_text();
  const std::size_t run_size = run_text.size(), size = text.size();
  frame.text(run_text.data() + written.run_text, run_size - written.run_text);
  frame.text(text.data() + written.text, size - written.text);
  written.run_text = run_size;
  written.text = size;
}

// A number that grows as the row gains facts: the program sees the communicator, or the kind is a
// communicator by itself.
std::uint8_t how_known(const profile::CommunicatorRow& row) {
  const bool visible = (row.flags & profile::kInternal) == 0, by_itself = row.ordinal_key == 0;
  return static_cast<std::uint8_t>(1 + (visible ? 1 : 0) + (by_itself ? 1 : 0));
}

// Adds everything about communicators; rows may have changed since they were first written.
void add_communicators(DefinitionsFrame& frame) {
  const auto& rows = state->process->registry().rows();
  const auto& foreign = state->process->registry().foreign_members();
  frame.rows(profile::Section::kCommunicators, rows.data(), rows.size());
  frame.rows(profile::Section::kForeignMembers, foreign.data(), foreign.size());
  state->written_kinds.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) state->written_kinds[i] = how_known(rows[i]);
}

bool is_flight() { return state->settings.flight_bytes > 0; }

void every_second() {
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
    if (is_flight() && code.empty()) return;
    DefinitionsFrame frame(header_now(*state->process));
    const trace::ClockRow row = JobClocks::now();
    frame.clocks(&row, 1);
    frame.text(code);
    if (frame.append_to(state->file)) state->written = written;
  } catch (...) {
  }
}

void apply_selection(const TraceSettings& settings) {
  traced::Selection::sites = settings.sites;
  traced::Selection::sample = settings.sample;
  traced::Selection::last_call = kFunction_MPI_Finalize;
  for (std::uint32_t i = 0; i < kFunctionCount; ++i) {
    traced::Selection::left_out[i] = !base::chooses(settings.functions, kFunctionNames[i]);
  }
}

void judge(std::uint32_t kind, const profile::CommunicatorRow& row) {
  ChosenCommunicators::judge(kind, row.name, row.made_by);
}

std::string listed(const std::vector<std::string>& patterns) { return base::joined(patterns, ","); }

std::string describe_recording(const TraceSettings& settings) {
  std::string lines = kTracedFunctionLines;
  lines += std::string("clock ") + (Ticks::uses_counter() ? "tsc" : "monotonic") + '\n';
  lines += std::string("level ") + (settings.transfers ? "transfers" : "calls") + '\n';
  for (const std::string& pattern : settings.communicators)
    lines += "chosen-communicators " + pattern + '\n';
  const auto chosen = [&lines](const char* what, const std::string& value) {
    if (!value.empty()) lines += std::string("selection ") + what + ' ' + value + '\n';
  };
  chosen("functions", listed(settings.functions));
  chosen("ranks", settings.ranks);
  chosen("phases", listed(settings.phases));
  if (settings.after_seconds > 0) chosen("after", std::to_string(settings.after_seconds) + " s");
  if (settings.for_seconds > 0) chosen("for", std::to_string(settings.for_seconds) + " s");
  if (settings.flight_bytes > 0)
    chosen("flight", "the last " + std::to_string(settings.flight_bytes) + " bytes");
  if (settings.sample > 1) chosen("sample", std::to_string(settings.sample));
  return lines;
}

void clocks_measured(const trace::ClockRow& row) try {
  if (state == nullptr) return;
  DefinitionsFrame frame(header_now(*state->process));
  frame.clocks(&row, 1);
  frame.append_to(state->file);
} catch (...) {
}

// Makes what the process records into. False, with errno set, if it cannot be made.
bool open_files(State& made, ProfiledProcess& process) {
  const std::uint32_t job = process.header().job, rank = process.header().rank;
  if (made.settings.flight_bytes > 0) {
    return made.flight.open(made.recorder, made.file, job, rank, made.settings.flight_bytes,
                            process.run_directory());
  }
  const std::string folder = process.run_directory() + "/trace";
  const std::string base = folder + "/" + std::to_string(job) + "." + std::to_string(rank);
  return make_directories(folder) && made.file.open((base + ".trace").c_str(), job, rank) &&
         made.recorder.open((base + ".live").c_str(), job, rank, made.settings.memory_bytes);
}

void open_or_throw(ProfiledProcess& process) {
  const auto give_up = [&process](int error) {
    process.text().add("trace-lost", std::string("no-trace 0 ") + std::strerror(error));
  };
  process.claim_run_directory();
  auto* made = new State;
  made->process = &process;
  made->settings = settings_before_init;
  if (!open_files(*made, process)) {
    const int error = errno;
    made->file.remove();
    if (made->settings.flight_bytes == 0) return give_up(error);
    return process.text().add(
        "note", std::string("there is no flight recorder: its memory or its keeper, fathom-keeper "
                            "beside libfathom-trace.so, could not be made (") +
                    std::strerror(error) + ")");
  }
  if (made->settings.sample > 1 && !made->recorder.add_up_left_out()) made->settings.sample = 1;
  if (!made->recorder.survives_kill()) {
    process.text().add(
        "note",
        "there was little room in " + process.run_directory() +
            "/trace: of a process that was killed, the events of its last moments are lost");
  }
  apply_selection(made->settings);
  if (!ChosenCommunicators::open(made->settings.communicators)) {
    process.text().add("note", "no memory to choose communicators: all are traced");
  }
  const auto& kinds = process.registry().rows();
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) judge(kind, kinds[kind]);
  traced::Requests::open();
  events::Level::requests = made->settings.transfers && process.source() != SourceName::kPeruse;
  WaitLog::set_tracer(&events::on_complete<false>);
  made->gate.open(made->recorder);
  made->opened_at_ns = nanoseconds_of(CLOCK_MONOTONIC);
  state = made;

  DefinitionsFrame frame(header_now(process));
  add_new_text(frame, made->written);
  frame.text(describe_recording(made->settings) + describe_place() +
             describe_code(made->written.code));
  add_communicators(frame);
  const trace::ClockRow row = JobClocks::measured_now();
  frame.clocks(&row, 1);
  if (!frame.append_to(made->file)) {  // the rest of the trace is useless without it
    const int error = errno;
    state = nullptr;
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
  if (is_flight()) {
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
  if (!settings_before_init.wanted || process.source() == SourceName::kNone) return;
  if (!list_holds(settings_before_init.ranks, process.header().rank)) return;
  open_or_throw(process);
} catch (...) {
}

void communicator_renamed(const void* comm) noexcept try {
  const Live* live = Communicators::find(comm);
  if (state == nullptr || live == nullptr || ChosenCommunicators::leaves_none_out()) return;
  const std::lock_guard guard(state->lock);
  ChosenCommunicators::judge(live->kind, rankmap::given_name(comm), {});
} catch (...) {
}

void communicator_known(std::uint32_t kind) noexcept try {
  if (state == nullptr) return;
  const std::lock_guard guard(state->lock);
  const auto& rows = state->process->registry().rows();
  if (kind >= rows.size()) return;
  judge(kind, rows[kind]);
  const std::uint8_t how = how_known(rows[kind]);
  if (state->written_kinds.size() < rows.size()) state->written_kinds.resize(rows.size());
  if (state->written_kinds[kind] >= how) return;
  state->written_kinds[kind] = how;
  DefinitionsFrame frame(header_now(*state->process));
  frame.rows(profile::Section::kCommunicators, &rows[kind], 1);
  const auto& foreign = state->process->registry().foreign_members();
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    if (foreign[i].communicator == kind)
      frame.rows(profile::Section::kForeignMembers, &foreign[i], 1);
  }
  frame.append_to(state->file);
} catch (...) {
}

void phase_begun(std::uint32_t number, const char* name) noexcept try {
  if (state == nullptr) return;
  if (name != nullptr) {
    const std::lock_guard guard(state->lock);
    DefinitionsFrame frame(header_now(*state->process));
    Written written = state->written;
    add_new_text(frame, written);
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
  if (state != nullptr) state->gate.set(trace::PauseReason::kPcontrol, is_paused);
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
  return state != nullptr && is_flight() ? &Flight::ask : nullptr;
}

void finish(ProfiledProcess& process, bool inside_finalize) noexcept try {
  if (state == nullptr) return;
  State& ending = *state;
  if (inside_finalize) leave_finalize();
  ending.recorder.stop();
  if (is_flight()) {
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
  add_new_text(frame, ending.written);
  add_communicators(frame);
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
