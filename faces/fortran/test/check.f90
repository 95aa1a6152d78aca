! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! What a test expects: what did not come is printed, and the program then ends with 1.
module check
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: expect, finish

  integer :: expected = 0, failed = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what

    expected = expected + 1
    if (condition) return
    failed = failed + 1
    write (error_unit, "(2a)") "FAILED: ", what
  end subroutine

  subroutine finish()
    if (failed > 0 .or. expected == 0) then
      write (error_unit, "(i0, a, i0, a)") failed, " of ", expected, " expectations failed"
      stop 1
    end if
    print "(i0, a)", expected, " expectations were met"
  end subroutine

end module
