// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/clocks/clock_sync.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>

#include "profiler/clocks/ticks.h"
#include "profiler/openmpi/knomial_tree.h"

namespace fathom::profiler {
namespace {

constexpr int kTagAsk = Gather::kTagClocks;     // up the tree
constexpr int kTagAnswer = Gather::kTagClocks;  // down
constexpr int kExchanges = 10;
constexpr std::uint64_t kOffsetUnknown =
    ~std::uint64_t{0};  // an uncertainty: the process above does not know its offset either
constexpr std::uint64_t kPatienceNs = 5'000'000'000;
constexpr std::uint64_t kPeriodNs = 10'000'000'000;

std::uint64_t now() { return nanoseconds_of(CLOCK_MONOTONIC); }

bool arrives(Gather& gather, int peer, int tag) {
  const std::uint64_t deadline = now() + kPatienceNs;
  while (!gather.has_arrived(peer, tag)) {
    if (now() > deadline) return false;
    sched_yield();
  }
  return true;
}

// From a variable that Open MPI's launcher sets (orte/mca/schizo/ompi/schizo_ompi.c).
bool all_on_this_host(int size) {
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return size == 1 || (local != nullptr && local == std::to_string(size));
}

}  // namespace

void ClockSync::open(Gather& gather, int rank, int size) {
  gather_ = &gather;
  needed_ = !all_on_this_host(size);
  known_ = rank == 0;
  // A process measures one after the other, so nobody has all others below.
  std::tie(above_, below_) = knomial_neighbors(rank, size, kTreeBase);
}

bool ClockSync::measure() {
  if (above_ >= 0) {
    if (!ask_above()) above_ = -1;
  } else if (known_) {
    plan_next();  // rank 0; its answers carry the plan down the tree
  }
  answer_below();
  return known_;
}

bool ClockSync::ask_above() {
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < kExchanges; ++i) {
    const std::uint64_t number = ++number_;
    Answer answer{};
    const std::uint64_t asked = now();
    gather_->send(above_, kTagAsk, &number, sizeof number);
    do {
      if (!arrives(*gather_, above_, kTagAnswer)) return false;
      gather_->receive(above_, kTagAnswer, &answer, sizeof answer);
    } while (answer.number != number);  // skip late answers to earlier questions
    const std::uint64_t answered = now();
    const std::uint64_t delay = (answered - asked) - (answer.sent_ns - answer.received_ns);
    if (delay >= best) continue;
    best = delay;
    const auto there = static_cast<std::int64_t>(answer.received_ns / 2 + answer.sent_ns / 2);
    const auto here = static_cast<std::int64_t>(asked / 2 + answered / 2);
    offset_ns_ = there - here + answer.offset_ns;
    uncertainty_ns_ = answer.uncertainty_ns + delay / 2;
    next_ = answer.next;
    known_ = answer.uncertainty_ns != kOffsetUnknown;
  }
  return true;
}

void ClockSync::answer_below() {
  std::erase_if(below_, [this](int child) {
    for (int i = 0; i < kExchanges; ++i) {
      Answer answer{};
      if (!arrives(*gather_, child, kTagAsk)) return true;
      gather_->receive(child, kTagAsk, &answer.number, sizeof answer.number);
      answer.received_ns = now();
      answer.offset_ns = offset_ns_;
      answer.uncertainty_ns = known_ ? uncertainty_ns_ : kOffsetUnknown;
      answer.next = next_;
      answer.sent_ns = now();
      gather_->send(child, kTagAnswer, &answer, sizeof answer);
    }
    return false;
  });
}

// Plans the next measurement as many collectives ahead as rank 0 makes in kPeriodNs; while the rate
// is not known, four times as many as so far.
void ClockSync::plan_next() {
  if (next_ > collectives_) return;
  const std::uint64_t began_ns = now();
  const std::uint64_t passed = began_ns - measured_at_ns_;
  const std::uint64_t made = collectives_ - measured_at_collectives_;
  std::uint64_t ahead = collectives_ * 3;
  if (measured_at_ns_ != 0 && passed > 0) {
    ahead = static_cast<std::uint64_t>(static_cast<double>(made) * static_cast<double>(kPeriodNs) /
                                       static_cast<double>(passed));
    ahead = std::min(ahead, made * 8);
  }
  next_ = collectives_ + std::max<std::uint64_t>(ahead, 1);
  measured_at_ns_ = began_ns;
  measured_at_collectives_ = collectives_;
}

void ClockSync::complete(trace::ClockRow& row) const {
  if (!needed_ || !known_) return;
  row.reference_ns =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(row.monotonic_ns) + offset_ns_);
  row.uncertainty_ns = uncertainty_ns_;
}

}  // namespace fathom::profiler
