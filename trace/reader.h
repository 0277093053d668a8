// SPDX-License-Identifier: BSD-3-Clause
// Reads the traces of a run: streaming, out of core, safe for any byte sequence.
//
// Files are mapped, not loaded; a cursor holds one decompressed frame for each thread. Damage is
// never an error after open(). What open() sees (index, definitions, .live files, headers of frames
// without an index) goes into Process::problems. The rest is checked when it is read: a frame that
// fails its hash is left out, reported as an event kLost, and named in EventCursor::problems(). A
// process that was killed is read to the last whole record of its .live file. Threading: threads
// may share a Trace, each with its own cursors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::trace {

// The events of one process in order of time; ties: by thread. Within a thread, the order is that
// of recording.
class EventCursor {
 public:
  EventCursor(EventCursor&&) noexcept;
  EventCursor& operator=(EventCursor&&) noexcept;
  ~EventCursor();

  // False at the end. Overwrites all of `event`.
  bool next(Event& event);

  // Moves to the first event at or after this time. Costs one frame for each thread.
  void seek(std::uint64_t time_ns);

  // The damage found so far, in sentences.
  const std::vector<std::string>& problems() const;

 private:
  friend class Trace;
  struct State;
  explicit EventCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Trace {
 public:
  // RUN, or RUN/trace. An error if there is no trace file, or none that can be read at all.
  static base::Result<Trace> open(const std::string& run_directory);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const Definitions& definitions() const;

  // `process`: position in Definitions::processes.
  EventCursor events(std::size_t process) const;

  // Loads every frame and returns the damaged ones. Costs a pass over the process's file.
  std::vector<std::string> damaged_frames(std::size_t process) const;

 private:
  struct State;
  explicit Trace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
