! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! The least that a user does, in Fortran: a handle, a borrow, a dot product, a solve and a layout. Ends with 0 when the
! numbers are right.
program hello
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use jalloc
  implicit none
  type(jhandle_t) :: handle
  real(real64) :: a(2, 2) = reshape([0, 1, 2, 0], [2, 2]), b(2, 1) = reshape([4, 3], [2, 1]) ! 2 x2 = 4, x1 = 3
  integer(int64) :: ipiv(2), info
  type(jlayout_t) :: layout

  if (jhandle_create(handle) /= JSTATUS_SUCCESS) error stop 1
  call use_borrow()
  if (jstatus_is_error(jlapack_gesv(handle, 2_int64, 1_int64, a, 2_int64, ipiv, b, 2_int64, info))) error stop 2
  if (info /= 0 .or. any(abs(b(:, 1) - [3, 2]) > 0)) error stop 3
  if (jlayout_init(layout, 2, [3_int64, 4_int64], JORDER_COLUMN_MAJOR) /= JSTATUS_SUCCESS) error stop 4
  if (jhandle_destroy(handle) /= JSTATUS_SUCCESS) error stop 5

contains

  subroutine use_borrow()
    integer(int64), parameter :: n = 1000
    type(jborrow_guard) :: workspace
    real(real64), pointer, contiguous :: x(:), y(:)
    real(real64) :: sum
    integer(int64) :: i

    if (jstatus_is_error(workspace%begin(handle, [8 * n, 8 * n], "hello"))) error stop 6
    call workspace%get(1, x, n)
    call workspace%get(2, y, n)
    x = [(real(i, real64), i = 0, n - 1)]
    y = 2
    if (jstatus_is_error(jblas_dot(handle, n, x, 1_int64, y, 1_int64, sum))) error stop 7
    print "(3a, f0.0)", "jalloc ", jalloc_version_string(), ": ", sum
    if (abs(sum - (n - 1) * n) > 0) error stop 8
  end subroutine

end program
