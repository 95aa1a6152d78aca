program workspace_query
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: n = 200
  real(real64) :: a(n, n)
  integer(int64) :: info, bytes, held
  type(jhandle_t) :: handle
  integer(jstatus_t) :: status

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  ! snippet
  if (status /= JSTATUS_SUCCESS) error stop 2
  if (jhandle_get_workspace_size(handle, held) /= JSTATUS_SUCCESS) error stop 3
  if (held /= bytes .or. bytes == 0) error stop 4
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 5
end program
