// One profiled run of this process: from MPI_Init to MPI_Finalize.
//
// Life: before_init() reads the settings and prepares the PML choice; after_init() opens the tables,
// picks the best source that proves itself, and starts counting; before_finalize() gathers, writes and
// stops. Every step that fails steps down and is named in the profile; none of them fails the program.
//
// active() is null while nothing is to be counted; all hooks and callbacks ask it first.
#pragma once

#include <atomic>
#include <string>

#include "profiler/communicators.h"
#include "profiler/counter.h"
#include "profiler/gather.h"
#include "profiler/performance_variables.h"
#include "profiler/rows_text.h"
#include "profiler/settings.h"
#include "profiler/windows.h"
#include "rankmap/registry.h"

namespace fathom::profiler {

class Session {
 public:
  static Session* active() { return active_.load(std::memory_order_relaxed); }

  // The entries from the wrappers. None throws.
  static void before_init() noexcept;
  static void after_init(bool succeeded) noexcept;
  static void before_finalize() noexcept;
  static void before_abort(int error_code) noexcept;

  // Whether MPI_Init of an Open MPI that Fathom knows was called through the wrappers.
  static bool saw_init() { return saw_init_.load(std::memory_order_relaxed); }

  // At MPI_Init of an MPI that Fathom does not know (mpi_library.h): says so, once in a job.
  static void leave_alone() noexcept;

  Counter& counter() { return counter_; }
  Communicators& communicators() { return communicators_; }
  Windows& windows() { return windows_; }
  rankmap::Registry& registry() { return registry_; }
  RowsText& text() { return text_; }          // of this process
  RowsText& run_text() { return run_text_; }  // the same for all processes
  Gather& gather() { return gather_; }
  PerformanceVariables& performance_variables() { return variables_; }
  const Settings& settings() const { return settings_; }
  SourceName source() const { return source_; }
  profile::RowsHeader& header() { return header_; }
  // The start-up check could read messages that wait for a receive (unexpected_queue.h).
  bool sees_waiting_messages() const { return sees_waiting_messages_; }

  // Where this world's results go: absolute. Rank 0 claims it at the start, so that a job that never comes to its
  // end has told that it was there, and so does each process that traces; the others only look.
  const std::string& run_directory() const { return run_directory_; }

  // A failure is said once, by rank 0 (unless FATHOM_LOG=quiet), and changes nothing else.
  void claim_run_directory();

  // A message on a communicator that is not known.
  void counter_lost() { unknown_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t lost() const { return counter_.lost() + unknown_.load(std::memory_order_relaxed); }

  // Begins a named phase (0 < number < Counter::kMaxPhases), numbering new names. Cold.
  void begin_phase(const char* name) noexcept;
  void end_phase() noexcept;

 private:
  bool open();
  bool pick_source();
  bool try_source(SourceName source, std::string& reason);
  void adopt_parent(const void* parent);
  void describe_process();
  void name_run_directory();

  static std::atomic<Session*> active_;
  static std::atomic<bool> saw_init_;

  Settings settings_;
  SourceName source_ = SourceName::kNone;
  Counter counter_;
  rankmap::Registry registry_;
  Communicators communicators_;
  Windows windows_;
  RowsText text_;
  RowsText run_text_;
  Gather gather_;
  PerformanceVariables variables_;
  profile::RowsHeader header_{};
  bool sees_waiting_messages_ = false;
  std::string run_directory_;
  std::atomic<std::uint64_t> unknown_{0};
  std::mutex phase_lock_;
  std::vector<std::string> phases_;
  std::vector<std::uint32_t> phase_stack_;
};

}  // namespace fathom::profiler
