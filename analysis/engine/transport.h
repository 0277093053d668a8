// SPDX-License-Identifier: BSD-3-Clause
// How the processes of one analysis communicate, if there are several: mpirun -n P fathom analyze
// RUN.
//
// All operations are collective: every process calls them in the same order. Data are bytes in this
// machine's format. A process that dies ends all of them (mpirun does that), so none waits for a
// dead one.
#pragma once

#include <cstddef>
#include <memory>
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

}  // namespace fathom::analysis
