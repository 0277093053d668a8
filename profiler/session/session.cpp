// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/session/session.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi_functions.h"
#include "profiler/calls/call_sites.h"
#include "profiler/calls/call_times.h"
#include "profiler/calls/function_names.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/counting/queue_places.h"
#include "profiler/finish/finish.h"
#include "profiler/finish/rescue.h"
#include "profiler/live/announce.h"
#include "profiler/live/live_call.h"
#include "profiler/live/live_page.h"
#include "profiler/openmpi/gather.h"
#include "profiler/openmpi/loaded_symbols.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/overlay.h"
#include "profiler/openmpi/performance_variables.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/private_communicators.h"
#include "profiler/openmpi/proved_layout.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/process/run_directory.h"
#include "profiler/recording/tracing.h"
#include "profiler/session/description.h"
#include "profiler/sources/chosen_source.h"
#include "profiler/sources/monitoring.h"
#include "profiler/sources/receive_requests.h"
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

// Again in MPI_Init, for an MPI library that is loaded later.
[[gnu::constructor]] void hide_at_load() { hide_functions_of_no_mpi(); }

struct Run {
  explicit Run(const Settings& settings) : process(settings) {}

  ProfiledProcess process;
  Gather gather;
  PerformanceVariables variables;
  bool began_with_world = false;
  bool wants_waits = false;
  bool announced = false;  // to its neighbours in the tree of MPI_COMM_WORLD
  bool gathered = false;   // at MPI_Finalize; what comes later is not counted
};
Run* the_run =
    nullptr;  // once counting works; never destroyed: callbacks and exit handlers use it to the end
bool sessions_refused = false;  // counting could not start with a session, and is not tried again

std::mutex turn;    // protects everything here; no call of the program is made under it
int instances = 0;  // of MPI: MPI_COMM_WORLD's and sessions, from just before they begin
std::vector<MPI_Session>& open_sessions() {
  static auto* sessions = new std::vector<MPI_Session>;  // outlives exit handlers of the program
  return *sessions;
}
std::atomic<bool> mpi_began{false};
Settings settings_before_init;
ChosenPml chosen_pml;
bool forces_pml = false;  // for as long as the PML is chosen

// A session that is open may have asked for more than MPI_Init does.
bool threads_communicate_together() {
  if (!open_sessions().empty()) return true;
  const auto query = FATHOM_PMPI(MPI_Query_thread);
  const int multiple = FATHOM_OF_PROGRAM(MPI_THREAD_MULTIPLE);
  int provided = multiple;
  return query == nullptr || query(&provided) != MPI_SUCCESS || provided == multiple;
}

// MPI_Init has already made it and its local helper, so pml_add_comm never reports either.
void adopt_parent(Communicators& communicators, const void* parent) {
  const void* local = rankmap::field<const void*>(parent, openmpi::layout().comm_local_comm);
  if (local != nullptr) communicators.adopt(local, "", "MPI_Init", profile::kInternal);
  communicators.adopt(parent, "", "MPI_Comm_get_parent", 0);
  if (Live* live = Communicators::find(parent)) communicators.follow_local(*live);
}

void open_performance_variables(Run& run) {
  std::vector<std::string> unknown;
  run.variables.open(run.process.settings().performance_variables, run.began_with_world, unknown);
  for (const std::string& name : unknown) {
    run.process.run_text().add(
        "note", run.began_with_world
                    ? "this MPI library has no performance variable named " + name +
                          "; `ompi_info --param all all --level 9` lists what it has"
                    : "there is no performance variable named " + name + " without MPI_COMM_WORLD");
  }
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
  static std::atomic<bool> said{false};
  if (said.exchange(true) || settings.disabled || settings.quiet || !speaks_for_the_job()) return;
  const std::string name = mpi_library_name();
  std::fprintf(stderr, "fathom: this program runs on %s, %s; nothing is profiled\n",
               name.empty() ? "an MPI library that does not give its name" : name.c_str(),
               why.c_str());
}

// Proves the layout of this process's Open MPI. False if the process has to be left alone.
bool find_layout(const Settings& settings, bool knows_facts, const KnownFacts& facts) {
  if (!knows_facts) {
    say_left_alone(settings, "which does not show the structures that Fathom reads");
    return false;
  }
  std::string why;
  const openmpi::Layout* layout = prove_layout(openmpi::version_of(mpi_library_name()), facts, why);
  if (layout == nullptr) {
    say_left_alone(settings, why);
    return false;
  }
  openmpi::use_layout(*layout);
  rankmap::set_sparse_lookup(find_in_mpi_as<rankmap::TranslateRanks>("ompi_group_translate_ranks"));
  return true;
}

