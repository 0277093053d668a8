// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/exchange.h"

#include <algorithm>
#include <cstring>

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

}  // namespace

std::vector<Parcel> exchange(Gather& gather, std::uint32_t rank, std::uint32_t size,
                             std::vector<Parcel> parcels, Gather::Places& told) {
  for (Parcel& parcel : parcels) parcel.from = rank;
  const Digits digits(rank, size);
  Gather::Partners partners;
  for (std::uint64_t place = 1; place < size; place *= digits.base()) {
    std::size_t count = 0;
    for (std::uint32_t digit = 1; digit < digits.base() && digit * place < size; ++digit) {
      const auto distance = static_cast<std::uint32_t>(digit * place);
      partners[count++] = {static_cast<int>((rank + distance) % size),
                           static_cast<int>((rank + size - distance) % size),
                           digits.take(parcels, digit, place),
                           {}};
    }
    gather.swap(partners, count, told);
    for (std::size_t i = 0; i < count; ++i) {
      try {
        unpack(partners[i].received, parcels);
      } catch (...) {
      }
    }
  }
  // Parcels arrive in the order of rounds, on which no result may depend.
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.from < b.from; });
  return parcels;
}

}  // namespace fathom::profiler
