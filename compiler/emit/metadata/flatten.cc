// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/flatten.h"

#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::metadata {
namespace {

class Flattener {
 public:
  Flattener(const ir::SpecialisedProgram& variant, layout::Rules rules, layout::TypeLayouts& types,
            uint64_t most)
      : variant_(variant), pool_(*variant.pool), rules_(rules), types_(types), most_(most) {}

  FlatBlock Run(const ir::SpecialisedDecl& block) {
    ir::TypeId content = block.type;
    while (pool_[content].kind == ir::TypeKind::kArray) {  // an array of buffers: each is alike
      content = ir::TypeId{pool_[content].element};
    }
    // A buffer has members of its own, or holds a declared struct that has them.
    Members(content, block.members.empty() ? DeclOf(content) : &block, "", 0, out_.parameters);
    return std::move(out_);
  }

 private:
  // Fields of the struct `type` at `start`; `decl` is its record, or null.
  // Depth first in the order of declaration, with dotted names: the list is what an engine fills in
  // (spec/rpl 12.2).
  void Members(ir::TypeId type, const ir::SpecialisedDecl* decl, const std::string& prefix,
               uint64_t start, std::vector<FlatParameter>& out) {
    // Offsets of the type count from its own beginning.
    const layout::TypeLayout& layout = types_.Of(type, rules_);
    const std::span<const ir::ShapeMember> members = pool_.Members(type);
    for (size_t i = 0; i < members.size() && name_bytes_ <= most_; ++i) {
      CheckStop();
      // The record has the same members in the same order as the type; it adds tags and places.
      // A struct of a typed module may have no record; its members then have no tags and no place.
      const ir::SpecialisedMember* member = decl == nullptr ? nullptr : &decl->members[i];
      Member(members[i], member, prefix, start + layout.offsets[i], out);
    }
  }

  void Member(const ir::ShapeMember& shape, const ir::SpecialisedMember* member,
              const std::string& prefix, uint64_t offset, std::vector<FlatParameter>& out) {
    std::string name = prefix;
    name += pool_.Text(shape.name);
    switch (pool_[shape.type].kind) {
      case ir::TypeKind::kStruct:
        Members(shape.type, DeclOf(shape.type), name + ".", offset, out);
        return;
      // At most one, at the end of the block.
      case ir::TypeKind::kRuntimeArray:
        Tail(shape, std::move(name));
        return;
      case ir::TypeKind::kVector:
      case ir::TypeKind::kMatrix:
      case ir::TypeKind::kArray:
        Value(shape, member, std::move(name), offset, out);
        return;
      case ir::TypeKind::kVoid:
      case ir::TypeKind::kSampler:
      case ir::TypeKind::kImage:
      case ir::TypeKind::kNamed:
      case ir::TypeKind::kDeferred:
      case ir::TypeKind::kDeclared:
      case ir::TypeKind::kSampledImage:
      case ir::TypeKind::kAccel:
      case ir::TypeKind::kRayQuery:
        break;
    }
    KILN_UNREACHABLE();
  }

  void Value(const ir::ShapeMember& shape, const ir::SpecialisedMember* member, std::string name,
             uint64_t offset, std::vector<FlatParameter>& out) {
    ir::TypeId type = shape.type;
    FlatParameter parameter{.name = std::move(name),
                            .offset = static_cast<uint32_t>(offset),
                            .matrix_stride = types_.Of(shape, rules_).matrix_stride,
                            .member = member};
    // Dimensions are written from the outermost on; what stays in `array_stride` is that of the
    // innermost.
    for (; pool_[type].kind == ir::TypeKind::kArray; type = ir::TypeId{pool_[type].element}) {
      parameter.dimensions.push_back(pool_[type].extent);
      // The number of all items, whatever dimensions they come from.
      parameter.item_count *= pool_[type].extent;
      parameter.array_stride = types_.Of(type, rules_, shape.order).stride;
    }
    if (pool_[type].kind == ir::TypeKind::kStruct) {
      return;  // arrays of structs yield nothing
    }
    parameter.type = StoredType(type, shape.order);
    name_bytes_ += parameter.name.size();
    out.push_back(std::move(parameter));
  }

  // What lies in memory: booleans are words, and a matrix by rows is its transpose by columns.
  ir::TypeId StoredType(ir::TypeId id, ir::MatrixOrder order) const {
    const ir::Type& type = pool_[id];
    if (type.kind == ir::TypeKind::kVector && type.scalar == ir::Scalar::kBool) {
      return pool_.Vector(ir::Scalar::kU32, type.rows);
    }
    return type.kind == ir::TypeKind::kMatrix && order == ir::MatrixOrder::kRow
               ? pool_.FloatMatrix(type.scalar, type.rows, type.columns)
               : id;
  }

  // The array at the end of a block has no fixed size, so its item is described apart, with offsets
  // of its own.
  void Tail(const ir::ShapeMember& shape, std::string path) {
    out_.tail_type = ir::TypeId{pool_[shape.type].element};
    out_.tail_field = std::move(path);
    if (pool_[out_.tail_type].kind == ir::TypeKind::kStruct) {
      out_.tail_name = pool_.Text(shape.name);
      // Offsets of the item count from its own beginning.
      Members(out_.tail_type, DeclOf(out_.tail_type), "", 0, out_.tail_parameters);
    }
  }

  // Linear over the structs of the variant, of which there are few.
  const ir::SpecialisedDecl* DeclOf(ir::TypeId type) const {
    for (const ir::SpecialisedDecl* decl : variant_.structs) {
      if (decl->type == type) {
        return decl;
      }
    }
    return nullptr;
  }

  const ir::SpecialisedProgram& variant_;
  const ir::Pool& pool_;
  layout::Rules rules_;
  layout::TypeLayouts& types_;
  const uint64_t most_;
  uint64_t name_bytes_ = 0;  // of the parameters in the list
  FlatBlock out_;
};

}  // namespace

FlatBlock Flatten(const ir::SpecialisedProgram& variant, const ir::SpecialisedDecl& block,
                  layout::Rules rules, layout::TypeLayouts& types, uint64_t most) {
  return Flattener(variant, rules, types, most).Run(block);
}

}  // namespace kiln::metadata
