// SPDX-License-Identifier: MIT
#include "compiler/layout/rpl_adapter.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/combined_pairs.h"
#include "compiler/layout/engine/engine.h"
#include "compiler/layout/entry_inputs.h"
#include "compiler/layout/item_format.h"
#include "compiler/layout/rpl_order.h"

namespace kiln::layout {
namespace {

// Metadata has a message for each of the four sets of RPL, and no more.
constexpr uint32_t kSets = 4;

// Spans by number: their bytes are looked up when a report is placed.
Location Where(const ir::Origin& origin) {
  return {.module = origin.module, .span_number = origin.span.value};
}

// The words of RPL for the kinds of blocks.
std::string_view BlockWord(const ir::SpecialisedDecl& decl) {
  if (decl.kind == ir::DeclKind::kPushConstant) {
    return "push_constant";
  }
  switch (decl.buffer()) {
    case ir::BufferKind::kUniform:
      return "uniform_buffer";
    case ir::BufferKind::kReadOnlyStorage:
      return "read_only_storage_buffer";
    case ir::BufferKind::kReadWriteStorage:
      return "read_write_storage_buffer";
  }
  KILN_UNREACHABLE();
}

// What one buffer holds: of an array of buffers each is alike.
ir::TypeId ContentOf(const ir::SpecialisedDecl& decl, const ir::Pool& pool) {
  ir::TypeId content = decl.type;
  while (pool[content].kind == ir::TypeKind::kArray) {
    content = ir::TypeId{pool[content].element};
  }
  return content;
}

// The words are RPL's, because they appear in messages and dumps.
TypeId OneBlock(const ir::SpecialisedDecl& decl, TypeLayouts& types) {
  const TypeId content = types.Import(ContentOf(decl, types.pool()));
  const std::string_view word = BlockWord(decl);
  if (decl.kind == ir::DeclKind::kPushConstant || decl.buffer() == ir::BufferKind::kUniform) {
    return types.types().ConstantBuffer(word, content);
  }
  const bool writes = decl.buffer() == ir::BufferKind::kReadWriteStorage;
  return types.types().StorageBuffer(writes ? ResourceClass::kWrite : ResourceClass::kRead, word,
                                     content);
}

// An array of buffers is an array of blocks and no block of an array.
TypeId BlockType(const ir::SpecialisedDecl& decl, TypeLayouts& types) {
  TypeId type = OneBlock(decl, types);
  const ir::Pool& pool = types.pool();
  for (ir::TypeId array = decl.type; pool[array].kind == ir::TypeKind::kArray;
       array = ir::TypeId{pool[array].element}) {
    type = types.types().Array(type, pool[array].extent);
  }
  return type;
}

// Requires: the field is an attribute, which specialisation has given a format.
ItemFormat FieldFormat(const ir::SpecialisedMember& field) {
  return FormatOf(field.pack, field.pack_bits);
}

// The engine knows roles and not languages.
ContainerRole RoleOf(ir::ContainerKind kind) {
  switch (kind) {
    case ir::ContainerKind::kVertexAttributes:
      return ContainerRole::kVertex;
    case ir::ContainerKind::kInstanceAttributes:
      return ContainerRole::kInstance;
    case ir::ContainerKind::kState:
      return ContainerRole::kState;
    case ir::ContainerKind::kColorOutput:
      return ContainerRole::kColor;
  }
  KILN_UNREACHABLE();
}

// What attributes, states and colour outputs have in common: fields in an order that decides
// their locations.
Container DescribeContainer(const ir::SpecialisedDecl& decl, TypeLayouts& types) {
  Container container{.name = types.pool().Text(decl.name), .role = RoleOf(decl.container())};
  const bool packed =
      container.role == ContainerRole::kVertex || container.role == ContainerRole::kInstance;
  container.fields.reserve(decl.members.size());
  for (const ir::SpecialisedMember& field : decl.members) {
    container.fields.push_back({.name = types.pool().Text(field.name),
                                .type = types.Import(field.type),
                                // Only attributes lie in memory; of state and outputs the format is
                                // never asked for.
                                .format = packed ? FieldFormat(field) : ItemFormat::kFloat32});
  }
  return container;
}

// What is written of its place. A register or binding of its own comes before its set.
void ReadPlace(const ir::SpecialisedDecl& decl, const ir::Pool& pool, Parameter& parameter) {
  SlotBinding slot;
  for (const ir::Attribute& attribute : decl.attributes) {
    if (attribute.key == ir::AttributeKey::kBinding) {
      slot.index = attribute.a;
      slot.space = attribute.b;
    } else if (attribute.key == ir::AttributeKey::kCounter) {
      slot.counter = attribute.a;
    } else if (attribute.key == ir::AttributeKey::kRegister) {
      parameter.registers.push_back(
          {.text = pool.Text(ir::StringId{attribute.a}), .space = attribute.b});
    }
  }
  // A set alone is a space without a number, which the engine fills.
  if (slot.index.has_value() || slot.counter.has_value()) {
    parameter.slot = slot;
  } else if (parameter.registers.empty() && parameter.role == Role::kResource) {
    parameter.slot = SlotBinding{.space = static_cast<uint32_t>(decl.set())};
  }
}

// Policy rpl numbers by group and set; programs that say themselves where things are bound bring
// numbers, or at least a set.
// What the engine numbers. Only programs of first fit may choose the rules of a block
// themselves.
Parameter DescribeParameter(const ir::SpecialisedDecl& decl, ir::BindingPolicy policy,
                            TypeLayouts& types) {
  const bool block = decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant;
  const bool push = decl.kind == ir::DeclKind::kPushConstant;
  Parameter parameter{.name = types.pool().Text(decl.name),
                      .type = block ? BlockType(decl, types) : types.Import(decl.type),
                      .role = push ? Role::kPush : Role::kResource,
                      .where = Where(decl.origin)};
  if (policy == ir::BindingPolicy::kFirstFit) {
    ReadPlace(decl, types.pool(), parameter);
    if (block) {
      parameter.rules = RulesOf(decl);
    }
  } else {
    parameter.group = static_cast<uint8_t>(GroupOf(types.pool(), decl));
    // Push constants have no set.
    parameter.home = push ? std::nullopt : std::optional(static_cast<uint32_t>(decl.set()));
  }
  return parameter;
}

// One row for each buffer: metadata and code read the same one.
Block BlockOf(const ir::SpecialisedDecl& decl, TypeLayouts& types) {
  const Rules rules = RulesOf(decl);
  const TypeLayout& type = types.Of(ContentOf(decl, types.pool()), rules);
  // Sizes fit, since the engine has refused larger ones.
  const auto size = static_cast<uint32_t>(type.size);
  return {.decl = decl.decl,
          .rules = rules,
          .main_size = size,
          .tail_item_size = type.tail_stride,
          .tail_offset = type.unsized ? size : 0};
}

// The numbers of the engine, by the ids of the IR.
class Translation {
 public:
  Translation(const DescribedVariant& described, const ProgramLayout& numbers, TypeLayouts& types)
      : described_(described),
        numbers_(numbers),
        types_(types),
        webgpu_(described.program.platform == Platform::kWebgpu) {}

