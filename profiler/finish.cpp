#include "profiler/finish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "profile/assemble.h"
#include "profile/writer.h"
#include "profiler/modules.h"
#include "profiler/monitoring.h"
#include "profiler/rescue.h"
#include "profiler/rows_writer.h"
#include "profiler/source_pml.h"
#include "profiler/tracing.h"

namespace fathom::profiler {
bool make_directories(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const auto slash = path.find_last_of('/');
  return slash != std::string::npos && slash > 0 && make_directories(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST);
}

namespace {

void say(const Session& session, const std::string& sentence) {
  if (!session.settings().quiet) std::fprintf(stderr, "fathom: %s\n", sentence.c_str());
}

// Left in the run directory from MPI_Init until the profile is written: that the job was seen at all.
constexpr const char* kStarted = "/.started";

// DIR, or DIR-2, DIR-3, ... : the first without a profile.
std::string unused_directory(const std::string& wanted) {
  std::string directory = wanted;
  for (int i = 2; access((directory + "/profile.json").c_str(), F_OK) == 0; ++i) {
    directory = wanted + "-" + std::to_string(i);
  }
  return directory;
}

// What becomes known only at the end: modules met, names of live communicators, pvars, pauses.
void describe_end(Session& session) {
  session.communicators().for_each(
      [&](Live& live) { session.registry().keep_name(live.kind, live.comm); });
  for (std::uint32_t i = 1;; ++i) {
    const std::string name = module_name(i);
    if (name.empty()) break;
    session.text().add("module", std::to_string(i) + " " + name);
  }
  if (session.counter().was_ever_paused()) session.text().add("paused", "1");
  for (const auto& reading : session.performance_variables().read()) {
    std::string line = reading.name + "\t" + reading.description + "\t" + reading.bound_to + "\t";
    for (const double value : reading.values) {
      char number[40];
      std::snprintf(number, sizeof number, "%.17g ", value);
      line += number;
    }
    session.text().add("pvar", line);
  }
}

void write_run(Session& session, const std::vector<char>& rows) {
  auto assembled = profile::assemble(rows.data(), rows.size());
  if (!assembled.ok()) return say(session, assembled.error().message);
  const std::string directory = unused_directory(session.run_directory());
  if (directory != session.run_directory()) {
    say(session, session.run_directory() + " holds a profile already; this one goes to " + directory);
  }
  if (!make_directories(directory)) {
    return say(session, "the profile is lost: cannot make the directory " + directory + ": " +
                                 std::strerror(errno) + ". Choose another one with FATHOM_OUTPUT.");
  }
  const base::Status written = profile::write_profile(assembled.value(), directory + "/profile.json");
  if (!written.ok()) return say(session, "the profile is lost: " + written.error().message);
  unlink((session.run_directory() + kStarted).c_str());
  if (session.settings().informs) say(session, "the profile is " + directory + "/profile.json");
}

}  // namespace

void prepare_run_directory(Session& session) noexcept try {
  if (session.header().rank != 0) return;
  if (!make_directories(session.run_directory())) {
    say(session, "cannot make the run directory " + session.run_directory() + ": " +
                          std::strerror(errno) +
                          "; the job goes on without a profile. Choose another one with FATHOM_OUTPUT.");
    return;
  }
  const int mark = open((session.run_directory() + kStarted).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (mark >= 0) close(mark);
} catch (...) {
}

namespace {

// The rows of this process; empty if there is no memory for them.
std::vector<char> own_rows(Session& session) noexcept try {
  describe_end(session);
  std::vector<char> rows;
  write_rows(session, profile::EndReason::kFinalize, 0, session.header().rank == 0,
             [&rows](const void* data, std::size_t size) {
               const char* bytes = static_cast<const char*>(data);
               rows.insert(rows.end(), bytes, bytes + size);
             });
  return rows;
} catch (...) {
  return {};
}

}  // namespace

void finish(Session& session) noexcept try {
  collect_monitoring(session);
  session.gather().synchronise();
  tracing::before_close();
  unhook_pml();
  tracing::finish(session);
  std::vector<char> rows = own_rows(session);
  const bool stays_here = session.gather().collect(rows);
  if (stays_here && session.header().rank == 0) {
    write_run(session, rows);
  } else if (stays_here) {
    rescue_collected(rows.data(), rows.size());
  }
  disarm_rescue();
} catch (...) {
  disarm_rescue();
}

}  // namespace fathom::profiler
