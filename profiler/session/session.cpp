// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/session/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/program_name.h"
#include "mpi_functions.h"
#include "profiler/calls/call_sites.h"
#include "profiler/calls/call_times.h"
#include "profiler/calls/function_names.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/finish/finish.h"
#include "profiler/finish/rescue.h"
#include "profiler/openmpi/gather.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/overlay.h"
#include "profiler/openmpi/performance_variables.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/proved_layout.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/tracing.h"
#include "profiler/sources/chosen_source.h"
#include "profiler/sources/monitoring.h"
#include "profiler/sources/source_pml.h"
#include "profiler/waits/wait_log.h"
#include "rankmap/releases.h"

namespace fathom::profiler::session {

namespace {

// The directory in which the process was loaded: the program may change it before MPI_Init.
std::string start_directory() {
  char buffer[4096];
  return getcwd(buffer, sizeof buffer) != nullptr ? std::string(buffer) : std::string(".");
}
const std::string directory_at_load = start_directory();

struct Run {
  explicit Run(const Settings& settings) : process(settings) {}

  ProfiledProcess process;
  Gather gather;
  PerformanceVariables variables;
};
Run* the_run = nullptr;  // never destroyed: callbacks and exit handlers use it to the end
std::atomic<bool> init_was_called{false};
Settings settings_before_init;
bool forced_pml = false;
std::string chosen_pml;

std::string executable_path() {
  char buffer[4096];
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string();
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string program_name() {
  std::vector<std::string> arguments = command_line();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return base::program_name(executable_path(), arguments);
}

// "Open MPI v4.1.4" -> "4.1.4"
std::string library_version() { return mpi_library_name().substr(std::strlen("Open MPI v")); }

bool threads_communicate_together() {
  const auto query = find_in_mpi_as<decltype(&PMPI_Query_thread)>("PMPI_Query_thread");
  int provided = MPI_THREAD_MULTIPLE;
  return query == nullptr || query(&provided) != MPI_SUCCESS || provided == MPI_THREAD_MULTIPLE;
}

// The intercommunicator to the processes that spawned this world; null if there is none.
const void* parent_comm() {
  void* const* parent = static_cast<void* const*>(find_variable_in_mpi("ompi_mpi_comm_parent"));
  const bool has_parent = parent != nullptr && *parent != nullptr &&
                          *parent != find_variable_in_mpi("ompi_mpi_comm_null");
  return has_parent ? *parent : nullptr;
}

// MPI_Init has already made it and its local helper, so pml_add_comm never reports either.
void adopt_parent(Communicators& communicators, const void* parent) {
  const void* local = rankmap::field<const void*>(parent, openmpi::layout().comm_local_comm);
  if (local != nullptr) communicators.adopt(local, "", "MPI_Init", profile::kInternal);
  communicators.adopt(parent, "", "MPI_Comm_get_parent", 0);
  if (Live* live = Communicators::find(parent)) communicators.follow_local(*live);
}

void describe_peruse(ProfiledProcess& process) {
  RowsText& text = process.run_text();
  if (!chosen_pml.empty()) {
    text.add("note", "Open MPI's settings choose the PML (pml = " + chosen_pml +
                         "); Fathom did not change it");
  }
  if (forced_pml) {
    text.add("note",
             "this run used pml/ob1, because only that fires the PERUSE events which --source "
             "peruse asks for; otherwise Open MPI chooses the PML itself");
  }
  if (const std::string overlay = overlay_in_use(); !overlay.empty()) {
    process.text().add("note", "PERUSE comes from libmpi and pml/ob1 in " + overlay +
                                   "; everything else is the installed Open MPI's");
  }
}

void describe_process(ProfiledProcess& process) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  process.text().add("host", host);
  process.run_text().add("executable", executable_path());
  bool first = true;
  for (const std::string& word : command_line()) {
    if (!first) process.run_text().add("argument", word);
    first = false;
  }
  process.run_text().add("library", "Open MPI");
  process.run_text().add("version", library_version());
  process.run_text().add("pml", selected_pml());
  for (std::uint32_t i = 0; i < kClassCount; ++i) {
    const std::string number = std::to_string(i);
    if (i == kPosted) {
      process.run_text().add("posted", number + " " + kClassNames[i]);
    } else {
      process.run_text().add("class",
                             number + (i == kPointToPoint ? " 0 " : " 1 ") + kClassNames[i]);
    }
  }
  if (process.source() == SourceName::kPeruse) describe_peruse(process);
}

void describe_settings(ProfiledProcess& process) {
  if (!process.settings().bad_waits.empty())
    process.run_text().add("note", "FATHOM_WAITS_MEMORY=" + process.settings().bad_waits +
                                       " was not understood (expected bytes, such as 16M); the "
                                       "default was used");
}

void open_performance_variables(Run& run) {
  std::vector<std::string> unknown;
  run.variables.open(run.process.settings().performance_variables, unknown);
  for (const std::string& name : unknown) {
    run.process.run_text().add("note",
                               "this MPI library has no performance variable named " + name +
                                   "; `ompi_info --param all all --level 9` lists what it has");
  }
}

std::string name_run_directory(ProfiledProcess& process) {
  const Settings& settings = process.settings();
  const std::uint32_t job = process.header().job;
  std::string directory = settings.output;
  if (directory.empty()) {
    directory = settings.start_directory + "/fathom-" + program_name() + "-" + std::to_string(job);
  }
  if (parent_comm() != nullptr) {
    directory = world_directory(directory, job);
    process.run_text().add("world", "world-" + std::to_string(job));
  }
  return is_taken(directory, job) ? further_job_directory(directory, job) : directory;
}

void adopt_predefined(Communicators& communicators, const void* world, const void* self) {
  communicators.adopt(world, "MPI_COMM_WORLD", "predefined", profile::kPredefined);
  if (Live* live = Communicators::find(world)) live->is_world = true;
  communicators.adopt(self, "MPI_COMM_SELF", "predefined",
                      profile::kPredefined | profile::kPerProcess);
  if (const void* parent = parent_comm()) adopt_parent(communicators, parent);
}

// Prints a sentence once for the job: what the program runs on, and why nothing is profiled.
void say_left_alone(const Settings& settings, const std::string& why) {
  if (settings.disabled || settings.quiet || !speaks_for_the_job()) return;
  const std::string name = mpi_library_name();
  std::fprintf(stderr, "fathom: this program runs on %s, %s; nothing is profiled\n",
               name.empty() ? "an MPI library that does not give its name" : name.c_str(),
               why.c_str());
}

// Proves the layout of this process's Open MPI. False if the process has to be left alone.
bool find_layout(const Settings& settings) {
  KnownFacts facts;
  std::string why;
  if (!find_known_facts(facts)) {
    say_left_alone(settings, "which does not show the structures that Fathom reads");
    return false;
  }
  const openmpi::Layout* layout = prove_layout(openmpi::version_of(mpi_library_name()), facts, why);
  if (layout == nullptr) {
    say_left_alone(settings, why);
    return false;
  }
  openmpi::use_layout(*layout);
  return true;
}

// Starts counting. Does nothing if a table cannot be allocated.
void open(Run& run) {
  ProfiledProcess& process = run.process;
  void* const world = find_variable_in_mpi("ompi_mpi_comm_world");
  void* const self = find_variable_in_mpi("ompi_mpi_comm_self");
  if (world == nullptr || self == nullptr) return;
  rankmap::set_sparse_lookup(find_in_mpi_as<rankmap::TranslateRanks>("ompi_group_translate_ranks"));
  process.communicators().set_known_observer(tracing::communicator_known);
  if (!process.open(world, threads_communicate_together()) || !hook_pml()) return;
  ProfiledProcess::set_active(&process);
  const bool times = kTimedFunctions != nullptr && process.settings().times;
  const bool finds_waits = times && process.settings().waits_bytes > 0;
  if (!choose_source(process, chosen_pml, finds_waits)) {
    unhook_pml();
    process.text().add("note", "nothing could be counted: no source worked, see steps_down");
  }
  describe_process(process);
  describe_settings(process);
  open_performance_variables(run);
  process.set_run_directory(name_run_directory(process));
  adopt_predefined(process.communicators(), world, self);
  const profile::RowsHeader header = process.header();
  run.gather.announce(world, static_cast<int>(header.rank), static_cast<int>(header.world_size));
  restart_monitoring();
  arm_rescue(process.run_directory(), header.job, header.rank);
  if (header.rank == 0) process.claim_run_directory();
  CallSites::open();
  if (times && process.source() != SourceName::kNone &&
      CallTimes::open(process.text(), kTimedFunctions) && finds_waits) {
    WaitLog::open(process.settings().waits_bytes, process.counter().shared_by_threads(),
                  kTimedFunctions, kTimedFunctionCount);
  }
  if (process.source() != SourceName::kNone && (finds_waits || tracing::needs_clocks())) {
    JobClocks::open(run.gather, static_cast<int>(header.rank), static_cast<int>(header.world_size));
  }
  tracing::open(process);
  if (WaitLog::opened()) WaitLog::begin();
}

}  // namespace

void before_init() noexcept try {
  init_was_called.store(true, std::memory_order_relaxed);
  if (the_run != nullptr) return;
  settings_before_init = read_settings(directory_at_load);
  const Settings& settings = settings_before_init;
  if (settings.disabled) return;
  CallTimes::choose_clock();
  tracing::prepare(settings);
  add_overlay_components();
  // Only pml/ob1 fires PERUSE events. Another PML would have been chosen for a faster network, so a
  // job is moved to ob1 only if its user asks for PERUSE by name. The parameter is set for MPI_Init
  // alone; after_init() removes it again.
  const bool wants_peruse = !settings.automatic && settings.source == SourceName::kPeruse &&
                            find_in_mpi("PERUSE_Init") != nullptr;
  if (!user_chose_pml(chosen_pml) && wants_peruse) {
    forced_pml = setenv("OMPI_MCA_pml", "ob1", 1) == 0;
  }
  if (settings.source == SourceName::kMpiT) {
    request_monitoring();
  }
} catch (...) {
}

void after_init(bool succeeded) noexcept try {
  if (forced_pml) unsetenv("OMPI_MCA_pml");
  forget_overlay_components();
  if (!succeeded || the_run != nullptr || settings_before_init.disabled) return;
  if (!find_layout(settings_before_init)) return;
  the_run = new Run(settings_before_init);
  open(*the_run);
  take_back_monitoring_request();
} catch (...) {
  ProfiledProcess::set_active(nullptr);
  unhook_pml();
  take_back_monitoring_request();
}

void leave_alone() noexcept try {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const bool other_abi = openmpi::is_known_series(openmpi::version_of(mpi_library_name()));
  say_left_alone(read_settings(directory_at_load),
                 other_abi
                     ? "but not on its libmpi.so, which is the only one that Fathom can profile"
                     : "and Fathom can profile Open MPI " + openmpi::known_releases() + " only");
} catch (...) {
}

void before_finalize() noexcept {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || getpid() != static_cast<pid_t>(process->header().pid)) return;
  finish(*process, the_run->gather, the_run->variables);
  process->counter().stop();
  ProfiledProcess::set_active(nullptr);
}

void before_abort(int error_code) noexcept {
  if (ProfiledProcess::active() == nullptr) return;
  rescue(profile::EndReason::kAbort, static_cast<std::uint32_t>(error_code));
}

bool saw_init() { return init_was_called.load(std::memory_order_relaxed); }

}  // namespace fathom::profiler::session
