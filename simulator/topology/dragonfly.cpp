// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/dragonfly.h"

#include <cstddef>

namespace fathom::simulator {
namespace {

struct Shape {
  std::uint32_t groups, switches, globals, hosts;
  std::uint32_t ports() const { return switches * globals; }
};

class DragonflyMaker {
 public:
  DragonflyMaker(const Shape& shape, const TopologyParameters& parameters)
      : shape_(shape), parameters_(parameters), builder_(parameters.specification()) {}

  base::Result<Network> make() {
    for (std::uint32_t group = 0; group < shape_.groups; ++group) add_group(group);
    const std::uint32_t rounds = shape_.groups > 1 ? shape_.ports() / (shape_.groups - 1) : 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t group = 0; group < shape_.groups; ++group) link_group(group, round);
    }
    return builder_.build();
  }

 private:
  void add_group(std::uint32_t group) {
    const std::size_t first = switches_.size();
    for (std::uint32_t at = 0; at < shape_.switches; ++at) {
      switches_.push_back(
          builder_.add_switch("s" + std::to_string(group) + "." + std::to_string(at)));
      for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
        builder_.add_cable(builder_.add_host("n" + std::to_string(hosts_++), parameters_.slots()),
                           switches_.back(), parameters_.host_capacity_Bps(),
                           parameters_.latency_s());
      }
      for (std::size_t other = first; other + 1 < switches_.size(); ++other) {
        builder_.add_cable(switches_[other], switches_.back(), parameters_.switch_capacity_Bps(0),
                           parameters_.latency_s());
      }
    }
  }

  // One round's cables to groups with a higher number; lower groups have already made theirs.
  void link_group(std::uint32_t group, std::uint32_t round) {
    const std::uint32_t others = shape_.groups - 1;
    for (std::uint32_t peer = group + 1; peer < shape_.groups; ++peer) {
      const std::uint32_t offset = peer - group;
      builder_.add_cable(at_port(group, round * others + offset - 1),
                         at_port(peer, round * others + (shape_.groups - offset) - 1),
                         parameters_.switch_capacity_Bps(1), parameters_.latency_s());
    }
  }

  std::uint32_t at_port(std::uint32_t group, std::uint32_t port) const {
    return switches_[std::size_t{group} * shape_.switches + port / shape_.globals];
  }

  const Shape shape_;
  const TopologyParameters& parameters_;
  NetworkBuilder builder_;
  std::vector<std::uint32_t> switches_;
  std::uint32_t hosts_ = 0;
};

}  // namespace

base::Result<Network> make_dragonfly(TopologyParameters& parameters) {
  Shape shape{1, parameters.count("switches"), parameters.count("globals"),
              parameters.count("hosts")};
  // Checked first, because ports() multiplies in 32 bits: a port needs a cable.
  if (base::Status fits = parameters.check_size(1, 0.5 * shape.switches * shape.globals); !fits)
    return fits.error();
  shape.groups = parameters.count("groups", shape.ports() + 1);
  if (base::Status status = parameters.finish(); !status) return status.error();
  if (shape.groups > shape.ports() + 1) {
    return parameters.error("a group has " + std::to_string(shape.ports()) +
                            " global ports, too few to reach every other group");
  }
  const double switches = 1.0 * shape.groups * shape.switches;
  const double cables = switches * (shape.hosts + (shape.switches - 1 + shape.globals) / 2.0);
  if (base::Status fits = parameters.check_size(switches * (1.0 + shape.hosts), cables); !fits)
    return fits.error();
  return DragonflyMaker(shape, parameters).make();
}

}  // namespace fathom::simulator
