// Plain structs on their way to other processes of the analysis, in batches: one byte of kind, then the struct.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/replay/transport.h"

namespace fathom::analysis {

class Parcels {
 public:
  explicit Parcels(std::size_t processes) : outgoing_(processes) {}

  template <typename Parcel>
  void send(std::size_t process, char kind, const Parcel& parcel) {
    static_assert(std::is_trivially_copyable_v<Parcel>);
    Transport::Bytes& bytes = outgoing_[process];
    const std::size_t at = bytes.size();
    bytes.resize(at + 1 + sizeof parcel);
    bytes[at] = kind;
    std::memcpy(bytes.data() + at + 1, &parcel, sizeof parcel);
    empty_ = false;
  }

  bool empty() const { return empty_; }

  std::vector<Transport::Bytes> take() {
    std::vector<Transport::Bytes> all(outgoing_.size());
    all.swap(outgoing_);
    empty_ = true;
    return all;
  }

 private:
  std::vector<Transport::Bytes> outgoing_;
  bool empty_ = true;
};

// Takes apart what one process sent.
class Received {
 public:
  explicit Received(const Transport::Bytes& bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool more() const { return at_ != end_; }
  char kind() { return *at_++; }
  template <typename Parcel>
  Parcel take() {
    Parcel parcel;
    std::memcpy(&parcel, at_, sizeof parcel);
    at_ += sizeof parcel;
    return parcel;
  }

 private:
  const char* at_;
  const char* end_;
};

// At process 0 the rows of all, in the order of the processes; elsewhere none.
template <typename Row>
std::vector<Row> gathered(Transport& transport, const std::vector<Row>& rows) {
  static_assert(std::is_trivially_copyable_v<Row>);
  const char* begin = reinterpret_cast<const char*>(rows.data());
  std::vector<Row> all;
  for (const Transport::Bytes& bytes : transport.gather({begin, begin + rows.size() * sizeof(Row)})) {
    const std::size_t count = bytes.size() / sizeof(Row), before = all.size();
    all.resize(before + count);
    if (count > 0) std::memcpy(static_cast<void*>(all.data() + before), bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace fathom::analysis
