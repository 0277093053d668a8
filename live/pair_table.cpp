// SPDX-License-Identifier: BSD-3-Clause
#include "live/pair_table.h"

#include <algorithm>
#include <tuple>

namespace fathom::live {

std::uint32_t PairTable::kind(const std::string& name) {
  return kinds_.try_emplace(name, static_cast<std::uint32_t>(kinds_.size())).first->second;
}

// A counting sort, because each sender has few rows. Senders that are no ranks of any size come last, sorted by
// the caller as the rows of one sender.
void PairTable::order_by_sender() {
  const auto senders =
      static_cast<std::uint32_t>(std::min<std::size_t>(rows_.size() + 1, std::size_t{1} << 24));
  const auto place_of = [senders](const Row& row) {
    return std::min(static_cast<std::uint32_t>(row.from), senders);
  };
  std::vector<std::size_t> next(std::size_t{senders} + 2, 0);
  for (const Row& row : rows_) ++next[place_of(row) + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<std::size_t> begins = next;
  std::vector<Row> ordered(rows_.size());
  for (const Row& row : rows_) ordered[next[place_of(row)]++] = row;
  rows_ = std::move(ordered);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    std::sort(rows_.begin() + static_cast<std::ptrdiff_t>(begins[i]),
              rows_.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]),
              [](const Row& one, const Row& other) {
                return std::tuple(one.from, one.to, one.kind) <
                       std::tuple(other.from, other.to, other.kind);
              });
  }
}

std::vector<PairState> PairTable::take() {
  std::vector<std::uint32_t> place(kinds_.size());  // of a kind, in alphabetical order
  std::vector<const std::string*> names;
  for (const auto& [name, number] : kinds_) {
    place[number] = static_cast<std::uint32_t>(names.size());
    names.push_back(&name);
  }
  for (Row& row : rows_) row.kind = place[row.kind];
  order_by_sender();
  std::vector<PairState> pairs;
  pairs.reserve(rows_.size() / 2 + 1);
  const Row* last = nullptr;
  for (const Row& row : rows_) {
    if (last == nullptr || last->from != row.from || last->to != row.to || last->kind != row.kind) {
      PairState pair;
      pair.from = row.from;
      pair.to = row.to;
      pair.kind = *names[row.kind];
      pairs.push_back(std::move(pair));
    }
    last = &row;
    PairState& pair = pairs.back();
    (row.is_sent ? pair.sent : pair.received) += row.messages;
    (row.is_sent ? pair.sent_bytes : pair.received_bytes) += row.bytes;
  }
  rows_.clear();
  kinds_.clear();
  return pairs;
}

}  // namespace fathom::live
