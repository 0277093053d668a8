// SPDX-License-Identifier: BSD-3-Clause
#include "base/json/writer.h"

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include <rapidjson/prettywriter.h>
#include <rapidjson/writer.h>

#include "base/utf8.h"

namespace fathom::base {
namespace {

constexpr std::size_t kPieceBytes = 1 << 12;

// The output stream that RapidJSON requires.
struct Piece {
  using Ch = char;
  void Put(char byte) { text.push_back(byte); }
  void Flush() {}

  std::string text;
};

// Throws when memory runs out; RapidJSON's own allocator returns a null pointer that nobody checks.
struct ThrowingAllocator {
  void* Malloc(std::size_t size) { return Realloc(nullptr, 0, size); }
  void* Realloc(void* memory, std::size_t, std::size_t size) {
    void* moved = std::realloc(memory, size);
    if (moved == nullptr) throw std::bad_alloc();
    return moved;
  }
  static void Free(void* memory) { std::free(memory); }
};

using Dense = rapidjson::Writer<Piece, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;
using Indented =
    rapidjson::PrettyWriter<Piece, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

rapidjson::SizeType length(std::string_view text) {
  return static_cast<rapidjson::SizeType>(text.size());
}

// Calls take(text), with the text converted to UTF-8 if it is not.
template <typename Take>
void with_utf8(std::string_view text, Take take) {
  if (is_utf8(text)) {
    take(text);
  } else {
    take(std::string_view(as_utf8(text)));
  }
}

}  // namespace

struct JsonWriter::Stream {
  Stream(Take where, unsigned indent)
      : take(std::move(where)), writer(std::in_place_type<Dense>, piece) {
    if (indent > 0) writer.emplace<Indented>(piece).SetIndent(' ', indent);
  }

  void hand_on() {
    take(piece.text);
    piece.text.clear();
  }

  Take take;
  Piece piece;
  std::variant<Dense, Indented> writer;
};

JsonWriter::JsonWriter(Take take, unsigned indent)
    : stream_(std::make_unique<Stream>(std::move(take), indent)) {}
JsonWriter::JsonWriter(AtomicFile& file, unsigned indent)
    : JsonWriter([&file](std::string_view text) { file.append(text); }, indent) {}
JsonWriter::JsonWriter(std::string& all, unsigned indent)
    : JsonWriter([&all](std::string_view text) { all += text; }, indent) {}
JsonWriter::JsonWriter(std::FILE* file, unsigned indent)
    : JsonWriter([file](std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); },
                 indent) {}
JsonWriter::~JsonWriter() = default;

template <typename Step>
void JsonWriter::put(Step step) {
  std::visit(step, stream_->writer);
  if (stream_->piece.text.size() >= kPieceBytes) stream_->hand_on();
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  put([=](auto& json) { json.Double(number); });
}
void JsonWriter::value(std::string_view text) {
  with_utf8(text, [this](std::string_view clean) {
    put([=](auto& json) { json.String(clean.data(), length(clean)); });
  });
}
void JsonWriter::truth(bool value) {
  put([=](auto& json) { json.Bool(value); });
}
void JsonWriter::signed_number(std::int64_t number) {
  put([=](auto& json) { json.Int64(number); });
}
void JsonWriter::unsigned_number(std::uint64_t number) {
  put([=](auto& json) { json.Uint64(number); });
}
void JsonWriter::null() {
  put([](auto& json) { json.Null(); });
}
void JsonWriter::raw(std::string_view object) {
  put([=](auto& json) { json.RawValue(object.data(), object.size(), rapidjson::kObjectType); });
}

void JsonWriter::key(std::string_view name) {
  with_utf8(name, [this](std::string_view clean) {
    put([=](auto& json) { json.Key(clean.data(), length(clean)); });
  });
}
void JsonWriter::open_object() {
  put([](auto& json) { json.StartObject(); });
}
void JsonWriter::close_object() {
  put([](auto& json) { json.EndObject(); });
}
void JsonWriter::open_list() {
  put([](auto& json) { json.StartArray(); });
}
void JsonWriter::close_list() {
  put([](auto& json) { json.EndArray(); });
}

void JsonWriter::line_break() { stream_->piece.Put('\n'); }
void JsonWriter::finish() { stream_->hand_on(); }

std::string json_string(std::string_view text) {
  std::string quoted;
  JsonWriter json(quoted);
  json.value(text);
  json.finish();
  return quoted;
}

}  // namespace fathom::base
