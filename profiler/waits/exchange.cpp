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
  for (std::size_t at = 0; at + sizeof(Label) <= data.size();) {
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

// Takes the parcels whose way has this bit out of `parcels`.
std::vector<char> take(std::vector<Parcel>& parcels, std::uint32_t rank, std::uint32_t size,
                       std::uint32_t bit) noexcept try {
  const auto stays = [&](const Parcel& parcel) {
    return ((parcel.to + size - rank) % size & bit) == 0;
  };
  const auto leaving = std::stable_partition(parcels.begin(), parcels.end(), stays);
  std::vector<char> data;
  for (auto parcel = leaving; parcel != parcels.end(); ++parcel) pack(*parcel, data);
  parcels.erase(leaving, parcels.end());
  return data;
} catch (...) {
  return {};
}

}  // namespace

std::vector<Parcel> exchange(Gather& gather, std::uint32_t rank, std::uint32_t size,
                             std::vector<Parcel> parcels, Gather::Places& told) {
  for (Parcel& parcel : parcels) parcel.from = rank;
  for (std::uint32_t bit = 1; bit < size; bit <<= 1) {
    const auto to = static_cast<int>((rank + bit) % size);
    const auto from = static_cast<int>((rank + size - bit) % size);
    const std::vector<char> received = gather.shift(to, from, take(parcels, rank, size, bit), told);
    try {
      unpack(received, parcels);
    } catch (...) {
    }
  }
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.from < b.from; });
  return parcels;
}

}  // namespace fathom::profiler
