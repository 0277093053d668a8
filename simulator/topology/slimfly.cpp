// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/slimfly.h"

#include <cstddef>

#include "simulator/topology/finite_field.h"

namespace fathom::simulator {
namespace {

// By difference: whether it is in X (part 0) or X' (part 1).
std::vector<char> generators(const FiniteField& field, std::uint32_t part) {
  const std::uint32_t q = field.size();
  const std::vector<std::uint32_t>& powers = field.powers();
  const std::uint32_t half = (q + 1) / 2;  // 2w where q = 4w - 1
  std::vector<char> in(q, 0);
  for (std::uint32_t exponent = 0; exponent < q - 1; ++exponent) {
    const bool is_late = q % 4 == 3 && exponent >= half - 1;
    if ((exponent % 2 == 0) != is_late) in[powers[(exponent + part) % (q - 1)]] = 1;
  }
  return in;
}

class SlimFlyMaker {
 public:
  SlimFlyMaker(const FiniteField& field, const TopologyParameters& parameters)
      : field_(field),
        q_(field.size()),
        parameters_(parameters),
        builder_(parameters.specification()) {}

  base::Result<Network> make(std::uint32_t hosts) {
    for (std::uint32_t at = 0; at < 2 * q_ * q_; ++at) add_switch(at, hosts);
    for (std::uint32_t part = 0; part < 2; ++part) {
      const std::vector<char> linked = generators(field_, part);
      for (std::uint32_t row = 0; row < q_; ++row) link_subgroup(part, row, linked);
    }
    for (std::uint32_t x = 0; x < q_; ++x) {
      for (std::uint32_t m = 0; m < q_; ++m) {
        const std::uint32_t product = field_.multiply(m, x);
        for (std::uint32_t c = 0; c < q_; ++c)
          cable(at(0, x, field_.add(product, c)), at(1, m, c), 1);
      }
    }
    return builder_.build();
  }

 private:
  std::uint32_t at(std::uint32_t part, std::uint32_t row, std::uint32_t column) const {
    return switches_[(part * q_ + row) * q_ + column];
  }
  void cable(std::uint32_t one, std::uint32_t other, std::size_t level) {
    builder_.add_cable(one, other, parameters_.switch_capacity_Bps(level), parameters_.latency_s());
  }
  void add_switch(std::uint32_t index, std::uint32_t hosts) {
    switches_.push_back(builder_.add_switch("s" + std::to_string(index / q_ / q_) + "." +
                                            std::to_string(index / q_ % q_) + "." +
                                            std::to_string(index % q_)));
    for (std::uint32_t host = 0; host < hosts; ++host) {
      builder_.add_cable(builder_.add_host("n" + std::to_string(hosts_++), parameters_.slots()),
                         switches_.back(), parameters_.host_capacity_Bps(),
                         parameters_.latency_s());
    }
  }
  void link_subgroup(std::uint32_t part, std::uint32_t row, const std::vector<char>& linked) {
    for (std::uint32_t one = 0; one < q_; ++one) {
      for (std::uint32_t other = one + 1; other < q_; ++other) {
        if (linked[field_.subtract(other, one)]) cable(at(part, row, one), at(part, row, other), 0);
      }
    }
  }

  const FiniteField& field_;
  const std::uint32_t q_;
  const TopologyParameters& parameters_;
  NetworkBuilder builder_;
  std::vector<std::uint32_t> switches_;
  std::uint32_t hosts_ = 0;
};

}  // namespace

base::Result<Network> make_slim_fly(TopologyParameters& parameters) {
  const std::uint32_t q = parameters.count("q");
  const std::uint32_t degree = (3 * q + (q % 4 == 3 ? 1 : 0)) / 2;
  const std::uint32_t hosts = parameters.count("hosts", (degree + 1) / 2);
  if (base::Status status = parameters.finish(); !status) return status.error();
  const double switches = 2.0 * q * q;
  if (base::Status fits =
          parameters.check_size(switches * (1.0 + hosts), switches * (hosts + degree / 2.0));
      !fits)
    return fits.error();
  const auto field = q % 4 == 2 ? std::nullopt : FiniteField::of(q);
  if (!field) return parameters.error("'q' must be a prime power other than 2");
  return SlimFlyMaker(*field, parameters).make(hosts);
}

}  // namespace fathom::simulator
