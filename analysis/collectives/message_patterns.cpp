// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/collectives/message_patterns.h"

#include <algorithm>
#include <bit>

namespace fathom::analysis {
namespace {

using mpi::Collective;
using Rank = std::uint32_t;

Rank power_below(Rank size) { return std::bit_floor(size); }

void exchange(MessagePattern& pattern, Rank a, Rank b, double weight = 0) {
  pattern.together({{a, b, 0, weight}, {b, a, 0, weight}});
}

// ---- trees, as parents counted from the root ----

using Parent = Rank (*)(Rank rank, Rank size);

Rank star(Rank, Rank) { return 0; }
Rank chain_of_one(Rank rank, Rank) { return rank - 1; }
Rank binomial(Rank rank, Rank) { return rank ^ std::bit_floor(rank); }
Rank binomial_in_order(Rank rank, Rank) { return rank & (rank - 1); }

template <Rank kRadix>
Rank knomial(Rank rank, Rank) {
  Rank mask = 1;
  while (rank % (kRadix * mask) == 0) mask *= kRadix;
  return rank / (kRadix * mask) * (kRadix * mask);
}

// Parallel chains, the longer ones first.
template <Rank kChains>
Rank chain(Rank rank, Rank size) {
  const Rank chains = kChains < size - 1 ? kChains : size - 1;
  const Rank length = (size - 1) / chains, longer = (size - 1) % chains;
  const Rank in_longer = longer * (length + 1), at = rank - 1;
  const bool head = at < in_longer ? at % (length + 1) == 0 : (at - in_longer) % length == 0;
  return head ? 0 : rank - 1;
}

// Levels of 1, 2, 4, ...; siblings are one level's width apart.
Rank binary(Rank rank, Rank) {
  if (rank <= 2) return 0;
  const Rank width = std::bit_floor(rank + 1), first = width - 1;
  Rank parent = rank;
  while (parent >= first) parent -= width / 2;
  return parent;
}

// Messages down a tree. A process sends to its children in numeric order or, with a radix, largest
// subtree first; those children are radix^k after it.
void down_tree(MessagePattern& pattern, Parent parent, Rank radix) {
  std::vector<Rank> level{0};
  while (!level.empty()) {  // levels near the root first
    std::vector<Rank> next;
    for (const Rank from : level) {
      std::vector<Rank> children;
      for (Rank to = 1; to < pattern.size; ++to) {
        if (to != from && parent(to, pattern.size) == from) children.push_back(to);
      }
      const auto power = [&](Rank child) {
        Rank made = 1;
        while (radix > 0 && made * radix <= child - from) made *= radix;
        return made;
      };
      std::stable_sort(children.begin(), children.end(),
                       [&](Rank a, Rank b) { return power(a) > power(b); });
      for (const Rank to : children) pattern.hop(pattern.from_root(from), pattern.from_root(to));
      next.insert(next.end(), children.begin(), children.end());
    }
    level = next;
  }
}
template <Parent kParent, Rank kRadix = 0>
void down(MessagePattern& pattern) {
  down_tree(pattern, kParent, kRadix);
}

void up_tree_from(MessagePattern& pattern, Parent parent, Rank rank) {
  for (Rank child = 1; child < pattern.size; ++child) {
    if (child != rank && parent(child, pattern.size) == rank) up_tree_from(pattern, parent, child);
  }
  if (rank != 0)
    pattern.hop(pattern.from_root(rank), pattern.from_root(parent(rank, pattern.size)));
}
template <Parent kParent>
void up(MessagePattern& pattern) {
  up_tree_from(pattern, kParent, 0);
}

// The root of the in-order binary tree is always the last process.
void up_in_order(MessagePattern& pattern, Rank first, Rank size) {
  if (size < 2) return;
  const Rank parent = first + size - 1, right = size / 2;
  const Rank left_size = size - right - 1;
  up_in_order(pattern, first + right, left_size);
  if (size > 2) up_in_order(pattern, first, right);
  pattern.hop(parent - 1, parent);
  if (size > 2) pattern.hop(first + right - 1, parent);
}
void in_order_binary(MessagePattern& pattern) {
  up_in_order(pattern, 0, pattern.size);
  if (pattern.root != pattern.size - 1) pattern.hop(pattern.size - 1, pattern.root);
}

void linear_down(MessagePattern& pattern) {
  for (Rank to = 0; to < pattern.size; ++to) {
    if (to != pattern.root) pattern.hop(pattern.root, to);
  }
}
void linear_down_sync(MessagePattern& pattern) { linear_down(pattern); }

void gather_sync(MessagePattern& pattern) {
  for (Rank from = 0; from < pattern.size; ++from) {
    if (from == pattern.root) continue;
    pattern.hop(pattern.root, from);
    pattern.hop(from, pattern.root);
    pattern.hop(from, pattern.root);
  }
}

// ---- exchanges ----

void ring_rounds(MessagePattern& pattern, Rank rounds) {
  for (Rank round = 0; round < rounds; ++round) {
    std::vector<Hop> all;
    for (Rank rank = 0; rank < pattern.size; ++rank)
      all.push_back({rank, (rank + 1) % pattern.size, 0, 0});
    pattern.together(all);
  }
}
void ring(MessagePattern& pattern) { ring_rounds(pattern, pattern.size - 1); }
void ring_twice(MessagePattern& pattern) { ring_rounds(pattern, 2 * (pattern.size - 1)); }
// Any number of segments to reduce, one per block to gather; modelled here with two segments.
void ring_segmented(MessagePattern& pattern) { ring_rounds(pattern, 3 * (pattern.size - 1)); }

template <bool kBackward>
void distances(MessagePattern& pattern) {
  for (Rank distance = 1; distance < pattern.size; distance *= 2) {
    std::vector<Hop> all;
    for (Rank rank = 0; rank < pattern.size; ++rank) {
      all.push_back(
          {rank, (rank + (kBackward ? pattern.size - distance : distance)) % pattern.size, 0, 0});
    }
    pattern.together(all);
  }
}

// Pairs at distance 1, 2, 4, ..., skipping partners that do not exist.
void doubling_existing(MessagePattern& pattern) {
  for (Rank mask = 1; mask < pattern.size; mask *= 2) {
    for (Rank rank = 0; rank < pattern.size; ++rank) {
      if ((rank & mask) == 0 && (rank | mask) < pattern.size) exchange(pattern, rank, rank | mask);
    }
  }
}
void doubling_power_of_two(MessagePattern& pattern) {
  if (std::has_single_bit(pattern.size)) doubling_existing(pattern);
}

// Folds a process count that is not a power of two into one that is: some pairs of neighbours take
// part as one process, represented by the even or the odd one.
struct Folded {
  Folded(Rank size, bool odd_stays)
      : count(power_below(size)), rest(size - count), odd(odd_stays) {}
  Rank count, rest;
  bool odd;
  Rank real(Rank folded) const {
    return folded < rest ? 2 * folded + (odd ? 1 : 0) : folded + rest;
  }
};

void doubling(MessagePattern& pattern, const Folded& folded, bool upward, double first_weight = 0) {
  double weight = first_weight;
  for (Rank bit = 1; bit < folded.count; bit *= 2, weight /= 2) {
    const Rank mask = upward ? bit : folded.count / 2 / bit;
    for (Rank rank = 0; rank < folded.count; ++rank) {
      if ((rank & mask) == 0)
        exchange(pattern, folded.real(rank), folded.real(rank | mask), weight);
    }
  }
}

void allreduce_doubling(MessagePattern& pattern) {
  const Folded folded(pattern.size, true);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank, 2 * rank + 1);
  doubling(pattern, folded, true);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank + 1, 2 * rank);
}

