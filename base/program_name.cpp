// SPDX-License-Identifier: BSD-3-Clause
#include "base/program_name.h"

#include <string_view>

namespace fathom::base {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// What stands between an interpreter and its script. All of them run the first word that is no
// option.
struct Interpreter {
  std::string_view name;       // followed by a version, as in python3.11
  std::string_view one_value;  // short options with a value, which may be the next word
  std::string_view program;    // options with the program's text: there is no script
  std::string_view module;     // options with a module's name: that is the program
};

constexpr Interpreter kInterpreters[] = {
    {"python", "WX", "c", "m"}, {"pypy", "WX", "c", "m"}, {"julia", "JpLCt", "eE", ""},
    {"perl", "I", "eE", ""},    {"ruby", "IrC", "e", ""}, {"bash", "oO", "c", ""},
    {"dash", "o", "c", ""},     {"sh", "o", "c", ""},     {"ksh", "o", "c", ""},
    {"zsh", "o", "c", ""},      {"Rscript", "", "e", ""},
};

const Interpreter* interpreter_named(std::string_view word) {
  const std::string_view name = base_name(word);
  for (const Interpreter& row : kInterpreters) {
    if (name.starts_with(row.name) &&
        name.find_first_not_of("0123456789.-", row.name.size()) == name.npos)
      return &row;
  }
  return nullptr;
}

// Modules that run the script named after them.
bool runs_a_script(std::string_view module) {
  return module == "mpi4py" || module == "mpi4py.run" || module == "cProfile" ||
         module == "trace" || module == "pdb";
}

}  // namespace

std::size_t program_position(const std::vector<std::string>& command, std::size_t at) {
  const Interpreter* interpreter = at < command.size() ? interpreter_named(command[at]) : nullptr;
  if (interpreter == nullptr) return at;
  for (std::size_t next = at + 1; next < command.size(); ++next) {
    const std::string_view word = command[next];
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (!is_option && word.find('=') != word.npos) continue;  // --rc threads=0
    if (!is_option) return word == "-" || word.empty() ? at : next;
    if (word[1] == '-') continue;
    // Short options may be joined: -um mpi4py, -Wignore.
    for (std::size_t i = 1; i < word.size(); ++i) {
      const bool last = i + 1 == word.size();
      if (interpreter->program.find(word[i]) != word.npos) return at;
      if (interpreter->module.find(word[i]) != word.npos) {
        if (!last) return at;  // -mMODULE: no word of its own
        if (++next >= command.size()) return at;
        if (!runs_a_script(command[next])) return next;
        break;
      }
      if (interpreter->one_value.find(word[i]) == word.npos) continue;
      if (last) ++next;
      break;
    }
  }
  return at;
}

std::string program_path(const std::string& executable, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {executable};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command[program_position(command, 0)];
}

std::string program_name(const std::string& executable, const std::vector<std::string>& arguments) {
  return std::string(base_name(program_path(executable, arguments)));
}

}  // namespace fathom::base
