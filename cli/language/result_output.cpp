// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/result_output.h"

#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "cli/language/command_line.h"

namespace fathom::cli {

void add_result_output(CLI::App& app, ResultOutput& output, const std::string& json_help) {
  app.add_option("-o,--output", output.path,
                 "write the result to FILE instead of the screen; as JSON if it ends in .json")
      ->type_name("FILE");
  app.add_flag("--json", output.json, json_help);
  app.add_flag("--force", output.force, "replace FILE if it exists");
}

base::Status check(const ResultOutput& output) {
  std::error_code ignored;
  if (output.path.empty() || output.force || !std::filesystem::exists(output.path, ignored))
    return base::Done{};
  return base::Error{"'" + output.path +
                     "' already exists; choose another file with -o, or replace it with --force"};
}

int deliver(const ResultOutput& output, const std::string& subcommand, const std::string& text) {
  if (output.path.empty()) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? kFine : fail(kFailed, subcommand, "cannot write to stdout; is the disk full?");
  }
  if (const auto checked = check(output); !checked)
    return fail(kWrongUsage, subcommand, checked.error().message);
  base::AtomicFile file;
  auto written = file.open(output.path, base::AtomicFile::Existing::kReplace);
  if (written) {
    file.append(text);
    written = file.commit();
  }
  return written ? kFine : fail(kFailed, subcommand, written.error().message);
}

}  // namespace fathom::cli