void fold_halves(MessagePattern& pattern, const Folded& folded) {
  for (Rank rank = 0; rank < folded.rest; ++rank) {
    exchange(pattern, 2 * rank, 2 * rank + 1);
    pattern.hop(2 * rank + 1, 2 * rank);
  }
}

void allreduce_rabenseifner(MessagePattern& pattern) {
  const Folded folded(pattern.size, false);
  fold_halves(pattern, folded);
  doubling(pattern, folded, true);
  doubling(pattern, folded, false);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank, 2 * rank + 1);
}

void reduce_rabenseifner(MessagePattern& pattern) {
  const Folded folded(pattern.size, false);
  fold_halves(pattern, folded);
  doubling(pattern, folded, true);
  // A root that is odd and folded away takes the place of process 0.
  const bool replaced = pattern.root < 2 * folded.rest && pattern.root % 2 == 1;
  if (replaced) pattern.hop(0, pattern.root);
  const Rank root = replaced                         ? 0
                    : pattern.root < 2 * folded.rest ? pattern.root / 2
                                                     : pattern.root - folded.rest;
  const auto real = [&](Rank rank) {
    return replaced && rank == 0 ? pattern.root : folded.real(rank);
  };
  std::vector<bool> done(folded.count);
  for (Rank mask = folded.count / 2; mask > 0; mask /= 2) {
    for (Rank rank = 0; rank < folded.count; ++rank) {
      const bool sends = !done[rank] && ((rank ^ mask) & ~(mask - 1)) == (root & ~(mask - 1));
      if (!sends) continue;
      pattern.hop(real(rank), real(rank ^ mask));
      done[rank] = true;
    }
  }
}

