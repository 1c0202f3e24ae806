// SPDX-License-Identifier: MIT
// The meaning of specialised IR, run on one invocation or on several that meet: the oracle that
// devices are compared with. It is written from spec/rpl and docs/IR.md, shares nothing with
// emission and is as slow as it is plain. What the language leaves open is carried along, never
// guessed: every scalar knows how far another correct implementation may be from it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/builtins.h"
#include "compiler/ir/specialised.h"

namespace kiln::oracle {

inline constexpr double kUndefined = std::numeric_limits<double>::infinity();

// One scalar: its bits (bool: 0 or 1; 16-bit float: the float of the same value), and the distance
// within which others may lie. 0: everybody has these bits (0.0 and -0.0 are not told apart);
// kUndefined: anything goes.
struct Cell {
  uint32_t bits = 0;
  double error = kUndefined;

  bool exact() const { return error == 0; }
};

// A value of any type, flat: components of a vector, columns of a matrix, members of a struct,
// items of an array, each in order.
using Value = std::vector<Cell>;

uint32_t CellCount(const ir::Pool& pool, ir::TypeId id);  // runtime arrays: 0

// Exact cells.
Value ExactValue(std::span<const uint32_t> words);
Value ExactFloats(std::span<const float> numbers);
float FloatOf(const Cell& cell);

// --- operators and inbuilt functions: pure functions of values
// `type` is that of the result; operands are of the types that typing.h allows.
Value ApplyUnary(const ir::Pool& pool, ir::UnaryOp op, ir::TypeId type, const Value& operand);
Value ApplyBinary(const ir::Pool& pool, ir::BinaryOp op, ir::TypeId left_type, const Value& left,
                  ir::TypeId right_type, const Value& right);
Value ApplyConvert(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value);
Value ApplyTotal(const ir::Pool& pool, ir::BinaryOp op, ir::TypeId type, const Value& left,
                 const Value& right);
Value ApplySaturating(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value);
Value ApplyBitcast(const ir::Pool& pool, ir::TypeId from, ir::TypeId to, const Value& value);
Value ApplyBuiltin(const ir::Pool& pool, ir::Builtin builtin, ir::TypeId type,
                   std::span<const Value> arguments);
// The same of what RPL does not have.
Value ApplyTypedBuiltin(const ir::Pool& pool, ir::Builtin builtin, ir::TypeId type,
                        ir::TypeId result, std::span<const Value> arguments);
// condition ? yes : no, by components if the condition has as many.
Value ApplySelect(const Value& condition, const Value& yes, const Value& no);

// --- entry points
// One question to an image that is sampled: names of the declarations (no sampler: fetch and
// questions of size), index into an image array, and the operands after the image as specialised IR
// has them.
struct SampleRequest {
  ir::Builtin builtin = ir::Builtin::kSample;
  std::string sampler;
  std::string image;
  uint32_t item = 0;
  ir::Stage stage = ir::Stage::kFragment;
  std::vector<float> coordinate{};  // layer last
  std::vector<uint32_t> texel{};    // of a fetch; layer last
  float reference = 0;
  float lod = 0;             // explicit ones; a fetch or a question of size: the level
  std::vector<float> ddx{};  // given ones; of the coordinate if the level is implicit and the
  std::vector<float> ddy{};  // invocation runs in a quad
  uint32_t component = 0;    // of a gather
};

// A storage image: four cells for each texel, x fastest, layers or depth last.
struct StorageImage {
  ir::ImageFormat format = ir::ImageFormat::kRgba32Float;
  std::array<uint32_t, 3> size = {1, 1, 1};
  Value texels{};
};

// What invocations find, and change where they may write: whole buffers and push constants by name
// ("wind"), container fields that are read as "leaf.uv". What is missing is undefined. Runtime
// arrays have as many items as the value has cells for.
struct Surroundings {
  std::map<std::string, Value, std::less<>> globals;
  std::map<std::string, StorageImage, std::less<>> images;
  std::function<Value(const SampleRequest&)> sample;
};

// What one invocation finds before anything of that name in its surroundings.
struct Inputs {
  std::map<std::string, Value, std::less<>> fields{};
  std::map<ir::StageVariable, Value> stage{};
};

struct Outcome {
  // Container fields, "position", "frag_depth".
  std::map<std::string, Value, std::less<>> written;
  bool discarded = false;
  // Why the rest is unknown: a branch or index that is not exact, an index out of range, a loop
  // that goes on for ever, a barrier that some do not reach. Empty if the invocation ended.
  std::string undecided;
};

// Runs the entry point of `stage` once, alone: derivatives are undefined. Requires: the variant
// verifies and has such an entry point.
Outcome Interpret(const ir::SpecialisedProgram& variant, ir::Stage stage, Surroundings& around,
                  const Inputs& inputs = {});

// Runs the fragments of a quad, which see each other's values in derivatives: top left, top right,
// bottom left, bottom right.
std::vector<Outcome> InterpretQuad(const ir::SpecialisedProgram& variant, Surroundings& around,
                                   std::span<const Inputs, 4> inputs);
// Does the fragment stage ask for derivatives, so that quads differ from single invocations?
bool NeedsQuads(const ir::SpecialisedProgram& variant);

struct Dispatch {
  std::array<uint32_t, 3> workgroup_size = {1, 1, 1};
  std::array<uint32_t, 3> groups = {1, 1, 1};
};
// Runs all invocations of a dispatch, each up to the next barrier of its workgroup, in several
// orders. What depends on the order is undefined in `around` afterwards. Returns why the outcome is
// unknown, or nothing.
std::string InterpretDispatch(const ir::SpecialisedProgram& variant, const Dispatch& dispatch,
                              Surroundings& around);

}  // namespace kiln::oracle
