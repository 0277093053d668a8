// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/command_line.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <map>
#include <memory>
#include <variant>

#include "base/commit.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/language/help.h"
#include "cli/language/options.h"
#include "cli/language/parse_errors.h"
#include "cli/language/shell_words.h"
#include "rankmap/releases.h"

namespace fathom::cli {
namespace {

struct HelpText {
  std::string text;
};

// "fathom trace print"
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? full_name(*parent) + " " + app.get_name() : app.get_name();
}

// What the words of one subcommand request.
using Parsed = std::variant<Action, HelpText, base::Error>;

std::string main_help() {
  std::string text =
      "Fathom measures what an MPI job really sends: every message, including those inside "
      "collectives.\n"
      "\n"
      "Usage: fathom SUBCOMMAND [OPTIONS]\n"
      "\n"
      "Subcommands:\n";
  for (const Subcommand& row : all_subcommands()) {
    text += fmt::format("  {:<16}{}\n", row.name, row.help);
  }
  return text +
         "\n"
         "Options:\n"
         "  -h, --help  print this help; 'fathom SUBCOMMAND --help' explains one subcommand\n"
         "  --version   print the version, the commit and the Open MPI releases that Fathom knows\n"
         "\n"
         "Examples:\n"
         "  fathom run -o r1 -- mpirun -n 4 ./app\n"
         "  fathom report r1\n"
         "  fathom plot r1 -o plots\n";
}

// `of` is what the names are parts of: "fathom", "fathom trace".
base::Error unknown_subcommand(const std::string& name, const std::string& of,
                               const std::vector<std::string>& names) {
  return {fmt::format(
      "there is no subcommand '{}'{}", name,
      base::suggestion(name, names,
                       fmt::format("; there are {} (see {} --help)", base::joined(names), of)))};
}

base::Error unknown_subcommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Subcommand& row : all_subcommands()) names.push_back(row.name);
  return unknown_subcommand(name, "fathom", names);
}

// CLI11 would take --json=no.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) option->disable_flag_override();
  }
  for (CLI::App* part : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_values_of_flags(*part);
}

// The subcommand's part that the words name, or the subcommand itself.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

// What is wrong with the words, in one sentence that begins with the first word that is unknown.
base::Error explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& part = innermost(app);
  std::vector<std::string> parts;
  for (const CLI::App* each : part.get_subcommands(nullptr)) parts.push_back(each->get_name());
  const std::vector<std::string> unknown =
      app.get_prefix_command() ? std::vector<std::string>{} : app.remaining(true);
  for (const std::string& word : unknown) {
    if (word.starts_with('-') && word != "-" && word != "--") return unknown_option(part, word);
    if (!parts.empty()) return unknown_subcommand(word, full_name(part), parts);
    return {fmt::format("'{}' is one argument too many; see {} --help", word, full_name(part))};
  }
  return {fmt::format("{}; see {} --help", sentence_of(part, error), full_name(part))};
}

Parsed parse(const Subcommand& row, std::vector<std::string> words) {
  // The action refers to variables that CLI11 filled in, so it keeps the parser alive.
  auto app = std::make_shared<CLI::App>();
  Action action = declare(row, *app);
  try {
    app->parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects them reversed
  } catch (const CLI::CallForHelp&) {
    return HelpText{app->help()};
  } catch (const CLI::ParseError& error) {
    return explain(*app, error);
  }
  return Action([app, action] { return action(); });
}

}  // namespace

Action declare(const Subcommand& row, CLI::App& app) {
  app.name(std::string("fathom ") + row.name);
  app.description(row.help);
  app.footer(std::string("\nExamples:\n") + row.examples);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help and exit");
  Action action = row.declare(app);
  refuse_values_of_flags(app);
  return action;
}

base::Error unknown_option(const CLI::App& app, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  // The nearest may be an old spelling; the one that help shows is suggested.
  std::vector<std::string> names = shown_names(app);
  std::map<std::string, std::string> shown;
  for (const CLI::Option* each : app.get_options()) {
    const std::vector<std::string> own = shown_names(*each);
    for (const std::string& name : each->get_lnames()) {
      if (own.empty()) continue;
      shown["--" + name] = own.back();
      names.push_back("--" + name);
    }
  }
  const auto meant = shown.find(base::nearest(option, names));
  return {
      fmt::format("there is no option {}{}", option,
                  meant != shown.end()
                      ? "; did you mean " + meant->second + "?"
                      : base::suggestion(option, names, "; see " + full_name(app) + " --help"))};
}

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
    std::printf("fathom %s\ncommit %s\nOpen MPI %s\n", base::kVersion, base::kCommit,
                openmpi::known_releases().c_str());
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
  if (words.empty()) return base::Error{"name a subcommand, as in --then 'report'"};
  const Subcommand* row = find_subcommand(words.front());
  if (!row) return unknown_subcommand(words.front());
  if (!row->run_argument) {
    return base::Error{
        fmt::format("'{}' does not work on a run, so it cannot follow one", row->name)};
  }
  words.front() = run_directory;
  if (*row->run_argument) words.insert(words.begin(), row->run_argument);
  Parsed parsed = parse(*row, words);
  if (auto* error = std::get_if<base::Error>(&parsed)) return *error;
  if (std::holds_alternative<HelpText>(parsed)) {
    return base::Error{fmt::format("--help cannot follow a run; use fathom {} --help", row->name)};
  }
  return std::move(std::get<Action>(parsed));
}

}  // namespace fathom::cli
