// SPDX-License-Identifier: BSD-3-Clause
// The flight recorder: instead of draining records into a file, the process keeps the last ones in
// memory, and nothing is written while it runs.
//
// The memory is a memfd, and so is the file of definitions. Both are shared with a keeper, a small
// process of its own (profiler/keeper/) that this one starts: it drops the oldest records, and
// writes those that are left as an ordinary trace when it is asked to, and when this process ends in
// any way but MPI_Finalize. So a SIGKILL to every rank of a host leaves their last seconds too, no
// signal handler has to write them, and nothing is left behind when all have ended.
//
// Cold, except ask().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/recording/recorder.h"
#include "trace/format/flight.h"
#include "trace/format/frame_file.h"

namespace fathom::profiler {

class Flight {
 public:
  // Makes memory for `bytes` of records, a file of definitions in memory, and the keeper, who will
  // write to `run`. False, with errno set, if one of them cannot be made; then there is no keeper.
  bool open(Recorder& recorder, trace::FrameFile& definitions, std::uint32_t job,
            std::uint32_t rank, std::size_t bytes, const std::string& run);

  // Nothing is to be kept: the keeper ends.
  void end();

  // Asks the keeper for a snapshot of this process. Async-signal-safe.
  static void ask() noexcept;

 private:
  static inline trace::FlightHeader* header_ = nullptr;
};

}  // namespace fathom::profiler
