// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/agreed_windows.h"

#include <string>
#include <string_view>
#include <vector>

namespace fathom::profiler {
namespace {

// Those of process 0, in its order, one a line.
std::vector<char> own_names() noexcept try {
  std::vector<char> names;
  for (const PathWindows::Window& window : PathWindows::all()) {
    names.insert(names.end(), window.name.begin(), window.name.end());
    names.push_back('\n');
  }
  return names;
} catch (...) {
  return {};
}

const PathWindows::Window* find(std::string_view name) {
  for (const PathWindows::Window& window : PathWindows::all())
    if (window.name == name) return &window;
  return nullptr;
}

void note_difference(const std::string& name, Gather::Place most, Gather::Place least) noexcept
    try {
  const auto times = [](std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " time" : " times");
  };
  PathWindows::note("the window \"" + name + "\" of the critical path is left out: rank " +
                    std::to_string(most.where) + " opened it " + times(most.value) + ", rank " +
                    std::to_string(least.where) + " " + times(least.value));
} catch (...) {
}

}  // namespace

AgreedWindows agree_on_windows(Gather& gather, std::uint32_t rank) noexcept {
  AgreedWindows agreed;
  const auto own_count = static_cast<std::int64_t>(PathWindows::all().size());
  const std::int64_t count = gather.largest({rank == 0 ? own_count : 0, rank}).value;
  std::vector<char> data;
  if (rank == 0) data = own_names();
  gather.broadcast(data);
  std::string_view names(data.data(), data.size());
  std::int64_t known = 0;  // of process 0's windows, how many this process has, too
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string_view name = names.substr(0, names.find('\n'));
    names.remove_prefix(name.size() + (name.size() < names.size() ? 1 : 0));
    const PathWindows::Window* const own = find(name);
    if (own != nullptr) ++known;
    const auto openings = own == nullptr ? 0 : static_cast<std::int64_t>(own->openings.size());
    // Largest and smallest are equal only if all processes have the same number, and name those that differ.
    const Gather::Place most = gather.largest({openings, rank});
    Gather::Place least = gather.largest({-openings, rank});
    least.value = -least.value;
    if (most.value == least.value && least.value > 0) {
      agreed.windows[agreed.count++] = own;
    } else if (rank == 0 && own != nullptr && most.value != least.value) {
      note_difference(own->name, most, least);
    }
  }
  if (known < own_count) PathWindows::note_left_out_by_rank_0();
  return agreed;
}

}  // namespace fathom::profiler
