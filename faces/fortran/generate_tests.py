# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What generate.py makes for the tests: the C headers and the Fortran module, each asked for the same things."""

from generate import LICENCE, RENAMED, WITHOUT_INIT

C_LICENCE = LICENCE.replace("! ", "/* ", 1).replace("\n! ", "\n * ").rstrip() + " */\n"


def texts(generator):
    return {"layout": lambda: [layout_c(generator), layout_fortran(generator)], "generics": lambda: [generics(generator)]}


def constants(generator):
    return [*generator.numbers, *(name for enum in generator.found.enums.values() for name in enum.values)]


def direct(generator):
    """The functions that Fortran calls without a procedure around, but for those of which C has its own, inline."""
    return [f for f, _, wrapped in generator.calls() if not wrapped and f.name not in RENAMED and not f.inline]


def layout_c(generator):
    headers = sorted({f.header for f in generator.functions} | {"jalloc.h"})
    out = [C_LICENCE, '#include "layout.h"\n', *(f'#include "jalloc/{header}"' for header in headers), ""]
    structs = []
    for record in generator.records:
        name = record.name
        if record.initializer:
            out.append(f"static const {name} initial_{name} = {record.initializer};")
        out.append(f"static const struct jt_member members_{name}[] = {{")
        out += [f'    {{"{m.name}", offsetof({name}, {m.name}), sizeof((({name} *)0)->{m.name})}},' for m in record.members]
        out.append("};")
        structs.append(f'    {{"{name}", sizeof({name}), {"&initial_" + name if record.initializer else "NULL"}, '
                       f"{len(record.members)}, members_{name}}},")
    out += ["const struct jt_struct jt_structs[] = {", *structs, "};"]
    out.append("const struct jt_constant jt_constants[] = {")
    out += [f'    {{"{name}", (long long){name}}},' for name in constants(generator)]
    out += ["};", "const struct jt_symbol jt_symbols[] = {"]
    out += [f'    {{"{f.name}", (jt_function){f.name}}},' for f in direct(generator)]
    out += ["};"]
    return "\n".join(out) + "\n"


def layout_fortran(generator):
    out = [LICENCE, "module layouts", "use, intrinsic :: iso_c_binding", "use jalloc", "use layout_check", "implicit none", "contains"]
    for i, record in enumerate(generator.records):
        name = record.name
        offsets = ", ".join(f"at(c_loc(value%{m.name})) - at(c_loc(value))" for m in record.members)
        out += ["", f"subroutine check_{name}()", f"  type({name}), target :: value"]
        if record.initializer and record.initializer not in WITHOUT_INIT:
            out.append(f"  value = {record.initializer.lower()}()")
        out += [f"  call check_struct({i}, c_loc(value), c_sizeof(value), [{offsets}])", "end subroutine"]
    out += ["end module", "", "program layout_test", "  use, intrinsic :: iso_c_binding", "  use jalloc", "  use layouts", "  use layout_check"]
    out += [f"  call check_{record.name}()" for record in generator.records]
    out += [f"  call check_constant({i}, int({name}, c_int64_t))" for i, name in enumerate(constants(generator))]
    out += [f"  call check_symbol({i}, c_funloc({f.name}))" for i, f in enumerate(direct(generator))]
    return "\n".join(out + ["  call finish()", "end program"]) + "\n"


def generics(generator):
    """Each specific procedure by its generic name, without a handle, which all refuse."""
    groups = generator.generics()
    kinds = sorted({a.key() for group in groups.values() for _, arguments in group for a in arguments})
    variables = {key: f"v{i}" for i, key in enumerate(kinds)}
    out = [LICENCE, "module generic_calls", "use, intrinsic :: iso_c_binding", "use jalloc", "use check", "implicit none"]
    for (kind, rank), name in variables.items():
        shape = f"({', '.join(['1'] * rank)})" if rank else ""
        out.append(f"{kind} :: {name}{shape}")
    out.append("contains")
    for name, group in groups.items():
        out += ["", f"subroutine call_{name}()"]
        for function, arguments in group:
            call = f"{name}({', '.join(variables[a.key()] for a in arguments)})"
            out.append(f"  call expect({call} == JSTATUS_INVALID_HANDLE, \"{function.name}\")")
        out.append("end subroutine")
    out += ["end module", "", "program generics_test", "  use generic_calls"]
    out += [f"  call call_{name}()" for name in groups] + ["  call finish()", "end program"]
    return "\n".join(out) + "\n"
