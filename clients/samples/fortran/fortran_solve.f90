! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! From Fortran: query, then preallocate, and a kernel of one's own.
!
! The program solves A X = B for a symmetric positive definite A by Cholesky factors and measures the residual, A X - B,
! relative to the size of each row of A. The calls are written once, in solve(), so what is asked is what is run: while the
! handle is queried they look at no operand and only say how much workspace would serve them best. A handle made with
! exactly that many bytes never allocates again and takes no slower way.
module systems
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  private
  public :: solve, scaled_residual

contains

  ! A becomes its factor and B the solution.
  function solve(handle, n, nrhs, a, b, info) result(status)
    type(jhandle_t), intent(in) :: handle
    integer(int64), intent(in) :: n, nrhs
    real(real64), intent(inout) :: a(n, n), b(n, nrhs)
    integer(int64), intent(inout) :: info
    integer(jstatus_t) :: status

    status = jlapack_potrf(handle, JBLAS_LOWER, n, a, n, info)
    if (jstatus_is_error(status)) return
    status = jlapack_potrs(handle, JBLAS_LOWER, n, nrhs, a, n, b, n)
  end function

  ! The largest element of A X - B, each row divided by the largest element of that row of A. The residual and the rows' sizes
  ! are borrowed: the guard gives them back when the function is left, by whichever way.
  function scaled_residual(handle, n, nrhs, a, x, b, largest) result(status)
    type(jhandle_t), intent(in) :: handle
    integer(int64), intent(in) :: n, nrhs
    real(real64), intent(in) :: a(n, n), x(n, nrhs), b(n, nrhs)
    real(real64), intent(inout) :: largest
    integer(jstatus_t) :: status
    type(jborrow_guard) :: workspace
    real(real64), pointer, contiguous :: residual(:, :), row(:)
    integer(int64) :: bytes(2), j, k

    bytes = [jalloc_matrix_bytes(JDATATYPE_F64, n, nrhs), jalloc_matrix_bytes(JDATATYPE_F64, n, 1_int64)]
    if (jhandle_is_size_query(handle)) then
      status = jhandle_set_optimal_size(handle, size(bytes, kind=int64), bytes)
      return
    end if
    status = workspace%begin(handle, bytes, "scaled_residual")
    if (jstatus_is_error(status)) return
    call workspace%get(1, residual, n, nrhs)
    call workspace%get(2, row, n)

    row = maxval(abs(a), dim=2)
    residual = -b
    do j = 1, nrhs
      do k = 1, n
        residual(:, j) = residual(:, j) + a(:, k) * x(k, j)
      end do
    end do
    largest = maxval(maxval(abs(residual), dim=2) / row)
  end function

end module

program fortran_solve
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  use systems
  implicit none
  integer(int64), parameter :: n = 300, nrhs = 40
  real(real64), allocatable :: a(:, :), factor(:, :), x(:, :), b(:, :)
  type(jhandle_t) :: handle
  type(jhandle_stats_t) :: stats
  real(real64) :: largest
  integer(int64) :: bytes, info, i, j

  allocate (a(n, n), factor(n, n), x(n, nrhs), b(n, nrhs))
  do j = 1, n
    do i = 1, n
      a(i, j) = 1.0_real64 / (1 + abs(i - j))
    end do
    a(j, j) = a(j, j) + 1
  end do
  call random_number(b)

  call try(jhandle_create(handle))
  call try(jhandle_start_size_query(handle))
  call try(solve(handle, n, nrhs, factor, x, info))
  call try(scaled_residual(handle, n, nrhs, a, x, b, largest))
  call try(jhandle_stop_size_query(handle, bytes))
  call try(jhandle_destroy(handle))
  print "(a, i0, a)", "the calls want ", bytes, " bytes of workspace"

  call try(jhandle_create(handle, jhandle_options_t(preallocate_bytes=bytes)))
  call try(jhandle_clear_stats(handle)) ! from here on: what the calls do
  factor = a
  x = b
  call try(solve(handle, n, nrhs, factor, x, info))
  if (info > 0) error stop "A is not positive definite"
  call try(scaled_residual(handle, n, nrhs, a, x, b, largest))
  call try(jhandle_get_stats(handle, stats))
  print "(a, es8.1, a, i0, a)", "largest residual ", largest, ", ", stats%allocation_count, " allocations during the calls"
  if (largest > 1e-12_real64 .or. stats%allocation_count /= 0 .or. stats%degraded_count /= 0) error stop "that is not so"
  call try(jhandle_destroy(handle))

contains

  subroutine try(status)
    integer(jstatus_t), intent(in) :: status

    if (.not. jstatus_is_error(status)) return
    print "(3a)", jstatus_text(status), ": ", jstatus_last_message()
    error stop 1
  end subroutine

end program
