module covariances
  use, intrinsic :: iso_c_binding
  use jalloc
  implicit none

contains

  function covariance(context, block) bind(c) result(filled)
    type(c_ptr), value :: context
    type(jbuffer_block_t), intent(in) :: block
    integer(jbuffer_filled_t) :: filled
    real(c_double), pointer :: x(:)
    integer(c_int64_t), pointer :: starts(:), extents(:), strides(:)
    integer(c_int64_t) :: i, j

    filled = JBUFFER_BLOCK_FAILED
    if (c_associated(context)) return
    call c_f_pointer(block%starts, starts, [2])
    call c_f_pointer(block%extents, extents, [2])
    call c_f_pointer(block%strides, strides, [2])
    call c_f_pointer(block%data, x, [1 + dot_product(extents - 1, strides)])
    do j = 0, extents(2) - 1
      do i = 0, extents(1) - 1
        x(1 + i * strides(1) + j * strides(2)) = merge(4, 0, starts(1) + i == starts(2) + j)
      end do
    end do
    filled = JBUFFER_BLOCK_FILLED
  end function
end module

program buffers_index
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use jalloc
  use covariances
  implicit none
  type(jruntime_t) :: runtime
  type(jbuffer_allocator_options_t) :: options
  type(jbuffer_allocator_t) :: allocator
  type(jlayout_t) :: layout
  type(jbuffer_t) :: k
  type(jhandle_t) :: handle
  integer(int64) :: info
  integer(jstatus_t) :: status

  info = -1
  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  ! snippet
  if (status /= JSTATUS_SUCCESS .or. info /= 0) error stop 2
  if (jbuffer_allocator_release(allocator) /= JSTATUS_SUCCESS) error stop 3
  if (jruntime_release(runtime) /= JSTATUS_SUCCESS) error stop 4
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 5
end program
