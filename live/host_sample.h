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
#include <optional>
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

// What a sample says of itself; nothing if its bytes are damaged.
struct SampleDescription {
  std::string host;
  std::uint64_t sequence = 0;
};
std::optional<SampleDescription> described_host_sample(std::string_view bytes);

// Of this host; its processes were sampled just now.
HostSample next_host_sample(std::uint64_t sequence, std::vector<ProcessSample> processes);

class HostSampleFile {
 public:
  explicit HostSampleFile(const std::string& run);
  // `sample`: bytes of a sample. Nothing happens if there is no space.
  void write(std::string_view sample);
  void remove();

 private:
  std::string folder_, path_;
  bool is_written_ = false;
};

// RUN/live/+hosts: samples of several hosts that `fathom run` has received from there, written in the
// same way. Layout: kHostsMagic, then for each sample a length (64 bits) and a Zstandard frame.
class CollectedSamplesFile {
 public:
  explicit CollectedSamplesFile(const std::string& run);
  void write(const std::vector<std::string_view>& samples);
  void remove();

 private:
  std::string folder_, path_, compressed_;
  bool is_written_ = false;
};

// RUN/live/details.asked: a reader touches it each time that it wants more than summaries of a large
// job. It goes with the file of the collected samples.
void ask_for_details(const std::string& run);
// When somebody last did, by the file system's clock; 0: never.
std::int64_t details_asked_ns(const std::string& run);

// Whether RUN/live has a file of another host than this one.
bool has_samples_of_others(const std::string& run);

// The samples in RUN/live that can be read, the last one of each host; of this user alone.
std::vector<HostSample> read_host_samples(const std::string& run);

}  // namespace fathom::live
