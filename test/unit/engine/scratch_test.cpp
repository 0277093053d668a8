// SPDX-License-Identifier: BSD-3-Clause
// Large arrays in temporary files keep their values while memory is given back; without room they
// are in plain memory.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>

#include "base/scratch.h"

namespace fathom::analysis {
namespace {

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

class ChosenFolder {
 public:
  explicit ChosenFolder(const char* path) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", path, 1);
  }
  ~ChosenFolder() { before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_CASE("an array of 200 MB keeps its values with little of it in memory") {
  constexpr std::uint64_t kCount = 25'000'000;
  const std::size_t before = resident_bytes();
  std::size_t most = 0;
  base::ScratchVector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    append(all, i * i);
    if (i % 100'000 != 0) continue;
    base::scratch::touched(100'000 * sizeof i);
    most = std::max(most, resident_bytes());
  }
  CHECK(most < before + 2 * base::scratch::kMostResident);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) wrong += all[i] != i * i;
  CHECK(wrong == 0);
}

TEST_CASE("without a temporary folder an array is in plain memory, and a mapping says why") {
  const ChosenFolder none("/nowhere");
  base::ScratchVector<std::uint32_t> all(2'000'000);
  std::iota(all.begin(), all.end(), 0u);
  CHECK(all.back() == 1'999'999);
  const auto mapped = base::scratch::map(1 << 20);
  REQUIRE(!mapped.ok());
  CHECK(mapped.error().message.find("/nowhere") != std::string::npos);
}

}  // namespace
}  // namespace fathom::analysis
