// SPDX-License-Identifier: BSD-3-Clause
#include "base/json/reader.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "base/json/writer.h"

namespace fathom::base {
namespace {

// The input stream that RapidJSON requires. RapidJSON takes a zero byte for the end of the
// document, so the stream itself remembers whether the input really ended there.
class JsonInput {
 public:
  using Ch = char;
  explicit JsonInput(ByteSource& source) : source_(source), buffer_(kBufferBytes) { refill(); }

  char Peek() const { return current_ < filled_ ? buffer_[current_] : '\0'; }
  char Take() {
    if (current_ == filled_) return '\0';
    const char byte = buffer_[current_++];
    if (current_ == filled_) refill();
    return byte;
  }
  std::size_t Tell() const { return before_buffer_ + current_; }

  bool at_end() const { return current_ == filled_; }
  const std::optional<Error>& read_error() const { return read_error_; }

  // RapidJSON's interface requires these but never calls them on an input.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;

  void refill() {
    before_buffer_ += filled_;
    current_ = filled_ = 0;
    Result<std::size_t> read = source_.read(buffer_.data(), buffer_.size());
    if (read) {
      filled_ = *read;
    } else {
      read_error_ = read.error();
    }
  }

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t current_ = 0;
  std::size_t filled_ = 0;
  std::size_t before_buffer_ = 0;
  std::optional<Error> read_error_;
};

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 needs this guide

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}
// from_chars leaves `number` unchanged when the value is out of range; one that is too small is
// close enough to 0.
bool parse_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

// Each returns whether `text` is such a number and, if so, stores it.
bool store(std::string_view text, std::int64_t& number) {
  return parse_number(text, number) && number >= 0;
}
bool store(std::string_view text, std::uint64_t& number) { return parse_number(text, number); }
bool store(std::string_view text, double& number) { return parse_number(text, number); }

// Appends a value, a key or an opening bracket, with a comma after what precedes it.
void append(JsonText text, std::string_view part) {
  std::string& json = *text.json;
  constexpr std::string_view kBeforeFirst = "[{:";
  if (!json.empty() && kBeforeFirst.find(json.back()) == kBeforeFirst.npos) json += ',';
  json += part;
}

// What a Target accepts, as words for the message about a value that does not fit.
const char* expectation(const Target& target) {
  return std::visit(
      Overloaded{[](std::monostate) { return "anything"; }, [](JsonText) { return "anything"; },
                 [](std::int64_t*) { return "a whole number from 0 to 2^63 - 1"; },
                 [](std::uint64_t*) { return "a whole number from 0 to 2^64 - 1"; },
                 [](IntegerOrNull) { return "a whole number from 0 to 2^63 - 1, or null"; },
                 [](double*) { return "a number"; }, [](bool*) { return "true or false"; },
                 [](std::string*) { return "a string"; },
                 [](const CheckedText&) { return "a string"; },
                 [](const Object&) { return "an object"; }, [](const auto&) { return "a list"; }},
      target);
}

// An open object or list.
struct Frame {
  Target target;
  bool is_object = false;
  std::string key;        // of the member being read
  std::size_t index = 0;  // of the element being read
  Target member_target;   // for the value after `key`
};

// RapidJSON's events, turned into values stored in Targets.
class Handler {
 public:
  Handler(const JsonInput& input, const Object& root) : input_(input), root_(root) {}

  // The first problem found, and its place; empty if only RapidJSON reported one.
  const std::string& problem() const { return problem_; }
  const std::string& advice() const { return advice_; }  // empty: the reader's usual advice
  std::size_t problem_offset() const { return problem_offset_; }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view digits(text, length);
    const Target target = next_target();
    const bool stored =
        std::visit(Overloaded{[](std::monostate) { return true; },
                              [&](std::int64_t* number) { return store(digits, *number); },
                              [&](std::uint64_t* number) { return store(digits, *number); },
                              [&](IntegerOrNull integer) { return store(digits, *integer.number); },
                              [&](double* number) { return store(digits, *number); },
                              [&](JsonText json) { return append(json, digits), true; },
                              [](const auto&) { return false; }},
                   target);
    return stored ? value_done() : unexpected(target);
  }

