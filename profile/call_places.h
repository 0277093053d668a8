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

// Numbers keys from 0 in the order in which they appear, and after settle() in an order of their own.
template <typename Key>
class Numbering {
 public:
  std::uint32_t number(const Key& key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  template <typename Less = std::less<Key>>
  void settle(Less less = {}) {
    keys_.clear();
    for (const auto& [key, number] : numbers_) keys_.push_back(key);
    std::sort(keys_.begin(), keys_.end(), less);
    settled_.resize(keys_.size());
    for (std::uint32_t i = 0; i < keys_.size(); ++i) settled_[numbers_.at(keys_[i])] = i;
  }
  std::uint32_t settled(std::uint32_t number) const { return settled_[number]; }
  const std::vector<Key>& keys() const { return keys_; }  // by settled number

 private:
  std::map<Key, std::uint32_t> numbers_;
  std::vector<std::uint32_t> settled_;  // by earlier number
  std::vector<Key> keys_;
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
    return functions_.keys()[settled];
  }
  const std::string& phase_name(std::uint32_t settled) const { return phases_.keys()[settled]; }
  std::vector<CallSite> sites() const;

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
  // `kind_of`: the number in the run of each of the process's communicators; `phase_of`: the name
  // of each of its phases.
  ProcessPlaces(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                std::function<std::string(std::uint32_t)> phase_of, RunPlaces& run);

  CallPlace place(const CallKey& key, const CodePlaceRow& code);
  std::uint32_t function(const CodePlaceRow& code);
  std::uint32_t site(const CodePlaceRow& code);
  std::int64_t communicator(std::uint32_t number) const;  // its number in the run; kNone

 private:
  std::map<std::uint32_t, std::uint32_t> functions_, files_;  // their numbers in the run
  const std::vector<std::uint32_t>& kind_of_;
  std::function<std::string(std::uint32_t)> phase_of_;
  RunPlaces& run_;
};

}  // namespace fathom::profile
