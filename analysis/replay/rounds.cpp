#include "analysis/replay/rounds.h"

#include <cstring>
#include <deque>

namespace fathom::analysis {
namespace {

// What one pass did, for everybody, with its stall behind.
std::vector<Transport::Bytes> work(Pass& pass) {
  Stall stall = pass.work();
  stall.idle = pass.parcels().empty() && !stall.more;
  auto outgoing = pass.parcels().take();
  const char* const begin = reinterpret_cast<const char*>(&stall);
  for (Transport::Bytes& bytes : outgoing) bytes.insert(bytes.end(), begin, begin + sizeof stall);
  return outgoing;
}

// False at its end, which all see.
bool open(Pass& pass, const std::vector<Transport::Bytes>& incoming) {
  bool idle = true;
  Stall latest;
  for (const Transport::Bytes& bytes : incoming) {
    const std::size_t size = bytes.size() - sizeof(Stall);
    Stall other;
    std::memcpy(&other, bytes.data() + size, sizeof other);
    idle = idle && other.idle;
    const bool later = other.time_ns != latest.time_ns ? other.time_ns > latest.time_ns : other.process < latest.process;
    if (other.waits && (!latest.waits || later)) latest = other;
    Received received(bytes.data(), size);
    pass.open(received);
  }
  if (!idle) return true;
  if (latest.waits) pass.release(latest.process);
  return latest.waits;
}

}  // namespace

void run_passes(Transport& transport, const std::vector<Pass*>& passes) {
  std::deque<Pass*> turns(passes.begin(), passes.end());
  Pass* under_way = nullptr;
  while (under_way != nullptr || !turns.empty()) {
    Pass* const next = turns.empty() ? nullptr : turns.front();
    std::vector<Transport::Bytes> outgoing;
    if (next != nullptr) {
      turns.pop_front();
      outgoing = work(*next);
    }
    if (under_way != nullptr && open(*under_way, transport.finish_exchange())) turns.push_back(under_way);
    under_way = next;
    if (next != nullptr) transport.begin_exchange(std::move(outgoing));
  }
}

}  // namespace fathom::analysis
