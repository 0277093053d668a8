// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/transport.h"

#include <utility>

#include "base/process/parallel.h"

namespace fathom::analysis {

std::vector<Transport::Bytes> Transport::gather(Bytes bytes) {
  std::vector<Bytes> outgoing(size());
  outgoing[0] = std::move(bytes);
  auto all = exchange(std::move(outgoing));
  if (rank() != 0) all.clear();
  return all;
}

std::size_t threads_of(const Transport& transport) {
  return transport.size() > 1 ? 1 : base::worker_threads();
}

}  // namespace fathom::analysis
