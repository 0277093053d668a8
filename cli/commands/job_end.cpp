// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/job_end.h"

#include <signal.h>
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/launcher.h"
#include "cli/language/shell_words.h"
#include "cli/launch/launcher.h"
#include "cli/launch/missing_library.h"
#include "cli/runs/named_call_sites.h"
#include "cli/runs/recorded_so_far.h"
#include "cli/runs/run_state.h"
#include "profile/assemble.h"

namespace fathom::cli {

void tell(const std::string& sentence) {
  // The job's output came first, and must stay first where both go to one file.
  std::fflush(stdout);
  std::fprintf(stderr, "fathom: %s\n", sentence.c_str());
}

namespace {

std::string name_of_signal(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::string why_nobody_reported(const std::vector<std::string>& command, const Preload& preload,
                                const JobEnd& job) {
  const LauncherKind kind = find_launcher(command).kind;
  if (base::process_environment("FATHOM_DISABLE").value_or("") == "1") {
    return "no profile, because FATHOM_DISABLE=1 switches the library off; unset it";
  }
  if (job.signal != 0) {
    return fmt::format(
        "{} ended the job before any rank had finished MPI_Init, so there is no profile",
        name_of_signal(job.signal));
  }
  std::string likely = why_not_loaded(command, preload);
  const bool known = !likely.empty();
  if (!known) switch (kind) {
      case LauncherKind::kOpenMpi:
        likely =
            "the program does not use Open MPI's shared library (not an MPI program, another MPI), "
            "calls it past preloaded libraries, never reached MPI_Init, or something between "
            "mpirun and the program removes LD_PRELOAD";
        break;
      case LauncherKind::kSlurm:
        likely =
            "srun did not pass LD_PRELOAD on, or the program does not use Open MPI's shared "
            "library";
        break;
      case LauncherKind::kHydra:
        likely = "the launcher belongs to MPICH or Intel MPI, and Fathom can profile only Open MPI";
        break;
      case LauncherKind::kNone:
        likely =
            "the command is not an MPI program, or a launcher that Fathom does not know and that "
            "does not pass the environment on; set LD_PRELOAD and FATHOM_OUTPUT with its own "
            "option for "
            "variables";
        break;
    }
  const std::string first =
      job.code == 0 ? ""
                    : fmt::format(
                          "the command ended with {}; if it printed the reason above (too few "
                          "slots: mpirun --oversubscribe; AddressSanitizer: "
                          "ASAN_OPTIONS=verify_asan_link_order=0), fix that first; otherwise ",
                          job.code);
  return fmt::format("no rank ever reported in, so there is no profile: {}{}{}", first, likely,
                     known ? "" : "; 'ldd' on the program and 'fathom doctor' show more");
}

// Describes further jobs and spawned worlds, after merging the counts that their processes left.
std::string further_jobs(const RunDirectory& run) {
  const auto merge = [](const std::string& folder) {
    if (!std::filesystem::exists(folder + "/profile.json")) (void)profile::assemble_parts(folder);
  };
  const auto described = [&](std::size_t count, const char* what, const char* folders) {
    return count == 0 ? ""
                      : fmt::format(" and of {} {}{} in {}/{}", count, what, count == 1 ? "" : "s",
                                    run.shown(), folders);
  };
  for (const std::string& job : run.further_jobs()) {
    if (state_of(job).progress != Progress::kRunning) merge(job);
  }
  for (const std::string& world : run.spawned_worlds()) merge(world);
  run.number_further_jobs();
  return described(run.further_jobs().size(), "further job", "job-*") +
         described(run.spawned_worlds().size(), "spawned world", "world-*");
}

void tell_about_profile(const RunDirectory& run, const std::string& further, bool traced) {
  const std::string shown = shell_word(run.shown());
  tell(fmt::format(
      "profile in {0}/profile.json{1}; next: fathom report {3}{2}", run.shown(), further,
      traced ? fmt::format("; trace in {}/trace; next: fathom trace info {}", run.shown(), shown)
             : "",
      shown));
}

}  // namespace

void tell_about_flight(const RunDirectory& run) {
  const std::size_t traced = recorded_so_far(run.path()).traced;
  if (traced == 0) return;
  tell(fmt::format("the last events of {} rank{} are in {}/trace; next: fathom analyze {}", traced,
                   traced == 1 ? "" : "s", run.shown(), shell_word(run.shown())));
}

bool conclude(const RunDirectory& run, const std::vector<std::string>& command,
              const std::string& library, bool traced, const JobEnd& job) {
  const std::string shown = shell_word(run.shown());
  const std::string further = further_jobs(run);
  if (run.has_profile()) {
    tell_about_profile(run, further, traced);
    return true;
  }
  const auto assembled = profile::assemble_parts(run.path());
  if (!assembled) {
    tell(assembled.error().message);
    return false;
  }
  if (*assembled == profile::Assembled::kWhole) {
    tell_about_profile(run, further, traced);
    return true;
  }
  if (*assembled == profile::Assembled::kCutShort) {
    tell(fmt::format(
        "the run was cut short{2}; what its ranks had counted by then is in "
        "{0}/profile.json{1}; next: fathom report {3}",
        run.shown(), further, job.signal == 0 ? "" : " by " + name_of_signal(job.signal), shown));
    return true;
  }
  if (run.was_started() && job.signal != 0 && job.signal != SIGKILL) {
    tell(
        fmt::format("{} ended the job, and no rank could write its counts: its launcher killed "
                    "them before they had "
                    "written, or they cannot write to {}",
                    name_of_signal(job.signal), run.shown()));
    return false;
  }
  if (run.was_started()) {
    tell(
        "the job ran with the library, but no rank could write its counts: killed with SIGKILL, "
        "perhaps for lack of memory, ended by a sanitizer, or unable to write to " +
        run.shown());
    return false;
  }
  run.remove_if_unused();
  tell(why_nobody_reported(command, {library, run.path()}, job));
  return false;
}

void name_call_sites_of(const RunDirectory& run) {
  for (const std::string& folder : run.further_jobs())
    (void)name_call_sites_in(folder + "/profile.json");
  for (const std::string& folder : run.spawned_worlds())
    (void)name_call_sites_in(folder + "/profile.json");
  (void)name_call_sites_in(run.path() + "/profile.json");
}

}  // namespace fathom::cli
