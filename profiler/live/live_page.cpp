// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/live/live_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "live/process_stat.h"

namespace fathom::profiler {
namespace {

// Address space for all regions; the file has holes there until it is given memory. Lanes and
// communicators take 0.8 GB, each thread that calls MPI 10 MB.
constexpr std::uint64_t kFileBytes = std::uint64_t{4} << 30, kLeastBytes = std::uint64_t{1} << 28;

// Programs that close or expect low descriptors should meet none of ours.
constexpr int kFirstDescriptor = 400;

std::size_t rounded(std::size_t bytes) {
  return (bytes + live::kPageStep - 1) / live::kPageStep * live::kPageStep;
}

std::string reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

// Growing a file beyond `ulimit -f` would raise SIGXFSZ.
std::uint64_t allowed_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kFileBytes;
  return std::min<std::uint64_t>(kFileBytes, limit.rlim_cur / live::kPageStep * live::kPageStep);
}

void* map_private(void* at, std::size_t bytes) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

bool LivePage::is_wanted() {
  const char* value = std::getenv("FATHOM_LIVE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

LivePage* LivePage::open(std::string& why) {
  auto* page = new LivePage;
  if (!page->make(why)) {
    if (page->descriptor_ >= 0) close(page->descriptor_);
    delete page;
    return nullptr;
  }
  own_ = page;
  pthread_atfork(nullptr, nullptr, in_forked_child);
  return page;
}

bool LivePage::make(std::string& why) {
  file_bytes_ = allowed_bytes();
  if (file_bytes_ < kLeastBytes) {
    why = "the limit on the size of files (ulimit -f) is too low for shared memory";
    return false;
  }
  const int made = memfd_create(live::kPageName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) {
    why = reason("memfd_create");
    return false;
  }
  descriptor_ = fcntl(made, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (descriptor_ < 0) {
    descriptor_ = made;
  } else {
    close(made);
  }
  if (fchmod(descriptor_, S_IRUSR | S_IWUSR) != 0 ||
      ftruncate(descriptor_, static_cast<off_t>(file_bytes_)) != 0 ||
      fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    why = reason("a memory file");
    return false;
  }
  if (!give_memory(0, live::kPageStep)) {
    why = reason("memory for a memory file");
    return false;
  }
  void* memory = mmap(nullptr, live::kPageStep, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) {
    why = reason("mapping a memory file");
    return false;
  }
  header_ = static_cast<live::PageHeader*>(memory);
  used_bytes_ = live::kPageStep;
  return true;
}

bool LivePage::give_memory(std::uint64_t offset, std::size_t bytes) const {
  int result = 0;
  do {
    result = fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

void* LivePage::take(std::size_t bytes, std::uint32_t kind, std::uint32_t element_bytes) {
  const std::lock_guard guard(turn_);
  const std::uint32_t number = header_->region_count.load(std::memory_order_relaxed);
  const std::size_t space = rounded(bytes);
  const bool fits =
      own_ == this && number < live::kMostRegions && space <= file_bytes_ - used_bytes_;
  void* memory = fits ? mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                             descriptor_, static_cast<off_t>(used_bytes_))
                      : MAP_FAILED;
  if (memory == MAP_FAILED) {
    header_->private_regions.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  taken_[number] = {memory, space};
  live::Region& region = header_->regions[number];
  region.kind = kind;
  region.element_bytes = element_bytes;
  region.offset = used_bytes_;
  region.capacity_bytes = bytes;
  used_bytes_ += space;
  header_->region_count.store(number + 1, std::memory_order_release);
  return memory;
}

std::size_t LivePage::provide(void* taken, std::size_t bytes) {
  const std::lock_guard guard(turn_);
  std::uint32_t number = 0;
  while (number < live::kMostRegions && taken_[number].memory != taken) ++number;
  if (number == live::kMostRegions) return 0;
  const std::size_t space = taken_[number].bytes;
  if (own_ != this) return space;  // a forked child: all of it is private memory
  live::Region& region = header_->regions[number];
  const std::size_t before = region.provided_bytes.load(std::memory_order_relaxed);
  const std::size_t wanted = rounded(bytes);
  if (give_memory(region.offset + before, wanted - before)) {
    region.provided_bytes.store(wanted, std::memory_order_release);
    return wanted;
  }
  // No memory for the file, but perhaps for this process: then only readers miss something.
  header_->private_regions.fetch_add(1, std::memory_order_relaxed);
  return map_private(static_cast<char*>(taken) + before, space - before) != MAP_FAILED ? space
                                                                                       : before;
}

void LivePage::begin(const profile::RowsHeader& rows, const std::string& run_directory) {
  header_->rows = rows;
  header_->process_started = live::stat_of_process("self").started;
  header_->header_bytes = sizeof(live::PageHeader);
  header_->version = live::kPageVersion;
  const std::size_t length = std::min(run_directory.size(), live::kRunBytes - 1);
  std::memcpy(header_->run, run_directory.data(), length);
  set_state(live::PageState::kRunning);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(header_->magic, live::kPageMagic, sizeof live::kPageMagic);
}

void LivePage::in_forked_child() {
  LivePage* page = own_;
  if (page == nullptr) return;
  own_ = nullptr;
  for (const Taken& taken : page->taken_)
    if (taken.memory != nullptr) map_private(taken.memory, taken.bytes);
  map_private(page->header_, live::kPageStep);
  close(page->descriptor_);
}

}  // namespace fathom::profiler
