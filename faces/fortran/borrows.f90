! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! Borrows that end with the scope of a variable, as JALLOC_BORROW's do in C, and arrays in them.
!
! A finalizer ends the borrow: of a local variable of a procedure or a BLOCK when it is left, by whatever statement. What is
! declared in a main program or has SAVE is never finalized; there, and where memory is wanted back earlier, call end().
module jalloc_borrows
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_double_complex, c_f_pointer, c_float, c_float_complex, &
    c_int32_t, c_int64_t, c_loc, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use jalloc_strings, only: jalloc_text
  use jalloc_interfaces
  implicit none
  private
  public :: jborrow_guard, jplan_init

  !> A borrow of a handle's workspace:
  !>
  !>     type(jborrow_guard) :: workspace
  !>     real(real64), pointer, contiguous :: x(:), a(:, :)
  !>
  !>     status = workspace%begin(handle, [8 * n, 8 * m * n], "my_routine")
  !>     if (jstatus_is_error(status)) return
  !>     call workspace%get(1, x, n)
  !>     call workspace%get(2, a, m, n)
  !>
  !> The arrays are not initialized, and end with the borrow. It is not to be copied.
  type :: jborrow_guard
    private
    type(jborrow_t) :: borrow = jborrow_t()
    integer(c_size_t) :: size_bytes(JBORROW_MAX_BUFFERS) = 0
    integer :: buffers = 0
  contains
    !> Borrows a buffer for each size in bytes, under the routine's name; what was borrowed before ends.
    procedure :: begin => guard_begin
    !> Borrows the best rung of a plan that fits.
    procedure :: begin_plan => guard_begin_plan
    !> Ends the borrow now. One that is not live is left alone.
    procedure :: end => guard_end
    !> get(index, array, n) or get(index, array, m, n): buffer number `index`, counted from 1, as an array; not associated
    !> where there is none, or it is smaller than that.
    generic :: get => get_f32_1, get_f64_1, get_f32_c_1, get_f64_c_1, get_i32_1, get_i64_1, &
      get_f32_2, get_f64_2, get_f32_c_2, get_f64_c_2, get_i32_2, get_i64_2
    !> The buffer's address; NULL where there is none.
    procedure :: pointer => guard_pointer
    !> Of a plan: the name of the rung that was chosen.
    procedure :: way => guard_way
    procedure, private :: address => guard_address
    procedure, private :: get_f32_1, get_f64_1, get_f32_c_1, get_f64_c_1, get_i32_1, get_i64_1
    procedure, private :: get_f32_2, get_f64_2, get_f32_c_2, get_f64_c_2, get_i32_2, get_i64_2
    final :: guard_finish
  end type

  ! Where arrays without elements are.
  integer(c_int64_t), target, save :: nothing(2)

contains

  function guard_begin(this, handle, size_bytes, routine) result(status)
    class(jborrow_guard), intent(inout) :: this
    type(jhandle_t), intent(in) :: handle
    integer(c_size_t), intent(in) :: size_bytes(:)
    character(*), intent(in) :: routine
    integer(jstatus_t) :: status

    status = this%end()
    if (status == JSTATUS_BUSY) return ! it is another thread's and stays live, so it is not to be forgotten
    status = jborrow_begin(this%borrow, handle, routine, size(size_bytes, kind=c_size_t), size_bytes)
    this%buffers = min(size(size_bytes), JBORROW_MAX_BUFFERS)
    this%size_bytes(:this%buffers) = size_bytes(:this%buffers)
  end function

  function guard_begin_plan(this, handle, plan) result(status)
    class(jborrow_guard), intent(inout) :: this
    type(jhandle_t), intent(in) :: handle
    type(jplan_t), intent(in) :: plan
    integer(jstatus_t) :: status

    status = this%end()
    if (status == JSTATUS_BUSY) return
    status = jborrow_begin_plan(this%borrow, handle, plan)
    this%buffers = 0
    if (this%borrow%ok) then
      associate (rung => plan%rungs(this%borrow%rung + 1))
        this%buffers = rung%buffer_count
        this%size_bytes(:this%buffers) = rung%bytes(:this%buffers)
      end associate
    end if
  end function

  function guard_end(this) result(status)
    class(jborrow_guard), intent(inout) :: this
    integer(jstatus_t) :: status

    status = JSTATUS_SUCCESS
    if (this%borrow%ok) status = jborrow_end(this%borrow)
  end function

  impure elemental subroutine guard_finish(this)
    type(jborrow_guard), intent(inout) :: this
    integer(jstatus_t) :: status

    status = this%end()
  end subroutine

  function guard_pointer(this, index) result(pointer)
    class(jborrow_guard), intent(in) :: this
    integer, intent(in) :: index
    type(c_ptr) :: pointer

    pointer = c_null_ptr
    if (.not. this%borrow%ok .or. index < 1 .or. index > this%buffers) return
    if (this%size_bytes(index) /= 0) pointer = this%borrow%ptr(index)
  end function

  function guard_way(this) result(name)
    class(jborrow_guard), intent(in) :: this
    character(:), allocatable :: name

    name = jalloc_text(this%borrow%way)
  end function

  ! Where so many elements are; NULL where the buffer has not as many.
  function guard_address(this, index, count, element_bytes) result(address)
    class(jborrow_guard), intent(in) :: this
    integer, intent(in) :: index
    integer(c_int64_t), intent(in) :: count
    integer(c_size_t), intent(in) :: element_bytes
    type(c_ptr) :: address

    address = c_null_ptr
    if (.not. this%borrow%ok .or. index < 1 .or. index > this%buffers) return
    if (count == 0) then
      address = c_loc(nothing)
    else if (count > 0 .and. count <= this%size_bytes(index) / element_bytes) then
      address = this%borrow%ptr(index)
    end if
  end function

  ! Of a matrix; below 0 where a size is, or the product overflows.
  pure function elements_of(m, n) result(count)
    integer(c_int64_t), intent(in) :: m, n
    integer(c_int64_t) :: count

    count = -1
    if (m < 0 .or. n < 0) return
    if (n > 0) then
      if (m > huge(count) / n) return
    end if
    count = m * n
  end function

  include "borrow_get.inc"

  !> Starts a plan, whatever it holds; one letter of shape_names for each size in `shape`.
  subroutine jplan_init(plan, handle, routine, shape_names, shape)
    type(jplan_t), intent(inout) :: plan
    type(jhandle_t), intent(in) :: handle
    character(*), intent(in) :: routine, shape_names
    integer(c_int64_t), intent(in) :: shape(:)

    call jplan_init_sized(plan, c_sizeof(plan), handle, routine, shape_names, shape)
  end subroutine

end module
