// SPDX-License-Identifier: BSD-3-Clause
// The profiled process: what it has counted, on which communicators, and the facts that go with it.
//
// active() is null while nothing is to be counted; all hooks and callbacks check it first.
// session/session.h makes and ends it. It is never destroyed, because callbacks and exit handlers
// may use it to the very end.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "profile/rows.h"
#include "profiler/counting/channel_counts.h"
#include "profiler/counting/communicators.h"
#include "profiler/counting/counter.h"
#include "profiler/counting/windows.h"
#include "profiler/process/rows_text.h"
#include "profiler/process/settings.h"
#include "rankmap/registry.h"

namespace fathom::profiler {

class ProfiledProcess {
 public:
  static ProfiledProcess* active() { return active_.load(std::memory_order_relaxed); }
  static void set_active(ProfiledProcess* process) { active_.store(process); }

  explicit ProfiledProcess(const Settings& settings) : settings_(settings) {}

  // Makes the tables. `own`: this process, in a world of `world_size`. `shared`: where others can see
  // them, or null. False without address space.
  bool open(rankmap::Identity own, std::uint32_t world_size, bool threads_communicate_together,
            base::SharedMemory* shared);

  Counter& counter() { return counter_; }
  Communicators& communicators() { return communicators_; }
  Windows& windows() { return windows_; }
  rankmap::Registry& registry() { return registry_; }
  // Null unless the job is watched.
  ChannelCounts* channels() { return channels_; }
  void set_channels(ChannelCounts* channels) {
    channels_ = channels;
    counter_.count_each();
  }
  RowsText& text() { return text_; }          // of this process
  RowsText& run_text() { return run_text_; }  // identical on all processes
  const Settings& settings() const { return settings_; }

  // A snapshot, with elapsed_ns and lost_messages filled in. Async-signal-safe.
  profile::RowsHeader header() const;

  // All that had to be done at the start is done: the time of this process begins here.
  void begin();
  // The program is about to end MPI. The time of this process ends here, whatever comes until its rows
  // are taken: it may have to wait for the others. Unless end() was called before.
  void end();
  // It did not end, or has begun again.
  void go_on() { ended_unix_ns_.store(0); }

  // The number of its world.
  std::uint32_t job() const { return header_.job; }

  // The source that counts; kNone until one has proved itself.
  SourceName source() const { return source_; }
  void set_source(SourceName source) { source_ = source; }

  // Whether the start-up check could read unmatched messages (sources/unexpected_queue.h).
  bool sees_waiting_messages() const { return sees_waiting_messages_; }
  void set_sees_waiting_messages(bool sees) { sees_waiting_messages_ = sees; }

  // The absolute directory of this world's results. Rank 0 claims it at the start, so that a job
  // that never ends still leaves a sign of itself; so does each process that traces. The others
  // only look.
  const std::string& run_directory() const { return run_directory_; }
  void set_run_directory(std::string directory) { run_directory_ = std::move(directory); }
  // Rank 0 reports a failure once (unless FATHOM_LOG=quiet); nothing else changes.
  void claim_run_directory();

  // How long threads that live now have waited for a processor from begin() to end(); 0 if the
  // kernel does not say.
  std::uint64_t processor_wait_ns() const;

  // Counts a message on an unknown communicator.
  void counter_lost() { unknown_->fetch_add(1, std::memory_order_relaxed); }
  // From here on the numbers of messages that are not counted lie where others can see them.
  void keep_lost_in(std::atomic<std::uint64_t>& lost, std::atomic<std::uint64_t>& unknown) {
    counter_.keep_lost_in(lost);
    unknown.store(unknown_->load(std::memory_order_relaxed), std::memory_order_relaxed);
    unknown_ = &unknown;
  }

 private:
  static inline std::atomic<ProfiledProcess*> active_{nullptr};

  Settings settings_;
  SourceName source_ = SourceName::kNone;
  Counter counter_;
  rankmap::Registry registry_;
  Communicators communicators_;
  Windows windows_;
  ChannelCounts* channels_ = nullptr;
  RowsText text_;
  RowsText run_text_;
  profile::RowsHeader header_{};
  std::uint64_t processor_wait_before_ns_ = 0, processor_wait_at_end_ns_ = 0;
  std::atomic<std::uint64_t> began_unix_ns_{0}, ended_unix_ns_{0};  // 0: not ended
  bool sees_waiting_messages_ = false;
  std::string run_directory_;
  std::atomic<std::uint64_t> own_unknown_{0};
  std::atomic<std::uint64_t>* unknown_ = &own_unknown_;
};

}  // namespace fathom::profiler
