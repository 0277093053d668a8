// SPDX-License-Identifier: BSD-3-Clause
// The kinds of communicator that this process has met, and their members.
//
// A *kind* is what rows are kept for. It is defined by the call that made the communicator, its
// parent, its groups, and the index that Open MPI gave it (in 4.1 its context id). All of these are
// the same on all members, and so is the kind's key. The members agree on the index
// (ompi_comm_nextcid in ompi/communicator/comm_cid.c; both sides of an intercommunicator have the
// same one). It distinguishes communicators that threads make at the same time, in an order that
// differs from rank to rank. Indices are reused, so 2,000 communicators made and freed one after the
// other are one kind with 2,000 instances: rows never alias a communicator that happens to reuse a
// handle, and memory does not grow.
//
// An index depends on what else is alive, so the communicators that one line of a program makes may
// be several kinds. The *ordinal key* replaces the index by an ordinal among communicators of the
// same constructor, parent and groups that are alive; a communicator that is freed returns
// its ordinal. Kinds to which all members give the same ordinal key are one communicator in the
// profile (profile/communicator_merge.h). Ordinals alone would not do: they follow the order of
// constructors and frees, which is the same on all ranks only if one thread calls them all.
//
// Memory: for each combination of parent, constructor and groups, one row for each index met.
// Open MPI gives out the lowest free ones, so these are about as many as were alive at once.
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
  // `self`: this process. `shared`: where its rows are to lie instead of in private memory. False if
  // no address space is left.
  bool open(Identity self, base::SharedMemory* shared = nullptr);

  // The kind of a communicator that has just been made. `parent` may be kNoKind. Returns kNoKind if
  // there are too many kinds (2^20); the communicator's traffic is then counted as lost.
  std::uint32_t add(const void* comm, std::string_view made_by, std::uint32_t parent,
                    std::uint32_t flags);

  // The program called MPI_Comm_free, or the library destroyed it: its ordinal becomes free. Call
  // once for each instance.
  void retire(std::uint32_t kind);

  // Keeps the name given with MPI_Comm_set_name; call it while the communicator exists.
  void keep_name(std::uint32_t kind, const void* comm);

  // Sets what the profile shows, if it differs from the arguments of add().
  void describe(std::uint32_t kind, std::string_view made_by, std::string_view name);

  // The program has seen it: it is not internal to the MPI library.
  void mark_visible(std::uint32_t kind) { rows_[kind].flags &= ~profile::kInternal; }

  const base::ReservedArray<profile::CommunicatorRow>& rows() const { return rows_; }
  const base::ReservedArray<profile::ForeignMemberRow>& foreign_members() const { return foreign_; }

  // Removes every kind (after the start-up check).
  void clear();

 private:
  struct Number {              // for a kind's latest instance
    std::uint64_t origin = 0;  // hash of how it was made, parent, groups
    std::uint32_t ordinal = 0;
    std::uint64_t key = 0;  // the ordinal key
  };

  Number next_number(std::uint64_t origin) const;
  void take(const Number& number);
  void add_foreign_members(std::uint32_t kind, const void* group, bool remote);

  Identity self_;
  base::ReservedArray<profile::CommunicatorRow> rows_;
  base::ReservedArray<profile::ForeignMemberRow> foreign_;
  std::unordered_map<std::uint64_t, std::uint32_t> kinds_by_key_;
  std::vector<Number> numbers_;  // by kind
  // By Number::origin, then by ordinal: whether a live communicator has it.
  std::unordered_map<std::uint64_t, std::vector<bool>> taken_;
};

}  // namespace fathom::rankmap
