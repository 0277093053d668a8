// SPDX-License-Identifier: BSD-3-Clause
// What a host that runs processes of a job and the collector, `fathom run --live`, say to each other
// over TCP. Nothing is encrypted; nobody without the run's token is listened to.
//
//   collector  "FTHMWIRE", version (4), 32 random bytes
//   host       32 random bytes, proof (32; live/collector_address.h)
//   collector  proof (32)
//
// and from then on frames: kind (4), bytes of payload (4), payload; native byte order, which the magic
// number of the samples inside proves to be the same on both sides.
//
//   host       kSample: sequence (8), bytes uncompressed (4), is_delta (4), Zstandard frame
//              kBye: it has left all that it knows
//   collector  kHeard: sequence (8) of the last sample that it has taken
//              kDetails: 1 (1 byte): somebody wants details; 0: nobody does
//
// Hosts of a job with more ranks than RUN/.collector says send summaries (live/process_sample.h) as long
// as nobody wants details.
//
// The frame of a sample holds the bytes of RUN/live/HOST (live/host_sample.h). For a delta, the sample
// before it on this connection is the prefix (ZSTD_CCtx_refPrefix in zstd.h), so that what has not
// changed takes next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::live {

inline constexpr char kWireMagic[8] = {'F', 'T', 'H', 'M', 'W', 'I', 'R', 'E'};
inline constexpr std::uint32_t kWireVersion = 1;
inline constexpr std::size_t kNonceBytes = 32, kProofBytes = 32;
inline constexpr std::size_t kGreetingBytes = sizeof kWireMagic + sizeof kWireVersion + kNonceBytes;

enum class FrameKind : std::uint32_t { kSample = 1, kBye = 2, kHeard = 3, kDetails = 4 };
// Longer frames, and samples that say that they are longer, are refused.
inline constexpr std::size_t kMostFrameBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostSampleBytes = std::size_t{256} << 20;

std::string greeting_with(std::string_view nonce);
// The nonce of a greeting; nothing if it is none of this version.
std::optional<std::string_view> nonce_in(std::string_view greeting);

std::string frame_of(FrameKind kind, std::string_view payload);

struct Frame {
  FrameKind kind;
  std::string_view payload;  // in the bytes that were given
  std::size_t size;          // with its header
};
// The frame at the beginning of `bytes`: nothing if more of it has to come, an Error if it is none.
base::Result<std::optional<Frame>> frame_in(std::string_view bytes);

// One side of the samples of one connection.
class SampleEncoder {
 public:
  SampleEncoder();
  ~SampleEncoder();
  SampleEncoder(const SampleEncoder&) = delete;
  // The next sample is sent whole.
  void restart() { last_.clear(); }
  // The payload of a frame; empty without memory.
  std::string encode(std::uint64_t sequence, std::string sample);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string last_;
};

class SampleDecoder {
 public:
  SampleDecoder();
  ~SampleDecoder();
  SampleDecoder(const SampleDecoder&) = delete;

  struct Sample {
    std::uint64_t sequence;
    std::string bytes;  // not checked
  };
  // `last`: bytes of the sample before it, which a delta needs. Safe for any payload.
  base::Result<Sample> decode(std::string_view payload, std::string_view last);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace fathom::live
