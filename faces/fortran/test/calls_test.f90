! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! What is different in Fortran: objects, options, texts, what may be absent, functions that C calls, and borrows.
module calls
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: iso_c_binding
  use jalloc
  use check
  implicit none

  integer :: lines = 0
  type(jhandle_t) :: shared_handle
  type(jborrow_guard) :: shared_guard
  integer(jstatus_t) :: others_status = JSTATUS_SUCCESS
  character(:), allocatable :: last_line

contains

  subroutine test_statuses()
    type(jhandle_t) :: handle
    character(:), allocatable :: routine, name
    integer(c_int) :: number
    integer(jstatus_t) :: status
    real(real64) :: x(4)

    call expect(.not. jstatus_is_error(JSTATUS_PERF_DEGRADED), "perf degraded is no error")
    call expect(jstatus_is_error(JSTATUS_BUSY), "busy is")
    call expect(jstatus_name(JSTATUS_MEMORY_ERROR) == "JSTATUS_MEMORY_ERROR", "a status has a name")
    call expect(jstatus_text(JSTATUS_SUCCESS) == "success", "and a sentence")
    status = jhandle_set_budget(handle, 1_c_size_t)
    call expect(status == JSTATUS_INVALID_HANDLE, "what was never made is no handle")
    call expect(len(jstatus_last_message()) > 0, "and there is a message")

    status = jhandle_create(handle)
    call expect(status == JSTATUS_SUCCESS, "a handle without options")
    x = 1
    status = jblas_scal(handle, 4_int64, 2.0_real64, x, 1_int64)
    call expect(status == JSTATUS_SUCCESS .and. all(x == 2), "a call with it")
    status = jblas_dgemv(handle, JBLAS_NO_TRANSPOSE, -1_int64, 2_int64, 1.0_real64, x, 2_int64, x, 1_int64, 0.0_real64, x, 1_int64)
    call expect(status == JSTATUS_INVALID_SIZE, "a size below 0 is refused")
    call expect(index(jhandle_last_message(handle), "m") > 0, "the handle has the message")
    status = jhandle_get_refused_argument(handle, routine, name, number)
    call expect(status == JSTATUS_SUCCESS, "it knows the argument")
    call expect(routine == "jblas_dgemv" .and. name == "m" .and. number == 2, "which is BLAS's second")
    status = jhandle_get_refused_argument(handle, name=name)
    call expect(status == JSTATUS_SUCCESS .and. name == "m", "one of the three is enough")
    status = jhandle_fail(handle, JSTATUS_NOT_FOUND, "100 % of nothing   ")
    call expect(status == JSTATUS_NOT_FOUND .and. jhandle_last_message(handle) == "100 % of nothing", "a message of one's own")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "it ends")
  end subroutine

  subroutine test_options()
    type(jhandle_t) :: handle
    type(jhandle_options_t) :: options
    type(jallocator_t) :: allocator
    type(jdevice_t) :: host
    type(jallocator_options_t) :: named
    type(jallocator_stats_t) :: stats
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_size_t) :: bytes
    integer(jhandle_mode_t) :: mode
    integer(jstatus_t) :: status

    status = jhandle_create(handle, jhandle_options_t(preallocate_bytes=4096))
    call expect(status == JSTATUS_SUCCESS, "options by keyword")
    status = jhandle_get_mode(handle, mode)
    call expect(status == JSTATUS_SUCCESS .and. mode == JHANDLE_MODE_PREALLOCATE, "they are heard")
    status = jhandle_set_never_captured(handle, .true.)
    call expect(status == JSTATUS_SUCCESS, "a truth value of Fortran")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "it ends")

    options%struct_size = 3
    status = jhandle_create(handle, options)
    call expect(status == JSTATUS_INVALID_VALUE, "a wrong size is refused")
    options = jhandle_options_init()
    status = jallocator_compose(jdevice_t(), "bfc(limit=1MiB)+track", allocator)
    call expect(status == JSTATUS_SUCCESS, "a composition")
    call expect(jallocator_name(allocator) == "track", "an allocator's name")
    call expect(jdevice_name(jallocator_device(allocator)) == "host", "an object as a result")
    options%allocator = allocator
    options%budget_bytes = JALLOC_UNLIMITED
    status = jhandle_create(handle, options)
    call expect(status == JSTATUS_SUCCESS, "options by member")
    status = jhandle_set_fixed_workspace_size(handle, 8192_c_size_t)
    call expect(status == JSTATUS_SUCCESS, "a workspace of it")
    status = jallocator_get_stats(allocator, stats)
    call expect(status == JSTATUS_SUCCESS .and. stats%in_use_bytes >= 8192, "a struct comes out")
    status = jallocator_destroy(allocator)
    call expect(status == JSTATUS_BUSY, "it is kept by the handle")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "the handle ends")
    status = jallocator_destroy(allocator)
    call expect(status == JSTATUS_SUCCESS, "and then the allocator")

    status = jallocator_compose(jdevice_t(), "no such thing", allocator)
    call expect(status == JSTATUS_INVALID_CONFIGURATION, "a bad composition")
    call expect(index(jstatus_last_message(), "no such thing") > 0, "is quoted")
    status = jconfig_parse_size("1.5GiB   ", bytes)
    call expect(status == JSTATUS_SUCCESS .and. bytes == 1610612736, "trailing blanks are none")
    named = jallocator_options_t(name=jalloc_c_text("mine", name))
    call expect(jalloc_text(named%name) == "mine", "a text in options")
    call expect(jalloc_text(c_null_ptr) == "", "NULL is empty")
    host = jdevice_get_host()
    call expect(c_associated(host%pointer), "the host is always there")
  end subroutine

  ! On a thread of its own.
  function begin_again(argument) bind(c) result(answer)
    type(c_ptr), value :: argument
    type(c_ptr) :: answer

    others_status = shared_guard%begin(shared_handle, [64_c_size_t], "another thread")
    answer = argument
  end function

  ! A borrow is its thread's: it is not lost when a guard is begun again by another one.
  subroutine test_guard_of_another_thread()
    type(jhandle_stats_t) :: stats
    integer(c_intptr_t) :: thread
    integer(jstatus_t) :: status
    interface
      function pthread_create(thread, attributes, function, argument) bind(c) result(failed)
        import
        integer(c_intptr_t), intent(out) :: thread
        type(c_ptr), value :: attributes, argument
        type(c_funptr), value :: function
        integer(c_int) :: failed
      end function
      function pthread_join(thread, answer) bind(c) result(failed)
        import
        integer(c_intptr_t), value :: thread
        type(c_ptr), value :: answer
        integer(c_int) :: failed
      end function
    end interface

    status = jhandle_create(shared_handle)
    status = shared_guard%begin(shared_handle, [64_c_size_t], "this thread")
    call expect(status == JSTATUS_SUCCESS, "a borrow of this thread")
    call expect(pthread_create(thread, c_null_ptr, c_funloc(begin_again), c_null_ptr) == 0, "another thread")
    call expect(pthread_join(thread, c_null_ptr) == 0, "which ends")
    call expect(others_status == JSTATUS_BUSY, "is refused")
    status = shared_guard%end()
    call expect(status == JSTATUS_SUCCESS, "the borrow is still this thread's, and ends")
    status = jhandle_get_stats(shared_handle, stats)
    call expect(stats%live_borrow_count == 0, "none is lost")
    status = jhandle_destroy(shared_handle)
    call expect(status == JSTATUS_SUCCESS, "the handle ends")
  end subroutine

  ! Names of plans are told apart by all their letters, however many there are. Fills the table of tags.
  subroutine test_names()
    type(jhandle_t) :: handle
    type(jborrow_guard) :: workspace
    type(jplan_t) :: plan
    real(real64), pointer :: x(:), a(:, :)
    character(:), allocatable :: name
    character(8) :: number
    integer(jstatus_t) :: status
    integer :: i

    status = jhandle_create(handle)
    do i = 1, 1100
      write (number, "(i0)") i
      if (jtag_intern("tag " // number) == 0) exit
    end do
    call expect(i < 1100, "there are so many tags")
    name = repeat("a long name ", 12)
    do i = 1, 300
      write (number, "(i0)") i
      call jplan_init(plan, handle, name // number, "n", [1_int64])
      call jplan_add(plan, name // number, 0, 0_c_size_t, 1_c_size_t, [64_c_size_t])
      status = workspace%begin_plan(handle, plan)
      call expect(status == JSTATUS_SUCCESS .and. workspace%way() == name // trim(number), "a rung keeps its name")
      call expect(jalloc_text(plan%routine) == name // trim(number), "and a routine")
    end do
    call jplan_init(plan, handle, name // "7", "n", [1_int64])
    call jplan_add(plan, name // "7  ", 0, 0_c_size_t, 1_c_size_t, [64_c_size_t])
    call expect(c_associated(plan%routine, plan%rungs(1)%name), "equal names are one")

    ! What is not there has no array, and sizes below 0 are none.
    status = workspace%begin(handle, [64_c_size_t, 0_c_size_t], "two")
    call workspace%get(2, x, 0_int64)
    call expect(associated(x), "an empty buffer is there")
    call workspace%get(3, x, 0_int64)
    call expect(.not. associated(x), "a third of two is not")
    call workspace%get(1, a, -2_int64, -3_int64)
    call expect(.not. associated(a), "sizes below 0")
    call workspace%get(1, a, 0_int64, -1_int64)
    call expect(.not. associated(a), "one size below 0")
    call workspace%get(1, a, 4_int64, 2_int64)
    call expect(associated(a), "all of it")
    status = workspace%end()
    call workspace%get(2, x, 0_int64)
    call expect(.not. associated(x), "after the end nothing is there")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "it ends")
  end subroutine

  subroutine test_out_of_memory()
    type(jallocator_t) :: allocator
    type(jhandle_t) :: handle
    type(jborrow_guard) :: workspace
    real(real64), pointer :: x(:)
    integer(jstatus_t) :: status

    status = jallocator_compose(jdevice_t(), "malloc+limit(limit=4096)", allocator)
    call expect(status == JSTATUS_SUCCESS, "little memory")
    status = jhandle_create(handle, jhandle_options_t(preallocate_bytes=8192, allocator=allocator))
    call expect(status == JSTATUS_MEMORY_ERROR, "is not enough")
    call expect(.not. c_associated(handle%pointer), "and leaves the handle as it was")
    status = jhandle_create(handle, jhandle_options_t(allocator=allocator))
    call expect(status == JSTATUS_SUCCESS, "a handle that grows")
    status = workspace%begin(handle, [8192_c_size_t], "greedy")
    call expect(status == JSTATUS_MEMORY_ERROR, "a borrow that does not fit")
    call expect(index(jhandle_last_message(handle), "greedy") > 0, "names its routine: " // jhandle_last_message(handle))
    call workspace%get(1, x, 1024_int64)
    call expect(.not. associated(x), "and has no array")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "with no borrow left")
    status = jallocator_destroy(allocator)
    call expect(status == JSTATUS_SUCCESS, "nor a block")
  end subroutine

  function double_all(handle, n, x, leave_early) result(status)
    type(jhandle_t), intent(in) :: handle
    integer(int64), intent(in) :: n
    real(real64), intent(inout) :: x(n)
    logical, intent(in) :: leave_early
    integer(jstatus_t) :: status
    type(jborrow_guard) :: workspace
    real(real64), pointer, contiguous :: copy(:)

    if (jhandle_is_size_query(handle)) then
      status = jhandle_set_optimal_size(handle, 1_c_size_t, [8 * n])
      return
    end if
    status = workspace%begin(handle, [8 * n], "double_all")
    if (jstatus_is_error(status)) return
    if (leave_early) return
    block
      type(jborrow_guard) :: inner
      integer(int32), pointer :: order(:, :)

      status = inner%begin(handle, [4 * n, 0_c_size_t], "order")
      call inner%get(1, order, 2_int64, n / 2)
      call expect(all(shape(order) == [2_int64, n / 2]), "an array of two dimensions")
      order = 7
      call inner%get(2, order, 0_int64, 3_int64)
      call expect(associated(order) .and. size(order) == 0, "one without elements")
      call inner%get(2, order, 1_int64, 1_int64)
      call expect(.not. associated(order), "none behind the buffer's end")
      call expect(.not. c_associated(inner%pointer(2)) .and. c_associated(inner%pointer(1)), "addresses")
    end block
    call workspace%get(1, copy, n)
    copy = x
    x = 2 * copy
  end function

  subroutine test_borrows()
    type(jhandle_t) :: handle
    type(jhandle_stats_t) :: stats
    type(jborrow_t) :: raw
    real(real64) :: x(100)
    complex(real32), pointer :: y(:)
    integer(c_size_t) :: bytes
    integer(jstatus_t) :: status

    status = jhandle_create(handle)
    call expect(status == JSTATUS_SUCCESS, "a handle")
    status = jhandle_start_size_query(handle)
    call expect(status == JSTATUS_SUCCESS, "a query")
    status = double_all(handle, 100_int64, x, .false.)
    call expect(status == JSTATUS_SIZE_INCREASED, "is answered")
    status = jhandle_stop_size_query(handle, bytes)
    call expect(status == JSTATUS_SUCCESS .and. bytes == 832, "and rounded up to the granule")

    x = 3
    status = double_all(handle, 100_int64, x, .false.)
    call expect(status == JSTATUS_SUCCESS .and. all(x == 6), "a routine of one's own")
    status = double_all(handle, 100_int64, x, .true.)
    call expect(status == JSTATUS_SUCCESS .and. all(x == 6), "that is left early")
    status = jhandle_get_stats(handle, stats)
    call expect(status == JSTATUS_SUCCESS, "statistics")
    call expect(stats%live_borrow_count == 0 .and. stats%borrow_count == 3 .and. stats%misuse_count == 0, &
      "each borrow ended with its scope")
    call expect(jalloc_text(stats%peak_routine) == "order", "the routine's name is kept: " // jalloc_text(stats%peak_routine))

    status = jborrow_begin(raw, handle, "raw", 1_c_size_t, [64_c_size_t])
    call expect(status == JSTATUS_SUCCESS .and. raw%ok, "a borrow as in C")
    call c_f_pointer(raw%ptr(1), y, [8])
    y = (1, 2)
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_BUSY, "is live")
    status = jborrow_end(raw)
    call expect(status == JSTATUS_SUCCESS, "until it ends")
    status = jborrow_end(raw)
    call expect(status == JSTATUS_SUCCESS, "which it may do twice")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "the handle ends")
  end subroutine

  subroutine test_guard()
    type(jhandle_t) :: handle
    type(jborrow_guard) :: workspace, other
    type(jhandle_stats_t) :: stats
    real(real64), pointer :: x(:)
    integer(jstatus_t) :: status

    status = jhandle_create(handle)
    call expect(status == JSTATUS_SUCCESS, "a handle")
    status = workspace%end()
    call expect(status == JSTATUS_SUCCESS, "what was not begun has ended")
    status = workspace%begin(handle, [64_c_size_t], "first")
    call expect(status == JSTATUS_SUCCESS, "a borrow")
    status = workspace%begin(handle, [128_c_size_t], "second")
    call expect(status == JSTATUS_SUCCESS, "another by the same variable")
    status = other%begin(handle, spread(64_c_size_t, 1, 9), "many")
    call expect(status == JSTATUS_INVALID_VALUE, "nine buffers are too many")
    call workspace%get(1, x, 16_int64)
    call expect(associated(x), "its array")
    call workspace%get(1, x, 17_int64)
    call expect(.not. associated(x), "that is no longer than it")
    call workspace%get(0, x, 1_int64)
    call expect(.not. associated(x), "there is no buffer 0")
    call workspace%get(1, x, -1_int64)
    call expect(.not. associated(x), "nor a size below 0")
    status = jhandle_get_stats(handle, stats)
    call expect(status == JSTATUS_SUCCESS .and. stats%live_borrow_count == 1, "one is live")
    status = workspace%end()
    call expect(status == JSTATUS_SUCCESS, "it ends")
    call workspace%get(1, x, 1_int64)
    call expect(.not. associated(x), "and its arrays")
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "the handle ends")
  end subroutine

  subroutine test_plan()
    type(jhandle_t) :: handle
    type(jplan_t) :: plan
    type(jborrow_guard) :: workspace
    real(real64), pointer :: x(:)
    integer(jstatus_t) :: status

    status = jhandle_create(handle)
    call expect(status == JSTATUS_SUCCESS, "a handle")
    call jplan_init(plan, handle, "my_sort", "n", [1000_int64])
    call jplan_add(plan, "merge", 0_c_int32_t, 0_c_size_t, 1_c_size_t, [8000_c_size_t])
    call jplan_add(plan, "in-place", 0_c_int32_t, 0_c_size_t, 0_c_size_t, [0_c_size_t])
    call expect(plan%status == JSTATUS_SUCCESS .and. plan%rung_count == 2, "a plan")
    call expect(jplan_bytes(plan, handle) == 8000, "needs its best rung")
    status = workspace%begin_plan(handle, plan)
    call expect(status == JSTATUS_SUCCESS .and. workspace%way() == "merge", "and has it")
    call workspace%get(1, x, 1000_int64)
    call expect(associated(x), "with its memory")
    status = workspace%end()
    status = jhandle_set_fixed_workspace_size(handle, 64_c_size_t)
    call expect(status == JSTATUS_SUCCESS, "in too little")
    status = workspace%begin_plan(handle, plan)
    call expect(status == JSTATUS_PERF_DEGRADED .and. workspace%way() == "in-place", "it takes the next")
    status = workspace%end()
    status = jhandle_destroy(handle)
    call expect(status == JSTATUS_SUCCESS, "the handle ends")
  end subroutine

  subroutine sink(context, level, line) bind(c)
    type(c_ptr), value :: context
    integer(jlog_level_t), value :: level
    type(c_ptr), value :: line

    if (c_associated(context) .and. level == JLOG_ERROR) lines = lines + 1
    last_line = jalloc_text(line)
  end subroutine

  subroutine test_callback()
    procedure(jlog_sink_t), pointer :: checked
    integer, target :: mark
    integer(jstatus_t) :: status

    checked => sink ! its interface is that of the C type
    status = jlog_set_sink(c_funloc(sink), c_loc(mark))
    call expect(status == JSTATUS_SUCCESS .and. associated(checked), "a function that C calls")
    call jlog_write(JLOG_ERROR, c_null_ptr, "50 % of a line")
    call expect(lines == 1, "has been called")
    call expect(index(last_line, "50 % of a line") > 0, "with the text: " // last_line)
    status = jlog_set_sink(c_null_funptr, c_null_ptr)
    call expect(status == JSTATUS_SUCCESS, "and is called no more")
  end subroutine

  subroutine test_segment()
    type(jsegment_t) :: segment
    type(jshared_t) :: shared
    type(jsegment_options_t) :: options
    integer(joffset_t) :: offset, root
    real(real32), pointer :: x(:)
    integer(c_int) :: count
    integer(jstatus_t) :: status

    options%size_bytes = 2**20
    status = jsegment_create(options=options, segment=segment)
    call expect(status == JSTATUS_SUCCESS, "a segment: " // jstatus_last_message())
    status = jshared_create(segment, 5_int64, shared)
    call expect(status == JSTATUS_SUCCESS, "an allocator in it")
    status = jshared_allocate(shared, 4096_c_size_t, 0_c_size_t, offset)
    call expect(status == JSTATUS_SUCCESS, "a block")
    call c_f_pointer(jsegment_pointer(segment, offset, 4096_c_size_t), x, [1024])
    x = 1
    status = jsegment_set_root(segment, "x", offset)
    call expect(status == JSTATUS_SUCCESS, "with a name")
    status = jsegment_get_root(segment, "x", root)
    call expect(status == JSTATUS_SUCCESS .and. root == offset, "by which it is found")
    status = jsegment_recover(segment)
    call expect(status == JSTATUS_SUCCESS, "a result that is not wanted")
    status = jsegment_recover(segment, count)
    call expect(status == JSTATUS_SUCCESS .and. count == 0, "and one that is")
    status = jshared_deallocate(shared, offset)
    call expect(status == JSTATUS_SUCCESS, "it is given back")
    status = jsegment_destroy(segment)
    call expect(status == JSTATUS_SUCCESS, "the segment ends")
  end subroutine

  subroutine test_layout_and_buffer()
    type(jlayout_t) :: layout, slice
    character(len=JLAYOUT_TEXT_BYTES) :: text
    integer(jdatatype_t) :: type
    integer(int64) :: starts(8), extents(8), offset
    integer(jstatus_t) :: status

    status = jlayout_init(layout, 2, [6_int64, 4_int64], JORDER_COLUMN_MAJOR)
    call expect(status == JSTATUS_SUCCESS, "a layout")
    status = jlayout_format(layout, text, len(text, c_size_t), JDATATYPE_F64)
    call expect(status == JSTATUS_SUCCESS, "as text")
    call expect(jalloc_text(text) == "f64[6,4]", "in a variable of Fortran: " // jalloc_text(text))
    status = jlayout_format(layout, text, len(text, c_size_t))
    call expect(status == JSTATUS_SUCCESS .and. jalloc_text(text) == "[6,4]", "without a type")
    status = jlayout_parse("i32[3]", slice, type)
    call expect(status == JSTATUS_SUCCESS .and. type == JDATATYPE_I32, "and back")
    status = jlayout_slice(layout, [1_int64, 1_int64], [2_int64, 2_int64], slice, offset)
    call expect(status == JSTATUS_SUCCESS .and. offset == 7, "a slice in steps of 1")
    status = jlayout_slice(layout, [0_int64, 0_int64], [3_int64, 2_int64], slice, offset, steps=[2_int64, 3_int64])
    call expect(status == JSTATUS_SUCCESS .and. slice%strides(2) == 18, "and in others")
    status = jlayout_get_block(layout, 0_int64, starts, extents)
    call expect(status == JSTATUS_SUCCESS .and. all(extents(:2) == [6, 4]), "a block")
  end subroutine

  subroutine test_half()
    type(jfloat16_t) :: half

    half = jalloc_f16_from_f32(1.5)
    call expect(half%bits == int(z'3e00') .and. jalloc_f32_from_f16(half) == 1.5, "binary16 there and back")
    call expect(jalloc_f32_from_bf16(jalloc_bf16_from_f32(-2.0)) == -2.0, "bfloat16")
  end subroutine

end module

program calls_test
  use calls
  call test_statuses()
  call test_options()
  call test_out_of_memory()
  call test_borrows()
  call test_guard()
  call test_guard_of_another_thread()
  call test_plan()
  call test_callback()
  call test_segment()
  call test_layout_and_buffer()
  call test_half()
  call test_names()
  call finish()
end program
