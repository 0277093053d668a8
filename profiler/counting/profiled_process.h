// SPDX-License-Identifier: BSD-3-Clause
// This process while it is profiled: what it has counted, on what, and the facts that go with it.
//
// active() is null while nothing is to be counted; all hooks and callbacks ask it first. Who makes
// and ends it: session/session.h. It outlives every callback and exit handler, so it is never
// destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "profile/rows.h"
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

  // Makes the tables, and notes who this is in `world` (an ompi_communicator_t: MPI_COMM_WORLD).
  // False without address space.
  bool open(const void* world, bool threads_communicate_together);

  Counter& counter() { return counter_; }
  Communicators& communicators() { return communicators_; }
  Windows& windows() { return windows_; }
  rankmap::Registry& registry() { return registry_; }
  RowsText& text() { return text_; }          // of this process
  RowsText& run_text() { return run_text_; }  // the same for all processes
  const Settings& settings() const { return settings_; }

  // As it is now: elapsed_ns and lost_messages are filled in. Async-signal-safe.
  profile::RowsHeader header() const;

  // The source that counts; kNone until one has proved itself.
  SourceName source() const { return source_; }
  void set_source(SourceName source) { source_ = source; }

  // The start-up check could read messages that wait for a receive (sources/unexpected_queue.h).
  bool sees_waiting_messages() const { return sees_waiting_messages_; }
  void set_sees_waiting_messages(bool sees) { sees_waiting_messages_ = sees; }

  // Where this world's results go: absolute. Rank 0 claims it at the start, so that a job that
  // never ends still shows that it was there, and so does each process that traces; the others only
  // look.
  const std::string& run_directory() const { return run_directory_; }
  void set_run_directory(std::string directory) { run_directory_ = std::move(directory); }
  // A failure is reported once, by rank 0 (unless FATHOM_LOG=quiet), and changes nothing else.
  void claim_run_directory();

  // A message on a communicator that is not known.
  void counter_lost() { unknown_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static inline std::atomic<ProfiledProcess*> active_{nullptr};

  Settings settings_;
  SourceName source_ = SourceName::kNone;
  Counter counter_;
  rankmap::Registry registry_;
  Communicators communicators_;
  Windows windows_;
  RowsText text_;
  RowsText run_text_;
  profile::RowsHeader header_{};
  bool sees_waiting_messages_ = false;
  std::string run_directory_;
  std::atomic<std::uint64_t> unknown_{0};
};

}  // namespace fathom::profiler
