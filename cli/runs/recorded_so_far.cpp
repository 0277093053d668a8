// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/recorded_so_far.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "base/text.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::uint64_t kBlock = 512;  // the unit of st_blocks, POSIX <sys/stat.h>

std::string processes(std::size_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

}  // namespace

RecordedSoFar recorded_so_far(const std::string& run) {
  RecordedSoFar recorded;
  std::error_code failed;
  recorded.profile = std::filesystem::exists(run + "/profile.json", failed);
  for (const auto& entry : std::filesystem::directory_iterator(run + "/partial", failed))
    recorded.partial += entry.path().extension() == ".rows";
  std::set<std::string> traced;  // JOB.RANK
  for (const auto& entry : std::filesystem::directory_iterator(run + "/trace", failed)) {
    traced.insert(entry.path().stem());
    struct stat status;  // a .live file is larger than what it takes
    if (lstat(entry.path().c_str(), &status) == 0)
      recorded.trace_bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlock;
  }
  recorded.traced = traced.size();
  return recorded;
}

std::string described(const RecordedSoFar& recorded) {
  std::string text = recorded.profile ? "a profile" : "";
  if (recorded.partial > 0)
    base::add_to_list(text, "the counts of " + processes(recorded.partial) + ", in parts");
  if (recorded.traced > 0)
    base::add_to_list(text, fmt::format("a trace of {}, {}", processes(recorded.traced),
                                        human_bytes(static_cast<double>(recorded.trace_bytes))));
  return text.empty() ? "nothing yet" : text;
}

}  // namespace fathom::cli
