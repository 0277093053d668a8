// SPDX-License-Identifier: BSD-3-Clause
// A file mapped for reading. Memory that was read can be given back, so that a file of any size can
// be read with little memory.
//
// Threading: drop() is harmless while others read; they fault the pages in again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::base {

class MappedFile {
 public:
  // An empty file is accepted and has no data.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const char* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Gives back the memory of the pages from the one that holds `begin` up to, but not including,
  // the one that holds `end`.
  void drop(std::uint64_t begin, std::uint64_t end) const;

 private:
  MappedFile(std::string path, const char* data, std::uint64_t size)
      : path_(std::move(path)), data_(data), size_(size) {}

  std::string path_;
  const char* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace fathom::base
