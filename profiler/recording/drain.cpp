// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/drain.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace fathom::profiler {
namespace {

constexpr int kCompressionLevel = 1;
// While there is something to drain, the rest is short, so that what it reads is still in the caches; but waking
// interrupts a rank that has the same core.
constexpr long kShortRestNs = 4'000'000, kLongRestNs = 10'000'000, kNsPerSecond = 1'000'000'000;

// Until the clock of the host next shows a multiple of `rest_ns`, so that the drains of a host work at
// the same moments. Where no core is free, each then takes its rank's time while those that this rank
// talks to give up theirs; one after the other, they would make all ranks wait for each of them.
// Returns the second of the clock.
time_t rest(long rest_ns) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += rest_ns - until.tv_nsec % rest_ns;
  if (until.tv_nsec >= kNsPerSecond) {
    until.tv_nsec -= kNsPerSecond;
    ++until.tv_sec;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  return until.tv_sec;
}

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

// Since Linux 6.12, a thread that asks for shorter slices runs as soon as it wakes; else the rank, which
// has the core, ends its slice first, and the drains of a host no longer work at the same moments. The
// share of the core stays the same. Earlier kernels ignore it.
void ask_for_short_slices() {
  struct Attributes {  // struct sched_attr, which glibc does not have
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{};
  constexpr std::uint64_t kSliceNs = 100'000;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.runtime = kSliceNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
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
  ask_for_short_slices();
  time_t second = 0;
  bool is_busy = false;
  while (!drain->ending_.load(std::memory_order_acquire)) {
    const time_t now = rest(is_busy ? kShortRestNs : kLongRestNs);
    drain->recorder_->take_from_ended();
    is_busy = drain->drains_ && drain->drain_full_chunks();
    if (drain->is_over_ != nullptr && drain->is_over_()) {
      drain->end_();
      break;
    }
    if (second != 0 && now != second && drain->every_second_ != nullptr) drain->every_second_();
    second = now;
  }
  return nullptr;
}

bool Drain::drain_full_chunks() {
  static trace::Compressor compressor(kCompressionLevel);
  bool has_drained = false;
  while (trace::LiveChunkHeader* chunk = recorder_->next_full()) {
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kEvents;
    header.thread = chunk->thread;
    header.sequence = chunk->sequence;
    header.first_ticks = chunk->first_ticks;
    const bool has_room = size_cap_ == 0 || file_->bytes() < size_cap_;
    trace::RecordPacker::Packed packed;
    if (has_room)
      packed = compressor.packer().pack(Recorder::words_of(chunk), Recorder::kChunkWords,
                                        chunk->first_ticks);
    const bool is_packed = packed.bytes != nullptr;
    std::size_t words = packed.words;
    header.records = packed.records;
    if (!is_packed) words = Recorder::used_words(chunk, &header.records, &header.last_ticks);
    const auto append = [&] {
      return is_packed ? file_->append(header, packed, compressor)
                       : file_->append(header, chunk + 1, words * sizeof(std::uint64_t), nullptr);
    };
    if (header.records > 0 && (!has_room || !append())) {
      recorder_->count_lost(header.records);
      (has_room ? unwritten_ : over_cap_) += header.records;
      if (has_room) why_unwritten_ = errno;
    }
    recorder_->recycle(chunk);
    has_drained = true;
  }
  return has_drained;
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
