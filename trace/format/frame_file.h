// SPDX-License-Identifier: BSD-3-Clause
// Appends frames to one process's .trace file (format.h), for the profiler's background thread and
// for tools.
//
// Never throws, prints or exits, because it also runs inside the user's job. If a full disk cuts a
// frame off, what was written of it is removed, so that the file ends with a whole frame; later
// frames are tried again. Threading: append() from any thread; frames reach the file one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "trace/format/format.h"
#include "trace/format/packed_records.h"

struct ZSTD_CCtx_s;
struct iovec;

namespace fathom::trace {

// Compresses frames; each thread that compresses needs one. Events are packed first
// (packed_records.h), and then compressed only if packing has left more than a twelfth: what remains of a
// loop is mostly its times, of which zstd takes half away, for twice the time of the thread that drains.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;

  RecordPacker& packer() { return packer_; }

  // The compressed bytes, valid until the next call; null if compression does not help or there is
  // no memory.
  const char* compress(const void* payload, std::size_t size,
                       std::size_t* compressed_size) noexcept;

 private:
  RecordPacker packer_;
  ZSTD_CCtx_s* context_;
  int level_;
  std::vector<char> buffer_;
};

class FrameFile {
 public:
  FrameFile() = default;
  ~FrameFile();
  FrameFile(const FrameFile&) = delete;

  // Makes the file; false, with errno set, if it exists or cannot be made.
  bool open(const char* path, std::uint32_t job, std::uint32_t rank) noexcept;
  // The same in a file that is open already, such as a memfd, and from now on belongs to this.
  bool open(int descriptor, std::uint32_t job, std::uint32_t rank) noexcept;
  bool is_open() const { return descriptor_ >= 0; }

  // `header`: kind, thread, records, sequence and ticks; the rest is filled in. Compressed with
  // `compressor` unless it is null. False, with errno set, if the frame did not reach the file.
  bool append(FrameHeader header, const void* payload, std::size_t size,
              Compressor* compressor) noexcept;
  // The same for events that `compressor` has packed; records and last_ticks are filled in too.
  bool append(FrameHeader header, const RecordPacker::Packed& packed,
              Compressor& compressor) noexcept;

  // Writes index and trailer; nothing can be appended after. False if they did not reach the file.
  bool finish() noexcept;

  // Closes and deletes the file, if it was made.
  void remove() noexcept;

  std::uint64_t bytes() const noexcept;

 private:
  bool begin(std::uint32_t job, std::uint32_t rank) noexcept;
  bool put(const void* data, std::size_t size) noexcept;
  bool put(std::span<iovec> parts) noexcept;  // changes them
  bool append_stored(FrameHeader& header, const void* payload, std::size_t stored) noexcept;

  mutable std::mutex lock_;
  int descriptor_ = -1;
  std::string path_;       // empty: the file was given by its descriptor
  std::uint64_t end_ = 0;  // of the last whole frame
  std::vector<IndexEntry> index_;
};

}  // namespace fathom::trace
