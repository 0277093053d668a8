// SPDX-License-Identifier: BSD-3-Clause
// A sequence of bytes from a file or from memory: the input of the readers in this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::base {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The number of bytes put into `buffer`; 0 at the end.
  virtual Result<std::size_t> read(char* buffer, std::size_t capacity) = 0;
};

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// `bytes` must outlive the source.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  Result<std::size_t> read(char* buffer, std::size_t capacity) override;

 private:
  std::string_view rest_;
};

}  // namespace fathom::base
