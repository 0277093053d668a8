// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/finish/finish.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "profile/assemble.h"
#include "profile/writer.h"
#include "profiler/calls/call_times.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/finish/late_path.h"
#include "profiler/finish/rescue.h"
#include "profiler/finish/rows_writer.h"
#include "profiler/openmpi/gather.h"
#include "profiler/openmpi/modules.h"
#include "profiler/openmpi/performance_variables.h"
#include "profiler/openmpi/pml.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/tracing.h"
#include "profiler/sources/monitoring.h"
#include "profiler/sources/receive_requests.h"
#include "profiler/sources/source_pml.h"
#include "profiler/sources/unexpected_queue.h"
#include "profiler/waits/path_windows.h"
#include "profiler/waits/wait_log.h"
#include "profiler/waits/wait_rows.h"

namespace fathom::profiler {
namespace {

void say(const ProfiledProcess& process, const std::string& sentence) {
  if (!process.settings().quiet) std::fprintf(stderr, "fathom: %s\n", sentence.c_str());
}

// Adds what becomes known only at the end: modules met, names of live communicators, pvars, pauses.
// To a text of its own, because MPI may begin again and end once more.
void describe_end(ProfiledProcess& process, PerformanceVariables& variables, RowsText& text) {
  process.communicators().for_each(
      [&](Live& live) { process.registry().keep_name(live.kind, live.comm); });
  for (std::uint32_t i = 1;; ++i) {
    const std::string name = module_name(i);
    if (name.empty()) break;
    text.add("module", std::to_string(i) + " " + name);
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    text.add("peak-memory",
             std::to_string(std::uint64_t{1024} * static_cast<std::uint64_t>(usage.ru_maxrss)));
  }
  text.add("processor-wait", std::to_string(process.processor_wait_ns()));
  if (process.counter().was_ever_paused()) text.add("paused", "1");
  for (const auto& reading : variables.read()) {
    std::string line = reading.name + "\t" + reading.description + "\t" + reading.bound_to + "\t";
    for (const double value : reading.values) {
      char number[40];
      std::snprintf(number, sizeof number, "%.17g ", value);
      line += number;
    }
    text.add("pvar", line);
  }
}

void write_run(ProfiledProcess& process, const std::vector<char>& rows) {
  auto assembled = profile::assemble(rows.data(), rows.size());
  if (!assembled.ok()) return say(process, assembled.error().message);
  for (const profile::TraceLoss& loss : assembled.value().coverage.trace_lost) {
    if (profile::is_about_files(loss))
      say(process, sentence(loss, "the trace in " + process.run_directory() + "/trace") + ".");
  }
  // If the directory could not be marked, another job may have written its profile there meanwhile;
  // or the folder may have been removed.
  const std::string& wanted = process.run_directory();
  const std::uint32_t job = process.header().job;
  const std::string directory = is_taken(wanted, job) ? further_job_directory(wanted, job) : wanted;
  if (!make_directories(directory)) {
    return say(process, "the profile is lost: cannot make the directory " + directory + ": " +
                            std::strerror(errno) + ". Choose another one with FATHOM_OUTPUT.");
  }
  const base::Status written =
      profile::write_profile(assembled.value(), directory + "/profile.json");
  if (!written.ok()) return say(process, "the profile is lost: " + written.error().message);
  release_run_directory(directory);
  if (process.settings().informs) say(process, "the profile is " + directory + "/profile.json");
}

constexpr char kNoWaits[] =
    "waits and the critical path are found at MPI_Finalize, and this program also used MPI in "
    "sessions before MPI_Init or after MPI_Finalize, or without them";

void describe_left_rows(const ProfiledProcess& process, RowsText& text) {
  if (CallTimes::was_opened() && process.settings().waits_bytes > 0)
    text.add("waits-unknown", kNoWaits);
}

// The rows of this process; empty without memory. `are_gathered`: or stay here, in a file.
std::vector<char> own_rows(ProfiledProcess& process, PerformanceVariables& variables,
                           const WaitRows& waits, const std::vector<char>& time_line,
                           bool are_gathered) noexcept try {
  RowsText end;
  if (end.open()) {
    describe_end(process, variables, end);
    if (!are_gathered) describe_left_rows(process, end);
  }
  std::vector<char> rows;
  const auto append = [&rows](const void* data, std::size_t size) {
    const char* bytes = static_cast<const char*>(data);
    rows.insert(rows.end(), bytes, bytes + size);
  };
  const bool with_run_facts = process.header().rank == 0 || !are_gathered;
  write_rows(process, profile::EndReason::kFinalize, 0, with_run_facts, append);
  write_section(profile::Section::kText, end.data(), end.size(), append);
  write_section(profile::Section::kWaits, waits.waits.data(),
                waits.waits.size() * sizeof(profile::WaitRow), append);
  write_section(profile::Section::kWindows, waits.windows.data(),
                waits.windows.size() * sizeof(profile::WindowRow), append);
  write_section(profile::Section::kTimeLine, time_line.data(), time_line.size(), append);
  return rows;
} catch (...) {
  return {};
}

void count_what_is_left(ProfiledProcess& process) {
  let_messages_arrive(process);
  receive_requests::count_left();
  process.communicators().for_each([&](const Live& live) { count_unreceived(process, live); });
}

// From the end of counting to the profile.
void finish_rows(ProfiledProcess& process, Gather& gather, PerformanceVariables& variables,
                 PathSearch& search) noexcept try {
  CallTimes::close();
  WaitLog::close();
  PathWindows::close(CallTimes::own_rows());
  collect_monitoring(process);
  gather.synchronise(WaitLog::opened() ? Gather::Part::kAll : Gather::Part::kRows);
  count_what_is_left(process);
  JobClocks::before_close();
  unhook_pml();
  tracing::finish(process, true);
  const WaitRows waits = find_wait_rows(process, gather, search);
  const bool are_gathered = !gather.somebody_declined();
  std::vector<char> rows =
      own_rows(process, variables, waits, time_line_for_path(search), are_gathered);
  const bool stays_here = gather.collect(rows);
  if (search.begins) add_path(gather, process.header().rank, search, rows);
  if (stays_here && process.header().rank == 0 && are_gathered) {
    write_run(process, rows);
  } else if (stays_here) {
    rescue_collected(rows.data(), rows.size());
  }
} catch (...) {
}

}  // namespace

void stop_counting(ProfiledProcess& process) noexcept try {
  CallTimes::close();
  WaitLog::close();
  count_what_is_left(process);
  unhook_pml();
  process.communicators().removed_all();
  disarm_rescue();
} catch (...) {
}

void leave_rows(ProfiledProcess& process, PerformanceVariables& variables) noexcept try {
  const std::vector<char> rows = own_rows(process, variables, {}, {}, false);
  if (!rows.empty()) rescue_collected(rows.data(), rows.size());
} catch (...) {
}

void finish(ProfiledProcess& process, Gather& gather, PerformanceVariables& variables) noexcept {
  PathSearch search;
  finish_rows(process, gather, variables, search);
  disarm_rescue();
  // In Open MPI's MPI_Finalize they would wait for process 0 as well, but look for it every 0.1 ms there
  // (OMPI_LAZY_WAIT_FOR_COMPLETION), and keep it from writing if they share its processor.
  if (!search.begins) return;
  if (process.header().rank == 0) {
    gather.release();
  } else {
    gather.wait_for_release();
  }
}

}  // namespace fathom::profiler
