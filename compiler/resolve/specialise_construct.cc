// SPDX-License-Identifier: MIT
// Constructors: the first rule of spec/rpl 4.2 that fits, in terms of closed instructions.
#include <bit>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/resolve/half.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
namespace {}  // namespace

Operand RegionSpecialiser::SpecialiseConstruct(uint32_t id) {
  const auto construct = Open(id).As<ir::NameConstructInst>();
  const ir::Type& written = module_.types[construct.type.value];
  const std::string_view type_text = WrittenText(construct.type);
  if (written.kind == ir::TypeKind::kNamed) {
    const NameId name = program_.Name(module_ordinal_, ir::StringId{written.element});
    if (program_.Structs(name).empty()) {
      const bool opaque =
          type_text == "sampler" || type_text.starts_with("image_") || type_text == "void";
      Report(Make(opaque ? Code::kRpl6058 : Code::kRpl6056, AuxOf(id)).With("type", type_text));
      return {};
    }
  }
  const ir::TypeId type = SpecialiseType(
      {.module = module_ordinal_,
       .type = construct.type,
       .spans = module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[id].aux,
       .owner = type_text,
       .use = TypeUse::kConstructor},
      answers_, diagnostics_);
  if (!type.valid()) {
    return {};
  }
  const std::span<const uint32_t> arguments = module_.List(construct.arguments);
  if (arguments.empty()) {
    Report(Make(Code::kRpl6057, MainOf(id)).With("type", type_text));
    return {};
  }
  // The items of an array of arrays are arrays.
  const ir::Type target = pool_[type];
  const bool nested = target.kind == ir::TypeKind::kArray &&
                      pool_[ir::TypeId{target.element}].kind == ir::TypeKind::kArray;
  ScratchList values(scratch_);
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kConstructor, .text = type_text, .index = static_cast<uint32_t>(i + 1)};
    values.Add(Read(arguments[i], role, nested ? Arrays::kAllowed : Arrays::kRefused));
    good = good && values.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  switch (pool_[type].kind) {
    case ir::TypeKind::kVector:
      return ConstructVector(type, values, id);
    case ir::TypeKind::kMatrix:
      return ConstructMatrix(type, values, id);
    case ir::TypeKind::kStruct:
      return ConstructStruct(type, values, id);
    case ir::TypeKind::kArray:
      return ConstructArray(type, values, id);
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kRuntimeArray:
    case ir::TypeKind::kSampler:
    case ir::TypeKind::kImage:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
      break;
  }
  Report(Make(Code::kRpl6058, MainOf(id)).With("type", type_text));
  return {};
}

// `h1 {0.5}` folds (spec/rpl 14.8).
bool RegionSpecialiser::IsFloatConstant(ir::InstId value) const {
  return out_.insts[value.value].kind == ir::InstKind::kConst &&
         TypeOf(value) == pool_.Vector(ir::Scalar::kF32, 1);
}

Operand RegionSpecialiser::ConstructVector(ir::TypeId type, const ScratchList& values,
                                           uint32_t id) {
  const ir::Type target = pool_[type];
  const std::span<const uint32_t> arguments =
      module_.List(Open(id).As<ir::NameConstructInst>().arguments);
  if (values.size() == 1) {
    const ir::Type only = pool_[TypeOf(values.Inst(0))];
    if (TypeOf(values.Inst(0)) == type) {
      return ValueOf(values.Inst(0));
    }
    if (only.kind == ir::TypeKind::kVector && only.rows == 1 && only.scalar == target.scalar) {
      return ValueOf(Emit(ir::SplatInst{.type = type, .value = values.Inst(0)}.To()));
    }
    const bool converts = only.kind == ir::TypeKind::kVector && only.rows == target.rows &&
                          target.scalar != ir::Scalar::kBool &&
                          (only.scalar != ir::Scalar::kBool || IsVersion2());
    if (converts && type == pool_.Vector(ir::Scalar::kF16, 1) && IsFloatConstant(values.Inst(0))) {
      const uint32_t bits = pool_[out_.insts[values.Inst(0).value].As<ir::ConstInst>().value].a;
      return ValueOf(EmitConst(pool_.InternScalar(type, HalfBits(std::bit_cast<float>(bits)))));
    }
    if (converts) {
      return ValueOf(Emit(ir::ConvertInst{.type = type, .value = values.Inst(0)}.To()));
    }
  }
  uint32_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Type& part = pool_[TypeOf(values.Inst(i))];
    if (part.kind != ir::TypeKind::kVector || part.scalar != target.scalar) {
      Report(Make(Code::kRpl6050, MainOf(arguments[i]))
                 .With("index", i + 1)
                 .With("type", TypeName(type))
                 .With("found", TypeName(TypeOf(values.Inst(i)))));
      return {};
    }
    count += part.rows;
  }
  if (count != target.rows) {
    Report(Make(Code::kRpl6051, MainOf(id))
               .With("type", TypeName(type))
               .With("expected", static_cast<uint32_t>(target.rows))
               .With("parts", "components")
               .With("found", count));
    return {};
  }
  return ValueOf(Emit(ir::ConstructInst{.type = type, .operands = EmitList(values)}.To()));
}

