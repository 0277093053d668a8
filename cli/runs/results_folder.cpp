// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/results_folder.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// PREFIXnumber… .EXTENSION
struct NumberedFiles {
  std::string_view prefix, extension;
};

constexpr NumberedFiles kNumbered[] = {
    {"run-", ""},         {"links-", ".graphml"},  {"utilisation-", ".csv"},
    {"waiting-", ".csv"}, {"forwarding-", ".csv"}, {"forwarding-", ".yml"}};

// The number after the prefix; 0 if there is none.
std::size_t number_after(std::string_view name, std::string_view prefix) {
  std::size_t number = 0;
  if (name.starts_with(prefix))
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return number;
}

bool is_of_results(const fs::path& file, std::size_t shared_runs) {
  const std::string name = file.filename();
  if (name == "results.json" || name == "runs.csv") return true;
  for (const auto& [prefix, extension] : kNumbered) {
    const std::size_t number = number_after(name, prefix);
    if (number == 0 || file.extension() != extension) continue;
    return prefix != "run-" || (number > shared_runs && name == "run-" + std::to_string(number));
  }
  return false;
}

}  // namespace

base::Status take_results_folder(const std::string& folder, bool replace, std::size_t shared_runs) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return base::Error{folder + ": cannot be created: " + failed.message()};
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (is_of_results(entry.path(), shared_runs)) old.push_back(entry.path());
  }
  if (!old.empty() && !replace) {
    return base::Error{"'" + folder + "' already holds results of a simulation (" +
                       old.front().filename().string() +
                       "); choose another folder with -o, or replace them with --force"};
  }
  for (const fs::path& file : old) {
    fs::remove_all(file, failed);
    if (failed)
      return base::Error{"cannot remove the old '" + file.string() + "': " + failed.message()};
  }
  return base::Done{};
}

base::Status print_results(const std::string& folder) {
  const std::string path = folder + "/results.json";
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return base::Error{path + ": cannot be read: " + std::strerror(errno)};
  char piece[1 << 16];
  bool whole = true;
  for (std::size_t size; whole && (size = std::fread(piece, 1, sizeof piece, file)) > 0;)
    whole = std::fwrite(piece, 1, size, stdout) == size;
  const bool read = std::ferror(file) == 0;
  std::fclose(file);
  if (!read) return base::Error{path + ": cannot be read to its end"};
  if (whole && std::fflush(stdout) == 0) return base::Done{};
  return base::Error{"cannot write to stdout; is the disk full?"};
}

}  // namespace fathom::cli
