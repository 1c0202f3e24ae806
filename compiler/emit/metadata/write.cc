// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/write.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/flat_map.h"
#include "compiler/base/hash/canonical.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/metadata/fields.h"
#include "compiler/emit/metadata/graphics_state.h"
#include "compiler/emit/metadata/option_influence.h"
#include "compiler/emit/metadata/records.h"
#include "compiler/ir/enum_names.h"
#include "compiler/layout/rpl_adapter.h"
#include "compiler/target/requirements.h"

namespace kiln::metadata {
namespace {

// Enough for a variant of a small program, so that they rarely grow.
constexpr size_t kExpectedRecords = 90;
constexpr size_t kExpectedBytes = 4096;

ByteView BytesOf(const Hash128& hash) { return std::as_bytes(std::span(hash.bytes)); }

bool IsAttributes(const ir::SpecialisedDecl& decl) {
  return decl.kind == ir::DeclKind::kContainer &&
         (decl.container() == ir::ContainerKind::kVertexAttributes ||
          decl.container() == ir::ContainerKind::kInstanceAttributes);
}

// By the number of the set and by the kind of resource, in the order of their fields.
constexpr uint32_t kSetFields[] = {kSetsPass, kSetsMaterial, kSetsObject, kSetsShared};
constexpr uint32_t kResourceFields[] = {kSetBuffers, kSetSamplers, kSetImages};

// See spec/rpl 14.9
void WriteSpecialization(const ir::Pool& pool, const ir::SpecConstant& row, WireWriter& out) {
  out.Text(kSpecializationName, pool.Text(row.name));
  out.Number(kSpecializationId, row.id);
  out.Text(kSpecializationType, ir::NameOf(row.kind));
  out.Number(kSpecializationDefault, row.default_bits);
  out.Number(kSpecializationValue, row.bits);
}

// For compute pipelines alone.
void WriteWorkgroupSize(const ir::SpecialisedProgram& variant, WireWriter& out) {
  const std::array<uint32_t, 3> sizes = layout::WorkgroupSize(variant);
  out.Message(kPipelineWorkgroupSize, [&] {
    out.Number(kWorkgroupSizeX, sizes[0]);
    out.Number(kWorkgroupSizeY, sizes[1]);
    out.Number(kWorkgroupSizeZ, sizes[2]);
  });
}

// What an array of resources, which may have several dimensions, consists of.
ir::Type ItemOf(ir::Type type, const ir::Pool& pool) {
  while (type.kind == ir::TypeKind::kArray) {
    type = pool[ir::TypeId{type.element}];
  }
  return type;
}

// Storing is a feature in graphics stages. See spec/rpl 14.7
target::Needs StoreNeeds(const ir::SpecialisedProgram& variant, const Usage& usage) {
  target::Needs needs = 0;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    // Writable in its declaration is enough: whether a stage really stores is not looked at.
    const bool buffer =
        decl->kind == ir::DeclKind::kBuffer && decl->buffer() == ir::BufferKind::kReadWriteStorage;
    bool image = false;
    if (decl->kind == ir::DeclKind::kImage && decl->access() != ir::ImageAccess::kReadOnly) {
      const ir::Type& type = ItemOf((*variant.pool)[decl->type], *variant.pool);
      image = type.kind == ir::TypeKind::kImage && ir::UnpackImage(type.extent).storage;
    }
    if (!buffer && !image) {
      continue;
    }
    // A resource that no stage mentions needs nothing.
    needs |= usage.Mentioned(decl->decl, ir::Stage::kFragment)
                 ? target::BitOf(target::Need::kFragmentStores)
                 : 0;
    needs |= usage.Mentioned(decl->decl, ir::Stage::kVertex)
                 ? target::BitOf(target::Need::kVertexStores)
                 : 0;
  }
  return needs;
}

// What the stages do with each resource: four bits for each. Nothing if there are too many.
std::optional<uint64_t> UsesOf(const ir::SpecialisedProgram& variant, const Usage& usage) {
  uint64_t uses = 0;
  uint32_t shift = 0;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (decl->kind == ir::DeclKind::kContainer) {
      continue;
    }
    // Sixteen resources fit the key. Variants with more are written in full each time.
    if (shift == 64) {
      return std::nullopt;
    }
    const uint32_t row = decl->decl.value;
    const uint64_t stages = row < usage.stages.size() ? usage.stages[row] : 0;
    uses |= (stages | (usage.Compared(decl->decl) ? 8u : 0u)) << shift;
    shift += 4;
  }
  return uses;
}

