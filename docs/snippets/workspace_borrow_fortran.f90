module solves
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none

contains

  function solve(handle, n) result(status)
    type(jhandle_t), intent(in) :: handle
    integer(int64), intent(in) :: n
    integer(jstatus_t) :: status
    type(jborrow_guard) :: workspace
    real(real64), pointer, contiguous :: inverses(:, :), solution(:)
    integer(int64) :: bytes(2)

    ! snippet
    inverses = 1
    solution = 1
  end function
end module

program workspace_borrow
  use, intrinsic :: iso_fortran_env, only: int64
  use jalloc
  use solves
  implicit none
  type(jhandle_t) :: handle

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  if (solve(handle, 30_int64) /= JSTATUS_SUCCESS) error stop 2
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 3
end program
