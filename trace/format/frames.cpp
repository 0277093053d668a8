// SPDX-License-Identifier: BSD-3-Clause
#include "trace/format/frames.h"

#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "trace/format/packed_records.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fathom::trace {
namespace {

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

std::string at_byte(const base::MappedFile& file, std::uint64_t offset) {
  return file.path() + ", byte " + std::to_string(offset) + ": ";
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The header at `offset`, if there is one with the right hash.
std::optional<FrameHeader> header_at(const base::MappedFile& file, std::uint64_t offset) {
  FrameHeader header;
  if (offset > file.size() || file.size() - offset < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data() + offset, sizeof header);
  if (std::memcmp(header.magic, kFrameMagic, sizeof header.magic) != 0) return std::nullopt;
  const std::uint64_t hash = XXH3_64bits(&header, offsetof(FrameHeader, header_hash));
  if (static_cast<std::uint32_t>(hash) != header.header_hash) return std::nullopt;
  return header;
}

class FrameSearch {
 public:
  FrameSearch(const base::MappedFile& file, FrameList& found) : file_(file), found_(found) {}

  void run() {
    read_file_header();
    if (found_.newer_version || file_.size() < sizeof(FileHeader)) return;
    if (!take_index()) walk();
  }

 private:
  void problem(std::uint64_t offset, const std::string& sentence) {
    found_.problems.push_back(at_byte(file_, offset) + sentence);
  }

  void read_file_header() {
    FileHeader header;
    if (file_.size() < sizeof header) {
      problem(0, "expected a header of 24 bytes, the file has " + std::to_string(file_.size()));
      return;
    }
    std::memcpy(&header, file_.data(), sizeof header);
    if (std::memcmp(header.magic, kFileMagic, sizeof header.magic) != 0) {
      problem(0, "expected \"FATHOMTR\"; the header of the file is damaged");
      return;
    }
    if (header.version > kVersion) {
      problem(8, "version " + std::to_string(header.version) +
                     " is newer than this program knows (" + std::to_string(kVersion) +
                     "); use a newer fathom");
      found_.newer_version = true;
      return;
    }
    found_.header = header;
  }

  void add(const IndexEntry& entry) {
    const auto kind = static_cast<FrameKind>(entry.kind);
    if (kind == FrameKind::kDefinitions) found_.definitions.push_back(entry);
    if (kind == FrameKind::kEvents) found_.events.push_back(entry);
  }

  static IndexEntry entry_of(std::uint64_t offset, const FrameHeader& header) {
    return {offset,
            header.sequence,
            header.first_ticks,
            header.last_ticks,
            header.thread,
            header.records,
            static_cast<std::uint32_t>(header.kind),
            0};
  }

  // True if the file ends with a usable index. Its entries are trusted until frames are loaded, which
  // checks the headers, so that opening a long trace reads no more than its end.
  bool take_index() {
    Trailer trailer;
    if (file_.size() < sizeof(FileHeader) + sizeof trailer) return false;
    std::memcpy(&trailer, file_.data() + file_.size() - sizeof trailer, sizeof trailer);
    if (std::memcmp(trailer.magic, kTrailerMagic, sizeof trailer.magic) != 0) return false;
    const auto header = header_at(file_, trailer.index_offset);
    if (!header || header->kind != FrameKind::kIndex || (header->flags & kCompressed) != 0)
      return false;
    const std::uint64_t payload = trailer.index_offset + sizeof(FrameHeader);
    const std::uint64_t end = file_.size() - sizeof trailer;
    const std::uint64_t size = std::uint64_t{header->records} * sizeof(IndexEntry);
    if (payload > end || end - payload < size || header->stored_bytes < size) return false;
    if (header->stored_bytes > end - payload ||
        XXH3_64bits(file_.data() + payload, header->stored_bytes) != header->payload_hash) {
      problem(trailer.index_offset,
              "the index is damaged; the frames were searched for one by one");
      return false;
    }
    for (std::uint32_t i = 0; i < header->records; ++i) {
      IndexEntry entry;
      std::memcpy(&entry, file_.data() + payload + std::uint64_t{i} * sizeof entry, sizeof entry);
      add(entry);
    }
    found_.complete = true;
    return true;
  }

  void walk() {
    std::uint64_t at = sizeof(FileHeader);
    while (at < file_.size()) {
      const auto header = header_at(file_, at);
      const std::uint64_t left = file_.size() - at;
      if (header && sizeof(FrameHeader) + std::uint64_t{header->stored_bytes} <= left) {
        if (header->kind == FrameKind::kIndex) return;  // what follows is the trailer, or was cut
        add(entry_of(at, *header));
        at += sizeof(FrameHeader) + padded(header->stored_bytes);
        drop_before(at);
        continue;
      }
      const std::uint64_t next = next_header(at + 1);
      if (header) {
        problem(at, "expected a frame of " + std::to_string(header->stored_bytes) + " bytes with " +
                        std::to_string(header->records) + " records, but the file ends after " +
                        std::to_string(left - sizeof(FrameHeader)));
      } else {
        problem(at, "expected the header of a frame; " + std::to_string(next - at) +
                        " bytes were skipped");
      }
      at = next;
    }
  }

  void drop_before(std::uint64_t at) {
    constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
    if (at - dropped_to_ < kStep) return;
    file_.drop(dropped_to_ < kStep ? 0 : dropped_to_ - kStep, at);
    dropped_to_ = at;
  }

  std::uint64_t next_header(std::uint64_t from) const {
    const std::string_view bytes(file_.data(), file_.size());
    const std::string_view magic(kFrameMagic, sizeof kFrameMagic);
    for (auto at = bytes.find(magic, from); at != std::string_view::npos;
         at = bytes.find(magic, at + 1)) {
      if (header_at(file_, at)) return at;
    }
    return file_.size();
  }

  const base::MappedFile& file_;
  FrameList& found_;
  std::uint64_t dropped_to_ = 0;
};

// Of this thread. It takes 100 KB, and a run has thousands of files.
ZSTD_DCtx* context() {
  static const thread_local std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> own(
      ZSTD_createDCtx(), &ZSTD_freeDCtx);
  return own.get();
}

// Packed records, of `size` bytes, in memory of this thread that the next call uses again; `size`
// becomes theirs. Null if they are damaged, or longer than `most`; `why` then says so.
const char* decompress(const char* payload, std::size_t& size, std::size_t most, std::string& why) {
  static thread_local std::vector<char> packed;
  const unsigned long long length = ZSTD_getFrameContentSize(payload, size);
  // Also ZSTD_CONTENTSIZE_UNKNOWN and ZSTD_CONTENTSIZE_ERROR, which are higher than any length.
  if (length > 2 * most + 64) {
    why = "the lengths of a frame contradict each other";
    return nullptr;
  }
  if (packed.size() < length) packed.resize(length);
  const std::size_t taken =
      ZSTD_decompressDCtx(context(), packed.data(), packed.size(), payload, size);
  if (ZSTD_isError(taken) != 0 || taken != length) {
    why = std::string("a frame cannot be decompressed: ") + ZSTD_getErrorName(taken);
    return nullptr;
  }
  size = taken;
  return packed.data();
}

}  // namespace

FrameList find_frames(const base::MappedFile& file) {
  FrameList found;
  FrameSearch(file, found).run();
  return found;
}

const char* load_frame(const base::MappedFile& file, const IndexEntry& frame,
                       std::vector<char>& buffer, std::size_t& size, std::string& problem) {
  const auto damaged = [&](const std::string& sentence) -> const char* {
    problem = at_byte(file, frame.offset) + sentence + "; its " + std::to_string(frame.records) +
              " records are lost";
    return nullptr;
  };
  const auto found = header_at(file, frame.offset);
  if (!found) return damaged("the header of a frame is damaged");
  const FrameHeader& header = *found;
  const std::uint64_t payload_offset = frame.offset + sizeof(FrameHeader);
  if (payload_offset > file.size() || header.stored_bytes > file.size() - payload_offset) {
    return damaged("the file ends inside a frame");
  }
  const char* payload = file.data() + payload_offset;
  const std::uint64_t hash = XXH3_64bits(payload, header.stored_bytes);
  if (hash != header.payload_hash) {
    return damaged("a frame's payload has the hash " + hexadecimal(hash) + ", expected " +
                   hexadecimal(header.payload_hash));
  }
  const std::uint32_t most =
      header.kind == FrameKind::kDefinitions ? kMostDefinitionBytes : kMostEventBytes;
  if (header.raw_bytes > most) {
    return damaged("a frame of " + std::to_string(header.raw_bytes) +
                   " bytes is larger than any that Fathom writes");
  }
  size = header.raw_bytes;
  if ((header.flags & ~(kCompressed | kPacked)) != 0 ||
      ((header.flags & kPacked) != 0 && header.kind != FrameKind::kEvents))
    return damaged("a frame is stored in a way that this program does not know");
  if ((header.flags & kPacked) != 0) {
    std::size_t packed_size = header.stored_bytes;
    if ((header.flags & kCompressed) != 0) {
      payload = decompress(payload, packed_size, header.raw_bytes, problem);
      if (payload == nullptr) return damaged(problem);
    }
    if (buffer.size() < header.raw_bytes) buffer.resize(header.raw_bytes);
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (header.raw_bytes % kWord != 0 ||
        !unpack_records(payload, packed_size, reinterpret_cast<std::uint64_t*>(buffer.data()),
                        header.raw_bytes / kWord))
      return damaged("the records of a frame cannot be unpacked");
    return buffer.data();
  }
  if ((header.flags & kCompressed) == 0) {
    if (header.raw_bytes != header.stored_bytes)
      return damaged("the lengths of a frame contradict each other");
    // Records are read as words, which a frame found in a damaged file may not be aligned to.
    if (reinterpret_cast<std::uintptr_t>(payload) % alignof(std::uint64_t) == 0) return payload;
    buffer.assign(payload, payload + header.stored_bytes);
    return buffer.data();
  }
  if (ZSTD_getFrameContentSize(payload, header.stored_bytes) != header.raw_bytes) {
    return damaged("the lengths of a frame contradict each other");
  }
  if (buffer.size() < header.raw_bytes) buffer.resize(header.raw_bytes);
  const std::size_t taken =
      ZSTD_decompressDCtx(context(), buffer.data(), buffer.size(), payload, header.stored_bytes);
  if (ZSTD_isError(taken) != 0 || taken != header.raw_bytes) {
    return damaged(std::string("a frame cannot be decompressed: ") + ZSTD_getErrorName(taken));
  }
  return buffer.data();
}

}  // namespace fathom::trace