Operand RegionSpecialiser::ConstructMatrix(ir::TypeId type, const ScratchList& values,
                                           uint32_t id) {
  const ir::Type target = pool_[type];
  const std::span<const uint32_t> arguments =
      module_.List(Open(id).As<ir::NameConstructInst>().arguments);
  if (values.size() == 1) {
    const ir::Type only = pool_[TypeOf(values.Inst(0))];
    if (TypeOf(values.Inst(0)) == type) {
      return ValueOf(values.Inst(0));
    }
    if (only.kind == ir::TypeKind::kMatrix && only.columns >= target.columns &&
        only.rows >= target.rows) {
      return CropMatrix(type, values.Inst(0));
    }
  }
  const ir::TypeId column = pool_.Vector(target.scalar, target.rows);
  for (size_t i = 0; i < values.size(); ++i) {
    if (TypeOf(values.Inst(i)) != column) {
      Report(Make(Code::kRpl6053, MainOf(arguments[i]))
                 .With("index", i + 1)
                 .With("type", TypeName(type))
                 .With("found", TypeName(TypeOf(values.Inst(i))))
                 .With("expected", TypeName(column)));
      return {};
    }
  }
  if (values.size() != target.columns) {
    Report(Make(Code::kRpl6051, MainOf(id))
               .With("type", TypeName(type))
               .With("expected", static_cast<uint32_t>(target.columns))
               .With("parts", "columns")
               .With("found", values.size()));
    return {};
  }
  return ValueOf(Emit(ir::ConstructInst{.type = type, .operands = EmitList(values)}.To()));
}

Operand RegionSpecialiser::CropMatrix(ir::TypeId type, ir::InstId value) {
  const ir::Type target = pool_[type];
  const ir::Type from = pool_[TypeOf(value)];
  const ir::TypeId wide = pool_.Vector(from.scalar, from.rows);
  const ir::TypeId narrow = pool_.Vector(target.scalar, target.rows);
  ScratchList columns(scratch_);
  for (uint32_t i = 0; i < target.columns; ++i) {
    ir::InstId column = Emit(ir::ExtractInst{.type = wide, .value = value, .index = i}.To());
    if (wide != narrow) {
      column = Emit(ir::SwizzleInst{
          .type = narrow, .value = column, .letters = ir::PackSwizzle(target.rows, {0, 1, 2, 3})}
                        .To());
    }
    columns.Add(column);
  }
  return ValueOf(Emit(ir::ConstructInst{.type = type, .operands = EmitList(columns)}.To()));
}

Operand RegionSpecialiser::ConstructStruct(ir::TypeId type, const ScratchList& values,
                                           uint32_t id) {
  const std::span<const uint32_t> arguments =
      module_.List(Open(id).As<ir::NameConstructInst>().arguments);
  const std::span<const ir::ShapeMember> members = pool_.Members(type);
  if (values.size() != members.size()) {
    Report(Make(Code::kRpl6054, MainOf(id))
               .With("type", TypeName(type))
               .With("expected", members.size())
               .With("found", values.size()));
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (TypeOf(values.Inst(i)) != members[i].type) {
      Report(Make(Code::kRpl6053, MainOf(arguments[i]))
                 .With("index", i + 1)
                 .With("type", TypeName(type))
                 .With("found", TypeName(TypeOf(values.Inst(i))))
                 .With("expected", TypeName(members[i].type)));
      return {};
    }
  }
  return ValueOf(Emit(ir::ConstructInst{.type = type, .operands = EmitList(values)}.To()));
}

Operand RegionSpecialiser::ConstructArray(ir::TypeId type, const ScratchList& values, uint32_t id) {
  const std::span<const uint32_t> arguments =
      module_.List(Open(id).As<ir::NameConstructInst>().arguments);
  const ir::Type target = pool_[type];
  for (size_t i = 0; i < values.size(); ++i) {
    if (TypeOf(values.Inst(i)) != ir::TypeId{target.element}) {
      Report(Make(Code::kRpl6053, MainOf(arguments[i]))
                 .With("index", i + 1)
                 .With("type", TypeName(type))
                 .With("found", TypeName(TypeOf(values.Inst(i))))
                 .With("expected", TypeName(ir::TypeId{target.element})));
      return {};
    }
  }
  if (values.size() != target.extent) {
    Report(Make(Code::kRpl6051, MainOf(id))
               .With("type", TypeName(type))
               .With("expected", target.extent)
               .With("parts", "items")
               .With("found", values.size()));
    return {};
  }
  return ValueOf(Emit(ir::ConstructInst{.type = type, .operands = EmitList(values)}.To()));
}

}  // namespace kiln::resolve
