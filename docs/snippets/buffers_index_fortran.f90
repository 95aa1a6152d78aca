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
    integer(c_int64_t) :: i, j, from

    filled = JBUFFER_BLOCK_FAILED
    if (c_associated(context)) return
    from = (block%extents(1) - 1) * block%strides(1) + (block%extents(2) - 1) * block%strides(2)
    call c_f_pointer(block%data, x, [from + 1])
    do j = 0, block%extents(2) - 1
      do i = 0, block%extents(1) - 1
        x(1 + i * block%strides(1) + j * block%strides(2)) = merge(4, 0, block%starts(1) + i == block%starts(2) + j)
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
