// SPDX-License-Identifier: BSD-3-Clause
// Damaged rows: thousands of mutations of good ones and of random bytes, under sanitizers. Whatever
// is assembled must also be written as a profile that can be read back.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "profile/assemble.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/rows_builder.h"

namespace {

using fathom::profile::RowsHeader;

class Fuzz {
 public:
  explicit Fuzz(unsigned seed) : random_(seed) {}

  std::string mutated(std::string bytes) {
    const std::size_t edits = 1 + below(8);
    for (std::size_t i = 0; i < edits && !bytes.empty(); ++i) edit(bytes);
    return bytes;
  }

  // Random sections after a good header get further than random bytes alone.
  std::string random_rows() {
    std::string bytes = fathom::test::RowsBuilder(0, 3).bytes().substr(0, sizeof(RowsHeader));
    for (std::size_t i = below(6); i > 0; --i) {
      const std::string payload = random_bytes(below(400));
      fathom::test::RowsBuilder::section(bytes, static_cast<fathom::profile::Section>(below(7)),
                                         payload.data(), payload.size());
    }
    return bytes;
  }

  std::string random_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(below(256));
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  void edit(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    static constexpr unsigned char kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '\\', ' '};
    switch (below(6)) {
      case 0: bytes[at] = static_cast<char>(below(256)); break;
      case 1: bytes[at] = static_cast<char>(kTelling[below(sizeof kTelling)]); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.erase(at, 1 + below(64)); break;
      case 4: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(64))); break;
      default:
        for (std::size_t i = at; i < std::min(bytes.size(), at + 8); ++i) bytes[i] = '\xff';
    }
  }

  std::mt19937 random_;
};

// The list of ranks is as long as world_size says; worlds of millions would only make the loop
// slow.
void limit_world_size(std::string& bytes) {
  const std::string magic(fathom::profile::kRowsMagic, sizeof fathom::profile::kRowsMagic);
  for (auto at = bytes.find(magic); at != std::string::npos; at = bytes.find(magic, at + 1)) {
    const std::size_t where = at + offsetof(RowsHeader, world_size);
    if (where + 4 > bytes.size()) return;
    std::uint32_t world_size;
    std::memcpy(&world_size, bytes.data() + where, 4);
    if (world_size > (1u << fathom::profile::kPeerBits)) continue;
    world_size %= 4096;
    std::memcpy(bytes.data() + where, &world_size, 4);
  }
}

int failures = 0;

void try_rows(const std::string& bytes, const std::string& path, int round) {
  const std::vector<char> exact(bytes.begin(), bytes.end());  // no spare capacity after the end
  const auto profile = fathom::profile::assemble(exact.data(), exact.size());
  if (!profile) return;
  const auto written = fathom::profile::write_profile(*profile, path);
  const auto read = written ? fathom::profile::load_profile(path) : written.error();
  if (read) return;
  std::printf("round %d: %s\n", round, read.error().message.c_str());
  if (const char* folder = std::getenv("FATHOM_FUZZ_KEEP")) {
    fathom::test::write_file(std::string(folder) + "/" + std::to_string(round) + ".rows", bytes);
  }
  ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3000;
  const fathom::test::Scratch folder;
  Fuzz fuzz(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
  const std::string good = fathom::test::sample_rows();
  for (int i = 0; i < rounds; ++i) {
    std::string bytes = i % 3 == 0 ? fuzz.random_rows() : fuzz.mutated(good);
    limit_world_size(bytes);
    try_rows(bytes, folder / "profile.json", i);
    try_rows(fuzz.random_bytes(100), folder / "profile.json", i);
  }
  std::printf("%d rounds, %d profiles that could not be read back\n", rounds, failures);
  return failures == 0 ? 0 : 1;
}
