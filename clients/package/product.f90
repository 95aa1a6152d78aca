! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! A program that knows BLAS and nothing of jalloc. Ends with 0 when its product is right.
program product_by_blas
  implicit none
  integer, parameter :: n = 30
  double precision :: a(n, n), b(n, n), c(n, n)
  integer :: i, j
  external dgemm

  a = reshape([((modulo(7 * i + 3 * j, 11) - 5, i = 1, n), j = 1, n)], [n, n]) ! small integers: every product is exact
  b = transpose(a) + 1
  call dgemm("N", "N", n, n, n, 1d0, a, n, b, n, 0d0, c, n)
  if (any(abs(c - matmul(a, b)) > 0)) error stop 1
end program
