// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/globals.h"

#include <iterator>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::spirv {
namespace {

using spv::Decoration;
using spv::Op;

// Pointers of these classes are remembered in a table, which has as many columns; the others are
// rare and interned each time.
constexpr size_t kStorageClasses = 13;  // up to StorageBuffer

// By ir::ImageFormat.
constexpr spv::ImageFormat kFormats[] = {
    spv::ImageFormat::Unknown,     spv::ImageFormat::Rgba32f,      spv::ImageFormat::Rgba16f,
    spv::ImageFormat::R32f,        spv::ImageFormat::Rgba8,        spv::ImageFormat::Rgba8Snorm,
    spv::ImageFormat::Rgba32i,     spv::ImageFormat::Rgba16i,      spv::ImageFormat::Rgba8i,
    spv::ImageFormat::R32i,        spv::ImageFormat::Rgba32ui,     spv::ImageFormat::Rgba16ui,
    spv::ImageFormat::Rgba8ui,     spv::ImageFormat::R32ui,        spv::ImageFormat::Rg32f,
    spv::ImageFormat::Rg16f,       spv::ImageFormat::R11fG11fB10f, spv::ImageFormat::R16f,
    spv::ImageFormat::Rgba16,      spv::ImageFormat::Rgb10A2,      spv::ImageFormat::Rg16,
    spv::ImageFormat::Rg8,         spv::ImageFormat::R16,          spv::ImageFormat::R8,
    spv::ImageFormat::Rgba16Snorm, spv::ImageFormat::Rg16Snorm,    spv::ImageFormat::Rg8Snorm,
    spv::ImageFormat::R16Snorm,    spv::ImageFormat::R8Snorm,      spv::ImageFormat::Rg32i,
    spv::ImageFormat::Rg16i,       spv::ImageFormat::Rg8i,         spv::ImageFormat::R16i,
    spv::ImageFormat::R8i,         spv::ImageFormat::Rgb10a2ui,    spv::ImageFormat::Rg32ui,
    spv::ImageFormat::Rg16ui,      spv::ImageFormat::Rg8ui,        spv::ImageFormat::R16ui,
    spv::ImageFormat::R8ui,        spv::ImageFormat::R64i,         spv::ImageFormat::R64ui,
};
static_assert(std::size(kFormats) == static_cast<size_t>(ir::ImageFormat::kR64Uint) + 1);

// What storage images of a format need; those that RPL has need nothing.
target::Needs FormatNeeds(ir::ImageFormat format) {
  if (format == ir::ImageFormat::kR64Sint || format == ir::ImageFormat::kR64Uint) {
    return target::BitOf(target::Need::kInt64Image);
  }
  return format > ir::ImageFormat::kR32Uint
             ? target::BitOf(target::Need::kStorageImageExtendedFormats)
             : target::Needs{0};
}

// What the kind of an image needs.
target::Needs TraitsNeeds(const ir::ImageTraits& traits) {
  using enum target::Need;
  target::Needs needs = traits.storage ? FormatNeeds(traits.format) : 0;
  const auto need = [&needs](target::Need one) { needs |= target::BitOf(one); };
  if (traits.dim == ir::ImageDim::k1d) {
    need(traits.storage ? kImage1D : kSampled1D);
  } else if (traits.dim == ir::ImageDim::kBuffer) {
    need(traits.storage ? kImageBuffer : kSampledBuffer);
  } else if (traits.dim == ir::ImageDim::kCube && traits.arrayed) {
    need(traits.storage ? kImageCubeArray : kSampledCubeArray);
  }
  if (traits.storage && traits.multisampled) {
    need(kStorageImageMultisample);
    if (traits.arrayed) {
      need(kImageMSArray);
    }
  }
  return needs;
}

spv::Dim DimOf(ir::ImageDim dim) {
  switch (dim) {
    case ir::ImageDim::k2d:
      return spv::Dim::Dim2D;
    case ir::ImageDim::k3d:
      return spv::Dim::Dim3D;
    case ir::ImageDim::kCube:
      return spv::Dim::Cube;
    case ir::ImageDim::k1d:
      return spv::Dim::Dim1D;
    case ir::ImageDim::kBuffer:
      return spv::Dim::Buffer;
    case ir::ImageDim::kSubpass:
      return spv::Dim::SubpassData;
  }
  KILN_UNREACHABLE();
}

// Rules that only devices with scalar block layouts know.
bool IsScalarLayout(layout::Rules rules) {
  return rules == layout::Rules::kScalar || rules == layout::Rules::kC ||
         rules == layout::Rules::kD3dCbuffer;
}

// Rules that uniform buffers have and storage buffers do not.
bool IsOfUniforms(layout::Rules rules) {
  return rules == layout::Rules::kStd140 || rules == layout::Rules::kStd140Relaxed ||
         rules == layout::Rules::kD3dCbuffer;
}

}  // namespace

