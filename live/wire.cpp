// SPDX-License-Identifier: BSD-3-Clause
#include "live/wire.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace fathom::live {
namespace {

constexpr int kLevel = 1;
constexpr int kMostWindowLog =
    27;  // what a sample and the one before it may be away from each other

struct SampleHeader {
  std::uint64_t sequence;
  std::uint32_t sample_bytes;
  std::uint32_t is_delta;
};
static_assert(sizeof(SampleHeader) == 16);

base::Error refused_frame(const char* why) {
  return base::Error{std::string("the packet of a host is refused: ") + why};
}

template <typename T>
void append_value(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::string greeting_with(std::string_view nonce) {
  std::string bytes(kWireMagic, sizeof kWireMagic);
  append_value(bytes, kWireVersion);
  bytes += nonce;
  return bytes;
}

std::optional<std::string_view> nonce_in(std::string_view greeting) {
  if (greeting.size() != kGreetingBytes ||
      greeting.substr(0, sizeof kWireMagic) != std::string_view(kWireMagic, sizeof kWireMagic) ||
      value_at<std::uint32_t>(greeting, sizeof kWireMagic) != kWireVersion)
    return std::nullopt;
  return greeting.substr(kGreetingBytes - kNonceBytes);
}

std::string frame_of(FrameKind kind, std::string_view payload) {
  std::string bytes;
  bytes.reserve(8 + payload.size());
  append_value(bytes, kind);
  append_value(bytes, static_cast<std::uint32_t>(payload.size()));
  bytes += payload;
  return bytes;
}

base::Result<std::optional<Frame>> frame_in(std::string_view bytes) {
  if (bytes.size() < 8) return std::optional<Frame>();
  const auto kind = value_at<std::uint32_t>(bytes, 0), size = value_at<std::uint32_t>(bytes, 4);
  if (kind < static_cast<std::uint32_t>(FrameKind::kSample) ||
      kind > static_cast<std::uint32_t>(FrameKind::kDetails))
    return refused_frame("it is of no known kind");
  if (size > kMostFrameBytes) return refused_frame("it is too long");
  if (bytes.size() - 8 < size) return std::optional<Frame>();
  return std::optional<Frame>(
      Frame{static_cast<FrameKind>(kind), bytes.substr(8, size), 8 + std::size_t{size}});
}

struct SampleEncoder::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  ~Context() { ZSTD_freeCCtx(zstd); }
};
SampleEncoder::SampleEncoder() : context_(new Context) {}
SampleEncoder::~SampleEncoder() = default;

std::string SampleEncoder::encode(std::uint64_t sequence, std::string sample) {
  ZSTD_CCtx* const zstd = context_->zstd;
  if (zstd == nullptr || sample.size() > kMostSampleBytes) return "";
  const auto reach = std::bit_width(sample.size() + last_.size());
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog,
                         std::clamp(static_cast<int>(reach), 10, kMostWindowLog));
  if (!last_.empty()) ZSTD_CCtx_refPrefix(zstd, last_.data(), last_.size());
  std::string payload;
  append_value(payload, SampleHeader{sequence, static_cast<std::uint32_t>(sample.size()),
                                     last_.empty() ? 0u : 1u});
  payload.resize(sizeof(SampleHeader) + ZSTD_compressBound(sample.size()));
  const std::size_t size =
      ZSTD_compress2(zstd, payload.data() + sizeof(SampleHeader),
                     payload.size() - sizeof(SampleHeader), sample.data(), sample.size());
  if (ZSTD_isError(size) != 0) return "";
  payload.resize(sizeof(SampleHeader) + size);
  if (payload.size() > kMostFrameBytes) return "";
  last_ = std::move(sample);
  return payload;
}

struct SampleDecoder::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};
SampleDecoder::SampleDecoder() : context_(new Context) {}
SampleDecoder::~SampleDecoder() = default;

base::Result<SampleDecoder::Sample> SampleDecoder::decode(std::string_view payload,
                                                          std::string_view last) {
  ZSTD_DCtx* const zstd = context_->zstd;
  if (zstd == nullptr || payload.size() < sizeof(SampleHeader))
    return refused_frame("it ends early");
  const auto header = value_at<SampleHeader>(payload, 0);
  const std::string_view compressed = payload.substr(sizeof(SampleHeader));
  if (header.sample_bytes > kMostSampleBytes || header.is_delta > 1)
    return refused_frame("its sample is too large");
  if (header.is_delta == 1 && last.empty()) return refused_frame("nothing came before it");
  if (ZSTD_getFrameContentSize(compressed.data(), compressed.size()) != header.sample_bytes)
    return refused_frame("its sample has another size");
  ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kMostWindowLog);
  if (header.is_delta == 1) ZSTD_DCtx_refPrefix(zstd, last.data(), last.size());
  Sample sample{header.sequence, std::string(header.sample_bytes, '\0')};
  const std::size_t size = ZSTD_decompressDCtx(zstd, sample.bytes.data(), sample.bytes.size(),
                                               compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0 || size != sample.bytes.size())
    return refused_frame("its sample is damaged");
  return sample;
}

}  // namespace fathom::live
