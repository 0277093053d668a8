// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/run.h"

#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/launcher.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cli/commands/job_end.h"
#include "cli/commands/top/stuck_watch.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/shell_words.h"
#include "cli/launch/heartbeat.h"
#include "cli/launch/installation.h"
#include "cli/launch/job.h"
#include "cli/launch/keepers.h"
#include "cli/launch/launcher.h"
#include "cli/launch/live_settings.h"
#include "cli/launch/mpi_probe.h"
#include "cli/launch/overlay.h"
#include "cli/runs/recorded_so_far.h"
#include "cli/runs/run_directory.h"
#include "cli/runs/run_state.h"
#include "cli/terminal/units.h"
#include "live/page_keeper.h"
#include "live/window_pages.h"

namespace fathom::cli {
namespace {

// What a trace is to hold; each is a variable of the library too.
struct Recorded {
  std::optional<std::set<std::int64_t>> ranks;
  std::vector<std::string> functions, communicators, phases;
  std::optional<std::uint64_t> after_ns, for_ns;
  std::map<std::string, std::string> settings;  // by variable: kTraceOptions
};

struct RunOptions {
  std::string directory;
  std::string source;
  std::string log;
  std::vector<std::string> pvars;
  std::vector<std::string> stages;
  bool force = false;
  bool no_time = false;
  bool trace = false;
  std::string flight;  // memory for the last records; empty: no flight recorder
  bool live = false;
  std::optional<std::uint64_t> stuck_after_ns;
  bool kill_stuck = false;
  Recorded recorded;
};

// Settings of the library that the user may set in the environment and that must reach every host.
constexpr const char* kForwardedSettings[] = {
    "FATHOM_SOURCE",       "FATHOM_PVARS",        "FATHOM_LOG",
    "FATHOM_DISABLE",      "FATHOM_TIME",         "FATHOM_LIVE",
    "FATHOM_WAITS_MEMORY", "FATHOM_DIRECT_RANKS", "FATHOM_PATH_MEMORY"};

// Options that say how a trace is recorded; each is also a variable of the library.
struct TraceOption {
  const char* option;
  const char* variable;
  const char* type;
  const char* help;
};
constexpr TraceOption kTraceOptions[] = {
    {"--trace-level", "FATHOM_TRACE_LEVEL", "LEVEL",
     "calls, or transfers: also hidden messages and the steps of each transfer (default: "
     "transfers)"},
    {"--trace-memory", "FATHOM_TRACE_MEMORY", "BYTES",
     "memory to record into, per process (default: 16M)"},
    {"--trace-size", "FATHOM_TRACE_SIZE", "BYTES",
     "largest trace file, per process (default: no limit)"},
    {"--sample", "FATHOM_TRACE_SAMPLE", "N",
     "record every N-th call of each thread; sums stay exact (default: 1)"},
    {"--call-sites", "FATHOM_TRACE_SITES", "0|1",
     "record where in the program each call was made (default: 1)"},
};

const std::vector<std::string> kSources = {"auto", "peruse", "pml", "mpi_t"};

bool is_source(const std::string& name) {
  return std::find(kSources.begin(), kSources.end(), name) != kSources.end();
}

// Each variable of the library, empty where no option sets it.
Variables trace_variables(const Recorded& recorded) {
  const auto list = [](const std::vector<std::string>& items) { return base::joined(items, ","); };
  const auto seconds = [](const std::optional<std::uint64_t>& time_ns) {
    return time_ns ? fmt::format("{}", base::seconds(*time_ns)) : "";
  };
  Variables variables = {
      {"FATHOM_TRACE_RANKS", recorded.ranks ? ranks_text(*recorded.ranks) : ""},
      {"FATHOM_TRACE_FUNCTIONS", list(recorded.functions)},
      {"FATHOM_TRACE_COMMUNICATORS", list(recorded.communicators)},
      {"FATHOM_TRACE_PHASES", list(recorded.phases)},
      {"FATHOM_TRACE_AFTER", seconds(recorded.after_ns)},
      {"FATHOM_TRACE_FOR", seconds(recorded.for_ns)},
  };
  for (const TraceOption& option : kTraceOptions) {
    const auto chosen = recorded.settings.find(option.variable);
    variables.emplace_back(option.variable,
                           chosen == recorded.settings.end() ? "" : chosen->second);
  }
  return variables;
}

bool says_anything(const Recorded& recorded) {
  const Variables variables = trace_variables(recorded);
  return std::any_of(variables.begin(), variables.end(),
                     [](const auto& variable) { return !variable.second.empty(); });
}

// Elsewhere a communicator may also be named by the number that it has in the trace.
base::Status check_communicators(const Recorded& recorded) {
  for (const std::string& item : recorded.communicators) {
    if (item.find_first_not_of("-0123456789") != item.npos) continue;
    return base::Error{fmt::format(
        "--communicators {}: communicators get their ids while the job runs; choose them by name "
        "or constructor, as in solver*,MPI_Comm_split",
        item)};
  }
  return base::Done{};
}

// Whether the job records when fathom snap --for asks. The library that counts alone has no code for
// that, and without the times of calls a window could not begin exactly.
bool records_on_request(const RunOptions& options) {
  return !options.no_time && base::process_environment("FATHOM_TIME").value_or("") != "0" &&
         !options.trace && options.flight.empty() &&
         base::process_environment("FATHOM_TRACE").value_or("") != "0";
}

base::Result<std::string> library_for(const RunOptions& options) {
  const Library plain = options.no_time ? Library::kCounts : Library::kTimes;
  if (options.trace || !options.flight.empty()) return find_library(Library::kTraces);
  if (!records_on_request(options)) return find_library(plain);
  auto library = find_library(Library::kTraces);
  return library ? library : find_library(plain);  // that nobody can ask is no reason not to run
}

// The library's settings: options take precedence over the environment.
Variables settings_of(const RunOptions& options, const std::string& run_directory) {
  Variables settings = {{"FATHOM_OUTPUT", run_directory}};
  const auto add = [&](const std::string& name, const std::string& chosen) {
    const std::string value =
        chosen.empty() ? base::process_environment(name).value_or("") : chosen;
    if (!value.empty()) settings.emplace_back(name, value);
  };
  for (const std::string name : kForwardedSettings) {
    add(name, name == "FATHOM_SOURCE"  ? options.source
              : name == "FATHOM_PVARS" ? base::joined(options.pvars, ",")
              : name == "FATHOM_LOG"   ? options.log
              : name == "FATHOM_TIME"  ? (options.no_time ? "0" : "")
              : name == "FATHOM_LIVE"  ? (options.live ? "sampled" : "")
                                       : "");
  }
  add("FATHOM_FLIGHT", options.flight);
  if (records_on_request(options)) settings.emplace_back("FATHOM_TRACE", "request");
  if (!options.trace && options.flight.empty()) return settings;
  for (const auto& [name, value] : trace_variables(options.recorded)) add(name, value);
  return settings;
}

// Best-effort check before the job costs anything: false only if every Open MPI that the job could
// load was found, has no PERUSE, and no overlay gives it that.
bool may_have_peruse(const std::vector<std::string>& command) {
  const Launcher launcher = find_launcher(command);
  if (launcher.kind == LauncherKind::kSlurm) return true;  // the libraries are on other hosts
  const std::vector<MpiFacts> libraries = probe_launcher(command[launcher.position]);
  for (const MpiFacts& facts : libraries) {
    if (facts.has_peruse || overlay_for(facts.path)) return true;
  }
  return libraries.empty();
}

// Sources that count without PERUSE need no overlay.
bool may_use_peruse(const RunOptions& options) {
  const std::string source = options.source.empty()
                                 ? base::process_environment("FATHOM_SOURCE").value_or("")
                                 : options.source;
  return source.empty() || source == "auto" || source == "peruse";
}

base::Result<Launch> prepare_launch(const RunOptions& options,
                                    const std::vector<std::string>& command,
                                    const std::string& library, const std::string& run_directory) {
  std::vector<std::string> libraries = {library};
  Variables settings = settings_of(options, run_directory);
  if (may_use_peruse(options)) {
    const OverlayOffer offer = offer_overlays();
    libraries.insert(libraries.end(), offer.libraries.begin(), offer.libraries.end());
    settings.insert(settings.end(), offer.variables.begin(), offer.variables.end());
  }
  return preload_ranks(command, libraries, settings, base::process_environment);
}

std::string shell_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) base::add_to_list(line, shell_word(word), " ");
  return line;
}

