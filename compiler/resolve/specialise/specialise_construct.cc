// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/specialise_construct.h"

#include <bit>
#include <span>
#include <string_view>

#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_type.h"
#include "compiler/resolve/values/half.h"

namespace kiln::resolve {
namespace {

// `h1 {0.5}` folds (spec/rpl 14.8).
// A constant of 32 bits, as literals are.
bool IsFloatConstant(const RegionBuilder& region, ir::InstId value) {
  return region.out().insts[value.value].kind == ir::InstKind::kConst &&
         region.TypeOf(value) == region.pool().Vector(ir::Scalar::kF32, 1);
}

// The forms of spec/rpl 4.2 in their order: the same type, one scalar for all components, a
// conversion, and the components of several vectors in a row.
Operand ConstructVector(RegionBuilder& region, ir::TypeId type, const ScratchList& values,
                        uint32_t id) {
  const ir::Type target = region.pool()[type];
  const std::span<const uint32_t> arguments =
      region.module().List(region.Generic(id).As<ir::NameConstructInst>().arguments);
  // With a single argument the count decides nothing, so these forms come before the one that
  // counts.
  if (values.size() == 1) {
    const ir::Type only = region.pool()[region.TypeOf(values.Inst(0))];
    if (region.TypeOf(values.Inst(0)) == type) {
      return region.ValueOf(values.Inst(0));
    }
    if (only.kind == ir::TypeKind::kVector && only.rows == 1 && only.scalar == target.scalar) {
      return region.ValueOf(region.Emit(ir::SplatInst{.type = type, .value = values.Inst(0)}.To()));
    }
    const bool converts = only.kind == ir::TypeKind::kVector && only.rows == target.rows &&
                          target.scalar != ir::Scalar::kBool &&
                          (only.scalar != ir::Scalar::kBool || region.IsVersion2());
    // A literal of 16 bits has no form of its own; it is a literal of 32 bits in a constructor, and
    // folding it keeps one constant instead of a conversion in every module.
    if (converts && type == region.pool().Vector(ir::Scalar::kF16, 1) &&
        IsFloatConstant(region, values.Inst(0))) {
      const uint32_t bits =
          region.pool()[region.out().insts[values.Inst(0).value].As<ir::ConstInst>().value].a;
      return region.ValueOf(
          region.EmitConst(region.pool().InternScalar(type, HalfBits(std::bit_cast<float>(bits)))));
    }
    if (converts) {
      return region.ValueOf(
          region.Emit(ir::ConvertInst{.type = type, .value = values.Inst(0)}.To()));
    }
  }
  // Components are counted over all arguments, which may be scalars and vectors in any mixture.
  uint32_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Type& part = region.pool()[region.TypeOf(values.Inst(i))];
    if (part.kind != ir::TypeKind::kVector || part.scalar != target.scalar) {
      region.Report(Make(Code::kRpl6050, region.MainOf(arguments[i]))
                        .With("index", i + 1)
                        .With("type", region.TypeName(type))
                        .With("found", region.TypeName(region.TypeOf(values.Inst(i)))));
      return {};
    }
    count += part.rows;
  }
  if (count != target.rows) {
    region.Report(Make(Code::kRpl6051, region.MainOf(id))
                      .With("type", region.TypeName(type))
                      .With("expected", static_cast<uint32_t>(target.rows))
                      .With("parts", "components")
                      .With("found", count));
    return {};
  }
  return region.ValueOf(
      region.Emit(ir::ConstructInst{.type = type, .operands = region.EmitList(values)}.To()));
}

// The upper left part of a larger matrix: the first columns, each cut to the first components.
// There is no instruction for it, so it is written out.
Operand CropMatrix(RegionBuilder& region, ir::TypeId type, ir::InstId value) {
  const ir::Type target = region.pool()[type];
  const ir::Type from = region.pool()[region.TypeOf(value)];
  // Columns of the larger matrix, and what is left of each.
  const ir::TypeId wide = region.pool().Vector(from.scalar, from.rows);
  const ir::TypeId narrow = region.pool().Vector(target.scalar, target.rows);
  ScratchList columns(region.scratch());
  for (uint32_t i = 0; i < target.columns; ++i) {
    ir::InstId column = region.Emit(ir::ExtractInst{.type = wide, .value = value, .index = i}.To());
    if (wide != narrow) {
      column = region.Emit(ir::SwizzleInst{
          .type = narrow, .value = column, .letters = ir::PackSwizzle(target.rows, {0, 1, 2, 3})}
                               .To());
    }
    columns.Add(column);
  }
  return region.ValueOf(
      region.Emit(ir::ConstructInst{.type = type, .operands = region.EmitList(columns)}.To()));
}

// A matrix is made of another one that is at least as large, or of its columns.
Operand ConstructMatrix(RegionBuilder& region, ir::TypeId type, const ScratchList& values,
                        uint32_t id) {
  const ir::Type target = region.pool()[type];
  const std::span<const uint32_t> arguments =
      region.module().List(region.Generic(id).As<ir::NameConstructInst>().arguments);
  if (values.size() == 1) {
    const ir::Type only = region.pool()[region.TypeOf(values.Inst(0))];
    if (region.TypeOf(values.Inst(0)) == type) {
      return region.ValueOf(values.Inst(0));
    }
    if (only.kind == ir::TypeKind::kMatrix && only.columns >= target.columns &&
        only.rows >= target.rows) {
      return CropMatrix(region, type, values.Inst(0));
    }
  }
  // Every argument has to be a whole column; scalars are not collected into columns.
  const ir::TypeId column = region.pool().Vector(target.scalar, target.rows);
  for (size_t i = 0; i < values.size(); ++i) {
    if (region.TypeOf(values.Inst(i)) != column) {
      region.Report(Make(Code::kRpl6053, region.MainOf(arguments[i]))
                        .With("index", i + 1)
                        .With("type", region.TypeName(type))
                        .With("found", region.TypeName(region.TypeOf(values.Inst(i))))
                        .With("expected", region.TypeName(column)));
      return {};
    }
  }
  if (values.size() != target.columns) {
    region.Report(Make(Code::kRpl6051, region.MainOf(id))
                      .With("type", region.TypeName(type))
                      .With("expected", static_cast<uint32_t>(target.columns))
                      .With("parts", "columns")
                      .With("found", values.size()));
    return {};
  }
  return region.ValueOf(
      region.Emit(ir::ConstructInst{.type = type, .operands = region.EmitList(values)}.To()));
}

// One argument for each field that is live, in the order of the declaration.
Operand ConstructStruct(RegionBuilder& region, ir::TypeId type, const ScratchList& values,
                        uint32_t id) {
  const std::span<const uint32_t> arguments =
      region.module().List(region.Generic(id).As<ir::NameConstructInst>().arguments);
  const std::span<const ir::ShapeMember> members = region.pool().Members(type);
  if (values.size() != members.size()) {
    region.Report(Make(Code::kRpl6054, region.MainOf(id))
                      .With("type", region.TypeName(type))
                      .With("expected", members.size())
                      .With("found", values.size()));
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (region.TypeOf(values.Inst(i)) != members[i].type) {
      region.Report(Make(Code::kRpl6053, region.MainOf(arguments[i]))
                        .With("index", i + 1)
                        .With("type", region.TypeName(type))
                        .With("found", region.TypeName(region.TypeOf(values.Inst(i))))
                        .With("expected", region.TypeName(members[i].type)));
      return {};
    }
  }
  return region.ValueOf(
      region.Emit(ir::ConstructInst{.type = type, .operands = region.EmitList(values)}.To()));
}

// All items have the one type of the elements, and there is no conversion to it.
Operand ConstructArray(RegionBuilder& region, ir::TypeId type, const ScratchList& values,
                       uint32_t id) {
  // Items are checked before their number, like components of vectors.
  const std::span<const uint32_t> arguments =
      region.module().List(region.Generic(id).As<ir::NameConstructInst>().arguments);
  const ir::Type target = region.pool()[type];
  for (size_t i = 0; i < values.size(); ++i) {
    if (region.TypeOf(values.Inst(i)) != ir::TypeId{target.element}) {
      region.Report(Make(Code::kRpl6053, region.MainOf(arguments[i]))
                        .With("index", i + 1)
                        .With("type", region.TypeName(type))
                        .With("found", region.TypeName(region.TypeOf(values.Inst(i))))
                        .With("expected", region.TypeName(ir::TypeId{target.element})));
      return {};
    }
  }
  if (values.size() != target.extent) {
    region.Report(Make(Code::kRpl6051, region.MainOf(id))
                      .With("type", region.TypeName(type))
                      .With("expected", target.extent)
                      .With("parts", "items")
                      .With("found", values.size()));
    return {};
  }
  return region.ValueOf(
      region.Emit(ir::ConstructInst{.type = type, .operands = region.EmitList(values)}.To()));
}

}  // namespace

