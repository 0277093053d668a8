// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/watch_host.h"

#include <signal.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/language/command_line.h"
#include "live/host_sample.h"
#include "live/local_samples.h"
#include "live/window_pages.h"

namespace fathom::cli {
namespace {

using live::ProcessState;

constexpr int kMostIdleSeconds = 60;

bool have_ended(const std::vector<live::ProcessSample>& samples) {
  return !samples.empty() && std::all_of(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.state == ProcessState::kEnded || sample.state == ProcessState::kGone;
  });
}

// Waits a second; true if a signal has asked for the end meanwhile.
bool is_told_to_end(const sigset_t& signals) {
  const timespec second{1, 0};
  return sigtimedwait(&signals, nullptr, &second) > 0;
}

int watch_host(const std::string& directory) {
  std::error_code failed;
  const std::string run = std::filesystem::absolute(directory, failed);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  live::LocalSamples samples(run);
  live::HostSampleFile file(run);
  live::WindowForwarder windows(run);
  bool told = false;
  for (int idle = 0; !told; told = is_told_to_end(signals)) {
    windows.look();
    const auto taken = samples.take();
    samples.rescue();
    if (have_ended(taken)) break;
    file.write(taken);
    idle = taken.empty() ? idle + 1 : 0;
    if (idle > kMostIdleSeconds)
      return fail(
          kFailed, "watch-host",
          fmt::format("no rank of {} runs on this host; was the job started with fathom run "
                      "--live?",
                      directory));
  }
  samples.rescue();
  file.remove();
  return kFine;
}

}  // namespace

Action declare_watch_host(CLI::App& app) {
  auto run = std::make_shared<std::string>();
  app.add_option("RUN", *run, "run directory of a job that was started with fathom run --live")
      ->required();
  return [run] { return watch_host(*run); };
}

}  // namespace fathom::cli
