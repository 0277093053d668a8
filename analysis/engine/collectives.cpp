// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/collectives.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::analysis {
namespace {

bool entered_later(const Participation& a, const Participation& b) {
  return a.enter_ns != b.enter_ns ? a.enter_ns > b.enter_ns : a.process < b.process;
}

JoinedCollective outcome(const Participation& part, std::uint64_t first_left_ns) {
  JoinedCollective one;
  one.process = part.process;
  one.step = part.step;
  one.first_left_ns = first_left_ns;
  one.bystander = part.bystander;
  return one;
}

}  // namespace

bool Collectives::is_closed(const Participation& part) const {
  for (const Closed& closed : closed_[static_cast<std::size_t>(part.communicator)]) {
    if (closed.ends(part.object, part.epoch, part.sequence)) return true;
  }
  return false;
}

void Collectives::take_part(const Participation& part, Joined& joined) {
  if (is_closed(part)) {
    ++left_out_;
    return;
  }
  const std::size_t wanted = members(part.communicator).size();
  const Key key{part.communicator, part.object, part.epoch, part.sequence};
  Operation& operation = open_[key];
  if (operation.parts.empty() && !spare_.empty()) {
    operation.parts.swap(spare_.back());
    spare_.pop_back();
  }
  operation.parts.push_back(part);
  if (operation.parts.size() < wanted) return;
  // Different functions cannot be one operation, so such parts are dropped and counted.
  const bool alike =
      std::all_of(operation.parts.begin(), operation.parts.end(),
                  [&](const Participation& other) { return other.operation == part.operation; });
  if (alike) {
    complete(operation.parts, joined);
  } else {
    left_out_ += operation.parts.size();
  }
  operation.parts.clear();
  spare_.push_back(std::move(operation.parts));
  open_.erase(key);
}

// Whether the part was over before the other began, whatever the error of the clocks.
bool Collectives::left_before(const Participation& part, const Participation& last) const {
  return part.leave_ns != 0 &&
         facts_.surely_before(part.process, part.leave_ns, last.process, last.enter_ns);
}

void Collectives::decided_by(JoinedCollective& one, const Participation& part,
                             const Participation& by) const {
  one.partner = by.process;
  one.partner_step = by.step;
  one.decided_ns = by.enter_ns;
  const mpi::Meaning& means = facts_.functions[part.function];
  const bool needs = means.flow == Flow::kBarrier || by.carries != 0;
  if (part.leave_ns != 0 && part.leave_ns < by.enter_ns && needs &&
      mpi::needs_data_of_others(means.collective))
    one.clock_error_ns = by.enter_ns - part.leave_ns;
}

void Collectives::complete(std::vector<Participation>& parts, Joined& joined) const {
  const mpi::Meaning& means = facts_.functions[parts.front().function];
  const Flow flow = means.flow;
  if (flow == Flow::kPrefix) return complete_prefix(parts, joined);
  const Participation* last = &parts.front();
  const Participation* root = nullptr;
  const Participation* last_but_root = nullptr;
  std::uint64_t first_left_ns = ~std::uint64_t{0};
  for (const Participation& part : parts) {
    if (entered_later(part, *last)) last = &part;
    if (part.bystander) continue;
    first_left_ns = std::min(first_left_ns, part.leave_ns);
    if (part.process == part.root) {
      root = &part;
    } else if (last_but_root == nullptr || entered_later(part, *last_but_root)) {
      last_but_root = &part;
    }
  }
  const bool together = flow == Flow::kBarrier || flow == Flow::kAllToAll;
  const bool apart = together && means.collective == mpi::Collective::kNone &&
                     std::any_of(parts.begin(), parts.end(), [&](const Participation& part) {
                       return left_before(part, *last);
                     });
  for (const Participation& part : parts) {
    JoinedCollective one = outcome(part, first_left_ns);
    one.bystander |= apart ? 1 : 0;
    const bool is_root = &part == root;
    if (together && !apart) decided_by(one, part, *last);
    if (flow == Flow::kFromRoot && !is_root && !part.bystander && root != nullptr)
      decided_by(one, part, *root);
    if (flow == Flow::kToRoot && is_root && last_but_root != nullptr)
      decided_by(one, part, *last_but_root);
    joined.push_back(one);
  }
}

void Collectives::complete_prefix(std::vector<Participation>& parts, Joined& joined) const {
  const auto& order = members(parts.front().communicator);
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::sort(parts.begin(), parts.end(), [&](const Participation& a, const Participation& b) {
    return place[a.process] < place[b.process];
  });
  std::uint64_t first_left_ns = ~std::uint64_t{0};
  for (const Participation& part : parts) first_left_ns = std::min(first_left_ns, part.leave_ns);
  const Participation* last = nullptr;  // of the ranks below
  for (const Participation& part : parts) {
    JoinedCollective one = outcome(part, first_left_ns);
    if (last != nullptr) decided_by(one, part, *last);
    joined.push_back(one);
    if (last == nullptr || entered_later(part, *last)) last = &part;
  }
}

void Collectives::close(const Closing& closing) {
  auto& all = closed_[static_cast<std::size_t>(closing.communicator)];
  auto same = std::find_if(all.begin(), all.end(), [&](const Closed& c) {
    return c.object == closing.object && c.epoch == closing.epoch;
  });
  if (same == all.end()) {
    same = all.insert(same, {closing.object, closing.epoch, closing.sequence, closing.persistent});
  } else if (same->sequence <= closing.sequence && same->persistent <= closing.persistent) {
    return;
  } else {
    same->sequence = std::min(same->sequence, closing.sequence);
    same->persistent = std::min(same->persistent, closing.persistent);
  }
  const Closed& closed = *same;
  std::vector<Key> hopeless;
  open_.for_each([&](const Key& key, const Operation& operation) {
    if (key.communicator != closing.communicator ||
        !closed.ends(key.object, key.epoch, key.sequence))
      return;
    left_out_ += operation.parts.size();
    hopeless.push_back(key);
  });
  for (const Key& key : hopeless) open_.erase(key);
}

std::uint64_t Collectives::left_out() const {
  std::uint64_t all = left_out_;
  open_.for_each([&](const Key&, const Operation& operation) { all += operation.parts.size(); });
  return all;
}

}  // namespace fathom::analysis