// The nesting of last members is bounded by that of structs, which the language limits.
bool EndsInRuntimeArray(const ir::Pool& pool, ir::TypeId type) {
  while (pool[type].kind == ir::TypeKind::kStruct && !pool.Members(type).empty()) {
    type = pool.Members(type).back().type;
  }
  return pool[type].kind == ir::TypeKind::kRuntimeArray;
}

// A type is made once for each form: as a value, in memory, as a block under its rules.
SymbolId Globals::AddType(ir::TypeId type, TypeForm form) {
  const SymbolId made = MakeType(type, form);  // may grow the table
  std::vector<SymbolId>& types = types_[static_cast<size_t>(form)];
  if (type.value >= types.size()) {
    types.resize(type.value + size_t{1});
  }
  types[type.value] = made;
  return made;
}

SymbolId Globals::MakeType(ir::TypeId type, TypeForm form) {
  const ir::Type t = pool_[type];
  switch (t.kind) {
    case ir::TypeKind::kVoid:
      return MakeSimple(Op::OpTypeVoid);
    case ir::TypeKind::kVector:
      if (form != TypeForm::kPlain && t.scalar == ir::Scalar::kBool) {
        return Type(pool_.Vector(ir::Scalar::kU32, t.rows));
      }
      return t.rows == 1 ? MakeScalar(t.scalar)
                         : MakeRow(Op::OpTypeVector, Type(pool_.Vector(t.scalar, 1)), t.rows);
    case ir::TypeKind::kMatrix:
      if (!ir::IsFloatScalar(t.scalar)) {
        return MakeColumns(type, form);
      }
      return MakeRow(Op::OpTypeMatrix, Type(pool_.Vector(t.scalar, t.rows)), t.columns);
    case ir::TypeKind::kArray:
    case ir::TypeKind::kRuntimeArray:
      return MakeArray(type, form);
    case ir::TypeKind::kStruct:
      return MakeStruct(type, form);
    case ir::TypeKind::kSampler:
      return MakeSimple(Op::OpTypeSampler);
    case ir::TypeKind::kImage:
      return MakeImage(t);
    case ir::TypeKind::kSampledImage:
      return SampledImage(MakeImage(t));
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
    case ir::TypeKind::kDeclared:
    case ir::TypeKind::kAccel:
    case ir::TypeKind::kRayQuery:
      break;
  }
  KILN_UNREACHABLE();
}

SymbolId Globals::MakeSimple(Op op) {
  CodeObjectWriter& w = Scratch();
  w.Op(Part::kDeclarations, op).Use(w.NewId());
  return store_.InternGlobal(w);
}

SymbolId Globals::MakeRow(Op op, SymbolId item, uint32_t count) {
  CodeObjectWriter& w = Scratch();
  w.Op(Part::kDeclarations, op).Use(w.NewId()).Use(item).Word(count);
  return store_.InternGlobal(w);
}

// A scalar brings its capabilities along, so whoever mentions it needs them
// (CodeObjectStore::NeedsOf finds them through the operands).
SymbolId Globals::MakeScalar(ir::Scalar scalar) {
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  const uint32_t width = ir::BitWidthOf(scalar);
  const auto need = [&w](target::Need one) { w.needs |= target::BitOf(one); };
  if (scalar == ir::Scalar::kBool) {
    w.Op(Part::kDeclarations, Op::OpTypeBool).Use(self);
  } else if (ir::IsFloatScalar(scalar)) {
    w.Op(Part::kDeclarations, Op::OpTypeFloat).Use(self).Word(width);
    if (width != 32) {
      need(width == 16 ? target::Need::kFloat16 : target::Need::kFloat64);
    }
  } else {
    KILN_CHECK(scalar != ir::Scalar::kNone);
    w.Op(Part::kDeclarations, Op::OpTypeInt)
        .Use(self)
        .Word(width)
        .Word(ir::IsSignedScalar(scalar) ? 1u : 0u);
    if (width != 32) {
      need(width == 16 ? target::Need::kInt16 : target::Need::kInt64);
    }
  }
  return store_.InternGlobal(w);
}

