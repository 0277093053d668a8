#include "simulator/cluster.h"

#include <filesystem>
#include <new>

#include "simulator/graphml.h"
#include "simulator/registry.h"

namespace fathom::simulator {
namespace {

base::Result<Network> make_topology(const std::string& specification, std::size_t colon) {
  const auto row = find_topology(specification.substr(0, colon));
  if (!row) return base::Error{"there is no file '" + specification + "', and " + row.error().message};
  auto parameters = TopologyParameters::parse(specification,
                                              std::string_view(specification).substr(colon + 1));
  if (!parameters) return parameters.error();
  return (*row)->make(*parameters);
}

}  // namespace

base::Result<Network> load_cluster(const std::string& cluster) {
  std::error_code ignored;
  const std::size_t colon = cluster.find(':');
  try {
    if (colon != std::string::npos && !std::filesystem::exists(cluster, ignored)) {
      return make_topology(cluster, colon);
    }
    return read_graphml(cluster);
  } catch (const std::bad_alloc&) {
    return base::Error{"'" + cluster + "' does not fit into memory"};
  }
}

}  // namespace fathom::simulator
