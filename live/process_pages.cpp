// SPDX-License-Identifier: BSD-3-Clause
#include "live/process_pages.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "live/process_stat.h"

namespace fathom::live {
namespace {

// f(name) for each entry that is a number.
template <typename F>
void for_each_number_in(const std::string& folder, F&& f) {
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') f(std::string(entry->d_name));
  closedir(directory);
}

bool is_page(const std::string& link) {
  char target[64];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  const std::string wanted = std::string("/memfd:") + kPageName + " (deleted)";
  return length == static_cast<ssize_t>(wanted.size()) &&
         std::memcmp(target, wanted.data(), wanted.size()) == 0;
}

}  // namespace

ProcessPages::~ProcessPages() {
  for (const Process& process : processes_) close(process.descriptor);
}

bool ProcessPages::is_this_run(const std::string& directory) const {
  std::error_code error;
  return !directory.empty() &&
         (directory == run_ || std::filesystem::equivalent(directory, run_, error));
}

void ProcessPages::look_at(const std::string& process) {
  const std::int64_t pid = std::atoll(process.c_str());
  struct stat owner {};
  if (stat(("/proc/" + process).c_str(), &owner) != 0 || owner.st_uid != geteuid()) return;
  const ProcessStat now = stat_of_process(process);
  bool is_known = std::any_of(processes_.begin(), processes_.end(), [&](const Process& known) {
    return known.pid == pid && known.started == now.started;
  });
  if (is_known) return;
  const std::string folder = "/proc/" + process + "/fd";
  for_each_number_in(folder, [&](const std::string& number) {
    const std::string link = folder + "/" + number;
    if (is_known || !is_page(link)) return;
    const int descriptor = open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return;
    const auto header = read_page_header(descriptor);
    // Others have it open too: readers, and children.
    if (header && header->rows.pid == pid && header->process_started == now.started &&
        is_this_run(header->run)) {
      processes_.push_back({pid, now.started, descriptor});
      is_known = true;
    } else {
      close(descriptor);
    }
  });
}

void ProcessPages::find() {
  for_each_number_in("/proc", [this](const std::string& process) { look_at(process); });
}

}  // namespace fathom::live
