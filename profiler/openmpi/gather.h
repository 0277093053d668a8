// SPDX-License-Identifier: BSD-3-Clause
// Brings the rows of all processes to rank 0, up a k-nomial tree of plain PML messages.
//
// It uses reserved tags on MPI_COMM_WORLD (-2 to -6, which no collective and no wildcard receive
// matches) and the PML's original entries, so it needs no communicator and counts nothing.
// Only processes that run with Fathom take part: at MPI_Init each announces itself to its
// neighbours in the tree, and one that hears nothing from above keeps its subtree's rows for a
// file. A job that is only partly preloaded therefore ends as it would have without Fathom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::profiler {

class Gather {
 public:
  // After MPI_Init, once counting can start. Never blocks.
  void announce(void* world, int rank, int size);

  // In what a process takes part at the end.
  enum class Part {
    kNothing,  // the neighbours are told to do without it, and none of the functions below may follow
    kRows,
    kAll,
  };
  // At MPI_Finalize: waits until all neighbours that announced themselves have arrived, while
  // making progress on what the program left unfinished.
  void synchronise(Part part);

  // After synchronise(). Whether a process that runs with Fathom, somewhere below, takes no part; its
  // rows, and those of the processes below it, are in files then.
  bool somebody_declined() const { return somebody_declined_; }

  // Appends the rows of the processes below to `rows` and sends them up. True if `rows` stays here:
  // on rank 0, and where the process above runs without Fathom.
  bool collect(std::vector<char>& rows);

  // After synchronise(). Whether all processes of the world take part in all; all get the same answer.
  // Only then may those from `largest` to `end_tokens` be called.
  bool all_take_part() const { return in_all_ == size_; }

  // The largest value of all processes, and the lowest rank that has it; all get the same.
  struct Place {
    std::int64_t value;
    std::int64_t where;  // a rank
  };
  Place largest(Place own);

  // What is sent to one process. The first kRoom bytes of `data` are for Gather; without memory for them,
  // it is empty.
  static constexpr std::size_t kPlaces = 8, kMostPartners = 31;
  using Places = std::array<Place, kPlaces>;
  struct Frame {  // before what is sent
    std::uint64_t size;
    std::int64_t from;
    Places places;
  };
  static constexpr std::size_t kRoom = sizeof(Frame);
  struct Letter {
    int to = 0;
    std::vector<char> data;
    Frame frame{};
    void *first = nullptr, *rest = nullptr;  // requests
  };

  // Questions to some processes, which need not expect them. All take part in the count: each says whom it
  // asks, once each, and learns how many questions will come. `places` become the larger of the own and
  // the others'.
  static constexpr std::size_t kMostCounted = 900;  // processes of the world
  std::uint32_t count_questions(const std::vector<Letter>& letters, Places& places);
  void begin_question(Letter& letter) noexcept;
  // `data` is empty without memory. Returns the rank that sent it.
  int take_question(std::vector<char>& data) noexcept;
  // To a process from which a question was taken; and the other side.
  void begin_answer(Letter& letter) noexcept;
  void take_answer(int from, std::vector<char>& data) noexcept;
  void finish(Letter& letter) noexcept;

  // A round of an exchange in which all take part: sends to some processes and receives from as many,
  // all at once. `places` as above, without memory too.
  struct Partner {
    Letter letter;
    int from = 0;
    std::vector<char> received;
  };
  using Partners = std::array<Partner, kMostPartners>;
  void swap(Partners& partners, std::size_t count, Places& places) noexcept;

  // What process 0 has; all get the same, or nothing if there is no memory for it on the way.
  void broadcast(std::vector<char>& data) noexcept;

  // A token that goes from process to process. Waits for it; false once process 0 has ended this.
  static constexpr std::size_t kLongestToken = 48;
  bool next_token(void* token, std::size_t size);
  void send_token(int to, const void* token, std::size_t size);
  void end_tokens();  // process 0

  // Afterwards some processes give process 0 something, which takes it from any of them. `data` as in
  // Letter. take() returns the rank that gave it.
  void give(std::vector<char>& data) noexcept;
  int take(std::vector<char>& data) noexcept;

  // The last step: process 0 lets the others go, which wait for that.
  void release();
  void wait_for_release();

  // Messages with tags reserved for Fathom, of which one is for others.
  static constexpr int kTagClocks = -6;  // clocks/clock_sync.cpp
  bool has_arrived(int peer, int tag);
  void send(int peer, int tag, const void* data, std::size_t size);
  void receive(int peer, int tag, void* data, std::size_t size);

 private:
  std::vector<int> present_neighbours();
  static bool make_room(std::vector<char>& rows, std::uint64_t size) noexcept;
  void tell(int peer, int tag, const void* data = nullptr, std::size_t size = 0);
  template <typename T, typename Combine>
  T combined(T own, Combine combine);
  void pass_on_end();
  void begin(Letter& letter, int tag, const Places& places) noexcept;
  Frame receive_framed(int peer, int tag, std::vector<char>& data) noexcept;
  void* begin_send(int peer, int tag, const void* data, std::size_t size);
  void finish_send(void* request, int peer);

  void* world_ = nullptr;
  void* byte_type_ = nullptr;
  int rank_ = 0, size_ = 0;
  int parent_ = -1;
  std::int32_t in_all_ = 0;  // processes that take part in all
  bool somebody_declined_ = false;
  std::vector<int> children_;
};

}  // namespace fathom::profiler
