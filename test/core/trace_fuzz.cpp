// SPDX-License-Identifier: BSD-3-Clause
// Damaged traces: thousands of mutations of good ones, under sanitizers. Whatever opens is read to
// its end, from the start and from random moments; events name only what is defined.
//
//   trace_fuzz [ROUNDS] [SEED]
//
// Half of the rounds mend the hashes after the damage, so that readers get past them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/sample.h"
#include "trace/format/format.h"
#include "trace/format/packed_records.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace {

using namespace fathom;

class Fuzz {
 public:
  explicit Fuzz(unsigned seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }

  void damage(std::string& bytes) {
    for (std::uint64_t edits = 1 + below(6); edits > 0 && !bytes.empty(); --edits) edit(bytes);
  }

 private:
  void edit(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    const std::size_t end = std::min<std::size_t>(bytes.size(), at + 1 + below(200));
    static constexpr unsigned char kTelling[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    switch (below(7)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 1: bytes[at] = static_cast<char>(kTelling[below(sizeof kTelling)]); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.erase(at, end - at); break;
      case 4: bytes.insert(at, bytes.substr(below(bytes.size()), end - at)); break;
      case 5:
        std::fill(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(end),
                  '\0');
        break;
      default:
        std::fill(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(end),
                  '\xff');
    }
  }

  std::mt19937_64 random_;
};

// Makes the hashes of every frame that can be found right again.
void mend(std::string& bytes) {
  const std::string magic(trace::kFrameMagic, sizeof trace::kFrameMagic);
  for (auto at = bytes.find(magic); at != std::string::npos; at = bytes.find(magic, at + 1)) {
    trace::FrameHeader header;
    if (bytes.size() - at < sizeof header) return;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.stored_bytes <= bytes.size() - at - sizeof header) {
      header.payload_hash = XXH3_64bits(bytes.data() + at + sizeof header, header.stored_bytes);
    }
    header.header_hash =
        static_cast<std::uint32_t>(XXH3_64bits(&header, offsetof(trace::FrameHeader, header_hash)));
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
}

// A good process as a .trace file, with the sample's events repeated.
std::string sample_bytes(int rank, std::uint32_t times) {
  const test::Scratch folder;
  trace::Definitions definitions = test::sample_definitions();
  auto writer = trace::TraceWriter::create(folder.path(), definitions);
  if (!writer) std::abort();
  for (std::uint32_t i = 0; i < times; ++i) {
    for (trace::Event event : test::sample_events(rank)) {
      event.time_ns += i * 7'000'000'000ull;
      writer->append(static_cast<std::size_t>(rank), event);
    }
  }
  if (!writer->finish()) std::abort();
  return test::contents(folder / ("trace/1." + std::to_string(rank) + ".trace"));
}

// The same with every payload stored plainly, so that damage reaches records and rows; `packed`: with
// records packed.
std::string uncompressed(const std::string& bytes, bool packed = false) {
  std::string plain = bytes.substr(0, sizeof(trace::FileHeader));
  for (std::size_t at = plain.size(); at + sizeof(trace::FrameHeader) <= bytes.size();) {
    trace::FrameHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.kind == trace::FrameKind::kIndex) break;
    std::string payload = bytes.substr(at + sizeof header, header.stored_bytes);
    at += sizeof header + (header.stored_bytes + 7) / 8 * 8;
    if ((header.flags & trace::kCompressed) != 0) {
      std::string raw(ZSTD_getFrameContentSize(payload.data(), payload.size()), '\0');
      if (ZSTD_decompress(raw.data(), raw.size(), payload.data(), payload.size()) != raw.size())
        std::abort();
      payload.swap(raw);
    }
    if ((header.flags & trace::kPacked) != 0 && !packed) {
      std::vector<std::uint64_t> words(header.raw_bytes / 8);
      if (!trace::unpack_records(payload.data(), payload.size(), words.data(), words.size()))
        std::abort();
      payload.assign(reinterpret_cast<const char*>(words.data()), header.raw_bytes);
    }
    header.flags = packed ? header.flags & trace::kPacked : 0;
    header.stored_bytes = static_cast<std::uint32_t>(payload.size());
    plain.append(reinterpret_cast<const char*>(&header), sizeof header);
    plain += payload;
    plain.append((8 - payload.size() % 8) % 8, '\0');
  }
  mend(plain);
  return plain;
}

