// SPDX-License-Identifier: MIT
// The meaning of closed IR, run on one invocation: the oracle that devices are compared with. It
// is written from rpl.md and docs/IR.md and shares nothing with emission; it is as slow as it is
// plain. What the language leaves open is carried along, never guessed: every scalar knows how far
// another correct implementation may be from it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/builtins.h"
#include "compiler/ir/closed.h"

namespace kiln::oracle {

inline constexpr double kUndefined = std::numeric_limits<double>::infinity();

// One scalar: its bits (bool: 0 or 1), and the distance within which others may lie. 0: everybody
// has these bits (0.0 and -0.0 are not told apart); kUndefined: anything goes.
struct Cell {
  uint32_t bits = 0;
  double error = kUndefined;

  bool exact() const { return error == 0; }
};

// A value of any type, flat: components of a vector, columns of a matrix, members of a struct,
// items of an array, each in order.
using Value = std::vector<Cell>;

uint32_t CellCount(const ir::Pool& pool, ir::TypeId type);  // runtime arrays: 0

// Exact cells.
Value ExactValue(std::span<const uint32_t> words);
Value ExactFloats(std::span<const float> numbers);
float FloatOf(const Cell& cell);

// --- operators and inbuilt functions: pure functions of values
// ------------------------------------
// `type` is that of the result; operands are of the types that typing.h allows.
Value ApplyUnary(const ir::Pool& pool, ir::UnaryOp op, ir::TypeId type, const Value& operand);
Value ApplyBinary(const ir::Pool& pool, ir::BinaryOp op, ir::TypeId left_type, const Value& left,
                  ir::TypeId right_type, const Value& right);
Value ApplyConvert(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value);
Value ApplyBuiltin(const ir::Pool& pool, ir::Builtin builtin, ir::TypeId type,
                   std::span<const Value> arguments);

// --- entry points
// --------------------------------------------------------------------------------
// One sampling: names of the declarations, index into an image array, and the operands after the
// image as closed IR has them.
struct SampleRequest {
  ir::Builtin builtin = ir::Builtin::kSample;
  std::string sampler;
  std::string image;
  uint32_t item = 0;
  ir::Stage stage = ir::Stage::kFragment;
  std::vector<float> coordinate;  // layer last
  float reference = 0;
};

// What an invocation finds, and changes where it may write: whole buffers and push constants by
// name
// ("wind"), container fields that are read as "leaf.uv". What is missing is undefined. Runtime
// arrays have as many items as the value has cells for.
struct Surroundings {
  std::map<std::string, Value, std::less<>> globals;
  std::function<Value(const SampleRequest&)> sample;
};

struct Outcome {
  std::map<std::string, Value, std::less<>> written;  // container fields, "position"
  bool discarded = false;
  // Why the rest is unknown: a branch or index that is not exact, an index out of range, a loop
  // that goes on for ever. Empty if the invocation ended.
  std::string undecided;
};

// Runs the entry point of `stage` once. Requires: the variant verifies and has such an entry point.
Outcome Interpret(const ir::ClosedVariant& variant, ir::Stage stage, Surroundings& around);

}  // namespace kiln::oracle
