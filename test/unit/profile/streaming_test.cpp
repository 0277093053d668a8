// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading a profile takes memory for one block, however many pairs there are.
//
// FATHOM_STREAM_PAIRS sets the number of pairs: 1 million here, 10 million by hand
//   FATHOM_STREAM_PAIRS=10000000 build/test/unit/profile_streaming_test
// Prints the peak memory and the time of each half. A program of its own: the peak is the
// process's.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"

namespace {

using namespace fathom::profile;

constexpr std::int64_t kPeers = 100;  // of each rank
constexpr long kMostGrowthKiB = 48 * 1024;

#if defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);  // clang
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;  // gcc
#else
constexpr bool kAddressSanitizer = false;
#endif

long peak_KiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool write(const std::string& path, std::int64_t pairs) {
  const std::int64_t ranks = pairs / kPeers;
  Header header;
  header.world_size = ranks;
  header.communicators.resize(1);
  Writer writer;
  if (!writer.open(path) || !writer.begin(header)) return false;
  for (std::int64_t rank = 0; rank < ranks;) {
    Traffic block;
    block.class_name = kPointToPoint;
    for (int in_block = 0; in_block < 600 && rank < ranks; ++in_block, ++rank) {
      for (std::int64_t peer = 1; peer <= kPeers; ++peer) {
        block.source.push_back(rank);
        block.destination.push_back((rank + peer) % ranks);
        block.bytes.push_back(1'000'000 + static_cast<std::uint64_t>(rank));
        block.messages.push_back(static_cast<std::uint64_t>(peer));
      }
    }
    if (!writer.add(block)) return false;
  }
  return writer.finish({}).ok();
}

class Counter : public Visitor {
 public:
  void on_traffic(Traffic& block) override {
    pairs += static_cast<std::int64_t>(block.source.size());
  }
  void on_message_sizes(MessageSizes&) override {}
  std::int64_t pairs = 0;
};

}  // namespace

int main() {
  const char* wanted = std::getenv("FATHOM_STREAM_PAIRS");
  const std::int64_t pairs = wanted ? std::atoll(wanted) : 1'000'000;
  fathom::test::Scratch folder;
  const std::string path = folder / "profile.json";
  const long before_KiB = peak_KiB();

  double start = seconds();
  if (!write(path, pairs)) return std::puts("writing failed"), 1;
  const double file_bytes = static_cast<double>(std::filesystem::file_size(path));
  std::printf("wrote %lld pairs, %.0f MB, in %.2f s, peak memory %+ld KiB\n",
              static_cast<long long>(pairs), file_bytes / 1e6, seconds() - start,
              peak_KiB() - before_KiB);

  start = seconds();
  Counter counter;
  auto header = read_profile(path, counter);
  if (!header) return std::puts(header.error().message.c_str()), 1;
  std::printf("read  %lld pairs in %.2f s, peak memory %+ld KiB\n",
              static_cast<long long>(counter.pairs), seconds() - start, peak_KiB() - before_KiB);
  if (counter.pairs != pairs) return std::puts("pairs are missing"), 1;
  if (kAddressSanitizer) {
    std::puts("skipped: peak memory, because AddressSanitizer keeps freed memory for a while");
    return 0;
  }
  if (peak_KiB() - before_KiB > kMostGrowthKiB)
    return std::puts("peak memory grows with the file"), 1;
  return 0;
}
