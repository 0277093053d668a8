// SPDX-License-Identifier: BSD-3-Clause
// Patterns in matrices written by hand: alone, renumbered, in groups, and in mixtures.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/traffic/patterns.h"

namespace fathom::analysis {
namespace {

using Numbers = std::vector<std::int64_t>;

// Traffic of one class; pairs may be added to several times.
class Matrix {
 public:
  void add(std::int64_t source, std::int64_t destination, std::uint64_t bytes,
           std::uint64_t messages = 10) {
    auto& cell = cells_[{source, destination}];
    cell.first += bytes;
    cell.second += messages;
  }
  void both(std::int64_t a, std::int64_t b, std::uint64_t bytes) {
    add(a, b, bytes);
    add(b, a, bytes);
  }
  Matrix renumbered(const Numbers& to) const {
    Matrix other;
    for (const auto& [pair, counts] : cells_) {
      other.add(to[static_cast<std::size_t>(pair.first)], to[static_cast<std::size_t>(pair.second)],
                counts.first, counts.second);
    }
    return other;
  }
  profile::Traffic traffic(const std::string& class_name, std::int64_t communicator = 0) const {
    profile::Traffic block{
        class_name, class_name != profile::kPointToPoint, communicator, "", {}, {}, {}, {}};
    for (const auto& [pair, counts] : cells_) {
      block.source.push_back(pair.first);
      block.destination.push_back(pair.second);
      block.bytes.push_back(counts.first);
      block.messages.push_back(counts.second);
    }
    return block;
  }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::uint64_t, std::uint64_t>> cells_;
};

profile::Profile job(std::int64_t ranks, std::vector<profile::Traffic> traffic,
                     const char* made_by = "predefined") {
  profile::Profile profile;
  profile.world_size = ranks;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    profile.ranks.emplace_back();
    profile.ranks.back().rank = rank;
  }
  profile.communicators.emplace_back();
  profile.communicators[0].made_by = made_by;
  profile.traffic = std::move(traffic);
  return profile;
}

std::vector<Pattern> found(std::int64_t ranks, const Matrix& matrix,
                           const char* made_by = "predefined") {
  auto patterns = find_patterns(job(ranks, {matrix.traffic(profile::kPointToPoint)}, made_by), {});
  std::erase_if(patterns, [](const Pattern& p) { return p.kind == "sparse" || p.kind == "dense"; });
  return patterns;
}

std::int64_t place(const Numbers& at, const Numbers& extents) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + at[d];
  return number;
}

// Each rank with the neighbours at these offsets: `reach` of 1 steps, in one dimension or in all.
Matrix grid(const Numbers& extents, const std::vector<bool>& periodic, bool corners = false,
            std::uint64_t bytes = 1000) {
  Matrix matrix;
  const std::int64_t ranks =
      std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  const auto dimensions = extents.size();
  std::int64_t offsets = 1;
  for (std::size_t d = 0; d < dimensions; ++d) offsets *= 3;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (std::int64_t code = 0; code < offsets; ++code) {
      Numbers at(dimensions);
      std::int64_t rest = rank, moves = code, moved = 0;
      bool inside = true;
      for (std::size_t d = dimensions; d-- > 0; rest /= extents[d], moves /= 3) {
        at[d] = rest % extents[d] + moves % 3 - 1;
        moved += moves % 3 != 1;
        if (at[d] < 0 || at[d] >= extents[d]) inside = inside && periodic[d];
        at[d] = (at[d] + extents[d]) % extents[d];
      }
      const std::int64_t other = place(at, extents);
      if (inside && moved > 0 && (corners || moved == 1) && other != rank)
        matrix.add(rank, other, bytes / static_cast<std::uint64_t>(moved * moved));
    }
  }
  return matrix;
}

