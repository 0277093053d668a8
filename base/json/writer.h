// SPDX-License-Identifier: BSD-3-Clause
// JSON written as a stream, field by field: every JSON document of Fathom.
//
//   std::string text;
//   JsonWriter json(text);
//   json.object([&] {
//     json.field("ranks", 2);
//     json.list("hosts", hosts, [&](const Host& host) { json.value(host.name); });
//   });
//   json.finish();                      // text: {"ranks":2,"hosts":["n1","n2"]}
//
// What is given becomes: text that is not UTF-8, text with each offending byte replaced by U+FFFD;
// a number that is not finite, null; any other double, the shortest digits that are read back as
// the same number. Names of fields are treated like text: some of them come from a trace. The
// caller keeps the order (a field in an object, a value in a list or behind its key); nothing
// checks it.
//
// Memory: some kilobytes, however long the document. Used inside the user's MPI process too:
// nothing is printed or asserted, no locale is consulted; only std::bad_alloc can leave.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/atomic_file.h"

namespace fathom::base {

class JsonWriter {
 public:
  // Where the text goes must outlive the writer, and has all of it after finish(). With `indent`,
  // each field and value has a line of its own, indented by so many blanks a level.
  explicit JsonWriter(AtomicFile& file, unsigned indent = 0);
  explicit JsonWriter(std::string& text, unsigned indent = 0);
  explicit JsonWriter(std::FILE* file, unsigned indent = 0);  // what it does not take: ferror()
  ~JsonWriter();

  void value(double number);
  void value(std::string_view text);
  template <std::integral T>
  void value(T number) {
    if constexpr (std::is_same_v<T, bool>) {
      truth(number);
    } else if constexpr (std::is_signed_v<T>) {
      signed_number(number);
    } else {
      unsigned_number(number);
    }
  }
  template <typename T>
  void value(const std::optional<T>& held) {
    held ? value(*held) : null();
  }
  template <typename... T>
  void value(const std::variant<T...>& any) {
    std::visit([this](const auto& held) { value(held); }, any);
  }
  template <typename T>
  void value(const std::vector<T>& items) {
    list(items, [this](const T& item) { value(item); });
  }
  void null();
  void raw(std::string_view json);  // a whole object, written elsewhere

  void key(std::string_view name);
  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  // `fields()` writes those of the object.
  template <typename Fields>
  void object(Fields fields) {
    open_object();
    fields();
    close_object();
  }
  template <typename Fields>
  void object(std::string_view name, Fields fields) {
    key(name);
    object(fields);
  }

  // `each(item)` writes one value.
  template <typename Items, typename Each>
  void list(const Items& items, Each each) {
    open_list();
    for (const auto& item : items) each(item);
    close_list();
  }
  template <typename Items, typename Each>
  void list(std::string_view name, const Items& items, Each each) {
    key(name);
    list(items, each);
  }

  // A list of objects: `fields(item)` writes those of one.
  template <typename Items, typename Fields>
  void objects(std::string_view name, const Items& items, Fields fields) {
    list(name, items, [&](const auto& item) { object([&] { fields(item); }); });
  }

  // For what is written by several functions in turn.
  void open_object();
  void close_object();
  void open_list();
  void close_list();

  void line_break();  // between values, and behind the document
  void finish();      // hands on the rest of the text

 private:
  struct Stream;
  using Take = std::function<void(std::string_view)>;
  JsonWriter(Take take, unsigned indent);

  void truth(bool value);
  void signed_number(std::int64_t number);
  void unsigned_number(std::uint64_t number);
  template <typename Step>
  void put(Step step);

  std::unique_ptr<Stream> stream_;
};

inline constexpr unsigned kReadableIndent = 4;

// The text of an object alone; `fields(json)` writes those of it.
template <typename Fields>
std::string json_text(unsigned indent, Fields fields) {
  std::string text;
  JsonWriter json(text, indent);
  json.object([&] { fields(json); });
  json.finish();
  return text;
}

// The text as a JSON string, with its quotes: for output of millions of similar lines that repeats
// names which were converted once.
std::string json_string(std::string_view text);

}  // namespace fathom::base
