! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! Routines of each element type, by their generic names, beside loops.
module numbers
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use jalloc
  use check
  implicit none
contains

#define SUITE test_s
#define NUMBER real(real32)
#define PRECISION real32
#define CONJUGATE(x) (x)
#define NUMBER_OF(re, im) (re + 0 * (im))
#define DOT jblas_dot
#include "numbers.inc"
#undef SUITE
#undef NUMBER
#undef PRECISION

#define SUITE test_d
#define NUMBER real(real64)
#define PRECISION real64
#include "numbers.inc"
#undef SUITE
#undef NUMBER
#undef PRECISION
#undef CONJUGATE
#undef NUMBER_OF
#undef DOT

#define SUITE test_c
#define NUMBER complex(real32)
#define PRECISION real32
#define CONJUGATE(x) conjg(x)
#define NUMBER_OF(re, im) cmplx(re, im, wp)
#define DOT jblas_dotc
#include "numbers.inc"
#undef SUITE
#undef NUMBER
#undef PRECISION

#define SUITE test_z
#define NUMBER complex(real64)
#define PRECISION real64
#include "numbers.inc"

end module

program numbers_test
  use numbers
  type(jhandle_t) :: handle
  integer(jstatus_t) :: status

  call random_seed()
  call expect(jhandle_create(handle) == JSTATUS_SUCCESS, "a handle")
  call test_s(handle)
  call test_d(handle)
  call test_c(handle)
  call test_z(handle)
  status = jhandle_destroy(handle)
  call expect(status == JSTATUS_SUCCESS, "the handle ends")
  call finish()
end program
