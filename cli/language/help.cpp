// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/help.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "cli/language/options.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kLeftColumns = 30, kRightColumns = 70;

// CLI11 indents what follows a line break.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool breaks = used > 0 && used + 1 + word.size() > kRightColumns;
    if (used > 0) lines += breaks ? '\n' : ' ';
    used = word.size() + (breaks || used == 0 ? 0 : used + 1);
    lines += word;
  }
  return lines;
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kLeftColumns); }

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  return is_positional ? option->get_name(true, false) : base::joined(shown_names(*option));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
  return type.empty() ? "" : " " + type;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (option->get_required() && !option->get_positional()) text += " (required)";
  if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
  return wrapped(text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* app) const {
  return fmt::format("  {:<{}}{}\n", app->get_name(), kLeftColumns - 2, app->get_description());
}

}  // namespace fathom::cli