// Numbers that authors give do not follow the order of the interface.
std::vector<const ir::SpecialisedDecl*> ResourcesByBinding(const RecordContext& context) {
  std::vector<const ir::SpecialisedDecl*> resources;
  std::ranges::copy_if(context.variant.interface, std::back_inserter(resources),
                       [](const ir::SpecialisedDecl* decl) {
                         return decl->kind == ir::DeclKind::kBuffer ||
                                decl->kind == ir::DeclKind::kSampler ||
                                decl->kind == ir::DeclKind::kImage;
                       });
  std::ranges::stable_sort(resources, {}, [&](const ir::SpecialisedDecl* decl) {
    // Stable, because bindings of different sets may have the same number.
    return context.layout.PlacementOf(decl->decl).binding;
  });
  return resources;
}

uint64_t SlotOf(const RecordContext& context, const ir::SpecialisedDecl& decl) {
  const layout::Placement& placement = context.layout.PlacementOf(decl.decl);
  return uint64_t{placement.set} << 32 | placement.binding;
}

// Samplers that share the number of an image, by this number. A layout lets nothing else share one,
// so both are one descriptor.
using CombinedSamplers = FlatMap<uint64_t, const ir::SpecialisedDecl*>;
CombinedSamplers CombinedOf(const RecordContext& context,
                            std::span<const ir::SpecialisedDecl* const> resources) {
  FlatMap<uint64_t, const ir::SpecialisedDecl*> images;
  for (const ir::SpecialisedDecl* decl : resources) {
    if (decl->kind == ir::DeclKind::kImage) {
      images.Insert(SlotOf(context, *decl), decl);
    }
  }
  CombinedSamplers combined;
  for (const ir::SpecialisedDecl* decl : resources) {
    if (decl->kind == ir::DeclKind::kSampler && images.Find(SlotOf(context, *decl)) != nullptr) {
      combined.Insert(SlotOf(context, *decl), decl);
    }
  }
  return combined;
}

}  // namespace

MetadataWriter::MetadataWriter(const target::Target& target, layout::TypeLayouts& types,
                               std::span<const ModuleFacts> modules, uint64_t most)
    : target_(target), types_(types), modules_(modules.begin(), modules.end()), most_(most) {
  records_.Reserve(kExpectedRecords);
  bytes_.reserve(kExpectedBytes);
  out_.reserve(kExpectedBytes);
}

MetadataWriter::~MetadataWriter() = default;

// Records with usage and records of the layout hash are different bytes of one declaration, so they
// are different kinds.
MetadataWriter::Kind MetadataWriter::KindOf(Kind full, const RecordContext& context) {
  return static_cast<Kind>(static_cast<uint32_t>(full) + (context.usage == nullptr ? 1 : 0));
}

// Everything that the bytes of a record depend on is in the key: which version of a declaration,
// and the numbers that layout and usage add. So a record is encoded once and copied for each
// further variant.
template <class Encode>
MetadataWriter::Record MetadataWriter::Recall(const Key& key, Encode encode) {
  return *records_
              .FindOrMake(key,
                          [&] {
                            scratch_.Clear();
                            encode(scratch_);
                            const ByteView bytes = scratch_.bytes();
                            const Record record{static_cast<uint32_t>(bytes_.size()),
                                                static_cast<uint32_t>(bytes.size())};
                            bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
                            return record;
                          })
              .first;
}

// Copied from the memory of records: `bytes_` grows, so records are offsets and no views.
void MetadataWriter::Put(const Record& record) {
  out_.insert(out_.end(), bytes_.begin() + record.first,
              bytes_.begin() + record.first + record.size);
}

