// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/launcher.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/program_name.h"
#include "base/text.h"
#include "base/text_lines.h"
#include "cli/launch/mpi_probe.h"
#include "cli/launch/needed_libraries.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

constexpr char kEnvList[] = "mca_base_env_list";
constexpr char kEnvListVariable[] = "OMPI_MCA_mca_base_env_list";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array<std::string_view, 7> kOpenMpiLaunchers = {
    "mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi", "prun"};

constexpr std::array<std::string_view, 3> kHydraLaunchers = {"mpirun.mpich", "mpiexec.mpich",
                                                             "mpiexec.hydra"};

// Commands that run the command after them.
constexpr std::array<std::string_view, 11> kWrappers = {"env",     "nice",    "ionice", "nohup",
                                                        "time",    "timeout", "setsid", "stdbuf",
                                                        "numactl", "taskset", "strace"};

// Options of Open MPI's mpirun that take one value, from `mpirun --help full` of 4.1.4 and the help
// of PRRTE 3 (help-prterun.txt, help-schizo-ompi.txt).
constexpr std::array<std::string_view, 63> kOneValue = {"am",
                                                        "app",
                                                        "bind-to",
                                                        "c",
                                                        "np",
                                                        "cf",
                                                        "cartofile",
                                                        "cpu-list",
                                                        "cpu-set",
                                                        "cpus-per-proc",
                                                        "cpus-per-rank",
                                                        "debugger",
                                                        "default-hostfile",
                                                        "H",
                                                        "host",
                                                        "hnp",
                                                        "hostfile",
                                                        "launch-agent",
                                                        "machinefile",
                                                        "map-by",
                                                        "max-restarts",
                                                        "max-vm-size",
                                                        "N",
                                                        "n",
                                                        "npernode",
                                                        "npersocket",
                                                        "ompi-server",
                                                        "output-filename",
                                                        "output-proctable",
                                                        "path",
                                                        "personality",
                                                        "ppr",
                                                        "prefix",
                                                        "preload-files",
                                                        "rank-by",
                                                        "report-events",
                                                        "report-pid",
                                                        "report-state-on-timeout",
                                                        "report-uri",
                                                        "rf",
                                                        "rankfile",
                                                        "stdin",
                                                        "timeout",
                                                        "tune",
                                                        "wd",
                                                        "wdir",
                                                        "x",
                                                        "xml-file",
                                                        "xterm",
                                                        "runtime-options",
                                                        "output",
                                                        "display",
                                                        "add-host",
                                                        "add-hostfile",
                                                        "dvm",
                                                        "dvm-uri",
                                                        "forward-signals",
                                                        "keepalive",
                                                        "namespace",
                                                        "output-directory",
                                                        "pset",
                                                        "spawn-timeout",
                                                        "tmpdir"};

// Slurm's common short options with a value; its long ones mostly use '='.
constexpr std::array<std::string_view, 20> kSlurmOneValue = {"n",
                                                             "N",
                                                             "c",
                                                             "p",
                                                             "A",
                                                             "t",
                                                             "w",
                                                             "x",
                                                             "J",
                                                             "o",
                                                             "e",
                                                             "D",
                                                             "m",
                                                             "mpi",
                                                             "ntasks",
                                                             "nodes",
                                                             "cpus-per-task",
                                                             "partition",
                                                             "account",
                                                             "time"};

