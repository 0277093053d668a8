// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/rounds.h"

#include <cstring>

namespace fathom::analysis {
namespace {

struct Header {
  Stall stall;
  std::uint64_t bytes = 0;
};

// Sends every process the result of one pass: its stall, the number of its bytes, and the bytes.
void work(Pass& pass, std::vector<Transport::Bytes>& outgoing) {
  Header header{pass.work(), 0};
  header.stall.idle = pass.parcels().empty() && !header.stall.more;
  const auto batches = pass.parcels().take();
  for (std::size_t to = 0; to < batches.size(); ++to) {
    header.bytes = batches[to].size();
    const char* const begin = reinterpret_cast<const char*>(&header);
    outgoing[to].insert(outgoing[to].end(), begin, begin + sizeof header);
    outgoing[to].insert(outgoing[to].end(), batches[to].begin(), batches[to].end());
  }
}

// False when the pass has ended, which all processes see. `at`: where its part begins in each
// process's bytes; on return, where the next pass's part begins.
bool open(Pass& pass, const std::vector<Transport::Bytes>& incoming, std::vector<std::size_t>& at) {
  bool idle = true;
  Stall latest;
  for (std::size_t from = 0; from < incoming.size(); ++from) {
    Header header;
    std::memcpy(&header, incoming[from].data() + at[from], sizeof header);
    const Stall& other = header.stall;
    idle = idle && other.idle;
    const bool later = other.time_ns != latest.time_ns ? other.time_ns > latest.time_ns
                                                       : other.process < latest.process;
    if (other.waits && (!latest.waits || later)) latest = other;
    Received received(incoming[from].data() + at[from] + sizeof header, header.bytes);
    pass.open(received);
    at[from] += sizeof header + header.bytes;
  }
  if (!idle) return true;
  if (latest.waits) pass.release(latest.process);
  return latest.waits;
}

}  // namespace

void run_passes(Transport& transport, std::vector<Pass*> passes) {
  while (!passes.empty()) {
    std::vector<Transport::Bytes> outgoing(transport.size());
    for (Pass* const pass : passes) work(*pass, outgoing);
    const auto incoming = transport.exchange(std::move(outgoing));
    std::vector<std::size_t> at(transport.size());
    std::erase_if(passes, [&](Pass* pass) { return !open(*pass, incoming, at); });
  }
}

}  // namespace fathom::analysis