// The records of vertex inputs, one field each.
void MetadataWriter::PutAttributeSources(const RecordContext& context) {
  for (const ir::SpecialisedDecl* decl : context.variant.interface) {
    if (!IsAttributes(*decl)) {
      continue;
    }
    const layout::VertexSource& source = context.layout.SourceOf(decl->decl);
    // Locations follow from the first one, so it stands for all of them.
    const uint32_t first = source.attributes.empty() ? 0 : source.attributes[0].location;
    Put(Recall({.kind = KindOf(Kind::kSource, context),
                .what = decl,
                .number = uint64_t{source.binding} << 32 | first},
               [&](WireWriter& out) {
                 out.Message(kPipelineAttributeSources, [&] { WriteSource(context, *decl, out); });
               }));
  }
  for (const layout::VertexSource& source : context.layout.vertex_sources) {
    if (!source.container.valid()) {
      WireWriter out;  // PutInterface remembers all of them together
      out.Message(kPipelineAttributeSources, [&] { WriteEntrySource(context, source, out); });
      Append(out_, out.bytes());
    }
  }
}

MetadataWriter::Record MetadataWriter::Resource(const RecordContext& context,
                                                const ir::SpecialisedDecl& decl,
                                                const ir::SpecialisedDecl* combined,
                                                uint32_t field) {
  const ir::SpecialisedDecl* const sampler = decl.kind == ir::DeclKind::kSampler ? &decl : combined;
  const bool compared =
      sampler != nullptr && context.usage != nullptr && context.usage->Compared(sampler->decl);
  // All that layout and usage add to a resource, in one number: binding, stages, comparison.
  const uint64_t number = uint64_t{context.layout.PlacementOf(decl.decl).binding} << 32 |
                          uint64_t{StagesOf(context, decl.decl)} << 1 | (compared ? 1 : 0);
  return Recall({.kind = KindOf(Kind::kResource, context),
                 .what = &decl,
                 .other = combined,
                 .number = number},
                [&](WireWriter& out) {
                  out.Message(field, [&] {
                    if (decl.kind == ir::DeclKind::kBuffer) {
                      WriteBuffer(context, decl, out);
                    } else if (decl.kind == ir::DeclKind::kSampler) {
                      WriteSampler(context, decl, out);
                    } else {
                      WriteImage(context, decl, combined, out);
                    }
                  });
                });
}

// Sets, each with its buffers, samplers and images in binding order, as records.
bool MetadataWriter::CollectSets(const RecordContext& context) {
  uint64_t bytes = 0;
  for (std::vector<Record>& records : resources_) {
    records.clear();
  }
  // In RPL the order of the interface is that of bindings; other languages number as they like.
  const bool grouped = context.variant.bindings == ir::BindingPolicy::kGroups;
  std::vector<const ir::SpecialisedDecl*> sorted;
  if (!grouped) {
    sorted = ResourcesByBinding(context);
  }
  const CombinedSamplers combined = CombinedOf(context, sorted);
  for (const ir::SpecialisedDecl* decl : grouped ? context.variant.interface : sorted) {
    CheckStop();
    const ir::SpecialisedDecl* const* sampler =
        combined.size() == 0 ? nullptr : combined.Find(SlotOf(context, *decl));
    if (sampler != nullptr && *sampler == decl) {
      continue;  // the record of its image has it
    }
    const uint32_t kind = decl->kind == ir::DeclKind::kBuffer    ? 0
                          : decl->kind == ir::DeclKind::kSampler ? 1
                          : decl->kind == ir::DeclKind::kImage   ? 2
                                                                 : kKinds;
    if (kind != kKinds) {
      const uint32_t set =
          grouped ? static_cast<uint32_t>(decl->set()) : context.layout.PlacementOf(decl->decl).set;
      resources_[set * kKinds + kind].push_back(
          Resource(context, *decl, sampler != nullptr ? *sampler : nullptr, kResourceFields[kind]));
      bytes += resources_[set * kKinds + kind].back().size;
    }
    if (!Fits(bytes)) {
      return false;
    }
  }
  return true;
}

void MetadataWriter::PutSets(const RecordContext& context) {
  if (!CollectSets(context)) {
    fits_ = false;
    return;
  }
  uint32_t sizes[kSets] = {};
  uint32_t all = 0;
  for (uint32_t set = 0; set < kSets; ++set) {
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      for (const Record& record : resources_[set * kKinds + kind]) {
        sizes[set] += record.size;
      }
    }
    // Lengths come before contents in this format, so sizes are added up first. With them sets are
    // copied from records without encoding anything.
    all += WireWriter::PrefixSize(kSetFields[set], sizes[set]) + sizes[set];
  }
  WireWriter::AppendPrefix(out_, kPipelineSets, all);
  for (uint32_t set = 0; set < kSets; ++set) {
    // A set without resources is written all the same, with the length zero: the reader sees four
    // sets.
    WireWriter::AppendPrefix(out_, kSetFields[set], sizes[set]);
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      for (const Record& record : resources_[set * kKinds + kind]) {
        Put(record);
      }
    }
  }
}

