// SPDX-License-Identifier: BSD-3-Clause
#include "trace/format/live_file.h"

#include <cstring>

namespace fathom::trace {
namespace {

std::uint64_t word_at(const char* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// Counts whole records up to the first zero head. False if it meets something that is not a record.
bool measure(const char* words, std::uint64_t limit, LiveChunk& chunk) {
  chunk.last_ticks = chunk.first_ticks;
  while (chunk.words < limit) {
    const std::uint64_t head = word_at(words + chunk.words * 8);
    if (head == 0) return true;
    const std::uint64_t length = 1 + (head >> kWordsShift & kMaxWords);
    if ((head & 0xff) == 0 || length > limit - chunk.words) return false;
    chunk.last_ticks += head >> kTimeShift;
    if ((head & 0xff) == static_cast<std::uint64_t>(RecordKind::kTime) && length > 1) {
      chunk.last_ticks = word_at(words + (chunk.words + 1) * 8);
    }
    chunk.words += length;
    ++chunk.records;
  }
  return true;
}

}  // namespace

LiveChunks find_chunks(const base::MappedFile& file) {
  LiveChunks found;
  const auto problem = [&](std::uint64_t offset, const std::string& sentence) {
    found.problems.push_back(file.path() + ", byte " + std::to_string(offset) + ": " + sentence);
  };
  LiveHeader header;
  if (file.size() < sizeof header) {
    problem(0, "expected a header of 40 bytes, the file has " + std::to_string(file.size()));
    return found;
  }
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kLiveMagic, sizeof header.magic) != 0) {
    problem(0, "expected \"FATHOMLV\"; the header is damaged, and the file cannot be read");
    return found;
  }
  if (header.version > kVersion) {
    problem(8, "version " + std::to_string(header.version) + " is newer than this program knows (" +
                   std::to_string(kVersion) + "); use a newer fathom");
    found.newer_version = true;
    return found;
  }
  if (header.chunk_bytes <= sizeof(LiveChunkHeader) || header.chunk_bytes % 8 != 0 ||
      header.header_bytes < sizeof header || header.header_bytes % 8 != 0) {
    problem(20, "expected the sizes of chunks; the header is damaged");
    return found;
  }
  found.header = header;
  const std::uint64_t limit = (header.chunk_bytes - sizeof(LiveChunkHeader)) / 8;
  for (std::uint32_t i = 0; i < header.chunk_count; ++i) {
    const std::uint64_t offset = header.header_bytes + std::uint64_t{i} * header.chunk_bytes;
    if (offset > file.size() || file.size() - offset < header.chunk_bytes) {
      problem(file.size(), "the file ends before chunk " + std::to_string(i) + " of " +
                               std::to_string(header.chunk_count));
      break;
    }
    LiveChunkHeader chunk_header;
    // Copied, because the process may still be writing.
    std::memcpy(&chunk_header, file.data() + offset, sizeof chunk_header);
    if (chunk_header.state == ChunkState::kFree) continue;
    if (chunk_header.state != ChunkState::kFilling && chunk_header.state != ChunkState::kFull) {
      problem(offset, "expected the state of a chunk; it is damaged and was skipped");
      continue;
    }
    LiveChunk chunk;
    chunk.offset = offset + sizeof chunk_header;
    chunk.thread = chunk_header.thread;
    chunk.sequence = chunk_header.sequence;
    chunk.first_ticks = chunk_header.first_ticks;
    if (!measure(file.data() + chunk.offset, limit, chunk)) {
      problem(chunk.offset + chunk.words * 8,
              "expected a record or the end of a chunk; the rest of it was skipped");
    }
    if (chunk.words > 0) found.chunks.push_back(chunk);
  }
  return found;
}

}  // namespace fathom::trace