void halving(MessagePattern& pattern) {
  const Folded folded(pattern.size, true);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank, 2 * rank + 1);
  doubling(pattern, folded, false, folded.rest == 0 ? 0.5 : 0);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank + 1, 2 * rank);
}

Rank mirrored(Rank rank, Rank count) {
  Rank made = 0;
  for (Rank bit = 1; bit < count; bit *= 2) made |= (rank & bit) != 0 ? count / 2 / bit : 0;
  return made;
}

// Larsson Traff, An improved algorithm for (non-commutative) reduce-scatter, EuroPVM/MPI 2005: each
// block ends up at the bit-reversed rank and moves from there to its final place.
void butterfly(MessagePattern& pattern) {
  const Folded folded(pattern.size, true);
  for (Rank rank = 0; rank < folded.rest; ++rank) pattern.hop(2 * rank, 2 * rank + 1);
  doubling(pattern, folded, true);
  std::vector<Hop> last;
  for (Rank rank = 0; rank < folded.count; ++rank) {
    const Rank to = mirrored(rank, folded.count);
    if (to < folded.rest) last.push_back({folded.real(rank), folded.real(to) - 1, 0, 0});
    if (to != rank) last.push_back({folded.real(rank), folded.real(to), 0, 0});
  }
  pattern.together(last);
}

// With equal blocks and a power of two, no final move is needed.
void block_butterfly(MessagePattern& pattern) {
  if (!std::has_single_bit(pattern.size)) return butterfly(pattern);
  doubling(pattern, Folded(pattern.size, true), true, 0.5);
}

// Pairs at doubling distances. A process without a partner gets the group's data from group members
// that have one.
template <bool kWeights>
void doubling_helped(MessagePattern& pattern) {
  const Rank size = pattern.size;
  const auto start = [](Rank rank, Rank mask) { return rank & ~(mask - 1); };
  for (Rank mask = 1; mask < size; mask *= 2) {
    for (Rank rank = 0; rank < size; ++rank) {
      if ((rank & mask) != 0 || (rank | mask) >= size) continue;
      exchange(pattern, pattern.from_root(rank), pattern.from_root(rank | mask),
               kWeights && std::has_single_bit(size) ? static_cast<double>(size - mask) / size : 0);
    }
    for (Rank help = mask / 2; help > 0; help /= 2) {
      for (Rank rank = 0; rank < size; ++rank) {
        if (start(rank ^ mask, mask) + mask <= size) continue;
        const Rank others = size - start(rank, mask) - mask;  // processes that have everything
        const Rank remote = rank ^ help, tree = start(rank, help * 2);
        if (size >= start(rank, mask) + mask && remote > rank && rank < tree + others &&
            remote >= tree + others && remote < size) {
          pattern.hop(pattern.from_root(rank), pattern.from_root(remote));
        }
      }
    }
  }
}

