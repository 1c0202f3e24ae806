# SPDX-License-Identifier: MIT
"""The interface of a SPIR-V module as plain data: what a pipeline layout is made from.

Words of the module -> resources by (set, binding), stage variables by (direction, location or built-in), size of workgroups.
Only what an entry point reaches from its functions is listed, so two compilers that declare more or less than they use compare equal.
"""
import struct

OP_ENTRY_POINT, OP_EXECUTION_MODE, OP_TYPE_BOOL, OP_TYPE_INT, OP_TYPE_FLOAT = 15, 16, 20, 21, 22
OP_TYPE_VECTOR, OP_TYPE_MATRIX, OP_TYPE_IMAGE, OP_TYPE_SAMPLER, OP_TYPE_SAMPLED_IMAGE = 23, 24, 25, 26, 27
OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY, OP_TYPE_STRUCT, OP_TYPE_POINTER = 28, 29, 30, 32
OP_CONSTANT, OP_FUNCTION, OP_VARIABLE, OP_DECORATE, OP_MEMBER_DECORATE = 43, 54, 59, 71, 72
UNIFORM_CONSTANT, INPUT, UNIFORM, OUTPUT, PUSH_CONSTANT, STORAGE_BUFFER = 0, 1, 2, 3, 9, 12
BUFFER_BLOCK, ROW_MAJOR, ARRAY_STRIDE, MATRIX_STRIDE, BUILTIN = 3, 4, 6, 7, 11
LOCATION, BINDING, DESCRIPTOR_SET, OFFSET = 30, 33, 34, 35
LOCAL_SIZE = 17


class Module:
    """Types, decorations and variables by id."""

    def __init__(self, data):
        words = struct.unpack(f"<{len(data) // 4}I", data)
        assert words[0] == 0x07230203, "no SPIR-V"
        self.types, self.constants, self.variables = {}, {}, {}
        self.decorations, self.members = {}, {}
        self.local_size = None
        self.mentioned = set()
        in_function = False
        at = 5
        while at < len(words):
            size, op = words[at] >> 16, words[at] & 0xFFFF
            self._read(op, words[at + 1 : at + size], in_function)
            in_function = in_function or op == OP_FUNCTION
            at += size

    def _read(self, op, args, in_function):
        if in_function or op == OP_FUNCTION:
            self.mentioned.update(args)
        elif OP_TYPE_BOOL <= op <= OP_TYPE_POINTER:
            self.types[args[0]] = (op, args[1:])
        elif op == OP_CONSTANT:
            self.constants[args[1]] = args[2]
        elif op == OP_VARIABLE:
            self.variables[args[1]] = (args[0], args[2])
        elif op == OP_DECORATE:
            self.decorations.setdefault(args[0], {})[args[1]] = args[2] if len(args) > 2 else True
        elif op == OP_MEMBER_DECORATE:
            self.members.setdefault((args[0], args[1]), {})[args[2]] = args[3] if len(args) > 3 else True
        elif op == OP_EXECUTION_MODE and args[1] == LOCAL_SIZE:
            self.local_size = tuple(args[2:5])

    def numbers(self, kind):
        """A scalar, vector or matrix: f32, u32x3; a boolean is a word, as it is in memory."""
        op, args = self.types[kind]
        if op == OP_TYPE_FLOAT:
            return f"f{args[0]}"
        if op == OP_TYPE_INT:
            return ("s" if args[1] else "u") + str(args[0])
        if op == OP_TYPE_BOOL:
            return "b"
        if op in (OP_TYPE_VECTOR, OP_TYPE_MATRIX):
            return f"{self.numbers(args[0])}x{args[1]}"
        if op == OP_TYPE_ARRAY:
            return f"{self.numbers(args[0])}[{self.constants[args[1]]}]"
        return None

    def leaves(self, kind, base=0, path=()):
        """Every number of a block: (offset, type, strides around it). Runtime arrays show their first item."""
        op, args = self.types[kind]
        if op == OP_TYPE_STRUCT:
            for i, member in enumerate(args):
                facts = self.members.get((kind, i), {})
                matrix = (facts.get(MATRIX_STRIDE), ROW_MAJOR in facts) if MATRIX_STRIDE in facts else None
                for offset, text, around in self.leaves(member, base + facts.get(OFFSET, 0), path):
                    yield offset, text if matrix is None or around[-1:] == ("m",) or "x" not in text else f"{text}/{matrix}", around
        elif op in (OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY):
            count = self.constants[args[1]] if op == OP_TYPE_ARRAY else 0
            stride = self.decorations.get(kind, {}).get(ARRAY_STRIDE, 0)
            yield from self.leaves(args[0], base, path + ((count, stride),))
        else:
            yield base, self.numbers(kind), path

    def resource(self, pointer, storage):
        kind = self.types[pointer][1][1]
        count = 1
        while self.types[kind][0] in (OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY):
            count *= self.constants[self.types[kind][1][1]] if self.types[kind][0] == OP_TYPE_ARRAY else 0
            kind = self.types[kind][1][0]
        op, args = self.types[kind]
        if op == OP_TYPE_SAMPLER:
            return ("sampler", count)
        if op == OP_TYPE_IMAGE:
            return ("image", count, self.numbers(args[0])[0], args[1], args[3], args[4], args[5])
        buffer = storage == STORAGE_BUFFER or BUFFER_BLOCK in self.decorations.get(kind, {})
        return ("storage" if buffer else "uniform", count, tuple(self.leaves(kind)))


def read(data):
    """(resources, stage variables, size of workgroups)."""
    module = Module(data)
    resources, stages = {}, set()
    for variable, (pointer, storage) in module.variables.items():
        facts = module.decorations.get(variable, {})
        if variable not in module.mentioned:
            continue
        if storage in (UNIFORM_CONSTANT, UNIFORM, STORAGE_BUFFER):
            resources[(facts.get(DESCRIPTOR_SET), facts.get(BINDING))] = module.resource(pointer, storage)
        elif storage == PUSH_CONSTANT:
            resources["push"] = module.resource(pointer, storage)
        elif storage in (INPUT, OUTPUT):
            place = ("builtin", facts[BUILTIN]) if BUILTIN in facts else ("location", facts.get(LOCATION))
            kind = module.types[pointer][1][1]
            text = module.numbers(kind) if place[0] == "location" else ""
            stages.add(("in" if storage == INPUT else "out",) + place + (text,))
    return resources, stages, module.local_size
