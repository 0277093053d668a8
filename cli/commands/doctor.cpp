// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/doctor.h"

#include <glob.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/language/command_line.h"
#include "cli/launch/installation.h"
#include "cli/launch/mpi_probe.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// The series for whose internals the library was built; scripts/build_openmpi.sh builds from it.
constexpr char kSupportedVersion[] = "Open MPI v4.1.";

std::string set_to(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

class Examination {
 public:
  int run() {
    const bool library = examine_library();
    const bool open_mpi = examine_open_mpi();
    examine_peruse_build();
    examine_root();
    examine_folder();
    examine_plotting();
    const bool able = library && open_mpi;
    std::printf("\n%s\n",
                able ? summary().c_str()
                     : "nothing can be measured here until the lines marked 'no' are mended");
    return able ? kFine : kFailed;
  }

 private:
  enum class Verdict { kOk, kWarn, kNo };

  void line(Verdict verdict, const std::string& what, const std::string& finding) {
    const char* word = verdict == Verdict::kOk     ? "ok  "
                       : verdict == Verdict::kWarn ? "warn"
                                                   : "no  ";
    const Style style = verdict == Verdict::kOk     ? Style::kGood
                        : verdict == Verdict::kWarn ? Style::kWarning
                                                    : Style::kBad;
    std::printf("%s  %-16s %s\n", terminal_.styled(style, word).c_str(), what.c_str(),
                finding.c_str());
  }

  bool examine_library() {
    const auto library = find_library(false);
    if (library) {
      line(Verdict::kOk, "library", *library);
    } else {
      line(Verdict::kNo, "library", library.error().message);
    }
    return library.ok();
  }

  bool examine_open_mpi() {
    const std::string launcher = find_on_path("mpirun");
    if (launcher.empty()) {
      line(Verdict::kWarn, "mpirun",
           "none on the PATH; install openmpi-bin, or '. scripts/env.sh' for the PERUSE build");
    } else {
      line(Verdict::kOk, "mpirun", launcher);
    }
    const std::vector<MpiFacts> libraries = probe_launcher("mpirun");
    if (libraries.empty()) {
      line(Verdict::kNo, "MPI library",
           "no libmpi.so.40 can be loaded; install libopenmpi-dev, or build one with "
           "scripts/setup.sh");
      return false;
    }
    bool usable = false;
    for (const MpiFacts& facts : libraries) usable = examine_one(facts) || usable;
    return usable;
  }

  bool examine_one(const MpiFacts& facts) {
    const std::string name = fmt::format("{} ({})", facts.version, facts.path);
    if (!facts.version.starts_with(kSupportedVersion)) {
      line(Verdict::kNo, "MPI library", name + "; Fathom needs Open MPI 4.1.x");
      return false;
    }
    line(Verdict::kOk, "MPI library", name);
    if (facts.has_mca_pml) {
      line(Verdict::kOk, "  source pml",
           "every send can be counted by its sender, every receive by its request");
    } else {
      line(
          Verdict::kNo, "  source pml",
          "the library does not export mca_pml; use a build that hides no symbols, as Debian's is");
    }
    if (facts.has_peruse) {
      line(Verdict::kOk, "  source peruse",
           "every receive can be counted as MPI itself reports it");
    } else {
      line(Verdict::kWarn, "  source peruse",
           "built without PERUSE, so the pml source counts; with it: scripts/setup.sh, '. "
           "scripts/env.sh'");
    }
    pml_ = pml_ || facts.has_mca_pml;
    peruse_ = peruse_ || facts.has_peruse;
    return facts.has_mca_pml || facts.has_peruse;
  }

  static std::vector<std::string> cached_builds() {
    std::string cache = set_to("FATHOM_CACHE");
    if (cache.empty()) {
      const std::string base = set_to("XDG_CACHE_HOME");
      cache = (base.empty() ? set_to("HOME") + "/.cache" : base) + "/fathom";
    }
    std::vector<std::string> builds;
    if (!set_to("FATHOM_OPENMPI").empty()) builds.push_back(set_to("FATHOM_OPENMPI"));
    glob_t found = {};
    if (glob((cache + "/openmpi-*-peruse-*").c_str(), 0, nullptr, &found) == 0) {
      builds.insert(builds.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
    return builds;
  }

  void examine_peruse_build() {
    for (const std::string& prefix : cached_builds()) {
      const auto facts = probe_mpi(prefix + "/lib/libmpi.so.40");
      if (facts && facts->has_peruse) {
        line(Verdict::kOk, "PERUSE build",
             prefix + (peruse_ ? "" : "; '. scripts/env.sh' takes it into use"));
        return;
      }
      line(Verdict::kWarn, "PERUSE build", prefix + " is not usable; run scripts/setup.sh again");
    }
    if (cached_builds().empty()) {
      line(peruse_ ? Verdict::kOk : Verdict::kWarn, "PERUSE build",
           "none of Fathom's own; scripts/setup.sh makes one in a few minutes");
    }
  }

  void examine_root() {
    if (geteuid() != 0) return;
    const bool allowed =
        set_to("OMPI_ALLOW_RUN_AS_ROOT") == "1" && set_to("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1";
    line(allowed ? Verdict::kOk : Verdict::kWarn, "root",
         allowed ? "mpirun has been told to run as root"
                 : "mpirun refuses to run as root: set OMPI_ALLOW_RUN_AS_ROOT=1 and "
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }

  void examine_folder() {
    std::error_code failed;
    const std::string here = fs::current_path(failed).string();
    const bool writable = !failed && access(".", W_OK | X_OK) == 0;
    line(writable ? Verdict::kOk : Verdict::kWarn, "run directory",
         writable ? "can be made in " + here
                  : "cannot be made in " + here + "; say -o DIR where you may write");
  }

  void examine_plotting() {
    const auto script = find_plot_script();
    const std::string test = "'" + python() + "' -c 'import matplotlib' >/dev/null 2>&1";
    if (!script) {
      line(Verdict::kWarn, "plots", script.error().message);
    } else if (std::system(test.c_str()) != 0) {
      line(Verdict::kWarn, "plots", python() + " has no matplotlib; install python3-matplotlib");
    } else {
      line(Verdict::kOk, "plots", python() + " has matplotlib");
    }
  }

  std::string summary() const {
    if (peruse_) return "jobs can be measured with every source";
    return "jobs can be measured with the sources pml and mpi_t; peruse needs an Open MPI built "
           "for it";
  }

  Terminal terminal_ = Terminal::of_stdout();
  bool pml_ = false;
  bool peruse_ = false;
};

}  // namespace

Action declare_doctor(CLI::App&) {
  return [] { return Examination().run(); };
}

}  // namespace fathom::cli
