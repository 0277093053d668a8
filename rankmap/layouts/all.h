// SPDX-License-Identifier: BSD-3-Clause
// All layouts that Fathom knows, and the one that this process has.
//
// profiler/openmpi/proved_layout.h proves which one it is, once, before anything is hooked. Until
// then it is the first of the list. To support another release: a file of rankmap/write_layouts.py,
// and a row here.
#pragma once

#include <utility>

#include "rankmap/layouts/common.h"
#include "rankmap/layouts/layout.h"
#include "rankmap/layouts/openmpi_4_1.h"
#include "rankmap/layouts/openmpi_5_0_0.h"
#include "rankmap/layouts/openmpi_5_0_0_noft.h"
#include "rankmap/layouts/openmpi_5_0_7.h"
#include "rankmap/layouts/openmpi_5_0_7_noft.h"
#include "rankmap/layouts/openmpi_6_0.h"

namespace fathom::openmpi {

template <const Layout&... layouts>
struct LayoutList {
  // Calls visit.operator()<layout>() for each of them.
  template <typename Visit>
  static void for_each(Visit&& visit) {
    (visit.template operator()<layouts>(), ...);
  }
};

using Layouts = LayoutList<kOpenMpi_4_1, kOpenMpi_5_0_7, kOpenMpi_5_0_0, kOpenMpi_5_0_7_noft,
                           kOpenMpi_5_0_0_noft, kOpenMpi_6_0>;

namespace detail {
inline constinit Layout in_use = kOpenMpi_4_1;             // a copy: one load for a member of it
inline constinit const Layout* in_use_is = &kOpenMpi_4_1;  // what it is a copy of
}  // namespace detail

// The layout of this process's Open MPI, for code that does not run for every message.
inline const Layout& layout() { return detail::in_use; }

// Once, before anything is hooked, and while no other thread uses Fathom.
inline void use_layout(const Layout& layout) {
  detail::in_use = layout;
  detail::in_use_is = &layout;
}

// Calls call.operator()<layout>() for the layout in use.
template <typename Call>
void with_layout(Call&& call) {
  Layouts::for_each([&call]<const Layout & layout>() {
    if (&layout == detail::in_use_is) call.template operator()<layout>();
  });
}

}  // namespace fathom::openmpi
