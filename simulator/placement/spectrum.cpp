// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace fathom::simulator {
namespace {

class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), values_(size * size, 0) {}
  double* operator[](std::size_t row) { return values_.data() + row * size_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

struct Tridiagonal {
  std::vector<double> diagonal, beside;  // beside[i] joins i and i + 1
};

// Householder reflections, starting with the first column: A <- A - v w^T - w v^T in the rest.
Tridiagonal reduced(Matrix& a) {
  const std::size_t n = a.size();
  Tridiagonal result{std::vector<double>(n), std::vector<double>(n, 0)};
  std::vector<double> v(n), w(n);
  for (std::size_t k = 0; k + 2 < n; ++k) {
    double norm = 0;
    for (std::size_t i = k + 1; i < n; ++i) norm += a[k][i] * a[k][i];
    norm = std::sqrt(norm);
    if (norm == 0) continue;
    const double alpha = a[k][k + 1] > 0 ? -norm : norm;
    for (std::size_t i = k + 1; i < n; ++i) v[i] = a[k][i];
    v[k + 1] -= alpha;
    const double square = 2 * (norm * norm - alpha * a[k][k + 1]);  // squared length of v
    double along = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      w[i] = 2 / square *
             std::inner_product(a[i] + k + 1, a[i] + n,
                                v.begin() + static_cast<std::ptrdiff_t>(k) + 1, 0.0);
      along += w[i] * v[i];
    }
    for (std::size_t i = k + 1; i < n; ++i) w[i] -= along / square * v[i];
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j < n; ++j) a[i][j] -= v[i] * w[j] + w[i] * v[j];
    }
    a[k][k + 1] = alpha;
  }
  for (std::size_t i = 0; i < n; ++i) {
    result.diagonal[i] = a[i][i];
    if (i + 1 < n) result.beside[i] = a[i][i + 1];
  }
  return result;
}

// One QL sweep with implicit shift on rows first..last.
void sweep(Tridiagonal& t, std::size_t first, std::size_t last) {
  std::vector<double>&d = t.diagonal, &e = t.beside;
  double g = (d[first + 1] - d[first]) / (2 * e[first]);
  double r = std::hypot(g, 1.0);
  g = d[last] - d[first] + e[first] / (g + std::copysign(r, g));
  double s = 1, c = 1, p = 0;
  for (std::size_t i = last; i-- > first;) {
    double f = s * e[i];
    const double b = c * e[i];
    e[i + 1] = r = std::hypot(f, g);
    if (r == 0) {  // the matrix splits here: start again
      d[i + 1] -= p;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0;
}

}  // namespace

std::vector<double> laplacian_spectrum(const RankGraph& graph) {
  Matrix matrix(graph.rank_count());
  for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
    matrix[rank][rank] = graph.total(rank);
    for (const RankGraph::Neighbour& edge : graph.of(rank)) matrix[rank][edge.rank] = -edge.bytes;
  }
  Tridiagonal t = reduced(matrix);
  constexpr double kSmall = std::numeric_limits<double>::epsilon();
  double largest = 0;
  for (const double value : t.diagonal) largest = std::max(largest, std::abs(value));
  for (std::size_t first = 0; first < t.diagonal.size(); ++first) {
    for (int tries = 0; tries < 100; ++tries) {
      std::size_t last = first;
      while (last + 1 < t.diagonal.size() &&
             std::abs(t.beside[last]) >
                 kSmall * (std::abs(t.diagonal[last]) + std::abs(t.diagonal[last + 1]) +
                           kSmall * largest)) {
        ++last;
      }
      if (last == first) break;
      sweep(t, first, last);
    }
  }
  std::sort(t.diagonal.begin(), t.diagonal.end());
  return t.diagonal;
}

double cut_bound(const std::vector<double>& spectrum, std::vector<std::size_t> sizes) {
  std::sort(sizes.rbegin(), sizes.rend());
  const std::size_t places = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  const std::size_t free = places - std::min(places, spectrum.size());
  if (spectrum.empty()) return 0;
  // Computed eigenvalues are off by some roundings of the largest. What is not clearly above zero, as
  // where groups of ranks do not communicate, gives no bound.
  const double error = static_cast<double>(spectrum.size()) *
                       std::numeric_limits<double>::epsilon() * spectrum.back();
  double sum = 0;
  for (std::size_t part = free; part < sizes.size() && part - free < spectrum.size(); ++part) {
    sum += static_cast<double>(sizes[part]) * std::max(0.0, spectrum[part - free] - error);
  }
  return sum / 2 * (1 - 1e-9);  // margin for rounding
}

}  // namespace fathom::simulator
