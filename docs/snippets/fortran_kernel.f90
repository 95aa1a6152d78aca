module kernels
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
contains
  ! snippet
end module

program fortran_kernel
  use kernels
  type(jhandle_t) :: handle
  real(real64) :: x(5) = [0, 0, 4, 0, 0]
  integer(int64) :: bytes

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  if (jhandle_start_size_query(handle) /= JSTATUS_SUCCESS) error stop 2
  if (smooth(handle, 5_int64, x) /= JSTATUS_SIZE_INCREASED) error stop 3
  if (jhandle_stop_size_query(handle, bytes) /= JSTATUS_SUCCESS) error stop 4
  if (jhandle_set_fixed_workspace_size(handle, bytes) /= JSTATUS_SUCCESS) error stop 5
  if (smooth(handle, 5_int64, x) /= JSTATUS_SUCCESS) error stop 6
  if (any(abs(x - [0, 1, 2, 1, 0]) > 0)) error stop 7
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 8
end program
