// SPDX-License-Identifier: BSD-3-Clause
// One recording of this process: of the whole run (tracing.cpp), or of a window of it that somebody has
// asked for (trace_window.cpp). There is one at a time.
//
// Cold. Never destroyed: threads of the program may outlive everything else, and may still look at a
// recording that has ended. Its lock protects what is written to its file.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/counting/profiled_process.h"
#include "profiler/recording/definitions_writer.h"
#include "profiler/recording/drain.h"
#include "profiler/recording/flight.h"
#include "profiler/recording/recorder.h"
#include "profiler/recording/trace_settings.h"
#include "profiler/recording/window_opening.h"

namespace fathom::profiler::tracing {

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

struct State {
  State(ProfiledProcess& of, const TraceSettings& wanted, Recorder& into)
      : process(of), settings(wanted), recorder(into) {}

  ProfiledProcess& process;
  TraceSettings settings;
  Recorder& recorder;
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
  std::uint32_t window = 0;  // its number; 0: recorded from the start
  bool ended = false;
};

extern TraceSettings settings_before_init;

// The present one, or null.
State* state_now();
void set_state(State* state);

inline bool is_flight(const State& state) { return state.settings.flight_bytes > 0; }

// ---- the definitions of a recording; under its lock, unless nobody else knows it yet ----

// As of now, of a process that has not ended properly.
profile::RowsHeader header_now(ProfiledProcess& process);
// Adds the text after `written` and advances `written`; valid once the frame has reached the file.
void add_new_text(const State& state, DefinitionsFrame& frame, Written& written);
// A number that grows as the row gains facts: the program sees the communicator, or the kind is a
// communicator by itself.
std::uint8_t how_known(const profile::CommunicatorRow& row);
// Adds everything about communicators; rows may have changed since they were first written.
void add_communicators(State& state, DefinitionsFrame& frame);
// Makes what the process records into, in `run`. False, with errno set, if it cannot be made.
bool open_files(State& made, const std::string& run);
// False, with errno set, if they cannot be written: the rest of the trace is useless without them.
bool write_first_definitions(State& made, const std::string& more_text,
                             const WindowOpening* opening);

// ---- while it records ----

void every_second();
void judge_all_communicators(ProfiledProcess& process);
void clocks_measured(const trace::ClockRow& row);

// ---- windows ----

// Readers may ask from now on.
void let_others_ask(ProfiledProcess& process);
// MPI_Finalize: nothing begins any more. False if nobody could ask.
bool end_windows();
// Which phases are open, for the windows that begin in them.
void note_phase_begun(std::uint32_t number);
void note_phase_ended();

}  // namespace fathom::profiler::tracing
