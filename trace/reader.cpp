// SPDX-License-Identifier: BSD-3-Clause
#include "trace/reader.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "trace/run_definitions.h"
#include "trace/run_files.h"

namespace fathom::trace {

struct Trace::State {
  std::vector<ProcessTrace> files;
  Definitions definitions;
  std::vector<DecodeTables> tables;
  std::vector<ProcessTime> times;
};

namespace {

// Time 0: the one that a tool kept, otherwise the first record of all processes.
std::int64_t find_epoch(const std::vector<ProcessTrace>& files, const RunClock& clock) {
  bool found = false;
  std::int64_t epoch_ns = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (const auto& given = files[i].definitions.epoch_unix_ns) {
      return static_cast<std::int64_t>(*given -
                                       static_cast<std::uint64_t>(clock.unix_less_reference_ns));
    }
    for (const auto& [thread, pieces] : files[i].threads) {
      const std::int64_t first_ns = clock.to_reference_ns[i](pieces.front().frame.first_ticks);
      if (!found || first_ns < epoch_ns) epoch_ns = first_ns;
      found = true;
    }
  }
  return epoch_ns;
}

void find_span(const ProcessTrace& files, const ProcessTime& time, Process& process) {
  bool found = false;
  for (const auto& [thread, pieces] : files.threads) {
    const std::uint64_t first_ns = time(pieces.front().frame.first_ticks);
    const std::uint64_t last_ns = time(pieces.back().frame.last_ticks);
    process.first_ns = found ? std::min(process.first_ns, first_ns) : first_ns;
    process.last_ns = std::max({process.last_ns, first_ns, last_ns});
    found = true;
  }
}

}  // namespace

// A heap of waiting threads merges their events; the current thread continues while it is the
// earliest, which saves most heap operations.
struct EventCursor::State {
  struct Thread {
    ThreadStream stream;
    Event event;  // the next one, if it waits
  };

  State(const ProcessTrace& files, const DecodeTables& tables, const ProcessTime& time,
        bool begins_late) {
    for (const auto& [thread, pieces] : files.threads) {
      threads.push_back(
          {ThreadStream(files.files(), thread, pieces, tables, time, begins_late), {}});
    }
    gather();
  }

  bool is_later(std::size_t a, std::size_t b) const {
    const Event& first = threads[a].event;
    const Event& second = threads[b].event;
    return std::make_pair(first.time_ns, a) > std::make_pair(second.time_ns, b);
  }
  auto later() const {
    return [this](std::size_t a, std::size_t b) { return is_later(a, b); };
  }

  bool fetch(std::size_t thread) {
    return threads[thread].stream.next(threads[thread].event, problems);
  }

  void gather() {
    waiting.clear();
    if (threads.size() == 1) return;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (fetch(i)) waiting.push_back(i);
    }
    std::make_heap(waiting.begin(), waiting.end(), later());
  }

  bool next(Event& event) {
    if (threads.size() == 1) {
      if (!single_waits) return threads[0].stream.next(event, problems);
      single_waits = false;
      event = threads[0].event;
      return true;
    }
    if (waiting.empty()) return false;
    const std::size_t earliest = waiting.front();
    event = threads[earliest].event;
    std::pop_heap(waiting.begin(), waiting.end(), later());
    if (fetch(earliest)) {
      std::push_heap(waiting.begin(), waiting.end(), later());
    } else {
      waiting.pop_back();
    }
    return true;
  }

  void seek(std::uint64_t time_ns) {
    waiting.clear();
    single_waits = false;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      threads[i].stream.seek(time_ns);
      bool found = fetch(i);
      while (found && threads[i].event.time_ns < time_ns) found = fetch(i);
      if (found) waiting.push_back(i);
    }
    single_waits = threads.size() == 1 && !waiting.empty();
    std::make_heap(waiting.begin(), waiting.end(), later());
  }

  std::vector<std::string> problems;
  std::vector<Thread> threads;
  std::vector<std::size_t> waiting;
  bool single_waits = false;  // after seek()
};

EventCursor::EventCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventCursor::EventCursor(EventCursor&&) noexcept = default;
EventCursor& EventCursor::operator=(EventCursor&&) noexcept = default;
EventCursor::~EventCursor() = default;

bool EventCursor::next(Event& event) { return state_->next(event); }
void EventCursor::seek(std::uint64_t time_ns) { state_->seek(time_ns); }
const std::vector<std::string>& EventCursor::problems() const { return state_->problems; }

Trace::Trace(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

base::Result<Trace> Trace::open(const std::string& run_directory) {
  auto files = open_run(run_directory);
  if (!files) return files.error();
  auto state = std::make_unique<State>();
  state->files = std::move(*files);
  std::vector<ProcessDefinitions> parts;
  for (ProcessTrace& file : state->files) {
    file.definitions.process.rank = file.rank;
    parts.push_back(std::move(file.definitions));
    file.definitions.epoch_unix_ns = parts.back().epoch_unix_ns;
  }
  RunDefinitions together = bring_together(parts);
  state->definitions = std::move(together.definitions);
  state->tables = std::move(together.tables);
  const std::int64_t epoch_ns = find_epoch(state->files, together.clock);
  const auto epoch_unix = static_cast<std::uint64_t>(epoch_ns) +
                          static_cast<std::uint64_t>(together.clock.unix_less_reference_ns);
  state->definitions.epoch_unix_ns = epoch_unix;
  for (std::size_t i = 0; i < state->files.size(); ++i) {
    state->times.push_back({std::move(together.clock.to_reference_ns[i]), epoch_ns});
    find_span(state->files[i], state->times[i], state->definitions.processes[i]);
  }
  return Trace(std::move(state));
}

const Definitions& Trace::definitions() const { return state_->definitions; }

EventCursor Trace::events(std::size_t process) const {
  return EventCursor(std::make_unique<EventCursor::State>(
      state_->files[process], state_->tables[process], state_->times[process],
      state_->definitions.processes[process].opening.has_value()));
}

std::vector<std::string> Trace::damaged_frames(std::size_t process) const {
  const ProcessTrace& files = state_->files[process];
  std::vector<std::string> problems;
  std::vector<char> buffer;
  for (const auto& [thread, pieces] : files.threads) {
    for (const Piece& piece : pieces) {
      std::string problem;
      std::size_t size = 0;
      if (piece.words != 0) continue;
      if (load_frame(*files.trace, piece.frame, buffer, size, problem) == nullptr)
        problems.push_back(problem);
      files.trace->drop(piece.frame.offset, piece.frame.offset + sizeof(FrameHeader) + size);
    }
  }
  return problems;
}

}  // namespace fathom::trace