// A .live file with the records of a frame.
std::string live_bytes(Fuzz& fuzz) {
  constexpr std::uint32_t kChunkBytes = 512, kChunks = 6;
  trace::LiveHeader header{};
  std::memcpy(header.magic, trace::kLiveMagic, sizeof header.magic);
  header.version = trace::kVersion;
  header.job = 1;
  header.chunk_bytes = kChunkBytes;
  header.chunk_count = kChunks;
  header.header_bytes = 64;
  std::string bytes(64 + kChunkBytes * kChunks, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    char* chunk = bytes.data() + 64 + i * kChunkBytes;
    const trace::LiveChunkHeader chunk_header{static_cast<trace::ChunkState>(fuzz.below(3)),
                                              static_cast<std::uint32_t>(fuzz.below(3)), i, 100 * i,
                                              0};
    std::memcpy(chunk, &chunk_header, sizeof chunk_header);
    std::size_t at = sizeof chunk_header;
    while (at + 8 * 17 <= kChunkBytes) {
      const auto words = static_cast<std::uint32_t>(fuzz.below(6));
      const std::uint64_t head =
          trace::head(1 + static_cast<std::uint32_t>(fuzz.below(17)), words,
                      static_cast<std::uint32_t>(fuzz.below(fuzz.below(2) ? 8 : 5000)),
                      static_cast<std::uint32_t>(fuzz.below(1000)));
      std::memcpy(chunk + at, &head, 8);
      for (std::uint32_t word = 0; word < words; ++word) {
        const std::uint64_t value =
            fuzz.below(4) ? fuzz.below(5) << 32 | fuzz.below(5) : fuzz.below(~0ull);
        std::memcpy(chunk + at + 8 + 8 * word, &value, 8);
      }
      at += 8 + 8 * words;
    }
  }
  return bytes;
}

bool names_only_what_is_defined(const trace::Event& event, const trace::Definitions& definitions) {
  using trace::EventKind;
  const auto communicators = static_cast<std::int32_t>(definitions.communicators.size());
  if (event.communicator >= communicators || event.new_communicator >= communicators) return false;
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave:
    case EventKind::kSampled: return event.function < definitions.functions.size();
    case EventKind::kMessageSent:
    case EventKind::kMessageReceived: return event.code < definitions.classes.size();
    case EventKind::kPhaseBegin:
    case EventKind::kPhaseEnd: return event.code < definitions.phases.size();
    default: return true;
  }
}

struct Totals {
  std::uint64_t opened = 0, events = 0, failures = 0;
};

void read_all(const std::string& folder, Fuzz& fuzz, int round, Totals& totals) {
  const auto opened = trace::Trace::open(folder);
  if (!opened) return;
  ++totals.opened;
  const trace::Definitions& definitions = opened->definitions();
  const auto fail = [&](const char* what) {
    std::printf("round %d: %s\n", round, what);
    ++totals.failures;
  };
  for (std::size_t process = 0; process < definitions.processes.size(); ++process) {
    trace::EventCursor cursor = opened->events(process);
    std::vector<std::uint64_t> last_ns;
    for (trace::Event event; cursor.next(event);) {
      ++totals.events;
      if (!names_only_what_is_defined(event, definitions))
        fail("an event names what is not defined");
      if (event.thread >= 1000) continue;
      if (last_ns.size() <= event.thread) last_ns.resize(event.thread + 1);
      if (event.time_ns < last_ns[event.thread]) fail("time went back within a thread");
      last_ns[event.thread] = event.time_ns;
    }
    opened->damaged_frames(process);
    const trace::Process& facts = definitions.processes[process];
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t time_ns = facts.first_ns + fuzz.below(facts.last_ns - facts.first_ns + 1);
      cursor.seek(time_ns);
      trace::Event event;
      if (cursor.next(event) && event.time_ns < time_ns) fail("seek gave an earlier event");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1500;
  Fuzz fuzz(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
  const test::Scratch folder;
  std::filesystem::create_directories(folder / "trace");
  const std::string good[] = {uncompressed(sample_bytes(0, 2)), sample_bytes(1, 1),
                              sample_bytes(0, 40), uncompressed(sample_bytes(0, 40), true)};
  Totals totals;
  for (int round = 0; round < rounds; ++round) {
    const int sample = round % 2 == 0 ? 0 : round % 8 < 4 ? 2 : 3;
    std::string first = good[sample], second = good[1], live = live_bytes(fuzz);
    fuzz.damage(first);
    if (round % 4 < 2) mend(first);
    if (round % 3 == 0) fuzz.damage(second);
    if (round % 5 == 0) fuzz.damage(live);
    test::write_file(folder / "trace/1.0.trace", first);
    test::write_file(folder / "trace/1.1.trace", second);
    test::write_file(folder / "trace/1.0.live", live);
    read_all(folder.path(), fuzz, round, totals);
  }
  std::printf("%d rounds, %llu opened, %llu events, %llu failures\n", rounds,
              static_cast<unsigned long long>(totals.opened),
              static_cast<unsigned long long>(totals.events),
              static_cast<unsigned long long>(totals.failures));
  return totals.failures == 0 && totals.opened > 0 ? 0 : 1;
}
