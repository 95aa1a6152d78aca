! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! layout.c, for the test that is made of the headers.
module layout_check
  use, intrinsic :: iso_c_binding
  use check
  implicit none
  private
  public :: at, check_struct, check_constant, check_symbol, finish

  interface
    function layout_struct(index, value, bytes, offsets) bind(c) result(failures)
      import
      integer(c_int), value :: index
      type(c_ptr), value :: value
      integer(c_size_t), value :: bytes
      integer(c_size_t), intent(in) :: offsets(*)
      integer(c_int) :: failures
    end function
    function layout_constant(index, value) bind(c) result(failures)
      import
      integer(c_int), value :: index
      integer(c_long_long), value :: value
      integer(c_int) :: failures
    end function
    function layout_symbol(index, function) bind(c) result(failures)
      import
      integer(c_int), value :: index
      type(c_funptr), value :: function
      integer(c_int) :: failures
    end function
  end interface

contains

  function at(pointer) result(address)
    type(c_ptr), intent(in) :: pointer
    integer(c_size_t) :: address

    address = transfer(pointer, address)
  end function

  subroutine check_struct(index, value, bytes, offsets)
    integer(c_int), intent(in) :: index
    type(c_ptr), intent(in) :: value
    integer(c_size_t), intent(in) :: bytes, offsets(:)

    call expect(layout_struct(index, value, bytes, offsets) == 0, "a struct as C has it")
  end subroutine

  subroutine check_constant(index, value)
    integer(c_int), intent(in) :: index
    integer(c_int64_t), intent(in) :: value

    call expect(layout_constant(index, value) == 0, "a constant as C has it")
  end subroutine

  subroutine check_symbol(index, function)
    integer(c_int), intent(in) :: index
    type(c_funptr), value :: function

    call expect(layout_symbol(index, function) == 0, "a function as C has it")
  end subroutine

end module
