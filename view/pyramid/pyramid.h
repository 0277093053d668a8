// SPDX-License-Identifier: BSD-3-Clause
// The pyramid of a run: read from RUN/view if it is there and the trace is still the same, else built in the
// background and kept there (in a temporary folder if the run may not be written).
//
// Threading: any thread may ask while it is built.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "view/pyramid/builder.h"
#include "view/pyramid/layer.h"
#include "view/viewed_run.h"

namespace fathom::view {

class Pyramid {
 public:
  // `run`: a traced one, which must outlive this. Begins at once.
  Pyramid(ViewedRun& run, analysis::LoadedRun& loaded);
  ~Pyramid();  // stops

  const Geometry& geometry() const { return geometry_; }

  // nullptr: not ready.
  std::shared_ptr<const Layer> calls() const;
  std::shared_ptr<const Layer> waits() const;

  // The joined trace can be asked about: raw calls with their waits, and messages.
  bool is_joined() const { return joined_; }

  struct Progress {
    const char* what = "";
    double share = 0;
  };
  Progress progress() const;
  std::string problem() const;  // why it cannot be built; empty: it can, or was

  // From here on, no file is half written; the object is good for nothing else. For a process that ends at once.
  void abandon();

 private:
  enum Stage { kCalling, kJoining, kWaiting };

  void build();
  void build_layers();
  bool build_calls(unsigned threads);    // false: it failed
  bool fails(const base::Status& done);  // notes why
  std::string place(const char* name) const;
  std::shared_ptr<const Layer> kept(const char* name, std::uint32_t columns) const;
  void publish(std::shared_ptr<const Layer>& where, std::shared_ptr<const Layer> layer);

  ViewedRun& run_;
  analysis::LoadedRun& loaded_;
  const std::string directory_;
  const std::uint64_t identity_;
  Geometry geometry_;
  std::string folder_, temporary_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Layer> calls_, waits_;
  std::string problem_;
  std::atomic<bool> joined_ = false;
  std::atomic<Stage> stage_ = kCalling;
  BuildState state_;
  std::thread thread_;
};

}  // namespace fathom::view