Numbers shuffled(std::int64_t ranks, unsigned seed) {
  Numbers order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

Matrix all_with_all(std::int64_t first, std::int64_t count, std::uint64_t bytes) {
  Matrix matrix;
  for (std::int64_t a = first; a < first + count; ++a) {
    for (std::int64_t b = first; b < first + count; ++b) {
      if (a != b) matrix.add(a, b, bytes);
    }
  }
  return matrix;
}

TEST_CASE("grids in rank order are found with their extents and periodic dimensions") {
  struct Case {
    Numbers extents;
    std::vector<bool> periodic;
  };
  const Case cases[] = {{{8}, {false}},
                        {{8}, {true}},
                        {{4, 3}, {false, false}},
                        {{4, 3}, {true, false}},
                        {{3, 4}, {false, true}},
                        {{5, 4}, {true, true}},
                        {{32, 32}, {false, false}},
                        {{3, 4, 5}, {false, false, false}},
                        {{8, 8, 8}, {true, true, true}},
                        {{4, 2, 3}, {false, false, false}},
                        {{3, 3, 3, 3}, {false, true, false, true}},
                        {{100, 3}, {false, false}},
                        {{2, 5}, {false, false}}};
  for (const Case& entry : cases) {
    const std::int64_t ranks = std::accumulate(entry.extents.begin(), entry.extents.end(),
                                               std::int64_t{1}, std::multiplies<>());
    const auto patterns = found(ranks, grid(entry.extents, entry.periodic));
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].kind == "halo");
    CHECK(patterns[0].extents == entry.extents);
    CHECK(patterns[0].periodic == entry.periodic);
    CHECK(patterns[0].strength == doctest::Approx(1));
    CHECK(patterns[0].rank_order);
    CHECK(!patterns[0].corners);
    CHECK(patterns[0].ranks.size() == static_cast<std::size_t>(ranks));
  }
}

TEST_CASE("diagonal neighbours belong to the grid") {
  for (const Numbers& extents : {Numbers{6, 5}, Numbers{4, 5, 3}}) {
    const std::vector<bool> open(extents.size(), false);
    const std::int64_t ranks =
        std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
    const auto patterns = found(ranks, grid(extents, open, true));
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].extents == extents);
    CHECK(patterns[0].corners);
    CHECK(patterns[0].share == doctest::Approx(1));
  }
}

TEST_CASE("renumbered grids are found by their squares") {
  const std::pair<Numbers, std::vector<bool>> cases[] = {{{9}, {false}},
                                                         {{9}, {true}},
                                                         {{7, 5}, {false, false}},
                                                         {{7, 5}, {true, true}},
                                                         {{6, 5}, {true, false}},
                                                         {{6, 5, 3}, {false, false, false}},
                                                         {{7, 6, 5}, {true, true, true}},
                                                         {{32, 31}, {false, false}}};
  for (const auto& [extents, periodic] : cases) {
    const std::int64_t ranks =
        std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
    const auto patterns = found(ranks, grid(extents, periodic).renumbered(shuffled(ranks, 7)));
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].kind == "halo");
    CHECK(patterns[0].extents == extents);
    CHECK(patterns[0].periodic == periodic);
    CHECK(!patterns[0].rank_order);
    CHECK(patterns[0].strength == doctest::Approx(1));
  }
}

TEST_CASE("a renumbered torus with an extent of 4 is found although it is made of squares") {
  for (const auto& extents : {Numbers{8, 4}, Numbers{5, 4, 4}, Numbers{7, 5, 4}}) {
    const std::int64_t ranks =
        std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
    const auto patterns = found(
        ranks,
        grid(extents, std::vector<bool>(extents.size(), true)).renumbered(shuffled(ranks, 11)));
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].extents == extents);
    CHECK(!patterns[0].alternative.empty());
  }
  const auto open = found(28, grid({7, 2, 2}, {false, false, false}).renumbered(shuffled(28, 2)));
  REQUIRE(open.size() == 1);
  CHECK(open[0].extents == Numbers{7, 2, 2});
}

