// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON as a stream, field by field: used for every JSON document of Fathom.
//
//   std::string text;
//   JsonWriter json(text);
//   json.object([&] {
//     json.field("ranks", 2);
//     json.list("hosts", hosts, [&](const Host& host) { json.value(host.name); });
//   });
//   json.finish();                      // text: {"ranks":2,"hosts":["n1","n2"]}
//
// In text that is not UTF-8, each offending byte becomes U+FFFD. A number that is not finite
// becomes null; any other double, the shortest digits that read back as the same number. Names of
// fields are treated like text, because some come from a trace. The caller keeps the order (a field
// in an object, a value in a list or after its key); nothing checks it.
//
// Memory: some kilobytes, however long the document. Also used inside the user's MPI process:
// prints and asserts nothing, consults no locale, throws nothing but std::bad_alloc.
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
  // The destination must outlive the writer and holds the whole text after finish(). With `indent`,
  // each field and value gets its own line, indented by that many blanks per level.
  explicit JsonWriter(AtomicFile& file, unsigned indent = 0);
  explicit JsonWriter(std::string& text, unsigned indent = 0);
  explicit JsonWriter(std::FILE* file, unsigned indent = 0);  // errors: see ferror()
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
    std::visit([this](const auto& held) { this->value(held); }, any);
  }
  template <typename T>
  void value(const std::vector<T>& items) {
    list(items, [this](const T& item) { value(item); });
  }
  void null();
  void raw(std::string_view json);  // a whole object that was written elsewhere

  void key(std::string_view name);
  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  // `fields()` writes the fields of the object.
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

  // A list of objects: `fields(item)` writes the fields of one.
  template <typename Items, typename Fields>
  void objects(std::string_view name, const Items& items, Fields fields) {
    list(name, items, [&](const auto& item) { object([&] { fields(item); }); });
  }

  // For parts that several functions write in turn.
  void open_object();
  void close_object();
  void open_list();
  void close_list();

  void line_break();  // between values, and after the document
  void finish();      // passes on the rest of the text

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

// The text of a single object; `fields(json)` writes its fields.
template <typename Fields>
std::string json_text(unsigned indent, Fields fields) {
  std::string text;
  JsonWriter json(text, indent);
  json.object([&] { fields(json); });
  json.finish();
  return text;
}

// The text as a JSON string, with quotes: for output of millions of similar lines, which converts
// each repeated name once.
std::string json_string(std::string_view text);

}  // namespace fathom::base
