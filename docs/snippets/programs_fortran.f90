program programs
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: n = 512
  real(real64) :: a(n, n), c(n, n)
  type(jhandle_t) :: handle
  type(jrequirement_t) :: requirement
  type(jrequirement_info_t) :: needs
  type(jrequirement_step_t) :: step
  integer(int64) :: info, i
  integer(jstatus_t) :: status

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  ! snippet
  if (status /= JSTATUS_SUCCESS .or. needs%call_count /= 2) error stop 2
  if (jrequirement_destroy(requirement) /= JSTATUS_SUCCESS) error stop 3
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 4
end program
