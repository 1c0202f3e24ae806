// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/describe.h"

#include <algorithm>
#include <utility>

#include "compiler/emit/wgsl/names.h"

namespace kiln::wgsl {
namespace {

class Description {
 public:
  explicit Description(const CheckInputs& in) : in_(in), pool_(in.table.types().pool()) {}

  // The order of the rows is that of the declarations: structs, options, interface, then functions
  // as their entry points reach them.
  VariantDescription Run() {
    for (const ir::SpecialisedDecl* decl : in_.variant.structs) {
      Name(SourceName(Text(decl->name)), Text(decl->name));
    }
    for (const ir::SpecConstant& option : in_.variant.specialization) {
      Name(SourceName(Text(option.name)), Text(option.name));
    }
    for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
      Decl(*decl);
    }
    for (const LiveEntry& entry : in_.facts.entries) {
      Entry(entry);
    }
    // One feature is all that a module of kiln can ask for; it is said once for all modules.
    for (const ModuleNeeds& needs : in_.needs) {
      if (needs.half && made_.features.empty()) {
        made_.features.emplace_back("shader-f16");
      }
    }
    return std::move(made_);
  }

 private:
  std::string Text(ir::StringId id) const { return std::string(pool_.Text(id)); }
  std::string SourceName(std::string_view source) const { return in_.table.types().Name(source); }

  // A thing that two entry points reach is told once. The search is linear, over names that are not
  // those of the source; most are.
  void Name(std::string name, std::string source) {
    const bool known = std::ranges::find(made_.names, name, &NameRow::name) != made_.names.end();
    if (name != source && !known) {
      made_.names.push_back({std::move(name), std::move(source)});
    }
  }

  void Entry(const LiveEntry& entry) {
    for (const LiveFunction& function : entry.functions) {
      const std::string source = Text(function.ref->signature->name);
      Name(SourceName(source), source);
    }
    // Callees stand first in the list of an entry point, so the last function is its own.
    made_.entries.push_back(
        {entry.ref->stage, SourceName(Text(entry.functions.back().ref->signature->name))});
    made_.derivative_uniformity_off = made_.derivative_uniformity_off || entry.unproven.has_value();
  }

  // In any module: an engine binds for all entry points together.
  bool UsesField(const ir::SpecialisedMember& member) const {
    return std::ranges::any_of(in_.needs, [&](const ModuleNeeds& needs) {
      return needs.Uses(member.member, ir::Direction::kIn) ||
             needs.Uses(member.member, ir::Direction::kOut);
    });
  }

  // An array of images is split into variables, and entry points may use different ones. An engine
  // binds the union.
  std::vector<uint32_t> ElementsOf(ir::DeclId decl) const {
    std::vector<uint32_t> elements;
    for (const ModuleNeeds& needs : in_.needs) {
      if (const ModuleNeeds::Elements* used = needs.Find(decl)) {
        elements.insert(elements.end(), used->elements.begin(), used->elements.end());
      }
    }
    // Sorted and single, so the rows do not depend on which entry point came first.
    std::ranges::sort(elements);
    const auto repeated = std::ranges::unique(elements);
    elements.erase(repeated.begin(), repeated.end());
    return elements;
  }

  void Decl(const ir::SpecialisedDecl& decl) {
    const std::string source = Text(decl.name);
    if (decl.kind == ir::DeclKind::kContainer) {
      for (const ir::SpecialisedMember& member : decl.members) {
        if (UsesField(member)) {
          Name(in_.table.names().FieldName(member.member), source + "." + Text(member.name));
        }
      }
      return;
    }
    // What no function uses is in no module.
    const std::vector<uint32_t> elements = ElementsOf(decl.decl);
    if (elements.empty()) {
      return;
    }
    // Workgroup memory and private variables are bound to nothing.
    if (decl.kind == ir::DeclKind::kWorkgroup || decl.kind == ir::DeclKind::kPrivate) {
      return Name(SourceName(source), source);
    }
    // Only images: arrays of buffers do not exist in RPL.
    const bool split =
        decl.kind == ir::DeclKind::kImage && pool_[decl.type].kind == ir::TypeKind::kArray;
    const std::string name = in_.table.names().ClassOf(decl.decl).name;
    if (!split) {
      Name(name, source);
    }
    for (const uint32_t element : elements) {
      if (split) {
        Name(ElementName(name, element), source + "[" + std::to_string(element) + "]");
      }
      Binding(decl, element, split);
    }
  }

  void Binding(const ir::SpecialisedDecl& decl, uint32_t element, bool split) {
    const layout::Placement& place = in_.layout.PlacementOf(decl.decl);
    BindingRow row{.source = Text(decl.name),
                   .element = element,
                   .group = place.set,
                   // The elements of a split array have bindings of their own, which the layout
                   // made (spec/wgsl 3.9).
                   .binding = split ? in_.layout.ElementsOf(decl.decl)[element] : place.binding,
                   .kind = KindOf(decl)};
    if (decl.kind == ir::DeclKind::kImage) {
      const ir::TypeId image = split ? ir::TypeId{pool_[decl.type].element} : decl.type;
      row.type = in_.table.types().Texture(image, decl.access());
    }
    made_.bindings.push_back(std::move(row));
  }

  std::string_view KindOf(const ir::SpecialisedDecl& decl) const {
    switch (decl.kind) {
      case ir::DeclKind::kPushConstant:
        return "push_constant";
      case ir::DeclKind::kSampler:
        // The same sampler may compare in one variant and filter in another: it is what reached
        // functions do with it.
        return in_.facts.UseOf(decl.decl) == SamplerUse::kCompares ? "comparison_sampler"
                                                                   : "sampler";
      case ir::DeclKind::kImage: {
        ir::Type type = pool_[decl.type];
        type = type.kind == ir::TypeKind::kArray ? pool_[ir::TypeId{type.element}] : type;
        const ir::ImageTraits traits = ir::UnpackImage(type.extent);
        // Depth images of three dimensions are ordinary textures in WGSL (spec/wgsl 3.9).
        return traits.storage                                    ? "storage_texture"
               : traits.depth && traits.dim != ir::ImageDim::k3d ? "depth_texture"
                                                                 : "texture";
      }
      default:
        return decl.buffer() == ir::BufferKind::kUniform           ? "uniform"
               : decl.buffer() == ir::BufferKind::kReadOnlyStorage ? "read_only_storage"
                                                                   : "storage";
    }
  }

  const CheckInputs& in_;
  const ir::Pool& pool_;
  VariantDescription made_;
};

}  // namespace

VariantDescription Describe(const CheckInputs& inputs) { return Description(inputs).Run(); }

}  // namespace kiln::wgsl
