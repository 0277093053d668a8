// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/missing_library.h"

#include <elf.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include "base/text.h"
#include "cli/launch/mpi_probe.h"
#include "cli/launch/needed_libraries.h"
#include "rankmap/releases.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostOfScript = 1 << 18;  // bytes
constexpr int kDeepest = 4;                     // scripts that start scripts

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The MPI library that a program names. Open MPI's libmpi.so.40 is not in the list: it is what we
// expect. Only the process knows which MPI a library of the standard ABI belongs to.
struct KnownMpi {
  std::string_view library, name;
  std::string_view remedy = "build it with Open MPI's mpicc";
};
constexpr KnownMpi kOtherMpis[] = {
    {"libmpich.so", "MPICH"},
    {"libmpichcxx.so", "MPICH"},
    {"libmpi_cray", "Cray MPICH"},
    {"libmpi_gnu", "Cray MPICH"},
    {"libmpi_intel", "Cray MPICH"},
    {"libmpi.so.12", "MPICH, MVAPICH or Intel MPI"},
    {"libmpi_abi.so", "a library of the standard MPI ABI",
     "run it on Open MPI 6's library of that name"},
    {"libmpi.so.1", "an old Open MPI"},
    {"libmpi.so.20", "Open MPI 2 or 3"},
};

// Commands that start another one where our variables do not reach it, and how they take variables.
struct Barrier {
  std::string_view command;
  std::string_view why;  // "NAME ..."
  std::string_view how;  // {library}, {folder} and {run} are replaced
};
constexpr Barrier kBarriers[] = {
    {"sudo", "removes LD_PRELOAD", "write sudo env LD_PRELOAD={library} FATHOM_OUTPUT={run}"},
    {"doas", "removes LD_PRELOAD", "write doas env LD_PRELOAD={library} FATHOM_OUTPUT={run}"},
    {"su", "removes LD_PRELOAD", "set LD_PRELOAD={library} and FATHOM_OUTPUT={run} inside it"},
    {"ssh", "does not pass the environment on",
     "set LD_PRELOAD={library} and FATHOM_OUTPUT={run} on the other side"},
    {"apptainer", "starts a container",
     "pass --bind {folder},{run} --env LD_PRELOAD={library} --env FATHOM_OUTPUT={run}"},
    {"singularity", "starts a container",
     "pass --bind {folder},{run} --env LD_PRELOAD={library} --env FATHOM_OUTPUT={run}"},
    {"docker", "starts a container",
     "pass -v {folder}:{folder} -v {run}:{run} -e LD_PRELOAD={library} -e FATHOM_OUTPUT={run}"},
    {"podman", "starts a container",
     "pass -v {folder}:{folder} -v {run}:{run} -e LD_PRELOAD={library} -e FATHOM_OUTPUT={run}"},
    {"shifter", "starts a container",
     "pass --volume {folder}:{folder} --volume {run}:{run} --env LD_PRELOAD={library} --env "
     "FATHOM_OUTPUT={run}"},
    {"sarus", "starts a container", "pass LD_PRELOAD={library} and FATHOM_OUTPUT={run} into it"},
    {"ch-run", "starts a container",
     "pass -b {folder} -b {run} --set-env=LD_PRELOAD={library} --set-env=FATHOM_OUTPUT={run}"},
    {"enroot", "starts a container", "pass LD_PRELOAD={library} and FATHOM_OUTPUT={run} into it"},
    {"bwrap", "starts a container",
     "pass --setenv LD_PRELOAD {library} --setenv FATHOM_OUTPUT {run}"},
    {"chroot", "starts the program in another root folder",
     "copy {library} to the same path there"},
};

class Inspection {
 public:
  explicit Inspection(const Preload& preload) : preload_(preload) {}

