#include "profiler/session.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "profiler/finish.h"
#include "profiler/modules.h"
#include "profiler/monitoring.h"
#include "profiler/mpi_library.h"
#include "profiler/next.h"
#include "profiler/receive_requests.h"
#include "profiler/rescue.h"
#include "profiler/rows_writer.h"
#include "profiler/run_directory.h"
#include "profiler/self_check.h"
#include "profiler/source_peruse.h"
#include "profiler/source_pml.h"
#include "profiler/tracing.h"

namespace fathom::profiler {

std::atomic<Session*> Session::active_{nullptr};
std::atomic<bool> Session::saw_init_{false};

namespace {

// The directory in which the process was loaded: the program may change it before MPI_Init.
std::string start_directory() {
  char buffer[4096];
  return getcwd(buffer, sizeof buffer) != nullptr ? std::string(buffer) : std::string(".");
}
const std::string directory_at_load = start_directory();

// The session outlives every callback and exit handler of the process, so it is never destroyed.
Session* the_session = nullptr;
Settings settings_before_init;
bool forced_pml = false;
std::string chosen_pml;

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

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

// "Open MPI v4.1.4" -> "4.1.4"
std::string library_version() {
  return mpi_library_name().substr(std::strlen("Open MPI v"));
}

bool threads_communicate_together() {
  const auto query = find_in_mpi_as<decltype(&PMPI_Query_thread)>("PMPI_Query_thread");
  int provided = MPI_THREAD_MULTIPLE;
  return query == nullptr || query(&provided) != MPI_SUCCESS || provided == MPI_THREAD_MULTIPLE;
}

}  // namespace

void Session::before_init() noexcept try {
  saw_init_.store(true, std::memory_order_relaxed);
  if (the_session != nullptr) return;
  settings_before_init = read_settings(directory_at_load);
  const Settings& settings = settings_before_init;
  if (settings.disabled) return;
  tracing::prepare(settings);
  const bool wants_peruse =
      settings.source == SourceName::kPeruse && find_in_mpi("PERUSE_Init") != nullptr;
  // Only pml/ob1 fires PERUSE events. The parameter is given for MPI_Init alone and taken back after it.
  if (!user_chose_pml(chosen_pml) && wants_peruse) {
    forced_pml = setenv("OMPI_MCA_pml", "ob1", 1) == 0;
  }
  if (settings.source == SourceName::kMpiT) {
    request_monitoring();
  }
} catch (...) {
}

void Session::after_init(bool succeeded) noexcept try {
  if (forced_pml) unsetenv("OMPI_MCA_pml");
  if (!succeeded || the_session != nullptr || settings_before_init.disabled) return;
  the_session = new Session;
  the_session->settings_ = settings_before_init;
  the_session->open();
  take_back_monitoring_request();
} catch (...) {
  active_.store(nullptr);
  unhook_pml();
  take_back_monitoring_request();
}

void Session::leave_alone() noexcept try {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const Settings settings = read_settings(directory_at_load);
  if (settings.disabled || settings.quiet || !speaks_for_the_job()) return;
  const std::string name = mpi_library_name();
  std::fprintf(stderr, "fathom: this program runs on %s, and Fathom can profile Open MPI %d.%d only; nothing is profiled\n",
               name.empty() ? "an MPI library that does not say its name" : name.c_str(),
               static_cast<int>(openmpi::kVersionMajor), static_cast<int>(openmpi::kVersionMinor));
} catch (...) {
}

bool Session::open() {
  const auto world = find_variable_in_mpi("ompi_mpi_comm_world");
  const auto self = find_variable_in_mpi("ompi_mpi_comm_self");
  if (world == nullptr || self == nullptr) return false;
  rankmap::set_sparse_lookup(
      find_in_mpi_as<rankmap::SparseLookup>("ompi_group_get_proc_ptr_raw"));
  const void* group = rankmap::local_group(world);
  const int rank = rankmap::my_rank(world);
  const rankmap::Identity own = rankmap::member(group, rank);
  std::memcpy(header_.magic, profile::kRowsMagic, sizeof header_.magic);
  header_.job = own.job;
  header_.rank = own.rank;
  header_.world_size = static_cast<std::uint32_t>(rankmap::group_size(group));
  header_.pid = static_cast<std::uint32_t>(getpid());
  header_.started_unix_ns = now_unix_ns();

  const int lanes = threads_communicate_together() ? Counter::kLanes : 1;
  if (!text_.open() || !run_text_.open() || !registry_.open(own) || !communicators_.open(&registry_) ||
      !counter_.open(lanes, own.job) || !hook_pml()) {
    return false;
  }
  active_.store(this);
  if (!pick_source()) {
    unhook_pml();
    text_.add("note", "nothing could be counted: no source worked, see steps_down");
  }
  describe_process();
  name_run_directory();

  communicators_.adopt(world, "MPI_COMM_WORLD", "predefined", profile::kPredefined);
  if (Live* live = communicators_.find(world)) live->is_world = true;
  communicators_.adopt(self, "MPI_COMM_SELF", "predefined",
                       profile::kPredefined | profile::kPerProcess);
  void* const* parent = static_cast<void* const*>(find_variable_in_mpi("ompi_mpi_comm_parent"));
  void* const no_comm = find_variable_in_mpi("ompi_mpi_comm_null");
  if (parent != nullptr && *parent != nullptr && *parent != no_comm) {
    adopt_parent(*parent);
  }
  gather_.announce(world, rank, static_cast<int>(header_.world_size));
  restart_monitoring();
  arm_rescue(run_directory_, header_.job, header_.rank);
  if (header_.rank == 0) claim_run_directory();
  tracing::open(*this);
  return true;
}

// The intercommunicator to the processes that spawned this world exists since MPI_Init, with its helper.
void Session::adopt_parent(const void* parent) {
  const void* local = rankmap::field<const void*>(parent, openmpi::kCommLocalComm);
  if (local != nullptr) {
    communicators_.adopt(local, "", "MPI_Init", profile::kInternal);
  }
  communicators_.adopt(parent, "", "MPI_Comm_get_parent", 0);
  if (Live* live = communicators_.find(parent)) communicators_.follow_local(*live);
}

bool Session::try_source(SourceName source, std::string& reason) {
  if (source == SourceName::kMpiT) return open_monitoring(*this, reason);
  const std::string pml = selected_pml();
  if (source == SourceName::kPeruse) {
    const char* missing = "";
    if (!open_peruse(missing)) {
      reason = missing;
      return false;
    }
    // pml/monitoring lies over another PML; the check below tells whether that is ob1.
    if (pml != "ob1" && pml != "monitoring") {
      reason = "the job uses pml/" + pml + ", and only pml/ob1 fires PERUSE events" +
               (chosen_pml.empty() ? "" : " (the PML was chosen with OMPI_MCA_pml=" + chosen_pml + ")");
      return false;
    }
    communicators_.set_observers(subscribe, unsubscribe);
    watch_freed_requests(true);
  } else {
    communicators_.set_observers(nullptr, nullptr);
    receive_requests::open(counter_.shared_by_threads());
    hook_receives();
  }
  const SelfCheck check = check_counting(*this);
  if (source == SourceName::kPeruse) watch_freed_requests(false);
  if (!check.sent || (source == SourceName::kPeruse && !check.received)) {
    reason = "it did not prove itself at start-up: " + check.detail;
    return false;
  }
  sees_waiting_messages_ = check.waiting;
  counter_.set_size_witness(check.received ? profile::Direction::kReceived
                                           : profile::Direction::kSent);
  run_text_.add("witness-sent", "pml");
  if (source == SourceName::kPeruse) {
    run_text_.add("witness-received", "peruse");
  } else if (check.received) {
    run_text_.add("witness-received", "receive requests");
  } else {
    text_.add("note", "receives could not be counted as a second witness: " + check.detail);
  }
  return true;
}

bool Session::pick_source() {
  if (!settings_.bad_source.empty()) {
    text_.add("note", "FATHOM_SOURCE=" + settings_.bad_source +
                          " is no source (auto, peruse, pml, mpi_t); auto was used");
  }
  std::vector<SourceName> candidates{settings_.source};
  if (settings_.source == SourceName::kPeruse) candidates.push_back(SourceName::kPml);
  for (const SourceName candidate : candidates) {
    std::string reason;
    if (try_source(candidate, reason)) {
      source_ = candidate;
      break;
    }
    text_.add("step-down", std::string(name_of(candidate)) + " " + reason);
  }
  run_text_.add("source", name_of(source_));
  return source_ != SourceName::kNone;
}

void Session::describe_process() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  text_.add("host", host);
  run_text_.add("executable", executable_path());
  bool first = true;
  for (const std::string& word : command_line()) {
    if (!first) run_text_.add("argument", word);
    first = false;
  }
  run_text_.add("library", "Open MPI");
  run_text_.add("version", library_version());
  run_text_.add("pml", selected_pml());
  for (std::uint32_t i = 0; i < kClassCount; ++i) {
    const std::string number = std::to_string(i);
    if (i == kPosted) {
      run_text_.add("posted", number + " " + kClassNames[i]);
    } else {
      run_text_.add("class", number + (i == kPointToPoint ? " 0 " : " 1 ") + kClassNames[i]);
    }
  }
  if (!chosen_pml.empty() && settings_.source == SourceName::kPeruse &&
      source_ == SourceName::kPeruse) {
    run_text_.add("note", "the PML is as Open MPI's settings have it (pml = " + chosen_pml + "); Fathom left that alone");
  }
  std::vector<std::string> unknown;
  variables_.open(settings_.performance_variables, unknown);
  for (const std::string& name : unknown) {
    run_text_.add("note", "this MPI library has no performance variable named " + name +
                              "; `ompi_info --param all all --level 9` lists what it has");
  }
}