// "counts and times, a trace, source auto"
std::string what_is_recorded(const RunOptions& options) {
  const std::string source = options.source.empty()
                                 ? base::process_environment("FATHOM_SOURCE").value_or("auto")
                                 : options.source;
  const std::string events =
      options.trace ? ", a trace"
      : options.flight.empty()
          ? ""
          : fmt::format(", {} {} of events of each rank", kKeepsTheLast, options.flight);
  return fmt::format("{}{}, source {}", options.no_time ? "counts" : "counts and times", events,
                     source);
}

// Says when the job is stuck, and ends it then if that was asked for.
class StuckJob {
 public:
  StuckJob(const RunOptions& options, const RunDirectory& directory)
      : watch_(directory.path(), base::seconds(*options.stuck_after_ns)),
        kill_(options.kill_stuck) {}

  std::chrono::seconds interval() const { return watch_.interval(); }
  bool killed() const { return killed_; }

  void look() {
    const auto verdict = watch_.look();
    if (!verdict) return;
    tell(fmt::format("the job is stuck: {}{}", verdict->text,
                     kill_ ? fmt::format(" It is ended, with exit code {}.", kStuckExit) : ""));
    if (!kill_) return;
    killed_ = true;
    kill(getpid(), SIGTERM);  // passed on to the launcher, like any signal that fathom gets
  }

