#include "cli/import.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command_line.h"
#include "cli/run_directory.h"
#include "profile/import_pfprof.h"
#include "profile/writer.h"

namespace fathom::cli {
namespace {

struct ImportOptions {
  std::string input;
  std::string directory;
  std::string format = "pfprof";
  bool force = false;
};

// Each reads what `path` names.
struct Importer {
  const char* name;
  base::Result<profile::Profile> (*read)(const std::string& path);
};

constexpr Importer kImporters[] = {{"pfprof", profile::import_pfprof}};

const Importer* find_importer(const std::string& name) {
  for (const Importer& row : kImporters) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

int run_import(const ImportOptions& options) {
  const Importer* importer = find_importer(options.format);
  if (!importer) {
    return fail(kWrongUsage, "import", "there is no format '" + options.format + "'; there is pfprof");
  }
  std::error_code failed;
  if (!std::filesystem::exists(options.input, failed)) {
    return fail(kFailed, "import", "there is no '" + options.input + "'; name a folder or an archive");
  }
  // Read first: a bad input must not cost the run that --force would replace.
  const auto profile = importer->read(options.input);
  if (!profile) return fail(kFailed, "import", profile.error().message);
  const auto directory = RunDirectory::create(options.directory, options.force);
  if (!directory) return fail(kWrongUsage, "import", directory.error().message);
  const auto written = profile::write_profile(*profile, directory->profile_path());
  if (!written) return fail(kFailed, "import", written.error().message);
  std::fprintf(stderr, "fathom: profile in %s/profile.json; next: fathom report %s\n",
               directory->shown().c_str(), directory->shown().c_str());
  return kFine;
}

}  // namespace

Action declare_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  app.add_option("PATH", options->input, "what the other profiler wrote")->required()->type_name("");
  app.add_option("-o,--output", options->directory, "run directory to make")->required()->type_name("RUN");
  app.add_option("--from", options->format, "format: pfprof")->type_name("FORMAT")->capture_default_str();
  app.add_flag("--force", options->force, "replace the run that RUN holds");
  return [options] { return run_import(*options); };
}

}  // namespace fathom::cli
