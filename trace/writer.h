// SPDX-License-Identifier: BSD-3-Clause
// Writes a run's traces from decoded events: importers, slice, filter, merge, generators.
//
// (The profiler records into memory instead: profiler/recording/recorder.h.) Events of one thread
// must come in order of time. Times are nanoseconds of the run, and the files state the clock
// "monotonic" with one tick per nanosecond. Frames are compressed as they fill.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::trace {

class TraceWriter {
 public:
  // Makes `run_directory`/trace; an error if it already holds a trace, or a process occurs twice.
  static base::Result<TraceWriter> create(const std::string& run_directory,
                                          const Definitions& definitions);
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();

  // `process`: position in the definitions. finish() returns the first error.
  void append(std::size_t process, const Event& event);

  // What call sites of a process are, beside those in the definitions.
  void name_sites(std::size_t process, const std::map<std::uint64_t, NamedSite>& sites);

  base::Status finish();

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
