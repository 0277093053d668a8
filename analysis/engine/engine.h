// SPDX-License-Identifier: BSD-3-Clause
// The engine for programs of one's own: opens a run, goes through it with callbacks, alone or
// shared with others.
//
//   auto engine = Engine::open("r1", transport);
//   (*engine)->on(Direction::kForward, Moment::kReceive, "late senders", [&](const Visit& at, const Step& step) { … });
//   (*engine)->run(Direction::kForward);
//
// In parallel each analysis process looks after some processes of the job (mapping()) and is called
// back for those. Switched off, or without a transport, each does all of it by itself: then results
// are the same at every process, and no process waits for another. Calls marked collective are made
// by all in the same order while it is on. Threading: one thread. Errors are values; a process that
// dies ends the others (transport.h).
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
  // What came up, and its step: of kEnter and kLeave the call's.
  using Callback = std::function<void(const Visit& at, const Step& step)>;

  // `transport` outlives this; none: alone.
  static base::Result<std::unique_ptr<Engine>> open(const std::string& run_directory,
                                                    Transport* transport = nullptr);

  // ---- how the work is shared; a change lets the job be joined anew, and forgets the steps of
  // others ----
  bool parallel() const { return parallel_ && shared_ != nullptr && shared_->size() > 1; }
  void set_parallel(bool on);
  void set_mapping(MappingStrategy strategy);  // for parallel work; must give each process an owner
  void set_hidden_messages(bool on);           // the library's own messages too

  const trace::Definitions& definitions() const { return trace_.definitions(); }
  // The job joined. Collective, as whatever needs it: run(), loads(), fetch().
  base::Result<JoinedJob*> job();
  // Events by analysis process, as they are shared out.
  base::Result<std::vector<std::uint64_t>> loads();

  // ---- callbacks, several for each kind of moment, in the order in which they were named ----
  void on(Direction direction, Moment moment, const std::string& name, Callback callback);
  bool remove(Direction direction, const std::string& name);
  // Own processes in causal order (causal_order.h). How many callbacks were called. Collective the
  // first time.
  base::Result<std::uint64_t> run(Direction direction);

  // ---- any step of any process (remote_steps.h) ----
  void want(std::uint32_t process, std::uint32_t step);
  base::Status fetch();  // collective
  void forget();         // what was fetched
  const Step* step(std::uint32_t process, std::uint32_t number) const;

  // ---- together ----
  std::size_t rank() { return transport().rank(); }
  void barrier() { transport().barrier(); }  // collective
  // At process 0 the rows of all; elsewhere none. Collective.
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted_;  // before the job was joined
  std::vector<Named> callbacks_;
};

}  // namespace fathom::analysis