void neighbour_exchange(MessagePattern& pattern) {
  if (pattern.size % 2 != 0) return;
  for (Rank round = 0; round < pattern.size / 2; ++round) {
    for (Rank even = 0; even < pattern.size; even += 2) {
      exchange(pattern, even, round % 2 == 0 ? even + 1 : (even + pattern.size - 1) % pattern.size);
    }
  }
}

// ---- libnbc ----

template <void (*kMake)(MessagePattern&)>
void swapped(MessagePattern& pattern) {
  pattern.swap_root();
  kMake(pattern);
}

void binomial_up_and_down(MessagePattern& pattern) {
  up<binomial_in_order>(pattern);
  down<binomial>(pattern);
}
void binomial_up_and_scattered(MessagePattern& pattern) {
  up<binomial_in_order>(pattern);
  linear_down(pattern);
}
// In one buffer: exchanges with processes at growing distances on both sides.
void swapped_in_place(MessagePattern& pattern) {
  const Rank size = pattern.size;
  for (Rank distance = 1; distance <= size / 2; ++distance) {
    std::vector<Hop> there, back;
    for (Rank rank = 0; rank < size; ++rank) {
      there.push_back({rank, (rank + distance) % size, 0, 0});
      back.push_back({rank, (rank + size - distance) % size, 0, 0});
    }
    pattern.together(there);
    if (2 * distance != size) pattern.together(back);
  }
}

void two_processes(MessagePattern& pattern) { exchange(pattern, 0, 1); }

// ---- all to all ----

void alltoall_linear(MessagePattern& pattern) {
  std::vector<Hop> all;
  for (Rank rank = 0; rank < pattern.size; ++rank) {
    for (Rank i = 1; i < pattern.size; ++i)
      all.push_back({rank, (rank + pattern.size - i) % pattern.size, 0, 0});
  }
  pattern.together(all);
}
void alltoallv_linear(MessagePattern& pattern) {
  std::vector<Hop> all;
  for (Rank rank = 0; rank < pattern.size; ++rank) {
    for (Rank to = 0; to < pattern.size; ++to) {
      if (to != rank) all.push_back({rank, to, 0, 0});
    }
  }
  pattern.together(all);
}
// Of MPI_Alltoallv since Open MPI 5.0, from step 0 on: each process also sends to itself.
template <Rank kFirst = 1>
void pairwise(MessagePattern& pattern) {
  for (Rank step = kFirst; step < pattern.size; ++step) {
    std::vector<Hop> all;
    for (Rank rank = 0; rank < pattern.size; ++rank)
      all.push_back({rank, (rank + step) % pattern.size, 0, 0});
    pattern.together(all);
  }
}

// ---- barriers ----

void barrier_linear(MessagePattern& pattern) {
  for (Rank rank = 1; rank < pattern.size; ++rank) pattern.hop(rank, 0);
  for (Rank rank = 1; rank < pattern.size; ++rank) pattern.hop(0, rank);
}
void double_ring(MessagePattern& pattern) {
  for (Rank i = 0; i < 2 * pattern.size; ++i) pattern.hop(i % pattern.size, (i + 1) % pattern.size);
}
void barrier_doubling(MessagePattern& pattern) {
  const Rank count = power_below(pattern.size), rest = pattern.size - count;
  for (Rank rank = 0; rank < rest; ++rank) pattern.hop(rank + count, rank);
  for (Rank mask = 1; mask < count; mask *= 2) {
    for (Rank rank = 0; rank < count; ++rank) {
      if ((rank & mask) == 0) exchange(pattern, rank, rank | mask);
    }
  }
  for (Rank rank = 0; rank < rest; ++rank) pattern.hop(rank, rank + count);
}
void barrier_tree(MessagePattern& pattern) {
  up<binomial_in_order>(pattern);
  down<binomial_in_order, 2>(pattern);
}

