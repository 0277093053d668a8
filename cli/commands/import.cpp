// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/import.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "base/text.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/language/shell_words.h"
#include "cli/runs/run_directory.h"
#include "importers/importer.h"
#include "profile/writer.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

struct ImportOptions {
  std::string input;
  std::string directory;
  std::string format;  // empty: detected from the input
  bool force = false;
  bool json = false;
};

using importers::Importer;

// Schema fathom-import/1. `holds`: "profile" or "trace". `records`: only of a trace.
std::string import_json(const RunDirectory& directory, const Importer& importer, std::int64_t ranks,
                        std::optional<std::uint64_t> records, const importers::Notes& notes) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-import/1");
                           json.field("run", directory.shown());
                           json.field("format", importer.name);
                           json.field("holds", records ? "trace" : "profile");
                           json.field("ranks", ranks);
                           if (records) json.field("records", *records);
                           json.list("notes", notes,
                                     [&](const std::string& note) { json.value(note); });
                         }) +
         "\n";
}

std::string import_format_names() { return base::joined(importers::all()); }

int import_profile(const ImportOptions& options, const Importer& importer) {
  // Read the input first, so that a bad one does not cost the run that --force would replace.
  const auto profile = importer.read_profile(options.input);
  if (!profile) {
    const std::string guessed = "; its format was detected as " + std::string(importer.name) +
                                ": if it is another, name it with --format (" +
                                import_format_names() + ")";
    return fail(kFailed, "import",
                profile.error().message + (options.format.empty() ? guessed : ""));
  }
  const auto directory = RunDirectory::create(options.directory, options.force);
  if (!directory) return fail(kWrongUsage, "import", directory.error().message);
  const auto written = profile::write_profile(*profile, directory->profile_path());
  if (!written) return fail(kFailed, "import", written.error().message);
  if (options.json) {
    return deliver({}, "import",
                   import_json(*directory, importer, profile->world_size, std::nullopt, {}));
  }
  std::fprintf(stderr, "fathom: profile in %s/profile.json; next: fathom report %s\n",
               directory->shown().c_str(), shell_word(directory->shown()).c_str());
  return kFine;
}

int import_trace(const ImportOptions& options, const Importer& importer) {
  const auto directory = RunDirectory::create(options.directory, options.force);
  if (!directory) return fail(kWrongUsage, "import", directory.error().message);
  importers::Notes notes;
  const auto done = importer.read_trace(options.input, directory->path(), notes);
  if (!done) {
    directory->remove_if_unused();
    return fail(kFailed, "import", done.error().message);
  }
  if (options.json) {
    const auto trace = trace::Trace::open(directory->path());
    if (!trace) return fail(kFailed, "import", trace.error().message);
    std::uint64_t records = 0;
    for (const trace::Process& process : trace->definitions().processes) records += process.records;
    return deliver(
        {}, "import",
        import_json(*directory, importer, trace->definitions().world_size, records, notes));
  }
  for (const std::string& note : notes) std::fprintf(stderr, "fathom import: %s\n", note.c_str());
  std::fprintf(stderr, "fathom: trace in %s/trace; next: fathom export %s -o %s\n",
               directory->shown().c_str(), shell_word(directory->shown()).c_str(),
               shell_word(directory->shown() + ".perfetto-trace").c_str());
  return kFine;
}

int run_import(const ImportOptions& options) {
  const Importer* importer = &importers::detect(options.input);
  if (!options.format.empty()) {
    const auto named = importers::find(options.format);
    if (!named) return fail(kWrongUsage, "import", named.error().message);
    importer = *named;
  }
  std::error_code failed;
  if (!std::filesystem::exists(options.input, failed)) {
    return fail(kFailed, "import",
                "there is no '" + options.input + "'; name a file, a folder or an archive");
  }
  return importer->read_profile ? import_profile(options, *importer)
                                : import_trace(options, *importer);
}

}  // namespace

Action declare_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  app.add_option("PATH", options->input, "what the other tool wrote")->required()->type_name("");
  app.add_option("-o,--output", options->directory, "run directory to create")
      ->required()
      ->type_name("RUN");
  app.add_option(
         "--format,--from", options->format,
         "format of the input: " + import_format_names() + " (default: detected from the input)")
      ->type_name("FORMAT");
  app.add_flag("--force", options->force, "replace the run that RUN holds");
  app.add_flag("--json", options->json, "print what was imported, as JSON, for programs");
  return [options] { return run_import(*options); };
}

}  // namespace fathom::cli
