// SPDX-License-Identifier: BSD-3-Clause
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/trace.h"
#include "cli/language/command_line.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "profile/reader.h"
#include "trace/compare_profile.h"

namespace fathom::cli {
namespace {

std::string count_text(const trace::MessageCount& count) {
  return fmt::format("{} messages, {} bytes", grouped(count.messages), grouped(count.bytes));
}

void print_difference(const trace::CountDifference& difference,
                      const trace::ProfileComparison& comparison) {
  std::string line =
      fmt::format("{}{}, communicator {}, {} -> {}: profile {}", printable(difference.class_name),
                  difference.hidden ? " (hidden)" : "", difference.communicator, difference.source,
                  difference.destination, count_text(difference.profile));
  if (comparison.sends_recorded) line += "; sent in the trace " + count_text(difference.sent);
  if (comparison.receives_recorded)
    line += "; received in the trace " + count_text(difference.received);
  if (!difference.reason.empty()) line += " (" + difference.reason + ")";
  std::printf("%s\n", line.c_str());
}

// "lost      1,204 records: rank 0 1,200, rank 3 4"
void print_loss(const trace::Definitions& definitions) {
  constexpr std::size_t kMostNamed = 8;
  std::uint64_t lost = 0;
  std::size_t ranks = 0;
  std::string named;
  for (const trace::Process& process : definitions.processes) {
    if (process.lost_records == 0) continue;
    lost += process.lost_records;
    if (ranks++ == kMostNamed) named += ", …";
    if (ranks > kMostNamed) continue;
    named += fmt::format("{} rank {} {}", ranks > 1 ? "," : "", process.rank,
                         grouped(process.lost_records));
  }
  if (lost > 0) std::printf("lost      %s records:%s\n", grouped(lost).c_str(), named.c_str());
}

struct CheckOptions {
  std::string run;
  std::size_t most = 20;
};

// A profile made from the trace cannot verify the trace.
int refuse_own_profile(const std::string& run) {
  return fail(kFailed, "trace check",
              "'" + run +
                  "' has no profile of its own to hold its trace against: an imported "
                  "trace is alone, fathom run --trace records both");
}

int check(const CheckOptions& options) {
  const auto path = recorded_profile_of(options.run);
  std::error_code ignored;
  if (!path && std::filesystem::is_directory(options.run + "/trace", ignored))
    return refuse_own_profile(options.run);
  if (!path) return fail(kFailed, "trace check", path.error().message);
  const auto profile = profile::load_profile(*path);
  if (!profile) return fail(kFailed, "trace check", profile.error().message);
  const std::vector<std::string>& notes = profile->coverage.notes;
  if (std::count(notes.begin(), notes.end(), kMadeFromTrace) > 0)
    return refuse_own_profile(options.run);
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, "trace check", trace.error().message);
  if (trace->definitions().world_size != profile->world_size) {
    return fail(
        kFailed, "trace check",
        fmt::format("the trace is of {} ranks and the profile of {}: they are of different runs",
                    trace->definitions().world_size, profile->world_size));
  }
  const trace::ProfileComparison comparison = trace::compare_with_profile(*trace, *profile);
  std::printf("profile   %s\n", count_text(comparison.profile).c_str());
  std::printf("sent      %s\n", count_text(comparison.sent).c_str());
  std::printf("received  %s\n", count_text(comparison.received).c_str());
  print_loss(trace->definitions());
  std::size_t shown = 0, explained = 0;
  for (const trace::CountDifference& difference : comparison.differences) {
    explained += difference.reason.empty() ? 0 : 1;
    if (shown++ < options.most) print_difference(difference, comparison);
  }
  if (shown > options.most) std::printf("… and %zu more\n", shown - options.most);
  for (const std::string& note : comparison.notes)
    std::printf("note: %s\n", printable(note).c_str());
  if (comparison.equal()) {
    std::printf("equal: trace and profile agree on all %s classes, communicators and pairs\n",
                grouped(comparison.cells).c_str());
    return kFine;
  }
  if (comparison.differences.empty()) {
    std::printf("differs: the trace holds no messages\n");
  } else {
    std::printf(
        "differs: %zu of %s classes, communicators and pairs; for %zu of them the trace says why\n",
        comparison.differences.size(), grouped(comparison.cells).c_str(), explained);
  }
  return kFailed;
}

}  // namespace

Action declare_trace_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("RUN", options->run, "run directory with a trace and a profile.json")
      ->required()
      ->type_name("");
  app.add_option("--most", options->most, "differences to print")
      ->type_name("N")
      ->capture_default_str();
  return [options] { return check(*options); };
}

}  // namespace fathom::cli
