// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/tree.h"

#include <cstddef>

namespace fathom::simulator {
namespace {

struct Tree {
  std::vector<std::uint32_t> children, parents;  // m and w, from level 1
  std::size_t height() const { return children.size(); }

  // Number of values of digit `position` (from 1) in a node of this level.
  std::uint32_t radix(std::size_t level, std::size_t position) const {
    return position <= level ? parents[position - 1] : children[position - 1];
  }
  double node_count(std::size_t level) const {
    double count = 1;
    for (std::size_t position = 1; position <= height(); ++position)
      count *= radix(level, position);
    return count;
  }
};

// Links node `index` of `level` to its parents, whose numbers have the same digits except the one
// at level+1. `low` is the product of the radices below that digit, the same for both levels.
void link_to_parents(const Tree& tree, std::size_t level, std::uint32_t index,
                     const std::vector<std::uint32_t>& below,
                     const std::vector<std::uint32_t>& above, double capacity_Bps, double latency_s,
                     NetworkBuilder& builder) {
  std::uint32_t low = 1;
  for (std::size_t position = 1; position <= level; ++position) low *= tree.radix(level, position);
  const std::uint32_t rest = index / low / tree.children[level];
  for (std::uint32_t digit = 0; digit < tree.parents[level]; ++digit) {
    const std::uint32_t parent = index % low + low * (digit + tree.parents[level] * rest);
    builder.add_cable(below[index], above[parent], capacity_Bps, latency_s);
  }
}

base::Result<Network> make_tree(const Tree& tree, TopologyParameters& parameters) {
  if (base::Status status = parameters.finish(); !status) return status.error();
  double nodes = tree.node_count(tree.height()), cables = 0;
  for (std::size_t level = 0; level < tree.height(); ++level) {
    nodes += tree.node_count(level);
    cables += tree.node_count(level) * tree.parents[level];
  }
  // Before anything is made: a specification of a few numbers may ask for billions of nodes.
  if (base::Status fits = parameters.check_size(nodes, cables); !fits) return fits.error();
  NetworkBuilder builder(parameters.specification());
  std::vector<std::uint32_t> below, above;
  for (std::uint32_t host = 0; host < tree.node_count(0); ++host) {
    below.push_back(builder.add_host("n" + std::to_string(host), parameters.slots()));
  }
  for (std::size_t level = 0; level < tree.height(); ++level) {
    above.clear();
    const std::string prefix = "s" + std::to_string(level + 1) + ".";
    for (std::uint32_t index = 0; index < tree.node_count(level + 1); ++index) {
      above.push_back(builder.add_switch(prefix + std::to_string(index)));
    }
    const double capacity =
        level == 0 ? parameters.host_capacity_Bps() : parameters.switch_capacity_Bps(level - 1);
    for (std::uint32_t index = 0; index < below.size(); ++index) {
      link_to_parents(tree, level, index, below, above, capacity, parameters.latency_s(), builder);
    }
    below.swap(above);
  }
  return builder.build();
}

}  // namespace

base::Result<Network> make_xgft(TopologyParameters& parameters) {
  const Tree tree{parameters.list("m"), parameters.list("w")};
  if (tree.children.size() != tree.parents.size()) {
    return parameters.error("'m' and 'w' must have one number for each level");
  }
  return make_tree(tree, parameters);
}

base::Result<Network> make_kary_tree(TopologyParameters& parameters) {
  const std::uint32_t k = parameters.count("k"), n = parameters.count("n");
  if (n > 32) return parameters.error("'n' is more levels than can be simulated");
  Tree tree{std::vector<std::uint32_t>(n, k), std::vector<std::uint32_t>(n, k)};
  tree.parents.front() = 1;
  return make_tree(tree, parameters);
}

base::Result<Network> make_leaf_spine(TopologyParameters& parameters) {
  const std::uint32_t leaves = parameters.count("leaves"), spines = parameters.count("spines");
  return make_tree({{parameters.count("hosts"), leaves}, {1, spines}}, parameters);
}

}  // namespace fathom::simulator
