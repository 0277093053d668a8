// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/npz.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/common/archive_file.h"
#include "profile/pair_sums.h"

namespace fathom::exporters {
namespace {

using profile::PairCount;

// One array in NumPy's format 1.0: magic, header length, a Python literal padded with blanks so
// that the data begin at a multiple of 64, then the data (documented in numpy.lib.format).
std::string npy(std::string_view type, std::string_view shape, std::string_view data) {
  std::string header = "{'descr': '";
  header.append(type).append("', 'fortran_order': False, 'shape': ").append(shape).append(", }");
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  const std::size_t unpadded = kPrefix + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ').append("\n");
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes.append(header).append(data);
}

// `type` describes Number as little-endian, like every machine that Fathom runs on.
template <typename Number>
std::string npy(std::string_view type, const std::vector<Number>& numbers) {
  std::string shape = "(";
  shape.append(std::to_string(numbers.size())).append(",)");
  return npy(type, shape,
             {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

std::vector<std::int64_t> row_starts(const std::vector<PairCount>& pairs, std::int64_t ranks) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(ranks) + 1, 0);
  for (const PairCount& pair : pairs) ++starts[static_cast<std::size_t>(pair.source) + 1];
  for (std::size_t row = 1; row < starts.size(); ++row) starts[row] += starts[row - 1];
  return starts;
}

std::string column(const std::vector<PairCount>& pairs, Metric metric) {
  std::vector<std::uint64_t> values;
  values.reserve(pairs.size());
  for (const PairCount& pair : pairs) values.push_back(profile::by(metric, pair));
  return npy("<u8", values);
}

std::string destinations(const std::vector<PairCount>& pairs) {
  std::vector<std::int64_t> values;
  values.reserve(pairs.size());
  for (const PairCount& pair : pairs) values.push_back(pair.destination);
  return npy("<i8", values);
}

}  // namespace

base::Status export_npz(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes&) {
  if (auto status = check_rank_count(profile, kMostListedRanks, "npz"); !status) return status;
  ArchiveFile file;
  base::Status status = file.open(path, options, ArchiveFile::Format::kStoredZip);
  const auto add = [&](const char* name, const std::string& bytes) {
    if (status) status = file.add(name, bytes);
  };
  const std::int64_t ranks = profile::rank_count(profile);
  const std::vector<PairCount> pairs = profile::sum_pairs(profile, options.selection);
  add("format.npy", npy("|S3", "()", "csr"));
  add("shape.npy", npy("<i8", std::vector<std::int64_t>{ranks, ranks}));
  add("indptr.npy", npy("<i8", row_starts(pairs, ranks)));
  add("indices.npy", destinations(pairs));
  add("data.npy", column(pairs, options.metric));
  add("bytes.npy", column(pairs, Metric::kBytes));
  add("messages.npy", column(pairs, Metric::kMessages));
  return status ? file.commit() : status;
}

}  // namespace fathom::exporters