// ---- broadcasts in two parts ----

void split_binary(MessagePattern& pattern) {
  down<binary>(pattern);
  const Rank size = pattern.size;
  if (size % 2 == 0) pattern.hop(pattern.from_root(0), pattern.from_root(size - 1));
  for (Rank left = 1; left + 1 < size; left += 2)
    exchange(pattern, pattern.from_root(left), pattern.from_root(left + 1));
}
void scatter_allgather(MessagePattern& pattern) {
  down<binomial_in_order, 2>(pattern);
  doubling_helped<false>(pattern);
}
void scatter_ring(MessagePattern& pattern) {
  down<binomial_in_order, 2>(pattern);
  ring(pattern);
}

void scan_linear(MessagePattern& pattern) {
  for (Rank rank = 0; rank + 1 < pattern.size; ++rank) pattern.hop(rank, rank + 1);
}

constexpr AlgorithmRow kBarrier[] = {{"linear", barrier_linear},
                                     {"double ring", double_ring},
                                     {"recursive doubling", barrier_doubling},
                                     {"Bruck", distances<false>},
                                     {"two processes", two_processes, false, 2},
                                     {"tree", barrier_tree}};
constexpr AlgorithmRow kBcast[] = {
    {"linear", linear_down},
    {"chain", down<chain<4>>, true},
    {"pipeline", down<chain_of_one>, true},
    {"split binary tree", split_binary},
    {"binary tree", down<binary>, true},
    {"binomial tree", down<binomial>, true},
    {"k-nomial tree", down<knomial<4>, 4>, true},
    {"scatter and allgather", scatter_allgather},
    {"scatter and ring allgather", scatter_ring},
    {"k-nomial tree of radix 3", down<knomial<3>, 3>, true, 0, true},
    {"k-nomial tree of radix 8", down<knomial<8>, 8>, true, 0, true},
    {"two chains", down<chain<2>>, true, 0, true},
    {"eight chains", down<chain<8>>, true, 0, true},
    {"binomial tree in order", down<binomial_in_order>, true, 0, true}};
constexpr AlgorithmRow kReduce[] = {{"linear", up<star>},
                                    {"chain", up<chain<4>>, true},
                                    {"pipeline", up<chain_of_one>, true},
                                    {"binary tree", up<binary>, true},
                                    {"binomial tree", up<binomial_in_order>, true},
                                    {"in-order binary tree", in_order_binary, true},
                                    {"Rabenseifner", reduce_rabenseifner},
                                    {"binomial tree by highest bit", up<binomial>, true, 0, true},
                                    {"two chains", up<chain<2>>, true, 0, true},
                                    {"eight chains", up<chain<8>>, true, 0, true}};
constexpr AlgorithmRow kAllreduce[] = {{"recursive doubling", allreduce_doubling},
                                       {"ring", ring_twice},
                                       {"segmented ring", ring_segmented},
                                       {"Rabenseifner", allreduce_rabenseifner}};
constexpr AlgorithmRow kAllgather[] = {{"Bruck", distances<true>},
                                       {"recursive doubling", doubling_power_of_two},
                                       {"ring", ring},
                                       {"neighbour exchange", neighbour_exchange},
                                       {"two processes", two_processes, false, 2}};
constexpr AlgorithmRow kAlltoall[] = {{"linear", alltoall_linear},
                                      {"pairwise", pairwise},
                                      {"Bruck", distances<false>},
                                      {"linear with sync", alltoall_linear},
                                      {"two processes", two_processes, false, 2}};
constexpr AlgorithmRow kAlltoallv[] = {
    {"linear", alltoallv_linear}, {"pairwise", pairwise}, {"pairwise", pairwise<0>}};
constexpr AlgorithmRow kReduceScatter[] = {
    {"recursive halving", halving}, {"ring", ring}, {"butterfly", butterfly}};
