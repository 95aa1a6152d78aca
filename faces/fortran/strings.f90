! Copyright (c) 2026 the jalloc authors
! SPDX-License-Identifier: MIT
!
! Texts between Fortran, where they have a length, and C, where a zero byte ends them.
module jalloc_strings
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_loc, c_null_char, c_ptr, c_size_t
  implicit none
  private
  public :: jalloc_text, jalloc_c_text

  !> The text of C: of a pointer (empty for NULL), or of a member or variable that holds it.
  interface jalloc_text
    module procedure text_of_pointer, text_of_letters, text_of_variable
  end interface

  interface
    pure function strlen(text) bind(c, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  function text_of_pointer(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)

    if (.not. c_associated(pointer)) then
      text = ""
      return
    end if
    call c_f_pointer(pointer, letters, [strlen(pointer)])
    text = text_of_letters(letters)
  end function

  pure function text_of_letters(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(:), allocatable :: text
    integer :: i, length

    length = size(letters)
    do i = 1, size(letters)
      if (letters(i) == c_null_char) then
        length = i - 1
        exit
      end if
    end do
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  pure function text_of_variable(variable) result(text)
    character(*), intent(in) :: variable
    character(:), allocatable :: text
    integer :: length

    length = index(variable, c_null_char) - 1
    if (length < 0) length = len_trim(variable)
    text = variable(:length)
  end function

  !> A pointer for a member of options: `storage` gets the text, without trailing blanks, and its zero byte, and must live
  !> as long as C reads it.
  function jalloc_c_text(text, storage) result(pointer)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable, target, intent(inout) :: storage(:)
    type(c_ptr) :: pointer
    integer :: i, length

    length = len_trim(text)
    if (allocated(storage)) deallocate (storage)
    allocate (storage(length + 1))
    do i = 1, length
      storage(i) = text(i:i)
    end do
    storage(length + 1) = c_null_char
    pointer = c_loc(storage)
  end function

end module
