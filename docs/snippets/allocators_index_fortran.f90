program allocators_index
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  integer(int64), parameter :: n = 1000
  type(jallocator_t) :: allocator
  type(jstream_t) :: stream
  type(c_ptr) :: pointer
  real(real64), pointer :: x(:)
  integer(jstatus_t) :: status

  ! snippet
  if (status /= JSTATUS_SUCCESS) error stop 1
end program
