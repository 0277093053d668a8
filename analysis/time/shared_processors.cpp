// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/shared_processors.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <string_view>

#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr unsigned kMostProcessors = 1 << 16;  // a damaged list may name any number

constexpr double kNoticed = 0.02;  // of a process's time
constexpr double kMost = 0.5;  // of a finding's confidence: threads that only poll in MPI count too

struct Host {
  std::string name;
  std::size_t processes = 0;
  std::set<unsigned> processors;
  bool all_known = true;  // which processors each process was allowed
  std::vector<std::int64_t> ranks;
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
  Host& made = hosts.emplace_back();
  made.name = name;
  return made;
}

struct Measured {
  double wait_seconds = 0, seconds = 0;
  double share() const { return seconds > 0 ? std::clamp(wait_seconds / seconds, 0.0, 1.0) : 0; }
};

std::vector<Host> hosts_of(const profile::Profile* profile, const trace::Definitions* definitions) {
  std::vector<Host> hosts;
  if (definitions != nullptr) {
    for (const trace::Process& process : definitions->processes) {
      if (process.host.empty()) continue;
      Host& host = host_named(hosts, process.host);
      ++host.processes;
      host.ranks.push_back(process.rank);
      host.all_known &= add_processors(process.affinity, host.processors);
    }
  } else if (profile != nullptr) {
    for (const profile::Rank& rank : profile->ranks) {
      Host& host = host_named(hosts, profile::shown_host(rank.host));
      host.ranks.push_back(rank.rank);
      host.all_known = false;
    }
  }
  return hosts;
}

}  // namespace

SharedProcessors shared_processors(const profile::Profile* profile,
                                   const trace::Definitions* definitions) {
  std::map<std::int64_t, Measured> measured;
  if (profile != nullptr) {
    for (const profile::Rank& rank : profile->ranks) {
      if (rank.processor_wait_seconds > 0)
        measured[rank.rank] = {rank.processor_wait_seconds, rank.seconds};
    }
  }
  SharedProcessors shared;
  for (const Host& host : hosts_of(profile, definitions)) {
    const bool outnumbered = host.all_known && host.processes > host.processors.size();
    std::int64_t worst = -1;
    for (const std::int64_t rank : host.ranks) {
      if (!measured.contains(rank)) continue;
      if (worst < 0 || measured.at(rank).share() > measured.at(worst).share()) worst = rank;
    }
    const bool waited = worst >= 0 && measured.at(worst).share() >= kNoticed;
    if (worst >= 0 ? !waited : !outnumbered) continue;
    std::string what;
    if (outnumbered) {
      what = std::to_string(host.processes) + " processes shared " +
             std::to_string(host.processors.size()) +
             (host.processors.size() == 1 ? " processor" : " processors") + " on host " + host.name;
    }
    if (waited) {
      what += outnumbered ? ", and rank " : "on host " + host.name + ", rank ";
      what += std::to_string(worst) + " waited " +
              base::duration_text(measured.at(worst).wait_seconds) + " of its " +
              base::duration_text(measured.at(worst).seconds) + " for a processor";
    }
    shared.sentences.push_back(
        what + ": a process that others waited for may itself have waited for a processor");
    for (const std::int64_t rank : host.ranks)
      shared.share[rank] = measured.contains(rank) ? measured.at(rank).share()
                           : worst >= 0            ? 0
                                                   : kMost;
  }
  return shared;
}

void limit_finding(Finding& finding, const SharedProcessors& shared) {
  const std::vector<std::int64_t>& ranks =
      finding.culprits.empty() ? finding.victims : finding.culprits;
  double worst = 0;
  for (const std::int64_t rank : ranks) {
    const auto found = shared.share.find(rank);
    if (found != shared.share.end()) worst = std::max(worst, found->second);
  }
  if (worst < kNoticed || !finding.seconds) return;
  finding.confidence *= 1 - std::min(worst, kMost);
  finding.evidence.push_back({"share_waiting_for_processor", worst});
}

}  // namespace fathom::analysis
