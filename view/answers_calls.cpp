// SPDX-License-Identifier: BSD-3-Clause
// Where in the program MPI is called: the program's functions, the places in them, and the MPI functions called
// there, with what the calls took, waited and moved. For the whole run they come from the profile, which names each place
// once; of a window of time from the trace, as the analyses flat-profile and wait-states count there.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "analysis/scope/scope_filter.h"
#include "base/process/parallel.h"
#include "view/joined_answer.h"
#include "view/joined_window.h"
#include "view/session.h"

namespace fathom::view {
namespace {

struct Sums {
  std::uint64_t calls = 0, ns = 0, wait_ns = 0, bytes = 0, most_ns = 0;
  std::int64_t most_rank = -1;

  void add(const Sums& more) {
    calls += more.calls;
    ns += more.ns;
    wait_ns += more.wait_ns;
    bytes += more.bytes;
  }
};

struct Place {
  std::string function, file;  // the program's; a module and offset where nothing is known
  std::int64_t line = 0;
};

Place place_of(const profile::CallSite& site) {
  Place place{site.function, site.file, site.line};
  const std::string module = site.module.substr(site.module.rfind('/') + 1);
  if (place.function.empty()) place.function = module.empty() ? "unknown" : module;
  if (place.file.empty()) {
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(site.offset));
    place.file = module + offset;
  }
  return place;
}

using SiteCalls = std::map<std::pair<std::int64_t, std::string>, Sums>;  // by site and MPI function

bool is_chosen(const analysis::Scope& scope, std::int64_t rank) {
  return !scope.ranks || scope.ranks->contains(rank);
}

SiteCalls calls_of(const profile::Profile& profile, const analysis::Scope& scope) {
  SiteCalls calls;
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, std::uint64_t> by_rank;
  for (const profile::CallTimes& times : profile.calls) {
    for (std::size_t i = 0; i < times.rank.size(); ++i) {
      if (!is_chosen(scope, times.rank[i])) continue;
      Sums& sums = calls[{times.site, times.function}];
      sums.add({times.calls[i], times.total_ns[i], 0, times.bytes[i], 0, -1});
      by_rank[{times.site, times.function, times.rank[i]}] += times.total_ns[i];
    }
  }
  for (const auto& [key, ns] : by_rank) {
    Sums& sums = calls[{std::get<0>(key), std::get<1>(key)}];
    if (ns <= sums.most_ns) continue;
    sums.most_ns = ns;
    sums.most_rank = std::get<2>(key);
  }
  for (const profile::CallWaits& waits : profile.waits) {
    for (std::size_t i = 0; i < waits.rank.size(); ++i) {
      if (is_chosen(scope, waits.rank[i]))
        calls[{waits.site, waits.function}].wait_ns += waits.total_ns[i];
    }
  }
  return calls;
}

struct Node {
  std::int64_t parent = -1;
  const char* kind = "mpi";
  std::string name, file;
  std::int64_t line = 0;
  Sums sums;
};

std::vector<Node> tree_of(const SiteCalls& calls, const std::map<std::int64_t, Place>& places) {
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> functions;
  std::map<std::int64_t, std::size_t> sites;
  for (const auto& [key, sums] : calls) {
    const auto known = places.find(key.first);
    const Place place = known == places.end() ? Place{"unknown", "", 0} : known->second;
    const auto [function, new_function] = functions.emplace(place.function, nodes.size());
    if (new_function) nodes.push_back({-1, "function", place.function, "", 0, {}});
    const auto [site, new_site] = sites.emplace(key.first, nodes.size());
    if (new_site)
      nodes.push_back({static_cast<std::int64_t>(function->second),
                       "site",
                       place.function,
                       place.file,
                       place.line,
                       {}});
    nodes.push_back(
        {static_cast<std::int64_t>(site->second), "mpi", key.second, place.file, place.line, sums});
    nodes[site->second].sums.add(sums);
    nodes[function->second].sums.add(sums);
  }
  return nodes;
}

// The calls and waits of one process in a window, by site and function of the trace.
using TraceCalls = std::map<std::pair<std::uint64_t, std::uint32_t>, Sums>;

struct CallWindow {
  const analysis::JoinedJob& job;
  const CallsInWindow& calls;
  const analysis::Scope& scope;
  const analysis::ScopeFilter filter;