// A matrix that SPIR-V does not have: an array of its columns.
SymbolId Globals::MakeColumns(ir::TypeId type, TypeForm form) {
  const ir::Type t = pool_[type];
  const SymbolId item = Type(pool_.Vector(t.scalar, t.rows), ItemForm(form));
  const SymbolId extent = U32(t.columns);
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  w.Op(Part::kDeclarations, Op::OpTypeArray).Use(self).Use(item).Use(extent);
  // Each column is an item, so the stride of the array is that of the matrix's columns.
  if (form != TypeForm::kPlain) {
    w.Op(Part::kAnnotations, Op::OpDecorate)
        .Use(self)
        .Word(Decoration::ArrayStride)
        .Word(layouts_.Of(type, RulesOf(form)).matrix_stride);
  }
  return store_.InternGlobal(w);
}

SymbolId Globals::MakeArray(ir::TypeId type, TypeForm form) {
  const ir::Type t = pool_[type];
  // An array of buffers is an array of descriptors: its items are blocks, and it has no stride.
  const bool of_blocks = IsBlock(form) && t.kind == ir::TypeKind::kArray;  // an array of buffers
  const ir::TypeId element{t.element};
  const bool nested = pool_[element].kind == ir::TypeKind::kArray;
  const SymbolId item = Type(element, of_blocks ? form
                                      : nested  ? WithOrder(ItemForm(form), OrderOf(form))
                                                : ItemForm(form));
  const SymbolId extent = t.kind == ir::TypeKind::kArray ? U32(t.extent) : SymbolId{};
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  if (t.kind == ir::TypeKind::kArray) {
    w.Op(Part::kDeclarations, Op::OpTypeArray).Use(self).Use(item).Use(extent);
  } else {
    w.Op(Part::kDeclarations, Op::OpTypeRuntimeArray).Use(self).Use(item);
  }
  if (form != TypeForm::kPlain && !of_blocks) {
    w.Op(Part::kAnnotations, Op::OpDecorate)
        .Use(self)
        .Word(Decoration::ArrayStride)
        .Word(layouts_.Of(type, RulesOf(form), OrderOf(form)).stride);
  }
  return store_.InternGlobal(w);
}

// The members as SPIR-V has them. In a block the last one may be a struct that ends in a runtime
// array; then its members take its place, with their offsets counted from the block, and so on for
// their last one. See EndsInRuntimeArray.
std::vector<Globals::Member> Globals::MembersOf(ir::TypeId type, TypeForm form) {
  std::vector<Member> members;
  uint32_t base = 0;
  while (true) {
    const std::span<const ir::ShapeMember> shapes = pool_.Members(type);
    for (uint32_t i = 0; i < shapes.size(); ++i) {
      CheckStop();
      const uint32_t offset =
          form == TypeForm::kPlain
              ? 0
              : static_cast<uint32_t>(layouts_.Of(type, RulesOf(form)).offsets[i]);
      members.push_back({.shape = shapes[i], .offset = base + offset});
    }
    const Member last = members.back();
    if (!IsBlock(form) || pool_[last.shape.type].kind != ir::TypeKind::kStruct ||
        !EndsInRuntimeArray(pool_, last.shape.type)) {
      return members;
    }
    members.pop_back();
    base = last.offset;
    type = last.shape.type;
  }
}

