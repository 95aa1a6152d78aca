program fortran_options
  use jalloc
  implicit none
  type(jallocator_t) :: allocator
  type(jhandle_options_t) :: options
  type(jhandle_t) :: handle, other
  integer(jstatus_t) :: status
  integer :: threads

  ! snippet
  if (status /= JSTATUS_SUCCESS) error stop 1
  if (jhandle_get_threads(other, threads) /= JSTATUS_SUCCESS) error stop 2
  if (threads /= 2) error stop 3
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 4
  if (jhandle_destroy(other) /= JSTATUS_SUCCESS) error stop 5
  if (jallocator_destroy(allocator) /= JSTATUS_SUCCESS) error stop 6
end program