TEST_CASE("a closed chain in one direction is a ring, an open one a pipeline") {
  Matrix ring, line;
  for (std::int64_t rank = 0; rank < 6; ++rank) {
    ring.add(rank, (rank + 1) % 6, 100);
    if (rank < 5) line.add(rank + 1, rank, 100);
  }
  CHECK(found(6, ring)[0].kind == "ring");
  CHECK(found(6, ring.renumbered({3, 0, 4, 1, 5, 2})).at(0).kind == "ring");
  CHECK(found(6, line)[0].kind == "pipeline");
  CHECK(found(6, ring).size() == 1);
}

TEST_CASE("a sweep over a grid goes in one direction") {
  Matrix sweep;
  for (std::int64_t y = 0; y < 4; ++y) {
    for (std::int64_t x = 0; x < 5; ++x) {
      if (x < 4) sweep.add(5 * y + x, 5 * y + x + 1, 100);
      if (y < 3) sweep.add(5 * y + x, 5 * y + x + 5, 100);
    }
  }
  const auto patterns = found(20, sweep);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "nearest-neighbour");
  CHECK(patterns[0].extents == Numbers{4, 5});
}

TEST_CASE("star and master-worker patterns name their hub") {
  Matrix out, exchange;
  for (const std::int64_t rank : {0, 1, 2, 3, 4, 6, 7}) {
    out.add(5, rank, 100);
    exchange.add(5, rank, 900);
    exchange.add(rank, 5, 40);
  }
  CHECK(found(8, out).at(0).kind == "star");
  const auto patterns = found(8, exchange);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "master-worker");
  CHECK(patterns[0].hub == 5);
  CHECK(patterns[0].strength == doctest::Approx(1));
}

TEST_CASE("butterflies are found also when the number of ranks is not a power of two") {
  for (const std::int64_t ranks : {4, 8, 16, 128}) {
    Matrix matrix;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      for (std::int64_t bit = 1; bit < ranks; bit *= 2)
        matrix.add(rank, rank ^ bit, static_cast<std::uint64_t>(64 * bit));
    }
    const auto patterns = found(ranks, matrix);
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].kind == "butterfly");
    CHECK(patterns[0].strength == doctest::Approx(1));
    if (ranks == 8)
      CHECK(found(ranks, matrix.renumbered(shuffled(ranks, 3))).at(0).kind == "butterfly");
  }
  Matrix six;  // 0 and 2 pass their data to 1 and 3; then 1, 3, 4, 5 act as 0 to 3
  six.both(0, 1, 8);
  six.both(2, 3, 8);
  six.both(1, 3, 8);
  six.both(4, 5, 8);
  six.both(1, 4, 8);
  six.both(3, 5, 8);
  CHECK(found(6, six).at(0).kind == "butterfly");
}

TEST_CASE(
    "a 2 x 2 x 2 grid is a halo if the program made a Cartesian communicator, and otherwise may be "
    "a butterfly") {
  const Matrix cube = grid({2, 2, 2}, {false, false, false});
  const auto cartesian = found(8, cube, "MPI_Cart_create");
  REQUIRE(cartesian.size() == 1);
  CHECK(cartesian[0].kind == "halo");
  CHECK(cartesian[0].extents == Numbers{2, 2, 2});
  CHECK(!cartesian[0].alternative.empty());
  // LAMMPS makes one, and then sends on MPI_COMM_WORLD.
  auto elsewhere = job(8, {cube.traffic("point-to-point"), cube.traffic("MPI_Allreduce")});
  elsewhere.communicators.emplace_back();
  elsewhere.communicators[1].id = 1;
  elsewhere.communicators[1].made_by = "MPI_Cart_create";
  for (const Pattern& pattern : find_patterns(elsewhere, {})) {
    CHECK(pattern.kind == (pattern.hidden ? "butterfly" : "halo"));
  }
  // The program says where one-sided messages go, although the library sends them.
  elsewhere.traffic = {cube.traffic(profile::kOneSided)};
  const auto one_sided = find_patterns(elsewhere, {});
  REQUIRE(!one_sided.empty());
  CHECK(one_sided[0].hidden);
  CHECK(one_sided[0].kind == "halo");
  const auto plain = found(8, cube);
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].kind == "butterfly");
  CHECK(!plain[0].alternative.empty());
}