  bool String(const char* text, rapidjson::SizeType length, bool) {
    const Target target = next_target();
    if (auto* const* string = std::get_if<std::string*>(&target)) {
      (*string)->assign(text, length);
      return value_done();
    }
    if (const auto* checked = std::get_if<CheckedText>(&target)) {
      checked->text->assign(text, length);
      return judged(checked->read());
    }
    if (const auto* json = std::get_if<JsonText>(&target)) {
      append(*json, json_string({text, length}));
      return value_done();
    }
    return is_ignored(target) ? value_done() : unexpected(target);
  }

  bool Bool(bool flag) {
    const Target target = next_target();
    if (bool* const* variable = std::get_if<bool*>(&target)) {
      **variable = flag;
      return value_done();
    }
    if (const auto* json = std::get_if<JsonText>(&target)) {
      append(*json, flag ? "true" : "false");
      return value_done();
    }
    return is_ignored(target) ? value_done() : unexpected(target);
  }

  bool Null() {
    const Target target = next_target();
    if (double* const* number = std::get_if<double*>(&target)) {
      **number = std::numeric_limits<double>::quiet_NaN();
      return value_done();
    }
    if (const auto* json = std::get_if<JsonText>(&target)) {
      append(*json, "null");
      return value_done();
    }
    const bool may_be_null = is_ignored(target) || std::holds_alternative<IntegerOrNull>(target);
    return may_be_null ? value_done() : unexpected(target);
  }

  bool StartObject() {
    Target target = next_target();
    const auto* json = std::get_if<JsonText>(&target);
    if (json) append(*json, "{");
    if (!json && !std::holds_alternative<Object>(target) && !is_ignored(target))
      return unexpected(target);
    return open_bracket(std::move(target), true);
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    Frame& frame = frames_.back();
    frame.key.assign(text, length);
    if (const Object* object = std::get_if<Object>(&frame.target)) {
      frame.member_target = object->member(frame.key);
    } else if (const auto* json = std::get_if<JsonText>(&frame.target)) {
      append(*json, json_string(frame.key) + ":");
      frame.member_target = *json;
    } else {
      frame.member_target = Target();
    }
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    const Target target = std::move(frames_.back().target);
    frames_.pop_back();  // so that value_path() names the object, not a member
    if (const auto* json = std::get_if<JsonText>(&target)) *json->json += '}';
    const Object* object = std::get_if<Object>(&target);
    return object && object->closed ? judged(object->closed()) : value_done();
  }

  bool StartArray() {
    Target target = next_target();
    if (!clear_list(target)) return unexpected(target);
    if (const auto* json = std::get_if<JsonText>(&target)) append(*json, "[");
    return open_bracket(std::move(target), false);
  }
  bool EndArray(rapidjson::SizeType) {
    if (const auto* json = std::get_if<JsonText>(&frames_.back().target)) *json->json += ']';
    frames_.pop_back();
    return value_done();
  }

  // Never called, because numbers arrive as text (kParseNumbersAsStringsFlag).
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  static bool is_ignored(const Target& target) {
    return std::holds_alternative<std::monostate>(target);
  }

  // The Target of the value that begins here; in a list of plain values, a new one at its end.
  Target next_target() {
    if (frames_.empty()) return root_;
    Frame& frame = frames_.back();
    if (frame.is_object) return std::move(frame.member_target);
    return std::visit(
        Overloaded{
            [](std::vector<std::int64_t>* numbers) -> Target { return &numbers->emplace_back(); },
            [](std::vector<std::uint64_t>* numbers) -> Target { return &numbers->emplace_back(); },
            [](std::vector<double>* numbers) -> Target { return &numbers->emplace_back(); },
            [](std::vector<std::string>* strings) -> Target { return &strings->emplace_back(); },
            [](const List& list) -> Target { return list.element(); },
            [](JsonText json) -> Target { return json; },
            [](const auto&) -> Target { return std::monostate(); }},
        frame.target);
  }

