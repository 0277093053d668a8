#include "profiler/finish.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "profile/assemble.h"
#include "profile/writer.h"
#include "profiler/modules.h"
#include "profiler/monitoring.h"
#include "profiler/receive_requests.h"
#include "profiler/rescue.h"
#include "profiler/rows_writer.h"
#include "profiler/run_directory.h"
#include "profiler/source_pml.h"
#include "profiler/tracing.h"
#include "profiler/unexpected_queue.h"

namespace fathom::profiler {
namespace {

void say(const Session& session, const std::string& sentence) {
  if (!session.settings().quiet) std::fprintf(stderr, "fathom: %s\n", sentence.c_str());
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
  for (const profile::TraceLoss& loss : assembled.value().coverage.trace_lost) {
    if (profile::is_about_files(loss))
      say(session, sentence(loss, "the trace in " + session.run_directory() + "/trace") + ".");
  }
  // Where no mark could be made, another job may have written its profile there since; and the folder may be gone.
  const std::string& wanted = session.run_directory();
  const std::uint32_t job = session.header().job;
  const std::string directory = is_taken(wanted, job) ? world_directory(wanted, job) : wanted;
  if (!make_directories(directory)) {
    return say(session, "the profile is lost: cannot make the directory " + directory + ": " +
                                 std::strerror(errno) + ". Choose another one with FATHOM_OUTPUT.");
  }
  const base::Status written = profile::write_profile(assembled.value(), directory + "/profile.json");
  if (!written.ok()) return say(session, "the profile is lost: " + written.error().message);
  release_run_directory(directory);
  if (session.settings().informs) say(session, "the profile is " + directory + "/profile.json");
}

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
  let_messages_arrive(session);
  receive_requests::count_left();
  session.communicators().for_each([&](const Live& live) { count_unreceived(session, live); });
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