  TraceCalls of(std::uint32_t process) const {
    TraceCalls found;
    calls.for_each(process, scope.from_ns, scope.to_ns, [&](const SeenCall& call) {
      if (!filter.phase(call.phase)) return;
      const std::uint64_t inside_ns = filter.inside_ns(call.enter_ns, call.leave_ns);
      found[{call.site, call.function}].add(
          {1, inside_ns - std::min(inside_ns, call.nested_ns), 0, call.bytes, 0, -1});
    });
    std::vector<WindowWait> waits;
    add_waits(job, process, scope.from_ns, scope.to_ns, waits);
    for (const WindowWait& wait : waits) {
      if (filter.phase(wait.call->partner))
        found[{job.site_address(process, *wait.call), wait.call->number}].wait_ns += wait.ns;
    }
    return found;
  }
};

struct NamedCalls {
  SiteCalls calls;
  std::map<std::int64_t, Place> places;
};

NamedCalls calls_in(const CallWindow& window, trace::CallSiteNames& names) {
  const std::vector<std::uint32_t> processes = window.filter.chosen();
  std::vector<TraceCalls> found(processes.size());
  base::in_parallel(processes.size(), [&](std::size_t i) { found[i] = window.of(processes[i]); });
  const trace::Definitions& definitions = window.job.definitions();
  NamedCalls named;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    for (const auto& [key, sums] : found[i]) {
      const std::uint32_t number = names.number_of(processes[i], key.first);
      const std::int64_t site = number == trace::CallSiteNames::kNone ? -1 : std::int64_t{number};
      Sums& all = named.calls[{site, definitions.functions[key.second].name}];
      all.add(sums);
      if (site >= 0 && !named.places.contains(site)) {
        const trace::CodeSite& place = names[number];
        named.places[site] = place_of(
            {site, place.module, "", place.offset, place.function, place.file, place.line});
      }
      if (sums.ns <= all.most_ns) continue;
      all.most_ns = sums.ns;
      all.most_rank = definitions.processes[processes[i]].rank;
    }
  }
  return named;
}

Reply call_tree(const SiteCalls& calls, const std::map<std::int64_t, Place>& places,
                bool whole_run) {
  const std::vector<Node> nodes = tree_of(calls, places);
  return json_reply([&](base::JsonWriter& json) {
    const auto column = [&](const char* name, auto of) {
      json.list(name, nodes, [&](const Node& node) { json.value(of(node)); });
    };
    json.object("tree", [&] {
      std::uint64_t number = 0;
      column("id", [&](const Node&) { return number++; });
      column("parent", [](const Node& node) { return node.parent; });
      column("kind", [](const Node& node) { return std::string(node.kind); });
      column("name", [](const Node& node) { return node.name; });
      column("file", [](const Node& node) { return node.file; });
      column("line", [](const Node& node) { return node.line; });
      column("calls", [](const Node& node) { return node.sums.calls; });
      column("ns", [](const Node& node) { return node.sums.ns; });
      column("wait_ns", [](const Node& node) { return node.sums.wait_ns; });
      column("bytes", [](const Node& node) { return node.sums.bytes; });
      column("most_ns", [](const Node& node) { return node.sums.most_ns; });
      column("most_rank", [](const Node& node) { return node.sums.most_rank; });
    });
    json.object("sites", [&] {
      json.list("id", places, [&](const auto& site) { json.value(site.first); });
      json.list("function", places, [&](const auto& site) { json.value(site.second.function); });
      json.list("file", places, [&](const auto& site) { json.value(site.second.file); });
      json.list("line", places, [&](const auto& site) { json.value(site.second.line); });
    });
    json.field("whole_run", whole_run);
  });
}

// For a window of time, or phases, which the profile does not know.
Reply calls_of_window(Session& session, const Query& query, ViewedRun& run) {
  const Joined joined = joined_for(session, query);
  if (joined.job == nullptr) return joined.otherwise;
  const CallWindow window{*joined.job, run.calls(joined.job->trace()), joined.scope,
                          analysis::ScopeFilter(joined.scope, joined.job->definitions())};
  const NamedCalls named = calls_in(window, run.sites(*joined.job));
  return call_tree(named.calls, named.places, false);
}

}  // namespace

Reply answer_calls(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  const auto loaded = (*run)->loaded();
  if (!loaded) return refuse(422, loaded.error().message);
  if ((*loaded)->trace && (!scope->whole_time() || scope->phases))
    return calls_of_window(session, query, **run);
  const profile::Profile& profile = *(*loaded)->profile;
  if (profile.calls.empty())
    return refuse(422,
                  "this run's profile has no times of calls; fathom run leaves them unless "
                  "--no-time is given");
  std::map<std::int64_t, Place> places;
  for (const profile::CallSite& site : profile.call_sites) places[site.id] = place_of(site);
  return call_tree(calls_of(profile, *scope), places, true);
}

}  // namespace fathom::view
