// SPDX-License-Identifier: BSD-3-Clause
// Which operations a send inside a collective depends on.
#include "trace/join/operations.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fathom::trace {
namespace {

// Numbers operations, and remembers which require which.
class Recorded : public OperationSink {
 public:
  Label compute(const Place&, std::uint64_t) override { return add("compute"); }
  Label transfer(const Place&, const Event& message) override {
    return add((message.kind == EventKind::kMessageSent ? "to " : "from ") +
               std::to_string(message.peer));
  }
  void require(Label label, Label earlier) override { before_.at(label - 1).insert(earlier); }
  void require_started(Label label, Label earlier) override { begun_.insert({label, earlier}); }

  bool requires_start_of(const std::string& name, const std::string& other) const {
    return begun_.contains({find(name), find(other)});
  }
  // Whether the operation of this name requires that one, over any number of others.
  bool requires_all_of(const std::string& name, const std::string& other) const {
    return reaches(find(name), find(other));
  }

 private:
  Label add(std::string name) {
    names_.push_back(std::move(name));
    before_.emplace_back();
    return names_.size();
  }
  Label find(const std::string& name) const {
    for (Label label = 1; label <= names_.size(); ++label) {
      if (names_[label - 1] == name) return label;
    }
    FAIL("no operation '" << name << "'");
    return kNone;
  }
  bool reaches(Label from, Label to) const {
    if (from == to) return true;
    for (const Label label : before_[from - 1]) {
      if (reaches(label, to)) return true;
    }
    return false;
  }

  std::vector<std::string> names_;
  std::vector<std::set<Label>> before_;
  std::set<std::pair<Label, Label>> begun_;
};

// One collective of one process, event by event.
class Collective {
 public:
  explicit Collective(const char* name) {
    definitions_.classes = {"point-to-point", name};
    visitor_ = std::make_unique<OperationVisitor>(sink_, definitions_,
                                                  [](const Message&) { return true; });
    visitor_->enter(place_, call_);
  }
  Collective& post(bool is_there) {  // a receive
    step(TransferStep::kActivate);
    if (is_there) step(TransferStep::kMatchedUnexpected);
    return *this;
  }
  Collective& arrives(int peer, bool was_posted) {
    if (was_posted) step(TransferStep::kMatchedExpected);
    return message(EventKind::kMessageReceived, peer);
  }
  Collective& sends(int peer) { return message(EventKind::kMessageSent, peer); }
  // The next call begins some time later.
  const Recorded& done_and_computed() {
    call_.leave.time_ns = 10;
    visitor_->leave(place_, call_);
    Call next;
    next.enter.time_ns = 20;
    visitor_->enter(place_, next);
    return sink_;
  }
  const Recorded& done() {
    visitor_->leave(place_, call_);
    return sink_;
  }

 private:
  void step(TransferStep step) {
    Event event;
    event.kind = EventKind::kTransfer;
    event.code = static_cast<std::uint32_t>(step);
    event.receiving = true;
    visitor_->other(place_, event);
  }
  Collective& message(EventKind kind, int peer) {
    Message message;
    message.event.kind = kind;
    message.event.peer = peer;
    message.event.code = 1;
    message.hidden = true;
    message.inside = &call_;
    visitor_->message(place_, message);
    return *this;
  }

  Definitions definitions_;
  Recorded sink_;
  std::unique_ptr<OperationVisitor> visitor_;
  Place place_;
  Call call_;
};

TEST_CASE("a late rank that finds its messages does not send because of them") {
  Collective linear("MPI_Alltoall");
  linear.post(true).arrives(1, false).post(false).post(true).arrives(3, false);
  const Recorded& all = linear.sends(1).sends(2).sends(3).arrives(2, true).done();
  for (const char* send : {"to 1", "to 2", "to 3"}) {
    for (const char* receive : {"from 1", "from 3"})
      CHECK_FALSE(all.requires_all_of(send, receive));
  }
}

TEST_CASE("each step of an exchange requires the one before") {
  Collective pairwise("MPI_Allreduce");
  pairwise.post(true).arrives(1, false).sends(1);  // found, then sent: an exchange
  pairwise.post(false).sends(2).arrives(2, true);  // waited for
  const Recorded& all = pairwise.post(true).arrives(3, false).sends(3).done();
  CHECK_FALSE(all.requires_all_of("to 1", "from 1"));
  CHECK(all.requires_all_of("to 2", "from 1"));
  CHECK(all.requires_all_of("to 3", "from 2"));
  CHECK_FALSE(all.requires_all_of("to 3", "from 3"));
}

TEST_CASE("what a tree passes on was received, found or waited for before") {
  for (const bool is_there : {true, false}) {
    Collective tree("MPI_Bcast");
    const Recorded& all = tree.post(is_there).arrives(0, !is_there).sends(1).sends(2).done();
    CHECK(all.requires_all_of("to 1", "from 0"));
    CHECK(all.requires_all_of("to 2", "from 0"));
  }
}

// Otherwise two ranks that send each other a long message in one collective and receive it in a
// later call would wait for each other's receive.
TEST_CASE("what a non-blocking collective sends is begun and not waited for") {
  for (const char* name : {"MPI_Ialltoall", "MPI_Alltoall"}) {
    Collective collective(name);
    collective.sends(1);
    const Recorded& all = collective.done_and_computed();
    const bool is_blocking = name == std::string("MPI_Alltoall");
    CHECK(all.requires_all_of("compute", "to 1") == is_blocking);
    CHECK(all.requires_start_of("compute", "to 1") == !is_blocking);
  }
}

TEST_CASE("without the steps of transfers, everything received before counts") {
  Collective unknown("MPI_Alltoall");
  CHECK(unknown.arrives(1, false).sends(2).done().requires_all_of("to 2", "from 1"));
}

}  // namespace
}  // namespace fathom::trace