TEST_CASE("dissemination, tree and ping-pong are found") {
  Matrix bruck, binomial, pairs;
  for (std::int64_t rank = 0; rank < 9; ++rank) {
    for (std::int64_t step = 1; step < 9; step *= 2) bruck.add(rank, (rank + step) % 9, 10);
  }
  for (std::int64_t rank = 1; rank < 16; ++rank) binomial.add(rank & (rank - 1), rank, 100);
  for (std::int64_t rank = 0; rank < 4; ++rank) pairs.both(rank, rank + 4, 100);
  CHECK(found(9, bruck).at(0).kind == "dissemination");
  CHECK(found(16, binomial).at(0).kind == "tree");
  CHECK(found(16, binomial).at(0).hub == 0);
  CHECK(found(8, pairs).at(0).kind == "ping-pong");
  CHECK(found(8, pairs).at(0).groups == 4);
  CHECK(found(8, pairs).size() == 1);
}

TEST_CASE("an all-to-all is found, even or uneven, and within groups") {
  const auto whole = found(12, all_with_all(0, 12, 100));
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].kind == "all-to-all");
  CHECK(whole[0].strength == 1);
  Matrix uneven;
  std::mt19937 random(1);
  for (std::int64_t a = 0; a < 12; ++a) {
    for (std::int64_t b = 0; b < 12; ++b) {
      if (a != b) uneven.add(a, b, 500 + random() % 1000);
    }
  }
  const auto patterns = found(12, uneven);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "all-to-all");
  Matrix groups = all_with_all(0, 5, 100);
  for (std::int64_t a = 5; a < 10; ++a) {
    for (std::int64_t b = 5; b < 10; ++b) {
      if (a != b) groups.add(a, b, 100);
    }
  }
  CHECK(found(10, groups).at(0).kind == "all-to-all");
  CHECK(found(10, groups).at(0).groups == 2);
}

TEST_CASE("each part of a mixture is found") {
  SUBCASE("a halo and a gather to rank 0") {
    Matrix mixed = grid({6, 6}, {false, false});
    for (std::int64_t rank = 1; rank < 36; ++rank) mixed.add(rank, 0, 2000);
    const auto patterns = found(36, mixed);
    REQUIRE(patterns.size() == 2);
    CHECK(patterns[0].kind == "halo");
    CHECK(patterns[0].extents == Numbers{6, 6});
    CHECK(patterns[0].share > 0.5);
    CHECK(patterns[1].kind == "star");
    CHECK(patterns[1].hub == 0);
  }
  SUBCASE("a halo and a faint all-to-all") {
    Matrix mixed = grid({8, 8}, {true, true}, false, 100'000);
    for (std::int64_t a = 0; a < 64; ++a) {
      for (std::int64_t b = 0; b < 64; ++b) {
        if (a != b) mixed.add(a, b, 100);
      }
    }
    const auto patterns = found(64, mixed);
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].kind == "halo");
    CHECK(patterns[0].extents == Numbers{8, 8});
  }
  SUBCASE("a halo and an all-to-all of the same weight") {
    Matrix mixed = grid({8, 8}, {false, false}, false, 18'000);
    for (std::int64_t a = 0; a < 64; ++a) {
      for (std::int64_t b = 0; b < 64; ++b) {
        if (a != b) mixed.add(a, b, 1000);
      }
    }
    const auto patterns = found(64, mixed);
    REQUIRE(patterns.size() == 2);
    CHECK(patterns[0].share == doctest::Approx(0.5).epsilon(0.1));
    CHECK(std::any_of(patterns.begin(), patterns.end(), [](const Pattern& p) {
      return p.kind == "halo" && p.extents == Numbers{8, 8};
    }));
    CHECK(std::any_of(patterns.begin(), patterns.end(),
                      [](const Pattern& p) { return p.kind == "all-to-all"; }));
  }
}

