// SPDX-License-Identifier: BSD-3-Clause
// Statistics over time of a quantity that stays constant until it changes.
//
//     mean = 1 / (t_end - t_0)  sum_i v_i (t_{i+1} - t_i),   t_end the time given to finish()
//
// t_0 is the time of the first change(), which need not be 0; the last value counts until t_end. A
// value held for no time counts only for min() and max(). Threading: one thread at a time. Cost:
// O(1) per change.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulator {

class TimeWeighted {
 public:
  // From `at_s` on, the value is `value`. Times never decrease.
  void change(double at_s, double value) {
    finish(at_s);
    value_ = value;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  // The last value held until `at_s`. More changes may follow.
  void finish(double at_s) {
    if (seen_) {  // mean and sum of squares in one pass: D. West, CACM 22(9), 1979
      const double lasted_s = at_s - since_s_;
      if (lasted_s > 0) {
        total_s_ += lasted_s;
        const double before = value_ - mean_;
        mean_ += before * lasted_s / total_s_;
        squares_ += lasted_s * before * (value_ - mean_);
      }
    }
    seen_ = true;
    since_s_ = at_s;
  }

  double mean() const { return total_s_ > 0 ? mean_ : value_; }
  double deviation() const { return total_s_ > 0 ? std::sqrt(squares_ / total_s_) : 0; }
  double min() const { return seen_ ? min_ : 0; }
  double max() const { return seen_ ? max_ : 0; }

 private:
  bool seen_ = false;
  double since_s_ = 0, value_ = 0, total_s_ = 0, mean_ = 0, squares_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace fathom::simulator
