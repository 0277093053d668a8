// SPDX-License-Identifier: BSD-3-Clause
// A network and its load, as a picture of them needs it: for the page Network of `fathom view`.
//
//   "cluster", "kind": "torus" | "mesh" | "hyperx" | "tree" | "dragonfly" | "graph", "extent": of a grid
//   "nodes": columns "name", "host" (1 or 0), "level" (links to the nearest host), "point" (number on the
//            grid, -1: none), "group" (of a dragonfly, -1: none), "ranks" (slots of a host)
//   "links": columns "source", "target" (nodes), "capacity", "latency", "host" (1: not between switches)
//   "relative": capacities are relative to each other
//   of each run: "placement", "result" (the run's object in results.json), "rank_host" (node by rank),
//                "interval_s" (0: the model has no time), "carried": columns "link", "interval", "bytes"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "simulator/run/one_job.h"
#include "simulator/run/one_job_time.h"

namespace fathom::simulator {

// Larger ones are refused: nobody could tell their links apart, and a browser would not hold them.
inline constexpr std::uint32_t kMostPictureNodes = 40'000, kMostPictureLinks = 200'000;
base::Status check_picture(const Network& network);

// Members of an open object: the network.
void write_network(base::JsonWriter& json, const Network& network);

// One run as an object; `result` is its object in results.json. `usage` may be null; `seconds` is where it
// ends.
void write_picture_run(base::JsonWriter& json, const std::string& placement,
                       const std::string& result, const Placement& hosts, const LinkUsage* usage,
                       double seconds);

// Who sends what over one link.
struct LinkFlow {  // a demand: from host to host
  HostId source = 0, destination = 0;
  double bytes = 0;  // that take this link
  double share = 1;  // of the demand
};
struct LinkPair {  // two ranks behind it
  std::int64_t source = 0, destination = 0;
  std::uint64_t bytes = 0, messages = 0;
};
struct LinkContent {
  std::vector<LinkFlow> flows;  // most bytes first
  std::vector<LinkPair> pairs;  // all that the flows consist of, most bytes first
  double bytes = 0;             // of all flows: the link's traffic
};
// What the paths of a job are of: model load routes demands (one_job.h), the models in time each pair of ranks
// (placement/placed_routes.h), so a load-aware router may give the two different ones.
enum class Paths { kOfDemands, kOfPairs };

// The bytes are the traffic that the model with these paths puts on the link. With a part of the job's traffic, they
// are those of the part, on the paths of the whole job; it has pairs of the job only, each once, with at most their
// bytes. An Error if there is no such link, or what route_job() or PlacedRoutes::make() say.
using PartOfJob = std::span<const profile::PairCount>;
base::Result<LinkContent> content_of_link(const Network& network, const Job& job,
                                          const Choice& choice, Paths paths, LinkId link,
                                          const std::optional<PartOfJob>& part = {});

// By link, what a part of the job's traffic puts there on the paths of the whole job. Part and Errors as above.
base::Result<std::vector<double>> carried_for(const Network& network, const Job& job,
                                              const Choice& choice, Paths paths, PartOfJob part);

// The result of carried_for() as an object: "placement", and columns "link", "bytes" of the links that carry some.
void write_carried_for(base::JsonWriter& json, const std::string& placement,
                       std::span<const double> bytes);

// As members of an open object: "link", "bytes", "flows" and "pairs" in columns, at most `most` of each, and
// how many more there are.
void write_link_content(base::JsonWriter& json, const Network& network, LinkId link,
                        const LinkContent& content, std::size_t most);

}  // namespace fathom::simulator