TEST_CASE("random traffic has no pattern") {
  std::mt19937 random(5);
  for (const std::int64_t ranks : {6, 16, 200}) {
    Matrix matrix;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      for (int k = 0; k < 3; ++k) {
        const auto other = static_cast<std::int64_t>(random() % static_cast<unsigned>(ranks));
        if (other != rank) matrix.add(rank, other, 100 + random() % 1000);
      }
    }
    const auto patterns = found(ranks, matrix);
    for (const Pattern& pattern : patterns) MESSAGE(ranks, " ranks: ", pattern.description);
    CHECK(patterns.empty());
  }
}

Matrix lines(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  Matrix matrix;
  for (const auto& [a, b] : pairs) matrix.both(a, b, 1000);
  return matrix;
}

TEST_CASE("traffic that resembles a grid only in places has no grid") {
  Matrix bipartite, moebius, twisted, petersen;
  for (std::int64_t a = 0; a < 4; ++a) {
    for (std::int64_t b = 4; b < 8; ++b) bipartite.both(a, b, 1000);
  }
  for (std::int64_t i = 0; i < 14; ++i) moebius.both(i, (i + 1) % 14, 1000);
  for (std::int64_t i = 0; i < 7; ++i) moebius.both(i, i + 7, 1000);
  for (std::int64_t i = 0; i < 35; ++i) {  // a 7 x 5 torus that is shifted by 2 where it closes
    twisted.both(i, i % 5 == 4 ? i - 4 : i + 1, 1000);
    twisted.both(i, i < 30 ? i + 5 : (i + 2) % 5, 1000);
  }
  for (std::int64_t i = 0; i < 5; ++i) {
    petersen.both(i, (i + 1) % 5, 1000);
    petersen.both(i, i + 5, 1000);
    petersen.both(i + 5, (i + 2) % 5 + 5, 1000);
  }
  for (const auto& [ranks, matrix] :
       {std::pair(std::int64_t{8}, bipartite), std::pair(std::int64_t{14}, moebius),
        std::pair(std::int64_t{35}, twisted), std::pair(std::int64_t{10}, petersen)}) {
    const auto patterns = found(ranks, matrix.renumbered(shuffled(ranks, 4)));
    for (const Pattern& pattern : patterns) MESSAGE(ranks, " ranks: ", pattern.description);
    CHECK(patterns.empty());
  }
  // A line with a shortcut, and a cube that lacks an edge.
  CHECK(found(6, lines({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 4}})).size() <= 1);
  const auto cube = found(8, lines({{0, 1},
                                    {2, 3},
                                    {4, 5},
                                    {6, 7},
                                    {0, 2},
                                    {1, 3},
                                    {4, 6},
                                    {5, 7},
                                    {0, 4},
                                    {1, 5},
                                    {2, 6}}));
  for (const Pattern& pattern : cube) CHECK_MESSAGE(pattern.kind != "halo", pattern.description);
}

TEST_CASE("each class has its own patterns, and communicators are examined separately") {
  Matrix rows, columns;  // all-to-all along rows and columns of 4 x 4
  for (std::int64_t a = 0; a < 16; ++a) {
    for (std::int64_t b = 0; b < 16; ++b) {
      if (a == b) continue;
      if (a / 4 == b / 4) rows.add(a, b, 100);
      if (a % 4 == b % 4) columns.add(a, b, 100);
    }
  }
  auto profile = job(16, {rows.traffic("MPI_Alltoall", 1), columns.traffic("MPI_Alltoall", 2),
                          grid({16}, {true}).traffic(profile::kPointToPoint)});
  for (const std::int64_t id : {1, 2}) {
    profile.communicators.emplace_back();
    profile.communicators.back().id = id;
  }
  auto patterns = find_patterns(profile, {});
  std::erase_if(patterns, [](const Pattern& p) { return p.kind == "dense"; });
  REQUIRE(patterns.size() == 3);
  std::sort(patterns.begin(), patterns.end(),
            [](const Pattern& a, const Pattern& b) { return a.communicators < b.communicators; });
  CHECK(patterns[0].kind == "halo");
  for (const std::size_t i : {1, 2}) {
    CHECK(patterns[i].class_name == "MPI_Alltoall");
    CHECK(patterns[i].kind == "all-to-all");
    CHECK(patterns[i].along == (i == 1 ? "rows" : "columns"));
    CHECK(patterns[i].communicators == Numbers{static_cast<std::int64_t>(i)});
    CHECK(patterns[i].groups == 4);
    CHECK(patterns[i].extents == Numbers{4, 4});
  }
}

