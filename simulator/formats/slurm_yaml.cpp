// SPDX-License-Identifier: BSD-3-Clause
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text_lines.h"
#include "simulator/formats/slurm_topology.h"
#include "simulator/formats/slurm_tree.h"

namespace fathom::simulator {
namespace {

std::size_t line_of(const YAML::Node& node) {
  return static_cast<std::size_t>(std::max(node.Mark().line, 0)) + 1;
}

// Null if there is none: yaml-cpp throws where a key is asked of what is no mapping.
YAML::Node child(const YAML::Node& node, const char* key) {
  const YAML::Node found = node.IsMap() ? node[key] : YAML::Node();
  return found ? found : YAML::Node();
}

// The value of a key as text; empty if there is none. Slurm joins a list of host lists by commas.
std::string text_in(const YAML::Node& map, const char* key) {
  const YAML::Node value = child(map, key);
  if (value.IsNull()) return "";
  if (!value.IsSequence()) return value.as<std::string>();
  std::string text;
  for (const YAML::Node& part : value) {
    if (!text.empty()) text += ',';
    text += part.as<std::string>();
  }
  return text;
}

class SlurmYamlReader {
 public:
  SlurmYamlReader(const std::string& path, const ClusterDefaults& defaults)
      : path_(path), tree_(path, defaults) {}

  // Throws YAML::Exception where a value is not what it must be.
  base::Result<Network> read(const YAML::Node& file) {
    const YAML::Node topology = chosen(file);
    if (topology.IsNull()) {
      return base::Error{path_ + ": has no topology of kind tree or block, which can be read"};
    }
    for (const YAML::Node& entry : child(child(topology, "tree"), "switches")) {
      const SlurmTree::Switch added{line_of(entry), text_in(entry, "switch"),
                                    text_in(entry, "children"), text_in(entry, "nodes")};
      if (added.name.empty()) return tree_.error(added.line, "the switch has no name");
      if (auto status = tree_.add_switch(added); !status) return status.error();
    }
    const YAML::Node block = child(topology, "block");
    for (const YAML::Node& entry : child(block, "blocks")) {
      const SlurmTree::Switch added{line_of(entry), text_in(entry, "block"), "",
                                    text_in(entry, "nodes")};
      if (added.name.empty()) return tree_.error(added.line, "the block has no name");
      if (auto status = tree_.add_block(added); !status) return status.error();
    }
    const YAML::Node sizes = child(block, "block_sizes");
    std::vector<std::uint32_t> numbers;
    if (sizes.IsScalar()) numbers.push_back(sizes.as<std::uint32_t>());
    for (const YAML::Node& size : sizes) numbers.push_back(size.as<std::uint32_t>());
    return tree_.build(numbers, line_of(sizes));
  }

 private:
  // The default topology, or the first, of those that name switches or blocks.
  static YAML::Node chosen(const YAML::Node& file) {
    YAML::Node first;
    for (const YAML::Node& topology : file) {
      if (child(topology, "tree").IsNull() && child(topology, "block").IsNull()) continue;
      const YAML::Node is_default = child(topology, "cluster_default");
      if (!is_default.IsNull() && is_default.as<bool>()) return topology;
      if (first.IsNull()) first.reset(topology);
    }
    return first;
  }

  const std::string path_;
  SlurmTree tree_;
};

}  // namespace

bool is_slurm_yaml_line(std::string_view line) { return line.starts_with('-'); }

base::Result<Network> read_slurm_yaml(const std::string& path, const ClusterDefaults& defaults) {
  const auto text = base::read_text(path);
  if (!text) return text.error();
  try {
    const YAML::Node file = YAML::Load(*text);
    return SlurmYamlReader(path, defaults).read(file);
  } catch (const YAML::Exception& error) {
    return base::line_error(path, static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1,
                            error.msg);
  }
}

}  // namespace fathom::simulator
