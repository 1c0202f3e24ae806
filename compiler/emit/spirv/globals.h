// SPDX-License-Identifier: MIT
// Specialised types and constants as globals: a type of the pool, in the form that its place asks
// for,
// -> the symbol of its code object. Remembered per type and form; equal code objects are one
// global.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/emit/spirv/code_object_store.h"
#include "compiler/ir/types.h"
#include "compiler/layout/ir_types.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// How a type appears: plain in functions and stage variables; with offsets and strides by a rule
// set in buffers; and as the block of a buffer. Only structs, arrays, booleans and what holds them
// differ.
enum class FormRole : uint8_t {
  kPlain,
  kItem,           // of a block
  kUniformBlock,   // Block
  kReadOnlyBlock,  // Block, members NonWritable
  kWritableBlock,  // Block; push constants too
};
// Packed: rules from bit 0, role from bit 3; bit 6: matrices of an array lie in memory by rows.
enum class TypeForm : uint8_t { kPlain = 0 };
inline constexpr size_t kTypeForms = 128;

constexpr TypeForm FormOf(FormRole role, layout::Rules rules) {
  return static_cast<TypeForm>(static_cast<uint32_t>(role) << 3 | static_cast<uint32_t>(rules));
}
constexpr FormRole RoleOf(TypeForm form) {
  return static_cast<FormRole>(static_cast<uint32_t>(form) >> 3 & 7u);
}
constexpr layout::Rules RulesOf(TypeForm form) {
  return static_cast<layout::Rules>(static_cast<uint32_t>(form) & 7u);
}
constexpr bool IsBlock(TypeForm form) { return RoleOf(form) >= FormRole::kUniformBlock; }
// The form of what lies inside a block or an item.
constexpr TypeForm ItemForm(TypeForm form) {
  return form == TypeForm::kPlain ? form : FormOf(FormRole::kItem, RulesOf(form));
}
constexpr ir::MatrixOrder OrderOf(TypeForm form) {
  return (static_cast<uint32_t>(form) & 64u) != 0 ? ir::MatrixOrder::kRow
                                                  : ir::MatrixOrder::kColumn;
}
constexpr TypeForm WithOrder(TypeForm form, ir::MatrixOrder order) {
  const uint32_t bits = static_cast<uint32_t>(form) & 63u;
  return static_cast<TypeForm>(bits | (order == ir::MatrixOrder::kRow ? 64u : 0u));
}

// A runtime array, or a struct that ends in one. Vulkan has runtime arrays only as the last member
// of a block (VUID-StandaloneSpirv-OpTypeRuntimeArray-04680), so in a block the members of such a
// struct stand in its place, and the steps to one of them are one step.
bool EndsInRuntimeArray(const ir::Pool& pool, ir::TypeId type);

class Globals {
 public:
  // All must outlive the object.
  Globals(const ir::Pool& pool, const target::Target& target, CodeObjectStore& store)
      : pool_(pool), target_(target), store_(store), layouts_(pool) {}

  SymbolId Type(ir::TypeId type, TypeForm form = TypeForm::kPlain) {
    const std::vector<SymbolId>& types = types_[static_cast<size_t>(form)];
    return type.value < types.size() && types[type.value].valid() ? types[type.value]
                                                                  : AddType(type, form);
  }
  SymbolId Pointer(spv::StorageClass storage, SymbolId pointee);
  SymbolId Function(SymbolId result, std::span<const SymbolId> parameters);
  SymbolId SampledImage(SymbolId image);
  // The image of a type that has its sampler too.
  SymbolId ImageOf(const ir::Type& sampled) { return MakeImage(sampled); }

  SymbolId Constant(ir::ConstId constant);
  SymbolId Flag(bool value);
  SymbolId Scalar(ir::TypeId type, uint64_t bits);  // numbers, bool
  SymbolId Null(SymbolId type);                     // all zero
  SymbolId U32(uint32_t value) { return Scalar(pool_.Vector(ir::Scalar::kU32, 1), value); }
  SymbolId Composite(SymbolId type, std::span<const SymbolId> parts);

  // A scalar that the pipeline may replace.
  SymbolId SpecConstant(ir::TypeId type, uint32_t id, uint32_t bits);
  // A Private variable that holds a constant, for indices that are not constant.
  SymbolId ConstantVariable(ir::ConstId constant);

  // Whether there are booleans in it, which are numbers in memory.
  bool HoldsBooleans(ir::TypeId type);

  SymbolId Glsl();  // the import of GLSL.std.450
  SymbolId SourceFile(std::string_view path);

 private:
  enum class Booleans : uint8_t { kUnknown, kNone, kSome };

  bool FindBooleans(ir::TypeId type);
  SymbolId AddType(ir::TypeId type, TypeForm form);
  SymbolId MakeType(ir::TypeId type, TypeForm form);
  SymbolId MakeSimple(spv::Op op);
  SymbolId MakePointer(spv::StorageClass storage, SymbolId pointee);
  SymbolId MakeRow(spv::Op op, SymbolId item, uint32_t count);
  SymbolId MakeScalar(ir::Scalar scalar);
  SymbolId MakeArray(ir::TypeId type, TypeForm form);
  SymbolId MakeColumns(ir::TypeId type, TypeForm form);
  SymbolId MakeStruct(ir::TypeId type, TypeForm form);
  // A member of a struct as SPIR-V has it.
  struct Member {
    ir::ShapeMember shape;
    uint32_t offset = 0;  // 0 in plain structs
  };
  std::vector<Member> MembersOf(ir::TypeId type, TypeForm form);
  void DecorateMember(CodeObjectWriter& w, Ref self, const Member& member, TypeForm form,
                      uint32_t index);
  SymbolId MakeImage(const ir::Type& type);
  bool Holds16Bits(ir::TypeId type) const;
  bool HoldsFloats(ir::TypeId type) const;  // vectors, matrices and arrays of floats
  CodeObjectWriter& Scratch();              // empty; for globals whose operands are all there

  const ir::Pool& pool_;
  const target::Target& target_;
  CodeObjectStore& store_;
  layout::TypeLayouts layouts_;
  std::array<std::vector<SymbolId>, kTypeForms> types_;  // by TypeForm and TypeId
  std::vector<Booleans> booleans_;                       // by TypeId
  std::vector<SymbolId> constants_;                      // by ConstId
  std::vector<SymbolId> pointers_;  // by GlobalId of the pointee and storage class
  SymbolId glsl_;
  CodeObjectWriter scratch_;
};

}  // namespace kiln::spirv
