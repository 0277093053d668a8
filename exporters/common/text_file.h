// SPDX-License-Identifier: BSD-3-Clause
// Writes text to an AtomicFile, with numbers as digits, the same in every locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "exporters/common/exporter.h"

namespace fathom::exporters {

inline base::AtomicFile::Existing existing(const Options& options) {
  return options.force ? base::AtomicFile::Existing::kReplace : base::AtomicFile::Existing::kKeep;
}

class TextFile {
 public:
  base::Status open(const std::string& path, const Options& options) {
    return file_.open(path, existing(options));
  }

  base::Status open(const std::string& path, bool force) {
    return file_.open(
        path, force ? base::AtomicFile::Existing::kReplace : base::AtomicFile::Existing::kKeep);
  }

  TextFile& operator<<(char character) {
    file_.put(character);
    return *this;
  }
  TextFile& operator<<(std::string_view text) {
    file_.append(text);
    return *this;
  }
  template <std::integral Number>
  TextFile& operator<<(Number number) {
    char digits[24];
    const auto result = std::to_chars(digits, digits + sizeof digits, number);
    file_.append({digits, static_cast<std::size_t>(result.ptr - digits)});
    return *this;
  }

  std::uint64_t size_bytes() const { return file_.size_bytes(); }

  base::Status commit() { return file_.commit(); }

 private:
  base::AtomicFile file_;
};

}  // namespace fathom::exporters
