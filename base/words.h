// SPDX-License-Identifier: BSD-3-Clause
// The words of a line. For lines that are read by the ten thousand: a std::istringstream takes longer to
// make than to read.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace fathom::base {

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  // What is left, without blanks in front.
  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }

  // What stands before the separator, which is left out.
  std::string_view field(char separator) {
    const std::string_view field = rest_.substr(0, rest_.find(separator));
    rest_.remove_prefix(std::min(field.size() + 1, rest_.size()));
    return field;
  }

  // Empty at the end of the line.
  std::string_view next() {
    rest();
    return field(' ');
  }

  // Reads the next word, which must be a number. Otherwise `number` keeps its value.
  template <typename Number>
  bool next(Number& number) {
    const std::string_view word = next();
    const char* const end = word.data() + word.size();
    Number read{};
    const auto result = std::from_chars(word.data(), end, read);
    if (result.ec != std::errc() || result.ptr != end) return false;
    number = read;
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace fathom::base
