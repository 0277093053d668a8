// SPDX-License-Identifier: BSD-3-Clause
// A file of binned columns: for each line (geometry.h), level and stretch of kBins bins one chunk, packed.
//
//   header   "FVPYR1\0\0"  u64 identity  u64 from_ns, to_ns, finest_ns  u32 levels, processes, columns, 0
//   chunks   zstd of, for each column: u8 width w (0 to 8: bytes that its largest number needs), then w × bins
//            bytes: the lowest byte of each number, then the next
//   index    u64 offset, u32 packed bytes, u32 0 for each line, level and stretch, in this order
//   tail     bytes of the layer's own
//   footer   u64 offset of the index, u64 of the tail, u64 bytes of the tail, "FVPYREND"
//
// Numbers are little-endian. `identity` is that of the trace (trace_identity): a layer of another trace, another
// version or with any length that does not fit is no layer. Threading: a Layer may be read by any thread; chunks are given to
// a LayerWriter by one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "view/pyramid/geometry.h"

namespace fathom::view {

// Hash of names, lengths and times of change of the files in RUN/trace.
std::uint64_t trace_identity(const std::string& run_directory);

using Columns = std::vector<std::vector<std::uint64_t>>;  // by column, then by bin

// Columns of any equal length, packed as in a chunk; unpacking gives nothing where the bytes are not that.
std::string pack_columns(const Columns& columns);
Columns unpack_columns(std::string_view packed, std::size_t columns, std::size_t length);

class LayerWriter {
 public:
  LayerWriter(const Geometry& geometry, std::uint32_t columns, std::uint64_t identity);

  base::Status open(const std::string& path);

  // All bins of a line: `levels` by level, then by column. Packing needs no lock.
  struct Packed {
    std::vector<std::string> chunks;  // by level, then by stretch
  };
  Packed pack(const std::vector<Columns>& levels) const;
  void add(std::uint64_t line, const Packed& packed);

  base::Status commit(std::string_view tail);
  void abandon() { file_.abandon(); }

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0, reserved = 0;
  };

  const Geometry geometry_;
  const std::uint32_t columns_;
  const std::uint64_t identity_;
  base::AtomicFile file_;
  std::vector<std::vector<Place>> index_;  // by line
};

class Layer {
 public:
  // Nothing if there is none of this identity and shape.
  static std::unique_ptr<Layer> open(const std::string& path, std::uint64_t identity,
                                     const Geometry& geometry, std::uint32_t columns);

  // The columns of kBins bins, or fewer at the end; empty if the chunk is damaged.
  Columns read(std::uint64_t line, std::uint32_t level, std::uint64_t stretch) const;
  std::string_view tail() const { return tail_; }
  std::uint64_t bytes() const { return file_->size(); }

 private:
  Layer() = default;

  std::optional<base::MappedFile> file_;
  Geometry geometry_;
  std::uint32_t columns_ = 0;
  std::uint64_t chunks_ = 0;          // of a line
  std::vector<std::uint64_t> first_;  // of each level, among the chunks of a line
  std::uint64_t index_ = 0;
  std::string_view tail_;
};

}  // namespace fathom::view
