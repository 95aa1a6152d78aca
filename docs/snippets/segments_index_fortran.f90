program segments_index
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: n = 1000
  type(jsegment_options_t) :: options
  type(jsegment_t) :: segment
  type(jshared_t) :: heap
  character(kind=c_char), allocatable, target :: name(:)
  real(real64), pointer :: x(:)
  integer(joffset_t) :: at
  integer(jstatus_t) :: status

  ! snippet
  if (status /= JSTATUS_SUCCESS) error stop 1
  x = 1
  if (jshared_close(heap) /= JSTATUS_SUCCESS) error stop 2
  if (jsegment_destroy(segment) /= JSTATUS_SUCCESS) error stop 3
end program
