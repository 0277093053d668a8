// SPDX-License-Identifier: BSD-3-Clause
// The answers that tell what a run is: list of runs, metadata, report, analyses, comparison.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/compare.h"
#include "analysis/registry.h"
#include "analysis/results_writer.h"
#include "analysis/scope/trace_span.h"
#include "base/program_name.h"
#include "mpi/wait_kind.h"
#include "profile/summary.h"
#include "trace/attributes.h"
#include "view/pyramid/pyramid.h"
#include "view/session.h"

namespace fathom::view {
namespace {

void write_run_line(base::JsonWriter& json, ViewedRun& run, std::size_t number) {
  const RunMark mark = run.mark();
  const auto loaded = run.loaded();
  json.field("run", number);
  json.field("path", run.path());
  json.field("name", run.name());
  json.field("state", mark.state);
  json.field("sentence", mark.sentence);
  json.field("error", loaded ? "" : loaded.error().message);
  const profile::Profile* profile = loaded ? &*(*loaded)->profile : nullptr;
  json.field("has_trace", loaded && (*loaded)->trace != nullptr);
  json.field("has_profile", profile != nullptr);
  json.field("live",
             mark.state == "running" || run.live() != nullptr);  // or what it did is still known
  json.field("ranks", profile ? profile::rank_count(*profile) : 0);
  json.field("application", profile ? base::program_path(profile->application.executable,
                                                         profile->application.arguments)
                                    : "");
}

std::vector<std::string> hosts_of(const analysis::LoadedRun& run) {
  std::vector<std::string> hosts;
  std::unordered_set<std::string> known;
  const auto add = [&](const std::string& host) {
    if (known.insert(host).second) hosts.push_back(host);
  };
  if (run.trace) {
    for (const trace::Process& process : run.trace->definitions().processes) add(process.host);
  } else {
    for (const profile::Rank& rank : run.profile->ranks) add(rank.host);
  }
  return hosts;
}

template <typename Rows, typename Of>
void write_column(base::JsonWriter& json, const char* name, const Rows& rows, Of of) {
  json.list(name, rows, [&](const auto& row) { json.value(of(row)); });
}

std::unordered_map<std::string, std::size_t> numbers_of(const std::vector<std::string>& hosts) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (const std::string& host : hosts) numbers.emplace(host, numbers.size());
  return numbers;
}

void write_processes(base::JsonWriter& json, const trace::Definitions& definitions,
                     const std::vector<std::string>& hosts) {
  const auto numbers = numbers_of(hosts);
  using trace::Process;
  const auto& all = definitions.processes;
  write_column(json, "rank", all, [](const Process& one) { return one.rank; });
  write_column(json, "host", all, [&](const Process& one) { return numbers.at(one.host); });
  write_column(json, "pid", all, [](const Process& one) { return one.pid; });
  write_column(json, "threads", all, [](const Process& one) { return one.threads.size(); });
  write_column(json, "first_ns", all, [](const Process& one) { return one.first_ns; });
  write_column(json, "last_ns", all, [](const Process& one) { return one.last_ns; });
  write_column(json, "socket", all, [](const Process& one) { return one.socket; });
  write_column(json, "numa", all, [](const Process& one) { return one.numa_node; });
  write_column(json, "affinity", all, [](const Process& one) { return one.affinity; });
  write_column(json, "complete", all, [](const Process& one) { return one.complete; });
  write_column(json, "problems", all, [](const Process& one) { return one.problems; });
}

void write_communicators(base::JsonWriter& json,
                         const std::vector<profile::Communicator>& communicators) {
  json.objects("communicators", communicators, [&](const profile::Communicator& one) {
    json.field("id", one.id);
    json.field("name", one.name);
    json.field("made_by", one.made_by);
    json.field("size", one.world_ranks.size());
    json.field("internal", one.internal);
  });
}

void write_traced(base::JsonWriter& json, analysis::LoadedRun& run,
                  const std::vector<std::string>& hosts, const analysis::TraceSpan& program) {
  const trace::Definitions& definitions = run.trace->definitions();
  json.object("processes", [&] { write_processes(json, definitions, hosts); });
  json.object("functions", [&] {
    write_column(json, "name", definitions.functions, [](const auto& one) { return one.name; });
    write_column(json, "group", definitions.functions,
                 [](const auto& one) { return std::string(trace::name_of(one.group)); });
  });
  write_communicators(json, definitions.communicators);
  json.object("classes", [&] {
    json.field("name", definitions.classes);
    json.field("hidden", definitions.class_hidden);
  });
  json.field("phases", definitions.phases);
  const auto write_span = [&](const char* name, const analysis::TraceSpan& span) {
    json.object(name, [&] {
      json.field("from_ns", span.from_ns);
      json.field("to_ns", span.to_ns);
    });
  };
  write_span("span", analysis::recorded_span(definitions));
  write_span("program", program);
  // What a reader of the running job took for its begin, so that both mean the same moments.
  const auto started = static_cast<std::uint64_t>(definitions.application.started_unix_ns);
  if (definitions.application.started_unix_ns > 0 && started >= definitions.epoch_unix_ns &&
      definitions.epoch_unix_ns > 0)
    json.field("started_ns", started - definitions.epoch_unix_ns);
  std::uint64_t events = 0;
  for (const trace::Process& process : definitions.processes) events += process.records;
  json.field("events", events);
  json.field("trace_level", definitions.level);
}

// What a file holds less of than a server: the finer levels, and lines of another depth.
struct Held {
  std::uint64_t most_levels = kMostLevels;
  std::optional<std::uint32_t> depth;
};

void write_timeline(base::JsonWriter& json, const Pyramid& pyramid, const Held& held) {
  const Geometry& geometry = pyramid.geometry();
  json.object("timeline", [&] {
    const auto levels =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry.levels, held.most_levels));
    json.field("levels", levels);
    json.field("rows", geometry.rows(0));
    json.field("rows_per_tile", kRows);
    json.field("bins_per_tile", kBins);
    json.field("from_ns", geometry.from_ns);
    std::vector<std::uint64_t> groups;
    for (std::uint32_t depth = 0; depth < geometry.depths(); ++depth) {
      if (!held.depth || depth == *held.depth) groups.push_back(geometry.group(depth));
    }
    json.field("groups", groups);
    std::vector<std::uint64_t> widths, columns;
    for (std::uint32_t level = 0; level < levels; ++level) {
      widths.push_back(geometry.bin_ns(level));
      columns.push_back(geometry.columns(level));
    }
    json.field("bin_ns", widths);
    json.field("columns", columns);
    std::vector<std::string> ready;
    if (pyramid.calls()) ready.emplace_back("functions");
    if (pyramid.waits()) ready.insert(ready.end(), {"waits", "path"});
    if (pyramid.is_joined()) ready.emplace_back("raw");
    json.field("ready", ready);
    json.field("problem", pyramid.problem());
    json.object("building", [&] {
      json.field("what", pyramid.progress().what);
      json.field("share", pyramid.progress().share);
    });
  });
}