SymbolId Globals::MakeStruct(ir::TypeId type, TypeForm form) {
  const std::vector<Member> members = MembersOf(type, form);
  std::vector<SymbolId> types;
  types.reserve(members.size());
  for (const Member& member : members) {
    // Here too the operands come first, because they use the writer.
    const ir::TypeKind kind = pool_[member.shape.type].kind;
    const bool array = kind == ir::TypeKind::kArray || kind == ir::TypeKind::kRuntimeArray;
    const bool by_rows = array && form != TypeForm::kPlain;
    types.push_back(Type(member.shape.type,
                         by_rows ? WithOrder(ItemForm(form), member.shape.order) : ItemForm(form)));
  }
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  {
    Instruction made = w.Op(Part::kDeclarations, Op::OpTypeStruct);
    made.Use(self);
    for (const SymbolId member : types) {
      made.Use(member);
    }
  }
  // Names are part of what makes a struct: two structs with equal members and other names stay two
  // types when there are names at all, and become one when there are none.
  if (target_.debug != target::Debug::kNone) {
    w.Op(Part::kDebug, Op::OpName).Use(self).Text(pool_.Text(pool_.ShapeOf(type).name));
    for (uint32_t i = 0; i < members.size(); ++i) {
      w.Op(Part::kDebug, Op::OpMemberName)
          .Use(self)
          .Word(i)
          .Text(pool_.Text(members[i].shape.name));
    }
  }
  if (IsBlock(form)) {
    w.Op(Part::kAnnotations, Op::OpDecorate).Use(self).Word(Decoration::Block);
    if (IsScalarLayout(RulesOf(form))) {
      w.needs |= target::BitOf(target::Need::kScalarBlockLayout);
    }
  }
  for (uint32_t i = 0; form != TypeForm::kPlain && i < members.size(); ++i) {
    DecorateMember(w, self, members[i], form, i);
  }
  return store_.InternGlobal(w);
}

void Globals::DecorateMember(CodeObjectWriter& w, Ref self, const Member& member, TypeForm form,
                             uint32_t index) {
  const auto decorate = [&](Decoration decoration) {
    w.Op(Part::kAnnotations, Op::OpMemberDecorate).Use(self).Word(index).Word(decoration);
  };
  w.Op(Part::kAnnotations, Op::OpMemberDecorate)
      .Use(self)
      .Word(index)
      .Word(Decoration::Offset)
      .Word(member.offset);
  // Only matrices of floats are matrices in SPIR-V; for the others the stride is that of an array
  // of columns.
  if (const uint32_t stride = layouts_.Of(member.shape, RulesOf(form)).matrix_stride;
      stride != 0 && HoldsFloats(member.shape.type)) {
    decorate(member.shape.order == ir::MatrixOrder::kRow ? Decoration::RowMajor
                                                         : Decoration::ColMajor);
    w.Op(Part::kAnnotations, Op::OpMemberDecorate)
        .Use(self)
        .Word(index)
        .Word(Decoration::MatrixStride)
        .Word(stride);
  }
  // The variable says so as well. Both are asked for by spec/rpl 11.2.
  if (RoleOf(form) == FormRole::kReadOnlyBlock) {
    decorate(Decoration::NonWritable);
  }
  // Access to 16 bits is a capability of its own for each kind of buffer, beside that of the type.
  if (Holds16Bits(member.shape.type)) {
    w.needs |= target::BitOf(IsOfUniforms(RulesOf(form)) ? target::Need::kUniformBuffer16BitAccess
                                                         : target::Need::kStorageBuffer16BitAccess);
  }
}

bool Globals::HoldsBooleans(ir::TypeId type) {
  if (type.value >= booleans_.size()) {
    booleans_.resize(type.value + size_t{1});
  }
  if (booleans_[type.value] == Booleans::kUnknown) {
    const bool holds = FindBooleans(type);  // may grow booleans_
    booleans_[type.value] = holds ? Booleans::kSome : Booleans::kNone;
  }
  return booleans_[type.value] == Booleans::kSome;
}

// As deep as types nest, and each type once.
bool Globals::FindBooleans(ir::TypeId type) {
  const ir::Type t = pool_[type];
  switch (t.kind) {
    case ir::TypeKind::kVector:
    case ir::TypeKind::kMatrix:
      return t.scalar == ir::Scalar::kBool;
    case ir::TypeKind::kArray:
    case ir::TypeKind::kRuntimeArray:
      return HoldsBooleans(ir::TypeId{t.element});
    case ir::TypeKind::kStruct:
      for (const ir::ShapeMember& member : pool_.Members(type)) {
        if (HoldsBooleans(member.type)) {
          return true;
        }
      }
      return false;
    default:
      return false;
  }
}

// Whether the scalars at the bottom are floats: only then can a matrix be one for SPIR-V.
bool Globals::HoldsFloats(ir::TypeId type) const {
  while (pool_[type].kind == ir::TypeKind::kArray ||
         pool_[type].kind == ir::TypeKind::kRuntimeArray) {
    type = ir::TypeId{pool_[type].element};
  }
  return ir::IsFloatScalar(pool_[type].scalar);
}