  Layout Run() {
    // Containers and parameters come out in the order in which they were described, unit by unit,
    // so counters find the declaration of each.
    std::vector<size_t> next(described_.containers.size());
    for (const PlacedContainer& container : numbers_.containers) {
      Add(*described_.containers[container.unit][next[container.unit]++], container);
    }
    for (const PlacedParameter& parameter : numbers_.parameters) {
      Add(*described_.parameters[parameter.unit][parameter.ordinal], parameter);
    }
    return std::move(layout_);
  }

 private:
  void Add(const ir::SpecialisedDecl& decl, const PlacedContainer& container);
  void Add(const ir::SpecialisedDecl& decl, const PlacedParameter& parameter);
  uint32_t AddBlock(const ir::SpecialisedDecl& decl);

  const DescribedVariant& described_;
  const ProgramLayout& numbers_;
  TypeLayouts& types_;
  const bool webgpu_;
  Layout layout_;
};

// Locations are by member, whatever role the container has.
// The order of the fields is that of the members, so one index is enough for both.
void Translation::Add(const ir::SpecialisedDecl& decl, const PlacedContainer& container) {
  for (size_t i = 0; i < decl.members.size(); ++i) {
    layout_.Locate(decl.members[i].member, container.fields[i].location);
  }
  if (container.role != ContainerRole::kVertex && container.role != ContainerRole::kInstance) {
    return;
  }
  VertexSource source{.container = decl.decl,
                      .binding = container.binding,
                      .per_instance = container.role == ContainerRole::kInstance,
                      .stride = container.size};
  source.attributes.reserve(decl.members.size());
  for (size_t i = 0; i < decl.members.size(); ++i) {
    const PackedPlace& place = container.fields[i];
    source.attributes.push_back({.member = decl.members[i].member,
                                 .format = FieldFormat(decl.members[i]),
                                 .location = place.location,
                                 .location_count = place.location_count,
                                 .offset = place.offset,
                                 .column_stride = place.column_stride});
  }
  // The row of a vertex source is its binding: sources are numbered from zero in this order.
  layout_.Place(decl.decl, {.binding = source.binding, .row = source.binding});
  layout_.vertex_sources.push_back(std::move(source));
}

// Places are by leaf, and RPL's resources have one leaf each.
void Translation::Add(const ir::SpecialisedDecl& decl, const PlacedParameter& parameter) {
  Placement placement;
  // The numbers of a parameter are those of its first leaf.
  const std::vector<Place>& places = parameter.leaves.front().places;
  // Push constants have a place where they are a uniform buffer.
  if (parameter.role != Role::kPush || parameter.leaves.front().dynamic_offset) {
    placement.set = places.front().space;
    placement.binding = static_cast<uint32_t>(places.front().index);
  }
  // WGSL has no arrays of textures, so each item got a binding of its own (spec/layout 10.2).
  if (webgpu_ && types_.pool()[decl.type].kind == ir::TypeKind::kArray) {
    SplitArray& array = layout_.split_arrays.emplace_back(SplitArray{.decl = decl.decl});
    for (const Place& place : places) {
      array.bindings.push_back(static_cast<uint32_t>(place.index));
    }
  }
  if (decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant) {
    placement.row = AddBlock(decl);
  }
  layout_.Place(decl.decl, placement);
}

// Returns the row that `placements` has for the declaration.
uint32_t Translation::AddBlock(const ir::SpecialisedDecl& decl) {
  const auto row = static_cast<uint32_t>(layout_.blocks.size());
  layout_.blocks.push_back(BlockOf(decl, types_));
  if (decl.kind == ir::DeclKind::kPushConstant) {
    layout_.push_constant_size = layout_.blocks.back().main_size;
  }
  return row;
}

// Told at the last of the sizes that make the product.
void CheckWorkgroup(const ir::SpecialisedProgram& variant, uint32_t limit,
                    std::vector<Diagnostic>& found) {
  if (variant.pipeline != ir::PipelineType::kCompute || variant.settings.empty()) {
    return;
  }
  const std::array<uint32_t, 3> sizes = WorkgroupSize(variant);
  const uint64_t count = uint64_t{sizes[0]} * sizes[1] * sizes[2];
  if (count > limit) {
    found.push_back(Make(Code::kRpl8106, Where(variant.settings.back().origin))
                        .With("count", count)
                        .With("limit", limit));
  }
}

// Metadata and engines know four sets.
void CheckSets(const ir::SpecialisedProgram& variant, const Layout& layout, const ir::Pool& pool,
               std::vector<Diagnostic>& found) {
  // The first one beyond the limit is enough.
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (decl->decl.value < layout.placements.size() &&
        layout.placements[decl->decl.value].set != ir::kNoRow &&
        layout.placements[decl->decl.value].set >= kSets) {
      found.push_back(Make(Code::kLim1001, Where(decl->origin))
                          .With("what", "the set of '" + std::string(pool.Text(decl->name)) + "'")
                          .With("parts", "descriptor sets")
                          .With("limit", kSets));
      return;
    }
  }
}

// Told of each set once, at the first resource that is too many.
void CheckBindings(const ir::SpecialisedProgram& variant, uint32_t limit, const Layout* layout,
                   std::vector<Diagnostic>& found) {
  std::array<uint32_t, kSets> counts{};
  FlatMap<uint64_t, bool> known;  // numbers of the layout that are counted
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    const bool bound = decl->kind == ir::DeclKind::kBuffer ||
                       decl->kind == ir::DeclKind::kSampler || decl->kind == ir::DeclKind::kImage;
    if (!bound) {
      continue;
    }
    const bool grouped = layout == nullptr;
    size_t set = static_cast<size_t>(decl->set());
    if (!grouped) {
      // Languages with spaces write numbers, and several resources may stand at one.
      if (decl->decl.value >= layout->placements.size()) {
        continue;
      }
      const Placement& place = layout->placements[decl->decl.value];
      set = place.set;
      if (!known.Insert(uint64_t{place.set} << 32 | place.binding, true).second) {
        continue;
      }
    }
    // Told exactly when the limit is crossed, so once for each set.
    if (set < kSets && ++counts[set] == limit + 1) {
      found.push_back(Make(Code::kLim1001, Where(decl->origin))
                          .With("what", grouped
                                            ? "set '" + std::string(ir::NameOf(decl->set())) + "'"
                                            : "set " + std::to_string(set))
                          .With("parts", "bindings")
                          .With("limit", limit));
    }
  }
}

}  // namespace

