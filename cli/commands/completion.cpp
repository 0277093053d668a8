// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/completion.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/registry.h"
#include "base/text.h"
#include "cli/commands/export.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "importers/importer.h"

namespace fathom::cli {
namespace {

const OptionWords kWords[] = {
    {"run", "--source", [] { return std::string("auto peruse pml mpi_t"); }},
    {"run", "--log", [] { return std::string("quiet warning info"); }},
    {"run", "--trace-level", [] { return std::string("calls transfers"); }},
    {"run", "--call-sites", [] { return std::string("0 1"); }},
    {"analyze", "--only", [] { return base::joined(analysis::all_analyses(), " "); }},
    {"plot", "--format", [] { return std::string("png svg pdf"); }},
    {"export", "--format", [] { return base::joined(export_formats(), " "); }},
    {"export", "--metric", [] { return std::string("bytes messages"); }},
    {"import", "--format", [] { return base::joined(importers::all(), " "); }},
    {"trace", "--kinds", [] { return std::string("calls messages requests transfers others"); }},
    {"completion", "SHELL", [] { return std::string("bash"); }},
};

std::string options_row(const std::string& path, const CLI::App& app) {
  return fmt::format("    '{}') words='{}' ;;\n", path, base::joined(shown_names(app), " "));
}

struct Tables {
  std::string subcommands, parts, options;
};

Tables tables() {
  Tables made;
  for (const Subcommand& row : all_subcommands()) {
    CLI::App app;
    declare(row, app);
    base::add_to_list(made.subcommands, row.name, " ");
    made.options += options_row(row.name, app);
    for (const CLI::App* part : app.get_subcommands(nullptr)) {
      made.options += options_row(row.name + (" " + part->get_name()), *part);
      base::add_to_list(made.parts, part->get_name(), " ");
    }
  }
  return made;
}

std::string value_rows(std::span<const OptionWords> options) {
  std::string rows;
  for (const OptionWords& row : options)
    rows += fmt::format("    '{} {}') words='{}' ;;\n", row.subcommand, row.option, row.words());
  return rows;
}

// After `fathom run ... --` bash completes as if the job's command stood alone.
constexpr char kScript[] = R"bash(# bash completion for fathom, made by `fathom completion bash`

_fathom() {{
  local subcommands='{subcommands}'
  local parts='{parts}'  # of trace
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local subcommand=${{COMP_WORDS[1]}} path=${{COMP_WORDS[1]}} words='' i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$subcommands --help --version" -- "$word"))
    return
  fi
  if [[ $subcommand == run ]]; then
    for ((i = 2; i < COMP_CWORD; ++i)); do
      if [[ ${{COMP_WORDS[i]}} == -- ]]; then
        declare -F _command_offset > /dev/null && _command_offset $((i + 1))
        return
      fi
    done
  fi
  if [[ $subcommand == help ]]; then
    COMPREPLY=($(compgen -W "$subcommands" -- "$word"))
    return
  fi
  if [[ $subcommand == trace ]]; then
    if ((COMP_CWORD == 2)) && [[ $word != -* ]]; then
      COMPREPLY=($(compgen -W "$parts" -- "$word"))
      return
    fi
    ((COMP_CWORD > 2)) && path="trace ${{COMP_WORDS[2]}}"
  fi
  [[ $subcommand == completion && $word != -* ]] && before=SHELL
  case "$subcommand $before" in
{values}  esac
  if [[ -n $words ]]; then  # of a list, the last item
    local prefix=''
    [[ $word == *,* ]] && prefix=${{word%,*}},
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "${{word##*,}}"))
    return
  fi
  [[ $word == -* ]] || return
  case $path in
{options}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}

complete -o default -F _fathom fathom
)bash";

int print_completion(const std::string& shell) {
  if (shell != "bash")
    return fail(kWrongUsage, "completion",
                "there is no completion for '" + shell + "', only for bash");
  const Tables made = tables();
  const std::string script =
      fmt::format(kScript, fmt::arg("subcommands", made.subcommands), fmt::arg("parts", made.parts),
                  fmt::arg("values", value_rows(kWords) + value_rows(simulator_option_words())),
                  fmt::arg("options", made.options));
  return std::fputs(script.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? kFine : kFailed;
}

}  // namespace

Action declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "the shell: bash")->required()->type_name("");
  return [shell] { return print_completion(*shell); };
}

}  // namespace fathom::cli
