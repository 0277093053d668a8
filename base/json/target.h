// SPDX-License-Identifier: BSD-3-Clause
// Where each value of a JSON document goes: a tree of Targets, built while the document streams
// past.
//
// A Target is a pointer to the variable that takes a value, an Object that gives a Target for each
// of its keys, or a List that gives one for each of its elements. base/json/reader.h walks document
// and Targets in parallel and reports where they do not match. Targets own nothing; what they point
// to must live until the value is read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fathom::base {

struct Object;
struct List;
struct CheckedText;

// An integer that may be null: null leaves the variable as it is.
struct IntegerOrNull {
  std::int64_t* number;
};

// Accepts any value; its JSON text, without line breaks, is appended to `json`.
struct JsonText {
  std::string* json;
};

// std::monostate accepts anything and drops it: keys of a later version, or of another tool.
// Integers are non-negative everywhere; null for a double gives NaN.
using Target = std::variant<std::monostate, std::int64_t*, std::uint64_t*, IntegerOrNull, double*,
                            bool*, std::string*, std::vector<std::int64_t>*,
                            std::vector<std::uint64_t>*, std::vector<double>*,
                            std::vector<std::string>*, CheckedText, JsonText, Object, List>;

// What is wrong with a value: the member concerned (empty: the value itself), the rest of the
// sentence, such as `has 3 values but "source" has 4`, and what to do (empty: the reader's usual
// advice). The reader adds the file, the byte and the path.
struct Complaint {
  std::string member;
  std::string text;
  std::string advice = {};
};

// A string that is checked as soon as it is read.
struct CheckedText {
  std::string* text;
  std::function<std::optional<Complaint>()> read;
};

struct Object {
  std::function<Target(std::string_view key)> member;
  std::function<std::optional<Complaint>()> closed;  // may be empty
};

struct List {
  std::function<Target()> element;
};

// A List that appends to `items` and reads each new element with target_of(item).
template <typename T>
List list_of(std::vector<T>& items, Target (*target_of)(T&)) {
  return List{[&items, target_of] { return target_of(items.emplace_back()); }};
}

}  // namespace fathom::base
