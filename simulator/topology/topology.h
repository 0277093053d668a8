// SPDX-License-Identifier: BSD-3-Clause
// Networks generated from a few numbers. How to add a kind: docs/adding-a-simulator-part.md.
//
// A specification is "KIND:key=value;key=value…". Values are numbers or comma-separated lists of
// numbers. Each kind has its own keys; every kind has
//
//   slots      processes per host (the default, else 1)
//   capacity   of a host's link, bytes/s (the default, else 12.5e9)
//   latency    of every link, seconds (0)
//   taper      divisor for the capacity of links between switches, by level of link; the last value
//              also applies to all higher levels (1). Each kind defines the levels
//
// Hosts are named n0, n1, …
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

class TopologyParameters {
 public:
  // `rest`: the text after the colon; slots and capacity are its defaults. An Error if it is not
  // keys and numbers.
  static base::Result<TopologyParameters> parse(const std::string& specification,
                                                std::string_view rest, std::uint32_t slots = 1,
                                                double capacity_Bps = 12.5e9);

  const std::string& specification() const { return specification_; }

  // For use by the kinds. Each remembers the first problem (a missing key, a value out of range)
  // and returns something harmless; finish() reports it, and unknown keys. A missing key comes last:
  // an unknown one is usually a misspelling of it.
  std::vector<std::uint32_t> list(const std::string& key);  // at least one number, each at least 1
  std::uint32_t count(const std::string& key);
  std::uint32_t count(const std::string& key, std::uint32_t otherwise);
  base::Status finish();
  // For use by the kinds before they make anything: an Error if that is more than can be simulated.
  // A cable is two links.
  base::Status check_size(double nodes, double cables) const;

  // Makes check_size() refuse more than this too.
  void allow_at_most(std::uint32_t nodes, std::uint32_t links) {
    most_nodes_ = std::min(nodes, kMostNodes);
    most_links_ = std::min(links, kMostLinks);
  }

  // An Error about this specification.
  base::Error error(const std::string& what) const;

  std::uint32_t slots() const { return slots_; }
  double host_capacity_Bps() const { return capacity_Bps_; }
  double switch_capacity_Bps(std::size_t level) const;  // levels from 0
  double latency_s() const { return latency_s_; }

 private:
  const std::vector<double>* find(const std::string& key);
  void complain(const std::string& what);
  void read_common();

  std::uint32_t most_nodes_ = kMostNodes, most_links_ = kMostLinks;
  std::string specification_;
  std::map<std::string, std::vector<double>> values_;
  std::map<std::string, bool> used_;
  std::string complaint_, missing_;
  std::uint32_t slots_ = 1;
  double capacity_Bps_ = 12.5e9;
  double latency_s_ = 0;
  std::vector<double> taper_ = {1};
};

// A row of the registry.
struct TopologyRow {
  const char* name;
  const char* help;     // one line
  const char* example;  // a specification
  base::Result<Network> (*make)(TopologyParameters& parameters);
};

}  // namespace fathom::simulator
