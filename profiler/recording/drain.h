// SPDX-License-Identifier: BSD-3-Clause
// The background thread of trace mode: compresses full chunks into the trace file and frees them.
//
// It wakes every ten milliseconds, every four while there is something to do, with every signal
// blocked, so that the program's handlers run on the same threads as without Fathom. It may run on
// every core that the parent process may (mpirun's daemon), whatever this process is bound to. It
// calls no MPI. When the file can take no more (disk full, size cap), chunks are dropped and counted as lost: recording goes on to the program's end and
// reports what is missing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "profiler/recording/recorder.h"
#include "trace/format/frame_file.h"

namespace fathom::profiler {

class Drain {
 public:
  // `size_cap`: bytes of trace file, 0 for no limit. False if no thread can be made; then only
  // stop() drains chunks.
  bool start(Recorder& recorder, trace::FrameFile& file, std::uint64_t size_cap,
             void (*every_second)());

  // Before start(): the thread looks every ten milliseconds whether it is over, then calls `end` and
  // ends. end() calls take_rest_of_window().
  void end_by_itself(bool (*is_over)(), void (*end)()) {
    is_over_ = is_over;
    end_ = end;
  }
  // After Recorder::shut(), on the drain's own thread or when that has ended: drains all that has been
  // appended.
  void take_rest_of_window();

  // For a flight recorder, whose keeper takes the chunks: the thread only does what is due every
  // second. stop_watching() ends it.
  bool start_watching(Recorder& recorder, void (*every_second)());
  void stop_watching();
  // For a drain that ends by itself: returns when it has.
  void wait_for_end();

  // At the end, after Recorder::stop(), when no other thread is inside MPI: ends the thread, then
  // seals the streams and drains the rest on the calling thread.
  void stop();

  // After stop(): records lost because the file had reached its size, records lost because it could
  // not be written, and the errno of the latter.
  std::uint64_t over_cap() const { return over_cap_; }
  std::uint64_t unwritten() const { return unwritten_; }
  int why_unwritten() const { return why_unwritten_; }

 private:
  void take_rest();
  bool start_thread();
  static void* run(void* self);
  bool drain_full_chunks();  // whether there were any

  Recorder* recorder_ = nullptr;
  trace::FrameFile* file_ = nullptr;
  std::uint64_t size_cap_ = 0;
  void (*every_second_)() = nullptr;
  bool (*is_over_)() = nullptr;
  void (*end_)() = nullptr;
  std::atomic<bool> ending_{false};
  std::uint64_t over_cap_ = 0, unwritten_ = 0;
  int why_unwritten_ = 0;
  bool drains_ = true;
  bool running_ = false;
  pthread_t thread_{};
};

}  // namespace fathom::profiler
