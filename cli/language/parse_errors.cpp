// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/parse_errors.h"

#include <spdlog/fmt/fmt.h>

namespace fathom::cli {
namespace {

// CLI11 hands over no more than its sentence, which begins with the option's name.
std::string first_word(const std::string& text) { return text.substr(0, text.find_first_of(": ")); }

// The values that CLI11 could not convert: "Could not convert: --seed = many".
std::string after(const std::string& text, const std::string& mark) {
  const auto at = text.find(mark);
  return at == text.npos ? "" : text.substr(at + mark.size());
}

// "--output DIR", "RUN"
std::string usage_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  return option.get_positional() || option.get_type_name().empty()
             ? name
             : name + " " + option.get_type_name();
}

std::string purpose_of(const CLI::Option& option) {
  return option.get_description().empty() ? "" : " (" + option.get_description() + ")";
}

std::string missing(const CLI::App& part) {
  for (const CLI::Option* option : part.get_options()) {
    if (option->get_required() && option->count() == 0)
      return fmt::format("{} is missing{}", usage_of(*option), purpose_of(*option));
  }
  return part.get_subcommands(nullptr).empty() ? "something is missing" : "name a subcommand";
}

std::string wrong_number_of_values(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size() == 0)
    return option.get_name() + " takes no value";
  if (option.count() > 1) return fmt::format("{} may be given only once", option.get_name());
  return fmt::format("{} needs a value, {}{}", option.get_name(), option.get_type_name(),
                     purpose_of(option));
}

}  // namespace

std::string sentence_of(const CLI::App& part, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    return text.substr(0, text.find('\n'));  // our validators' sentence
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(part);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return fmt::format("{} and {} exclude each other", first_word(text), after(text, " excludes "));
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return fmt::format("{} needs {}", first_word(text), after(text, " requires "));
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string assignment = after(text, "convert: ");
    if (!assignment.empty())
      return fmt::format("{}: '{}' is not a number", first_word(assignment),
                         after(assignment, " = "));
  }
  const CLI::Option* option = part.get_option_no_throw(first_word(text));
  if (option == nullptr) option = part.get_option_no_throw("--" + first_word(text));
  if (option != nullptr) return wrong_number_of_values(*option);
  return "the options cannot be understood";
}

}  // namespace fathom::cli