// Where MPI began, for the first time in this process.
struct Beginning {
  MPI_Comm self;  // of this process alone, as MPI's functions know it
  std::uint32_t world_size;
  bool with_world;
  bool threads_communicate_together;
};

// MPI_COMM_WORLD is there; all processes of the job come here.
void join_world(Run& run) {
  ProfiledProcess& process = run.process;
  void* const world = find_variable_in_mpi("ompi_mpi_comm_world");
  adopt_predefined(process.communicators(), world, find_variable_in_mpi("ompi_mpi_comm_self"));
  const profile::RowsHeader header = process.header();
  const int rank = static_cast<int>(header.rank), size = static_cast<int>(header.world_size);
  run.gather.announce(world, rank, size);
  run.announced = true;
  restart_monitoring();
  const bool wants_clocks = run.wants_waits || tracing::needs_clocks();
  if (process.source() != SourceName::kNone && wants_clocks)
    JobClocks::open(run.gather, rank, size);
}

// All of the process is in place: what is left for readers of the page.
void let_others_watch(ProfiledProcess& process, LivePage& page, MPI_Comm self) {
  live::PageHeader& header = page.header();
  if (CallTimes::was_opened()) live_calls::open(page);
  auto channels = std::make_unique<ChannelCounts>();
  if (channels->open(page, header.channels_left_out))
    process.set_channels(channels.release());  // callbacks use it to the end
  const bool follows_communicators =
      process.source() == SourceName::kPeruse || process.source() == SourceName::kPml;
  if (follows_communicators && process.sees_waiting_messages())
    show_queues(page, process.communicators(), native(self));
  process.keep_lost_in(header.lost_messages, header.unknown_messages);
  page.begin(process.header(), process.run_directory());
  announce(page, process.run_directory());
}

// Starts counting. False if a table cannot be allocated: then nothing is counted.
bool open(Run& run, const Beginning& beginning) {
  ProfiledProcess& process = run.process;
  process.communicators().set_known_observer(tracing::communicator_known);
  const rankmap::Identity own = rankmap::member(rankmap::local_group(native(beginning.self)), 0);
  std::string why_not_live;
  LivePage* const page = LivePage::is_wanted() ? LivePage::open(why_not_live) : nullptr;
  if (!process.open(own, beginning.world_size, beginning.threads_communicate_together, page) ||
      !hook_pml()) {
    return false;
  }
  ProfiledProcess::set_active(&process);
  const bool times = kTimedFunctions != nullptr && process.settings().times;
  const bool wants_waits = times && process.settings().waits_bytes > 0;
  const bool finds_waits = wants_waits && beginning.with_world;
  if (!choose_source(process, beginning.self, chosen_pml.by_settings, finds_waits,
                     beginning.with_world)) {
    unhook_pml();
    process.text().add("note", "nothing could be counted: no source worked, see steps_down");
  }
  run.began_with_world = beginning.with_world;
  describe_process(process, chosen_pml);
  if (!why_not_live.empty())
    process.text().add("note", "this process could not be watched live: " + why_not_live);
  open_performance_variables(run);
  process.set_run_directory(name_run_directory(process));
  const profile::RowsHeader header = process.header();
  arm_rescue(process.run_directory(), header.job, header.rank);
  if (header.rank == 0) process.claim_run_directory();
  CallSites::open();
  if (times && process.source() != SourceName::kNone &&
      CallTimes::open(process.text(), kTimedFunctions, page)) {
    WaitLog::follow_polls(CallTimes::ns_per_tick());
    if (finds_waits)
      WaitLog::open(process.settings().waits_bytes, process.counter().shared_by_threads(),
                    kTimedFunctions, kTimedFunctionCount, CallTimes::ns_per_tick());
  }
  run.wants_waits = wants_waits;
  if (beginning.with_world) join_world(run);
  tracing::open(process);
  take_user_signal(tracing::user_signal());
  if (WaitLog::opened()) WaitLog::begin();
  if (page != nullptr) let_others_watch(process, *page, beginning.self);
  process.begin();
  return true;
}

// False if the process has to be left alone.
bool begin(const Beginning& beginning, bool knows_facts, const KnownFacts& facts) {
  if (!find_layout(settings_before_init, knows_facts, facts)) return false;
  auto* const run = new Run(settings_before_init);
  if (!open(*run, beginning)) return false;
  the_run = run;
  return true;
}

