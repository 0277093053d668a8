// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/delay_stack.h"

#include <algorithm>

namespace fathom::analysis {

const Delay* DelayStack::find(const Delay& delay) const {
  for (std::uint32_t i = size; i-- > 0;) {
    if (delays[i].is_same(delay)) return &delays[i];
  }
  return nullptr;
}

// Small ones of each process on the way must not displace the one large delay that travels.
void DelayStack::push(const Delay& delay) {
  if (size == kMost) {
    const auto older = delays.begin() + kLargest;
    const auto least = std::min_element(delays.begin(), older,
                                        [](const Delay& a, const Delay& b) { return a.ns < b.ns; });
    std::move(least + 1, delays.end(), least);
    --size;
  }
  delays[size++] = delay;
}

WaitCauses causes_of(std::uint64_t wait_ns, const DelayStack& culprit, const Delay& own,
                     std::uint32_t victim_process, const DelayStack& victim,
                     const LastHeard& heard) {
  // The culprit's delays that the victim lacks.
  std::array<Delay, DelayStack::kMost> lacks;
  std::size_t count = 0;
  std::uint64_t lacks_ns = 0, victims_ns = 0;
  const auto add = [&](const Delay& delay, std::uint64_t ns) {
    lacks[count] = delay;
    lacks[count++].ns = ns;
    lacks_ns += ns;
  };
  const auto add_victims = [&](auto newer) {
    for (std::uint32_t i = victim.size; i-- > 0 && newer(victim.delays[i]);) {
      if (!victim.delays[i].is_same(own)) victims_ns += victim.delays[i].ns;
    }
  };
  std::uint32_t left = culprit.size;
  for (; left > 0; --left) {
    const Delay& delay = culprit.delays[left - 1];
    if (delay.process == victim_process) {
      add_victims([&](const Delay& other) {
        return delay.since == kNobody || other.brought > delay.since;
      });
      break;
    }
    if (const Delay* const shared = victim.find(delay)) {
      // The stretch may have gone on after one of the two had waited for it.
      if (delay.ns > shared->ns) add(delay, delay.ns - shared->ns);
      if (delay.ns < shared->ns) victims_ns += shared->ns - delay.ns;
      add_victims([&](const Delay& other) { return &other != shared; });
      break;
    }
    if (delay.brought < heard.culprits_call) {
      add_victims([&](const Delay& other) { return other.brought > heard.own_call; });
      break;
    }
    add(delay, delay.ns);
  }
  if (left == 0) add_victims([](const Delay&) { return true; });

  WaitCauses causes;
  causes.late_ns = wait_ns + victims_ns > lacks_ns ? wait_ns + victims_ns - lacks_ns : 0;
  causes.own_ns = std::min(wait_ns, causes.late_ns);
  std::uint64_t rest_ns = wait_ns - causes.own_ns;
  for (std::size_t i = 0; i < count && rest_ns > 0; ++i) {
    const std::uint64_t ns = std::min(rest_ns, lacks[i].ns);
    rest_ns -= ns;
    causes.delays[causes.size] = lacks[i];
    causes.delays[causes.size++].ns = ns;
  }
  return causes;
}

DelayStack taken_over(const DelayStack& culprit, Delay own, const DelayStack& victim,
                      std::uint32_t call) {
  DelayStack stack = culprit;
  for (std::uint32_t i = 0; i < stack.size; ++i) {
    Delay& delay = stack.delays[i];
    const Delay* const had = victim.find(delay);
    delay.brought = had != nullptr ? had->brought : call;
  }
  if (own.ns == 0) return stack;
  if (const Delay* const had = victim.find(own)) own.ns += had->ns;
  own.brought = call;
  stack.push(own);
  return stack;
}

}  // namespace fathom::analysis
