// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/name_patterns.h"
#include "base/nearest.h"
#include "base/text.h"

namespace fathom::cli {
namespace {

struct TimeUnit {
  const char* name;
  std::uint64_t ns;
};
// Descending, because time_text() takes the first in which the time is a whole number.
constexpr TimeUnit kTimeUnits[] = {
    {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}};

// Whether all of the text is a number.
template <typename Number>
bool parse_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// `what` says which numbers are admitted.
template <typename Admits>
CLI::Validator number_that(Admits admits, const std::string& what) {
  const auto check = [=](const std::string& text) {
    double number = 0;
    return parse_number(text, number) && admits(number) ? "" : "'" + text + "' is not " + what;
  };
  return CLI::Validator(check, "");
}

// CLI11 puts the option's name in front of the sentence.
[[noreturn]] void refuse(const std::string& option, const base::Error& error) {
  throw CLI::ValidationError(option.substr(0, option.find(',')), error.message);
}

}  // namespace

base::Result<std::uint64_t> parse_time(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double scale = unit.empty() ? 1e9 : 0;
  for (const TimeUnit& known : kTimeUnits) {
    if (unit == known.name) scale = static_cast<double>(known.ns);
  }
  if (error != std::errc() || scale == 0 || !(value >= 0) || value * scale > 9e18)
    return base::Error{"'" + text + "' is not a time; write 1.5s, 443ms, 200us or 7ns"};
  return static_cast<std::uint64_t>(std::llround(value * scale));
}

std::string time_text(std::uint64_t time_ns) {
  const TimeUnit* unit = kTimeUnits;
  while (time_ns % unit->ns != 0) ++unit;
  return std::to_string(time_ns / unit->ns) + unit->name;
}

CLI::Option* add_time(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& time_ns,
                      const std::string& help) {
  const auto take = [name, &time_ns](const std::string& text) {
    const auto time = parse_time(text);
    if (!time) refuse(name, time.error());
    time_ns = *time;
  };
  return app.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

CLI::Option* add_times(CLI::App& app, const std::string& name, std::vector<std::uint64_t>& times_ns,
                       const std::string& help) {
  const auto take = [name, &times_ns](const std::vector<std::string>& words) {
    for (const std::string& item : base::comma_separated(base::joined(words, ","))) {
      const auto time = parse_time(item);
      if (!time) refuse(name, time.error());
      times_ns.push_back(*time);
    }
  };
  return app.add_option_function<std::vector<std::string>>(name, take, help)
      ->type_name("TIME,...")
      ->allow_extra_args(false);
}

CLI::Option* add_ranks(CLI::App& app, std::optional<std::set<std::int64_t>>& ranks,
                       const std::string& help) {
  const auto take = [&ranks](const std::vector<std::string>& words) {
    ranks.emplace();
    for (const std::string& word : words) {
      const auto some = parse_ranks(word);
      if (!some) refuse("--ranks", some.error());
      ranks->insert(some->begin(), some->end());
    }
  };
  return app.add_option_function<std::vector<std::string>>("--ranks", take, help)
      ->type_name("RANKS")
      ->allow_extra_args(false);
}

CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& items,
                      const std::string& type, const std::string& help) {
  const auto take = [&items](const std::vector<std::string>& words) {
    items.clear();
    for (const std::string& word : words) {
      if (word.empty()) items.emplace_back();
      for (std::string& item : base::comma_separated(word)) items.push_back(std::move(item));
    }
  };
  return app.add_option_function<std::vector<std::string>>(name, take, help)
      ->type_name(type)
      ->allow_extra_args(false);
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    return "'" + text + "' is not one of " + base::joined(words) +
           base::suggestion(text, words, "");
  };
  return CLI::Validator(check, "");
}

CLI::Validator between(std::int64_t least, std::int64_t most) {
  const auto check = [=](const std::string& text) {
    std::int64_t number = 0;
    if (parse_number(text, number) && number >= least && number <= most) return std::string();
    return "'" + text + "' is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator share() {
  return number_that([](double number) { return number >= 0 && number <= 1; },
                     "a number from 0 to 1");
}

CLI::Validator above_zero() {
  return number_that([](double number) { return number > 0; }, "a number above 0");
}

void add_window(CLI::App& app, Window& window, const std::string& note) {
  add_time(app, "--from", window.from_ns, "start of the window: 1.5s, 443ms, 200us" + note);
  add_time(app, "--to", window.to_ns, "end of the window, not included" + note);
}

base::Status check(const Window& window) {
  if (window.from_ns.value_or(0) < window.to_ns.value_or(~std::uint64_t{0})) return base::Done{};
  return base::Error{"--from must be before --to"};
}

std::vector<std::string> shown_names(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_group().empty()) return names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  if (!option.get_lnames().empty()) names.push_back("--" + option.get_lnames().front());
  return names;
}

std::vector<std::string> shown_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : shown_names(*option)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace fathom::cli
