// SPDX-License-Identifier: BSD-3-Clause
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "cli/commands/trace/trace.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "profile/reader.h"
#include "trace/compare_profile.h"
#include "trace/join/window_check.h"

namespace fathom::cli {
namespace {

std::string count_text(const trace::MessageCount& count) {
  return fmt::format("{} messages, {} bytes", grouped(count.messages), grouped(count.bytes));
}

std::string difference_text(const trace::CountDifference& difference,
                            const trace::ProfileComparison& comparison) {
  std::string line =
      fmt::format("{}{}, communicator {}, {} -> {}: profile {}", printable(difference.class_name),
                  difference.hidden ? " (hidden)" : "", difference.communicator, difference.source,
                  difference.destination, count_text(difference.profile));
  if (comparison.sends_recorded) line += "; sent in the trace " + count_text(difference.sent);
  if (comparison.receives_recorded)
    line += "; received in the trace " + count_text(difference.received);
  if (!difference.reason.empty()) line += " (" + difference.reason + ")";
  return line + "\n";
}

// "lost      1,204 records: rank 0 1,200, rank 3 4"
std::string loss_text(const trace::Definitions& definitions) {
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
  return lost > 0 ? fmt::format("lost      {} records:{}\n", grouped(lost), named) : "";
}

struct CheckOptions {
  std::string run;
  std::size_t most = 20;
  ResultOutput output;
};

std::size_t explained(const trace::ProfileComparison& comparison) {
  return static_cast<std::size_t>(
      std::count_if(comparison.differences.begin(), comparison.differences.end(),
                    [](const auto& difference) { return !difference.reason.empty(); }));
}

std::string check_text(const trace::ProfileComparison& comparison,
                       const trace::Definitions& definitions, std::size_t most) {
  std::string text = "profile   " + count_text(comparison.profile) + "\nsent      " +
                     count_text(comparison.sent) + "\nreceived  " +
                     count_text(comparison.received) + "\n" + loss_text(definitions);
  const std::size_t count = comparison.differences.size();
  for (std::size_t i = 0; i < std::min(most, count); ++i)
    text += difference_text(comparison.differences[i], comparison);
  if (count > most) text += fmt::format("… and {} more\n", count - most);
  for (const std::string& note : comparison.notes) text += "note: " + printable(note) + "\n";
  if (comparison.equal()) {
    return text + fmt::format(
                      "equal: trace and profile agree on all {} classes, communicators and pairs\n",
                      grouped(comparison.cells));
  }
  if (count == 0) return text + "differs: the trace holds no messages\n";
  return text + fmt::format(
                    "differs: {} of {} classes, communicators and pairs; for {} of them the trace "
                    "says why\n",
                    count, grouped(comparison.cells), explained(comparison));
}

void write_count(base::JsonWriter& json, const char* name, const trace::MessageCount& count) {
  json.object(name, [&] {
    json.field("messages", count.messages);
    json.field("bytes", count.bytes);
  });
}

// Schema fathom-trace-check/1; all differences, whatever --most says.
std::string check_json(const trace::ProfileComparison& comparison,
                       const trace::Definitions& definitions) {
  const auto counts = [](base::JsonWriter& json, const auto& held) {
    write_count(json, "profile", held.profile);
    write_count(json, "sent", held.sent);
    write_count(json, "received", held.received);
  };
  std::uint64_t lost = 0;
  for (const trace::Process& process : definitions.processes) lost += process.lost_records;
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-trace-check/1");
                           json.field("equal", comparison.equal());
                           json.field("cells", comparison.cells);
                           json.field("sends_recorded", comparison.sends_recorded);
                           json.field("receives_recorded", comparison.receives_recorded);
                           counts(json, comparison);
                           json.field("lost_records", lost);
                           json.objects("differences", comparison.differences,
                                        [&](const trace::CountDifference& difference) {
                                          json.field("class", difference.class_name);
                                          json.field("hidden", difference.hidden);
                                          json.field("communicator", difference.communicator);
                                          json.field("source", difference.source);
                                          json.field("destination", difference.destination);
                                          counts(json, difference);
                                          json.field("reason", difference.reason);
                                        });
                           json.field("notes", comparison.notes);
                         }) +
         "\n";
}

// A profile made from the trace cannot verify the trace.
int refuse_own_profile(const std::string& run) {
  return fail(kFailed, "trace check",
              "'" + run +
                  "' has no profile of its own to compare its trace with; fathom run --trace "
                  "records both, imported traces come without one");
}

std::string window_text(const trace::WindowCheck& check) {
  std::string text = fmt::format(
      "window    {} records; {} before them were dropped\n"
      "messages  {} with both ends; {} sent and {} received whose other end is outside\n",
      grouped(check.records), grouped(check.dropped), grouped(check.joined),
      grouped(check.only_sent), grouped(check.only_received));
  if (check.lost > 0) {
    text += fmt::format(
        "note: {} records were lost because memory was full, so messages may be joined wrongly; "
        "give --flight more memory\n",
        grouped(check.lost));
  }
  for (const std::string& problem : check.problems) text += "note: " + printable(problem) + "\n";
  if (check.different > 0) {
    return text + fmt::format("differs: {} messages have different lengths at their two ends\n",
                              grouped(check.different));
  }
  return text + (check.good() ? "equal: both ends of every message agree\n"
                              : "differs: parts of the trace cannot be read\n");
}

std::string window_json(const trace::WindowCheck& check) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-window-check/1");
                           json.field("equal", check.good());
                           json.field("records", check.records);
                           json.field("dropped_records", check.dropped);
                           json.field("joined_messages", check.joined);
                           json.field("different_messages", check.different);
                           json.field("only_sent", check.only_sent);
                           json.field("only_received", check.only_received);
                           json.field("lost_records", check.lost);
                           json.field("inexact_processes", check.inexact);
                           json.field("notes", check.problems);
                         }) +
         "\n";
}

// The trace of a flight recorder lacks most of what the profile counted.
int run_window_check(const CheckOptions& options, const trace::Trace& trace) {
  const trace::WindowCheck check = trace::check_window(trace);
  const int delivered =
      deliver(options.output, "trace check",
              options.output.wants_json() ? window_json(check) : window_text(check));
  return check.good() ? delivered : kFailed;
}

int run_check(const CheckOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "trace check", checked.error().message);
  if (const auto flight = trace::Trace::open(options.run);
      flight && trace::is_window(flight->definitions())) {
    return run_window_check(options, *flight);
  }
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
        fmt::format("the trace has {} ranks and the profile {}: they belong to different runs",
                    trace->definitions().world_size, profile->world_size));
  }
  const trace::ProfileComparison comparison = trace::compare_with_profile(*trace, *profile);
  const int delivered = deliver(options.output, "trace check",
                                options.output.wants_json()
                                    ? check_json(comparison, trace->definitions())
                                    : check_text(comparison, trace->definitions(), options.most));
  return comparison.equal() ? delivered : kFailed;
}

}  // namespace

Action declare_trace_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("RUN", options->run, "run directory with a trace and a profile.json")
      ->required()
      ->type_name("");
  app.add_option("--most", options->most, "maximum number of differences to print")
      ->type_name("N")
      ->capture_default_str();
  add_result_output(app, options->output);
  return [options] { return run_check(*options); };
}

}  // namespace fathom::cli
