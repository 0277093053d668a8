! SPDX-License-Identifier: BSD-3-Clause
! Calls from procedures of Fortran, for code_sites_test.cpp. Each returns where its call returns to.
module mesh
  use iso_c_binding, only: c_int64_t
  implicit none
  interface
    integer(c_int64_t) function return_address() bind(c)
      import :: c_int64_t
    end function
  end interface
contains
  integer(c_int64_t) function Relax_Once() result(address)
    address = return_address()
  end function
end module

function smooth() result(address)
  use mesh
  implicit none
  integer(c_int64_t) :: address
  address = return_address()
end function

function smooth_inside() result(address)
  use mesh
  implicit none
  integer(c_int64_t) :: address
  address = step()
contains
  integer(c_int64_t) function step()
    step = return_address()
  end function
end function