void begin_with_world() {
  KnownFacts facts;
  const bool knows_facts = find_known_facts(facts);
  begin({.self = static_cast<MPI_Comm>(predefined_handle("ompi_mpi_comm_self")),
         .world_size = static_cast<std::uint32_t>(facts.world.size),
         .with_world = true,
         .threads_communicate_together = threads_communicate_together()},
        knows_facts, facts);
}

// MPI_Query_thread may not be asked in a session, and each session may want another level.
bool begin_with_session(MPI_Session session) {
  const PrivateCommunicators own(session);
  if (!own.are_made()) return false;  // the program's own call is about to fail
  KnownFacts facts;
  const bool knows_facts = find_known_facts(own, facts);
  return begin({.self = own.first(),
                .world_size = static_cast<std::uint32_t>(own.world_size()),
                .with_world = false,
                .threads_communicate_together = true},
               knows_facts, facts);
}

void say_state(live::PageState state) {
  if (LivePage* page = LivePage::own()) page->set_state(state);
}

// MPI begins again. The tables go on.
void resume(Run& run) {
  ProfiledProcess& process = run.process;
  process.go_on();
  take_back_rows();
  const bool hooks =
      process.source() == SourceName::kPeruse || process.source() == SourceName::kPml;
  if (hooks && !hook_pml_again()) {
    sessions_refused = true;
    process.text().add("unwatched",
                       "Open MPI chose another PML when MPI began again: from then on nothing was "
                       "counted");
    leave_rows(process, run.variables);
    return;
  }
  ProfiledProcess::set_active(&process);
  say_state(live::PageState::kRunning);
  arm_rescue(process.run_directory(), process.header().job, process.header().rank);
  CallTimes::pause(process.counter().is_paused());
  WaitLog::pause(process.counter().is_paused());
}

void give_up() {
  sessions_refused = true;
  ProfiledProcess::set_active(nullptr);
  unhook_pml();
}

// False in a child that the profiled process has forked.
bool is_profiled() {
  return the_run != nullptr && getpid() == static_cast<pid_t>(the_run->process.header().pid);
}

bool is_counting() { return is_profiled() && ProfiledProcess::active() != nullptr; }

// A further session may ask for MPI_THREAD_MULTIPLE. Now no other thread is inside MPI.
void share_with_threads(ProfiledProcess& process) {
  if (process.counter().shared_by_threads()) return;
  process.counter().open(Counter::kLanes, process.header().job, LivePage::own());
  receive_requests::share_with_threads();
  WaitLog::share_with_threads();
}

// The trace goes on while MPI is not in use, for it may begin again.
void complete_trace_at_exit() noexcept {
  if (!is_profiled() || ProfiledProcess::active() != nullptr) return;
  tracing::finish(the_run->process, false);
  leave_rows(the_run->process, the_run->variables);
}

// The last instance is about to end, and the rows are not gathered.
void mpi_ends(Run& run) {
  run.process.end();
  say_state(live::PageState::kFinalizing);
  stop_counting(run.process);
  run.variables.stop();
  leave_rows(run.process, run.variables);
  say_state(live::PageState::kEnded);
  ProfiledProcess::set_active(nullptr);
  static bool completes_trace = false;
  if (tracing::needs_clocks() && !completes_trace)
    completes_trace = std::atexit(complete_trace_at_exit) == 0;
}

// The PML is about to be chosen. Only pml/ob1 fires PERUSE events. Another PML would have been
// chosen for a faster network, so a job is moved to ob1 only if its user asks for PERUSE by name.
// The parameter is set for that moment alone; pml_is_chosen() removes it again.
void before_pml_is_chosen() {
  hide_functions_of_no_mpi();
  find_standard_abi();
  settings_before_init = read_settings(directory_at_load);
  const Settings& settings = settings_before_init;
  if (settings.disabled) return;
  if (the_run == nullptr) {
    CallTimes::choose_clock();
    tracing::prepare(settings);
  }
  add_overlay_components();
  const bool wants_peruse = !settings.automatic && settings.source == SourceName::kPeruse &&
                            find_in_mpi("PERUSE_Init") != nullptr;
  if (!user_chose_pml(chosen_pml.by_settings) && wants_peruse) {
    forces_pml = setenv("OMPI_MCA_pml", "ob1", 1) == 0;
    chosen_pml.forced_by_fathom = forces_pml;
  }
  if (settings.source == SourceName::kMpiT) request_monitoring();
}

