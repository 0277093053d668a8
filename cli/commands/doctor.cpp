// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/doctor.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "base/launcher.h"
#include "base/text.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/launch/installation.h"
#include "cli/launch/job.h"
#include "cli/launch/mpi_probe.h"
#include "cli/launch/other_mpi.h"
#include "cli/launch/overlay.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"
#include "rankmap/releases.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kOpenMpi[] = "Open MPI v";

class Examination {
 public:
  // `launcher`: the mpirun of the Open MPI that is asked about; empty: the one on the PATH.
  explicit Examination(const std::string& launcher)
      : launcher_(launcher.empty() ? "mpirun" : launcher), another_(!launcher.empty()) {}

  // In text or as JSON, schema fathom-doctor/1.
  // Every examination runs even if an earlier one failed, so that one call lists all that is to do.
  int run(const ResultOutput& output) {
    if (const auto checked = check(output); !checked)
      return fail(kWrongUsage, "doctor", checked.error().message);
    terminal_ = Terminal::of(output.path);
    const bool library = examine_library();
    const bool open_mpi = examine_open_mpi();
    examine_root();
    examine_folder();
    examine_plotting();
    examine_python();
    const bool able = library && open_mpi;
    const int delivered = deliver(output, "doctor", output.wants_json() ? json(able) : text(able));
    return able ? delivered : kFailed;
  }

 private:
  enum class Verdict { kOk, kWarn, kNo };

  struct Line {
    Verdict verdict;
    std::string what, finding;
  };

  void line(Verdict verdict, const std::string& what, const std::string& finding) {
    lines_.push_back({verdict, what, finding});
  }

  static const char* word_of(Verdict verdict) {
    return verdict == Verdict::kOk ? "ok" : verdict == Verdict::kWarn ? "warn" : "no";
  }

  std::string text(bool able) const {
    std::string text;
    for (const Line& line : lines_) {
      const Style style = line.verdict == Verdict::kOk     ? Style::kGood
                          : line.verdict == Verdict::kWarn ? Style::kWarning
                                                           : Style::kBad;
      constexpr std::size_t kVerdict = 4, kIndent = 23;
      const std::string rest = folded(
          fmt::format("{}  {:<16} {}\n", std::string(kVerdict, ' '), line.what, line.finding),
          terminal_.width(), kIndent);
      text +=
          terminal_.styled(style, left(word_of(line.verdict), kVerdict)) + rest.substr(kVerdict);
    }
    return text + "\n" + folded(summary(able) + "\n", terminal_.width(), 0);
  }

  std::string json(bool able) const {
    return base::json_text(base::kReadableIndent,
                           [&](base::JsonWriter& json) {
                             json.field("schema", "fathom-doctor/1");
                             json.field("able", able);
                             json.field("summary", summary(able));
                             json.objects("findings", lines_, [&](const Line& line) {
                               json.field("verdict", word_of(line.verdict));
                               json.field("what",
                                          line.what.substr(line.what.find_first_not_of(' ')));
                               json.field("finding", line.finding);
                             });
                           }) +
           "\n";
  }

  bool examine_library() {
    const auto library = find_library(Library::kTimes);
    if (library) {
      line(Verdict::kOk, "library", *library);
    } else {
      line(Verdict::kNo, "library", library.error().message);
    }
    return library.ok();
  }

  bool examine_open_mpi() {
    const std::string launcher = find_on_path(launcher_);
    if (!launcher.empty()) {
      line(Verdict::kOk, "mpirun", launcher);
    } else if (another_) {
      line(Verdict::kNo, "mpirun",
           "'" + launcher_ + "' is not a program; name the mpirun of an Open MPI");
      return false;
    } else {
      line(Verdict::kWarn, "mpirun",
           "not on the PATH; install openmpi-bin, or load the module of your site's Open MPI");
    }
    const auto pml = launcher.empty() ? std::nullopt : pml_settings(launcher);
    const bool usable = another_ ? examine_another(launcher, pml) : examine_libraries();
    if (usable && pml) examine_pml(*pml);
    return usable;
  }

