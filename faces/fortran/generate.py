# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Makes the Fortran module jalloc_interfaces of the public headers, and the tests that hold the two against each other:

    generate.py module FILE.f90              enumerations, numbers, types, interfaces, generic names
    generate.py get FILE.inc                 borrowed memory as arrays, for each type
    generate.py layout FILE.c FILE.f90       every size, offset, initial byte, number and symbol, as C and Fortran have it
    generate.py generics FILE.f90            a call by every generic name, for each type

What a call looks like in Fortran is decided here, by these rules:

- An object (jhandle_t *) is a type that holds the pointer, so that a compiler tells a handle from an allocator. It is
  passed by value: a struct of one pointer goes where the pointer goes in the calling conventions of all processors that
  jalloc is built for. It is not returned as one, which flang 19 does wrongly.
- Structs, whose names end in _t as in C, begin as their INIT macro says.
- What C changes is intent(inout), never intent(out), because a call that fails leaves it as it was.
- Arrays are of assumed size, so that any array fits by sequence association. How many dimensions they have matters to
  generic names alone: a matrix has two, a vector one, and a strided batch one more.
- A text is a character(*), which needs a copy with a zero byte; what may be NULL is optional and comes last, as Fortran
  wants. Functions with such arguments are procedures of the module; all others are the C functions themselves."""

import dataclasses
import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import declarations  # pylint: disable=wrong-import-position

LICENCE = "! Copyright (c) 2026 the jalloc authors\n! SPDX-License-Identifier: MIT\n! Made by faces/fortran/generate.py of the headers.\n"

# Of MPI's types Fortran has others than C (docs/fortran.rst says what to do).
LEFT_OUT_HEADERS = {"mpi.h"}
LEFT_OUT_STRUCTS = {"cudaStream_t", "hipStream_t"}

# (Fortran's type, bytes). LP64, as everywhere where jalloc is built.
SCALARS = {
    "size_t": ("integer(c_size_t)", 8), "int64_t": ("integer(c_int64_t)", 8), "uint64_t": ("integer(c_int64_t)", 8),
    "uintptr_t": ("integer(c_intptr_t)", 8), "int": ("integer(c_int)", 4), "unsigned": ("integer(c_int)", 4),
    "uint32_t": ("integer(c_int32_t)", 4), "uint16_t": ("integer(c_int16_t)", 2),
    "unsigned char": ("integer(c_signed_char)", 1), "bool": ("logical(c_bool)", 1),
    "float": ("real(c_float)", 4), "double": ("real(c_double)", 8),
    "jcomplex_f32_t": ("complex(c_float_complex)", 8), "jcomplex_f64_t": ("complex(c_double_complex)", 16),
    "char": ("character(kind=c_char)", 1),
}
ELEMENTS = {"float", "double", "jcomplex_f32_t", "jcomplex_f64_t", "jfloat16_t", "jbfloat16_t", "int64_t"}

# Of a routine's pointers without a leading dimension, an increment or a stride these are one number each; in batches
# `result` and `info` are arrays.
NUMBERS = {"alpha", "beta", "result", "info", "abstol", "above", "up_to", "anorm", "rcond", "iter", "count", "rank"}
NUMBERS_OF = {"rot": {"c", "s"}, "rotg": {"a", "b", "c", "s"}, "rotmg": {"d1", "d2", "x1", "y1"}}
ARRAYS_WRITTEN = {("jlayout_get_block", "starts"), ("jlayout_get_block", "extents"), ("jbuffer_lu", "pivots"),
                  ("jbuffer_eigen_symmetric", "values"), ("jbuffer_svd", "values"), ("jallocator_track_get_records", "records")}
NUMBERS_READ = {("jlayout_format", "type")}

# A struct that C keeps after the call: its address is given, c_loc of a target.
KEPT_STRUCTS = {("jhandle_set_executor", "executor")}
# Texts that C does not copy: the process keeps them, as names of tags.
KEPT_TEXTS = {"routine", "shape_names"}
KEPT_TEXTS_OF = {("jplan_add", "name")}
# Fortran has no upper and lower case: a function that is called as a constant is has another name.
RENAMED = {"jdevice_host": "jdevice_get_host"}
# What has no brothers of other types; nor are batches by pointers told apart where these are all.
WITHOUT_GENERIC = re.compile(r"jblas_(?:\w+_ex|get_\w+|cblas_\w+|s?dsdot)|jlapack_(?:(?:ds|zc)(?:ge|po)sv|lapack_\w+)")
# jplan_init() is a function of C's, by which every plan is begun (borrows.f90).
WITHOUT_INIT = {"JPLAN_INIT"}
# Instead of a format and its arguments a finished text, by variadic.c.
INSTEAD_OF_FORMAT = {"jhandle_fail": "jalloc_fortran_fail", "jlog_write": "jalloc_fortran_log"}


@dataclasses.dataclass
class Argument:
    """One argument: of the C function as Fortran sees it (declaration), and of the procedure around it (outer)."""
    name: str
    declaration: str  # type and attributes of the C function's
    outer: str = ""  # of the procedure's where it differs
    optional: bool = False
    dimensions: str = ""
    locals: list = dataclasses.field(default_factory=list)
    before: list = dataclasses.field(default_factory=list)
    actual: str = ""
    after: list = dataclasses.field(default_factory=list)

    def key(self):
        """What generic names tell apart: type and number of dimensions."""
        return self.declaration.split(",")[0], self.dimensions.count(",") + 1 if self.dimensions else 0


class Generator:
    """Reads the headers once and answers in Fortran."""

    def __init__(self):
        found = declarations.read()
        self.found = found
        self.functions = [f for f in found.functions.values() if f.header not in LEFT_OUT_HEADERS]
        self.structs = {s.name: s for s in found.structs.values()
                        if s.header not in LEFT_OUT_HEADERS and s.name not in LEFT_OUT_STRUCTS}
        self.objects = [s for s in self.structs.values() if s.members is None]
        self.records = self.in_order([s for s in self.structs.values() if s.members is not None])
        self.numbers = dict(found.numbers, JOFFSET_NULL=0)
        self.constants = dict(self.numbers)
        self.check_names()
        for enum in found.enums.values():
            self.constants.update(enum.values)

    def check_names(self):
        """No two that Fortran would take for one."""
        names = [fortran_name(f) for f in self.functions] + list(self.structs) + list(self.numbers) + list(self.found.enums)
        names += [value for enum in self.found.enums.values() for value in enum.values]
        names += [name for name, *_ in self.callbacks()] + ["jplan_init"]
        names += [s.initializer for s in self.records if s.initializer and s.initializer not in WITHOUT_INIT]
        seen = {}
        for name in names:
            if seen.setdefault(name.lower(), name) is not name:
                raise SyntaxError(f"{name} and {seen[name.lower()]} are one name in Fortran")

    def in_order(self, records):
        """Structs behind those that are members of theirs."""
        done = []

        def visit(struct):
            for member in struct.members:
                inner = self.structs.get(member.type)
                if inner and inner.members is not None and member.parameters is None:
                    visit(inner)
            if struct not in done:
                done.append(struct)
        for record in records:
            visit(record)
        return done

    # ---- Types ----

    def scalar(self, kind):
        """(Fortran's type, bytes) of a C type that is no pointer; None for what is none."""
        if kind in SCALARS:
            return SCALARS[kind]
        if kind in self.found.enums:
            return f"integer({kind})", 4
        if kind in self.found.aliases:
            return f"integer({kind})", SCALARS[self.found.aliases[kind]][1]
        if kind in self.structs and self.structs[kind].members is not None:
            return f"type({kind})", self.size(kind)[0]
        return None

    def value(self, kind):
        """(Fortran's type, bytes) of what is passed by value or stored."""
        if kind in self.found.callbacks:
            return "type(c_funptr)", 8
        if kind in ("cudaStream_t", "hipStream_t"):
            return "type(c_ptr)", 8
        if kind.endswith("*"):
            pointed = kind.removesuffix("*").replace("const ", "").strip()
            is_object = pointed in self.structs and self.structs[pointed].members is None
            return (f"type({pointed})" if is_object else "type(c_ptr)"), 8
        known = self.scalar(kind)
        if known is None:
            raise SyntaxError(f"no Fortran type for {kind!r}")
        return known

    def member(self, member):
        """(Fortran's type, its bytes, how many)"""
        if member.parameters is not None:
            return "type(c_funptr)", 8, 1
        count = 1
        for extent in member.extents:
            count *= int(extent) if extent.isdigit() else self.numbers[extent]
        return *self.value(member.type), count

    def alignment(self, kind):
        if kind in self.structs and self.structs[kind].members is not None:
            return self.size(kind)[1]
        size = self.value(kind)[1]
        return 4 if kind == "jcomplex_f32_t" else 8 if kind == "jcomplex_f64_t" else size

    def size(self, name):
        """(bytes, alignment) of a struct."""
        size, largest = 0, 1
        for member in self.structs[name].members:
            _, one, count = self.member(member)
            alignment = 8 if member.parameters is not None else self.alignment(member.type)
            size = -(-size // alignment) * alignment + one * count
            largest = max(largest, alignment)
        return -(-size // largest) * largest, largest

    def initial(self, kind, value):
        """A member's default."""
        if kind == "type(c_ptr)":
            return "c_null_ptr"
        if kind == "type(c_funptr)":
            return "c_null_funptr"
        if kind.startswith("type("):
            inner = self.structs[kind[5:-1]].members
            one = self.initial(self.member(inner[0])[0], "0") if inner is not None and len(inner) == 1 else ""
            return f"{kind[5:-1]}({one})"
        if kind.startswith("character"):
            return "c_null_char"
        if kind.startswith("logical"):
            return f".{'true' if value == 'true' else 'false'}._c_bool"
        value = value.strip("{} ").split(",")[0] or "0"
        if value.startswith("sizeof"):
            value = str(self.size(value[7:-1])[0])
        number = self.constants[value] if value in self.constants else int(value)
        kind_name = kind[kind.index("(") + 1:-1]
        return f"{number}.0_{kind_name}" if kind.startswith("real") else f"{signed(number)}_{kind_name}"

    # ---- Arguments ----

    def argument(self, function, parameter):
        names = {p.name for p in function.parameters}
        name, kind = "text" if function.variadic and parameter.name == "format" else parameter.name, parameter.type
        where = (function.name, name)
        optional = parameter.may_be_null
        if parameter.parameters is not None or kind in self.found.callbacks:
            return Argument(name, "type(c_funptr), value")
        if kind == "const char *":
            return self.text(name, optional, name in KEPT_TEXTS or where in KEPT_TEXTS_OF)
        if kind == "const char **":
            return Argument(name, "type(c_ptr), intent(inout)", "character(:), allocatable, intent(inout)", optional,
                            locals=[f"type(c_ptr) :: {name}_c"], before=[f"{name}_c = c_null_ptr"], actual=f"{name}_c",
                            after=[(f"if (present({name})) then\n  if (c_associated({name}_c)) {name} = jalloc_text({name}_c)\nend if"
                                    if optional else f"if (c_associated({name}_c)) {name} = jalloc_text({name}_c)")])
        if kind in ("char *",) or kind == "char":
            return Argument(name, "character(kind=c_char), intent(inout)", dimensions="*")
        if kind == "bool":
            return Argument(name, "logical(c_bool), value", "logical, intent(in)", actual=f"logical({name}, c_bool)")
        if where in KEPT_STRUCTS:
            return Argument(name, "type(c_ptr), value")
        is_array = bool(parameter.extents) or kind.endswith("*const *")
        pointed = kind.removesuffix("*const *").removesuffix("*const").removesuffix("*").strip()
        if parameter.extents and "*" in kind:  # pointers to the operands of a batch
            return Argument(name, "type(c_ptr), intent(in)", dimensions="*")
        if not is_array and (not kind.endswith("*") or self.is_object(pointed) or pointed in ("void", "const void")):
            return Argument(name, f"{self.value(kind)[0]}, value")
        constant = pointed.startswith("const ") or kind.endswith("*const *")
        pointed = pointed.replace("const ", "").strip()
        if is_array and kind.endswith("*const *"):
            base = f"type({pointed})"
        elif pointed.endswith("*"):  # an object or a pointer that comes out
            base = self.value(pointed)[0]
        else:
            base = self.scalar(pointed)[0]
        dimensions = self.dimensions(function, name, pointed, constant, is_array, names)
        declaration = f"{base}, intent({'in' if constant else 'inout'})"
        if not optional:
            return Argument(name, declaration, dimensions=dimensions)
        return Argument(name, "type(c_ptr), value", f"{declaration}, optional, target", True, dimensions,
                        [f"type(c_ptr) :: {name}_c"],
                        [f"{name}_c = c_null_ptr", f"if (present({name})) {name}_c = c_loc({name})"], f"{name}_c")

    def is_object(self, pointed):
        pointed = pointed.replace("const ", "").strip()
        return pointed in self.structs and self.structs[pointed].members is None

    @staticmethod
    def text(name, optional, kept):
        """A text goes in without trailing blanks and with a zero byte behind it."""
        if kept:
            return Argument(name, "type(c_ptr), value", "character(*), intent(in)", actual=f"kept({name})")
        if not optional:
            return Argument(name, "character(kind=c_char), intent(in)", "character(*), intent(in)", dimensions="*",
                            actual=f"trim({name}) // c_null_char")
        return Argument(name, "type(c_ptr), value", "character(*), intent(in), optional", True, "",
                        [f"character(kind=c_char), allocatable, target :: {name}_z(:)", f"type(c_ptr) :: {name}_c"],
                        [f"{name}_c = c_null_ptr", f"if (present({name})) {name}_c = jalloc_c_text({name}, {name}_z)"], f"{name}_c")

    def dimensions(self, function, name, pointed, constant, is_array, names):
        """What stands behind the name of an array; nothing for one number."""
        where = (function.name, name)
        if not function.name.startswith(("jblas_", "jlapack_")):
            is_list = constant and (pointed in SCALARS or pointed in self.found.aliases) and where not in NUMBERS_READ
            return "*" if is_array or is_list or where in ARRAYS_WRITTEN else ""
        if pointed not in ELEMENTS and not is_array:
            return ""
        batched, strided = "_batched" in function.name, f"stride_{name}" in names
        if f"ld{name}" in names:
            return f"ld{name}, 1, *" if strided else f"ld{name}, *"
        if strided:
            return f"stride_{name}, *"
        if is_array or f"inc{name}" in names:
            return "*"
        if name in NUMBERS and not (name in ("alpha", "beta") and not constant):
            return "*" if batched and name in ("result", "info") else ""
        routine = re.sub(r"_(strided_)?batched$", "", function.name).split("_", 1)[1]
        for plain, numbers in NUMBERS_OF.items():
            if re.fullmatch(f"(cs|zd|[sdcz]){plain}", routine) and name in numbers:
                return ""
        return "*"

    # ---- Declarations in Fortran ----

    def constants_text(self):
        out = []
        for alias, kind in self.found.aliases.items():
            out.append(f"integer, parameter :: {alias} = {SCALARS[kind][0][8:-1]}")
        for enum in self.found.enums.values():
            out.append(f"\n! {enum.header}\ninteger, parameter :: {enum.name} = c_int")
            out += [f"integer({enum.name}), parameter :: {name} = {value}" for name, value in enum.values.items()]
        out.append("")
        out += [f"{self.number_type(name, value)}, parameter :: {name} = {signed(value)}_{self.number_type(name, value)[8:-1]}"
                for name, value in self.numbers.items()]
        return out

    @staticmethod
    def number_type(name, value):
        """Sizes are compared with sizes."""
        is_size = name.endswith("_BYTES") or name == "JOFFSET_NULL" or value >= 2**31
        return "integer(c_size_t)" if is_size or name == "JALLOC_DEFAULT" else "integer(c_int)"

    def types_text(self):
        out = []
        for item in self.objects:
            out += [f"\n! {item.header}\ntype, bind(c) :: {item.name}", "  type(c_ptr) :: pointer = c_null_ptr", "end type"]
        for record in self.records:
            out.append(f"\n! {record.header}\ntype, bind(c) :: {record.name}")
            initial = record.initial or ["0"] * len(record.members)
            for member, value in zip(record.members, initial, strict=True):
                kind, _, count = self.member(member)
                shape = f"({count})" if member.extents else ""
                # A struct of one number is a number: arrays of it are not written before they are used.
                default = "" if len(record.members) == 1 else f" = {self.initial(kind, value)}"
                out.append(f"  {kind} :: {member.name}{shape}{default}")
            out.append("end type")
        return out

    def callbacks(self):
        """(name, returns, parameters) of the functions that a program gives."""
        for callback in self.found.callbacks.values():
            yield callback.name, callback.returns, callback.parameters
        for record in self.records:
            for member in record.members:
                if member.parameters is not None:
                    yield f"{record.name.removesuffix('_t')}_{member.name}_t", member.type, member.parameters

    def callbacks_text(self):
        out = ["abstract interface"]
        for name, returns, parameters in self.callbacks():
            arguments = []
            for p in parameters:
                if p.type == "const char *":
                    arguments.append(Argument(p.name, "type(c_ptr), value"))
                else:
                    arguments.append(self.argument(declarations.Function("", "", "", parameters, ""), p))
            out += self.body(name, arguments, self.raw_result(returns), "bind(c)")
        return out + ["end interface"]

    def raw_result(self, returns):
        """As the C function is declared; "" of void."""
        if returns == "void":
            return ""
        if returns.endswith("*"):
            return "type(c_ptr)"
        if returns in self.structs:  # two bytes in a register, as the number in it
            return self.value(self.structs[returns].members[0].type)[0]
        return self.value(returns)[0]

    def body(self, name, arguments, result, suffix, indent="  "):
        """An interface body."""
        names = ", ".join(a.name for a in arguments)
        kind = "function" if result else "subroutine"
        end = f" result({self.answer(arguments)})" if result else ""
        out = [f"{indent}{kind} {name}({names}) {suffix}{end}", f"{indent}  import"]
        for argument in sorted(arguments, key=lambda a: bool(a.dimensions)):  # sizes before the arrays of that size
            shape = f"({argument.dimensions})" if argument.dimensions and "c_ptr), value" not in argument.declaration else ""
            out.append(f"{indent}  {argument.declaration} :: {argument.name}{shape}")
        if result:
            out.append(f"{indent}  {result} :: {self.answer(arguments)}")
        return out + [f"{indent}end {kind}"]

    @staticmethod
    def answer(arguments):
        return "answer" if any(a.name == "status" for a in arguments) else "status"

    def needs_procedure(self, function, arguments):
        return (any(a.outer for a in arguments) or function.returns in ("const char *", "bool") or self.is_wrapped(function.returns))

    def is_wrapped(self, returns):
        return returns in self.structs or (returns.endswith("*") and self.is_object(returns.removesuffix("*").strip()))

    def calls(self):
        """(function, arguments, whether there is a procedure around it)"""
        for function in self.functions:
            arguments = [self.argument(function, p) for p in function.parameters]
            lowered = [a.name.lower() for a in arguments]
            if len(set(lowered)) != len(lowered):
                raise SyntaxError(f"{function.name}: arguments that differ in case alone")
            yield function, arguments, self.needs_procedure(function, arguments)

    def interfaces_text(self):
        out = ["interface"]
        for function, arguments, wrapped in self.calls():
            if not wrapped:
                out += self.interface(fortran_name(function), function, arguments)
        return out + ["end interface"]

    def interface(self, name, function, arguments, indent="  "):
        """Of the C function itself."""
        symbol = INSTEAD_OF_FORMAT[function.name] if function.variadic else function.name
        return self.body(name, arguments, self.raw_result(function.returns), f'bind(c, name="{symbol}")', indent)

    def procedures_text(self):
        out = []
        for function, arguments, wrapped in self.calls():
            if wrapped:
                out += [""] + self.procedure(function, arguments)
        return out

    def procedure(self, function, arguments):
        """The procedure around a C function."""
        outer = [a for a in arguments if not a.optional] + [a for a in arguments if a.optional]
        answer = self.answer(arguments)
        result = {"const char *": "character(:), allocatable", "bool": "logical"}.get(function.returns)
        if result is None and function.returns != "void":
            kind = function.returns.removesuffix("*").replace("const ", "").strip()
            result = f"type({kind})" if self.is_wrapped(function.returns) else self.raw_result(function.returns)
        kind = "function" if result else "subroutine"
        end = f" result({answer})" if result else ""
        out = [f"{kind} {fortran_name(function)}({', '.join(a.name for a in outer)}){end}"]
        for argument in outer:
            declaration = argument.outer or argument.declaration
            if argument.optional and "optional" not in declaration:
                declaration += ", optional"
            shape = f"({argument.dimensions})" if argument.dimensions and not declaration.startswith("character(*)") else ""
            out.append(f"  {declaration} :: {argument.name}{shape}")
        if result:
            out.append(f"  {result} :: {answer}")
        c_name = f"c_{function.name}"
        lines = [f"  {line}" for a in arguments for line in a.locals]
        lines += ["  interface", *self.interface(c_name, function, arguments, "    "), "  end interface"]
        lines += [f"  {line}" for a in arguments for line in a.before]
        call = f"{c_name}({', '.join(a.actual or a.name for a in arguments)})"
        if not result:
            lines.append(f"  call {call}")
        elif function.returns == "const char *":
            lines.append(f"  {answer} = jalloc_text({call})")
        elif function.returns == "bool":
            lines.append(f"  {answer} = logical({call})")
        elif self.is_wrapped(function.returns):
            component = "pointer" if function.returns.endswith("*") else self.structs[function.returns].members[0].name
            lines.append(f"  {answer}%{component} = {call}")
        else:
            lines.append(f"  {answer} = {call}")
        lines += [f"  {line}" for a in arguments for text in a.after for line in text.splitlines()]
        return out + lines + [f"end {kind}"]

    # ---- Generic names ----

    def generics(self):
        """{generic name: [(function, arguments)]} of what is told apart by the types of its arguments."""
        groups = {}
        for function, arguments, wrapped in self.calls():
            match = re.match(r"(jblas|jlapack)_(\w+)$", function.name)
            if match and not wrapped:
                stem = generic_stem(match.group(2))
                if stem:
                    groups.setdefault(f"{match.group(1)}_{stem}", []).append((function, arguments))
        names = {f.name.lower() for f in self.functions}
        found = {}
        for name, group in groups.items():
            four = [call for call in group if not any("float16" in p.type for p in call[0].parameters)]
            for choice in (group, four):  # without the 16-bit types where arrays of pointers hide them
                if len(choice) > 1 and name not in names and name not in found and \
                        all(distinct(a, b) for (_, a), (_, b) in itertools.combinations(choice, 2)):
                    found[name] = choice
        reached = {function.name for group in found.values() for function, _ in group}
        for function in self.functions:
            name = function.name.removesuffix("_strided_batched")
            if name.startswith(("jblas_", "jlapack_")) and function.name not in reached and \
                    not name.endswith("_batched") and not WITHOUT_GENERIC.fullmatch(name):
                raise SyntaxError(f"{function.name}: no generic name leads to it")
        return found

    def generics_text(self):
        out = []
        for name, group in self.generics().items():
            out.append(f"interface {name}\n  procedure {', '.join(f.name for f, _ in group)}\nend interface")
        return out

    def inits_text(self):
        out = []
        for record in self.records:
            if record.initializer and record.initializer not in WITHOUT_INIT:
                name = record.initializer.lower()
                out.append(f"\npure function {name}() result(initial)\n  type({record.name}) :: initial\n"
                           f"  initial = {record.name}()\nend function")
        return out

    def module(self):
        head = [LICENCE, "module jalloc_interfaces", "use, intrinsic :: iso_c_binding", "use jalloc_strings, only: jalloc_text, jalloc_c_text",
                "implicit none", "private :: jalloc_text, jalloc_c_text, kept"]
        head.append("private :: c_associated, c_f_pointer, c_f_procpointer, c_funloc, c_funptr, c_loc, c_null_char, c_null_funptr, "
                    "c_null_ptr, c_ptr, c_sizeof, c_bool, c_char, c_double, c_double_complex, c_float, c_float_complex, c_int, "
                    "c_int16_t, c_int32_t, c_int64_t, c_int8_t, c_intptr_t, c_signed_char, c_size_t")
        kept = ["", "! A text that stays where it is as long as the process lives (kept.c).", "function kept(text) result(pointer)",
                "  character(*), intent(in) :: text", "  type(c_ptr) :: pointer", "  interface",
                '    function c_keep(text) bind(c, name="jalloc_fortran_keep") result(pointer)', "      import",
                "      character(kind=c_char), intent(in) :: text(*)", "      type(c_ptr) :: pointer", "    end function", "  end interface",
                "  pointer = c_keep(trim(text) // c_null_char)", "end function"]
        parts = [head, self.constants_text(), self.types_text(), self.callbacks_text(), self.interfaces_text(), self.generics_text(),
                 ["", "contains"], kept, self.inits_text(), self.procedures_text(), ["", "end module"]]
        return "\n".join("\n".join(part) for part in parts) + "\n"


def fortran_name(function):
    return RENAMED.get(function.name, function.name)


ARRAY_TYPES = {"f32": "real(c_float)", "f64": "real(c_double)", "f32_c": "complex(c_float_complex)",
               "f64_c": "complex(c_double_complex)", "i32": "integer(c_int32_t)", "i64": "integer(c_int64_t)"}


def get_procedures():
    """What borrows.f90 includes."""
    out = [LICENCE]
    for name, kind in ARRAY_TYPES.items():
        for extents, shape, elements in (("n", ":", "n"), ("m, n", ":, :", "elements_of(m, n)")):
            out.append(f"""
  subroutine get_{name}_{shape.count(":")}(this, index, array, {extents})
    class(jborrow_guard), intent(in) :: this
    integer, intent(in) :: index
    {kind}, pointer, intent(out) :: array({shape})
    integer(c_int64_t), intent(in) :: {extents}
    type(c_ptr) :: address

    nullify (array)
    address = this%address(index, {elements}, storage_size(array, c_size_t) / 8)
    if (c_associated(address)) call c_f_pointer(address, array, [{extents}])
  end subroutine""")
    return "\n".join(out) + "\n"


def signed(number):
    """The bits of an unsigned number in Fortran, which has none."""
    return number - 2**64 if number >= 2**63 else number


def generic_stem(name):
    """gemm of sgemm, iamax of idamax, asum of dzasum; "" of what has no letter for a type."""
    match = re.match(r"(?:i([sdcz])(amax|amin)|(?:sc|dz)(asum|nrm2)|(?:cs|zd)(scal|rot))(_\w+)?$", name)
    if match:
        index, of_index, of_sum, mixed, rest = match.groups()
        return ("i" + of_index if index else of_sum or mixed) + (rest or "")
    match = re.match(r"[sdczhb]([a-z]\w*)$", name)
    return match.group(1) if match else ""


def distinct(one, other):
    """Whether Fortran tells two lists of arguments apart: by their number, or by one that differs in place and in name."""
    if len(one) != len(other):
        return True
    return any(a.key() != b.key() and a.name == b.name for a, b in zip(one, other))


def wrapped_lines(text):
    """Lines of at most 120 columns: parted behind commas."""
    out = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        while len(line) > 120:
            at = line.rfind(", ", 0, 118) + 2
            if at < 20:
                raise SyntaxError(f"a line that cannot be parted: {line}")
            out.append(line[:at] + "&")
            line = indent + line[at:]
        out.append(line)
    for name in re.findall(r"\w{64,}", text):
        raise SyntaxError(f"a name of more than 63 letters: {name}")
    return "\n".join(out) + "\n"


def main():
    generator = Generator()
    what, *files = sys.argv[1:]
    texts = {"module": lambda: [generator.module()], "get": lambda: [get_procedures()]}
    if what not in texts:
        import generate_tests  # pylint: disable=import-outside-toplevel; it is not installed
        texts = generate_tests.texts(generator)
    for file, text in zip(files, texts[what](), strict=True):
        pathlib.Path(file).write_text(wrapped_lines(text) if file.endswith("90") else text, encoding="utf-8")


if __name__ == "__main__":
    main()
