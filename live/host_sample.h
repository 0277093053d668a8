// SPDX-License-Identifier: BSD-3-Clause
// RUN/live/HOST: the last sample of a run's processes on one host, for readers that see only the file
// system.
//
// Rewritten once a second, whole or not at all (a temporary file and a rename), with mode 0600, and
// removed when the job has ended. Layout, native byte order: kHostMagic, sequence, time (Unix ns),
// host, number of processes, and these one after the other; strings have their length first. All
// counts and lengths are 64-bit. Samples are numbered from 1, so that a reader sees which it has
// missed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "live/process_sample.h"

namespace fathom::live {

struct HostSample {
  std::string host;
  std::uint64_t sequence = 0;
  std::int64_t taken_unix_ns = 0;
  std::vector<ProcessSample> processes;
};

std::string bytes_of(const HostSample& sample);
// Safe for any bytes.
base::Result<HostSample> host_sample_of(std::string_view bytes);

class HostSampleFile {
 public:
  explicit HostSampleFile(const std::string& run);
  // Nothing happens if there are no processes yet, or no space.
  void write(const std::vector<ProcessSample>& processes);
  void remove();

 private:
  std::string folder_, path_, host_;
  std::uint64_t sequence_ = 0;
};

// The samples in RUN/live that can be read, by their files' names; of this user alone.
std::vector<HostSample> read_host_samples(const std::string& run);

}  // namespace fathom::live