// A job whose ranks, in row-major order, are split into rows (communicators 1, 2, …) and columns.
profile::Profile split_grid(std::int64_t rows, std::int64_t columns) {
  auto profile = job(rows * columns, {});
  profile.communicators[0].world_ranks.resize(static_cast<std::size_t>(rows * columns));
  std::iota(profile.communicators[0].world_ranks.begin(),
            profile.communicators[0].world_ranks.end(), 0);
  const auto add = [&](std::int64_t first, std::int64_t stride, std::int64_t length) {
    profile::Communicator entry;
    entry.id = std::ssize(profile.communicators);
    entry.made_by = "MPI_Comm_split";
    entry.parent = 0;
    for (std::int64_t i = 0; i < length; ++i) entry.world_ranks.push_back(first + i * stride);
    profile.communicators.push_back(std::move(entry));
  };
  for (std::int64_t row = 0; row < rows; ++row) add(row * columns, 1, columns);
  for (std::int64_t column = 0; column < columns; ++column) add(column, columns, rows);
  return profile;
}

// Each rank sends `bytes` to all others of each of its rows or columns, in `messages` messages.
void all_to_all_on(profile::Profile& profile, std::int64_t first, std::int64_t last,
                   const char* class_name, std::uint64_t bytes, std::uint64_t messages,
                   bool on_world = false) {
  for (std::int64_t id = first; id <= last; ++id) {
    Matrix matrix;
    const Numbers members = profile.communicators[static_cast<std::size_t>(id)].world_ranks;
    for (const std::int64_t a : members) {
      for (const std::int64_t b : members) {
        if (a != b) matrix.add(a, b, bytes, messages);
      }
    }
    profile.traffic.push_back(matrix.traffic(class_name, on_world ? 0 : id));
  }
}

std::vector<Pattern> shapes_of(const profile::Profile& profile) {
  auto patterns = find_patterns(profile, {});
  std::erase_if(patterns, [](const Pattern& p) { return p.kind == "dense" || p.kind == "sparse"; });
  return patterns;
}

TEST_CASE("all-to-all in rows, in columns and in both is named once, with the communicators") {
  struct Case {
    std::int64_t first, last;
    const char* along;
  };
  for (const Case entry :
       {Case{1, 2, "rows"}, Case{3, 5, "columns"}, Case{1, 5, "rows and columns"}}) {
    for (const char* class_name : {"MPI_Alltoall", profile::kPointToPoint}) {
      auto profile = split_grid(2, 3);
      all_to_all_on(profile, entry.first, entry.last, class_name, 1000, 10);
      const auto patterns = shapes_of(profile);
      REQUIRE(patterns.size() == 1);
      CHECK(patterns[0].kind == "all-to-all");
      CHECK(patterns[0].along == entry.along);
      CHECK(patterns[0].extents == Numbers{2, 3});
      CHECK(std::ssize(patterns[0].communicators) == entry.last - entry.first + 1);
      CHECK(patterns[0].strength == doctest::Approx(1));
      CHECK(patterns[0].alternative.empty());
    }
  }
}

