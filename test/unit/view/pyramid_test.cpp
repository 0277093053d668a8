// SPDX-License-Identifier: BSD-3-Clause
// Bins, the files that hold them, and orders of matrices. Expected values are worked out here bin by bin, from
// the definitions in the headers.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "view/matrix_order.h"
#include "view/pyramid/builder.h"
#include "view/pyramid/dominant_bins.h"
#include "view/pyramid/layer.h"
#include "view/pyramid/row_groups.h"

using namespace fathom;
using namespace fathom::view;

namespace {

class Folder {
 public:
  Folder() {
    std::string made = (std::filesystem::temp_directory_path() / "view-test-XXXXXX").string();
    path_ = mkdtemp(made.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Geometry small_geometry() {
  Geometry geometry = geometry_of(1'000, 101'000, 600'000, 2);  // three levels
  REQUIRE(geometry.levels == 3);
  return geometry;
}

}  // namespace

TEST_CASE("levels of bins cover the run and end where a bin holds 32 events") {
  for (const std::uint64_t span_ns : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{255},
                                      std::uint64_t{1'000'003}, std::uint64_t{3'600'000'000'000}}) {
    for (const std::uint64_t events : {0, 10'000, 100'000'000}) {
      const Geometry geometry = geometry_of(77, 77 + span_ns, events, 4);
      CHECK(geometry.columns(0) == 1);
      for (std::uint32_t level = 0; level < geometry.levels; ++level) {
        CHECK(geometry.from_ns + geometry.bins(level) * geometry.bin_ns(level) > 77 + span_ns);
        if (level > 0) CHECK(geometry.bin_ns(level - 1) == 4 * geometry.bin_ns(level));
      }
      if (geometry.levels > 1)
        CHECK(events / 4 / (kBins << (2 * (geometry.levels - 1))) >= kEventsPerBin);
    }
  }
}

TEST_CASE("sums and the largest part of every bin of every level are exact") {
  const Geometry geometry = small_geometry();
  std::mt19937_64 random(7);
  DominantBins bins(geometry);
  std::vector<std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>>> expected(3);
  for (std::uint64_t at = geometry.from_ns; at < geometry.to_ns;) {
    at += random() % 60;
    const std::uint64_t end =
        std::min(at + random() % (random() % 9 == 0 ? 3'000 : 50), geometry.to_ns);
    const auto key = static_cast<std::uint32_t>(random() % 5);
    bins.add(at, end, key);
    for (std::uint64_t ns = at; ns < end; ++ns) {
      for (std::uint32_t level = 0; level < 3; ++level)
        ++expected[level][(ns - geometry.from_ns) / geometry.bin_ns(level)][key];
    }
    at = std::max(at, end);
  }
  bins.finish();
  for (std::uint32_t level = 0; level < 3; ++level) {
    const DominantBins::Level& found = bins.levels()[level];
    REQUIRE(found.key.size() == geometry.bins(level));
    for (std::uint64_t bin = 0; bin < geometry.bins(level); ++bin) {
      std::uint64_t total = 0, most = 0;
      for (const auto& [key, ns] : expected[level][bin]) {
        total += ns;
        most = std::max(most, ns);
      }
      REQUIRE(found.total_ns[bin] == total);
      REQUIRE(found.ns[bin] == most);
      if (most > 0) REQUIRE(expected[level][bin][found.key[bin]] == most);
      if (most == 0) REQUIRE(found.key[bin] == DominantBins::kNone);
    }
  }
}

TEST_CASE("lines of more and more processes end where all are one row of tiles") {
  const auto lines_of = [](std::uint32_t processes) {
    Geometry geometry;
    geometry.processes = processes;
    std::vector<std::uint64_t> lines;
    for (std::uint32_t depth = 0; depth < geometry.depths(); ++depth) {
      lines.push_back(geometry.lines(depth));
      CHECK(geometry.lines(depth) * geometry.group(depth) >= processes);
    }
    CHECK(std::accumulate(lines.begin(), lines.end(), std::uint64_t{0}) == geometry.all_lines());
    CHECK(geometry.rows(geometry.depths() - 1) == 1);
    return lines;
  };
  using Lines = std::vector<std::uint64_t>;
  CHECK(lines_of(1) == Lines{1});
  CHECK(lines_of(64) == Lines{64});
  CHECK(lines_of(65) == Lines{65, 9});
  CHECK(lines_of(1'024) == Lines{1'024, 128, 16});
  CHECK(lines_of(100'000) == Lines{100'000, 12'500, 1'563, 196, 25});
}

TEST_CASE("a line of a group has its members' sums, and the key that is the most among them") {
  constexpr ColumnRule kRules[] = {
      {ColumnRule::kKey, 1}, {ColumnRule::kSumOfKey}, {ColumnRule::kSum}, {ColumnRule::kKey}};
  const std::vector<Columns> members{{{5, 0}, {40, 0}, {41, 1}, {2, 0}},
                                     {{7, 0}, {30, 0}, {30, 0}, {3, 0}},
                                     {},  // damaged
                                     {{7, 4}, {20, 9}, {25, 9}, {3, 8}}};
  const Columns line = combined(members, kRules);
  CHECK(line == Columns{{7, 4}, {50, 9}, {96, 10}, {3, 8}});
  CHECK(combined({}, kRules).size() == 4);
  // Of equal ones, the first.
  CHECK(combined({{{9}, {1}, {0}, {6}}, {{8}, {1}, {0}, {5}}}, kRules) ==
        Columns{{9}, {1}, {0}, {6}});
}

TEST_CASE("time that was covered before does not count twice") {
  const Geometry geometry = small_geometry();
  DominantBins bins(geometry);
  bins.add(2'000, 5'000, 1);
  bins.add(3'000, 6'000, 2);     // clocks of imports may overlap
  bins.add(0, 1'500, 3);         // before the run, and before what is covered
  bins.add(90'000, 999'999, 4);  // past the end
  bins.finish();
  const auto& all = bins.levels()[0].total_ns;
  CHECK(std::accumulate(all.begin(), all.end(), std::uint64_t{0}) ==
        4'000 + geometry.to_ns - 90'000);
}

TEST_CASE("a layer gives back what was written, and none of another trace") {
  const Folder folder;
  const std::string path = folder / "layer";
  const Geometry geometry = small_geometry();
  std::mt19937_64 random(3);
  std::vector<std::vector<Columns>> written;
  LayerWriter writer(geometry, 3, 42);
  REQUIRE(writer.open(path));
  for (std::uint32_t process = 0; process < 2; ++process) {
    std::vector<Columns>& levels = written.emplace_back(geometry.levels, Columns(3));
    for (std::uint32_t level = 0; level < geometry.levels; ++level) {
      for (std::uint64_t bin = 0; bin < geometry.bins(level); ++bin) {
        levels[level][0].push_back(0);
        levels[level][1].push_back(random() >> random() % 64);
        levels[level][2].push_back(bin);
      }
    }
    writer.add(process, writer.pack(levels));
  }
  REQUIRE(writer.commit("the tail"));
  CHECK(Layer::open(path, 43, geometry, 3) == nullptr);
  CHECK(Layer::open(path, 42, geometry, 2) == nullptr);
  const auto layer = Layer::open(path, 42, geometry, 3);
  REQUIRE(layer != nullptr);
  CHECK(layer->tail() == "the tail");
  for (std::uint32_t process = 0; process < 2; ++process) {
    for (std::uint32_t level = 0; level < geometry.levels; ++level) {
      for (std::uint64_t stretch = 0; stretch < geometry.columns(level); ++stretch) {
        const Columns read = layer->read(process, level, stretch);
        REQUIRE(read.size() == 3);
        for (std::size_t column = 0; column < 3; ++column) {
          for (std::size_t bin = 0; bin < read[column].size(); ++bin)
            REQUIRE(read[column][bin] == written[process][level][column][stretch * kBins + bin]);
        }
      }
    }
  }
  CHECK(layer->read(2, 0, 0).empty());
  CHECK(layer->read(0, 0, 1).empty());
}

TEST_CASE("a damaged layer is no layer, or has damaged chunks, and never more than that") {
  const Folder folder;
  const std::string path = folder / "layer";
  const Geometry geometry = small_geometry();
  LayerWriter writer(geometry, 1, 42);
  REQUIRE(writer.open(path));
  std::vector<Columns> levels(geometry.levels, Columns(1));
  for (std::uint32_t level = 0; level < geometry.levels; ++level)
    levels[level][0].assign(geometry.bins(level), 12345);
  for (const std::uint32_t process : {0u, 1u}) writer.add(process, writer.pack(levels));
  REQUIRE(writer.commit("tail"));
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  std::mt19937_64 random(11);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole.substr(0, round % 3 == 0 ? random() % whole.size() : whole.size());
    for (int i = 0; i < 4 && !damaged.empty(); ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << damaged;
    const auto layer = Layer::open(path, 42, geometry, 1);
    if (layer == nullptr) continue;
    for (std::uint64_t stretch = 0; stretch < geometry.columns(2); ++stretch) {
      const Columns read = layer->read(1, 2, stretch);
      CHECK((read.empty() || read[0].size() <= kBins));
    }
    unpack_call_tail(layer->tail(), kBins);
    unpack_stretches(layer->tail());
  }
}

TEST_CASE("stretches of time survive packing, also where they are not in order") {
  const std::vector<Stretch> stretches{
      {500, 900, 1, 7}, {100, 100, 0, ~std::uint32_t{0}}, {1ull << 50, (1ull << 50) + 3, 9, 0}};
  const auto back = unpack_stretches(pack_stretches(stretches));
  REQUIRE(back.size() == stretches.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(back[i].begin_ns == stretches[i].begin_ns);
    CHECK(back[i].end_ns == stretches[i].end_ns);
    CHECK(back[i].process == stretches[i].process);
    CHECK(back[i].number == stretches[i].number);
  }
  CHECK(unpack_stretches(pack_stretches({})).empty());
}

TEST_CASE("every order of a matrix is a permutation that brings together what belongs together") {
  // A ring of 32 ranks whose numbers were shuffled, and two groups with heavy traffic inside.
  std::vector<std::uint32_t> place(32);
  std::iota(place.begin(), place.end(), 0u);
  std::shuffle(place.begin(), place.end(), std::mt19937(5));
  std::vector<MatrixCell> ring, groups;
  for (std::uint32_t i = 0; i < 32; ++i) {
    ring.push_back({place[i], place[(i + 1) % 32], 10});
    for (std::uint32_t j = 0; j < 32; ++j) {
      if (i != j) groups.push_back({i, j, i % 2 == j % 2 ? 1000u : 1u});
    }
  }
  const auto is_permutation = [](std::vector<std::uint32_t> order) {
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      if (order[i] != i) return false;
    }
    return order.size() == 32;
  };
  const auto by_pattern = pattern_order(32, ring);
  CHECK(is_permutation(by_pattern));
  std::vector<std::int64_t> at(32);
  for (std::uint32_t i = 0; i < 32; ++i) at[by_pattern[i]] = i;
  for (const MatrixCell& cell : ring) CHECK(std::abs(at[cell.source] - at[cell.destination]) <= 2);
  const auto clustered = cluster_order(32, groups);
  CHECK(is_permutation(clustered));
  for (std::uint32_t i = 1; i < 16; ++i) CHECK(clustered[i] % 2 == clustered[0] % 2);
  CHECK(host_order({"b", "a", "b", "a"}) == std::vector<std::uint32_t>{0, 2, 1, 3});
}
