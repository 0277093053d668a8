// SPDX-License-Identifier: BSD-3-Clause
#include "base/name_patterns.h"

#include <doctest/doctest.h>

using namespace fathom::base;

TEST_CASE("a list is separated by commas, and empty items do not count") {
  CHECK(comma_separated("a,b") == std::vector<std::string>{"a", "b"});
  CHECK(comma_separated(",a,,") == std::vector<std::string>{"a"});
  CHECK(comma_separated("").empty());
}

TEST_CASE("a star at the end of a pattern matches any rest") {
  CHECK(fits_name("MPI_Send", "MPI_Send"));
  CHECK_FALSE(fits_name("MPI_Send", "MPI_Sendrecv"));
  CHECK(fits_name("MPI_Send*", "MPI_Sendrecv"));
  CHECK(fits_name("-MPI_Send*", "MPI_Send"));
  CHECK(fits_name("*", ""));
  CHECK_FALSE(fits_name("", "MPI_Send"));
}

TEST_CASE("the last matching pattern decides, and without a choosing pattern all is chosen") {
  CHECK(chooses({}, "MPI_Send"));
  CHECK(chooses({"MPI_S*"}, "MPI_Send"));
  CHECK_FALSE(chooses({"MPI_S*"}, "MPI_Recv"));
  CHECK_FALSE(chooses({"MPI_S*", "-MPI_Send"}, "MPI_Send"));
  CHECK(chooses({"-MPI_S*", "MPI_Send"}, "MPI_Send"));
  CHECK(chooses({"-MPI_Test"}, "MPI_Send"));
  CHECK_FALSE(chooses({"-MPI_Test"}, "MPI_Test"));
}

TEST_CASE("a thing with several names can be given by any of them") {
  CHECK(chooses({"3"}, {"solver", "3"}));
  CHECK(chooses({"solv*"}, {"solver", "3"}));
  CHECK_FALSE(chooses({"solver", "-3"}, {"solver", "3"}));
}

TEST_CASE("the part outside all phases has an empty name") {
  CHECK_FALSE(chooses({"solve"}, ""));
  CHECK(chooses({"-solve"}, ""));
  CHECK(chooses({""}, ""));
}