  bool examine_libraries() {
    const std::vector<MpiFacts> libraries = probe_launcher(launcher_);
    if (libraries.empty()) {
      line(Verdict::kNo, "MPI library",
           "cannot load libmpi.so.40; install libopenmpi-dev, or load the module of your "
           "site's Open MPI");
      return false;
    }
    bool usable = false;
    for (const MpiFacts& facts : libraries)
      usable = examine_one(facts, overlay_for(facts.path)) || usable;
    return usable;
  }

  // The library that the loader finds may be that of the Open MPI on the PATH instead.
  bool examine_another(const std::string& launcher, const std::optional<PmlSettings>& pml) {
    const std::string release = launcher_release(launcher);
    if (release.empty()) {
      line(Verdict::kNo, "MPI library",
           launcher + " --version does not report Open MPI; name the mpirun of an Open MPI");
      return false;
    }
    for (const MpiFacts& facts : probe_launcher(launcher)) {
      if (facts.version == kOpenMpi + release) return examine_one(facts, overlay_for(facts.path));
    }
    const auto other = pml ? look_through_launcher(launcher, pml->library_folder) : std::nullopt;
    if (other) return examine_one(other->facts, other->overlay);
    line(Verdict::kNo, "MPI library",
         fmt::format("cannot load the libmpi of Open MPI {} here, and '{} -n 1' could not start a "
                     "process to look at it; run that to see why",
                     release, launcher_));
    return false;
  }

  // Which component will carry messages, and what that means for what can be observed. Fathom
  // leaves the choice to Open MPI, unless the source peruse is asked for by name.
  void examine_pml(const PmlSettings& pml) {
    const std::string because =
        pml.chosen.empty() ? "" : fmt::format(" (pml={}, {})", pml.chosen, pml.set_by);
    if (!pml.takes_part("ucx")) {
      line(Verdict::kOk, "  default PML",
           (pml.takes_part("ob1") ? "ob1" : base::joined(pml.components)) + because +
               (pml.takes_part("ob1") ? ", which also shows the unexpected queue, late receivers "
                                        "and, with PERUSE, the steps of a transfer"
                                      : ""));
      return;
    }
    line(Verdict::kWarn, "  default PML",
         fmt::format(
             "ucx where UCX serves the network, such as InfiniBand{}{}; ucx counts as exactly, by "
             "the source pml. Only ob1 shows the unexpected queue, late receivers and PERUSE's "
             "steps: mpirun --mca pml ob1, which sends over other transports",
             pml.takes_part("ob1") ? ", else ob1" : "", because));
  }

  bool examine_one(const MpiFacts& facts, const std::optional<std::string>& overlay) {
    const std::string name = fmt::format("{} ({})", facts.version, facts.path);
    const openmpi::Version version = openmpi::version_of(facts.version);
    if (!openmpi::is_known_series(version)) {
      line(Verdict::kNo, "MPI library",
           name + "; Fathom knows Open MPI " + openmpi::known_releases());
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
    } else if (overlay) {
      line(Verdict::kOk, "  source peruse",
           "every receive can be counted as MPI itself reports it: fathom run lays the files of " +
               *overlay + " over this Open MPI, in the ranks");
    } else {
      line(Verdict::kWarn, "  source peruse",
           std::string("built without PERUSE, so the pml source counts") +
               (version.major == 4 && !another_
                    ? "; 'fathom doctor --build-peruse' builds the two files that PERUSE needs"
                    : ""));
    }
    pml_ = pml_ || facts.has_mca_pml;
    peruse_ = peruse_ || facts.has_peruse || overlay;
    return facts.has_mca_pml || facts.has_peruse;
  }

