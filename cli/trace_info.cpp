#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cli/command_line.h"
#include "cli/trace.h"
#include "cli/units.h"
#include "trace/event_filter.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

struct InfoOptions {
  std::string run;
  bool scan = false, ranks = false;
};

struct Sums {
  std::uint64_t records = 0, lost = 0, bytes = 0, last_ns = 0, uncertainty_ns = 0;
  std::size_t incomplete = 0, threads = 0;
  std::set<std::string> hosts, clocks;
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
    sums.hosts.insert(process.host);
    sums.clocks.insert(process.clock.kind);
    sums.problems.insert(sums.problems.end(), process.problems.begin(), process.problems.end());
  }
  return sums;
}

std::string joined(const std::set<std::string>& names, std::size_t most) {
  std::string list;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named++ == most) return list + ", …";
    list += (list.empty() ? "" : ", ") + (name.empty() ? "unknown" : printable(name));
  }
  return list;
}

void line(const char* what, const std::string& text) { std::printf("%-13s %s\n", what, text.c_str()); }

void print_summary(const trace::Definitions& definitions, const Sums& sums) {
  std::string command = definitions.application.executable;
  for (const std::string& argument : definitions.application.arguments) command += " " + argument;
  line("program", printable(command));
  std::string processes = fmt::format("{} of {} ranks", definitions.processes.size(), definitions.world_size);
  if (sums.incomplete > 0) processes += fmt::format(", {} of them cut short before MPI_Finalize", sums.incomplete);
  line("processes", processes);
  line("hosts", fmt::format("{} ({})", sums.hosts.size(), joined(sums.hosts, 8)));
  line("level", fmt::format("{}, source {}", definitions.level, definitions.source));
  line("duration", human_seconds(static_cast<double>(sums.last_ns) * 1e-9));
  line("records", grouped(sums.records));
  const double each = sums.records == 0 ? 0 : static_cast<double>(sums.bytes) / static_cast<double>(sums.records);
  line("size", fmt::format("{}, {:.2f} bytes a record", human_bytes(static_cast<double>(sums.bytes)), each));
  line("lost", sums.lost == 0 ? "nothing known" : grouped(sums.lost) + " records");
  line("clock", fmt::format("{}, hosts brought together to ±{} ns", joined(sums.clocks, 4), sums.uncertainty_ns));
  line("defined", fmt::format("{} functions, {} communicators, {} classes of messages, {} phases",
                              definitions.functions.size(), definitions.communicators.size(),
                              definitions.classes.size(), definitions.phases.size()));
}

void print_ranks(const trace::Definitions& definitions) {
  std::printf("\n%6s  %-16s %14s %12s %12s %12s\n", "rank", "host", "records", "bytes", "lost", "seconds");
  for (const trace::Process& process : definitions.processes) {
    std::printf("%6lld  %s %14s %12s %12s %12.6f%s\n", static_cast<long long>(process.rank),
                left(printable(process.host), 16).c_str(), grouped(process.records).c_str(),
                grouped(process.file_bytes).c_str(), grouped(process.lost_records).c_str(),
                static_cast<double>(process.last_ns - process.first_ns) * 1e-9,
                process.complete ? "" : "  cut short");
  }
}

// Reads everything: how many events of each kind and function there are, and which frames are damaged.
void scan(const trace::Trace& trace, std::vector<std::string>& problems) {
  const trace::Definitions& definitions = trace.definitions();
  std::map<std::string, std::uint64_t> kinds;
  std::vector<std::uint64_t> calls(definitions.functions.size());
  std::array<std::uint64_t, 256> by_kind{};
  for (std::size_t process = 0; process < definitions.processes.size(); ++process) {
    trace::EventCursor cursor = trace.events(process);
    for (trace::Event event; cursor.next(event);) {
      ++by_kind[static_cast<std::uint8_t>(event.kind)];
      if (event.kind == trace::EventKind::kEnter) ++calls[event.function];
    }
    problems.insert(problems.end(), cursor.problems().begin(), cursor.problems().end());
  }
  std::printf("\nevents\n");
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    if (by_kind[kind] == 0) continue;
    std::printf("  %-24s %16s\n", trace::name_of(static_cast<trace::EventKind>(kind)), grouped(by_kind[kind]).c_str());
  }
  std::printf("\ncalls\n");
  for (std::size_t function = 0; function < calls.size(); ++function) {
    if (calls[function] == 0) continue;
    std::printf("  %s %16s\n", left(printable(definitions.functions[function].name), 24).c_str(),
                grouped(calls[function]).c_str());
  }
}

int info(const InfoOptions& options) {
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, "trace info", trace.error().message);
  Sums sums = sums_of(trace->definitions());
  print_summary(trace->definitions(), sums);
  if (options.ranks) print_ranks(trace->definitions());
  if (options.scan) scan(*trace, sums.problems);
  if (!sums.problems.empty()) std::printf("\nproblems\n");
  for (const std::string& problem : sums.problems) std::printf("  %s\n", printable(problem).c_str());
  return kFine;
}

}  // namespace

Action declare_trace_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  app.add_option("RUN", options->run, "run directory")->required()->type_name("");
  app.add_flag("--scan", options->scan, "read all of it: count events and calls, find damaged frames");
  app.add_flag("--ranks", options->ranks, "one line for each process");
  return [options] { return info(*options); };
}

}  // namespace fathom::cli
