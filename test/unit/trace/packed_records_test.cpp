// SPDX-License-Identifier: BSD-3-Clause
// Packed records are the same records when they are unpacked, and damaged ones harm nobody.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/files.h"
#include "trace/format/frames.h"
#include "trace/format/packed_records.h"

using namespace fathom;
using namespace fathom::test;
using trace::RecordKind;
using trace::RecordPacker;

namespace {

constexpr std::uint64_t kFirstTicks = 5'000'000;

void add(Words& words, RecordKind kind, std::uint32_t ticks, const Words& payload) {
  words.push_back(record_head(kind, static_cast<std::uint32_t>(payload.size()), 7, ticks));
  words.insert(words.end(), payload.begin(), payload.end());
}

// What a program leaves that repeats loops of up to twelve calls, and some calls between them.
Words made_up(std::mt19937_64& random, std::size_t most) {
  const auto below = [&random](std::uint64_t end) { return random() % end; };
  const auto ticks = [&below] {
    const std::uint64_t ends[] = {1, 128, 1 << 14, std::uint64_t{1} << 32};
    return static_cast<std::uint32_t>(below(ends[below(4)]));
  };
  Words words;
  while (words.size() < most) {
    std::vector<Words> loop(1 + below(12));
    for (Words& payload : loop) {
      payload.resize(below(below(4) == 0 ? 16 : 5));
      for (std::uint64_t& word : payload) word = below(2) == 0 ? below(3) : random();
    }
    for (std::uint64_t times = below(40) + 1; times > 0; --times) {
      for (std::size_t i = 0; i < loop.size(); ++i) {
        const bool is_time = loop[i].size() == 1 && below(5) == 0;
        add(words, is_time ? RecordKind::kTime : static_cast<RecordKind>(2 + i), ticks(), loop[i]);
      }
    }
  }
  return words;
}

// As a reader adds them up.
struct Counted {
  std::uint32_t records = 0;
  std::uint64_t last_ticks = kFirstTicks;
};
Counted counted(const Words& words) {
  Counted sum;
  for (std::size_t at = 0; at < words.size(); at += 1 + (words[at] >> trace::kWordsShift & 15)) {
    sum.last_ticks += words[at] >> trace::kTimeShift;
    if ((words[at] & 0xff) == static_cast<std::uint64_t>(RecordKind::kTime))
      sum.last_ticks = words[at + 1];
    sum.records += 1;
  }
  return sum;
}

}  // namespace