// Without times, all there is are the ranks.
void write_untraced(base::JsonWriter& json, const profile::Profile& profile,
                    const std::vector<std::string>& hosts) {
  const auto numbers = numbers_of(hosts);
  json.object("processes", [&] {
    write_column(json, "rank", profile.ranks, [](const auto& one) { return one.rank; });
    write_column(json, "host", profile.ranks,
                 [&](const auto& one) { return numbers.at(one.host); });
    write_column(json, "pid", profile.ranks, [](const auto& one) { return one.pid; });
  });
  write_communicators(json, profile.communicators);
  std::vector<std::string> names, phases;
  std::vector<bool> hidden;
  for (const profile::ClassTotal& total : profile::class_totals(profile)) {
    names.push_back(total.class_name);
    hidden.push_back(total.hidden);
  }
  for (const profile::Traffic& traffic : profile.traffic) {
    if (!traffic.phase.empty() &&
        std::find(phases.begin(), phases.end(), traffic.phase) == phases.end())
      phases.push_back(traffic.phase);
  }
  json.object("classes", [&] {
    json.field("name", names);
    json.field("hidden", hidden);
  });
  json.field("phases", phases);
  json.object("span", [&] {
    json.field("from_ns", 0);
    json.field("to_ns", static_cast<std::uint64_t>(profile.application.seconds * 1e9));
  });
}

// A window in which nothing happened is a question like any other, but only the analyses say so.
template <typename Fields>
Reply analysed(Session& session, const Query& query, const std::vector<std::string>& names,
               Fields fields) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  const auto lock = (*run)->lock_joined();
  if (!lock) return busy();
  const auto results = (*run)->analyse(names, *scope);
  if (!results) return refuse(422, results.error().message);
  return json_reply([&](base::JsonWriter& json) { fields(json, *results); });
}

}  // namespace

Reply answer_runs(Session& session, const Query&) {
  Reply reply = json_reply([&](base::JsonWriter& json) {
    std::size_t number = 0;
    json.objects("runs", session.runs, [&](const std::unique_ptr<ViewedRun>& run) {
      write_run_line(json, *run, number);
      ++number;
    });
  });
  reply.lasts = false;
  return reply;
}

