// SPDX-License-Identifier: BSD-3-Clause
#include <spdlog/fmt/fmt.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/json/writer.h"
#include "base/program_name.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cli/commands/trace/trace.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/runs/run_state.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"
#include "trace/event_filter.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

struct InfoOptions {
  std::string run;
  bool scan = false, processes = false;
  ResultOutput output;
};

struct Sums {
  std::uint64_t records = 0, lost = 0, bytes = 0, last_ns = 0, uncertainty_ns = 0;
  std::size_t incomplete = 0, threads = 0, without_host = 0;
  std::set<std::string> hosts, clocks;
  bool own_clocks = false;
  std::vector<std::string> problems;
};

Sums sums_of(const trace::Definitions& definitions) {
  Sums sums;
  for (const trace::Process& process : definitions.processes) {
    sums.records += process.records;
    sums.lost += process.lost_records;
    sums.bytes += process.file_bytes;
    sums.last_ns = std::max(sums.last_ns, process.last_ns);
    sums.uncertainty_ns = std::max(sums.uncertainty_ns, process.clock.uncertainty_ns);
    sums.incomplete += process.complete ? 0 : 1;
    sums.threads += process.threads.size();
    if (!process.host.empty()) sums.hosts.insert(process.host);
    sums.without_host += process.host.empty() ? 1 : 0;
    sums.clocks.insert(process.clock.kind);
    sums.own_clocks = sums.own_clocks || process.clock.own;
    sums.problems.insert(sums.problems.end(), process.problems.begin(), process.problems.end());
  }
  return sums;
}

std::string joined(const std::set<std::string>& names, std::size_t most) {
  std::string list;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named++ == most) return list + ", …";
    base::add_to_list(list, (name.empty() ? "unknown" : printable(name)));
  }
  return list;
}

std::string line(const char* what, const std::string& text) {
  return fmt::format("{:<13} {}\n", what, text);
}

// "2 (n1, n2), and 1 process on an unknown host"
std::string hosts_text(const Sums& sums) {
  const std::string known = fmt::format("{} ({})", sums.hosts.size(), joined(sums.hosts, 8));
  if (sums.without_host == 0) return known;
  const std::string others =
      fmt::format("{} process{} on {}", sums.without_host, sums.without_host == 1 ? "" : "es",
                  sums.without_host == 1 ? "an unknown host" : "unknown hosts");
  return sums.hosts.empty() ? others : known + ", and " + others;
}

std::string summary_text(const trace::Definitions& definitions, const Sums& sums,
                         const RunState& state) {
  const bool running = state.progress == Progress::kRunning;
  std::string command = definitions.application.executable;
  for (const std::string& argument : definitions.application.arguments) command += " " + argument;
  std::string text = line("program", printable(command));
  std::string processes =
      fmt::format("{} of {} ranks", definitions.processes.size(), definitions.world_size);
  if (sums.incomplete > 0 && !running)
    processes += fmt::format(", {} of them cut short before MPI_Finalize", sums.incomplete);
  if (state.progress != Progress::kEnded) text += line("state", sentence_of(state));
  text += line("processes", processes);
  text += line("hosts", hosts_text(sums));
  text += line("level", fmt::format("{}, source {}", definitions.level, definitions.source));
  for (const std::string& what : definitions.selection) text += line("chosen", printable(what));
  text += line("duration", human_seconds(base::seconds(sums.last_ns)));
  text += line("records", grouped(sums.records));
  const double each =
      sums.records == 0 ? 0 : static_cast<double>(sums.bytes) / static_cast<double>(sums.records);
  text += line("size", fmt::format("{}, {:.2f} bytes a record",
                                   human_bytes(static_cast<double>(sums.bytes)), each));
  text += line("lost", sums.lost == 0 ? "none known" : grouped(sums.lost) + " records");
  text += line("clock", fmt::format("{}, {} aligned to ±{} ns", joined(sums.clocks, 4),
                                    sums.own_clocks ? "processes" : "hosts", sums.uncertainty_ns));
  text += line("defined",
               fmt::format("{} functions, {} communicators, {} classes of messages, {} phases",
                           definitions.functions.size(), definitions.communicators.size(),
                           definitions.classes.size(), definitions.phases.size()));
  return text;
}

std::string processes_text(const trace::Definitions& definitions) {
  std::string text = fmt::format("\n{:>6}  {:<16} {:>14} {:>12} {:>12} {:>12}\n", "rank", "host",
                                 "records", "bytes", "lost", "seconds");
  for (const trace::Process& process : definitions.processes) {
    text += fmt::format(
        "{:>6}  {} {:>14} {:>12} {:>12} {:>12.6f}{}\n", process.rank,
        left(printable(profile::shown_host(process.host)), 16), grouped(process.records),
        grouped(process.file_bytes), grouped(process.lost_records),
        base::seconds(process.last_ns - process.first_ns), process.complete ? "" : "  cut short");
  }
  return text;
}

// Number of events of each kind, and of calls of each function.
struct Counts {
  std::array<std::uint64_t, 256> by_kind{};
  std::vector<std::uint64_t> calls;
};

