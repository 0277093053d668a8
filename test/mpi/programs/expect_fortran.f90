! SPDX-License-Identifier: BSD-3-Clause
! Lines of the expectation log (see expect.h) from Fortran, without a single MPI call of its own, so that
! nothing but the program's Fortran calls reaches MPI.
module expect_fortran
  use iso_c_binding, only: c_int
  implicit none
  integer, save :: log_unit = -1
  character(len=512), save :: world_text = ''
  interface
    function process_id() bind(c, name='getpid')
      import c_int
      integer(c_int) :: process_id
    end function
  end interface
contains
  subroutine expect_start(size)
    integer, intent(in) :: size
    character(len=1024) :: directory
    character(len=16) :: number
    integer :: length, i
    call get_environment_variable('EXPECT_DIR', directory, length)
    do i = 0, size - 1
      write (number, '(i0)') i
      if (i > 0) world_text = trim(world_text)//','
      world_text = trim(world_text)//trim(number)
    end do
    if (length == 0) return
    write (number, '(i0)') process_id()
    open (newunit=log_unit, file=trim(directory)//'/'//trim(number)//'.log', action='write', position='append')
  end subroutine

  ! `comm`: the ranks of the communicator in the world, comma separated.
  subroutine expect_line(kind, class_name, made_by, comm, source, destination, size, count)
    character(len=*), intent(in) :: kind, class_name, made_by, comm
    integer, intent(in) :: source, destination, size, count
    character(len=1), parameter :: tab = char(9)
    character(len=16) :: from, to
    if (log_unit == -1) return
    write (from, '(i0)') source
    write (to, '(i0)') destination
    if (source < 0) from = '*'
    if (destination < 0) to = '*'
    write (log_unit, '(a,i0,a,i0)') trim(kind)//tab//'main'//tab//class_name//tab//made_by//'|'// &
      trim(comm)//'|'//tab//tab//trim(from)//tab//trim(to)//tab, size, tab, count
    flush (log_unit)
  end subroutine

  subroutine expect_message(made_by, comm, source, destination, size, count)
    character(len=*), intent(in) :: made_by, comm
    integer, intent(in) :: source, destination, size, count
    call expect_line('exact', 'point-to-point', made_by, comm, source, destination, size, count)
  end subroutine

  ! Every rank sends and receives at least this much in a collective on the world.
  subroutine expect_collective(class_name, rank, bytes, messages)
    character(len=*), intent(in) :: class_name
    integer, intent(in) :: rank, bytes, messages
    call expect_line('atleast', class_name, 'predefined', world_text, rank, -1, bytes, messages)
    call expect_line('atleast', class_name, 'predefined', world_text, -1, rank, bytes, messages)
  end subroutine

  subroutine expect_may(class_name)
    character(len=*), intent(in) :: class_name
    if (log_unit /= -1) write (log_unit, '(a)') 'may'//char(9)//'main'//char(9)//class_name//char(9)//'*'
  end subroutine
end module
