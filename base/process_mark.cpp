// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_mark.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace fathom::base {
namespace {

struct Mark {
  std::string pid, start, pid_namespace, host;
};

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// "pid:[4026531836]"
std::string own_namespace() {
  char target[64];
  const ssize_t length = readlink("/proc/self/ns/pid", target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : "?";
}

// Field 22 of /proc/PID/stat; the second one, the command, may hold blanks and parentheses. Empty if
// there is no such process, or it is a zombie.
std::string start_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto end_of_command = text.rfind(')');
  if (end_of_command == text.npos) return "";
  std::istringstream fields(text.substr(end_of_command + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 3 && (field == "Z" || field == "X")) return "";
  }
  return fields ? field : "";
}

bool parse(std::string_view text, Mark& mark) {
  std::istringstream fields{std::string(text)};
  fields >> mark.pid >> mark.start >> mark.pid_namespace >> std::ws;
  std::getline(fields, mark.host);
  return !mark.host.empty() && mark.pid.find_first_not_of("0123456789") == mark.pid.npos;
}

}  // namespace

std::string process_mark() {
  const std::string pid = std::to_string(getpid());
  const std::string start = start_of("self");
  return pid + " " + (start.empty() ? "?" : start) + " " + own_namespace() + " " + host_name();
}

Liveness liveness_of(std::string_view text) {
  Mark mark;
  if (!parse(text, mark) || mark.host != host_name() || mark.pid_namespace != own_namespace() ||
      mark.start == "?" || access("/proc/self/stat", R_OK) != 0)
    return Liveness::kUnknown;
  return start_of(mark.pid) == mark.start ? Liveness::kAlive : Liveness::kGone;
}

std::string named_process(std::string_view text) {
  Mark mark;
  return parse(text, mark) ? "process " + mark.pid + " on " + mark.host : "";
}

}  // namespace fathom::base
