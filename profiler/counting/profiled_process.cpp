// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/profiled_process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "profiler/process/processor_wait.h"
#include "profiler/process/run_directory.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

std::uint64_t now_unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

bool ProfiledProcess::open(rankmap::Identity own, std::uint32_t world_size,
                           bool threads_communicate_together, base::SharedMemory* shared) {
  std::memcpy(header_.magic, profile::kRowsMagic, sizeof header_.magic);
  header_.job = own.job;
  header_.rank = own.rank;
  header_.world_size = world_size;
  header_.pid = static_cast<std::uint32_t>(getpid());
  header_.started_unix_ns = now_unix_ns();
  began_unix_ns_.store(header_.started_unix_ns);
  const int lanes = threads_communicate_together ? Counter::kLanes : 1;
  return run_text_.open(shared) && text_.open(shared) && registry_.open(own, shared) &&
         communicators_.open(&registry_) && counter_.open(lanes, own.job, shared);
}

profile::RowsHeader ProfiledProcess::header() const {
  profile::RowsHeader header = header_;
  const std::uint64_t ended_ns = ended_unix_ns_.load();
  header.elapsed_ns = (ended_ns != 0 ? ended_ns : now_unix_ns()) - began_unix_ns_.load();
  header.lost_messages = counter_.lost() + unknown_->load(std::memory_order_relaxed);
  return header;
}

void ProfiledProcess::begin() {
  processor_wait_before_ns_ = profiler::processor_wait_ns();
  began_unix_ns_.store(now_unix_ns());
}

void ProfiledProcess::end() {
  if (ended_unix_ns_.load() != 0) return;
  const std::uint64_t now_ns = now_unix_ns();
  processor_wait_at_end_ns_ = profiler::processor_wait_ns();
  ended_unix_ns_.store(now_ns);
}

std::uint64_t ProfiledProcess::processor_wait_ns() const {
  const bool has_ended = ended_unix_ns_.load() != 0;
  const std::uint64_t now_ns =  // without threads that have ended
      has_ended ? processor_wait_at_end_ns_ : profiler::processor_wait_ns();
  return now_ns > processor_wait_before_ns_ ? now_ns - processor_wait_before_ns_ : 0;
}

void ProfiledProcess::claim_run_directory() {
  const auto claimed = profiler::claim_run_directory(run_directory_, header_.job);
  if (claimed) {
    run_directory_ = *claimed;
  } else if (header_.rank == 0 && !settings_.quiet) {
    std::fprintf(stderr,
                 "fathom: cannot make the run directory %s: %s; the job goes on without a profile. "
                 "Choose another one with FATHOM_OUTPUT.\n",
                 run_directory_.c_str(), std::strerror(errno));
  }
}

}  // namespace fathom::profiler
