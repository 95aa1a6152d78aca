program fortran_segment
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer
  use jalloc
  implicit none
  integer(int64), parameter :: n = 100

  call create()

contains

  subroutine create()
    integer(int64) :: at
    real(real64), pointer :: x(:)
    ! snippet create
    call attach(options)
    call c_f_pointer(jsegment_pointer(segment, at, 8 * n), x, [n])
    if (any(abs(x - 1) > 0)) error stop 2
    call try(jshared_close(heap))
    call try(jsegment_destroy(segment))
  end subroutine

  subroutine attach(options)
    type(jsegment_options_t), intent(in) :: options
    type(jsegment_t) :: segment
    integer(int64) :: at
    real(real64), pointer :: x(:)
    ! snippet attach
  end subroutine

  subroutine try(status)
    integer(jstatus_t), intent(in) :: status

    if (.not. jstatus_is_error(status)) return
    print "(a)", jstatus_last_message()
    error stop 1
  end subroutine

end program
