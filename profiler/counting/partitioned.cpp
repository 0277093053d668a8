// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/partitioned.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

// What the program asked for, and which of the library's messages serve it.
struct Operation {
  profile::Direction direction;
  Partitioned::Place place;
  rankmap::Identity peer;
  const void* buffer;
  std::uint64_t bytes_left;  // of partitions that have no request yet
  int first_tag = -1;        // -1: none has
  int end_tag = -1;
};

std::mutex lock;
// All operations before this one have a request for each partition.
std::size_t first_unfinished = 0;
std::vector<Operation>& operations() {
  static auto* all = new std::vector<Operation>;  // outlives every caller
  return *all;
}

bool is_between(const Operation& operation, profile::Direction direction, rankmap::Identity peer) {
  return operation.direction == direction && operation.peer == peer;
}

}  // namespace

std::size_t Partitioned::initialised(profile::Direction direction, Live& comm, int peer, int tag,
                                     const void* buffer, std::uint64_t bytes) noexcept try {
  if (peer < 0 || peer >= rankmap::group_size(comm.group)) return kNone;
  in_use_.store(true, std::memory_order_relaxed);
  comm.expect_setup(direction, peer, tag);
  const std::lock_guard guard(lock);
  operations().push_back(
      {direction, {comm.kind, comm.group, peer}, rankmap::member(comm.group, peer), buffer, bytes});
  return operations().size() - 1;
} catch (...) {  // no memory: its messages count on the hidden communicator
  return kNone;
}

void Partitioned::made(std::size_t operation, const void* request) noexcept {
  const std::lock_guard guard(lock);
  if (operation < operations().size()) operations()[operation].place.request = request;
}

void Partitioned::requested(profile::Direction direction, Live& hidden, int peer, int tag,
                            const void* buffer, std::uint64_t bytes) noexcept {
  hidden.set_classes(kNoClass, kPartitioned);
  const rankmap::Identity process = rankmap::member(hidden.group, peer);
  const std::lock_guard guard(lock);
  const auto follows = [&](const Operation& operation) {
    return is_between(operation, direction, process) && operation.end_tag == tag &&
           operation.bytes_left > 0;
  };
  const auto begins = [&](const Operation& operation) {
    return is_between(operation, direction, process) && operation.first_tag < 0 &&
           operation.buffer == buffer;
  };
  const auto continues_empty = [&](const Operation& operation) {
    return is_between(operation, direction, process) && operation.end_tag == tag;
  };
  std::vector<Operation>& all = operations();
  const auto start = all.begin() + static_cast<std::ptrdiff_t>(first_unfinished);
  auto found = std::find_if(start, all.end(), follows);
  if (found == all.end()) found = std::find_if(start, all.end(), begins);
  if (found == all.end()) {
    const auto last = std::find_if(all.rbegin(), all.rend(), continues_empty);
    if (last == all.rend()) return;
    found = last.base() - 1;
  }
  if (found->first_tag < 0) found->first_tag = tag;
  found->end_tag = tag + 1;
  found->bytes_left -= std::min(bytes, found->bytes_left);
  while (first_unfinished < all.size() && all[first_unfinished].first_tag >= 0 &&
         all[first_unfinished].bytes_left == 0)
    ++first_unfinished;
}

// The latest come last, and are the most likely to be active.
Partitioned::Place Partitioned::place_of(profile::Direction direction, const Live& hidden, int peer,
                                         int tag) noexcept {
  const rankmap::Identity process = rankmap::member(hidden.group, peer);
  const std::lock_guard guard(lock);
  const std::vector<Operation>& all = operations();
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Operation& operation) {
    return is_between(operation, direction, process) && operation.first_tag >= 0 &&
           tag >= operation.first_tag && tag < operation.end_tag;
  });
  return found != all.rend() ? found->place : Place{hidden.kind, hidden.group, peer};
}

}  // namespace fathom::profiler
