// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/export.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/commands/export_page.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/traffic_selection.h"
#include "cli/runs/run_directory.h"
#include "exporters/profile/registry.h"
#include "exporters/trace/trace_exporter.h"
#include "profile/reader.h"
#include "trace/code/named_call_sites.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

struct ExportOptions {
  std::string run;
  std::string format;
  std::string path;
  profile::SelectedNames traffic;
  std::string metric = "bytes";
  bool hidden = false;
  bool user = false;
  bool force = false;
  bool list = false;
};

std::string export_format_names() { return base::joined(export_formats()); }

template <typename Rows>
void print_formats(const char* heading, const Rows& rows) {
  std::printf("%s\n", heading);
  for (const auto& row : rows) std::printf("  %-10s %-16s %s\n", row.name, row.extension, row.help);
}

int list_export_formats() {
  print_formats("of the traffic (profile.json):", exporters::all());
  print_formats("of the trace (fathom run --trace):", exporters::all_trace());
  if (can_export_page())
    std::printf("of both:\n  %-10s %-16s %s\n", kPageFormat, ".html",
                "what fathom view shows, in one file that opens from disk");
  return kFine;
}

exporters::Options exporter_options(const ExportOptions& options, profile::Selection selection) {
  exporters::Options chosen;
  chosen.selection = std::move(selection);
  if (options.hidden) chosen.selection.origin = profile::Origin::kHidden;
  if (options.user) chosen.selection.origin = profile::Origin::kUser;
  chosen.metric = options.metric == "bytes" ? profile::Metric::kBytes : profile::Metric::kMessages;
  chosen.force = options.force;
  return chosen;
}

void print(const exporters::Notes& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "fathom export: %s\n", note.c_str());
}

int export_trace(const ExportOptions& options, const exporters::TraceExporter& exporter) {
  if (!options.traffic.whole()) {
    return fail(kWrongUsage, "export",
                "--classes, --communicators and --phases choose traffic of a profile; to export a "
                "part of a trace, make one with fathom trace filter");
  }
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, "export", trace.error().message);
  exporters::TraceOptions chosen;
  chosen.user = !options.hidden;
  chosen.hidden = !options.user;
  chosen.force = options.force;
  exporters::Notes notes;
  const auto written = exporter.write(*trace, chosen, options.path, notes);
  if (!written) return fail(kFailed, "export", written.error().message);
  print(notes);
  return kFine;
}

// The rows whose extension is the longest that fits: r.speedscope.json is not just any .json.
template <typename Rows>
std::vector<std::string> formats_with_ending_of(const std::string& path, const Rows& rows) {
  std::vector<std::string> names;
  std::size_t longest = 1;
  for (const auto& row : rows) {
    const std::string_view extension = row.extension;
    if (extension.size() < longest || !path.ends_with(extension)) continue;
    if (extension.size() > longest) names.clear();
    longest = extension.size();
    names.push_back(row.name);
  }
  return names;
}

// The format that the ending of the output means: of the traffic, or else of the trace.
base::Result<std::string> format_of_ending(const std::string& path) {
  std::vector<std::string> names = formats_with_ending_of(path, exporters::all());
  if (names.empty()) names = formats_with_ending_of(path, exporters::all_trace());
  if (names.empty() && can_export_page() && path.ends_with(".html"))
    return std::string(kPageFormat);
  if (names.size() == 1) return names.front();
  if (names.empty())
    return base::Error{"name the format with --format; there are " + export_format_names()};
  return base::Error{
      fmt::format("'{}' may be {}; say which with --format", path, base::joined(names, " or "))};
}

int run_export(const ExportOptions& given) {
  ExportOptions options = given;
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "export", why); };
  if (options.list) return list_export_formats();
  if (options.run.empty()) return refuse("name the run to export; see fathom export --help");
  if (options.format.empty()) {
    auto format = format_of_ending(options.path);
    if (!format) return refuse(format.error().message);
    options.format = std::move(*format);
  }
  if (options.format == kPageFormat && can_export_page()) {
    if (options.path.empty()) return refuse("name the file to write with -o PATH");
    return export_page(options.run, options.path, options.force);
  }
  const exporters::Exporter* exporter = exporters::find(options.format);
  const exporters::TraceExporter* of_trace = exporters::find_trace(options.format);
  if (!exporter && !of_trace) {
    return refuse(fmt::format("there is no format '{}'{}", options.format,
                              base::suggestion(options.format, export_formats(),
                                               "; there are " + export_format_names())));
  }
  if (options.path.empty()) return refuse("name the file to write with -o PATH");
  if (of_trace) return export_trace(options, *of_trace);

  const auto path = profile_of(options.run);
  if (!path) return fail(kFailed, "export", path.error().message);
  auto profile = profile::load_profile(*path);
  if (!profile) return fail(kFailed, "export", profile.error().message);
  trace::name_call_sites(profile->call_sites);
  auto selection = profile::selection_of(options.traffic, *profile);
  if (!selection) return fail(kFailed, "export", selection.error().message);

  exporters::Notes notes;
  const auto written = exporter->write(*profile, exporter_options(options, std::move(*selection)),
                                       options.path, notes);
  if (!written) return fail(kFailed, "export", written.error().message);
  print(notes);
  return kFine;
}

}  // namespace

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const exporters::Exporter& row : exporters::all()) names.push_back(row.name);
  for (const exporters::TraceExporter& row : exporters::all_trace()) names.push_back(row.name);
  if (can_export_page()) names.emplace_back(kPageFormat);
  return names;
}

Action declare_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->type_name("");
  app.add_option("--format,--to", options->format,
                 "format to write (see --list; default: what the ending of PATH means)")
      ->type_name("FORMAT");
  app.add_option("-o,--output", options->path, "file or folder to write")->type_name("PATH");
  add_traffic_options(app, options->traffic, " (formats of the traffic)");
  auto* hidden =
      app.add_flag("--hidden", options->hidden, "only messages that MPI sent on its own behalf");
  app.add_flag("--user", options->user, "only messages that the program sent itself")
      ->excludes(hidden);
  app.add_option("--metric", options->metric,
                 "bytes or messages, for formats that hold only one number")
      ->type_name("METRIC")
      ->check(one_of({"bytes", "messages"}))
      ->capture_default_str();
  app.add_flag("--force", options->force, "replace PATH if it exists");
  app.add_flag("--list", options->list, "list the formats and their endings, and exit");
  return [options] { return run_export(*options); };
}

}  // namespace fathom::cli
