// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/window_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profiler/recording/recorder.h"

namespace fathom::profiler {
namespace {

// Programs that close or expect low descriptors should meet none of ours.
constexpr int kFirstWindowDescriptor = 400;

int make_memory_file() {
  const int made = memfd_create(trace::kWindowPageName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return -1;
  int descriptor = fcntl(made, F_DUPFD_CLOEXEC, kFirstWindowDescriptor);
  if (descriptor < 0) {
    descriptor = made;
  } else {
    close(made);
  }
  // Memory comes first, so that no store into the page can fail.
  int error = fchmod(descriptor, S_IRUSR | S_IWUSR) != 0 ? errno : 0;
  if (error == 0) error = posix_fallocate(descriptor, 0, sizeof(trace::WindowPage));
  if (error == 0 && fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) error = errno;
  if (error == 0) return descriptor;
  close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

bool WindowPage::open(const profile::RowsHeader& process, const std::string& run_directory,
                      void (*begin)()) {
  descriptor_ = make_memory_file();
  if (descriptor_ < 0) return false;
  void* memory =
      mmap(nullptr, sizeof(trace::WindowPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close(descriptor_);
    errno = error;
    return false;
  }
  own_ = static_cast<trace::WindowPage*>(memory);
  own_->version = trace::kWindowVersion;
  own_->bytes = sizeof(trace::WindowPage);
  own_->pid = static_cast<std::uint32_t>(getpid());
  own_->job = process.job;
  own_->rank = process.rank;
  own_->world_size = process.world_size;
  const std::size_t length = std::min(run_directory.size(), trace::kWindowRunBytes - 1);
  std::memcpy(own_->run, run_directory.data(), length);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  Recorder::watch_control(own_->control, begin);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(own_->magic, trace::kWindowMagic, sizeof own_->magic);
  return true;
}

// The page belongs to the parent, which alone is to answer.
void WindowPage::in_forked_child() {
  Recorder::forget();
  own_ = nullptr;
  close(descriptor_);
}

}  // namespace fathom::profiler
