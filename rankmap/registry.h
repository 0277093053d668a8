// SPDX-License-Identifier: BSD-3-Clause
// Which kinds of communicator this process has met, and who their members are.
//
// A *kind* is what rows are kept for: the call that made a communicator, its parent, its groups,
// and the context id that Open MPI gave it. All of these are the same on all members, and so is the
// kind's key. The members agree on the context id (ompi_comm_nextcid in
// ompi/communicator/comm_cid.c; both sides of an intercommunicator have the same one). It tells
// apart communicators that threads make at the same time, in an order that differs from rank to
// rank. Context ids are used again, so 2,000 communicators made and freed one after the other are
// one kind with 2,000 instances: rows never alias a communicator that happens to reuse a handle,
// and memory does not grow.
//
// Context ids depend on whatever else is alive, so communicators that a program makes by one line
// may be several kinds. The *ordinal key* has in place of the context id an ordinal among those
// alike that live at the same time; a communicator that is freed gives its ordinal back. Kinds to
// which all members give the same ordinal key are one communicator in the profile
// (profile/communicator_merge.h). Ordinals alone would not do: they follow the order of
// constructors and frees, which is the same on all ranks only where one thread calls them all.
//
// Memory: for each kind of parent, constructor and groups, one row for each context id met there.
// Open MPI gives out the lowest that are free, so these are about as many as were alive at once.
// Threading: callers serialise; all functions are cold (once per communicator). They may throw
// bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/reserved_array.h"
#include "profile/rows.h"
#include "rankmap/communicator_view.h"

namespace fathom::rankmap {

inline constexpr std::uint32_t kNoKind = ~0u;

class Registry {
 public:
  // `self` is this process. False if no address space is left.
  bool open(Identity self);

  // The kind of a communicator that has just come to life. `parent` may be kNoKind.
  // kNoKind when there are too many kinds (2^20): its traffic is then counted as lost.
  std::uint32_t add(const void* comm, std::string_view made_by, std::uint32_t parent,
                    std::uint32_t flags);

  // The program called MPI_Comm_free, or the library destroyed it: the next one alike may take its
  // ordinal. Once for each instance.
  void retire(std::uint32_t kind);

  // Keeps the name that MPI_Comm_set_name gave, before the communicator is gone.
  void keep_name(std::uint32_t kind, const void* comm);

  // What the profile says of it, where that differs from what add() was told.
  void describe(std::uint32_t kind, std::string_view made_by, std::string_view name);

  // Seen by the program, not only inside the MPI library.
  void mark_visible(std::uint32_t kind) { rows_[kind].flags &= ~profile::kInternal; }

  const base::ReservedArray<profile::CommunicatorRow>& rows() const { return rows_; }
  const base::ReservedArray<profile::ForeignMemberRow>& foreign_members() const { return foreign_; }

  // Forgets every kind (after the start-up check).
  void clear();

 private:
  struct Number {             // of a kind's latest instance
    std::uint64_t alike = 0;  // hash of how it was made, parent, groups
    std::uint32_t ordinal = 0;
    std::uint64_t key = 0;  // the ordinal key
  };

  Number next_number(std::uint64_t alike) const;
  void take(const Number& number);
  void add_foreign_members(std::uint32_t kind, const void* group, bool remote);

  Identity self_;
  base::ReservedArray<profile::CommunicatorRow> rows_;
  base::ReservedArray<profile::ForeignMemberRow> foreign_;
  std::unordered_map<std::uint64_t, std::uint32_t> kinds_by_key_;
  std::vector<Number> numbers_;  // by kind
  // By Number::alike, then by ordinal: one that is alive has it.
  std::unordered_map<std::uint64_t, std::vector<bool>> taken_;
};

}  // namespace fathom::rankmap
