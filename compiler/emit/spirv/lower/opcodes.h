// SPDX-License-Identifier: MIT
// Which instruction computes an operator or an inbuilt function, as tables.
#pragma once

#include <cstdint>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/ir/builtins.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/interface/semantics.h"
#include "compiler/ir/types.h"
#include "compiler/target/capabilities.h"

namespace kiln::spirv {

// Operators of two operands of one type, per component; comparisons too. OpNop: does not exist.
spv::Op BinaryOpcode(ir::BinaryOp op, ir::Scalar scalar);
// Operators of one vector. OpNop: does not exist, or changes nothing (`+`).
spv::Op UnaryOpcode(ir::UnaryOp op, ir::Scalar scalar);
// Conversion between two different scalars other than bool. OpNop: does not exist. OpUConvert makes
// unsigned integers alone.
spv::Op ConvertOpcode(ir::Scalar from, ir::Scalar to);
// Number of the GLSL.std.450 instruction; 0: does not exist. Requires: lowering Glsl.
uint32_t GlslInstruction(ir::Builtin builtin, ir::Scalar scalar);
// By the scalar of the first argument. Requires: lowering Op.
spv::Op BuiltinOpcode(ir::Builtin builtin, ir::Scalar scalar);
spv::BuiltIn BuiltInOf(ir::StageVariable variable);
spv::BuiltIn BuiltInOf(ir::BuiltinVariable variable);
target::Need NeedOf(ir::BuiltinVariable variable);

}  // namespace kiln::spirv