std::string_view option_name(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

// Number of words after an option of this launcher that are its values.
std::size_t values_of(LauncherKind kind, std::string_view word) {
  const std::string_view name = option_name(word);
  if (name.find('=') != name.npos) return 0;
  if (kind == LauncherKind::kSlurm) return is_one_of(name, kSlurmOneValue);
  if (name.ends_with("mca")) return 2;  // mca, gmca, prtemca, pmixmca, gpmixmca
  return is_one_of(name, kOneValue);
}

// Index of the first word of `command`, from `at` on, that is neither an option nor an option's
// value.
std::size_t skip_options(const Words& command, std::size_t at, LauncherKind kind) {
  while (at < command.size() && is_option(command[at])) at += 1 + values_of(kind, command[at]);
  return std::min(at, command.size());
}

// For names: skips wrappers and interpreters to reach the program or script.
std::size_t skip_wrappers(const Words& command, std::size_t at) {
  while (at + 1 < command.size() && is_one_of(base_name(command[at]), kWrappers)) {
    std::size_t next = at + 1;
    while (next < command.size() &&
           (is_option(command[next]) || command[next].find('=') != std::string::npos ||
            std::isdigit(static_cast<unsigned char>(command[next][0])))) {
      ++next;
    }
    if (next == command.size()) break;
    at = next;
  }
  return base::program_position(command, at);
}

// The AddressSanitizer runtime that the program needs as a shared library: "libasan.so.8". Empty if
// none, or if the program cannot be read (a script, a file on another host).
std::string sanitizer_of(const Words& command, std::size_t program) {
  if (program >= command.size()) return "";
  for (const std::string& name : needed_libraries(find_on_path(command[program]))) {
    if (name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")) return name;
  }
  return "";
}

// Order: a sanitizer's runtime, unless the user names it; the user's own libraries; then ours. An
// earlier library's MPI functions are called first and reach ours through dlsym(RTLD_NEXT), as that
// tool expects.
std::string with_library(const std::string& sanitizer, const std::optional<std::string>& preloaded,
                         const std::string& library) {
  std::string list = preloaded.value_or("");
  if (list.find(sanitizer) == list.npos) list = sanitizer + (list.empty() ? "" : ":") + list;
  return list + (list.empty() ? "" : ":") + library;
}

// Whether this launcher of Open MPI is PRRTE's prterun, as mpirun is since Open MPI 5.
bool is_prrte(const std::string& launcher) {
  constexpr int kFirst = 5;
  return base_name(launcher) == "prterun" || base_name(launcher) == "prun" ||
         std::atoi(launcher_release(launcher).c_str()) >= kFirst;
}

// The words of one application context, and what Fathom must know about it.
struct Context {
  Words words;  // without -x LD_PRELOAD
  std::optional<std::string> preloaded;
};

class OpenMpiCommand {
 public:
  OpenMpiCommand(const Words& command, std::size_t launcher, const Environment& environment)
      : head_(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(launcher) + 1),
        environment_(environment) {
    contexts_.emplace_back();
    for (std::size_t at = launcher + 1; at < command.size(); ++at) {
      if (command[at] == ":") {
        contexts_.emplace_back();
      } else {
        contexts_.back().words.push_back(command[at]);
      }
    }
    for (Context& context : contexts_) inspect(context);
  }

  base::Result<Launch> preload(const std::string& library, const Variables& settings) {
    const auto listed = environment_(kEnvListVariable);
    if ((env_list_ || listed || !app_file_.empty()) && is_prrte(head_.back())) {
      if (file_preloads(app_file_)) {
        return base::Error{
            "the --app file " + app_file_ +
            " names LD_PRELOAD with -x, which would win over Fathom's; write -x LD_PRELOAD=... on "
            "mpirun's command line instead"};
      }
      const auto preloaded = preloaded_by(env_list_ ? *env_list_ : listed.value_or(""));
      return name_each(library, settings, preloaded ? preloaded : environment_("LD_PRELOAD"));
    }
    if (env_list_) return extend_option(library, settings);
    if (listed || !app_file_.empty())
      return extend_variable(listed.value_or(""), library, settings);
    return name_each(library, settings, environment_("LD_PRELOAD"));
  }

 private:
  // Reads the launcher's own options; ignores the application's words.
  void inspect(Context& context) {
    Words& words = context.words;
    for (std::size_t at = 0; at < words.size() && is_option(words[at]);) {
      const std::string_view name = option_name(words[at]);
      const std::size_t values = values_of(LauncherKind::kOpenMpi, words[at]);
      if (at + values >= words.size()) break;
      if (name == "x") {
        if (take_preload(context, words[at + 1])) {
          words.erase(words.begin() + static_cast<std::ptrdiff_t>(at),
                      words.begin() + static_cast<std::ptrdiff_t>(at) + 2);
          continue;
        }
        names_variables_ = true;
      } else if (values == 2 && words[at + 1] == kEnvList) {
        env_list_ = &words[at + 2];
      } else if (name == "app") {
        app_file_ = words[at + 1];
      } else if (name == "tune") {
        names_variables_ = true;
      }
      at += 1 + values;
    }
  }

  bool take_preload(Context& context, const std::string& assignment) {
    if (assignment == "LD_PRELOAD") {
      context.preloaded = environment_("LD_PRELOAD");
    } else if (assignment.starts_with("LD_PRELOAD=")) {
      context.preloaded = assignment.substr(sizeof "LD_PRELOAD=" - 1);
    } else {
      return false;
    }
    return true;
  }

  // LD_PRELOAD in a list of variables.
  std::optional<std::string> preloaded_by(const std::string& list) {
    Context entry;
    for (const std::string& assignment : base::split(list, ';')) take_preload(entry, assignment);
    return entry.preloaded;
  }

  // `preloaded_in_all`: what the user preloads into contexts that do not say it themselves.
  base::Result<Launch> name_each(const std::string& library, const Variables& settings,
                                 const std::optional<std::string>& preloaded_in_all) {
    Launch launch{head_, {}};
    for (const Context& context : contexts_) {
      if (&context != &contexts_.front()) launch.command.push_back(":");
      const auto preloaded = context.preloaded ? context.preloaded : preloaded_in_all;
      append(launch.command,
             {"-x", "LD_PRELOAD=" + with_library(sanitizer_in(context), preloaded, library)});
      for (const auto& [name, value] : settings) append(launch.command, {"-x", name + "=" + value});
      append(launch.command, context.words);
    }
    return launch;
  }

  base::Result<Launch> extend_option(const std::string& library, const Variables& settings) {
    auto list = extended(*env_list_, library, settings);
    if (!list) return list.error();
    *env_list_ = *list;
    return Launch{unchanged(), {}};
  }

  base::Result<Launch> extend_variable(const std::string& current, const std::string& library,
                                       const Variables& settings) {
    if (names_variables_ || (!app_file_.empty() && file_names_variables(app_file_))) {
      return base::Error{
          "Open MPI does not accept both -x and a list of variables (mca_base_env_list, or an "
          "--app file, for which Fathom needs one); use one of the two for all variables"};
    }
    auto list = extended(current, library, settings);
    if (!list) return list.error();
    return Launch{unchanged(), {{kEnvListVariable, *list}}};
  }

  // "A=1;B;LD_PRELOAD=theirs" with ours added. A bare name means the launcher's own value.
  base::Result<std::string> extended(const std::string& current, const std::string& library,
                                     const Variables& settings) {
    std::string list;
    std::optional<std::string> preloaded = environment_("LD_PRELOAD");
    for (std::size_t at = 0; at <= current.size();) {
      const std::size_t end = std::min(current.find(';', at), current.size());
      Context entry;
      const std::string assignment = current.substr(at, end - at);
      if (take_preload(entry, assignment)) {
        preloaded = entry.preloaded;
      } else if (!assignment.empty()) {
        list += assignment + ";";
      }
      at = end + 1;
    }
    list += "LD_PRELOAD=" + with_library(sanitizer_in_all(), preloaded, library);
    for (const auto& [name, value] : settings) {
      if (value.find(';') != value.npos) {
        return base::Error{name + " would be '" + value +
                           "', which a list of variables (mca_base_env_list) cannot hold because "
                           "of its ';'; choose another name"};
      }
      list += ";" + name + "=" + value;
    }
    return list;
  }

  static std::string sanitizer_in(const Context& context) {
    return sanitizer_of(context.words, skip_options(context.words, 0, LauncherKind::kOpenMpi));
  }

  // A list applies to all contexts.
  std::string sanitizer_in_all() const {
    const std::string first = sanitizer_in(contexts_.front());
    for (const Context& context : contexts_) {
      if (sanitizer_in(context) != first) return "";
    }
    return first;
  }

  static bool file_preloads(const std::string& path) {
    std::ifstream file(path);
    for (std::string word; file >> word;) {
      if (word == "LD_PRELOAD" || word.starts_with("LD_PRELOAD=")) return true;
    }
    return false;
  }

  static bool file_names_variables(const std::string& path) {
    std::ifstream file(path);
    for (std::string word; file >> word;) {
      if (word == "-x" || word == "--x") return true;
    }
    return false;
  }

  static void append(Words& words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
  }

  // The user's own command; a -x LD_PRELOAD moves to the list.
  Words unchanged() const {
    Words command = head_;
    for (const Context& context : contexts_) {
      if (&context != &contexts_.front()) command.push_back(":");
      append(command, context.words);
    }
    return command;
  }

  Words head_;  // up to the launcher's word
  std::vector<Context> contexts_;
  const Environment& environment_;
  std::string* env_list_ = nullptr;  // the value of --mca mca_base_env_list
  std::string app_file_;
  bool names_variables_ = false;  // -x with another name than LD_PRELOAD
};

// srun --export=LIST: "ALL", "NONE", names and assignments, separated by commas. The last --export
// counts.
base::Result<Launch> preload_slurm(const Words& command, std::size_t launcher,
                                   const std::string& library, const Variables& settings,
                                   const Environment& environment) {
  Launch launch{command, settings};
  Words& words = launch.command;
  std::optional<std::string> given = environment("SLURM_EXPORT_ENV");
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(launcher) + 1;
  const auto option = std::find_if(begin, words.end(), [](const std::string& word) {
    return word == "--export" || word.starts_with("--export=");
  });
  if (option != words.end()) {
    const bool separate = *option == "--export" && option + 1 != words.end();
    given = separate ? *(option + 1) : option->substr(std::min(option->size(), sizeof "--export"));
    words.erase(option, option + (separate ? 2 : 1));
  }
  std::string list;
  std::optional<std::string> preloaded = environment("LD_PRELOAD");
  const std::string current = given.value_or("ALL");
  for (std::size_t at = 0; at <= current.size();) {
    const std::size_t end = std::min(current.find(',', at), current.size());
    const std::string entry = current.substr(at, end - at);
    if (entry.starts_with("LD_PRELOAD=")) {
      preloaded = entry.substr(sizeof "LD_PRELOAD=" - 1);
    } else if (!entry.empty() && entry != "NONE" && entry != "LD_PRELOAD") {
      list += entry + ",";
    }
    at = end + 1;
  }
  const std::size_t program = skip_options(command, launcher + 1, LauncherKind::kSlurm);
  const std::string preload = with_library(sanitizer_of(command, program), preloaded, library);
  if (preload.find(',') != preload.npos) {
    return base::Error{"srun cannot pass on LD_PRELOAD='" + preload +
                       "' because of its ','; move the library to a path without one"};
  }
  for (const auto& setting : settings) list += setting.first + ",";
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(launcher) + 1,
               "--export=" + list + "LD_PRELOAD=" + preload);
  return launch;
}

// A program or a script: Intel's mpirun is a script that starts mpiexec.hydra.
bool file_names_hydra(const std::string& command) {
  std::ifstream file(find_on_path(command), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  return content.find("hydra") != content.npos;
}

LauncherKind kind_of(const std::string& word) {
  const std::string_view name = base_name(word);
  if (name == "srun") return LauncherKind::kSlurm;
  if (is_one_of(name, kHydraLaunchers)) return LauncherKind::kHydra;
  if (!is_one_of(name, kOpenMpiLaunchers)) return LauncherKind::kNone;
  return file_names_hydra(word) ? LauncherKind::kHydra : LauncherKind::kOpenMpi;
}

}  // namespace

Launcher find_launcher(const Words& command) {
  const bool wrapped = !command.empty() && is_one_of(base_name(command[0]), kWrappers);
  for (std::size_t at = 0;
       at < (wrapped ? command.size() : std::min<std::size_t>(1, command.size())); ++at) {
    const LauncherKind kind = kind_of(command[at]);
    if (kind != LauncherKind::kNone) return {kind, at};
  }
  return {};
}

Words rank_command(const Words& command) {
  const Launcher launcher = find_launcher(command);
  std::size_t at = 0;
  if (launcher.kind != LauncherKind::kNone)
    at = skip_options(command, launcher.position + 1, launcher.kind);
  const auto begin = command.begin() + static_cast<std::ptrdiff_t>(at);
  return Words(begin, std::find(begin, command.end(), ":"));
}

std::string application_name(const Words& command) {
  const Launcher launcher = find_launcher(command);
  std::size_t at = 0;
  if (launcher.kind != LauncherKind::kNone) {
    at = skip_options(command, launcher.position + 1, launcher.kind);
  }
  if (at == command.size()) return "app";
  std::string name(base_name(command[skip_wrappers(command, at)]));
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '+') c = '-';
  }
  return name.empty() || name[0] == '.' ? "app" : name;
}

base::Result<Launch> preload_ranks(const Words& command, const Words& libraries,
                                   const Variables& settings, const Environment& environment) {
  for (const std::string& path : libraries) {
    if (path.find_first_of(": \t") != path.npos) {
      return base::Error{"the library's path '" + path +
                         "' contains a blank or ':', which LD_PRELOAD does not allow; move it or "
                         "set FATHOM_LIBRARY to a copy"};
    }
  }
  const std::string library = base::joined(libraries, ":");
  const Launcher launcher = find_launcher(command);
  switch (launcher.kind) {
    case LauncherKind::kOpenMpi:
      return OpenMpiCommand(command, launcher.position, environment).preload(library, settings);
    case LauncherKind::kSlurm:
      return preload_slurm(command, launcher.position, library, settings, environment);
    case LauncherKind::kHydra:
    case LauncherKind::kNone: break;
  }
  Launch launch{command, settings};
  const std::string sanitizer = sanitizer_of(command, launcher.position);
  launch.environment.emplace_back("LD_PRELOAD",
                                  with_library(sanitizer, environment("LD_PRELOAD"), library));
  return launch;
}

}  // namespace fathom::cli
