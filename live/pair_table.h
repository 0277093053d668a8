// SPDX-License-Identifier: BSD-3-Clause
// Sums up what ranks say of their pairs. Both ends of a pair say something, so that a large job has millions of rows,
// and a reader has to be done with them within a second: rows are collected and sorted, and no tree is kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "live/job_state.h"

namespace fathom::live {

class PairTable {
 public:
  // For add(): the number of a class of traffic.
  std::uint32_t kind(const std::string& name);

  // What one end has counted; any ranks.
  void add(std::int32_t from, std::int32_t to, std::uint32_t kind, bool is_sent,
           std::uint64_t messages, std::uint64_t bytes) {
    rows_.push_back({from, to, kind, is_sent, messages, bytes});
  }

  // In the order of from, to and kind. Linear in the rows, and leaves none.
  std::vector<PairState> take();

 private:
  struct Row {
    std::int32_t from, to;
    std::uint32_t kind;
    bool is_sent;
    std::uint64_t messages, bytes;
  };
  void order_by_sender();

  std::vector<Row> rows_;
  std::map<std::string, std::uint32_t> kinds_;
};

}  // namespace fathom::live