void MetadataWriter::PutPushConstant(const RecordContext& context) {
  const uint32_t size = context.layout.push_constant_size;
  const auto block = std::ranges::find(context.variant.interface, ir::DeclKind::kPushConstant,
                                       [](const ir::SpecialisedDecl* decl) { return decl->kind; });
  if (block == context.variant.interface.end()) {
    return;
  }
  // The size follows from the declaration, so it is no part of the key.
  Put(Recall({.kind = KindOf(Kind::kPushConstant, context),
              .what = *block,
              .number = StagesOf(context, (*block)->decl)},
             [&](WireWriter& out) {
               out.Number(kPipelinePushConstantSize, size);
               out.Message(kPipelinePushConstant,
                           [&] { WritePushConstant(context, **block, out); });
             }));
}

// One layout serves many variants, whose stages mostly do the same with its resources.
void MetadataWriter::PutInterface(const RecordContext& context) {
  const std::optional<uint64_t> uses = UsesOf(context.variant, *context.usage);
  const Key key{.kind = Kind::kInterface, .what = &context.layout, .number = uses.value_or(0)};
  // Without a key the interface is written anew, which is right and only slower.
  if (uses.has_value()) {
    if (const Record* known = records_.Find(key); known != nullptr) {
      Put(*known);
      return;
    }
  }
  // What was written for the interface is then copied into the records as a whole.
  const size_t first = out_.size();
  PutAttributeSources(context);
  PutSets(context);
  PutPushConstant(context);
  if (uses.has_value() && fits_) {
    records_.Insert(key, {.first = static_cast<uint32_t>(bytes_.size()),
                          .size = static_cast<uint32_t>(out_.size() - first)});
    bytes_.insert(bytes_.end(), out_.begin() + static_cast<ptrdiff_t>(first), out_.end());
  }
}

void MetadataWriter::PutState(const RecordContext& context) {
  for (const ir::SpecialisedDecl* decl : context.variant.interface) {
    if (decl->kind != ir::DeclKind::kContainer || decl->container() != ir::ContainerKind::kState) {
      continue;
    }
    for (const ir::SpecialisedMember& field : decl->members) {
      CheckStop();
      const uint64_t touched =
          (context.usage->Touched(field.member, ir::MemberUse::kWrite) ? 1 : 0) |
          (context.usage->Touched(field.member, ir::MemberUse::kRead) ? 2 : 0);
      Put(Recall({.kind = Kind::kStateField,
                  .what = &field,
                  .number = uint64_t{context.layout.LocationOf(field.member)} << 2 | touched},
                 [&](WireWriter& out) {
                   out.Message(kPipelineState,
                               [&] { WriteStateField(context, *decl, field, out); });
                 }));
    }
  }
  PutStateRows(context);
}

// Rows between entry points of typed modules: those that the vertex stage has, then what a fragment
// stage alone has. Metadata has no word for 64 bits.
void MetadataWriter::PutStateRows(const RecordContext& context) {
  // Whether a stage has the other side of a location. Quadratic, with a few dozen rows at most.
  const auto meets = [&](ir::Stage stage, ir::Direction direction, uint32_t location) {
    return std::ranges::any_of(context.variant.entries, [&](const ir::EntryRef& entry) {
      return entry.stage == stage &&
             std::ranges::any_of(entry.io, [&](const ir::InterfaceRow& row) {
               const ir::Attribute* at = row.Find(ir::AttributeKey::kLocation);
               return row.direction == direction && at != nullptr && at->a == location;
             });
    });
  };
  for (const ir::EntryRef& entry : context.variant.entries) {
    const bool vertex = entry.stage == ir::Stage::kVertex;
    for (const ir::InterfaceRow& row : entry.io) {
      const ir::Attribute* at = row.Find(ir::AttributeKey::kLocation);
      if (at == nullptr || vertex != (row.direction == ir::Direction::kOut)) {
        continue;
      }
      if (vertex) {
        PutStateRow(context, {.row = &row,
                              .type = row.type,
                              .location = at->a,
                              .written = true,
                              .read = meets(ir::Stage::kFragment, ir::Direction::kIn, at->a)});
      } else if (!meets(ir::Stage::kVertex, ir::Direction::kOut, at->a)) {
        PutStateRow(context, {.row = &row, .type = row.type, .location = at->a, .read = true});
      }
    }
  }
}

