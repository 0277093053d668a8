// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/loggops/goal_reader.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/text_lines.h"
#include "simulator/jobs/job.h"

namespace fathom::simulator {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

class GoalReader {
 public:
  GoalReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  base::Result<Program> read() {
    const auto ranks = read_rank_count();
    if (!ranks) return error_;
    Program program(*ranks);
    program_ = &program;
    for (skip(true); !at_end(); skip(true)) {
      if (!read_rank()) return error_;
    }
    return program;
  }

 private:
  // --- text ---

  bool at_end() const { return at_ == text_.size(); }
  char here() const { return at_end() ? '\0' : text_[at_]; }
  bool starts_with(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // Skips blanks and comments, and line ends if asked.
  void skip(bool line_ends) {
    while (!at_end()) {
      if (is_blank(here()) || (line_ends && here() == '\n')) {
        ++at_;
      } else if (starts_with("//")) {
        at_ = std::min(text_.size(), text_.find('\n', at_));
      } else if (starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view word() {
    skip(false);
    const std::size_t first = at_;
    while (!at_end() && is_word(here())) ++at_;
    return text_.substr(first, at_ - first);
  }

  // Finds the line only now: counting lines while reading would slow down files that are right.
  bool fail(const std::string& what, std::size_t at) {
    const std::size_t before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    std::size_t line = 1;
    for (char c : text_.substr(0, first)) line += c == '\n';
    const std::size_t end = std::min(text_.size(), text_.find('\n', at));
    const std::size_t column = at - first;
    constexpr std::size_t kShown = 60;
    error_.message =
        name_ + ":" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " + what;
    if (column < kShown) {
      error_.message += "\n  " + std::string(text_.substr(first, std::min(end - first, kShown))) +
                        "\n  " + std::string(column, ' ') + "^";
    }
    return false;
  }

  bool expect(std::string_view what) {
    skip(false);
    if (starts_with(what)) {
      at_ += what.size();
      return true;
    }
    return fail("expected \"" + std::string(what) + "\"", at_);
  }

  bool read_number(std::uint64_t most, std::uint64_t& number) {
    skip(false);
    const char* const begin = text_.data() + at_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (problem != std::errc() || number > most) {
      return fail("expected a whole number up to " + std::to_string(most), at_);
    }
    at_ += static_cast<std::size_t>(end - begin);
    return true;
  }

  bool read_rank_number(std::uint32_t& rank) {
    std::uint64_t number = 0;
    skip(false);
    const std::size_t first = at_;
    if (!read_number(kMostRanks, number)) return false;
    if (number >= program_->rank_count()) {
      return fail("there are only " + std::to_string(program_->rank_count()) + " ranks", first);
    }
    rank = static_cast<std::uint32_t>(number);
    return true;
  }

  bool end_of_statement() {
    skip(false);
    if (at_end() || here() == '\n' || here() == '}') return true;
    return fail("expected the end of the line", at_);
  }

  // --- statements ---

  std::optional<std::uint32_t> read_rank_count() {
    skip(true);
    std::uint64_t ranks = 0;
    if (!expect("num_ranks") || !read_number(kMostRanks, ranks)) return std::nullopt;
    return static_cast<std::uint32_t>(ranks);
  }

  bool read_rank() {
    if (!expect("rank") || !read_rank_number(rank_) || !expect("{")) return false;
    labels_.clear();
    for (skip(true); here() != '}'; skip(true)) {
      if (at_end()) return fail("rank " + std::to_string(rank_) + " has no closing }", at_);
      if (!read_statement()) return false;
    }
    ++at_;
    return true;
  }

  bool read_statement() {
    const std::size_t first = at_;
    const std::string_view start = word();
    if (start == "calc" || start == "send" || start == "recv")
      return read_operation(start, first, {});
    skip(false);
    if (here() == ':') {
      ++at_;
      skip(false);
      const std::size_t operation_at = at_;
      const std::string_view operation = word();
      return read_operation(operation, operation_at, start);
    }
    const std::size_t how_at = at_;
    const std::string_view how = word();
    if (how != "requires" && how != "irequires") {
      return fail("expected calc, send, recv, a label with \":\", \"requires\" or \"irequires\"",
                  start.empty() ? first : how_at);
    }
    return read_dependency(start, first, how == "requires" ? When::kEnded : When::kStarted);
  }

  bool read_dependency(std::string_view after, std::size_t after_at, When when) {
    skip(false);
    const std::size_t before_at = at_;
    const std::string_view before = word();
    const auto after_label = labels_.find(after), before_label = labels_.find(before);
    if (after_label == labels_.end()) return unknown_label(after, after_at);
    if (before_label == labels_.end()) return unknown_label(before, before_at);
    program_->require(after_label->second, before_label->second, when);
    return end_of_statement();
  }

  bool unknown_label(std::string_view label, std::size_t at) {
    return fail(
        "rank " + std::to_string(rank_) + " has no label \"" + std::string(label) + "\" so far",
        at);
  }

  bool read_operation(std::string_view kind, std::size_t at, std::string_view label) {
    std::uint64_t amount = 0;
    std::uint32_t peer = 0;
    const bool is_send = kind == "send", is_receive = kind == "recv";
    if (!is_send && !is_receive && kind != "calc") return fail("expected calc, send or recv", at);
    if (!read_number(std::numeric_limits<std::int64_t>::max(), amount)) return false;
    if (is_send && !(expect("b") && expect("to") && read_rank_number(peer))) return false;
    if (is_receive && !(expect("b") && expect("from") && read_source(peer))) return false;
    tag_ = 0;
    processor_ = 0;
    if (!read_options(is_receive, is_send || is_receive)) return false;
    const auto number = static_cast<double>(amount);
    const OperationId operation = is_send ? program_->send(rank_, peer, number, tag_, 0, processor_)
                                  : is_receive
                                      ? program_->receive(rank_, peer, number, tag_, 0, processor_)
                                      : program_->compute(rank_, number, processor_);
    if (!label.empty() && !labels_.emplace(label, operation).second) {
      return fail(
          "rank " + std::to_string(rank_) + " has the label \"" + std::string(label) + "\" already",
          at);
    }
    return end_of_statement();
  }

  bool read_source(std::uint32_t& peer) {
    skip(false);
    if (!starts_with("-1")) return read_rank_number(peer);
    at_ += 2;
    peer = kAnySource;
    return true;
  }

  bool read_options(bool is_receive, bool is_message) {
    for (;;) {
      skip(false);
      const std::size_t option_at = at_;
      const std::string_view option = word();
      std::uint64_t number = 0;
      if (option.empty()) return true;
      if (option == "cpu") {
        if (!read_number(255, number)) return false;
        processor_ = static_cast<std::uint8_t>(number);
      } else if (option == "tag" && is_message) {
        if (!read_tag(is_receive)) return false;
      } else if (option == "nic" && is_message) {
        if (!read_number(0, number)) return false;
      } else {
        return fail(is_message ? "expected tag, cpu, nic or the end of the line"
                               : "expected cpu or the end of the line",
                    option_at);
      }
    }
  }

  bool read_tag(bool is_receive) {
    skip(false);
    if (is_receive && starts_with("-1")) {
      at_ += 2;
      tag_ = kAnyTag;
      return true;
    }
    std::uint64_t number = 0;
    if (!read_number(std::numeric_limits<std::int32_t>::max(), number)) return false;
    tag_ = static_cast<std::int32_t>(number);
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  base::Error error_;
  Program* program_ = nullptr;
  std::uint32_t rank_ = 0;
  std::int32_t tag_ = 0;
  std::uint8_t processor_ = 0;
  std::unordered_map<std::string_view, OperationId> labels_;
};

}  // namespace

base::Result<Program> read_goal(std::string_view text, const std::string& name) {
  return GoalReader(text, name).read();
}

base::Result<Program> read_goal_file(const std::string& path) {
  const auto text = base::read_text(path);
  if (!text) return text.error();
  return read_goal(*text, path);
}

}  // namespace fathom::simulator
