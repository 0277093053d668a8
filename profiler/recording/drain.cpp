// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/drain.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace fathom::profiler {
namespace {

constexpr int kCompressionLevel = 1;
constexpr timespec kRest{0, 10'000'000};
constexpr int kRestsPerSecond = 100;

// Lets the calling thread run where the parent process may (mpirun's daemon), not only on the core
// to which that has bound this process: there it would take its time from the rank. The scheduler
// prefers an idle core.
void leave_the_core() {
  cpu_set_t own, launcher;
  if (sched_getaffinity(0, sizeof own, &own) != 0 ||
      sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0)
    return;
  CPU_OR(&own, &own, &launcher);
  sched_setaffinity(0, sizeof own, &own);
}

}  // namespace

bool Drain::start(Recorder& recorder, trace::FrameFile& file, std::uint64_t size_cap,
                  void (*every_second)()) {
  recorder_ = &recorder;
  file_ = &file;
  size_cap_ = size_cap;
  every_second_ = every_second;
  return start_thread();
}

bool Drain::start_watching(Recorder& recorder, void (*every_second)()) {
  recorder_ = &recorder;
  every_second_ = every_second;
  drains_ = false;
  return start_thread();
}

bool Drain::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  running_ = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (running_) pthread_setname_np(thread_, "fathom-drain");
  return running_;
}

void* Drain::run(void* self) {
  auto* drain = static_cast<Drain*>(self);
  leave_the_core();
  for (int rests = 1; !drain->ending_.load(std::memory_order_acquire); ++rests) {
    nanosleep(&kRest, nullptr);
    drain->recorder_->take_from_ended();
    if (drain->drains_) drain->drain_full_chunks();
    if (drain->is_over_ != nullptr && drain->is_over_()) {
      drain->end_();
      break;
    }
    if (rests % kRestsPerSecond == 0 && drain->every_second_ != nullptr) drain->every_second_();
  }
  return nullptr;
}

void Drain::drain_full_chunks() {
  static trace::Compressor compressor(kCompressionLevel);
  while (trace::LiveChunkHeader* chunk = recorder_->next_full()) {
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kEvents;
    header.thread = chunk->thread;
    header.sequence = chunk->sequence;
    header.first_ticks = chunk->first_ticks;
    const std::size_t words = Recorder::used_words(chunk, &header.records, &header.last_ticks);
    const bool has_room = size_cap_ == 0 || file_->bytes() < size_cap_;
    if (header.records > 0 &&
        (!has_room ||
         !file_->append(header, chunk + 1, words * sizeof(std::uint64_t), &compressor))) {
      recorder_->count_lost(header.records);
      (has_room ? unwritten_ : over_cap_) += header.records;
      if (has_room) why_unwritten_ = errno;
    }
    recorder_->recycle(chunk);
  }
}

void Drain::stop_watching() {
  ending_.store(true, std::memory_order_release);
  if (running_) pthread_join(thread_, nullptr);
  running_ = false;
}

void Drain::wait_for_end() {
  if (running_) pthread_join(thread_, nullptr);
  running_ = false;
}

void Drain::stop() {
  stop_watching();
  take_rest();
}

void Drain::take_rest() {
  drain_full_chunks();
  // Twice: if all chunks are in use, a stream that needs another one finds it in the second round,
  // when the chunks of the others have been drained.
  for (int i = 0; i < 2; ++i) {
    for (std::uint32_t stream = 0; stream < recorder_->streams(); ++stream) {
      recorder_->seal(stream);
      drain_full_chunks();
    }
  }
}

void Drain::take_rest_of_window() {
  drain_full_chunks();
  recorder_->declare_all_full();
  drain_full_chunks();
  for (std::uint32_t stream = 0; stream < recorder_->streams(); ++stream) {
    trace::FrameHeader header{};
    const std::uint64_t lost = recorder_->unwritten_loss(stream, &header.sequence);
    if (lost == 0) continue;
    header.kind = trace::FrameKind::kEvents;
    header.thread = stream;
    header.first_ticks = header.last_ticks = Ticks::now();
    header.records = 1;
    const std::uint64_t record[] = {
        trace::head(static_cast<std::uint32_t>(trace::RecordKind::kLost), 1, 0, 0), lost};
    file_->append(header, record, sizeof record, nullptr);
  }
}

}  // namespace fathom::profiler