constexpr AlgorithmRow kReduceScatterBlock[] = {{"recursive doubling", doubling_helped<true>},
                                                {"recursive halving", halving},
                                                {"butterfly", block_butterfly}};
constexpr AlgorithmRow kGather[] = {{"linear", up<star>},
                                    {"binomial tree", up<binomial_in_order>},
                                    {"linear with sync", gather_sync}};
constexpr AlgorithmRow kScatter[] = {{"linear", linear_down},
                                     {"binomial tree", down<binomial_in_order, 2>},
                                     {"linear without blocking", linear_down_sync}};
constexpr AlgorithmRow kScan[] = {{"linear", scan_linear},
                                  {"recursive doubling", doubling_existing}};

// Non-blocking algorithms: Open MPI's libnbc (ompi/mca/coll/libnbc), with its names.
constexpr AlgorithmRow kIbarrier[] = {{"dissemination", distances<false>}};
constexpr AlgorithmRow kIbcast[] = {{"linear", linear_down},
                                    {"binomial tree", swapped<down<binomial>>},
                                    {"chain", swapped<down<chain_of_one>>, true},
                                    {"k-nomial tree", down<knomial<4>, 4>}};
constexpr AlgorithmRow kIreduce[] = {{"chain", swapped<up<chain_of_one>>, true},
                                     {"binomial tree", swapped<up<binomial_in_order>>},
                                     {"Rabenseifner", reduce_rabenseifner}};
constexpr AlgorithmRow kIallreduce[] = {{"ring", ring_twice},
                                        {"binomial tree", binomial_up_and_down},
                                        {"Rabenseifner", allreduce_rabenseifner},
                                        {"recursive doubling", allreduce_doubling}};
constexpr AlgorithmRow kIallgather[] = {{"linear", alltoallv_linear},
                                        {"recursive doubling", doubling_power_of_two}};
constexpr AlgorithmRow kIalltoall[] = {{"linear", alltoallv_linear},
                                       {"in place", swapped_in_place}};
constexpr AlgorithmRow kIgather[] = {{"linear", up<star>}};
constexpr AlgorithmRow kIscatter[] = {{"linear", linear_down}};
constexpr AlgorithmRow kIreduceScatter[] = {
    {"binomial tree and linear scatter", binomial_up_and_scattered}};

struct OperationRow {
  Collective operation;
  std::span<const AlgorithmRow> blocking, nonblocking;
};
constexpr OperationRow kOperations[] = {
    {Collective::kBarrier, kBarrier, kIbarrier},
    {Collective::kBcast, kBcast, kIbcast},
    {Collective::kReduce, kReduce, kIreduce},
    {Collective::kAllreduce, kAllreduce, kIallreduce},
    {Collective::kAllgather, kAllgather, kIallgather},
    {Collective::kAllgatherv, kAllgather, kIallgather},
    {Collective::kAlltoall, kAlltoall, kIalltoall},
    {Collective::kAlltoallv, kAlltoallv, kIalltoall},
    {Collective::kAlltoallw, kAlltoallv, kIalltoall},
    {Collective::kReduceScatter, kReduceScatter, kIreduceScatter},
    {Collective::kReduceScatterBlock, kReduceScatterBlock, kIreduceScatter},
    {Collective::kGather, kGather, kIgather},
    {Collective::kGatherv, kGather, kIgather},
    {Collective::kScatter, kScatter, kIscatter},
    {Collective::kScatterv, kScatter, kIscatter},
    {Collective::kScan, kScan, kScan},
    {Collective::kExscan, kScan, kScan},
};

}  // namespace

std::span<const AlgorithmRow> algorithms_of(const mpi::Meaning& operation) {
  if (operation.persistent()) return {};
  for (const OperationRow& row : kOperations) {
    if (row.operation == operation.collective)
      return operation.nonblocking() ? row.nonblocking : row.blocking;
  }
  return {};
}

}  // namespace fathom::analysis
