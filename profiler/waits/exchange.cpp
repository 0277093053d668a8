// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fathom::profiler {
namespace {

struct Label {
  std::uint32_t to, from;
  std::uint64_t bytes;
};

void pack(const Parcel& parcel, std::vector<char>& data) {
  const Label label{parcel.to, parcel.from, parcel.data.size()};
  const char* bytes = reinterpret_cast<const char*>(&label);
  data.insert(data.end(), bytes, bytes + sizeof label);
  data.insert(data.end(), parcel.data.begin(), parcel.data.end());
}

void unpack(const std::vector<char>& data, std::vector<Parcel>& parcels) {
  for (std::size_t at = Gather::kRoom; at + sizeof(Label) <= data.size();) {
    Label label;
    std::memcpy(&label, data.data() + at, sizeof label);
    at += sizeof label;
    if (label.bytes > data.size() - at) return;
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(at);
    parcels.push_back(
        {label.to, label.from, {begin, begin + static_cast<std::ptrdiff_t>(label.bytes)}});
    at += label.bytes;
  }
}

// A way is divided into digits with this base.
std::uint32_t base_of(std::uint32_t size) {
  std::uint32_t base = 2;
  while (base <= Gather::kMostPartners && base * base < size) ++base;
  return base;
}

// Takes the parcels whose way has this digit at this place, which is a power of the base, out of
// `parcels`.
class Digits {
 public:
  Digits(std::uint32_t rank, std::uint32_t size) : rank_(rank), size_(size), base_(base_of(size)) {}

  std::uint32_t base() const { return base_; }
  std::vector<char> take(std::vector<Parcel>& parcels, std::uint32_t digit,
                         std::uint64_t place) const noexcept try {
    const auto stays = [&](const Parcel& parcel) {
      const std::uint32_t way = (parcel.to + size_ - rank_) % size_;
      return way / place % base_ != digit;
    };
    const auto leaving = std::stable_partition(parcels.begin(), parcels.end(), stays);
    std::vector<char> data(Gather::kRoom);
    for (auto parcel = leaving; parcel != parcels.end(); ++parcel) pack(*parcel, data);
    parcels.erase(leaving, parcels.end());
    return data;
  } catch (...) {
    return {};
  }

 private:
  const std::uint32_t rank_, size_, base_;
};

void unpack_or_lose(const std::vector<char>& data, std::vector<Parcel>& parcels) noexcept try {
  unpack(data, parcels);
} catch (...) {
}

void pack_or_lose(const Parcel& parcel, std::vector<char>& data) noexcept try {
  data.resize(std::max(data.size(), Gather::kRoom));
  pack(parcel, data);
} catch (...) {
  data.clear();
}

// Parcels arrive in any order, on which no result may depend.
std::vector<Parcel> by_sender(std::vector<Parcel> parcels) {
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.from < b.from; });
  return parcels;
}

// A letter without data to each process that `wanted` says, ascending.
template <typename Wanted>
std::vector<Gather::Letter> letters_to(std::uint32_t size, Wanted wanted) {
  std::vector<Gather::Letter> letters;
  for (std::uint32_t process = 0; process < size; ++process)
    if (wanted(process)) letters.emplace_back().to = static_cast<int>(process);
  return letters;
}

// Puts the parcels for other processes into their letters, and leaves those for this one.
void put_into(std::vector<Gather::Letter>& letters, std::vector<Parcel>& parcels,
              std::uint32_t rank) noexcept {
  for (const Parcel& parcel : parcels) {
    const auto to = static_cast<int>(parcel.to);
    const auto letter =
        std::lower_bound(letters.begin(), letters.end(), to,
                         [](const Gather::Letter& one, int process) { return one.to < process; });
    if (letter != letters.end() && letter->to == to) pack_or_lose(parcel, letter->data);
  }
  std::erase_if(parcels, [rank](const Parcel& parcel) { return parcel.to != rank; });
}

}  // namespace

std::vector<Parcel> Exchange::in_rounds(std::vector<Parcel> parcels, Gather::Places& told) {
  const Digits digits(rank_, size_);
  Gather::Partners partners;
  for (std::uint64_t place = 1; place < size_; place *= digits.base()) {
    std::size_t count = 0;
    for (std::uint32_t digit = 1; digit < digits.base() && digit * place < size_; ++digit) {
      const auto distance = static_cast<std::uint32_t>(digit * place);
      Gather::Partner& partner = partners[count++];
      partner = {};
      partner.letter.to = static_cast<int>((rank_ + distance) % size_);
      partner.letter.data = digits.take(parcels, digit, place);
      partner.from = static_cast<int>((rank_ + size_ - distance) % size_);
    }
    gather_.swap(partners, count, told);
    for (std::size_t i = 0; i < count; ++i) unpack_or_lose(partners[i].received, parcels);
  }
  return by_sender(std::move(parcels));
}

std::vector<Parcel> Exchange::ask(std::vector<Parcel> questions, Gather::Places& told,
                                  std::size_t goes_in_rounds) {
  for (Parcel& parcel : questions) parcel.from = rank_;
  if (size_ > Gather::kMostCounted) return in_rounds(std::move(questions), told);
  try {
    std::bitset<Gather::kMostCounted> asked;
    for (const Parcel& parcel : questions) asked[parcel.to] = parcel.to != rank_;
    asked_ = letters_to(size_, [&asked](std::uint32_t process) { return asked[process]; });
  } catch (...) {  // no memory: asks nobody
    asked_.clear();
    questions.clear();
  }
  told[goes_in_rounds].value = size_ > direct_ranks_ ? 1 : 0;
  std::uint32_t coming = gather_.count_questions(asked_, told);
  is_direct_ = told[goes_in_rounds].value == 0;
  if (!is_direct_) return in_rounds(std::move(questions), told);
  put_into(asked_, questions, rank_);
  for (Gather::Letter& letter : asked_) gather_.begin_question(letter);
  for (std::vector<char> data; coming > 0; --coming) {
    askers_[static_cast<std::size_t>(gather_.take_question(data))] = true;
    unpack_or_lose(data, questions);
  }
  // Until then their data may be fetched.
  for (Gather::Letter& letter : asked_) gather_.finish(letter);
  return by_sender(std::move(questions));
}

std::vector<Parcel> Exchange::answer(std::vector<Parcel> answers) {
  for (Parcel& parcel : answers) parcel.from = rank_;
  Gather::Places nothing{};
  if (!is_direct_) return in_rounds(std::move(answers), nothing);
  std::vector<Gather::Letter> letters;
  try {
    letters = letters_to(size_, [this](std::uint32_t process) { return askers_[process]; });
    put_into(letters, answers, rank_);
    for (Gather::Letter& letter : letters) gather_.begin_answer(letter);
  } catch (...) {  // no memory: answers without content
    for (std::uint32_t process = 0; process < size_; ++process) {
      Gather::Letter empty;
      empty.to = static_cast<int>(process);
      if (!askers_[process]) continue;
      gather_.begin_answer(empty);
      gather_.finish(empty);
    }
  }
  std::vector<char> data;
  for (const Gather::Letter& letter : asked_) {
    gather_.take_answer(letter.to, data);
    unpack_or_lose(data, answers);
  }
  for (Gather::Letter& letter : letters) gather_.finish(letter);
  return by_sender(std::move(answers));
}

}  // namespace fathom::profiler
