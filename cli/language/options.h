// SPDX-License-Identifier: BSD-3-Clause
// Options that several subcommands take. Each kind of value is parsed here and nowhere else, so
// that it is written the same, means the same and is refused with the same sentence everywhere.
//
//   TIME   1.5s, 443ms, 200us, 7ns; a number alone is in seconds
//   RANKS  world ranks: 0-3,7
//   lists  a,b,c; an option that takes one may also be given several times
//   names  a list; MPI_I* chooses all names that begin so, -MPI_Test leaves out (base/name_patterns.h)
//
// Values are checked while the command line is parsed, before anything is done.
//
// The first long name of an option is the one that help, completion and suggestions show. Further
// long names are old spellings: they go on working and are shown nowhere.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/selection.h"

namespace fathom::cli {

base::Result<std::uint64_t> parse_time(const std::string& text);  // in ns
std::string time_text(std::uint64_t time_ns);                     // as parse_time() reads it

using profile::parse_ranks;
using profile::ranks_text;

CLI::Option* add_time(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& time_ns,
                      const std::string& help);

// TIME,...: a list.
CLI::Option* add_times(CLI::App& app, const std::string& name, std::vector<std::uint64_t>& times_ns,
                       const std::string& help);

CLI::Option* add_ranks(CLI::App& app, std::optional<std::set<std::int64_t>>& ranks,
                       const std::string& help);

// Replaces the items that are there. An empty word is an empty item.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& items,
                      const std::string& type, const std::string& help);

// --from and --to: the part of a run from one moment up to, and without, another.
struct Window {
  std::optional<std::uint64_t> from_ns, to_ns;

  bool whole() const { return !from_ns && !to_ns; }
};
void add_window(CLI::App& app, Window& window, const std::string& note = "");
base::Status check(const Window& window);  // an Error if nothing lies in it

// Validators, for option->check(). CLI11's own ones answer in its words, not in ours.
CLI::Validator one_of(const std::vector<std::string>& words);  // names the nearest word
CLI::Validator between(std::int64_t least, std::int64_t most);
CLI::Validator share();  // from 0 to 1
CLI::Validator above_zero();

// The names that are shown, as in "-o", "--output"; those of a hidden option: none.
std::vector<std::string> shown_names(const CLI::Option& option);
// The same for all options of a subcommand.
std::vector<std::string> shown_names(const CLI::App& app);

}  // namespace fathom::cli
