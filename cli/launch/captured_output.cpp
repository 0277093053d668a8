// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/captured_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace fathom::cli {
namespace {

// In the child.
[[noreturn]] void become(const std::vector<std::string>& command, int out) {
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDERR_FILENO);
  dup2(out, STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

std::optional<std::string> captured_output(const std::vector<std::string>& command,
                                           std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) become(command, channel[1]);
  close(channel[1]);
  std::string output;
  bool ended = false;
  while (child > 0 && !ended) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd waiting = {channel[0], POLLIN, 0};
    if (left.count() <= 0) break;
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    char buffer[4096];
    const ssize_t size = read(channel[0], buffer, sizeof buffer);
    if (size > 0) output.append(buffer, static_cast<std::size_t>(size));
    ended = size == 0;
  }
  close(channel[0]);
  if (child < 0) return std::nullopt;
  // A launcher that hangs, on a dead file system for example, must not hang Fathom.
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return output;
}

}  // namespace fathom::cli
