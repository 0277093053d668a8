#include "simulator/cluster.h"

#include "simulator/graphml.h"

namespace fathom::simulator {

base::Result<Network> load_cluster(const std::string& cluster) { return read_graphml(cluster); }

}  // namespace fathom::simulator
