// SPDX-License-Identifier: BSD-3-Clause
// The engine for custom programs: opens a run and visits it with callbacks, alone or shared with
// others.
//
//   auto engine = Engine::open("r1", transport);
//   (*engine)->on(Direction::kForward, Moment::kReceive, "late senders",
//                 [&](const Visit& at, const Step& step) { … });
//   (*engine)->run(Direction::kForward);
//
// In parallel, each analysis process owns some processes of the job (mapping()), and its callbacks
// see only those. With parallel work off, or without a transport, each analysis process does
// everything itself: results are the same everywhere, and nobody waits for another. While it is on,
// all processes must make the calls marked collective, in the same order. Threading: one thread.
// Errors are values; a process that dies ends the others (transport.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engine/causal_order.h"
#include "analysis/engine/joined_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/remote_steps.h"
#include "base/result.h"
#include "trace/reader.h"

namespace fathom::analysis {

class Engine {
 public:
  // The visit and its step; for kEnter and kLeave, the call's step.
  using Callback = std::function<void(const Visit& at, const Step& step)>;

  // `transport` must outlive this; null: work alone.
  static base::Result<std::unique_ptr<Engine>> open(const std::string& run_directory,
                                                    Transport* transport = nullptr);

  // ---- sharing the work; a change makes the job be joined again and drops fetched steps ----
  bool parallel() const { return parallel_ && shared_ != nullptr && shared_->size() > 1; }
  void set_parallel(bool on);
  void set_mapping(MappingStrategy strategy);  // for parallel work; must give each process an owner
  void set_hidden_messages(bool on);           // also the library's own messages

  const trace::Definitions& definitions() const { return trace_.definitions(); }
  // The joined job. Collective, as is everything that needs it: run(), loads(), fetch().
  base::Result<JoinedJob*> job();
  // Number of events per analysis process.
  base::Result<std::vector<std::uint64_t>> loads();

  // ---- callbacks: several per kind of moment, called in the order they were added ----
  void on(Direction direction, Moment moment, const std::string& name, Callback callback);
  bool remove(Direction direction, const std::string& name);
  // Visits own processes in causal order (causal_order.h). Returns the number of callback calls.
  // Collective the first time.
  base::Result<std::uint64_t> run(Direction direction);

  // ---- any step of any process (remote_steps.h) ----
  void want(std::uint32_t process, std::uint32_t step);
  base::Status fetch();  // collective
  void forget();         // drops what was fetched
  const Step* step(std::uint32_t process, std::uint32_t number) const;

  // ---- communication ----
  std::size_t rank() { return transport().rank(); }
  void barrier() { transport().barrier(); }  // collective
  // All rows at process 0; nothing elsewhere. Collective.
  template <typename Row>
  std::vector<Row> gather(const std::vector<Row>& rows) {
    return gathered(transport(), rows);
  }

 private:
  struct Named {
    Direction direction;
    Moment moment;
    std::string name;
    Callback callback;
  };

  Engine(trace::Trace trace, Transport* transport) : trace_(std::move(trace)), shared_(transport) {}
  Transport& transport() { return parallel() ? *shared_ : alone_; }
  void start_anew();

  trace::Trace trace_;
  Transport* shared_;
  SingleProcess alone_;
  bool parallel_ = true;
  JoinOptions options_;
  std::unique_ptr<JoinedJob> job_;
  std::unique_ptr<RemoteSteps> remote_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted_;  // noted before the job is joined
  std::vector<Named> callbacks_;
};

}  // namespace fathom::analysis
