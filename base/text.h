// SPDX-License-Identifier: BSD-3-Clause
// Text for people and files: lists, and fields of CSV and XML.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace fathom::base {

// Adds `item` to a list: "a, b".
inline void add_to_list(std::string& list, std::string_view item,
                        std::string_view separator = ", ") {
  if (!list.empty()) list += separator;
  list += item;
}

// "a, b, c". Items are numbers, text, or objects with a `name`.
template <typename Items>
std::string joined(const Items& items, std::string_view separator = ", ") {
  std::string list;
  for (const auto& item : items) {
    if constexpr (requires { std::string_view(item.name); }) {
      add_to_list(list, item.name, separator);
    } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(item)>>) {
      add_to_list(list, std::to_string(item), separator);
    } else {
      add_to_list(list, item, separator);
    }
  }
  return list;
}

// "12.3 us", "4.56 ms", "1.23 s", "1230 s": three digits, in the unit in which they need no leading
// zeros. For sentences, where a reader takes in "12.3 us" at once and "1.23e-05 s" not.
std::string duration_text(double seconds);

// RFC 4180: a field with a comma, a quote or a line end is put in quotes, and quotes in it are
// doubled.
std::string csv_field(std::string_view text);

// Always in quotes.
std::string csv_quoted(std::string_view text);

// As text of an element, or of an attribute in double quotes. Bytes that are not UTF-8 are
// replaced. XML 1.0 cannot hold most control characters, escaped or not: they become question
// marks.
std::string xml_text(std::string_view text);

}  // namespace fathom::base