// Items of an array are rows of their own, each at the locations behind the last.
void MetadataWriter::PutStateRow(const RecordContext& context, StateRow state) {
  uint32_t items = 1;
  // Arrays within each other become one list of items.
  while (context.pool()[state.type].kind == ir::TypeKind::kArray) {
    items *= context.pool()[state.type].extent;
    state.type = ir::TypeId{context.pool()[state.type].element};
    state.item = 0;
  }
  const ir::Type& type = context.pool()[state.type];
  if (ir::BitWidthOf(type.scalar) == 64) {
    return;
  }
  for (uint32_t i = 0; i < items; ++i) {
    WireWriter out;
    out.Message(kPipelineState, [&] { WriteStateRow(context, state, out); });
    Append(out_, out.bytes());
    state.item += state.item == ir::kNoRow ? 0 : 1;
    state.location += type.kind == ir::TypeKind::kMatrix ? type.columns : 1;
  }
}

// What only the target and the code of all stages need, behind and before the layout hash.
void MetadataWriter::PutNeeds(const RecordContext& context, target::Needs needs,
                              const Hash128& layout_hash) {
  for (const ir::OptionUse& use : context.variant.option_uses) {
    CheckStop();
    // Value and influence make the bytes; the scope follows from the option.
    const uint64_t number = uint64_t{use.value} << 32 | use.influence;
    Put(Recall(
        {.kind = Kind::kInfluence, .row = use.name.value, .number = number}, [&](WireWriter& out) {
          out.Message(kPipelineOptionInfluence, [&] { WriteInfluence(context.pool(), use, out); });
        }));
  }
  // Needs are a set of bits, and few different ones come up.
  Put(Recall({.kind = Kind::kFeatures, .number = needs}, [&](WireWriter& out) {
    for (const std::string_view feature : target::FeaturesOf(needs)) {
      out.TextItem(kPipelineRequiredFeatures, feature);
    }
  }));
  WireWriter::AppendPrefix(out_, kPipelineLayoutHash, sizeof(layout_hash.bytes));
  Append(out_, BytesOf(layout_hash));
  for (const ir::SpecConstant& row : context.variant.specialization) {
    WireWriter out;  // values of options: nothing to remember
    out.Message(kPipelineSpecialization, [&] { WriteSpecialization(context.pool(), row, out); });
    Append(out_, out.bytes());
  }
  Put(Recall({.kind = Kind::kTail, .number = needs}, [&](WireWriter& out) {
    for (const ModuleFacts& module : modules_) {
      out.RawItem(kPipelineModuleHashes, BytesOf(module.semantic_id));
    }
    for (const std::string_view name : target::DeviceExtensionsOf(needs, target_.environment)) {
      out.TextItem(kPipelineRequiredExtensions, name);
    }
    if (target_.form == target::Form::kSpirv) {
      out.Text(kPipelineSpirvVersion, fmt::format("{}.{}", target_.spirv_version >> 16,
                                                  target_.spirv_version >> 8 & 0xff));
    }
  }));
}

MetadataWriter::Graphics MetadataWriter::GraphicsOf(const RecordContext& context) {
  // Values of settings decide; with more than one container of outputs nothing is remembered.
  const ir::SpecialisedDecl* outputs = nullptr;
  uint32_t containers = 0;
  for (const ir::SpecialisedDecl* decl : context.variant.interface) {
    if (IsColorOutput(*decl)) {
      outputs = decl;
      ++containers;
    }
  }
  // Both parts are made at once, since they rest on the same settings.
  const auto encode = [&] {
    const GraphicsState state(context);
    WireWriter settings;
    WireWriter rest;
    state.WriteSettings(settings);
    state.WriteOutputs(rest);
    return std::pair(std::move(settings).bytes(), std::move(rest).bytes());
  };
  if (containers > 1) {
    std::tie(graphics_.first, graphics_.second) = encode();
    return {graphics_.first, graphics_.second};
  }
  // Outputs of a typed module depend on the interface of the fragment entry, which has a number.
  const auto fragment =
      std::ranges::find(context.variant.entries, ir::Stage::kFragment, &ir::EntryRef::stage);
  // Settings of a variant are kept by their units, so address and length name their values.
  const Key key{.what = context.variant.settings.data(),
                .other = outputs,
                .row = static_cast<uint32_t>(context.variant.settings.size()),
                .number = fragment == context.variant.entries.end() ? 0 : fragment->interface};
  const auto& known = *graphics_records_.FindOrMake(key, encode).first;
  return {known.first, known.second};
}

