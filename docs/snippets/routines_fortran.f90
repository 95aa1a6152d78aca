program routines
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: m = 2, n = 1, k = 3
  real(real64) :: a(m, k), b(k, n), c(m, n)
  type(jhandle_t) :: handle
  integer(jstatus_t) :: status

  a = reshape([1, 2, 3, 4, 5, 6], shape(a))
  b = 1
  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  ! snippet
  if (status /= JSTATUS_SUCCESS .or. any(c(:, 1) /= [9, 12])) error stop 2
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 3
end program
