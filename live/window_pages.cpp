// SPDX-License-Identifier: BSD-3-Clause
#include "live/window_pages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/process/memory_files.h"

namespace fathom::live {
namespace {

constexpr std::uint64_t kLongest_ns = std::uint64_t{86'400} * 1'000'000'000;

// Null if the file holds no page.
trace::WindowPage* map_page(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || facts.st_size != sizeof(trace::WindowPage)) return nullptr;
  void* mapped =
      mmap(nullptr, sizeof(trace::WindowPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* page = static_cast<trace::WindowPage*>(mapped);
  if (std::memcmp(page->magic, trace::kWindowMagic, sizeof page->magic) == 0 &&
      page->version == trace::kWindowVersion && page->bytes == sizeof(trace::WindowPage) &&
      page->run[trace::kWindowRunBytes - 1] == '\0')
    return page;
  munmap(mapped, sizeof(trace::WindowPage));
  return nullptr;
}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr int kLockTries = 20;
constexpr timespec kBetweenLockTries{0, 1'000'000};

// Its holder only writes a few words. If it is stopped just then, this one does without.
class PageLock {
 public:
  explicit PageLock(int descriptor) : descriptor_(descriptor) {
    for (int tries = 0; tries < kLockTries && !is_held_; ++tries) {
      if (tries > 0) nanosleep(&kBetweenLockTries, nullptr);
      is_held_ = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    }
  }
  ~PageLock() {
    if (is_held_) flock(descriptor_, LOCK_UN);
  }
  PageLock(const PageLock&) = delete;

 private:
  int descriptor_;
  bool is_held_ = false;
};

// By a reader that was interrupted. A file system shared by hosts may have a clock of its own.
constexpr std::int64_t kClocksDiffer_s = 60;
bool was_left_behind(const std::string& run, const WindowRequest& request) {
  struct stat link {};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return lstat((run + "/" + trace::kWindowRequest).c_str(), &link) == 0 &&
         now.tv_sec - link.st_mtim.tv_sec >
             static_cast<std::int64_t>(request.for_ns / 1'000'000'000) + kClocksDiffer_s;
}

}  // namespace

std::string text_of(const WindowRequest& request) {
  return std::to_string(request.number) + " " + std::to_string(request.for_ns);
}

std::optional<WindowRequest> window_request_in(const std::string& run) {
  char target[NAME_MAX + 1] = {};
  const ssize_t length =
      readlink((run + "/" + trace::kWindowRequest).c_str(), target, sizeof target - 1);
  unsigned number = 0;
  unsigned long long for_ns = 0;
  if (length <= 0 || std::sscanf(target, "%u %llu", &number, &for_ns) != 2) return std::nullopt;
  if (number == 0 || number > trace::kMostWindows || for_ns > kLongest_ns) return std::nullopt;
  return WindowRequest{number, for_ns};
}

WindowPages::~WindowPages() {
  for (const Page& page : pages_) {
    munmap(page.shared, sizeof *page.shared);
    close(page.descriptor);
  }
}

bool WindowPages::is_this_run(const char* directory) const {
  std::error_code error;
  return *directory != '\0' &&
         (run_ == directory || std::filesystem::equivalent(directory, run_, error));
}

void WindowPages::look_at(const std::string& process) {
  const auto pid = static_cast<std::uint32_t>(std::strtoul(process.c_str(), nullptr, 10));
  struct stat owner {};
  if (stat(("/proc/" + process).c_str(), &owner) != 0 || owner.st_uid != geteuid()) return;
  if (std::any_of(pages_.begin(), pages_.end(),
                  [pid](const Page& page) { return page.pid == pid; }))
    return;
  base::find_memory_file(process, trace::kWindowPageName, [&](const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    trace::WindowPage* page = map_page(descriptor);
    // Others have it open too: readers.
    if (page != nullptr && page->pid == pid && is_this_run(page->run)) {
      pages_.push_back({pid, descriptor, page});
      return true;
    }
    if (page != nullptr) munmap(page, sizeof *page);
    close(descriptor);
    return false;
  });
}

std::size_t WindowPages::find() {
  for (const std::string& process : base::numbers_in("/proc")) look_at(process);
  return pages_.size();
}

void WindowPages::ask(const WindowRequest& request) {
  for (const Page& page : pages_) {
    const PageLock lock(page.descriptor);
    if (page.shared->wished.load() == request.number) continue;
    page.shared->for_ns.store(request.for_ns);
    page.shared->wished.store(request.number);
    page.shared->control.fetch_or(trace::kWindowAsked, std::memory_order_release);
  }
}

void WindowPages::withdraw(std::uint32_t number) {
  for (const Page& page : pages_) {
    const PageLock lock(page.descriptor);
    if (page.shared->wished.load() != number) continue;
    page.shared->for_ns.store(0);
    page.shared->control.fetch_and(~trace::kWindowAsked);
  }
}

std::vector<WindowPages::Process> WindowPages::answers(std::uint32_t number) const {
  std::vector<Process> all;
  for (const Page& page : pages_) {
    const trace::WindowPage& shared = *page.shared;
    Process process{page.pid, shared.job, shared.rank, shared.world_size, Answer::kNone, 0};
    if (shared.ended.load(std::memory_order_acquire) == number) {
      process.error = static_cast<int>(shared.error.load());
      process.answer = process.error == 0 ? Answer::kEnded : Answer::kFailed;
    } else if (shared.begun.load() == number) {
      process.answer = Answer::kRecords;
    }
    all.push_back(process);
  }
  return all;
}

void WindowForwarder::look() {
  if (until_ns_ != 0 && monotonic_ns() >= until_ns_) {
    pages_.withdraw(last_);
    until_ns_ = 0;
  }
  const auto request = window_request_in(run_);
  if (!request || request->number == last_) return;
  if (was_left_behind(run_, *request)) {
    last_ = request->number;
    return;
  }
  last_ = request->number;
  pages_.find();
  pages_.ask(*request);
  until_ns_ = monotonic_ns() + request->for_ns;
}

}  // namespace fathom::live