bool Globals::Holds16Bits(ir::TypeId type) const {
  ir::Type t = pool_[type];
  while (t.kind == ir::TypeKind::kArray || t.kind == ir::TypeKind::kRuntimeArray) {
    t = pool_[ir::TypeId{t.element}];
  }
  return t.scalar != ir::Scalar::kNone && ir::BitWidthOf(t.scalar) == 16;  // structs decorate
                                                                           // their own members
}

SymbolId Globals::MakeImage(const ir::Type& type) {
  const ir::ImageTraits traits = ir::UnpackImage(type.extent);
  const SymbolId sampled = Type(pool_.Vector(type.scalar, 1));
  CodeObjectWriter& w = Scratch();
  w.needs |= TraitsNeeds(traits);
  w.Op(Part::kDeclarations, Op::OpTypeImage)
      .Use(w.NewId())
      .Use(sampled)
      .Word(DimOf(traits.dim))
      .Word(traits.unknown_depth ? 2u
            : traits.depth       ? 1u
                                 : 0u)
      .Word(traits.arrayed ? 1u : 0u)
      .Word(traits.multisampled ? 1u : 0u)
      .Word(traits.storage ? 2u : 1u)
      .Word(kFormats[static_cast<size_t>(traits.format)]);
  return store_.InternGlobal(w);
}

// One writer for all globals. Requires: operands are symbols already, as making one of them would
// clear it.
CodeObjectWriter& Globals::Scratch() {
  scratch_.Clear();
  return scratch_;
}

// Lowering asks for a pointer with every place, so this is a table of two indices and not a look-up
// by content.
SymbolId Globals::Pointer(spv::StorageClass storage, SymbolId pointee) {
  const auto of_storage = static_cast<size_t>(storage);
  if (of_storage >= kStorageClasses) {
    return MakePointer(storage, pointee);
  }
  const size_t row = kStorageClasses * store_.GlobalOf(pointee).value + of_storage;
  if (row >= pointers_.size()) {
    pointers_.resize(kStorageClasses * (store_.GlobalOf(pointee).value + size_t{1}));
  }
  if (!pointers_[row].valid()) {
    pointers_[row] = MakePointer(storage, pointee);
  }
  return pointers_[row];
}

SymbolId Globals::MakePointer(spv::StorageClass storage, SymbolId pointee) {
  CodeObjectWriter& w = Scratch();
  w.Op(Part::kDeclarations, Op::OpTypePointer).Use(w.NewId()).Word(storage).Use(pointee);
  return store_.InternGlobal(w);
}

SymbolId Globals::Function(SymbolId result, std::span<const SymbolId> parameters) {
  CodeObjectWriter& w = Scratch();
  {
    Instruction made = w.Op(Part::kDeclarations, Op::OpTypeFunction);
    made.Use(w.NewId()).Use(result);
    for (const SymbolId parameter : parameters) {
      made.Use(parameter);
    }
  }
  return store_.InternGlobal(w);
}

SymbolId Globals::SampledImage(SymbolId image) {
  CodeObjectWriter& w = Scratch();
  w.Op(Part::kDeclarations, Op::OpTypeSampledImage).Use(w.NewId()).Use(image);
  return store_.InternGlobal(w);
}

// Constants are nested as their types are, so the recursion is bounded by the nesting of types. The
// row is written last, as the parts may move the table.
SymbolId Globals::Constant(ir::ConstId constant) {
  if (constant.value >= constants_.size()) {
    constants_.resize(constant.value + size_t{1});
  }
  if (!constants_[constant.value].valid()) {
    const ir::Const c = pool_[constant];
    SymbolId made;
    if (c.composite == 0) {
      made = Scalar(c.type, c.bits());
    } else {
      std::vector<SymbolId> parts;
      for (const ir::ConstId part : pool_.Parts(constant)) {
        parts.push_back(Constant(part));
      }
      made = Composite(Type(c.type), parts);
    }
    constants_[constant.value] = made;
  }
  return constants_[constant.value];
}

SymbolId Globals::Flag(bool value) { return Scalar(pool_.bool_type(), value ? 1 : 0); }

