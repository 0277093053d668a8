// SPDX-License-Identifier: BSD-3-Clause
#include "base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fathom::base {
namespace {

// The kernel answers a write past RLIMIT_FSIZE with EFBIG and a SIGXFSZ to the writing thread,
// whose default action ends the process. This object blocks the signal while it lives and removes
// one that arrived meanwhile before it can be delivered.
class FileSizeSignalHeldBack {
 public:
  FileSizeSignalHeldBack() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGXFSZ);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~FileSizeSignalHeldBack() {
    const timespec no_wait{};
    if (!was_pending_) sigtimedwait(&signals_, nullptr, &no_wait);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signals_;
  sigset_t before_;
  bool was_pending_ = false;
};

// 0, or the errno of the write that failed.
int write_all(int descriptor, const char* bytes, std::size_t size) noexcept {
  FileSizeSignalHeldBack held_back;
  while (size > 0) {
    const ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

// Some file systems lack RENAME_NOREPLACE; there the check in open() has to do.
int move_into_place(const char* from, const char* to, AtomicFile::Existing existing) {
  if (existing == AtomicFile::Existing::kKeep) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
  }
  return ::rename(from, to) == 0 ? 0 : errno;
}

}  // namespace

AtomicFile::~AtomicFile() { abandon(); }

Status AtomicFile::open(const std::string& path, Existing existing) {
  abandon();
  path_ = path;
  existing_ = existing;
  struct stat there;
  if (::stat(path.c_str(), &there) == 0) {
    if (!S_ISREG(there.st_mode)) {
      return Error{path + ": exists and is not a regular file; give another path"};
    }
    if (existing == Existing::kKeep) return failure("cannot be written", EEXIST);
  }
  if (!buffer_) buffer_ = std::make_unique<char[]>(kBufferBytes);
  return create_temporary();
}

Status AtomicFile::create_temporary() {
  // The name contains the pid, and a number in case an earlier process with that pid left its file
  // behind. Not mkstemp: its files are private to the user whatever the umask allows.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = path_ + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return Done{};
    if (errno != EEXIST) break;
  }
  return failure("cannot be written", errno);
}

void AtomicFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (filled_ == kBufferBytes) flush();
    const std::size_t part = std::min(bytes.size(), kBufferBytes - filled_);
    memcpy(buffer_.get() + filled_, bytes.data(), part);
    filled_ += part;
    bytes.remove_prefix(part);
  }
}

void AtomicFile::flush() noexcept {
  if (write_errno_ == 0) write_errno_ = write_all(descriptor_, buffer_.get(), filled_);
  flushed_bytes_ += filled_;
  filled_ = 0;
}

Status AtomicFile::commit() {
  if (descriptor_ < 0) return Error{path_ + ": not open"};
  flush();
  int error_number = write_errno_;
  // Some network file systems report a full disk only here or at close().
  if (error_number == 0 && ::fsync(descriptor_) != 0 && errno != EINVAL) error_number = errno;
  if (::close(descriptor_) != 0 && error_number == 0 && errno != EINTR) error_number = errno;
  descriptor_ = -1;
  if (error_number == 0) {
    error_number = move_into_place(temporary_.c_str(), path_.c_str(), existing_);
  }
  if (error_number == 0) temporary_.clear();
  abandon();
  if (error_number != 0) return failure("cannot be written", error_number);
  return Done{};
}

void AtomicFile::abandon() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  descriptor_ = -1;
  temporary_.clear();
  write_errno_ = 0;
  filled_ = 0;
  flushed_bytes_ = 0;
}

Error AtomicFile::failure(const char* what, int error_number) const {
  if (error_number == EEXIST) {
    return Error{path_ + ": exists already; give another path, or replace it with --force"};
  }
  const char* reason = strerrordesc_np(error_number);
  return Error{path_ + ": " + what + ": " + (reason ? reason : "unknown error") +
               (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG
                    ? "; make room or write to another disk"
                    : "; check that the folder exists and is writable")};
}

}  // namespace fathom::base