// Traces are kept: what was once written must be read for ever.
TEST_CASE("packed records have the bytes that the format says") {
  Words words;
  for (const std::uint32_t ticks : {100u, 200u, 100'000u})
    add(words, RecordKind::kEnter, ticks, {11});
  const unsigned char expected[] = {
      2,    0,    0, 0, 5,    0,    0, 0,  // literal words, bytes of commands
      2,    0x71, 0, 0, 1,    0,    0, 0, 11, 0, 0, 0, 0, 0, 0, 0,  // the literal record
      1,    2,    2, 0, 0,                                          // it, twice again, and the end
      0xc8, 0x21, 3, 3, 0xa0, 0x86, 1, 0};                          // 100, 200 and 100,000 ticks
  RecordPacker packer;
  const RecordPacker::Packed packed = packer.pack(words.data(), words.size(), 0);
  REQUIRE(packed.size == sizeof expected);
  CHECK(std::memcmp(packed.bytes, expected, sizeof expected) == 0);
  Words back(words.size());
  REQUIRE(trace::unpack_records(reinterpret_cast<const char*>(expected), sizeof expected,
                                back.data(), back.size()));
  CHECK(back == words);
}

TEST_CASE("packed records are the same when they are unpacked") {
  std::mt19937_64 random(1);
  RecordPacker packer;
  for (const std::size_t most : {0, 1, 50, 3000, 20000}) {
    const Words words = made_up(random, most);
    const RecordPacker::Packed packed = packer.pack(words.data(), words.size(), kFirstTicks);
    REQUIRE(packed.bytes != nullptr);
    CHECK(packed.words == words.size());
    CHECK(packed.records == counted(words).records);
    CHECK((packed.records > 0) == (most > 0));
    Words back(words.size() + 1, 42);
    REQUIRE(trace::unpack_records(packed.bytes, packed.size, back.data(), words.size()));
    CHECK(back.back() == 42);
    back.pop_back();
    CHECK(back == words);
  }
}

TEST_CASE("packing counts the time as readers do") {
  RecordPacker packer;
  Words words;
  add(words, RecordKind::kEnter, 10, {1, 2});
  add(words, RecordKind::kTime, 3, {9'000'000});
  add(words, RecordKind::kEnter, 10, {1, 2});
  add(words, RecordKind::kEnter, 11, {1, 2});
  CHECK(packer.pack(words.data(), words.size(), kFirstTicks).last_ticks == 9'000'021);
  CHECK(packer.pack(words.data(), words.size(), kFirstTicks).last_ticks ==
        counted(words).last_ticks);
}

TEST_CASE("packing stops before what is not a whole record") {
  RecordPacker packer;
  Words words = numbered_records(0, 5);
  words.push_back(0);
  words.insert(words.end(), 3, 1);
  CHECK(packer.pack(words.data(), words.size(), 0).records == 5);
  words = numbered_records(0, 5);
  add(words, RecordKind::kEnter, 1, {1, 2, 3});
  const RecordPacker::Packed packed = packer.pack(words.data(), words.size() - 1, 0);
  CHECK(packed.records == 5);
  CHECK(packed.words == 5);
}

TEST_CASE("a loop takes a byte for each short time") {
  Words words;
  for (int i = 0; i < 1000; ++i) {
    add(words, RecordKind::kEnter, 100, {11, 12, 13});
    add(words, RecordKind::kMessageSent, 0, {21, 22});
    add(words, RecordKind::kLeave, 127, {});
  }
  RecordPacker packer;
  const std::size_t literals = 8 * (4 + 3 + 1);
  CHECK(packer.pack(words.data(), words.size(), 0).size < 2000 + literals + 30);
}

// Turns of a loop are compared as a whole.
TEST_CASE("a loop that changes anywhere in a turn is the same when it is unpacked") {
  RecordPacker packer;
  constexpr std::size_t kWords = 4 + 3 + 1;
  for (std::size_t changed = 0; changed <= kWords; ++changed) {
    for (const std::uint64_t change : {std::uint64_t{1} << 12, std::uint64_t{1} << 32,
                                       std::uint64_t{100} << 32, std::uint64_t{1} << 63}) {
      Words words;
      for (int i = 0; i < 9; ++i) {
        add(words, RecordKind::kEnter, 100, {11, 12, 13});
        add(words, RecordKind::kMessageSent, 0, {21, 22});
        add(words, RecordKind::kLeave, 127, {});
        if (i == 5 && changed < kWords) words[words.size() - kWords + changed] ^= change;
      }
      words.resize(words.size() - (changed == kWords ? 1 : 0));  // or ends within a turn
      const RecordPacker::Packed packed = packer.pack(words.data(), words.size(), kFirstTicks);
      CHECK(packed.records == counted(words).records);
      CHECK(packed.last_ticks == counted(words).last_ticks);
      Words back(words.size());
      REQUIRE(trace::unpack_records(packed.bytes, packed.size, back.data(), back.size()));
      CHECK(back == words);
    }
  }
}

TEST_CASE("a loop of more records than are compared at once is packed all the same") {
  RecordPacker packer;
  Words words;
  for (int i = 0; i < 5; ++i)
    for (std::uint64_t record = 0; record < 600; ++record)
      add(words, RecordKind::kEnter, 100 + static_cast<std::uint32_t>(record), {record});
  const RecordPacker::Packed packed = packer.pack(words.data(), words.size(), kFirstTicks);
  CHECK(packed.records == 3000);
  CHECK(packed.size < 600 * 16 + 3000 * 2 + 600);
  Words back(words.size());
  REQUIRE(trace::unpack_records(packed.bytes, packed.size, back.data(), back.size()));
  CHECK(back == words);
}

TEST_CASE("damaged packed records are refused, or fill what they should") {
  std::mt19937_64 random(2);
  RecordPacker packer;
  const Words words = made_up(random, 400);
  const RecordPacker::Packed packed = packer.pack(words.data(), words.size(), 0);
  const std::string good(packed.bytes, packed.size);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % (round % 2 == 0 ? bad.size() : 60);
      bad[at] = static_cast<char>(round % 3 == 0 ? bad[at] ^ (1 << random() % 8) : random());
    }
    if (round % 7 == 0) bad.resize(random() % bad.size());
    Words back(words.size() + 16, 42);
    refused += trace::unpack_records(bad.data(), bad.size(), back.data(), words.size()) ? 0 : 1;
    CHECK(std::all_of(back.begin() + static_cast<long>(words.size()), back.end(),
                      [](std::uint64_t word) { return word == 42; }));
  }
  CHECK(refused > 1000);
  CHECK(refused < 20000);  // a changed time is as good as any
}

