! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! The module that programs use: the C interface, its texts, and borrows.
module jalloc
  use jalloc_strings
  use jalloc_interfaces
  use jalloc_borrows
  implicit none
  public
end module