void Session::name_run_directory() {
  run_directory_ = settings_.output;
  if (run_directory_.empty()) {
    run_directory_ = settings_.start_directory + "/fathom-" + base_name(executable_path()) + "-" +
                     std::to_string(header_.job);
  }
  void* const* parent = static_cast<void* const*>(find_variable_in_mpi("ompi_mpi_comm_parent"));
  if (parent != nullptr && *parent != nullptr && *parent != find_variable_in_mpi("ompi_mpi_comm_null")) {
    run_directory_ = world_directory(run_directory_, header_.job);
    run_text_.add("world", "world-" + std::to_string(header_.job));
  }
  if (is_taken(run_directory_, header_.job)) run_directory_ = world_directory(run_directory_, header_.job);
}

void Session::claim_run_directory() {
  const auto claimed = profiler::claim_run_directory(run_directory_, header_.job);
  if (claimed) {
    run_directory_ = *claimed;
  } else if (header_.rank == 0 && !settings_.quiet) {
    std::fprintf(stderr,
                 "fathom: cannot make the run directory %s: %s; the job goes on without a profile. Choose another one with "
                 "FATHOM_OUTPUT.\n",
                 run_directory_.c_str(), std::strerror(errno));
  }
}

void Session::before_finalize() noexcept {
  Session* session = active();
  if (session == nullptr || getpid() != static_cast<pid_t>(session->header_.pid)) return;
  finish(*session);
  session->counter_.stop();
  active_.store(nullptr);
}

