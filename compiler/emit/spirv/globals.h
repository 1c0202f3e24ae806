// SPDX-License-Identifier: MIT
// Closed types and constants as globals: a type of the pool, in the form that its place asks for,
// -> the symbol of its piece. Remembered per type and form; equal pieces are one global.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/emit/spirv/code_object_store.h"
#include "compiler/ir/types.h"
#include "compiler/layout/ir_types.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// How a type appears: plain in functions and stage variables, with offsets and strides in buffers,
// and as the block of a buffer. Only structs, arrays and what holds them differ.
enum class TypeForm : uint8_t {
  kPlain,
  kStd140,
  kStd430,
  kUniformBlock,   // std140, Block
  kReadOnlyBlock,  // std430, Block, members NonWritable
  kWritableBlock,  // std430, Block; push constants too
};
// The form of what lies inside a block or an item.
TypeForm ItemForm(TypeForm form);
constexpr bool IsBlock(TypeForm form) { return form >= TypeForm::kUniformBlock; }

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
    const size_t row = kForms * type.value + static_cast<size_t>(form);
    return row < types_.size() && types_[row].valid() ? types_[row] : AddType(type, form);
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

  SymbolId Glsl();  // the import of GLSL.std.450
  SymbolId SourceFile(std::string_view path);

 private:
  static constexpr size_t kForms = 6;

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
  std::vector<SymbolId> types_;      // by TypeId and TypeForm
  std::vector<SymbolId> constants_;  // by ConstId
  std::vector<SymbolId> pointers_;   // by GlobalId of the pointee and storage class
  SymbolId glsl_;
  CodeObjectWriter scratch_;
};

}  // namespace kiln::spirv
