// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/command_line.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>
#include <variant>

#include "base/version.h"
#include "cli/language/shell_words.h"

namespace fathom::cli {
namespace {

struct HelpText {
  std::string text;
};

// What the words of one subcommand request.
using Parsed = std::variant<Action, HelpText, base::Error>;

std::string main_help() {
  std::string text =
      "Fathom measures what an MPI job really sends: every message, also those inside "
      "collectives.\n"
      "\n"
      "Usage: fathom SUBCOMMAND [OPTIONS]\n"
      "\n"
      "Subcommands:\n";
  for (const Subcommand& row : all_subcommands()) {
    text += fmt::format("  {:<15}{}\n", row.name, row.help);
  }
  return text +
         "\n"
         "Options:\n"
         "  -h,--help   this text; 'fathom SUBCOMMAND --help' tells more\n"
         "  --version   which Fathom this is\n"
         "\n"
         "Examples:\n"
         "  fathom run -o r1 -- mpirun -n 4 ./app\n"
         "  fathom report r1\n"
         "  fathom plot r1 -o plots\n";
}

std::string known_names() {
  std::string names;
  for (const Subcommand& row : all_subcommands()) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

base::Error unknown_subcommand(const std::string& name) {
  return {fmt::format("there is no subcommand '{}'; there are {} (see fathom --help)", name,
                      known_names())};
}

// CLI11 may answer with several lines; the first is the sentence.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Parsed parse(const Subcommand& row, std::vector<std::string> words) {
  // The action refers to variables that CLI11 filled in, so it keeps the parser alive.
  auto app = std::make_shared<CLI::App>(row.help, std::string("fathom ") + row.name);
  app->footer(std::string("\nExamples:\n") + row.examples);
  app->get_formatter()->column_width(32);
  Action action = row.declare(*app);
  try {
    app->parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects them reversed
  } catch (const CLI::CallForHelp&) {
    return HelpText{app->help()};
  } catch (const CLI::ParseError& error) {
    return base::Error{fmt::format("{}; see fathom {} --help", first_line(error.what()), row.name)};
  }
  return Action([app, action] { return action(); });
}

}  // namespace

int fail(int exit_code, const std::string& subcommand, const std::string& sentence) {
  const std::string who = subcommand.empty() ? "fathom" : "fathom " + subcommand;
  std::fprintf(stderr, "%s: %s\n", who.c_str(), sentence.c_str());
  return exit_code;
}

int run_command_line(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::fputs(main_help().c_str(), stderr);
    return kWrongUsage;
  }
  const std::string& name = words.front();
  if (name == "-h" || name == "--help" || name == "help") {
    const Subcommand* row = words.size() > 1 ? find_subcommand(words[1]) : nullptr;
    if (row) return run_command_line({row->name, "--help"});
    if (words.size() > 1) return fail(kWrongUsage, "", unknown_subcommand(words[1]).message);
    std::fputs(main_help().c_str(), stdout);
    return kFine;
  }
  if (name == "--version") {
    std::printf("fathom %s\n", base::kVersion);
    return kFine;
  }
  const Subcommand* row = find_subcommand(name);
  if (!row) return fail(kWrongUsage, "", unknown_subcommand(name).message);

  const Parsed parsed = parse(*row, {words.begin() + 1, words.end()});
  if (const auto* error = std::get_if<base::Error>(&parsed)) {
    return fail(kWrongUsage, row->name, error->message);
  }
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    std::fputs(help->text.c_str(), stdout);
    return kFine;
  }
  return std::get<Action>(parsed)();
}

base::Result<Action> prepare_stage(const std::string& line, const std::string& run_directory) {
  auto split = split_words(line);
  if (!split) return split.error();
  std::vector<std::string>& words = *split;
  if (words.empty()) return base::Error{"a stage names a subcommand: --then 'report'"};
  const Subcommand* row = find_subcommand(words.front());
  if (!row) return unknown_subcommand(words.front());
  if (!row->run_argument) {
    return base::Error{fmt::format("'{}' works on no run and cannot follow one", row->name)};
  }
  words.front() = run_directory;
  if (*row->run_argument) words.insert(words.begin(), row->run_argument);
  Parsed parsed = parse(*row, words);
  if (auto* error = std::get_if<base::Error>(&parsed)) return *error;
  if (std::holds_alternative<HelpText>(parsed)) {
    return base::Error{fmt::format("--help is no stage; ask fathom {} --help", row->name)};
  }
  return std::move(std::get<Action>(parsed));
}

}  // namespace fathom::cli