// The block as it is, if nothing about it would be reported. Used where the numbers of a layout are
// known and only the content of blocks changed.
std::optional<Block> GoodBlock(const ir::SpecialisedDecl& decl, const target::Target& target,
                               TypeLayouts& types) {
  const TypeLayout& type = types.Of(ContentOf(decl, types.pool()), RulesOf(decl));
  const bool push = decl.kind == ir::DeclKind::kPushConstant;
  const bool storage = !push && decl.buffer() != ir::BufferKind::kUniform;
  const uint64_t limit =
      push ? target.limits.push_constant_size : target.limits.uniform_buffer_size;
  // Storage buffers have no limit of their own here.
  const bool fits = storage || (!type.unsized && type.size <= limit);
  return type.fault == TypeFault::kNone && fits ? std::optional(BlockOf(decl, types))
                                                : std::nullopt;
}

// A setting that is not there leaves 1 (spec/rpl 14.6).
std::array<uint32_t, 3> WorkgroupSize(const ir::SpecialisedProgram& variant) {
  constexpr std::string_view kNames[] = {"workgroup_size_x", "workgroup_size_y",
                                         "workgroup_size_z"};
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  for (const ir::SpecialisedSetting& setting : variant.settings) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = setting.name == kNames[i] ? setting.bits : sizes[i];  // the last one wins
    }
  }
  return sizes;
}