// Bits as the pool keeps them (docs/IR.md, "Types").
SymbolId Globals::Scalar(ir::TypeId type, uint64_t bits) {
  const SymbolId symbol = Type(type);
  CodeObjectWriter& w = Scratch();
  const ir::Scalar scalar = pool_[type].scalar;
  if (scalar == ir::Scalar::kBool) {
    w.Op(Part::kDeclarations, bits != 0 ? Op::OpConstantTrue : Op::OpConstantFalse)
        .Use(symbol)
        .Use(w.NewId());
    return store_.InternGlobal(w);
  }
  auto low = static_cast<uint32_t>(bits);
  // SPIR-V asks that a literal that is narrower than a word is sign-extended; the pool keeps the
  // low half and zeros.
  if (scalar == ir::Scalar::kS16) {  // narrow signed numbers stand with their sign
    low = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(low)));
  }
  {
    Instruction made = w.Op(Part::kDeclarations, Op::OpConstant);
    made.Use(symbol).Use(w.NewId()).Word(low);
    if (ir::BitWidthOf(scalar) == 64) {
      made.Word(static_cast<uint32_t>(bits >> 32));
    }
  }
  return store_.InternGlobal(w);
}

SymbolId Globals::Null(SymbolId type) {
  CodeObjectWriter& w = Scratch();
  w.Op(Part::kDeclarations, Op::OpConstantNull).Use(type).Use(w.NewId());
  return store_.InternGlobal(w);
}

SymbolId Globals::Composite(SymbolId type, std::span<const SymbolId> parts) {
  CodeObjectWriter& w = Scratch();
  {
    Instruction made = w.Op(Part::kDeclarations, Op::OpConstantComposite);
    made.Use(type).Use(w.NewId());
    for (const SymbolId part : parts) {
      made.Use(part);
    }
  }
  return store_.InternGlobal(w);
}

// A kind of its own: equal default values of two options are two constants, told apart by their
// SpecId, and all come behind the ordinary constants in the canonical order.
SymbolId Globals::SpecConstant(ir::TypeId type, uint32_t id, uint32_t bits) {
  const SymbolId symbol = Type(type);
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  if (pool_[type].scalar == ir::Scalar::kBool) {
    w.Op(Part::kDeclarations, bits != 0 ? Op::OpSpecConstantTrue : Op::OpSpecConstantFalse)
        .Use(symbol)
        .Use(self);
  } else {
    w.Op(Part::kDeclarations, Op::OpSpecConstant).Use(symbol).Use(self).Word(bits);
  }
  w.Op(Part::kAnnotations, Op::OpDecorate).Use(self).Word(Decoration::SpecId).Word(id);
  return store_.InternGlobal(w, SymbolKind::kSpecConstant);
}

// Memory for a constant that a variable indexes: docs/IR.md, `const_place`.
SymbolId Globals::ConstantVariable(ir::ConstId constant) {
  const SymbolId value = Constant(constant);
  const SymbolId pointer = Pointer(spv::StorageClass::Private, Type(pool_[constant].type));
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  w.Op(Part::kDeclarations, Op::OpVariable)
      .Use(pointer)
      .Use(self)
      .Word(spv::StorageClass::Private)
      .Use(value);
  // NonWritable on a variable of this class is allowed from SPIR-V 1.4 on.
  if (target_.spirv_version >= target::SpirvVersion(1, 4)) {
    w.Op(Part::kAnnotations, Op::OpDecorate).Use(self).Word(Decoration::NonWritable);
  }
  return store_.InternGlobal(w, SymbolKind::kConstantVariable, spv::StorageClass::Private);
}

// A source file declares nothing: a string that OpLine names, and the OpSource that belongs to it.
SymbolId Globals::SourceFile(std::string_view path) {
  CodeObjectWriter& w = Scratch();
  const Ref self = w.NewId();
  w.Op(Part::kDebug, Op::OpString).Use(self).Text(path);
  w.Op(Part::kDebug, Op::OpSource).Word(spv::SourceLanguage::Unknown).Word(0u).Use(self);
  return store_.InternGlobal(w, SymbolKind::kSourceFile);
}

SymbolId Globals::Glsl() {
  if (!glsl_.valid()) {
    CodeObjectWriter& w = Scratch();
    w.Op(Part::kDeclarations, Op::OpExtInstImport).Use(w.NewId()).Text("GLSL.std.450");
    glsl_ = store_.InternGlobal(w, SymbolKind::kInstructionSet);
  }
  return glsl_;
}

}  // namespace kiln::spirv
