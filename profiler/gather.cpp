#include "profiler/gather.h"

#include <chrono>
#include <cstdint>

#include "profiler/mpi_library.h"
#include "profiler/source_pml.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

constexpr int kTagHere = -3, kTagReady = -4, kTagGo = -5, kTagSize = -6, kTagRows = -7;

// A neighbour announced itself when it left MPI_Init; that message has long arrived by the time of
// MPI_Finalize. The wait is only spent on neighbours that run without Fathom.
constexpr auto kPatience = std::chrono::seconds(10);

}  // namespace

void Gather::announce(void* world, int rank, int size) {
  world_ = world;
  rank_ = rank;
  byte_type_ = find_variable_in_mpi("ompi_mpi_byte");
  // Binomial tree: the parent's rank is this one's without its lowest set bit.
  parent_ = rank == 0 ? -1 : rank & (rank - 1);
  for (int bit = 1; bit < size && (rank & bit) == 0; bit <<= 1) {
    if (rank + bit < size) children_.push_back(rank + bit);
  }
  const auto tell = [this](int peer) {
    void* request = nullptr;
    if (original_pml().isend(nullptr, 0, byte_type_, peer, kTagHere, openmpi::kPmlSendStandard, world_,
                             &request) == 0) {
      rankmap::field<int (*)(void**)>(request, openmpi::kRequestFree)(&request);
    }
  };
  if (parent_ >= 0) tell(parent_);
  for (const int child : children_) tell(child);
}

bool Gather::hears(int peer) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  alignas(16) char status[64];
  int matched = 0;
  do {
    if (original_pml().iprobe(peer, kTagHere, world_, &matched, status) != 0) return false;
  } while (matched == 0 && std::chrono::steady_clock::now() < deadline);
  if (matched != 0) receive(peer, kTagHere, nullptr, 0);
  return matched != 0;
}

void Gather::send(int peer, int tag, const void* data, std::size_t size) {
  original_pml().send(data, size, byte_type_, peer, tag, openmpi::kPmlSendStandard, world_);
}

void Gather::receive(int peer, int tag, void* data, std::size_t size) {
  alignas(16) char status[64];
  original_pml().recv(data, size, byte_type_, peer, tag, world_, status);
}

void Gather::synchronise() {
  if (parent_ >= 0 && !hears(parent_)) parent_ = -1;
  std::erase_if(children_, [this](int child) { return !hears(child); });
  for (const int child : children_) receive(child, kTagReady, nullptr, 0);
  if (parent_ >= 0) {
    send(parent_, kTagReady, nullptr, 0);
    receive(parent_, kTagGo, nullptr, 0);
  }
  for (const int child : children_) send(child, kTagGo, nullptr, 0);
}

bool Gather::collect(std::vector<char>& rows) {
  for (const int child : children_) {
    std::uint64_t size = 0;
    receive(child, kTagSize, &size, sizeof size);
    const std::size_t before = rows.size();
    rows.resize(before + size);
    receive(child, kTagRows, rows.data() + before, size);
  }
  if (parent_ < 0) return true;
  const std::uint64_t size = rows.size();
  send(parent_, kTagSize, &size, sizeof size);
  send(parent_, kTagRows, rows.data(), rows.size());
  return false;
}

}  // namespace fathom::profiler
