// SPDX-License-Identifier: BSD-3-Clause
// Writes a run's traces from decoded events: importers, slice, filter, merge, generators.
//
// (The profiler records into memory with trace/recorder.h instead.) Events of one thread must come
// in order of time; times are nanoseconds of the run, and the files say clock "monotonic" with one
// tick a nanosecond. Frames are compressed as they fill.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::trace {

class TraceWriter {
 public:
  // Makes `run_directory`/trace; an error if it holds a trace already, or a process comes twice.
  static base::Result<TraceWriter> create(const std::string& run_directory,
                                          const Definitions& definitions);
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();

  // `process`: position in the definitions. The first error stays and is returned by finish().
  void append(std::size_t process, const Event& event);

  base::Status finish();

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
