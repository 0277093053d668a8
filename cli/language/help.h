// SPDX-License-Identifier: BSD-3-Clause
// How `--help` shows an option: names and type on the left, what it does on the right, in lines
// as wide as the terminal. A default, or that an option is required, comes at the end of the
// sentence.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fathom::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* app) const override;
};

}  // namespace fathom::cli
