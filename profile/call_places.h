// SPDX-License-Identifier: BSD-3-Clause
// Where in the program calls are made: what the numbers in one process's rows (rows.h) mean, and
// one number in the run for each function, call site and phase.
//
// A call site is the same on all ranks if file, build id and place in the file are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/rows_reader.h"

namespace fathom::profile {

// The calls of one function from one site, on one communicator and in one phase, by their numbers.
struct CallPlace {
  std::uint32_t function = 0, site = 0;
  std::int64_t communicator = kNone;
  std::uint32_t phase = 0;
  auto operator<=>(const CallPlace&) const = default;
};

// Numbers keys from 0 in the order in which they appear; settle() gives each a place in their own order.
template <typename Key>
class Numbering {
 public:
  Numbering() = default;
  Numbering(const Numbering&) = delete;

  std::uint32_t number(const Key& key) {
    const auto [known, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(&known->first);
    return known->second;
  }
  const Key& key(std::uint32_t number) const { return *keys_[number]; }
  std::size_t size() const { return keys_.size(); }

  template <typename Less = std::less<Key>>
  void settle(Less less = {}) {
    order_.resize(keys_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return less(*keys_[a], *keys_[b]); });
    settled_.resize(keys_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) settled_[order_[i]] = i;
  }
  std::uint32_t settled(std::uint32_t number) const { return settled_[number]; }
  const Key& settled_key(std::uint32_t settled) const { return key(order_[settled]); }

 private:
  std::map<Key, std::uint32_t> numbers_;
  std::vector<const Key*> keys_;        // by number: those of the map
  std::vector<std::uint32_t> settled_;  // by number
  std::vector<std::uint32_t> order_;    // by settled number: the number
};

// The places of a run.
class RunPlaces {
 public:
  struct File {
    std::string module, build_id;
    auto operator<=>(const File&) const = default;
  };

  // Numbered in the order in which they appear.
  std::uint32_t function(const std::string& name) { return functions_.number(name); }
  std::uint32_t phase(const std::string& name) { return phases_.number(name); }
  const std::string& phase_of(std::uint32_t number) const { return phases_.key(number); }
  std::uint32_t file(const File& file) { return files_.number(file); }
  std::uint32_t site(std::uint32_t file, std::uint64_t offset) {
    return sites_.number({file, offset});
  }

  // Call once, when all places are known. Numbers them by name and offset instead, so that the
  // result does not depend on the order of the processes. `communicator_id`: of each number.
  void settle(std::function<std::int64_t(std::uint32_t)> communicator_id);

  // After settle():
  void settle_place(CallPlace& place) const;
  std::int64_t settled_communicator(std::int64_t number) const {
    return number == kNone ? kNone : communicator_id_(static_cast<std::uint32_t>(number));
  }
  std::uint32_t settled_function(std::uint32_t number) const { return functions_.settled(number); }
  std::uint32_t settled_site(std::uint32_t number) const { return sites_.settled(number); }
  const std::string& function_name(std::uint32_t settled) const {
    return functions_.settled_key(settled);
  }
  const std::string& phase_name(std::uint32_t settled) const {
    return phases_.settled_key(settled);
  }
  std::vector<CallSite> sites() const;  // in this order

 private:
  using Site = std::pair<std::uint32_t, std::uint64_t>;  // file, offset
  Numbering<std::string> functions_, phases_;
  Numbering<File> files_;
  Numbering<Site> sites_;
  std::function<std::int64_t(std::uint32_t)> communicator_id_;
};

// The places in the rows of one process, which must outlive it.
class ProcessPlaces {
 public:
  // `kind_of`, `phases`: the numbers in the run of the process's communicators and phases.
  ProcessPlaces(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                const std::map<std::uint32_t, std::uint32_t>& phases, RunPlaces& run);

  CallPlace place(const CallKey& key, const CodePlaceRow& code);
  std::uint32_t function(const CodePlaceRow& code);
  std::uint32_t site(const CodePlaceRow& code);
  std::int64_t communicator(std::uint32_t number) const;  // its number in the run; kNone

 private:
  std::map<std::uint32_t, std::uint32_t> functions_, files_;  // their numbers in the run
  const std::vector<std::uint32_t>& kind_of_;
  const std::map<std::uint32_t, std::uint32_t>& phases_;
  RunPlaces& run_;
};

}  // namespace fathom::profile