void pml_is_chosen() {
  if (forces_pml) unsetenv("OMPI_MCA_pml");
  forces_pml = false;
  forget_overlay_components();
}

void instance_begins() {
  mpi_began.store(true, std::memory_order_relaxed);
  if (instances++ == 0) before_pml_is_chosen();
}

}  // namespace

void before_init() noexcept try {
  const std::lock_guard guard(turn);
  instance_begins();
} catch (...) {
}

void after_init(bool succeeded) noexcept try {
  const std::lock_guard guard(turn);
  pml_is_chosen();
  if (!succeeded) {
    --instances;
  } else if (!settings_before_init.disabled) {
    if (the_run == nullptr) {
      begin_with_world();
    } else if (is_profiled()) {
      if (ProfiledProcess::active() == nullptr) resume(*the_run);
      if (ProfiledProcess::active() != nullptr) join_world(*the_run);
    }
  }
  take_back_monitoring_request();
} catch (...) {
  give_up();
  take_back_monitoring_request();
}

void after_session_init(MPI_Session made) noexcept try {
  const std::lock_guard guard(turn);
  pml_is_chosen();
  take_back_monitoring_request();
  if (made == nullptr) {
    --instances;
  } else {
    open_sessions().push_back(made);
    if (is_counting()) share_with_threads(the_run->process);
  }
} catch (...) {
  give_up();
}

void before_first_communicator() noexcept try {
  if (ProfiledProcess::active() != nullptr) return;
  const std::lock_guard guard(turn);
  if (ProfiledProcess::active() != nullptr || settings_before_init.disabled || sessions_refused ||
      open_sessions().empty()) {
    return;
  }
  if (the_run == nullptr) {
    sessions_refused = !begin_with_session(open_sessions().back());
    return;
  }
  if (!is_profiled()) return;
  if (!the_run->gathered) return resume(*the_run);
  sessions_refused = true;
  if (!settings_before_init.quiet && speaks_for_the_job())
    std::fputs(
        "fathom: this program goes on with a session after MPI_Finalize, where its profile was "
        "completed; messages after that are not in it\n",
        stderr);
} catch (...) {
  give_up();
}

bool before_session_finalize(MPI_Session ended) noexcept {
  const std::lock_guard guard(turn);
  if (std::erase(open_sessions(), ended) == 0) return false;
  if (--instances == 0 && is_counting()) mpi_ends(*the_run);
  return true;
}

void session_stays(MPI_Session session) noexcept try {
  const std::lock_guard guard(turn);
  ++instances;
  open_sessions().push_back(session);
} catch (...) {
}

void before_finalize() noexcept try {
  {
    const std::lock_guard guard(turn);
    if (!is_counting()) return;
    the_run->process.end();
    the_run->gathered = instances == 1 && the_run->began_with_world;
  }
  // Both wait for other processes, and so not in turn: these may wait for a session of this one.
  Run& run = *the_run;
  say_state(live::PageState::kFinalizing);
  if (run.gathered) {
    finish(run.process, run.gather, run.variables);
    say_state(live::PageState::kEnded);
    run.process.counter().stop();
    ProfiledProcess::set_active(nullptr);
  } else {
    collect_monitoring(run.process);
    if (run.announced) run.gather.synchronise(Gather::Part::kNothing);
  }
  const std::lock_guard guard(turn);
  if (--instances > 0) {
    run.process.go_on();
  } else if (!run.gathered) {
    mpi_ends(run);
  }
} catch (...) {
}

void before_abort(int error_code) noexcept {
  if (ProfiledProcess::active() == nullptr) return;
  rescue(profile::EndReason::kAbort, static_cast<std::uint32_t>(error_code));
}

void pause(bool is_paused) noexcept {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  process->counter().set_paused(is_paused);
  CallTimes::pause(is_paused);
  WaitLog::pause(is_paused);
  tracing::paused(is_paused);
}

bool saw_begin() { return mpi_began.load(std::memory_order_relaxed); }

void leave_alone() noexcept try {
  const bool other_abi = openmpi::is_known_series(openmpi::version_of(mpi_library_name()));
  say_left_alone(read_settings(directory_at_load),
                 other_abi
                     ? "but on neither its libmpi.so nor its libmpi_abi.so, and only on these can "
                       "Fathom profile"
                     : "and Fathom can profile Open MPI " + openmpi::known_releases() + " only");
} catch (...) {
}

}  // namespace fathom::profiler::session
