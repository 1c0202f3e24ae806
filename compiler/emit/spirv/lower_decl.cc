// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower_decl.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/opcodes.h"
#include "compiler/ir/interface/semantics.h"
#include "compiler/layout/rpl_adapter.h"

namespace kiln::spirv {
namespace {

using spv::Decoration;
using spv::Op;
using spv::StorageClass;

// A built-in variable: its name for debuggers, its type and its storage class.
struct StageRow {
  const char* name;
  ir::Scalar scalar;
  uint32_t rows;
  StorageClass storage;
};
// By StageVariable.
constexpr StageRow kStageRows[] = {
    {"position", ir::Scalar::kF32, 4, StorageClass::Output},
    {"vertex_index", ir::Scalar::kU32, 1, StorageClass::Input},
    {"instance_index", ir::Scalar::kU32, 1, StorageClass::Input},
    {"frag_coord", ir::Scalar::kF32, 4, StorageClass::Input},
    {"front_facing", ir::Scalar::kBool, 1, StorageClass::Input},
    {"frag_depth", ir::Scalar::kF32, 1, StorageClass::Output},
    {"global_id", ir::Scalar::kU32, 3, StorageClass::Input},
    {"local_id", ir::Scalar::kU32, 3, StorageClass::Input},
    {"local_index", ir::Scalar::kU32, 1, StorageClass::Input},
    {"workgroup_id", ir::Scalar::kU32, 3, StorageClass::Input},
    {"workgroup_count", ir::Scalar::kU32, 3, StorageClass::Input},
};

// Names cost words and mean nothing to a driver, so they are written on request.
void Name(CodeObjectWriter& w, const CodeObjectTable& table, Ref id, std::string_view name) {
  if (table.target().debug != target::Debug::kNone) {
    w.Op(Part::kDebug, Op::OpName).Use(id).Text(name);
  }
}

void Decorate(CodeObjectWriter& w, Ref id, Decoration decoration) {
  w.Op(Part::kAnnotations, Op::OpDecorate).Use(id).Word(decoration);
}

// A decoration whose number only a layout knows. The zero is filled in when a module is written, so
// that one code object serves every layout.
void DecorateWithSlot(CodeObjectWriter& w, Ref id, Decoration decoration, LayoutRelocationKind kind,
                      uint32_t row) {
  Instruction made = w.Op(Part::kAnnotations, Op::OpDecorate);
  made.Use(id).Word(decoration);
  w.AddSlot(kind, row);
  made.Word(0u);
}

// Variables without an initial value.
void Declare(CodeObjectWriter& w, CodeObjectTable& table, Ref id, SymbolId type,
             StorageClass storage) {
  w.Op(Part::kDeclarations, Op::OpVariable)
      .Use(table.globals().Pointer(storage, type))
      .Use(id)
      .Word(storage);
}

// --- containers ----------------------------------------------------------------------------------

bool IsInteger(const ir::Pool& pool, ir::TypeId type) {
  return pool[type].scalar == ir::Scalar::kU32 || pool[type].scalar == ir::Scalar::kS32;
}

// One field of a container is one variable, or two: a state field is an output of the vertex stage
// and an input of the fragment stage, and both have the same location, that of the member.
VariableVersion LowerField(const ir::SpecialisedDecl& decl, const ir::SpecialisedMember& member,
                           ir::Direction direction, CodeObjectTable& table) {
  const ir::Pool& pool = table.pool();
  const bool input = direction == ir::Direction::kIn;
  const StorageClass storage = input ? StorageClass::Input : StorageClass::Output;
  CodeObjectWriter& w = table.DeclWriter();
  const Ref id = w.NewId();
  Name(w, table, id, std::string(pool.Text(decl.name)) + "." + std::string(pool.Text(member.name)));
  DecorateWithSlot(w, id, Decoration::Location, LayoutRelocationKind::kLocation,
                   member.member.value);
  // Integers cannot be interpolated: an input of the fragment stage must be Flat. Attributes are
  // inputs of the vertex stage and must not be.
  if (input && decl.container() == ir::ContainerKind::kState && IsInteger(pool, member.type)) {
    Decorate(w, id, Decoration::Flat);
  }
  if (member.relaxed) {
    Decorate(w, id, Decoration::RelaxedPrecision);
  }
  Declare(w, table, id, table.globals().Type(member.type), storage);
  const SymbolId symbol = table.store().Variable(decl.decl, member.member, direction, storage);
  return {table.store().GlobalOf(symbol), table.store().Add(w)};
}

// Attributes are inputs only, colour outputs are outputs only, and states are both.
std::vector<VariableVersion> LowerContainer(const ir::SpecialisedDecl& decl,
                                            CodeObjectTable& table) {
  table.Classify(decl.decl, {.kind = decl.kind});
  std::vector<VariableVersion> versions;
  for (const ir::SpecialisedMember& member : decl.members) {
    const ir::ContainerKind kind = decl.container();
    if (kind != ir::ContainerKind::kColorOutput) {
      versions.push_back(LowerField(decl, member, ir::Direction::kIn, table));
    }
    if (kind == ir::ContainerKind::kColorOutput || kind == ir::ContainerKind::kState) {
      versions.push_back(LowerField(decl, member, ir::Direction::kOut, table));
    }
    // The pair is remembered, so that what a fragment stage reads is declared by the vertex stage
    // of the same variant even if nothing writes it.
    if (kind == ir::ContainerKind::kState) {
      const size_t last = versions.size() - 1;
      table.store().AddVarying(versions[last - 1].variable, versions[last].variable);
    }
  }
  return versions;
}

// --- resources -----------------------------------------------------------------------------------

// How a declaration appears in SPIR-V: spec/rpl 11.2.
struct Resource {
  StorageClass storage = StorageClass::UniformConstant;
  TypeForm form = TypeForm::kPlain;  // of the variable's type
  bool has_binding = true;
  bool writable = false;
};

// The rules that the block was written with decide the offsets in its type.
TypeForm BlockForm(const ir::SpecialisedDecl& decl, FormRole role) {
  return FormOf(role, layout::RulesOf(decl));
}

// The flags are `has_binding` and `writable`.
Resource ResourceOf(const ir::SpecialisedDecl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kPushConstant:
      return {StorageClass::PushConstant, BlockForm(decl, FormRole::kWritableBlock), false, false};
    case ir::DeclKind::kBuffer:
      switch (decl.buffer()) {
        case ir::BufferKind::kUniform:
          return {StorageClass::Uniform, BlockForm(decl, FormRole::kUniformBlock), true, false};
        case ir::BufferKind::kReadOnlyStorage:
          return {StorageClass::StorageBuffer, BlockForm(decl, FormRole::kReadOnlyBlock), true,
                  false};
        case ir::BufferKind::kReadWriteStorage:
          return {StorageClass::StorageBuffer, BlockForm(decl, FormRole::kWritableBlock), true,
                  true};
      }
      KILN_UNREACHABLE();
    case ir::DeclKind::kSampler:
    case ir::DeclKind::kImage:
      return {};
    case ir::DeclKind::kWorkgroup:
      return {StorageClass::Workgroup, TypeForm::kPlain, false, true};
    case ir::DeclKind::kPrivate:
      return {StorageClass::Private, TypeForm::kPlain, false, true};
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kContainer:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kEntry:
      break;
  }
  KILN_UNREACHABLE();
}

// Says what an access never does. Read-only buffers say it here and on their members.
void DecorateAccess(CodeObjectWriter& w, Ref id, const ir::SpecialisedDecl& decl,
                    const ir::Pool& pool) {
  const bool read_only_buffer =
      decl.kind == ir::DeclKind::kBuffer && decl.buffer() == ir::BufferKind::kReadOnlyStorage;
  ir::Type type = pool[decl.type];
  // An array of images has the access of its items.
  while (type.kind == ir::TypeKind::kArray) {
    type = pool[ir::TypeId{type.element}];
  }
  const bool storage = decl.kind == ir::DeclKind::kImage && type.kind == ir::TypeKind::kImage &&
                       ir::UnpackImage(type.extent).storage;
  if (read_only_buffer || (storage && decl.access() == ir::ImageAccess::kReadOnly)) {
    Decorate(w, id, Decoration::NonWritable);
  } else if (storage && decl.access() == ir::ImageAccess::kWriteOnly) {
    Decorate(w, id, Decoration::NonReadable);
  }
}

// The code object has only the variable. Types are globals and are shared by all of them.
VariableVersion LowerResource(const ir::SpecialisedDecl& decl, CodeObjectTable& table) {
  const Resource resource = ResourceOf(decl);
  // Lowering regions asks for this class with each place, and never for the declaration itself; so
  // it holds for all versions of a declaration.
  table.Classify(decl.decl, {.kind = decl.kind,
                             .storage = resource.storage,
                             .form = ItemForm(resource.form),
                             .writable = resource.writable,
                             .whole = resource.form});
  CodeObjectWriter& w = table.DeclWriter();
  const Ref id = w.NewId();
  Name(w, table, id, table.pool().Text(decl.name));
  if (resource.has_binding) {
    DecorateWithSlot(w, id, Decoration::DescriptorSet, LayoutRelocationKind::kSet, decl.decl.value);
    DecorateWithSlot(w, id, Decoration::Binding, LayoutRelocationKind::kBinding, decl.decl.value);
  }
  DecorateAccess(w, id, decl, table.pool());
  if (resource.storage == StorageClass::StorageBuffer) {
    w.needs |= target::BitOf(target::Need::kStorageBufferClass);
  }
  const SymbolId type = table.globals().Type(decl.type, resource.form);
  // A private variable is never undefined: without an initial value it is zero.
  if (decl.kind == ir::DeclKind::kPrivate) {
    const SymbolId initial =
        decl.initial.valid() ? table.globals().Constant(decl.initial) : table.globals().Null(type);
    w.Op(Part::kDeclarations, Op::OpVariable)
        .Use(table.globals().Pointer(resource.storage, type))
        .Use(id)
        .Word(resource.storage)
        .Use(initial);
  } else {
    Declare(w, table, id, type, resource.storage);
  }
  const SymbolId symbol =
      table.store().Variable(decl.decl, {}, ir::Direction::kNone, resource.storage);
  return {table.store().GlobalOf(symbol), table.store().Add(w)};
}

// --- functions -----------------------------------------------------------------------------------

// What cannot be a value of a function.
bool IsHandle(const ir::Pool& pool, ir::TypeId type) {
  return pool[type].kind == ir::TypeKind::kSampler || ir::IsImage(pool[type].kind);
}

// Handles are passed as pointers to where they are bound, `out` and `in out` as pointers to a
// variable of the caller, everything else by value (spec/rpl 11.4).
SymbolId ParameterType(const ir::SpecialisedMember& parameter, CodeObjectTable& table) {
  const SymbolId type = table.globals().Type(parameter.type);
  if (IsHandle(table.pool(), parameter.type)) {
    return table.globals().Pointer(StorageClass::UniformConstant, type);
  }
  return parameter.access == ir::Access::kIn
             ? type
             : table.globals().Pointer(StorageClass::Function, type);
}

// Own ids of a head: the function and the label of its first block.
void LowerHead(const ir::SpecialisedDecl& decl, CodeObjectTable& table) {
  std::vector<SymbolId> types;
  std::vector<SymbolId> parameters;
  // Types of parameters and of the function are globals that use the same kind of writer, so they
  // are made before it is asked for.
  for (const ir::SpecialisedMember& member : decl.members) {
    types.push_back(ParameterType(member, table));
    parameters.push_back(table.store().Local(member.local));
  }
  const SymbolId result = table.globals().Type(decl.type);
  const SymbolId symbol = table.store().Function(decl.decl);
  CodeObjectWriter& w = table.DeclWriter();
  const Ref id = w.Reserve(symbol);
  Name(w, table, id, table.pool().Text(decl.name));
  w.Op(Part::kDeclarations, Op::OpFunction)
      .Use(result)
      .Use(id)
      .Word(0u)
      .Use(table.globals().Function(result, types));
  for (size_t i = 0; i < types.size(); ++i) {
    // Parameters are named by symbols and not by own ids: the regions of the function refer to
    // them.
    w.Op(Part::kDeclarations, Op::OpFunctionParameter).Use(types[i]).Use(parameters[i]);
  }
  w.Op(Part::kDeclarations, Op::OpLabel).Use(w.NewId());
  table.Bind(decl, table.store().Add(w), symbol, parameters);
}

}  // namespace

