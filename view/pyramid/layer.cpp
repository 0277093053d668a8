// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/layer.h"

#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>

#include "base/hash.h"

namespace fathom::view {
namespace {

constexpr char kMagic[8] = {'F', 'V', 'P', 'Y', 'R', '1', 0, 0};
constexpr char kEnd[8] = {'F', 'V', 'P', 'Y', 'R', 'E', 'N', 'D'};
constexpr std::uint64_t kHeaderBytes = 56, kPlaceBytes = 16, kFooterBytes = 32;
constexpr std::size_t kMostUnpacked = 1 << 22;  // numbers of a column

static_assert(std::endian::native == std::endian::little,
              "layers are written as they lie in memory");

template <typename Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
Number number_at(const char* data) {
  Number number;
  std::memcpy(&number, data, sizeof number);
  return number;
}

// Bytes of the same weight lie together: most are zero, or equal.
void append_column(std::string& bytes, const std::uint64_t* first, std::size_t bins) {
  const std::uint64_t largest = *std::max_element(first, first + bins);
  const auto width = static_cast<unsigned>((std::bit_width(largest) + 7) / 8);
  bytes += static_cast<char>(width);
  std::size_t at = bytes.size();
  bytes.resize(at + width * bins);
  for (unsigned byte = 0; byte < width; ++byte) {
    for (std::size_t bin = 0; bin < bins; ++bin)
      bytes[at++] = static_cast<char>(first[bin] >> (8 * byte));
  }
}

// A new context for each chunk would take as long as the chunk. Null: there is no memory.
ZSTD_CCtx* packing() {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                                  ZSTD_freeCCtx);
  return context.get();
}

ZSTD_DCtx* unpacking() {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                                  ZSTD_freeDCtx);
  return context.get();
}

std::string packed(const Columns& columns, std::size_t begin, std::size_t bins) {
  std::string plain;
  for (const auto& column : columns) append_column(plain, column.data() + begin, bins);
  std::string chunk(ZSTD_compressBound(plain.size()), '\0');
  ZSTD_CCtx* const context = packing();
  if (context == nullptr) return "";
  const std::size_t size =
      ZSTD_compressCCtx(context, chunk.data(), chunk.size(), plain.data(), plain.size(), 1);
  chunk.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return chunk;
}

// Empty: the bytes are not what they should be.
Columns unpacked(const std::string& plain, std::size_t columns, std::size_t bins) {
  Columns all;
  std::size_t at = 0;
  for (std::size_t number = 0; number < columns; ++number) {
    if (at >= plain.size()) return {};
    const auto width = static_cast<unsigned char>(plain[at++]);
    if (width > 8 || plain.size() - at < width * bins) return {};
    std::vector<std::uint64_t>& column = all.emplace_back(bins);
    for (unsigned byte = 0; byte < width; ++byte) {
      for (std::size_t bin = 0; bin < bins; ++bin)
        column[bin] |= std::uint64_t{static_cast<unsigned char>(plain[at++])} << (8 * byte);
    }
  }
  return all;
}

std::string header_of(const Geometry& geometry, std::uint32_t columns, std::uint64_t identity) {
  std::string header(kMagic, sizeof kMagic);
  append(header, identity);
  append(header, geometry.from_ns);
  append(header, geometry.to_ns);
  append(header, geometry.finest_ns);
  for (const std::uint32_t number : {geometry.levels, geometry.processes, columns, 0u})
    append(header, number);
  return header;
}

std::uint64_t chunks_of(const Geometry& geometry) {
  std::uint64_t chunks = 0;
  for (std::uint32_t level = 0; level < geometry.levels; ++level) chunks += geometry.columns(level);
  return chunks;
}

}  // namespace

std::uint64_t trace_identity(const std::string& run_directory) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run_directory + "/trace", failed))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::uint64_t identity = 3;  // of this version of layers
  for (const std::string& name : names) {
    struct stat status {};
    if (stat((run_directory + "/trace/" + name).c_str(), &status) != 0) continue;
    for (const char letter : name)
      identity = base::mixed(identity ^ static_cast<unsigned char>(letter));
    identity = base::mixed(identity ^ static_cast<std::uint64_t>(status.st_size));
    identity = base::mixed(identity ^ static_cast<std::uint64_t>(status.st_mtim.tv_sec) << 30 ^
                           static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
  }
  return identity;
}

std::string pack_columns(const Columns& columns) {
  if (columns.empty() || columns.front().empty()) return "";
  return packed(columns, 0, columns.front().size());
}

