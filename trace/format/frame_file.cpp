// SPDX-License-Identifier: BSD-3-Clause
#include "trace/format/frame_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fathom::trace {

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()), level_(level) {}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

const char* Compressor::compress(const void* payload, std::size_t size,
                                 std::size_t* compressed_size) noexcept try {
  if (context_ == nullptr) return nullptr;
  if (buffer_.size() < ZSTD_compressBound(size)) buffer_.resize(ZSTD_compressBound(size));
  const std::size_t taken =
      ZSTD_compressCCtx(context_, buffer_.data(), buffer_.size(), payload, size, level_);
  if (ZSTD_isError(taken) != 0 || taken >= size) return nullptr;
  *compressed_size = taken;
  return buffer_.data();
} catch (...) {
  return nullptr;
}

FrameFile::~FrameFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool FrameFile::open(const char* path, std::uint32_t job, std::uint32_t rank) noexcept try {
  const std::lock_guard guard(lock_);
  path_ = path;
  descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return descriptor_ >= 0 && begin(job, rank);
} catch (...) {
  errno = ENOMEM;
  return false;
}

bool FrameFile::open(int descriptor, std::uint32_t job, std::uint32_t rank) noexcept {
  const std::lock_guard guard(lock_);
  path_.clear();
  descriptor_ = descriptor;
  return begin(job, rank);
}

bool FrameFile::begin(std::uint32_t job, std::uint32_t rank) noexcept {
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof header.magic);
  header.version = kVersion;
  header.job = job;
  header.rank = rank;
  end_ = 0;
  if (!put(&header, sizeof header)) return false;
  end_ = sizeof header;
  return true;
}

namespace {

// Takes what has been written from what is left to write.
std::span<iovec> rest_of(std::span<iovec> parts, std::size_t written) {
  while (!parts.empty() && written >= parts.front().iov_len) {
    written -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (written > 0) {
    parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + written;
    parts.front().iov_len -= written;
  }
  return parts;
}

}  // namespace

bool FrameFile::put(std::span<iovec> parts) noexcept {
  parts = rest_of(parts, 0);
  while (!parts.empty()) {
    const ssize_t written = writev(descriptor_, parts.data(), static_cast<int>(parts.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int why = written == 0 ? ENOSPC : errno;
      if (ftruncate(descriptor_, static_cast<off_t>(end_)) == 0) {
        lseek(descriptor_, static_cast<off_t>(end_), SEEK_SET);
      }
      errno = why;
      return false;
    }
    parts = rest_of(parts, static_cast<std::size_t>(written));
  }
  return true;
}

bool FrameFile::put(const void* data, std::size_t size) noexcept {
  iovec part{const_cast<void*>(data), size};
  return put({&part, 1});
}

bool FrameFile::append(FrameHeader header, const void* payload, std::size_t size,
                       Compressor* compressor) noexcept {
  header.raw_bytes = static_cast<std::uint32_t>(size);
  std::size_t stored = size;
  if (compressor != nullptr && header.kind == FrameKind::kEvents &&
      size % sizeof(std::uint64_t) == 0) {
    const auto* words = static_cast<const std::uint64_t*>(payload);
    const RecordPacker::Packed packed =
        compressor->packer().pack(words, size / sizeof *words, header.first_ticks);
    // What is no sequence of records is stored as it is.
    if (packed.bytes != nullptr && packed.words * sizeof *words == size &&
        packed.records == header.records && packed.last_ticks == header.last_ticks)
      return append(header, packed, *compressor);
  }
  const char* compressed =
      compressor == nullptr ? nullptr : compressor->compress(payload, size, &stored);
  if (compressed != nullptr) {
    header.flags |= kCompressed;
    payload = compressed;
  }
  return append_stored(header, payload, stored);
}

bool FrameFile::append(FrameHeader header, const RecordPacker::Packed& packed,
                       Compressor& compressor) noexcept {
  header.flags |= kPacked;
  header.records = packed.records;
  header.last_ticks = packed.last_ticks;
  header.raw_bytes = static_cast<std::uint32_t>(packed.words * sizeof(std::uint64_t));
  constexpr std::size_t kSmallEnough = 12;
  const char* payload = packed.bytes;
  std::size_t stored = packed.size;
  if (packed.size > header.raw_bytes / kSmallEnough) {
    const char* compressed = compressor.compress(packed.bytes, packed.size, &stored);
    if (compressed != nullptr) {
      header.flags |= kCompressed;
      payload = compressed;
    }
  }
  return append_stored(header, payload, stored);
}

bool FrameFile::append_stored(FrameHeader& header, const void* payload, std::size_t stored) noexcept
    try {
  static constexpr char kPadding[8] = {};
  std::memcpy(header.magic, kFrameMagic, sizeof header.magic);
  header.stored_bytes = static_cast<std::uint32_t>(stored);
  header.payload_hash = XXH3_64bits(payload, stored);
  header.header_hash =
      static_cast<std::uint32_t>(XXH3_64bits(&header, offsetof(FrameHeader, header_hash)));
  const std::lock_guard guard(lock_);
  if (descriptor_ < 0) return false;
  // Entered before it is written: memory can run out here, but not once the frame is in the file.
  index_.push_back({end_, header.sequence, header.first_ticks, header.last_ticks, header.thread,
                    header.records, static_cast<std::uint32_t>(header.kind), 0});
  const std::size_t padding = (8 - stored % 8) % 8;
  iovec parts[] = {{&header, sizeof header},
                   {const_cast<void*>(payload), stored},
                   {const_cast<char*>(kPadding), padding}};
  if (!put(parts)) {
    index_.pop_back();
    return false;
  }
  end_ += sizeof header + stored + padding;
  return true;
} catch (...) {
  errno = ENOMEM;
  return false;
}

bool FrameFile::finish() noexcept {
  Trailer trailer{};
  std::vector<IndexEntry> index;
  {
    const std::lock_guard guard(lock_);
    trailer.index_offset = end_;
    index.swap(index_);
  }
  FrameHeader header{};
  header.kind = FrameKind::kIndex;
  header.records = static_cast<std::uint32_t>(index.size());
  if (!append(header, index.data(), index.size() * sizeof(IndexEntry), nullptr)) return false;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof trailer.magic);
  const std::lock_guard guard(lock_);
  const bool written = put(&trailer, sizeof trailer);
  close(descriptor_);
  descriptor_ = -1;
  return written;
}

void FrameFile::remove() noexcept {
  const std::lock_guard guard(lock_);
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
  descriptor_ = -1;
}

std::uint64_t FrameFile::bytes() const noexcept {
  const std::lock_guard guard(lock_);
  return end_;
}

}  // namespace fathom::trace
