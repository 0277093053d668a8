// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/jobs/distributions.h"

#include <cmath>
#include <numbers>

#include "base/named_rows.h"

namespace fathom::simulator {
namespace {

using Complaint = DistributionRow::Complaint;

Complaint at_least_zero(const Parameters& p) {
  return p[0] >= 0 ? Complaint{} : Complaint{0, "must be 0 or more"};
}

Complaint above_zero(const Parameters& p) {
  return p[0] > 0 ? Complaint{} : Complaint{0, "must be above 0"};
}

Complaint both_above_zero(const Parameters& p) {
  if (!(p[0] > 0)) return {0, "must be above 0"};
  return p[1] > 0 ? Complaint{} : Complaint{1, "must be above 0"};
}

Complaint ordered(const Parameters& p) {
  if (!(p[0] >= 0)) return {0, "must be 0 or more"};
  return p[1] >= p[0] ? Complaint{} : Complaint{1, "must not be below 'low'"};
}

double exponential(double rate, base::Random& random) { return -std::log1p(-random.unit()) / rate; }

// Box and Muller. The second number is discarded so that a sample always takes two draws.
double normal(base::Random& random) {
  const double radius = std::sqrt(-2 * std::log1p(-random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

constexpr DistributionRow kDistributions[] = {
    {"constant",
     "always value",
     {"value", nullptr},
     at_least_zero,
     [](const Parameters& p, base::Random&) { return p[0]; }},
    {"exponential",
     "exponential with rate per second, mean 1 / rate",
     {"rate", nullptr},
     above_zero,
     [](const Parameters& p, base::Random& random) { return exponential(p[0], random); }},
    {"uniform",
     "even between low and high",
     {"low", "high"},
     ordered,
     [](const Parameters& p, base::Random& random) {
       return p[0] + (p[1] - p[0]) * random.unit();
     }},
    {"lognormal",
     "its logarithm is normal: median, and sigma of the logarithm",
     {"median", "sigma"},
     both_above_zero,
     [](const Parameters& p, base::Random& random) {
       return p[0] * std::exp(p[1] * normal(random));
     }},
    {"weibull",
     "Weibull with scale and shape",
     {"scale", "shape"},
     both_above_zero,
     [](const Parameters& p, base::Random& random) {
       return p[0] * std::pow(exponential(1, random), 1 / p[1]);
     }},
};

}  // namespace

std::span<const DistributionRow> distributions() { return kDistributions; }

base::Result<const DistributionRow*> find_distribution(std::string_view name) {
  return base::find_row(distributions(), "distribution", name);
}

Distribution constant(double value) { return {&kDistributions[0], {value, 0}}; }

}  // namespace fathom::simulator
