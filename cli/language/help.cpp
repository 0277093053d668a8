// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/help.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/text.h"
#include "cli/language/options.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kLeftColumns = 30;

// The lines of the right column; CLI11 indents what follows a line break.
std::string right_column(const std::string& text) {
  const std::size_t width = Terminal::of_stdout().width() - kLeftColumns;
  std::string lines;
  for (const std::string& line : wrapped(text, width, ""))
    base::add_to_list(lines, line.substr(std::min(line.find_first_not_of(' '), line.size())), "\n");
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
  return right_column(text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* app) const {
  return fmt::format("  {:<{}}{}\n", app->get_name(), kLeftColumns - 2, app->get_description());
}

}  // namespace fathom::cli