// Reads the whole trace; lists damaged frames.
Counts scan(const trace::Trace& trace, std::vector<std::string>& problems) {
  const trace::Definitions& definitions = trace.definitions();
  Counts counts{{}, std::vector<std::uint64_t>(definitions.functions.size())};
  for (std::size_t process = 0; process < definitions.processes.size(); ++process) {
    trace::EventCursor cursor = trace.events(process);
    for (trace::Event event; cursor.next(event);) {
      ++counts.by_kind[static_cast<std::uint8_t>(event.kind)];
      if (event.kind == trace::EventKind::kEnter) ++counts.calls[event.function];
    }
    problems.insert(problems.end(), cursor.problems().begin(), cursor.problems().end());
  }
  return counts;
}

// Calls each(name, count) for nonzero counts.
template <typename Each>
void for_each_kind(const Counts& counts, Each each) {
  for (std::size_t kind = 0; kind < counts.by_kind.size(); ++kind) {
    if (counts.by_kind[kind] > 0)
      each(trace::name_of(static_cast<trace::EventKind>(kind)), counts.by_kind[kind]);
  }
}
template <typename Each>
void for_each_call(const trace::Definitions& definitions, const Counts& counts, Each each) {
  for (std::size_t function = 0; function < counts.calls.size(); ++function) {
    if (counts.calls[function] > 0)
      each(definitions.functions[function].name, counts.calls[function]);
  }
}

std::string counts_text(const trace::Definitions& definitions, const Counts& counts) {
  std::string text;
  const auto row = [&text](const std::string& name, std::uint64_t count) {
    text += fmt::format("  {} {:>16}\n", left(printable(name), 24), grouped(count));
  };
  text += "\nevents\n";
  for_each_kind(counts, row);
  text += "\ncalls\n";
  for_each_call(definitions, counts, row);
  return text;
}

void write_processes(base::JsonWriter& json, const trace::Definitions& definitions) {
  json.objects("processes", definitions.processes, [&](const trace::Process& process) {
    json.field("rank", process.rank);
    json.field("host", profile::shown_host(process.host));
    json.field("pid", process.pid);
    json.field("affinity", process.affinity);
    json.field("socket", process.socket);
    json.field("numa_node", process.numa_node);
    json.field("complete", process.complete);
    json.field("records", process.records);
    json.field("lost_records", process.lost_records);
    json.field("file_bytes", process.file_bytes);
    json.field("first_ns", process.first_ns);
    json.field("last_ns", process.last_ns);
    json.field("clock", process.clock.kind);
    json.field("clock_uncertainty_ns", process.clock.uncertainty_ns);
  });
}

std::string info_json(const trace::Definitions& definitions, const Sums& sums,
                      const RunState& state, const Counts* counts) {
  return base::json_text(
             base::kReadableIndent,
             [&](base::JsonWriter& json) {
               json.field("application", base::program_path(definitions.application.executable,
                                                            definitions.application.arguments));
               json.field("arguments", definitions.application.arguments);
               json.field("state", name_of(state.progress));
               json.field("world_size", definitions.world_size);
               json.field("level", definitions.level);
               json.field("source", definitions.source);
               json.field("chosen_communicators", definitions.chosen_communicators);
               json.field("selection", definitions.selection);
               json.field("seconds", base::seconds(sums.last_ns));
               json.field("records", sums.records);
               json.field("lost_records", sums.lost);
               json.field("file_bytes", sums.bytes);
               write_processes(json, definitions);
               json.objects("communicators", definitions.communicators,
                            [&](const profile::Communicator& communicator) {
                              json.field("id", communicator.id);
                              json.field("name", communicator.name);
                              json.field("made_by", communicator.made_by);
                            });
               json.field("classes", definitions.classes);
               json.field("phases", definitions.phases);
               json.field("problems", sums.problems);
               if (counts == nullptr) return;
               const auto field = [&json](const std::string& name, std::uint64_t count) {
                 json.field(name, count);
               };
               json.object("events", [&] { for_each_kind(*counts, field); });
               json.object("calls", [&] { for_each_call(definitions, *counts, field); });
             }) +
         "\n";
}

std::string info_text(const InfoOptions& options, const trace::Definitions& definitions,
                      const Sums& sums, const RunState& state, const Counts* counts) {
  const std::size_t width = Terminal::of(options.output.path).width();
  std::string text = folded(summary_text(definitions, sums, state), width, 14);
  if (options.processes) text += processes_text(definitions);
  if (counts != nullptr) text += counts_text(definitions, *counts);
  if (!sums.problems.empty()) text += "\nproblems\n";
  for (const std::string& problem : sums.problems)
    text += folded("  " + printable(problem) + "\n", width, 4);
  return text;
}

int info(const InfoOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "trace info", checked.error().message);
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, "trace info", trace.error().message);
  const RunState state = state_of(options.run);
  Sums sums = sums_of(trace->definitions());
  std::optional<Counts> counts;
  if (options.scan) counts = scan(*trace, sums.problems);
  const Counts* counted = counts ? &*counts : nullptr;
  return deliver(options.output, "trace info",
                 options.output.wants_json()
                     ? info_json(trace->definitions(), sums, state, counted)
                     : info_text(options, trace->definitions(), sums, state, counted));
}

}  // namespace

Action declare_trace_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  app.add_option("RUN", options->run, "run directory with a trace")->required()->type_name("");
  app.add_flag("--scan", options->scan,
               "read the whole trace: count events and calls, find damaged frames");
  app.add_flag("--processes,--ranks", options->processes, "also print a line for each process");
  add_result_output(app, options->output,
                    "print JSON, for programs, with all processes and communicators");
  return [options] { return info(*options); };
}

}  // namespace fathom::cli
