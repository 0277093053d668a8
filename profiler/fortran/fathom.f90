! SPDX-License-Identifier: BSD-3-Clause
! Named phases, and windows of the critical path, for Fortran programs that are profiled with Fathom;
! fathom.h for Fortran.
!
!   use fathom
!   call fathom_phase_begin("exchange")
!   ... communication ...
!   call fathom_phase_end()
!
! What this process sends and receives in between is counted separately under that name. Phases
! nest: a message belongs to the innermost one.
!
!   call fathom_path_start("solver")
!   ... work and communication ...
!   call fathom_path_stop("solver")
!
! The profile tells the critical path through this window. fathom.h says what holds for windows.
!
! Without Fathom, each call looks for the library once and then costs a test of a pointer. Not for
! concurrent use by several threads of a process.
!
! A module file is of one compiler and release: with another, compile this file into your program.
! It needs no other file. The library is looked up at run time, never linked, so that the program
! runs without Fathom too.
module fathom
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_null_char, c_null_ptr, c_ptr
  implicit none
  private
  public :: fathom_phase_begin, fathom_phase_end, fathom_path_start, fathom_path_stop

  abstract interface
    subroutine name_function(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine end_function() bind(c)
    end subroutine
  end interface

  interface
    function dlsym(handle, symbol) bind(c, name="dlsym") result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: found
    end function
  end interface

contains

  ! Trailing blanks are not part of the name.
  subroutine fathom_phase_begin(name)
    character(len=*), intent(in) :: name
    procedure(name_function), pointer, save :: begin => null()
    logical, save :: looked = .false.
    type(c_funptr) :: found
    if (.not. looked) then
      found = library_function("fathom_library_phase_begin")
      if (c_associated(found)) call c_f_procpointer(found, begin)
      looked = .true.
    end if
    if (associated(begin)) call begin(trim(name)//c_null_char)
  end subroutine

  subroutine fathom_phase_end()
    procedure(end_function), pointer, save :: end_phase => null()
    logical, save :: looked = .false.
    type(c_funptr) :: found
    if (.not. looked) then
      found = library_function("fathom_library_phase_end")
      if (c_associated(found)) call c_f_procpointer(found, end_phase)
      looked = .true.
    end if
    if (associated(end_phase)) call end_phase()
  end subroutine

  subroutine fathom_path_start(name)
    character(len=*), intent(in) :: name
    procedure(name_function), pointer, save :: start => null()
    logical, save :: looked = .false.
    type(c_funptr) :: found
    if (.not. looked) then
      found = library_function("fathom_library_path_start")
      if (c_associated(found)) call c_f_procpointer(found, start)
      looked = .true.
    end if
    if (associated(start)) call start(trim(name)//c_null_char)
  end subroutine

  subroutine fathom_path_stop(name)
    character(len=*), intent(in) :: name
    procedure(name_function), pointer, save :: stop_window => null()
    logical, save :: looked = .false.
    type(c_funptr) :: found
    if (.not. looked) then
      found = library_function("fathom_library_path_stop")
      if (c_associated(found)) call c_f_procpointer(found, stop_window)
      looked = .true.
    end if
    if (associated(stop_window)) call stop_window(trim(name)//c_null_char)
  end subroutine

  ! Null without Fathom.
  function library_function(name) result(found)
    character(len=*), intent(in) :: name
    type(c_funptr) :: found
    found = dlsym(c_null_ptr, name//c_null_char)  ! RTLD_DEFAULT is the null pointer on Linux
  end function

end module
