// SPDX-License-Identifier: BSD-3-Clause
// A file that appears complete or not at all: written beside its destination, moved over it by
// commit().
//
// Also used inside the user's MPI process, so it prints nothing, and exceeding the file size limit
// (RLIMIT_FSIZE) gives an error rather than the SIGXFSZ that would end the job. It throws nothing
// but std::bad_alloc.
//
// Threading: one thread at a time. Memory: one 64 KiB buffer.
// Invariants: (1) until commit() succeeds, an existing file at the destination is untouched;
//             (2) a file that is never committed leaves nothing behind;
//             (3) the first failed write is remembered and reported by commit(), so that put() and
//                 append() need no check after each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::base {

class AtomicFile {
 public:
  enum class Existing { kReplace, kKeep };  // what to do with an existing file of that name

  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Creates the temporary file in the destination's folder, which must exist. Refuses a destination
  // that exists but is not a regular file (a folder, /dev/stdout): the rename would replace it.
  Status open(const std::string& path, Existing existing);

  void put(char byte) {
    if (filled_ == kBufferBytes) flush();
    buffer_[filled_++] = byte;
  }
  void append(std::string_view bytes);

  // Bytes given to put() and append() so far.
  std::uint64_t size_bytes() const { return flushed_bytes_ + filled_; }

  // Writes the rest, waits until it is on the disk, and gives the file its name. Closes the file
  // even if this fails.
  Status commit();

  // Removes the temporary file; the destination stays as it was.
  void abandon() noexcept;

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;

  Status create_temporary();
  void flush() noexcept;
  Error failure(const char* what, int error_number) const;

  std::string path_;
  std::string temporary_;
  Existing existing_ = Existing::kReplace;
  int descriptor_ = -1;
  int write_errno_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t filled_ = 0;
  std::uint64_t flushed_bytes_ = 0;
};

}  // namespace fathom::base