void Session::before_abort(int error_code) noexcept {
  if (active() != nullptr) rescue(profile::EndReason::kAbort, static_cast<std::uint32_t>(error_code));
}

void Session::begin_phase(const char* name) noexcept try {
  if (name == nullptr || name[0] == '\0') return;
  const std::lock_guard guard(phase_lock_);
  std::uint32_t number = 0;
  const char* new_name = nullptr;
  for (std::uint32_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i] == name) number = i + 1;
  }
  if (number == 0 && phases_.size() + 1 < Counter::kMaxPhases) {
    phases_.push_back(name);
    number = static_cast<std::uint32_t>(phases_.size());
    text_.add("phase", std::to_string(number) + " " + name);
    new_name = name;
  }
  phase_stack_.push_back(number);
  counter_.set_phase(number);
  tracing::phase_begun(number, new_name);
} catch (...) {
}

void Session::end_phase() noexcept {
  const std::lock_guard guard(phase_lock_);
  if (phase_stack_.empty()) return;
  const std::uint32_t ended = phase_stack_.back();
  phase_stack_.pop_back();
  const std::uint32_t outer = phase_stack_.empty() ? 0 : phase_stack_.back();
  counter_.set_phase(outer);
  tracing::phase_ended(ended, outer);
}

extern "C" {
FATHOM_EXPORT void fathom_library_phase_begin(const char* name) {
  if (Session* session = Session::active()) session->begin_phase(name);
}
FATHOM_EXPORT void fathom_library_phase_end() {
  if (Session* session = Session::active()) session->end_phase();
}
}

}  // namespace fathom::profiler
