// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/transfer_model.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "analysis/engine/parcels.h"
#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

// Messages of similar size and duration, so that a median needs no list of all messages.
struct Bin {
  std::uint32_t size = 0, duration = 0;
  std::uint64_t count = 0, bytes = 0, ns = 0;
};

std::uint32_t size_bin(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(bytes));
}

// 16 bins per octave: medians are accurate to 6 %.
std::uint32_t duration_bin(std::uint64_t ns) {
  if (ns < 16) return static_cast<std::uint32_t>(ns);
  const int octave = std::bit_width(ns) - 5;
  return static_cast<std::uint32_t>(octave * 16) + static_cast<std::uint32_t>(ns >> octave);
}

std::vector<Bin> measure(JoinedJob& job) {
  StepFile& steps = job.steps();
  base::FlatMap<std::uint64_t, Bin> bins;
  for (const std::uint32_t process : job.own()) {
    for (std::uint32_t number = 0; number < steps.size(process); ++number) {
      if (number % StepFile::kBlockSteps == 0) steps.touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.kind != StepKind::kReceive || !step.has(kJoined) || step.has(kHidden)) continue;
      if (step.call == kNobody || step.posted == kNobody || step.time_ns <= step.end_ns) continue;
      if (steps.at(process, step.call).time_ns > step.end_ns ||
          steps.at(process, step.posted).time_ns > step.end_ns)
        continue;
      const std::uint64_t ns = step.time_ns - step.end_ns;
      Bin& bin = bins[std::uint64_t{size_bin(step.bytes)} << 32 | duration_bin(ns)];
      bin.size = size_bin(step.bytes);
      bin.duration = duration_bin(ns);
      ++bin.count;
      bin.bytes += step.bytes;
      bin.ns += ns;
    }
  }
  std::vector<Bin> all;
  bins.for_each([&](std::uint64_t, const Bin& bin) { all.push_back(bin); });
  return all;
}

struct Point {
  double bytes = 0, ns = 0;
};

// For each size, the bin with the median.
std::vector<Point> medians(const std::map<std::uint32_t, std::map<std::uint32_t, Bin>>& sizes) {
  std::vector<Point> points;
  for (const auto& [size, durations] : sizes) {
    std::uint64_t count = 0, before = 0;
    for (const auto& [duration, bin] : durations) count += bin.count;
    for (const auto& [duration, bin] : durations) {
      before += bin.count;
      if (2 * before < count) continue;
      points.push_back({static_cast<double>(bin.bytes) / static_cast<double>(bin.count),
                        static_cast<double>(bin.ns) / static_cast<double>(bin.count)});
      break;
    }
  }
  return points;
}

// Least squares of (alpha + beta bytes - ns) / ns.
void fit(const std::vector<Point>& points, TransferModel& model) {
  double w = 0, x = 0, xx = 0, y = 0, xy = 0;
  for (const Point& point : points) {
    const double weight = 1 / (point.ns * point.ns);
    w += weight;
    x += weight * point.bytes;
    xx += weight * point.bytes * point.bytes;
    y += weight * point.ns;
    xy += weight * point.bytes * point.ns;
  }
  if (points.empty()) return;
  const double determinant = w * xx - x * x;
  if (points.size() > 1 && determinant > 0) {
    model.alpha_ns = (y * xx - x * xy) / determinant;
    model.beta_ns_per_byte = (w * xy - x * y) / determinant;
  }
  if (points.size() == 1 || model.beta_ns_per_byte < 0) {
    model.alpha_ns = y / w;
    model.beta_ns_per_byte = 0;
  } else if (model.alpha_ns < 0) {
    model.alpha_ns = 0;
    model.beta_ns_per_byte = xy / xx;
  }
}

}  // namespace

TransferModel fit_transfers(JoinedJob& job) {
  Parcels parcels(job.transport().size());
  for (const Bin& bin : measure(job)) {
    for (std::size_t to = 0; to < job.transport().size(); ++to) parcels.send(to, 0, bin);
  }
  TransferModel model;
  std::map<std::uint32_t, std::map<std::uint32_t, Bin>> sizes;
  for (const Transport::Bytes& bytes : job.transport().exchange(parcels.take())) {
    for (Received received(bytes); received.more();) {
      received.kind();
      const auto bin = received.take<Bin>();
      Bin& sum = sizes[bin.size][bin.duration];
      sum.count += bin.count;
      sum.bytes += bin.bytes;
      sum.ns += bin.ns;
      model.messages += bin.count;
    }
  }
  fit(medians(sizes), model);
  return model;
}

}  // namespace fathom::analysis