  void examine_root() {
    if (geteuid() != 0) return;
    const bool allowed = base::process_environment("OMPI_ALLOW_RUN_AS_ROOT") == "1" &&
                         base::process_environment("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1";
    line(allowed ? Verdict::kOk : Verdict::kWarn, "root",
         allowed ? "mpirun is allowed to run as root"
                 : "mpirun refuses to run as root: set OMPI_ALLOW_RUN_AS_ROOT=1 and "
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }

  void examine_folder() {
    std::error_code failed;
    const std::string here = fs::current_path(failed).string();
    const bool writable = !failed && access(".", W_OK | X_OK) == 0;
    line(writable ? Verdict::kOk : Verdict::kWarn, "run directory",
         writable ? "can be created in " + here
                  : "cannot be created in " + here + "; use -o DIR with a folder that is writable");
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

  void examine_python() {
    const std::string test = "'" + python() + "' -c 'import fathom' >/dev/null 2>&1";
    if (std::system(test.c_str()) == 0) {
      line(Verdict::kOk, "import fathom", "works with " + python());
    } else {
      line(Verdict::kWarn, "import fathom",
           "does not work with " + python() + "; try PYTHONPATH=" + python_path());
    }
  }

  std::string summary(bool able) const {
    if (!able) return "nothing can be measured here until the lines marked 'no' are fixed";
    if (peruse_) return "jobs can be measured with every source";
    return std::string("jobs can be measured with the sources pml and mpi_t") +
           (another_ ? "" : "; for peruse: fathom doctor --build-peruse");
  }

  Terminal terminal_ = Terminal::of_stdout();
  std::string launcher_;
  bool another_;
  std::vector<Line> lines_;
  bool pml_ = false;
  bool peruse_ = false;
};

// The release of the Open MPI that jobs here use: "4.1.4"; empty if there is none.
std::string release_found() {
  for (const MpiFacts& facts : probe_launcher("mpirun")) {
    if (facts.version.starts_with(kOpenMpi)) return facts.version.substr(sizeof kOpenMpi - 1);
  }
  return "";
}

// The script shows its progress; stdout is left for the findings.
int build_peruse(const std::string& sources) {
  const auto refuse = [](const std::string& why) { return fail(kFailed, "doctor", why); };
  const auto script = find_openmpi_script();
  if (!script) return refuse(script.error().message);
  const std::string release = release_found();
  if (release.empty()) return refuse("there is no Open MPI on the PATH to build PERUSE for");
  Launch launch{{"/bin/sh", "-c", "exec \"$0\" \"$@\" >&2", *script, release + "-peruse"}, {}};
  if (!sources.empty()) launch.command.insert(launch.command.end(), {"--sources", sources});
  const auto end = run_job(launch);
  if (!end) return refuse(end.error().message);
  return end->code == 0 ? kFine : kFailed;  // the script has printed why
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  struct Options {
    ResultOutput output;
    std::string launcher;
    bool build_peruse = false;
    std::string sources;
  };
  auto options = std::make_shared<Options>();
  auto* build = app.add_flag(
      "--build-peruse", options->build_peruse,
      "first build PERUSE for the Open MPI on the PATH: libmpi and pml/ob1, which fathom run then "
      "lays over it in the ranks; nothing installed is changed");
  app.add_option("--sources", options->sources,
                 "archive or folder with the sources of that release (default: the source package, "
                 "through apt)")
      ->type_name("PATH")
      ->check(CLI::ExistingPath.description(""))
      ->needs(build);
  app.add_option("MPIRUN", options->launcher,
                 "mpirun of the Open MPI to ask about (default: the one on the PATH)")
      ->type_name("")
      ->excludes(build);
  add_result_output(app, options->output);
  return [options] {
    if (options->build_peruse) {
      if (const int failed = build_peruse(options->sources); failed != kFine) return failed;
    }
    return Examination(options->launcher).run(options->output);
  };
}

}  // namespace fathom::cli
