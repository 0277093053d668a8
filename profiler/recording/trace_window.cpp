// SPDX-License-Identifier: BSD-3-Clause
// A trace of some seconds of a job that counts (FATHOM_TRACE=request).
//
// Nothing is recorded until a reader writes a wish into the page that it shares with this process
// (window_page.h). Then the next call of the program begins the recording: that thread makes the files
// and writes what was sent and received before (window_opening.h), which takes some milliseconds; the
// call itself is the first in the trace. The drain's thread ends it when the time is over, whether or
// not the program calls MPI any more. Only the program's own calls and messages are recorded, because
// nothing counts those inside the library by their tags.
//
// A thread that is inside a call when the window ends may be about to append the call's end. So the
// drain only reads what is stored, and touches nothing of what the thread writes into: the thread finds
// at its next record that it has no room (Recorder::shut).
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <utility>

#include "message_events.h"
#include "profiler/calls/loaded_code.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/recording_state.h"
#include "profiler/recording/selection.h"
#include "profiler/recording/traced_call.h"
#include "profiler/recording/window_page.h"

namespace fathom::profiler::tracing {
namespace {

constexpr std::uint64_t kLongest_ns = std::uint64_t{86'400} * 1'000'000'000;

Recorder* window_recorder = nullptr;  // of all windows, one after the other
State* last_window = nullptr;
std::mutex window_turn;  // protects these two
std::mutex phases_lock;
std::vector<std::uint32_t>& open_phases() {
  static auto* phases = new std::vector<std::uint32_t>;  // outermost first
  return *phases;
}

std::atomic<std::uint64_t> window_until_ns{0};  // CLOCK_MONOTONIC

bool window_is_over() {
  const trace::WindowPage& page = *WindowPage::own();
  return page.for_ns.load() == 0 || page.ended_mpi.load() != 0 ||
         nanoseconds_of(CLOCK_MONOTONIC) >= window_until_ns.load();
}

bool complete_window(State& window) {
  const std::lock_guard guard(window.lock);
  window.ended = true;
  profile::RowsHeader header = header_now(window.process);
  header.end_reason = profile::EndReason::kFinalize;
  DefinitionsFrame frame(header);
  add_new_text(window, frame, window.written);
  add_communicators(window, frame);
  frame.text(describe_code(window.written.code) + "lost " + std::to_string(window.recorder.lost()) +
             '\n');
  const trace::ClockRow row = JobClocks::now();
  frame.clocks(&row, 1);
  const bool is_whole = frame.append_to(window.file) && window.file.finish();
  return window.recorder.close_until_opened_again(is_whole);
}

// On its own drain's thread, or when that has ended.
void end_window(State& window) noexcept {
  trace::WindowPage& page = *WindowPage::own();
  window.recorder.stop();
  window.recorder.shut();
  constexpr timespec kRecordIsWritten{0, 10'000'000};  // that was just being appended
  nanosleep(&kRecordIsWritten, nullptr);
  bool may_begin_again = false;
  try {
    window.drain.take_rest_of_window();
    may_begin_again = complete_window(window);
  } catch (...) {
  }
  if (!may_begin_again) page.ended_mpi.store(1);
  set_state(nullptr);
  // Somebody has asked for the next one meanwhile.
  if (page.wished.load() != window.window && page.for_ns.load() != 0 && page.ended_mpi.load() == 0)
    page.control.fetch_or(trace::kWindowAsked);
  page.ended.store(window.window, std::memory_order_release);
}

TraceSettings window_settings() {
  TraceSettings settings = settings_before_init;
  settings.transfers = false;  // nothing is known of what came before
  settings.after_seconds = settings.for_seconds = 0;
  settings.sample = 1;
  settings.phases.clear();
  return settings;
}

// Between two calls of this thread.
bool open_window(ProfiledProcess& process, std::uint32_t number) {
  if (window_recorder == nullptr) window_recorder = new Recorder;
  auto* made = new State(process, window_settings(), *window_recorder);
  made->window = number;
  made->gate.open(made->recorder);
  made->opened_at_ns = nanoseconds_of(CLOCK_MONOTONIC);
  if (!open_files(*made, process.run_directory() + "/snap-" + std::to_string(number))) {
    const int error = errno;
    made->file.remove();
    errno = error;
    return false;
  }
  const WindowOpening opening =
      window_opening(!process.counter().was_ever_paused(), process.counter().shared_by_threads());
  std::string text = "dropped " + std::to_string(opening.before) + '\n';
  if (opening.is_exact) text += "opening exact\n";
  {
    const std::lock_guard guard(phases_lock);
    for (const std::uint32_t phase : open_phases())
      text += "open-phase 0 " + std::to_string(phase) + '\n';
  }
  if (!write_first_definitions(*made, text, &opening)) {
    const int error = errno;
    made->recorder.close_until_opened_again(true);
    made->file.remove();
    errno = error;
    return false;
  }
  set_state(made);
  made->recorder.start();
  if (process.counter().is_paused()) made->gate.set(trace::PauseReason::kPcontrol, true);
  made->drain.end_by_itself(window_is_over, [] { end_window(*state_now()); });
  if (!made->drain.start(made->recorder, made->file, made->settings.size_cap_bytes, every_second)) {
    end_window(*made);  // nobody would
    errno = EAGAIN;
    return false;
  }
  last_window = made;
  return true;
}

// The first call of the program after the wish. If another thread is at it, this one goes on.
void begin_window() noexcept try {
  const std::unique_lock turn(window_turn, std::try_to_lock);
  trace::WindowPage* const page = WindowPage::own();
  ProfiledProcess* const process = ProfiledProcess::active();
  if (!turn.owns_lock() || page == nullptr) return;
  page->control.fetch_and(~trace::kWindowAsked, std::memory_order_acquire);
  const std::uint32_t number = page->wished.load();
  if (process == nullptr || state_now() != nullptr || number == 0 || number > trace::kMostWindows ||
      number == page->begun.load() || page->for_ns.load() == 0 || page->ended_mpi.load() != 0)
    return;
  window_until_ns = nanoseconds_of(CLOCK_MONOTONIC) + std::min(page->for_ns.load(), kLongest_ns);
  if (last_window != nullptr) std::exchange(last_window, nullptr)->drain.stop_watching();
  const bool begins = open_window(*process, number);
  page->error.store(begins ? 0 : static_cast<std::uint32_t>(errno));
  page->begun.store(number, std::memory_order_release);
  if (!begins) page->ended.store(number, std::memory_order_release);
} catch (...) {
}

}  // namespace

void let_others_ask(ProfiledProcess& process) {
  if (process.source() == SourceName::kNone || !WaitLog::opened() ||
      !list_holds(settings_before_init.ranks, process.header().rank))
    return;
  traced::Requests::open();
  apply_selection(window_settings());
  events::Level::only_noted = true;
  ChosenCommunicators::open(settings_before_init.communicators);
  judge_all_communicators(process);
  WindowPage::open(process.header(), process.run_directory(), begin_window);
  JobClocks::set_observer(clocks_measured);
}

bool end_windows() {
  trace::WindowPage* const page = WindowPage::own();
  if (page == nullptr) return false;
  page->ended_mpi.store(1);
  const std::lock_guard turn(window_turn);
  if (last_window == nullptr) return true;
  State& window = *std::exchange(last_window, nullptr);
  page->for_ns.store(0);  // its drain ends it
  window.drain.wait_for_end();
  return true;
}

void note_phase_begun(std::uint32_t number) {
  if (!settings_before_init.on_request) return;
  const std::lock_guard guard(phases_lock);
  open_phases().push_back(number);
}

void note_phase_ended() {
  if (!settings_before_init.on_request) return;
  const std::lock_guard guard(phases_lock);
  if (!open_phases().empty()) open_phases().pop_back();
}

}  // namespace fathom::profiler::tracing
