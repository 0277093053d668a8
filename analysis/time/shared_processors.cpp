// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/shared_processors.h"

#include <charconv>
#include <cstddef>
#include <set>
#include <string_view>

namespace fathom::analysis {
namespace {

constexpr unsigned kMostProcessors = 1 << 16;  // a damaged list may name any number

struct Host {
  std::string name;
  std::size_t processes = 0;
  std::set<unsigned> processors;
  bool all_known = true;
};

// "0-3,8", as in /sys. False for anything else.
bool add_processors(std::string_view list, std::set<unsigned>& processors) {
  if (list.empty()) return false;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (true) {
    unsigned first = 0, last = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return false;
    last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || last < first || last >= kMostProcessors) return false;
    for (unsigned processor = first; processor <= last; ++processor) processors.insert(processor);
    if (read.ptr == end) return true;
    if (*read.ptr != ',') return false;
    at = read.ptr + 1;
  }
}

Host& host_named(std::vector<Host>& hosts, const std::string& name) {
  for (Host& host : hosts) {
    if (host.name == name) return host;
  }
  return hosts.emplace_back(Host{name, 0, {}, true});
}

}  // namespace

std::vector<std::string> shared_processors(const trace::Definitions& definitions) {
  std::vector<Host> hosts;
  for (const trace::Process& process : definitions.processes) {
    if (process.host.empty()) continue;
    Host& host = host_named(hosts, process.host);
    ++host.processes;
    host.all_known &= add_processors(process.affinity, host.processors);
  }
  std::vector<std::string> sentences;
  for (const Host& host : hosts) {
    if (!host.all_known || host.processes <= host.processors.size()) continue;
    sentences.push_back(
        std::to_string(host.processes) + " processes shared " +
        std::to_string(host.processors.size()) +
        (host.processors.size() == 1 ? " processor" : " processors") + " on host " + host.name +
        ": a process that others waited for may itself have waited for a processor");
  }
  return sentences;
}

}  // namespace fathom::analysis
