// SPDX-License-Identifier: BSD-3-Clause
// Communication between the processes of `mpirun -n P fathom analyze RUN` by MPI. A separate
// library that the tool loads only then (cli/launch/parallel.h), so that fathom runs where MPI is
// not installed.
//
// A batch's size and first kilobytes go in one message, so that the many small exchanges of
// dependent processes cost one latency each; the rest follows, beyond 1 GiB in pieces. MPI's
// default error handler, MPI_ERRORS_ARE_FATAL, ends all processes.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "analysis/engine/transport.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30;
constexpr std::size_t kFirstBytes =
    2048;  // with its header below the eager limits of Open MPI's transports
constexpr int kFirstTag = 1, kRestTag = 2;

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTransport() override { MPI_Finalize(); }

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void begin_exchange(std::vector<Bytes> outgoing) override {
    outgoing_ = std::move(outgoing);
    first_.resize(2 * size());
    for (std::size_t other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      First& in = first_[2 * other];
      MPI_Irecv(&in, sizeof in, MPI_BYTE, static_cast<int>(other), kFirstTag, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    for (std::size_t other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      Bytes& bytes = outgoing_[other];
      First& out = first_[2 * other + 1];
      out.bytes = bytes.size();
      const std::size_t here = std::min(bytes.size(), sizeof out.begin);
      std::memcpy(out.begin, bytes.data(), here);
      MPI_Isend(&out, static_cast<int>(offsetof(First, begin) + here), MPI_BYTE,
                static_cast<int>(other), kFirstTag, MPI_COMM_WORLD, &requests_.emplace_back());
      rest_of(bytes, [&](char* begin, int size) {
        MPI_Isend(begin, size, MPI_BYTE, static_cast<int>(other), kRestTag, MPI_COMM_WORLD,
                  &rest_.emplace_back());
      });
    }
  }

  std::vector<Bytes> finish_exchange() override {
    wait_for(requests_);
    std::vector<Bytes> incoming(size());
    for (std::size_t other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      const First& in = first_[2 * other];
      incoming[other].resize(in.bytes);
      std::memcpy(incoming[other].data(), in.begin,
                  std::min<std::size_t>(in.bytes, sizeof in.begin));
      rest_of(incoming[other], [&](char* begin, int size) {
        MPI_Irecv(begin, size, MPI_BYTE, static_cast<int>(other), kRestTag, MPI_COMM_WORLD,
                  &rest_.emplace_back());
      });
    }
    wait_for(rest_);
    incoming[rank()] = std::move(outgoing_[rank()]);
    outgoing_.clear();
    return incoming;
  }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  struct First {
    std::uint64_t bytes = 0;  // of the whole batch
    char begin[kFirstBytes];
  };

  // Transfers what did not fit into the first message.
  template <typename Each>
  static void rest_of(Bytes& bytes, Each each) {
    for (std::size_t at = kFirstBytes; at < bytes.size(); at += kPiece) {
      each(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)));
    }
  }

  static void wait_for(std::vector<MPI_Request>& requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    requests.clear();
  }

  int rank_ = 0, size_ = 1;
  std::vector<Bytes> outgoing_;
  std::vector<First> first_;  // by process: incoming, outgoing
  std::vector<MPI_Request> requests_, rest_;
};

}  // namespace
}  // namespace fathom::analysis

extern "C" fathom::analysis::Transport* fathom_mpi_transport() {
  return new fathom::analysis::MpiTransport;
}
