// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/view.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/launcher.h"
#include "cli/commands/report.h"
#include "cli/commands/view_tools.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/launch/installation.h"
#include "cli/runs/network_tool.h"
#include "view/viewer.h"

namespace fathom::cli {
namespace {

struct ViewOptions {
  std::vector<std::string> runs;
  std::string bind = "127.0.0.1";
  int port = 0;
  bool no_browser = false;
  std::string machine_map;
  std::vector<std::string> clusters;
};

bool has_display() {
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return named("DISPLAY") || named("WAYLAND_DISPLAY");
}

std::string user_at_host() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const passwd* user = getpwuid(geteuid());
  return fmt::format("{}@{}", user != nullptr ? user->pw_name : "USER", host.data());
}

// Twice removed, so that nobody has to wait for the browser, and silent.
void open_browser(const std::string& url) {
  const pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    setsid();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(nothing, stream);
    execlp("xdg-open", "xdg-open", url.c_str(), nullptr);
    _exit(127);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

base::HttpAddress address_of(const ViewOptions& options) {
  base::HttpAddress address;
  if (options.bind.find('/') != options.bind.npos) {
    address.socket_path = options.bind;
  } else {
    address.host = options.bind;
    address.port = options.port;
  }
  return address;
}

std::string host_in_url(const std::string& host) {
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

// What the user needs to get there, and how to end it.
void announce(const ViewOptions& options, view::Viewer& viewer) {
  constexpr int kPortThere = 8642;  // any free one will do
  const base::HttpAddress address = address_of(options);
  const bool socket = !address.socket_path.empty();
  const int port = socket ? kPortThere : viewer.port();
  const std::string host = socket ? "127.0.0.1" : host_in_url(address.host);
  std::printf("http://%s:%d/?token=%s\n", host.c_str(), port, viewer.token().c_str());
  if (socket || !has_display()) {
    const std::string end = socket ? address.socket_path : fmt::format("{}:{}", host, port);
    std::printf("from another machine, first: ssh -L %d:%s %s\n", port, end.c_str(),
                user_at_host().c_str());
  }
  std::printf("Ctrl-C ends it\n");
  std::fflush(stdout);
  if (!options.no_browser && !socket && has_display())
    open_browser(fmt::format("http://{}:{}/?once={}", host, port, viewer.one_time_code()));
}

int view_runs(const ViewOptions& options) {
  std::error_code ignored;
  for (const std::string& run : options.runs) {
    if (!std::filesystem::exists(run, ignored))
      return fail(kFailed, "view", "there is no run '" + run + "'");
  }
  // Before any thread, so that all of them leave the signals to this one.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  view::Tools tools = view_tools();
  tools.machine_map = options.machine_map;
  tools.network = network_tool(options.clusters);
  auto viewer =
      view::Viewer::start({options.runs, pages_folder(), address_of(options)}, std::move(tools));
  if (!viewer) return fail(kFailed, "view", viewer.error().message);
  announce(options, **viewer);
  int signal = 0;
  sigwait(&ends, &signal);
  // Not by returning: an analysis that is at work would have to end first.
  (*viewer)->abandon();
  std::_Exit(kFine);
}

}  // namespace

Action declare_view(CLI::App& app) {
  auto options = std::make_shared<ViewOptions>();
  app.add_option("RUN", options->runs, "run directories or profiles; several can be compared")
      ->required()
      ->type_name("");
  app.add_option("--port", options->port, "port to listen on (default: any free one)")
      ->type_name("PORT")
      ->check(between(0, 65535));
  app.add_option("--bind", options->bind,
                 "loopback address, or path of a Unix socket, to listen on; nothing that other "
                 "machines can reach")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--map", options->machine_map,
                 "map of the machine in Pyrite's format, for the page Machine (default: "
                 "RUN/machine.json, if there is one)")
      ->type_name("FILE");
  app.add_option("--cluster", options->clusters,
                 "cluster for the page Network, as fathom simulate takes it; the pages themselves "
                 "can name topologies, but no file")
      ->type_name("CLUSTER");
  app.add_flag("--no-browser", options->no_browser, "only print the address");
  return [options] { return view_runs(*options); };
}

}  // namespace fathom::cli