  // `where`: "" or "in the script NAME ".
  void command(const Words& words, const std::string& where, int depth) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      const std::string_view name = file_name(words[at]);
      if (name == "env") environment_command(words, at, where);
      for (const Barrier& barrier : kBarriers) {
        if (name == barrier.command) report_barrier(barrier, where);
      }
    }
    // Only a word with a '/' is surely a file, except for the first, which PATH may find.
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (at == 0 || words[at].find('/') != std::string::npos)
        program(find_on_path(words[at]), depth);
    }
  }

  std::string findings() const { return base::joined(findings_, "; "); }

 private:
  void add(const std::string& sentence) {
    if (std::find(findings_.begin(), findings_.end(), sentence) == findings_.end())
      findings_.push_back(sentence);
  }

  std::string filled(std::string_view text) const {
    std::string sentence(text);
    const std::pair<std::string, std::string> values[] = {
        {"{library}", preload_.library},
        {"{folder}", std::filesystem::path(preload_.library).parent_path()},
        {"{run}", preload_.run}};
    for (const auto& [mark, value] : values) {
      for (std::size_t at; (at = sentence.find(mark)) != sentence.npos;)
        sentence.replace(at, mark.size(), value);
    }
    return sentence;
  }

  void report_barrier(const Barrier& barrier, const std::string& where) {
    add(filled(fmt::format("{}'{}' {}: {}", where, barrier.command, barrier.why, barrier.how)));
  }

  // env -i and env -u LD_PRELOAD.
  void environment_command(const Words& words, std::size_t at, const std::string& where) {
    bool cleared = false, removed = false, set = false;
    for (++at; at < words.size(); ++at) {
      const std::string& word = words[at];
      cleared = cleared || word == "-i" || word == "-" || word == "--ignore-environment";
      removed = removed || word == "--unset=LD_PRELOAD" || word == "-uLD_PRELOAD" ||
                (word == "-u" && at + 1 < words.size() && words[at + 1] == "LD_PRELOAD");
      set = set || word.starts_with("LD_PRELOAD=");
    }
    if (cleared && !set)
      add(filled(where + "'env -i' clears the environment: write env -i LD_PRELOAD={library} "
                         "FATHOM_OUTPUT={run}"));
    if (removed && !set)
      add(where + "'env -u LD_PRELOAD' removes the library: leave that out under fathom run");
  }

  void program(const std::string& path, int depth) {
    if (path.empty() || !seen_.insert(path).second || seen_.size() > 64) return;
    std::ifstream file(path, std::ios::binary);
    std::string head(sizeof(Elf64_Ehdr), '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    if (head.starts_with("#!") && depth < kDeepest) return script(path, depth);
    if (head.starts_with(ELFMAG)) elf(path);
  }

  void script(const std::string& path, int depth) {
    std::ifstream file(path);
    std::string text(kMostOfScript, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    const std::string where = fmt::format("in the script {} ", path);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      Words words{std::istream_iterator<std::string>(fields), {}};
      if (words.empty() || words[0].starts_with('#')) continue;
      for (std::string& word : words)
        std::erase_if(word, [](char c) { return c == '"' || c == '\''; });
      script_line(words, where, depth);
    }
  }

  void script_line(Words& words, const std::string& where, int depth) {
    if (words[0] == "exec") words.erase(words.begin());
    if (words.empty()) return;
    const bool names = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word == "LD_PRELOAD" || word == "LD_PRELOAD;";
    });
    if (words[0] == "unset" && names)
      return add(where + "'unset LD_PRELOAD' removes the library: leave that out under fathom run");
    const std::string& assigned = words[words[0] == "export" && words.size() > 1 ? 1 : 0];
    if (assigned.starts_with("LD_PRELOAD=") &&
        assigned.find("LD_PRELOAD", sizeof "LD_PRELOAD=" - 1) == assigned.npos)
      return add(where + "'" + assigned +
                 "' replaces the library: write LD_PRELOAD=...:$LD_PRELOAD");
    command(words, where, depth + 1);
  }

  void elf(const std::string& path) {
    const std::optional<LinkKind> kind = link_kind(path);
    if (kind == LinkKind::kStatic)
      return add(
          fmt::format("{} is statically linked, so nothing can be preloaded into it: link it "
                      "with Open MPI's shared library (mpicc without -static)",
                      path));
    struct stat status;
    const bool privileged =
        (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) ||
        getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    // sudo is setuid too, and has a sentence of its own.
    const bool is_barrier =
        std::any_of(std::begin(kBarriers), std::end(kBarriers),
                    [&](const Barrier& barrier) { return file_name(path) == barrier.command; });
    if (privileged && !is_barrier)
      add(
          fmt::format("{} is setuid or has capabilities, so the system ignores LD_PRELOAD: profile "
                      "a copy without them",
                      path));
    for (const std::string& library : needed_libraries(path)) {
      for (const KnownMpi& mpi : kOtherMpis) {
        const bool exact = mpi.library.find(".so.") != mpi.library.npos;
        if (exact ? library == mpi.library : library.starts_with(mpi.library))
          return add(
              fmt::format("{} is linked with {} ({}), and Fathom can profile only Open MPI {}: {}",
                          path, mpi.name, library, openmpi::known_releases(), mpi.remedy));
      }
    }
  }

  const Preload& preload_;
  std::vector<std::string> findings_;
  std::set<std::string> seen_;
};

}  // namespace

std::string why_not_loaded(const Words& command, const Preload& preload) {
  Inspection inspection(preload);
  inspection.command(rank_command(command), "", 0);
  return inspection.findings();
}

}  // namespace fathom::cli
