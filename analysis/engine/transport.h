// SPDX-License-Identifier: BSD-3-Clause
// How the processes of one analysis communicate, if there are several: mpirun -n P fathom analyze
// RUN.
//
// All operations are collective: every process calls them in the same order. Data are bytes in this
// machine's format. A process that dies ends all of them (mpirun does that), so none waits for a
// dead one.
#pragma once

#include <barrier>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fathom::analysis {

class Transport {
 public:
  using Bytes = std::vector<char>;

  virtual ~Transport() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;

  // Sends outgoing[i] to process i and returns what each process sent to this one. begin() returns
  // at once, finish() when everything has arrived. One exchange at a time. outgoing[rank()] comes
  // back unchanged.
  virtual void begin_exchange(std::vector<Bytes> outgoing) = 0;
  virtual std::vector<Bytes> finish_exchange() = 0;
  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) {
    begin_exchange(std::move(outgoing));
    return finish_exchange();
  }

  virtual void barrier() = 0;

  // At process 0 what all sent, by process; nothing elsewhere.
  std::vector<Bytes> gather(Bytes bytes);
};

// How many threads an analysis process should use: several such processes share the processors already.
std::size_t threads_of(const Transport& transport);

// A single process.
class SingleProcess : public Transport {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void begin_exchange(std::vector<Bytes> outgoing) override { outgoing_ = std::move(outgoing); }
  std::vector<Bytes> finish_exchange() override { return std::move(outgoing_); }
  void barrier() override {}

 private:
  std::vector<Bytes> outgoing_;
};

// Threads of one process that share an analysis as its processes would. Each has one Member, made before the
// threads begin; the group outlives them.
class ThreadGroup {
 public:
  explicit ThreadGroup(std::size_t threads)
      : boxes_(threads, std::vector<Transport::Bytes>(threads)),
        meeting_(static_cast<std::ptrdiff_t>(threads)) {}

  class Member : public Transport {
   public:
    Member(ThreadGroup& group, std::size_t number) : group_(group), number_(number) {}

    std::size_t rank() const override { return number_; }
    std::size_t size() const override { return group_.boxes_.size(); }
    void begin_exchange(std::vector<Bytes> outgoing) override {
      group_.boxes_[number_] = std::move(outgoing);
      arrived_ = group_.meeting_.arrive();
    }
    std::vector<Bytes> finish_exchange() override {
      group_.meeting_.wait(std::move(*arrived_));
      arrived_.reset();
      std::vector<Bytes> incoming;
      for (auto& box : group_.boxes_) incoming.push_back(std::move(box[number_]));
      barrier();  // nobody fills a box that another still empties
      return incoming;
    }
    void barrier() override { group_.meeting_.arrive_and_wait(); }

   private:
    ThreadGroup& group_;
    const std::size_t number_;
    std::optional<std::barrier<>::arrival_token> arrived_;
  };

 private:
  std::vector<std::vector<Transport::Bytes>> boxes_;  // by sender, then by receiver
  std::barrier<> meeting_;
};

}  // namespace fathom::analysis
