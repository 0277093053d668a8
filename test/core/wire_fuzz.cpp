// SPDX-License-Identifier: BSD-3-Clause
// Damaged packets of hosts: thousands of mutations of good ones and of random bytes, under sanitizers.
// Whatever is taken must also be readable as a state of a job, or be refused.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "live/process_sample.h"
#include "live/wire.h"
#include "test/unit/live/made_samples.h"

namespace {

using namespace fathom;

constexpr int kPackets = 6000;

class Fuzz {
 public:
  std::string mutated(std::string bytes) {
    for (std::size_t edits = 1 + below(6); edits > 0 && !bytes.empty(); --edits) {
      const std::size_t at =
          below(below(2) == 0 ? std::min<std::size_t>(bytes.size(), 40) : bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(below(256)); break;
        case 1: bytes[at] = '\xff'; break;
        case 2: bytes.resize(at); break;
        case 3: bytes.erase(at, 1 + below(16)); break;
        default: bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(16)));
      }
    }
    return bytes;
  }
  std::string random(std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(below(256));
    return bytes;
  }
  std::size_t below(std::size_t end) { return random_() % end; }

 private:
  std::mt19937 random_{17};
};

// Whether it was taken.
bool give(live::SampleDecoder& decoder, std::string_view stream, std::string_view last) {
  const auto frame = live::frame_in(stream);
  if (!frame || !*frame || (*frame)->kind != live::FrameKind::kSample) return false;
  const auto sample = decoder.decode((*frame)->payload, last);
  if (!sample) return false;
  const auto host = live::host_sample_of(sample->bytes);
  if (!host) return false;
  (void)live::job_state_of(host->processes);
  return true;
}

}  // namespace

int main() {
  Fuzz fuzz;
  live::SampleEncoder encoder;
  live::SampleDecoder decoder;
  const std::string last = live::bytes_of(test::made_host(0, 2, 8, 3, 1));
  const std::string whole = live::frame_of(live::FrameKind::kSample, encoder.encode(1, last));
  const std::string next = live::bytes_of(test::made_host(0, 2, 8, 3, 2));
  const std::string delta = live::frame_of(live::FrameKind::kSample, encoder.encode(2, next));
  if (!give(decoder, whole, "") || !give(decoder, delta, last)) {
    std::fputs("good packets are refused\n", stderr);
    return 1;
  }
  int taken = 0;
  for (int i = 0; i < kPackets; ++i) {
    switch (i % 4) {
      case 0: taken += give(decoder, fuzz.mutated(whole), ""); break;
      case 1: taken += give(decoder, fuzz.mutated(delta), last); break;
      case 2: taken += give(decoder, fuzz.random(fuzz.below(300)), last); break;
      default: {  // a good frame around a damaged sample
        live::SampleEncoder other;
        taken += give(decoder,
                      live::frame_of(live::FrameKind::kSample, other.encode(3, fuzz.mutated(next))),
                      last);
      }
    }
    // A good one is taken all the same.
    if (i % 500 == 0 && !give(decoder, delta, last)) {
      std::fputs("a good packet is refused after damaged ones\n", stderr);
      return 1;
    }
  }
  std::printf("%d packets, %d of them taken\n", kPackets, taken);
  return taken < kPackets / 2 ? 0 : 1;
}