// The layout hash is over the input interface alone, written without usage and spans: it must not
// depend on what functions do.
Hash128 MetadataWriter::LayoutHash(const ir::SpecialisedProgram& variant,
                                   const layout::Layout& layout) {
  const RecordContext context{.variant = variant, .layout = layout, .types = types_, .most = most_};
  fits_ = true;
  out_.clear();
  PutAttributeSources(context);
  PutSets(context);
  PutPushConstant(context);
  return CanonicalWriter("kiln.layout.1").Raw(1, out_).Key();
}

// Fields in ascending order, each part from its records. The bytes are those that protobuf would
// write.
std::optional<ByteView> MetadataWriter::Write(const ir::SpecialisedProgram& variant,
                                              const layout::Layout& layout,
                                              const Hash128& layout_hash, target::Needs needs,
                                              ByteView wgsl) {
  UsageOf(variant, usage_);
  const bool spans = target_.debug == target::Debug::kFull;
  const RecordContext context{.variant = variant,
                              .layout = layout,
                              .types = types_,
                              .usage = &usage_,
                              .spans_of = spans ? modules_ : std::span<const ModuleFacts>{},
                              .most = most_};
  const bool graphics = variant.pipeline == ir::PipelineType::kGraphicsClassic;
  // Computed before anything is written: it is in two places of the message, around the interface.
  const Graphics state = graphics ? GraphicsOf(context) : Graphics{};

  fits_ = true;
  out_.clear();
  PutHead(variant);
  Append(out_, state.settings);
  PutInterface(context);
  if (!fits_) {
    return std::nullopt;
  }
  Append(out_, state.outputs);
  PutState(context);
  PutNeeds(context, needs | StoreNeeds(variant, usage_), layout_hash);
  if (!graphics) {
    WireWriter out;
    WriteWorkgroupSize(variant, out);
    Append(out_, out.bytes());
  }
  if (!wgsl.empty()) {
    WireWriter out;
    out.RawItem(kPipelineWgsl, wgsl);
    Append(out_, out.bytes());
  }
  return Fits(out_.size()) ? std::optional<ByteView>(out_) : std::nullopt;
}

// Most variants of an assembler have the same entry points, so the head is kept from the last one.
void MetadataWriter::PutHead(const ir::SpecialisedProgram& variant) {
  const auto same = [](const Entry& known, const ir::EntryRef& entry) {
    return known.stage == entry.stage && known.name == entry.name;
  };
  if (head_.empty() || !std::ranges::equal(head_entries_, variant.entries, same)) {
    WireWriter out;
    out.Text(kPipelinePipelineType, ir::NameOf(variant.pipeline));
    head_entries_.clear();
    for (const ir::EntryRef& entry : variant.entries) {
      head_entries_.push_back({entry.stage, std::string(entry.name)});
      out.Message(kPipelineEntryPoints, [&] {
        out.Text(kEntryPointStage, ir::NameOf(entry.stage));
        out.Text(kEntryPointName, entry.name);
      });
    }
    head_ = std::move(out).bytes();
  }
  Append(out_, head_);
}

Metadata Write(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
               const target::Target& target, layout::TypeLayouts& types,
               std::span<const ModuleFacts> modules, target::Needs needs, ByteView wgsl,
               uint64_t most) {
  MetadataWriter writer(target, types, modules, most);
  const Hash128 layout_hash = writer.LayoutHash(variant, layout);
  const std::optional<ByteView> bytes = writer.Write(variant, layout, layout_hash, needs, wgsl);
  if (!bytes.has_value()) {
    return {.fits = false};
  }
  return {.bytes = {bytes->begin(), bytes->end()}, .layout_hash = layout_hash};
}

}  // namespace kiln::metadata
