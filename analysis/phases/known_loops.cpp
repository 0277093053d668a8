// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/known_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::analysis {
namespace {

// The same wherever in the circle the body begins.
std::uint64_t hash_of_circle(std::span<const CallItem> body) {
  std::uint64_t hash = body.size(), before = body.back().hash;
  for (const CallItem& item : body) {
    hash += base::mixed(before * 31 ^ item.hash);
    before = item.hash;
  }
  return hash;
}

}  // namespace

void KnownLoops::remember(const std::vector<CallItem>& body) {
  Hashes& known = bodies_[hash_of_circle(body)];
  if (known.empty()) known = hashes_of(body);
}

bool KnownLoops::begins_elsewhere(std::span<const CallItem> body) const {
  if (body.size() < 2 || bodies_.size() == 0) return false;
  const Hashes* known = bodies_.find(hash_of_circle(body));
  if (!known || known->size() != body.size()) return false;
  const auto begins_at = [&](std::size_t first) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[(first + i) % body.size()].hash != (*known)[i]) return false;
    }
    return true;
  };
  if (begins_at(0)) return false;
  for (std::size_t first = 1; first < body.size(); ++first) {
    if (begins_at(first)) return true;
  }
  return false;
}

bool KnownLoops::is_branch(const CallItem& loop, std::span<const CallItem> items) const {
  const std::vector<Hashes>* known = branches_.find(loop.hash);
  if (!known) return false;
  return std::any_of(known->begin(), known->end(),
                     [items](const Hashes& branch) { return has_hashes(items, branch); });
}

bool KnownLoops::learn_branches(const std::vector<CallItem>& body,
                                std::span<const CallItem> before) {
  bool learned = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    // The loop, and the one at the end of its last iteration, and so on.
    for (const CallItem* loop = &body[i]; loop->is_loop(); loop = &latest_of(*loop).back()) {
      if (loop->body.size() > 1 && loop->open && loop->iterations.last >= kFewest)
        learned = learn_branch(*loop, body, i, before) || learned;
    }
  }
  return learned;
}

// What comes between two runs of a loop, of which the first ends with body[at].
bool KnownLoops::learn_branch(const CallItem& loop, const std::vector<CallItem>& body,
                              std::size_t at, std::span<const CallItem> before) {
  const auto most_calls = kLongestBranch * (loop.calls / loop.iterations.count);
  std::vector<const CallItem*> branch;
  std::uint64_t calls = 0;
  bool ends_alike = false;
  for (std::size_t by = 1; by < body.size() && !ends_alike; ++by) {
    const CallItem& item = body[(at + by) % body.size()];
    if (item.hash == loop.hash) break;
    calls += item.calls;
    branch.push_back(&item);
    ends_alike = item.hash == loop.body.back().hash;
  }
  if (branch.empty() || calls > most_calls) return false;
  if (!ends_alike && branch.front()->hash != loop.body.front().hash) return false;
  // Not one more iteration after or before other calls.
  const auto same = [](const CallItem& a, const CallItem* b) { return a.hash == b->hash; };
  if (branch.size() >= loop.body.size() &&
      (std::equal(loop.body.begin(), loop.body.end(), branch.begin(), same) ||
       std::equal(loop.body.rbegin(), loop.body.rend(), branch.rbegin(), same)))
    return false;
  Hashes hashes, own = hashes_of(loop.body);
  for (const CallItem* item : branch) hashes.push_back(item->hash);
  if (!ends_alike) begin_earlier(body, at, before, own, hashes);
  std::vector<Hashes>& known = branches_[hash_of_body(own)];
  if (known.size() == kMostBranches || std::find(known.begin(), known.end(), hashes) != known.end())
    return false;
  branches_by_end_[own.back()].push_back({own, hashes});
  if (hashes.back() != own.back()) branches_by_end_[hashes.back()].push_back({own, hashes});
  known.push_back(std::move(hashes));
  return true;
}

// In "xyb ab ab ab xyb ab ab ab" the loop seems to be "ba", with a branch "bxy", because the first
// iteration took the branch. What both begin with belongs to their ends if the rest of the branch
// comes before the loop.
void KnownLoops::begin_earlier(const std::vector<CallItem>& body, std::size_t at,
                               std::span<const CallItem> before, Hashes& own, Hashes& branch) {
  const auto [last, last_of_branch] =
      std::mismatch(own.begin(), own.end(), branch.begin(), branch.end());
  if (last == own.end() || last_of_branch == branch.end()) return;
  // How many of the branch's last items come before the loop: all if it begins with the branch.
  std::size_t count = 0;
  while (count < branch.size()) {
    const CallItem* item = count < at                   ? &body[at - 1 - count]
                           : count - at < before.size() ? &before[before.size() - 1 - (count - at)]
                                                        : nullptr;
    if (!item || item->hash != branch[branch.size() - 1 - count]) break;
    ++count;
  }
  if (static_cast<std::ptrdiff_t>(count) < branch.end() - last_of_branch || count == branch.size())
    return;
  std::rotate(own.begin(), last, own.end());
  std::rotate(branch.begin(), last_of_branch, branch.end());
  bodies_[hash_of_circle(body[at].body)] = own;
}

}  // namespace fathom::analysis
