// SPDX-License-Identifier: BSD-3-Clause
#include "base/byte_source.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

namespace fathom::base {
namespace {

Error cannot_read(const std::string& path, int error_number) {
  const char* reason = strerrordesc_np(error_number);
  return Error{path + ": cannot be read: " + (reason ? reason : "unknown error")};
}

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~FileSource() override { ::close(descriptor_); }

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    for (;;) {
      const ssize_t bytes = ::read(descriptor_, buffer, capacity);
      if (bytes >= 0) return static_cast<std::size_t>(bytes);
      if (errno != EINTR) return cannot_read(path_, errno);
    }
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path, errno);
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(path, descriptor));
}

Result<std::size_t> MemorySource::read(char* buffer, std::size_t capacity) {
  const std::size_t bytes = rest_.copy(buffer, capacity);
  rest_.remove_prefix(bytes);
  return bytes;
}

}  // namespace fathom::base
