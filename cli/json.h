// What subcommands write with --json: an indented document, field by field.
#pragma once

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdint>
#include <string>

namespace fathom::cli {

class Json {
 public:
  std::string take() { return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n"; }

  Json& key(const char* name) { return writer_.Key(name), *this; }
  void value(const std::string& text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void value(std::uint64_t number) { writer_.Uint64(number); }
  void value(std::int64_t number) { writer_.Int64(number); }
  void value(double number) { writer_.Double(number); }
  void value(bool truth) { writer_.Bool(truth); }
  void null() { writer_.Null(); }

  template <typename T>
  void field(const char* name, const T& content) {
    key(name).value(content);
  }
  template <typename Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <typename List, typename Each>
  void array(const char* name, const List& list, Each each) {
    key(name);
    writer_.StartArray();
    for (const auto& entry : list) object([&] { each(entry); });
    writer_.EndArray();
  }

  template <typename List>
  void strings(const char* name, const List& list) {
    key(name);
    writer_.StartArray();
    for (const std::string& entry : list) value(entry);
    writer_.EndArray();
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace fathom::cli