Columns unpack_columns(std::string_view chunk, std::size_t columns, std::size_t length) {
  if (length == 0 || length > kMostUnpacked) return {};
  std::string plain(columns * (1 + 8 * length), '\0');
  ZSTD_DCtx* const context = unpacking();
  if (context == nullptr) return {};
  const std::size_t size =
      ZSTD_decompressDCtx(context, plain.data(), plain.size(), chunk.data(), chunk.size());
  if (ZSTD_isError(size) != 0) return {};
  plain.resize(size);
  return unpacked(plain, columns, length);
}

LayerWriter::LayerWriter(const Geometry& geometry, std::uint32_t columns, std::uint64_t identity)
    : geometry_(geometry), columns_(columns), identity_(identity), index_(geometry.all_lines()) {}

base::Status LayerWriter::open(const std::string& path) {
  if (const auto opened = file_.open(path, base::AtomicFile::Existing::kReplace); !opened)
    return opened;
  file_.append(header_of(geometry_, columns_, identity_));
  return base::Done{};
}

LayerWriter::Packed LayerWriter::pack(const std::vector<Columns>& levels) const {
  Packed all;
  for (std::uint32_t level = 0; level < geometry_.levels; ++level) {
    const std::uint64_t bins = geometry_.bins(level);
    for (std::uint64_t begin = 0; begin < bins; begin += kBins)
      all.chunks.push_back(packed(levels[level], begin, std::min(kBins, bins - begin)));
  }
  return all;
}

void LayerWriter::add(std::uint64_t line, const Packed& packed) {
  for (const std::string& chunk : packed.chunks) {
    index_[line].push_back({file_.size_bytes(), static_cast<std::uint32_t>(chunk.size()), 0});
    file_.append(chunk);
  }
}

base::Status LayerWriter::commit(std::string_view tail) {
  const std::uint64_t index = file_.size_bytes();
  std::string rest;
  for (auto& places : index_) {
    places.resize(chunks_of(geometry_));
    for (const Place& place : places) {
      append(rest, place.offset);
      append(rest, place.bytes);
      append(rest, place.reserved);
    }
  }
  const std::uint64_t tail_at = index + rest.size();
  rest += tail;
  append(rest, index);
  append(rest, tail_at);
  append(rest, std::uint64_t{tail.size()});
  rest.append(kEnd, sizeof kEnd);
  file_.append(rest);
  return file_.commit();
}

std::unique_ptr<Layer> Layer::open(const std::string& path, std::uint64_t identity,
                                   const Geometry& geometry, std::uint32_t columns) {
  auto file = base::MappedFile::open(path);
  if (!file || file->size() < kHeaderBytes + kFooterBytes) return nullptr;
  const std::string header = header_of(geometry, columns, identity);
  if (std::memcmp(file->data(), header.data(), header.size()) != 0) return nullptr;
  const std::uint64_t end = file->size() - kFooterBytes;
  const char* footer = file->data() + end;
  if (std::memcmp(footer + 24, kEnd, sizeof kEnd) != 0) return nullptr;
  std::unique_ptr<Layer> layer(new Layer);
  layer->geometry_ = geometry;
  layer->columns_ = columns;
  layer->chunks_ = chunks_of(geometry);
  layer->index_ = number_at<std::uint64_t>(footer);
  const auto tail_at = number_at<std::uint64_t>(footer + 8);
  const auto tail_bytes = number_at<std::uint64_t>(footer + 16);
  if (layer->index_ > end || tail_at > end || tail_bytes != end - tail_at ||
      tail_at < layer->index_ ||
      tail_at - layer->index_ != layer->chunks_ * geometry.all_lines() * kPlaceBytes)
    return nullptr;
  layer->tail_ = {file->data() + tail_at, tail_bytes};
  std::uint64_t first = 0;
  for (std::uint32_t level = 0; level < geometry.levels; ++level) {
    layer->first_.push_back(first);
    first += geometry.columns(level);
  }
  layer->file_ = std::move(*file);
  return layer;
}

Columns Layer::read(std::uint64_t line, std::uint32_t level, std::uint64_t stretch) const {
  if (line >= geometry_.all_lines() || level >= geometry_.levels ||
      stretch >= geometry_.columns(level))
    return {};
  const std::uint64_t chunk = chunks_ * line + first_[level] + stretch;
  const char* place = file_->data() + index_ + chunk * kPlaceBytes;
  const auto offset = number_at<std::uint64_t>(place);
  const std::uint64_t bytes = number_at<std::uint32_t>(place + 8);
  if (offset > index_ || bytes > index_ - offset) return {};
  const std::size_t bins = std::min(kBins, geometry_.bins(level) - stretch * kBins);
  return unpack_columns({file_->data() + offset, bytes}, columns_, bins);
}

}  // namespace fathom::view