  // Empties a list before its elements are read; false if the Target takes no list. So a repeated
  // member counts once, with its last value.
  static bool clear_list(const Target& target) {
    return std::visit(
        Overloaded{[](std::vector<std::int64_t>* numbers) { return numbers->clear(), true; },
                   [](std::vector<std::uint64_t>* numbers) { return numbers->clear(), true; },
                   [](std::vector<double>* numbers) { return numbers->clear(), true; },
                   [](std::vector<std::string>* strings) { return strings->clear(), true; },
                   [](const List&) { return true; }, [](JsonText) { return true; },
                   [](std::monostate) { return true; }, [](const auto&) { return false; }},
        target);
  }

  bool open_bracket(Target target, bool is_object) {
    if (frames_.size() == kDeepestNesting) {
      return fail("brackets nest deeper than " + std::to_string(kDeepestNesting));
    }
    frames_.push_back(Frame{std::move(target), is_object, {}, 0, {}});
    return true;
  }

  bool value_done() {
    if (!frames_.empty() && !frames_.back().is_object) ++frames_.back().index;
    return true;
  }

  // "traffic[0].bytes[7]": the value being read, empty for the document itself.
  std::string value_path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.is_object) {
        path += (path.empty() ? "" : ".") + frame.key;
      } else {
        path.append("[").append(std::to_string(frame.index)).append("]");
      }
    }
    return path;
  }

  bool unexpected(const Target& target) {
    const std::string path = value_path();
    return fail((path.empty() ? "the document" : '"' + path + '"') + " is not " +
                expectation(target));
  }
  bool judged(const std::optional<Complaint>& complaint) {
    if (!complaint) return value_done();
    std::string path = value_path();
    if (!complaint->member.empty()) path += (path.empty() ? "" : ".") + complaint->member;
    advice_ = complaint->advice;
    return fail((path.empty() ? "" : '"' + path + "\" ") + complaint->text);
  }
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    problem_offset_ = input_.Tell();
    return false;
  }

  const JsonInput& input_;
  const Object& root_;
  std::vector<Frame> frames_;
  std::string problem_;
  std::string advice_;
  std::size_t problem_offset_ = 0;
};

// RapidJSON's message, worded to fit inside one of ours.
std::string syntax_problem(rapidjson::ParseErrorCode code) {
  if (code == rapidjson::kParseErrorDocumentEmpty) return "the file is empty";
  std::string text = rapidjson::GetParseError_En(code);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return "not valid JSON (" + text + ")";
}

std::string location(const std::string& name, std::size_t offset) {
  return name + ", byte " + std::to_string(offset) + ": ";
}

Status parse(ByteSource& source, const std::string& name, const Object& root,
             const std::string& advice) {
  JsonInput input(source);
  Handler handler(input, root);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(input, handler);
  if (input.read_error()) return *input.read_error();
  if (!handler.problem().empty()) {
    return Error{location(name, handler.problem_offset()) + handler.problem() + "; " +
                 (handler.advice().empty() ? advice : handler.advice())};
  }
  if (result.IsError()) {
    const bool cut_short = input.at_end() && input.Tell() > 0;
    return Error{location(name, result.Offset()) + syntax_problem(result.Code()) + "; " +
                 (cut_short ? "the file ends too early: it was cut short" : advice)};
  }
  if (!input.at_end()) {
    return Error{location(name, input.Tell()) + "a zero byte follows the document; " + advice};
  }
  return Done{};
}

}  // namespace

Status read_json(ByteSource& source, const std::string& name, const Object& root,
                 const std::string& advice) {
  try {
    return parse(source, name, root, advice);
  } catch (const std::bad_alloc&) {
    return Error{name + ": does not fit into memory"};
  } catch (const std::exception& exception) {
    return Error{name + ": cannot be read (" + exception.what() + ")"};
  }
}

}  // namespace fathom::base
