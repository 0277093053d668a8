// SPDX-License-Identifier: BSD-3-Clause
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fathom::base {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const auto failed = [&path] {
    return Error{"cannot read " + path + ": " + std::strerror(errno)};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed();
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) errno = EISDIR;
    const Error error = failed();
    close(descriptor);
    return error;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  // The mapping needs the descriptor no longer, and a run may have thousands of files.
  const int why = errno;
  close(descriptor);
  if (data == MAP_FAILED) {
    errno = why;
    return failed();
  }
  return MappedFile(path, static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::drop(std::uint64_t begin, std::uint64_t end) const {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = std::min(end, size_) / page * page;  // offsets from damaged files can have any value
  if (begin < end) madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace fathom::base
