// SPDX-License-Identifier: BSD-3-Clause
#include "base/scratch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace fathom::base::scratch {
namespace {

constexpr std::size_t kLookEvery = std::size_t{4} << 20;    // bytes accessed
constexpr std::size_t kLeastMapped = std::size_t{1} << 20;  // smaller arrays are in plain memory

std::string folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

// The resident bytes of all files that this process has mapped; 0 if the kernel does not say.
std::size_t resident_file_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  unsigned long size = 0, resident = 0, shared = 0;
  if (length <= 0 || std::sscanf(text, "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A file without a name, even if the file system lacks O_TMPFILE.
int open_nameless() {
  const int file = ::open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string path = folder() + "/fathom-scratch-XXXXXX";
  const int made = mkostemp(path.data(), O_CLOEXEC);
  if (made >= 0) unlink(path.c_str());
  return made;
}

class Mappings {
 public:
  void add(char* begin, std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    all_.push_back({begin, bytes});
  }
  // False if there is no such mapping.
  bool remove(char* begin) {
    const std::lock_guard guard(mutex_);
    return std::erase_if(all_, [&](const Mapping& one) { return one.begin == begin; }) > 0;
  }
  void touched(std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    touched_bytes_ += bytes;
    if (touched_bytes_ < kLookEvery) return;
    passed_bytes_ += touched_bytes_;
    touched_bytes_ = 0;
    if (passed_bytes_ < kMostResident && resident_file_bytes() < resident_before_ + kMostResident)
      return;
    passed_bytes_ = 0;
    for (const Mapping& one : all_) madvise(one.begin, one.bytes, MADV_DONTNEED);
    resident_before_ = resident_file_bytes();
  }

 private:
  struct Mapping {
    char* begin;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Mapping> all_;
  std::size_t touched_bytes_ = 0;    // since the last look
  std::size_t passed_bytes_ = 0;     // since memory was given back
  std::size_t resident_before_ = 0;  // of mapped files, after memory was given back
};

Mappings& mappings() {
  static Mappings* const all = new Mappings;  // never destroyed: arrays may outlive it otherwise
  return *all;
}

std::size_t in_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<char*> map(std::size_t bytes, int* kept) {
  const int file = open_nameless();
  int error = file < 0 ? errno : posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* mapped = MAP_FAILED;
  if (error == 0) {
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) error = errno;
  }
  if (file >= 0 && (kept == nullptr || error != 0)) ::close(file);
  if (error != 0) {
    return Error{"cannot keep the steps of the analysis in " + folder() + ": " +
                 std::strerror(error) + "; set TMPDIR to a folder with more room"};
  }
  auto* const begin = static_cast<char*>(mapped);
  mappings().add(begin, bytes);
  if (kept != nullptr) *kept = file;
  return begin;
}

void unmap(char* begin, std::size_t bytes) {
  mappings().remove(begin);
  munmap(begin, bytes);
}

void touched(std::size_t bytes) { mappings().touched(bytes); }

void* take(std::size_t bytes) {
  if (bytes >= kLeastMapped) {
    if (const auto mapped = map(in_pages(bytes))) return *mapped;
  }
  return ::operator new(bytes);
}

void give(void* begin, std::size_t bytes) {
  if (bytes >= kLeastMapped && mappings().remove(static_cast<char*>(begin))) {
    munmap(begin, in_pages(bytes));
  } else {
    ::operator delete(begin);
  }
}

}  // namespace fathom::base::scratch
