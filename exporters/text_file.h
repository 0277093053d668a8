// Text going into an AtomicFile: numbers as digits, the same in every locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "exporters/exporter.h"
#include "profile/atomic_file.h"

namespace fathom::exporters {

inline profile::AtomicFile::Existing existing(const Options& options) {
  return options.force ? profile::AtomicFile::Existing::kReplace
                       : profile::AtomicFile::Existing::kKeep;
}

class TextFile {
 public:
  base::Status open(const std::string& path, const Options& options) {
    return file_.open(path, existing(options));
  }

  base::Status open(const std::string& path, bool force) {
    return file_.open(path, force ? profile::AtomicFile::Existing::kReplace : profile::AtomicFile::Existing::kKeep);
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
  profile::AtomicFile file_;
};

}  // namespace fathom::exporters
