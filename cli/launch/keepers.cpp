// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/keepers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::seconds kWriteWithin{30};
constexpr char kKeeper[] = "fathom-keeper";

// From /proc/PID/stat: "PID (NAME) STATE PARENT ...".
bool is_own_keeper(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  if (end == line.npos || line.find(std::string("(") + kKeeper + ")") == line.npos) return false;
  const std::string rest = line.substr(end + 2);  // "STATE PARENT ..."
  return rest.size() > 2 && rest[0] != 'Z' && std::atoi(rest.c_str() + 2) == getpid();
}

bool any_is_left() {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const char first = entry->path().filename().string()[0];
    if (first >= '1' && first <= '9' && is_own_keeper(entry->path())) return true;
  }
  return false;
}

}  // namespace

void wait_for_keepers() {
  const auto until = std::chrono::steady_clock::now() + kWriteWithin;
  while (any_is_left() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kBetweenLooks);
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace fathom::cli