 private:
  StuckWatch watch_;
  bool kill_;
  bool killed_ = false;
};

// Adds what is to be done at even intervals, of a second or few, to what is done while the job runs.
void add_looks(JobWatch& watch, std::chrono::seconds interval, std::function<void()> look) {
  const bool beats = static_cast<bool>(watch.beat);
  const auto next_beat = std::make_shared<std::chrono::seconds>(watch.first);
  watch.first = interval;
  watch.beat = [beats, next_beat, interval, beat = watch.beat,
                look = std::move(look)](std::chrono::seconds running) {
    look();
    if (beats && running >= *next_beat) *next_beat = beat(running);
    return running + interval;
  };
}

// A line when the job has started, unless the library is to be quiet too; and one now and then, on
// a terminal, while it runs.
JobWatch watch(const RunOptions& options, const RunDirectory& directory) {
  JobWatch watch;
  const std::string log =
      options.log.empty() ? base::process_environment("FATHOM_LOG").value_or("") : options.log;
  if (log != "quiet") {
    watch.started = [&options, &directory] {
      tell(fmt::format("recording {} in {}", what_is_recorded(options), directory.shown()));
    };
  }
  const auto first = first_heartbeat();
  if (log == "quiet" || !first) return watch;
  watch.first = *first;
  watch.beat = [&directory](std::chrono::seconds running) {
    write_if_harmless(fmt::format("fathom: running for {}; recorded: {}; fathom status {}\n",
                                  human_seconds(static_cast<double>(running.count())),
                                  described(recorded_so_far(directory.path())),
                                  shell_word(directory.shown())));
    return next_heartbeat(running);
  };
  return watch;
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "run", why); };
  if (command.empty()) {
    return refuse("name the job to run after '--': fathom run -- mpirun -n 4 ./app");
  }
  if (const auto checked = check_communicators(options.recorded); !checked)
    return refuse(checked.error().message);
  if (options.kill_stuck && !options.stuck_after_ns)
    return refuse("--kill needs --stuck-after TIME, the time after which a job counts as stuck");
  const std::string source = base::process_environment("FATHOM_SOURCE").value_or("");
  if (options.source.empty() && !source.empty() && !is_source(source)) {
    return refuse(fmt::format("FATHOM_SOURCE={} is not a source; there are {}", source,
                              base::joined(kSources)));
  }
  if (options.live && options.no_time)
    return refuse(
        "--live shows what calls wait for, which --no-time does not record; give only one of them");
  const auto live_settings = cli::live_settings();
  if (!live_settings) return refuse(live_settings.error().message);
  const auto library = library_for(options);
  if (!library) return refuse(library.error().message);
  if (options.source == "peruse" && !may_have_peruse(command)) {
    return refuse(
        "the Open MPI that this job would use has no PERUSE; add it with 'fathom doctor "
        "--build-peruse', or use --source pml, which does not need it");
  }
  const auto directory = options.directory.empty()
                             ? RunDirectory::create_default(application_name(command))
                             : RunDirectory::create(options.directory, options.force);
  if (!directory) return refuse(directory.error().message);
  // From here on, a refusal removes the empty folder.
  const auto give_up = [&](const std::string& why) {
    directory->remove_if_unused();
    return refuse(why);
  };

  std::vector<Action> stages;
  for (const std::string& line : options.stages) {
    auto stage = prepare_stage(line, directory->path());
    if (!stage) return give_up(fmt::format("--then '{}': {}", line, stage.error().message));
    stages.push_back(std::move(*stage));
  }
  const auto launch = prepare_launch(options, command, *library, directory->path());
  if (!launch) return give_up(launch.error().message);

  RunningMark mark(directory->path(), shell_line(command), what_is_recorded(options));
  JobWatch watched = watch(options, *directory);
  std::optional<StuckJob> stuck;
  if (options.stuck_after_ns) {
    stuck.emplace(options, *directory);
    add_looks(watched, stuck->interval(), [&stuck] { stuck->look(); });
  }
  // A reader that asks may see only the file system. With --live, the keeper of the pages looks there.
  live::WindowForwarder windows(directory->path());
  if (!options.live && records_on_request(options))
    add_looks(watched, std::chrono::seconds(1), [&windows] { windows.look(); });
  std::optional<live::PageKeeper> keeper;
  if (options.live) {
    keeper.emplace(directory->path(), live_settings->port, live_settings->summaries_above);
    watched.started = [&keeper, started = watched.started] {
      if (started) started();
      keeper->begin();
    };
  }
  const auto job = run_job(*launch, watched);
  if (!options.flight.empty()) wait_for_keepers();
  if (keeper) keeper->end();
  mark.remove();
  if (!job) return give_up(job.error().message);

  const bool profiled = conclude(*directory, command, *library, options.trace, *job);
  if (!options.flight.empty()) tell_about_flight(*directory);
  if (profiled) name_call_sites_of(*directory);
  if (stuck && stuck->killed()) return kStuckExit;
  int stages_exit = profiled || stages.empty() ? kFine : kFailed;
  for (std::size_t i = 0; profiled && i < stages.size(); ++i) {
    if (stages[i]() != kFine) stages_exit = kFailed;
  }
  return job->code != 0 ? job->code : stages_exit;
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.get_formatter()->label("OPTIONS", "OPTIONS] -- COMMAND [ARGS");  // CLI11 adds the brackets
  app.prefix_command();  // the job's command begins at the first word that is no option
  app.add_option("-o,--output", options->directory,
                 "run directory to create (default: fathom-APP-JOBID)")
      ->type_name("DIR");
  app.add_flag("--force", options->force, "replace the run that DIR holds");
  app.add_option(
         "--source", options->source,
         "what to count with: auto, peruse, pml or mpi_t (default: auto, the best one that passes "
         "its self-check)")
      ->type_name("NAME")
      ->check(one_of(kSources));
  add_list(app, "--pvars,--pvar", options->pvars, "NAME,...",
           "also read these MPI_T performance variables");
  app.add_option("--log", options->log,
                 "what the library prints: quiet, warning or info (default: warning)")
      ->type_name("LEVEL")
      ->check(one_of({"quiet", "warning", "info"}));
  app.add_flag("--no-time", options->no_time,
               "count messages only; do not measure the time that MPI calls take");
  app.add_flag("--live", options->live,
               "let readers look into the running job, and keep its counts if it is killed "
               "(FATHOM_LIVE=1 implies it)");
  auto* trace = app.add_flag(
      "--trace", options->trace,
      "also record a trace: every MPI call and transfer (FATHOM_TRACE=1 and the options that "
      "say what it holds imply it)");
  app.add_option("--flight", options->flight,
                 "flight recorder: keep the last events in this much memory per rank and write "
                 "nothing, unless the job ends badly, SIGUSR2 or fathom snap asks: 16M")
      ->type_name("BYTES")
      ->excludes(trace);
  Recorded& recorded = options->recorded;
  add_ranks(app, recorded.ranks, "trace only these world ranks: 0-3,7");
  add_list(app, "--functions", recorded.functions, "NAME,...",
           "record only calls of these functions: MPI_Send,MPI_I*; -MPI_Test* leaves out");
  add_list(app, "--communicators", recorded.communicators, "NAME,...",
           "record only events of these communicators, by name or constructor: "
           "MPI_COMM_WORLD,solver*,-MPI_Comm_dup");
  add_list(app, "--phases", recorded.phases, "NAME,...", "record only inside these named phases");
  add_time(app, "--after", recorded.after_ns,
           "start recording this long after MPI_Init: 1.5s, 443ms, 200us");
  add_time(app, "--for", recorded.for_ns, "stop recording after this long");
  for (const TraceOption& option : kTraceOptions) {
    auto* added = app.add_option(option.option, recorded.settings[option.variable], option.help)
                      ->type_name(option.type);
    if (added->get_name() == "--trace-level") added->check(one_of({"calls", "transfers"}));
    if (added->get_name() == "--call-sites") added->check(one_of({"0", "1"}));
    if (added->get_name() == "--sample") added->check(between(1, 1'000'000));
  }
  add_time(app, "--stuck-after", options->stuck_after_ns,
           "say who holds whom up, and why, when the job has been stuck for so long");
  app.add_flag("--kill", options->kill_stuck,
               "end a job that is stuck (--stuck-after), with exit code 124");
  app.add_option(
         "--then", options->stages,
         "when the job has ended, run this subcommand on the run (may be given several times)")
      ->type_name("'STAGE'")
      ->allow_extra_args(false);
  return [&app, options] {
    std::vector<std::string> command = app.remaining();
    if (!command.empty() && command.front() == "--") command.erase(command.begin());
    if (!command.empty() && command.front().starts_with("-"))
      return fail(kWrongUsage, "run", unknown_option(app, command.front()).message);
    if (options->flight.empty() && !options->trace)
      options->flight = base::process_environment("FATHOM_FLIGHT").value_or("");
    const std::string trace = base::process_environment("FATHOM_TRACE").value_or("0");
    const bool asks_for_trace =
        (trace != "0" && trace != "request") || says_anything(options->recorded);
    if (options->flight.empty() && asks_for_trace) options->trace = true;
    const std::string live = base::process_environment("FATHOM_LIVE").value_or("0");
    if (!live.empty() && live != "0" && !options->no_time) options->live = true;
    if (options->stuck_after_ns) options->live = true;
    return run(*options, command);
  };
}

}  // namespace fathom::cli
