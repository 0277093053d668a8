// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/shell_words.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace fathom::cli {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  base::Result<std::vector<std::string>> split() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else if (c == '\'' || c == '"') {
        if (!quoted(c)) return unfinished(c);
      } else if (c == '\\') {
        if (at_ == line_.size()) return unfinished(c);
        add(line_[at_++]);
      } else {
        add(c);
      }
    }
    end_word();
    return words_;
  }

 private:
  void add(char c) {
    if (!word_) word_.emplace();
    word_->push_back(c);
  }

  void end_word() {
    if (word_) words_.push_back(*word_);
    word_.reset();
  }

  // Reads up to the closing quote; false if it is missing. '' is also a word.
  bool quoted(char quote) {
    if (!word_) word_.emplace();
    while (at_ < line_.size()) {
      char c = line_[at_++];
      if (c == quote) return true;
      const bool escapes = quote == '"' && c == '\\' && at_ < line_.size() &&
                           (line_[at_] == '"' || line_[at_] == '\\');
      if (escapes) c = line_[at_++];
      word_->push_back(c);
    }
    return false;
  }

  base::Error unfinished(char c) const {
    const char* what = c == '\\' ? "ends with a lone backslash" : "has a quote that is not closed";
    return {"'" + std::string(line_) + "' " + what};
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

}  // namespace

base::Result<std::vector<std::string>> split_words(std::string_view line) {
  return Splitter(line).split();
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "%+,-./:=@_^";
  const auto is_plain = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
  };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  // In '…' a shell keeps control characters as they are, so a copied command could act on the terminal.
  const bool controls = std::any_of(word.begin(), word.end(), is_control);
  std::string quoted = controls ? "$'" : "'";
  for (const char c : word) {
    if (controls && is_control(c)) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (controls && (c == '\'' || c == '\\')) {
      quoted += {'\\', c};
    } else {
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return quoted + "'";
}

}  // namespace fathom::cli