// Requires: the declaration has not been lowered yet.
void LowerDecl(const ir::SpecialisedDecl& decl, CodeObjectTable& table) {
  if (decl.kind == ir::DeclKind::kFunction) {
    LowerHead(decl, table);
    return;
  }
  if (decl.kind == ir::DeclKind::kContainer) {
    table.Bind(decl, LowerContainer(decl, table));
    return;
  }
  const VariableVersion version = LowerResource(decl, table);
  table.Bind(decl, std::span(&version, 1));
}

namespace {

// Decorations of a variable that a typed module declares itself. There numbers come from the
// source, so they are words and not slots.
void DecorateIo(CodeObjectWriter& w, Ref id, const ir::Attribute& attribute, const ir::Pool& pool) {
  const auto number = [&](Decoration decoration) {
    w.Op(Part::kAnnotations, Op::OpDecorate).Use(id).Word(decoration).Word(attribute.a);
  };
  if (attribute.key == ir::AttributeKey::kLocation) {
    number(Decoration::Location);
  } else if (attribute.key == ir::AttributeKey::kIndex) {
    number(Decoration::Index);
  } else if (attribute.key == ir::AttributeKey::kBuiltin) {
    const auto builtin = ir::FindBuiltinVariable(pool.Text(ir::StringId{attribute.a}));
    KILN_CHECK(builtin.has_value(), "no such built-in");
    w.Op(Part::kAnnotations, Op::OpDecorate)
        .Use(id)
        .Word(Decoration::BuiltIn)
        .Word(BuiltInOf(*builtin));
    w.needs |= target::BitOf(NeedOf(*builtin));
  } else if (attribute.key == ir::AttributeKey::kInterpolation) {
    switch (static_cast<ir::Interpolation>(attribute.a)) {
      // Smooth is what SPIR-V does without a decoration.
      case ir::Interpolation::kSmooth:
        return;
      case ir::Interpolation::kFlat:
        return Decorate(w, id, Decoration::Flat);
      case ir::Interpolation::kNoPerspective:
        return Decorate(w, id, Decoration::NoPerspective);
      case ir::Interpolation::kCentroid:
        return Decorate(w, id, Decoration::Centroid);
      case ir::Interpolation::kSample:
        w.needs |= target::BitOf(target::Need::kSampleRateShading);
        return Decorate(w, id, Decoration::Sample);
    }
  }
}

}  // namespace

