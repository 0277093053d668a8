// The processes of `mpirun -n P fathom analyze RUN`, by MPI: a library of its own, which the tool loads only there
// (analysis/parallel.h), so that fathom runs where no MPI is installed.
//
// Batches beyond 2 GiB go in pieces. MPI's own error handler, MPI_ERRORS_ARE_FATAL, ends all processes.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/replay/transport.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30;
constexpr int kTag = 1;

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
    incoming_.assign(size(), {});
    std::vector<std::uint64_t> out(size()), in(size());
    for (std::size_t i = 0; i < size(); ++i) out[i] = i == rank() ? 0 : outgoing_[i].size();
    MPI_Alltoall(out.data(), 1, MPI_UINT64_T, in.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < size(); ++i) {
      incoming_[i].resize(in[i]);
      pieces(incoming_[i], [&](char* begin, int bytes) {
        MPI_Irecv(begin, bytes, MPI_BYTE, static_cast<int>(i), kTag, MPI_COMM_WORLD, &requests_.emplace_back());
      });
    }
    for (std::size_t i = 0; i < size(); ++i) {
      if (i == rank()) continue;
      pieces(outgoing_[i], [&](char* begin, int bytes) {
        MPI_Isend(begin, bytes, MPI_BYTE, static_cast<int>(i), kTag, MPI_COMM_WORLD, &requests_.emplace_back());
      });
    }
  }

  std::vector<Bytes> finish_exchange() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    incoming_[rank()] = std::move(outgoing_[rank()]);
    outgoing_.clear();
    return std::move(incoming_);
  }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  template <typename Each>
  static void pieces(Bytes& bytes, Each each) {
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      each(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)));
    }
  }

  int rank_ = 0, size_ = 1;
  std::vector<Bytes> outgoing_, incoming_;
  std::vector<MPI_Request> requests_;
};

}  // namespace
}  // namespace fathom::analysis

extern "C" fathom::analysis::Transport* fathom_mpi_transport() { return new fathom::analysis::MpiTransport; }
