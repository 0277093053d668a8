// SPDX-License-Identifier: BSD-3-Clause
#include "base/order/natural_order.h"

#include <cstddef>

namespace fathom::base {
namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Takes the leading run of digits off `text`; returns it without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

}  // namespace

bool natural_less(std::string_view left, std::string_view right) {
  const std::string_view whole_left = left, whole_right = right;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view one = take_number(left), other = take_number(right);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
    } else {
      if (left.front() != right.front()) return left.front() < right.front();
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  if (left.empty() != right.empty()) return left.empty();
  return whole_left < whole_right;  // such as "a01" and "a1"
}

}  // namespace fathom::base
