// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/transport.h"

#include <utility>

namespace fathom::analysis {

std::vector<Transport::Bytes> Transport::gather(Bytes bytes) {
  std::vector<Bytes> outgoing(size());
  outgoing[0] = std::move(bytes);
  auto all = exchange(std::move(outgoing));
  if (rank() != 0) all.clear();
  return all;
}

}  // namespace fathom::analysis