// What is written on the block, else the rules of Vulkan for its kind.
Rules RulesOf(const ir::SpecialisedDecl& block) {
  static_assert(static_cast<uint32_t>(ir::RuleSet::kStd430Relaxed) ==
                static_cast<uint32_t>(Rules::kStd430Relaxed));
  for (const ir::Attribute& attribute : block.attributes) {
    if (attribute.key == ir::AttributeKey::kRules) {
      return static_cast<Rules>(attribute.a);
    }
  }
  const bool uniform =
      block.kind == ir::DeclKind::kBuffer && block.buffer() == ir::BufferKind::kUniform;
  return uniform ? Rules::kStd140 : Rules::kStd430;
}

// The variant in the terms of the engine: one unit for each module, with the policy, limits and
// rules that apply. Declarations are remembered beside their descriptions, to find the way back.
DescribedVariant Describe(const ir::SpecialisedProgram& variant, const target::Target& target,
                          TypeLayouts& types) {
  DescribedVariant described;
  Program& program = described.program;
  const bool first_fit = variant.bindings == ir::BindingPolicy::kFirstFit;
  program.policy = first_fit ? Policy::kFirstFit : Policy::kRpl;
  if (first_fit) {
    program.settings.vulkan_registers = VulkanRegisters::kDirect;
  }
  program.platform = target.form == target::Form::kWgsl ? Platform::kWebgpu : Platform::kVulkan;
  program.settings.uniform_limit = target.limits.uniform_buffer_size;
  program.settings.push_limit = target.limits.push_constant_size;
  // Units are made as modules are met, so a module without declarations may be an empty unit.
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    CheckStop();
    if (decl->kind == ir::DeclKind::kWorkgroup || decl->kind == ir::DeclKind::kPrivate) {
      continue;  // nobody binds it
    }
    const uint32_t module = decl->origin.module;
    if (module >= program.units.size()) {
      program.units.resize(module + size_t{1});
      described.parameters.resize(module + size_t{1});
      described.containers.resize(module + size_t{1});
    }
    Unit& unit = program.units[module];
    if (decl->kind == ir::DeclKind::kContainer) {
      unit.containers.push_back(DescribeContainer(*decl, types));
      described.containers[module].push_back(decl);
    } else {
      unit.parameters.push_back(DescribeParameter(*decl, variant.bindings, types));
      described.parameters[module].push_back(decl);
    }
  }
  if (first_fit && program.platform == Platform::kVulkan) {
    CombinedPairs pairs;
    for (size_t module = 0; module < program.units.size(); ++module) {
      for (size_t i = 0; i < program.units[module].parameters.size(); ++i) {
        CheckStop();
        const ir::SpecialisedDecl& decl = *described.parameters[module][i];
        if (decl.kind != ir::DeclKind::kPushConstant) {
          pairs.Add(decl, program.units[module].parameters[i], types.pool());
        }
      }
    }
    pairs.Mark();
  }
  return described;
}

