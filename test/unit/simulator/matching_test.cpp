// SPDX-License-Identifier: BSD-3-Clause
// MPI's matching rules: cases written by hand, then random ones compared with two plain lists that
// are searched from the front.
#include "simulator/loggops/matching.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <vector>

namespace fathom::simulator {
namespace {

TEST_CASE("messages of a sender are received in order, separately for tags and communicators") {
  Program program(2);
  const OperationId a = program.send(0, 1, 1, 5, 0), b = program.send(0, 1, 1, 5, 0),
                    other_tag = program.send(0, 1, 1, 6, 0),
                    other_comm = program.send(0, 1, 1, 5, 1);
  const OperationId first = program.receive(1, 0, 1, 5, 0), second = program.receive(1, 0, 1, 5, 0),
                    comm = program.receive(1, 0, 1, 5, 1), tag = program.receive(1, 0, 1, 6, 0);
  Matching matching(program);
  CHECK(matching.post(first) == kNoOperation);
  CHECK(matching.arrive(a) == first);
  CHECK(matching.arrive(b) == kNoOperation);
  CHECK(matching.arrive(other_tag) == kNoOperation);
  CHECK(matching.arrive(other_comm) == kNoOperation);
  CHECK(matching.unexpected() == 3);
  CHECK(matching.post(comm) == other_comm);
  CHECK(matching.post(second) == b);
  CHECK(matching.post(tag) == other_tag);
  CHECK(matching.unexpected() == 0);
}

TEST_CASE(
    "a wildcard takes the first message, and of two matching receives the first posted gets it") {
  Program program(3);
  const OperationId from_0 = program.send(0, 2, 1, 1, 0), from_1 = program.send(1, 2, 1, 2, 0),
                    again = program.send(0, 2, 1, 1, 0);
  const OperationId any = program.receive(2, kAnySource, 1, kAnyTag, 0),
                    exact = program.receive(2, 0, 1, 1, 0),
                    any_tag = program.receive(2, 1, 1, kAnyTag, 0);
  Matching matching(program);
  CHECK(matching.arrive(from_1) == kNoOperation);
  CHECK(matching.arrive(from_0) == kNoOperation);
  CHECK(matching.post(any) == from_1);
  CHECK(matching.post(any_tag) == kNoOperation);
  CHECK(matching.post(exact) == from_0);
  CHECK(matching.arrive(again) == kNoOperation);
}

// The definition: one list of posted receives and one of kept messages per rank, searched in order.
class Lists {
 public:
  explicit Lists(const Program& program) : program_(program) {}

  OperationId arrive(OperationId send) { return take(posted_, kept_, send); }
  OperationId post(OperationId receive) { return take(kept_, posted_, receive); }

 private:
  bool match(OperationId one, OperationId other) const {
    const Channel &a = channel(one), &b = channel(other);
    return a.rank == b.rank && a.communicator == b.communicator &&
           (a.source == b.source || a.source == kAnySource || b.source == kAnySource) &&
           (a.tag == b.tag || a.tag == kAnyTag || b.tag == kAnyTag);
  }
  const Channel& channel(OperationId operation) const {
    return program_.channels()[program_[operation].channel];
  }
  OperationId take(std::list<OperationId>& from, std::list<OperationId>& otherwise,
                   OperationId operation) {
    const auto found = std::find_if(from.begin(), from.end(),
                                    [&](OperationId other) { return match(operation, other); });
    if (found == from.end()) {
      otherwise.push_back(operation);
      return kNoOperation;
    }
    const OperationId result = *found;
    from.erase(found);
    return result;
  }

  const Program& program_;
  std::list<OperationId> posted_, kept_;
};

TEST_CASE("random messages and receives match as simple lists do") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::uint32_t ranks = 1 + seed % 4, wildcards = seed % 5;
    const auto pick = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    Program program(ranks);
    std::vector<OperationId> order;
    for (int operation = 0; operation < 200; ++operation) {
      const auto tag = static_cast<std::int32_t>(pick(3));
      if (pick(2) == 0) {
        order.push_back(program.send(pick(ranks), pick(ranks), 1, tag, pick(2)));
      } else {
        order.push_back(program.receive(pick(ranks),
                                        pick(10) < wildcards ? kAnySource : pick(ranks), 1,
                                        pick(10) < wildcards ? kAnyTag : tag, pick(2)));
      }
    }
    Matching matching(program);
    Lists lists(program);
    for (OperationId operation : order) {
      if (program[operation].kind == OperationKind::kSend) {
        CHECK(matching.arrive(operation) == lists.arrive(operation));
      } else {
        CHECK(matching.post(operation) == lists.post(operation));
      }
    }
  }
}

}  // namespace
}  // namespace fathom::simulator
