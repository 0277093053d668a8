// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/path_windows.h"

#include <algorithm>
#include <atomic>

#include "profiler/clocks/ticks.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

using WindowState = PathWindows::Window::State;

// Names travel and are written as lines; blanks at their beginning would be lost there.
std::string cleaned(const char* name) {
  std::string text = name == nullptr ? "" : name;
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(0, text.find_first_not_of(" \t\r\v\f"));
  return text.substr(0, PathWindows::kLongestName);
}

std::atomic<bool> other_threads_call{false};

// Without a name, outside MPI and from other threads a window is left out.
bool counts(const std::string& name) {
  if (name.empty() || !WaitLog::on()) return false;
  if (WaitLog::is_main_thread()) return true;
  other_threads_call = true;
  return false;
}

}  // namespace

void PathWindows::note(const std::string& sentence) noexcept try {
  std::set<std::string>& notes = mine().notes;
  if (notes.size() < kMostNotes) notes.insert(sentence);
  if (notes.size() == kMostNotes)
    notes.insert("further notes on windows of the critical path were left out");
} catch (...) {  // without memory it stays unsaid
}

void PathWindows::note_left_out_by_rank_0() noexcept try {
  note("windows of the critical path that rank 0 does not open are left out");
} catch (...) {
}

PathWindows::Window* PathWindows::find(const std::string& name) {
  for (Window& window : mine().windows)
    if (window.name == name) return &window;
  return nullptr;
}

void PathWindows::start(const char* name, const Rows* rows) noexcept try {
  const std::string clean = cleaned(name);
  if (counts(clean)) begin(clean, rows);
} catch (...) {  // no memory: as if it were not opened
}

void PathWindows::stop(const char* name, const Rows* rows) noexcept try {
  const std::string clean = cleaned(name);
  if (counts(clean)) end(clean, rows);
} catch (...) {
}

void PathWindows::begin(const std::string& name, const Rows* rows) {
  Mine& own = mine();
  Window* window = find(name);
  if (window == nullptr) {
    if (own.windows.size() == kMostWindows)
      return note("only the first " + std::to_string(kMostWindows) +
                  " names of windows of the critical path are in the profile");
    window = &own.windows.emplace_back();
    window->name = name;
  }
  if (window->state != WindowState::kClosed)
    return note("the window \"" + name + "\" was opened while it was open, which has no effect");
  if (own.openings == kMostOpenings) {
    window->state = WindowState::kOpenButLeftOut;
    return note("only the first " + std::to_string(kMostOpenings) +
                " openings of windows of the critical path, of all names together, are in the "
                "profile");
  }
  add_calls(rows);
  const std::uint64_t now = Ticks::now();
  window->openings.push_back({now, now});
  own.openings += 1;
  window->state = WindowState::kOpen;
  WaitLog::end_stretch(now);
}

void PathWindows::end(const std::string& name, const Rows* rows) {
  Window* window = find(name);
  if (window == nullptr && mine().windows.size() == kMostWindows) return;
  if (window == nullptr || window->state == WindowState::kClosed)
    return note("the window \"" + name +
                "\" was closed while it was not open, which has no effect");
  if (window->state == WindowState::kOpen) {
    const std::uint64_t now = Ticks::now();
    add_calls(rows);
    window->openings.back().stop = now;
    WaitLog::end_stretch(now);
  }
  window->state = WindowState::kClosed;
}

void PathWindows::close(const Rows* rows) noexcept try {
  if (other_threads_call)
    mine().notes.insert(
        "windows of the critical path are left out if a thread other than that of MPI_Init opens "
        "or closes them");
  if (mine().windows.empty()) return;
  if (WaitLog::is_main_thread()) add_calls(rows);
  for (Window& window : mine().windows) {
    if (window.state == WindowState::kOpen) window.openings.back().stop = WaitLog::closed_at();
    window.state = WindowState::kClosed;
  }
} catch (...) {
}

// Adds what this thread has called since the last opening or closing to the windows that are open.
void PathWindows::add_calls(const Rows* rows) {
  if (rows == nullptr) return;
  Mine& own = mine();
  own.seen.resize(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const profile::CallRow& row = (*rows)[i];
    Sum& seen = own.seen[i];
    if (row.calls == seen.calls) continue;
    for (Window& window : own.windows) {
      if (window.state != WindowState::kOpen) continue;
      const SumKey key{row.place.function, row.key.communicator};
      auto found = window.sums.find(key);
      if (found == window.sums.end()) {
        if (own.sums == kMostSums) {
          note(
              "the windows of the critical path hold so many functions and communicators that some "
              "calls are missing from their metrics");
          continue;
        }
        found = window.sums.emplace(key, Sum{}).first;
        own.sums += 1;
      }
      found->second.calls += row.calls - seen.calls;
      found->second.ticks += row.ticks - seen.ticks;
      found->second.bytes += row.bytes - seen.bytes;
    }
    seen = {row.calls, row.ticks, row.bytes};
  }
}

}  // namespace fathom::profiler