// Describe, number, translate back. Checks that are RPL's own come before those of the engine; a
// finding about a member is placed at that member, which the engine knows by its number only.
Diagnosed<Layout> Assign(const ir::SpecialisedProgram& variant, const target::Target& target,
                         TypeLayouts& types) {
  const DescribedVariant described = Describe(variant, target, types);
  ProgramLayout numbers = LayOut(described.program, types.types(), types.bytes());
  Diagnosed<Layout> result;
  CheckWorkgroup(variant, target.limits.workgroup_invocations, result.diagnostics);
  const bool first_fit = variant.bindings == ir::BindingPolicy::kFirstFit;
  const uint32_t most_bindings = target.limits.bindings_per_set;
  if (!first_fit) {
    CheckBindings(variant, most_bindings, nullptr, result.diagnostics);
  }
  for (Finding& finding : numbers.findings) {
    if (finding.member != Finding::kNone) {
      const ir::SpecialisedDecl& decl = *described.parameters[finding.unit][finding.parameter];
      const bool fields = finding.member < decl.members.size();  // else its content is a struct
      finding.diagnostic.primary =
          Where(fields ? decl.members[finding.member].origin : decl.origin);
    }
    result.diagnostics.push_back(std::move(finding.diagnostic));
  }
  if (!HasErrors(result.diagnostics)) {
    result.value = Translation(described, numbers, types).Run();
    PlaceEntryInputs(variant, types, *result.value);
    if (first_fit) {
      CheckSets(variant, *result.value, types.pool(), result.diagnostics);
      CheckBindings(variant, most_bindings, &*result.value, result.diagnostics);
    }
    if (HasErrors(result.diagnostics)) {
      result.value.reset();
    }
  }
  return result;
}

}  // namespace kiln::layout
