// SPDX-License-Identifier: BSD-3-Clause
// RUN/.collector: where `fathom run --live` takes samples from a job's other hosts, and the token that
// proves on both sides that the other may read this file.
//
// Mode 0600; removed when the job has ended. Text: "fathom-collector 1", "token HEX", "port N",
// "summaries-above RANKS" and "address A" once for each address of the host, IPv4 or IPv6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/sha256.h"
#include "base/result.h"

namespace fathom::live {

inline constexpr std::uint32_t kSummariesAbove = 4096;

struct CollectorAddress {
  std::string token;  // 32 random bytes
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
  std::uint32_t summaries_above = kSummariesAbove;  // ranks of a job
};

// 32 bytes nobody can guess; empty if the system has none.
std::string random_bytes();

base::Status write_collector_address(const std::string& run, const CollectorAddress& address);
// An Error if there is none, or if others may read or have made it.
base::Result<CollectorAddress> read_collector_address(const std::string& run);
void remove_collector_address(const std::string& run);

// What each side sends to prove that it knows the token: HMAC-SHA-256 of the side and both sides'
// random bytes, so that no proof can be used again, or sent back to its origin.
enum class Side : char { kHost = 'h', kCollector = 'c' };
base::Digest proof_of(std::string_view token, Side side, std::string_view collectors_bytes,
                      std::string_view hosts_bytes);

}  // namespace fathom::live
