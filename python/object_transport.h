// SPDX-License-Identifier: BSD-3-Clause
// Connects the processes of an analysis through an mpi4py communicator: comm.Get_rank(),
// Get_size(), alltoall() of bytes, Barrier(). Python handles MPI; nothing here depends on it.
//
// Analyses run with the interpreter lock released; each operation acquires it. A Python error
// passes through as an exception.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/engine/transport.h"

namespace fathom::python {

class ObjectTransport : public analysis::Transport {
 public:
  explicit ObjectTransport(pybind11::object comm)
      : comm_(std::move(comm)),
        rank_(comm_.attr("Get_rank")().cast<std::size_t>()),
        size_(comm_.attr("Get_size")().cast<std::size_t>()) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }

  void begin_exchange(std::vector<Bytes> outgoing) override { outgoing_ = std::move(outgoing); }
  std::vector<Bytes> finish_exchange() override {
    const pybind11::gil_scoped_acquire locked;
    pybind11::list sent;
    for (const Bytes& bytes : outgoing_) sent.append(pybind11::bytes(bytes.data(), bytes.size()));
    outgoing_.clear();
    std::vector<Bytes> received;
    for (const auto& entry : comm_.attr("alltoall")(sent)) {
      const std::string bytes = entry.cast<std::string>();
      received.emplace_back(bytes.begin(), bytes.end());
    }
    return received;
  }

  void barrier() override {
    const pybind11::gil_scoped_acquire locked;
    comm_.attr("Barrier")();
  }

 private:
  pybind11::object comm_;
  const std::size_t rank_, size_;
  std::vector<Bytes> outgoing_;
};

}  // namespace fathom::python