// The type is specialised as the position of a constructor asks, then all arguments are read, and
// only then the forms of the type decide. So wrong arguments are reported before a wrong number of
// them.
Operand SpecialiseConstruct(RegionBuilder& region, uint32_t id) {
  const auto construct = region.Generic(id).As<ir::NameConstructInst>();
  const ir::Type& written = region.module().types[construct.type.value];
  const std::string_view type_text = region.WrittenText(construct.type);
  // A name that is no struct is looked at first: what is a type without constructor has a better
  // message than an unknown one.
  if (written.kind == ir::TypeKind::kNamed) {
    const NameId name =
        region.program().Name(region.module_ordinal(), ir::StringId{written.element});
    if (region.program().Structs(name).empty()) {
      const bool opaque =
          type_text == "sampler" || type_text.starts_with("image_") || type_text == "void";
      region.Report(
          Make(opaque ? Code::kRpl6058 : Code::kRpl6056, region.AuxOf(id)).With("type", type_text));
      return {};
    }
  }
  const ir::TypeId type = SpecialiseType(
      {.module = region.module_ordinal(),
       .type = construct.type,
       .spans =
           region.module().inst_spans.empty() ? ir::SpanId{} : region.module().inst_spans[id].aux,
       .owner = type_text,
       .use = TypeUse::kConstructor},
      region.answers(), region.diagnostics());
  if (!type.valid()) {
    return {};
  }
  const std::span<const uint32_t> arguments = region.module().List(construct.arguments);
  if (arguments.empty()) {
    region.Report(Make(Code::kRpl6057, region.MainOf(id)).With("type", type_text));
    return {};
  }
  // The items of an array of arrays are arrays.
  const ir::Type target = region.pool()[type];
  const bool nested = target.kind == ir::TypeKind::kArray &&
                      region.pool()[ir::TypeId{target.element}].kind == ir::TypeKind::kArray;
  ScratchList values(region.scratch());
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kConstructor, .text = type_text, .index = static_cast<uint32_t>(i + 1)};
    values.Add(Read(region, arguments[i], role, nested ? Arrays::kAllowed : Arrays::kRefused));
    good = good && values.Inst(i).valid();
  }
  if (!good) {
    return {};
  }
  switch (region.pool()[type].kind) {
    case ir::TypeKind::kVector:
      return ConstructVector(region, type, values, id);
    case ir::TypeKind::kMatrix:
      return ConstructMatrix(region, type, values, id);
    case ir::TypeKind::kStruct:
      return ConstructStruct(region, type, values, id);
    case ir::TypeKind::kArray:
      return ConstructArray(region, type, values, id);
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kRuntimeArray:
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
  region.Report(Make(Code::kRpl6058, region.MainOf(id)).With("type", type_text));
  return {};
}

}  // namespace kiln::resolve