// There are rows of inputs and outputs only.
StorageClass StorageOf(const ir::InterfaceRow& row) {
  return row.direction == ir::Direction::kIn ? StorageClass::Input : StorageClass::Output;
}

// A row is a global by its words, so two entry points may share one.
SymbolId IoVariableOf(const ir::InterfaceRow& row, CodeObjectTable& table) {
  const StorageClass storage = StorageOf(row);
  const SymbolId pointer = table.globals().Pointer(storage, table.globals().Type(row.type));
  CodeObjectWriter& w = table.DeclWriter();
  const Ref id = w.NewId();
  Name(w, table, id, table.pool().Text(row.name));
  for (const ir::Attribute& attribute : row.attributes) {
    DecorateIo(w, id, attribute, table.pool());
  }
  w.Op(Part::kDeclarations, Op::OpVariable).Use(pointer).Use(id).Word(storage);
  return table.store().InternGlobal(w, SymbolKind::kConstantVariable, storage);
}

spv::StorageClass StorageOf(ir::StageVariable variable) {
  return kStageRows[static_cast<size_t>(variable)].storage;
}

// Made at its first use and shared by all entry points.
SymbolId StageVariableOf(ir::StageVariable variable, CodeObjectTable& table) {
  const StageRow& row = kStageRows[static_cast<size_t>(variable)];
  return table.store().StageVariable(variable, row.storage, [&](CodeObjectWriter& w) {
    const Ref id = w.NewId();
    Name(w, table, id, row.name);
    w.Op(Part::kAnnotations, Op::OpDecorate)
        .Use(id)
        .Word(Decoration::BuiltIn)
        .Word(BuiltInOf(variable));
    Declare(w, table, id, table.globals().Type(table.pool().Vector(row.scalar, row.rows)),
            row.storage);
  });
}

}  // namespace kiln::spirv
