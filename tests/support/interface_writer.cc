// SPDX-License-Identifier: MIT
#include "tests/support/interface_writer.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "compiler/base/check.h"
#include "compiler/layout/rpl_order.h"

namespace kiln::layout {
namespace {

uint16_t Flags(uint32_t low, ir::ResourceSet set) {
  return static_cast<uint16_t>(low | static_cast<uint32_t>(set) << 8);
}

ir::Scalar ScalarOf(char letter) {
  for (const auto scalar : {ir::Scalar::kF32, ir::Scalar::kU32, ir::Scalar::kS32, ir::Scalar::kBool,
                            ir::Scalar::kF16}) {
    if (ir::ScalarLetter(scalar) == letter) {
      return scalar;
    }
  }
  return ir::Scalar::kNone;
}

// "image_color_2d_array" -> its traits.
ir::Type ImageType(std::string_view text) {
  ir::ImageTraits traits;
  traits.storage = text.starts_with("storage_");
  traits.depth = text.find("depth") != std::string_view::npos;
  traits.arrayed = text.ends_with("_array");
  if (text.find("_3d") != std::string_view::npos) {
    traits.dim = ir::ImageDim::k3d;
  } else if (text.find("_cube") != std::string_view::npos) {
    traits.dim = ir::ImageDim::kCube;
  }
  return {
      .kind = ir::TypeKind::kImage, .scalar = ir::Scalar::kF32, .extent = ir::PackImage(traits)};
}

uint32_t Number(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  KILN_CHECK(error == std::errc{} && end == text.data() + text.size(), "{}", text);
  return number;
}

// "snorm16" -> class and bits; empty: what the scalar has by default.
void SetPack(ir::SpecialisedMember& member, const std::string& pack, ir::Scalar scalar) {
  const size_t digits = pack.find_first_of("0123456789");
  member.pack_bits = 32;
  if (pack.empty()) {
    member.pack = scalar == ir::Scalar::kU32   ? ir::PackClass::kUint
                  : scalar == ir::Scalar::kS32 ? ir::PackClass::kSint
                                               : ir::PackClass::kFloat;
    return;
  }
  const std::map<std::string_view, ir::PackClass> classes = {{"float", ir::PackClass::kFloat},
                                                             {"unorm", ir::PackClass::kUnorm},
                                                             {"snorm", ir::PackClass::kSnorm},
                                                             {"uint", ir::PackClass::kUint},
                                                             {"sint", ir::PackClass::kSint}};
  member.pack = classes.at(pack.substr(0, digits));
  member.pack_bits = static_cast<uint8_t>(Number(std::string_view(pack).substr(digits)));
}

}  // namespace

ir::TypeId InterfaceWriter::Type(std::string_view text) {
  if (text.ends_with("...")) {
    const ir::TypeId item = Type(text.substr(0, text.size() - 3));
    return pool_.Intern({.kind = ir::TypeKind::kRuntimeArray, .element = item.value});
  }
  if (const size_t open = text.find('['); open != std::string_view::npos) {
    // the first extent is the outermost
    const size_t close = text.find(']');
    const std::string inner = std::string(text.substr(0, open)).append(text.substr(close + 1));
    return pool_.Intern(
        ir::ArrayType(Type(inner), Number(text.substr(open + 1, close - open - 1))));
  }
  if (const auto found = structs_.find(text); found != structs_.end()) {
    return found->second;
  }
  if (text == "sampler") {
    return pool_.Intern({.kind = ir::TypeKind::kSampler});
  }
  if (text.find("image_") != std::string_view::npos) {
    return pool_.Intern(ImageType(text));
  }
  const ir::Scalar scalar = ScalarOf(text[0]);
  KILN_CHECK(scalar != ir::Scalar::kNone, "{}", text);
  const uint32_t count = Number(text.substr(1, 1));
  return text.size() == 2 ? pool_.Vector(scalar, count)
                          : pool_.Matrix(scalar, count, Number(text.substr(3)));
}

std::vector<ir::ShapeMember> InterfaceWriter::Shape(const std::vector<WrittenField>& fields) {
  std::vector<ir::ShapeMember> members;
  members.reserve(fields.size());
  for (const WrittenField& field : fields) {
    members.push_back({.name = pool_.InternText(field.name), .type = Type(field.type)});
  }
  return members;
}

ir::TypeId InterfaceWriter::Struct(const std::string& name,
                                   const std::vector<WrittenField>& fields) {
  const ir::TypeId type = pool_.InternStruct(name, Shape(fields));
  structs_.insert_or_assign(name, type);
  ir::SpecialisedDecl& decl = New(ir::DeclKind::kStruct, 0, name, type);
  AddMembers(decl, fields);
  variant_.structs.push_back(&decl);
  return type;
}

ir::SpecialisedDecl& InterfaceWriter::New(ir::DeclKind kind, uint16_t flags, std::string_view name,
                                          ir::TypeId type) {
  const auto row = static_cast<uint32_t>(decls_.size());
  decls_.push_back({.decl = ir::DeclId{row},
                    .kind = kind,
                    .flags = flags,
                    .name = pool_.InternText(name),
                    .type = type,
                    .origin = {.module = module_, .span = ir::SpanId{row}}});
  return decls_.back();
}

ir::SpecialisedDecl& InterfaceWriter::Add(ir::DeclKind kind, uint16_t flags, std::string_view name,
                                          ir::TypeId type) {
  ir::SpecialisedDecl& decl = New(kind, flags, name, type);
  variant_.interface.push_back(&decl);
  return decl;
}

void InterfaceWriter::AddMembers(ir::SpecialisedDecl& decl,
                                 const std::vector<WrittenField>& fields) {
  for (const WrittenField& field : fields) {
    const uint32_t row = next_member_++;
    ir::SpecialisedMember member{.name = pool_.InternText(field.name),
                                 .type = Type(field.type),
                                 .member = ir::MemberId{row},
                                 .origin = {.module = module_, .span = ir::SpanId{1000 + row}}};
    for (const std::string& tag : field.tags) {
      member.tags.push_back(pool_.InternText(tag));
    }
    if (decl.kind == ir::DeclKind::kContainer) {
      SetPack(member, field.pack, pool_[member.type].scalar);
    }
    decl.members.push_back(std::move(member));
  }
}

const ir::SpecialisedDecl& InterfaceWriter::Container(ir::ContainerKind kind, std::string_view name,
                                                      const std::vector<WrittenField>& fields) {
  ir::SpecialisedDecl& decl =
      Add(ir::DeclKind::kContainer, static_cast<uint16_t>(kind), name, ir::TypeId{});
  AddMembers(decl, fields);
  return decl;
}

const ir::SpecialisedDecl& InterfaceWriter::Buffer(ir::BufferKind kind, ir::ResourceSet set,
                                                   std::string_view name,
                                                   const std::vector<WrittenField>& fields) {
  ir::SpecialisedDecl& decl = Add(ir::DeclKind::kBuffer, Flags(static_cast<uint32_t>(kind), set),
                                  name, pool_.InternStruct(name, Shape(fields)));
  AddMembers(decl, fields);
  return decl;
}

const ir::SpecialisedDecl& InterfaceWriter::PushConstant(std::string_view name,
                                                         const std::vector<WrittenField>& fields) {
  ir::SpecialisedDecl& decl =
      Add(ir::DeclKind::kPushConstant, 0, name, pool_.InternStruct(name, Shape(fields)));
  AddMembers(decl, fields);
  return decl;
}

const ir::SpecialisedDecl& InterfaceWriter::Sampler(ir::ResourceSet set, std::string_view name) {
  return Add(ir::DeclKind::kSampler, Flags(0, set), name, Type("sampler"));
}

const ir::SpecialisedDecl& InterfaceWriter::Image(ir::ResourceSet set, std::string_view type,
                                                  std::string_view name) {
  return Add(ir::DeclKind::kImage, Flags(0, set), name, Type(type));
}

void InterfaceWriter::SortByGroup() {
  std::stable_sort(variant_.interface.begin(), variant_.interface.end(),
                   [this](const ir::SpecialisedDecl* a, const ir::SpecialisedDecl* b) {
                     return std::tuple(a->origin.module, GroupOf(pool_, *a)) <
                            std::tuple(b->origin.module, GroupOf(pool_, *b));
                   });
}

const ir::SpecialisedDecl& InterfaceWriter::Named(std::string_view name) const {
  for (const ir::SpecialisedDecl& decl : decls_) {
    if (pool_.Text(decl.name) == name) {
      return decl;
    }
  }
  KILN_CHECK(false, "no declaration '{}'", name);
  KILN_UNREACHABLE();
}

}  // namespace kiln::layout
