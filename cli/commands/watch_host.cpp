// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/watch_host.h"

#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/language/command_line.h"
#include "live/host_watch.h"

namespace fathom::cli {
namespace {

int watch_host(const std::string& directory) {
  std::error_code failed;
  auto run = std::filesystem::canonical(directory, failed);
  if (failed) run = std::filesystem::absolute(directory, failed);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int told = signalfd(-1, &signals, SFD_CLOEXEC);
  const live::WatchEnd end = live::watch_host(run, live::Announcements::of(run), told);
  close(told);
  if (end != live::WatchEnd::kNobodyCame) return kFine;
  return fail(
      kFailed, "watch-host",
      fmt::format("no rank of {} on this host can be watched; start the job with fathom run --live",
                  directory));
}

}  // namespace

Action declare_watch_host(CLI::App& app) {
  auto run = std::make_shared<std::string>();
  app.add_option("RUN", *run, "run directory of a job of fathom run")->required();
  return [run] { return watch_host(*run); };
}

}  // namespace fathom::cli