TEST_CASE("zstd does not follow the records of a short ping-pong") {
  const Scratch folder;
  std::mt19937_64 random(4);
  trace::Compressor compressor(1);
  const std::string path = folder / "1.0.trace";
  // As stock Open MPI leaves them: steps of more than 2^7 ticks take two bytes each.
  Words loop;
  const auto ticks = [&] { return static_cast<std::uint32_t>(200 + random() % 1000); };
  for (int i = 0; i < 1000; ++i) {
    add(loop, RecordKind::kEnter, ticks(), {1, 2, 3});
    add(loop, RecordKind::kLeave, ticks(), {});
    add(loop, RecordKind::kEnter, ticks(), {1, 2, 4});
    add(loop, RecordKind::kMessageReceived, ticks(), {1, 2});
    add(loop, RecordKind::kLeave, 0, {});
  }
  {
    trace::FrameFile file;
    REQUIRE(file.open(path.c_str(), 1, 0));
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kEvents;
    header.first_ticks = kFirstTicks;
    header.records = counted(loop).records;
    header.last_ticks = counted(loop).last_ticks;
    REQUIRE(file.append(header, loop.data(), loop.size() * 8, &compressor));
    REQUIRE(file.finish());
  }
  const std::string bytes = contents(path);
  trace::FrameHeader header;
  std::memcpy(&header, bytes.data() + sizeof(trace::FileHeader), sizeof header);
  CHECK(header.records == 5000);
  CHECK(header.flags == trace::kPacked);
}

TEST_CASE("frames of events are packed, and compressed where that leaves much") {
  const Scratch folder;
  std::mt19937_64 random(3);
  trace::Compressor compressor(1);
  const std::string path = folder / "1.0.trace";
  Words loop, varied = made_up(random, 5000);
  for (int i = 0; i < 3000; ++i) {
    add(loop, RecordKind::kEnter, 1 + random() % 100, {1, 2, 3});
    add(loop, RecordKind::kLeave, 1 + random() % 100, {});
  }
  std::vector<std::uint64_t> offsets;
  {
    trace::FrameFile file;
    REQUIRE(file.open(path.c_str(), 1, 0));
    for (const Words* words : {&loop, &varied}) {
      trace::FrameHeader header{};
      header.kind = trace::FrameKind::kEvents;
      header.first_ticks = kFirstTicks;
      header.records = counted(*words).records;
      header.last_ticks = counted(*words).last_ticks;
      offsets.push_back(file.bytes());
      REQUIRE(file.append(header, words->data(), words->size() * 8, &compressor));
    }
    REQUIRE(file.finish());
  }
  const std::string bytes = contents(path);
  const auto flags = [&](std::uint64_t offset) {
    trace::FrameHeader header;
    std::memcpy(&header, bytes.data() + offset, sizeof header);
    return header.flags;
  };
  CHECK(flags(offsets[0]) == trace::kPacked);
  CHECK(flags(offsets[1]) == (trace::kPacked | trace::kCompressed));
  const auto file = base::MappedFile::open(path);
  REQUIRE(file.ok());
  const trace::FrameList found = trace::find_frames(*file);
  REQUIRE(found.events.size() == 2);
  std::vector<char> buffer;
  for (std::size_t i = 0; i < 2; ++i) {
    const Words& words = i == 0 ? loop : varied;
    std::size_t size = 0;
    std::string problem;
    const char* payload = trace::load_frame(*file, found.events[i], buffer, size, problem);
    REQUIRE_MESSAGE(payload != nullptr, problem);
    REQUIRE(size == words.size() * 8);
    CHECK(std::memcmp(payload, words.data(), size) == 0);
  }
}