Reply answer_meta(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto loaded = (*run)->loaded();
  if (!loaded) return refuse(422, loaded.error().message);
  const profile::Profile& profile = *(*loaded)->profile;
  const std::vector<std::string> hosts = hosts_of(**loaded);
  Pyramid* pyramid = (*run)->pyramid();
  const auto levels = query.number("levels", kMostLevels, kMostLevels);
  if (!levels) return refuse(400, levels.error().message);
  const auto depth = query.number("depth", 0, kMostDepths);
  if (!depth) return refuse(400, depth.error().message);
  Held held{*levels, {}};
  if (query.has("depth")) held.depth = static_cast<std::uint32_t>(*depth);
  const analysis::TraceSpan program = (*run)->program_span();
  Reply reply = json_reply([&](base::JsonWriter& json) {
    json.field("run", query.number("run", 0, session.runs.size()).value());
    json.field("name", (*run)->name());
    json.field("path", (*run)->path());
    json.field("application",
               base::program_path(profile.application.executable, profile.application.arguments));
    json.field("seconds", profile.application.seconds);
    json.field("ranks", profile::rank_count(profile));
    json.field("hosts", hosts);
    json.field("has_trace", (*loaded)->trace != nullptr);
    json.field("has_profile", true);
    if ((*loaded)->trace) {
      write_traced(json, **loaded, hosts, program);
    } else {
      write_untraced(json, profile, hosts);
    }
    json.list("wait_kinds", mpi::kWaitKindNames, [&](const char* name) { json.value(name); });
    if (pyramid != nullptr) {
      write_timeline(json, *pyramid, held);
    } else {
      json.key("timeline");
      json.null();
    }
  });
  reply.lasts = false;
  return reply;
}

Reply answer_report(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto report = session.tools.report((*run)->path());
  if (!report) return refuse(422, report.error().message);
  return json_reply([&](base::JsonWriter& json) {
    json.key("report");
    json.raw(*report);
  });
}

Reply answer_analysis(Session& session, const Query& query) {
  const std::vector<std::string> names = query.words("only");
  for (const std::string& name : names) {
    if (const auto row = analysis::find_analysis(name); !row)
      return refuse(400, row.error().message);
  }
  return analysed(session, query, names, [](base::JsonWriter& json, const auto& results) {
    json.key("analysis");
    json.raw(analysis::results_text(results));
  });
}

Reply answer_findings(Session& session, const Query& query) {
  return analysed(session, query, {}, [](base::JsonWriter& json, const auto& results) {
    json.key("findings");
    json.raw(analysis::findings_text(results));
    json.field("limits", results.limits);
    json.field("warnings", results.warnings);
    json.field("seconds", results.seconds);
    json.field("all_ranks_seconds", results.all_ranks_seconds);
  });
}

Reply answer_breakdown(Session& session, const Query& query) {
  return analysed(session, query, {"time-breakdown"},
                  [](base::JsonWriter& json, const auto& results) {
                    json.object("breakdown", [&] {
                      if (!results.sections.empty())
                        analysis::write_section(json, results.sections.front().section);
                    });
                  });
}

Reply answer_functions(Session& session, const Query& query) {
  return analysed(session, query, {"flat-profile", "idle-time"},
                  [](base::JsonWriter& json, const auto& results) {
                    for (const analysis::NamedSection& named : results.sections)
                      json.object(named.name,
                                  [&] { analysis::write_section(json, named.section); });
                  });
}

Reply answer_compare(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto other = query.number("with", session.runs.size() > 1 ? 1 : 0, session.runs.size() - 1);
  if (!other) return refuse(404, other.error().message);
  std::vector<ViewedRun*> compared{*run, session.runs[*other].get()};
  std::vector<const profile::Profile*> profiles;
  std::vector<std::string> names;
  std::vector<analysis::Input> inputs;
  for (ViewedRun* each : compared) {
    const auto loaded = each->loaded();
    if (!loaded) return refuse(422, each->name() + ": " + loaded.error().message);
    profiles.push_back(&*(*loaded)->profile);
    names.push_back(each->path());
    inputs.push_back((*loaded)->input({}));
  }
  if (compared[0] == compared[1]) return refuse(400, "these are the same run");
  const auto first = compared[0]->lock_joined();
  if (!first) return busy();
  const auto second = compared[1]->lock_joined();
  if (!second) return busy();
  auto comparison = analysis::compare_profiles(profiles, names, {});
  if (!comparison) return refuse(422, comparison.error().message);
  analysis::compare_calls(profiles, *comparison);
  if (const auto timed = analysis::compare_times(inputs, *comparison); !timed)
    return refuse(422, timed.error().message);
  return json_reply([&](base::JsonWriter& json) {
    json.key("compare");
    json.raw(
        analysis::section_text(analysis::lay_out(*comparison, {}), analysis::kComparisonSchema));
  });
}

}  // namespace fathom::view