TEST_CASE("transposes of pencils deal out as much in rows as in columns") {
  for (const bool on_world : {false, true}) {
    for (const char* class_name : {"MPI_Alltoallv", profile::kPointToPoint}) {
      if (on_world && class_name != profile::kPointToPoint) continue;
      auto profile = split_grid(4, 6);
      all_to_all_on(profile, 1, 4, class_name, 12000 / 6, 10, on_world);
      all_to_all_on(profile, 5, 10, class_name, 12000 / 4, 10, on_world);
      const auto patterns = shapes_of(profile);
      REQUIRE(patterns.size() == 1);
      CHECK(patterns[0].kind == "pencil-transpose");
      CHECK(patterns[0].extents == Numbers{4, 6});
      CHECK(patterns[0].communicators.size() == (on_world ? 1 : 10));
    }
  }
}

TEST_CASE("SUMMA sends as many panels along each row as along each column") {
  for (const bool on_world : {false, true}) {
    auto profile = split_grid(4, 6);
    all_to_all_on(profile, 1, 4, profile::kPointToPoint, 1000, 4, on_world);
    all_to_all_on(profile, 5, 10, profile::kPointToPoint, 1000, 6, on_world);
    const auto patterns = shapes_of(profile);
    REQUIRE(patterns.size() == 1);
    CHECK(patterns[0].kind == "summa");
    CHECK(patterns[0].extents == Numbers{4, 6});
  }
}

TEST_CASE("a square grid does not show whether sends are SUMMA or transposes") {
  auto profile = split_grid(4, 4);
  all_to_all_on(profile, 1, 8, profile::kPointToPoint, 1000, 4);
  const auto patterns = shapes_of(profile);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "all-to-all");
  CHECK(!patterns[0].alternative.empty());
}

TEST_CASE("broadcasts in rows and columns are SUMMA if their roots take turns") {
  for (const bool in_turn : {true, false}) {
    auto profile = split_grid(2, 4);
    for (std::int64_t id = 1; id <= 6; ++id) {
      Matrix matrix;
      const Numbers members = profile.communicators[static_cast<std::size_t>(id)].world_ranks;
      for (const std::int64_t root : members) {
        for (const std::int64_t to : members) {
          const std::int64_t from = in_turn ? root : members[0];
          if (to != from) matrix.add(from, to, 1000);
        }
      }
      profile.traffic.push_back(matrix.traffic("MPI_Bcast", id));
    }
    const auto patterns = shapes_of(profile);
    const auto summa = std::count_if(patterns.begin(), patterns.end(),
                                     [](const Pattern& p) { return p.kind == "summa"; });
    CHECK(summa == in_turn);
    if (in_turn) CHECK(patterns.size() == 1);
  }
}

TEST_CASE("traffic that has a shape only on several communicators together is searched together") {
  auto profile = job(8, {});
  for (const std::int64_t id : {1, 2}) {
    profile.communicators.emplace_back();
    profile.communicators.back().id = id;
  }
  Matrix parts[2];  // of a ring
  for (std::int64_t rank = 0; rank < 8; ++rank) parts[rank % 2].add(rank, (rank + 1) % 8, 1000);
  for (const std::int64_t id : {1, 2})
    profile.traffic.push_back(parts[id - 1].traffic(profile::kPointToPoint, id));
  const auto patterns = shapes_of(profile);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "ring");
  CHECK(patterns[0].communicators == Numbers{1, 2});
}

TEST_CASE("a barrier, which has no bytes, is examined by its messages") {
  Matrix matrix;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    for (std::int64_t bit = 1; bit < 8; bit *= 2) matrix.add(rank, rank ^ bit, 0, 5);
  }
  const auto patterns = find_patterns(job(8, {matrix.traffic("MPI_Barrier")}), {});
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "butterfly");
}

TEST_CASE("two ranks are a ping-pong and nothing else") {
  Matrix matrix;
  matrix.both(0, 1, 8);
  const auto patterns = found(2, matrix);
  REQUIRE(patterns.size() == 1);
  CHECK(patterns[0].kind == "ping-pong");
}

TEST_CASE("traffic that is empty, or only from ranks to themselves, has no pattern") {
  CHECK(found(4, Matrix()).empty());
  Matrix self;
  self.add(2, 2, 100);
  CHECK(found(4, self).empty());
}

}  // namespace
}  // namespace fathom::analysis
