program fortran_query
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: n = 200, nrhs = 3
  real(real64) :: a(n, n), b(n, nrhs)
  integer(int64) :: info, bytes, i
  type(jhandle_t) :: handle
  type(jhandle_stats_t) :: stats
  integer(jstatus_t) :: status

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  ! snippet
  if (status /= JSTATUS_SUCCESS) error stop 2
  a = 1
  do i = 1, n
    a(i, i) = n + 1
  end do
  b = 2 * n
  if (jhandle_clear_stats(handle) /= JSTATUS_SUCCESS) error stop 3
  if (jlapack_potrf(handle, JBLAS_LOWER, n, a, n, info) /= JSTATUS_SUCCESS) error stop 4
  if (jlapack_potrs(handle, JBLAS_LOWER, n, nrhs, a, n, b, n) /= JSTATUS_SUCCESS) error stop 5
  if (jhandle_get_stats(handle, stats) /= JSTATUS_SUCCESS) error stop 6
  if (info /= 0 .or. stats%allocation_count /= 0 .or. stats%degraded_count /= 0) error stop 7
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 8
end program
