// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/write.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "compiler/base/canonical.h"
#include "compiler/base/check.h"
#include "compiler/emit/metadata/fields.h"
#include "compiler/emit/metadata/records.h"
#include "compiler/ir/enum_names.h"
#include "compiler/layout/assign.h"
#include "compiler/target/requirements.h"

namespace kiln::metadata {
namespace {

// A decimal that reads back as the same float, without exponent, with a dot.
std::string FloatText(float value) {
  std::array<char, 64> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  KILN_CHECK(error == std::errc{});
  std::string text(buffer.data(), end);
  if (text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string ValueText(const ir::Pool& pool, const ir::OptionUse& use) {
  switch (use.kind) {
    case ir::OptionKind::kFlag:
      return use.value != 0 ? "true" : "false";
    case ir::OptionKind::kUint:
      return fmt::format("{}u", use.value);
    case ir::OptionKind::kSint:
      return fmt::format("{}", std::bit_cast<int32_t>(use.value));
    case ir::OptionKind::kFloat:
      return FloatText(std::bit_cast<float>(use.value));
    case ir::OptionKind::kEnum:
      return std::string(pool.Text(use.text));
  }
  KILN_UNREACHABLE();
}

void WriteInfluence(const ir::Pool& pool, const ir::OptionUse& use, WireWriter& out) {
  out.Text(kOptionInfluenceName, pool.Text(use.name));
  out.Text(kOptionInfluenceClass, ir::NameOf(use.scope));
  out.Text(kOptionInfluenceValue, ValueText(pool, use));
  for (uint32_t bit = 0; bit < ir::CountOf<ir::Influence>(); ++bit) {
    if ((use.influence >> bit & 1U) != 0) {
      out.TextItem(kOptionInfluenceAffects, ir::kNames<ir::Influence>[bit]);
    }
  }
}

// Spec: rpl §14.9
void WriteSpecialization(const ir::Pool& pool, const ir::Specialization& row, WireWriter& out) {
  out.Text(kSpecializationName, pool.Text(row.name));
  out.Number(kSpecializationId, row.id);
  out.Text(kSpecializationType, ir::NameOf(row.kind));
  out.Number(kSpecializationDefault, row.default_bits);
  out.Number(kSpecializationValue, row.bits);
}

void WriteWorkgroupSize(const ir::ClosedVariant& variant, WireWriter& out) {
  const std::array<uint32_t, 3> sizes = layout::WorkgroupSize(variant);
  out.Message(kPipelineWorkgroupSize, [&] {
    out.Number(kWorkgroupSizeX, sizes[0]);
    out.Number(kWorkgroupSizeY, sizes[1]);
    out.Number(kWorkgroupSizeZ, sizes[2]);
  });
}

// Storing is a feature in graphics stages. Spec: rpl §14.7
target::Needs StoreNeeds(const ir::ClosedVariant& variant, const Usage& usage) {
  target::Needs needs = 0;
  for (const ir::ClosedDecl* decl : variant.interface) {
    const bool buffer =
        decl->kind == ir::DeclKind::kBuffer && decl->buffer() == ir::BufferKind::kReadWriteStorage;
    bool image = false;
    if (decl->kind == ir::DeclKind::kImage && decl->access() != ir::ImageAccess::kReadOnly) {
      const ir::Type& type = (*variant.pool)[decl->type];
      image = type.kind == ir::TypeKind::kImage && ir::UnpackImage(type.extent).storage;
    }
    if (!buffer && !image) {
      continue;
    }
    needs |= usage.Mentioned(decl->decl, ir::Stage::kFragment)
                 ? target::BitOf(target::Need::kFragmentStores)
                 : 0;
    needs |= usage.Mentioned(decl->decl, ir::Stage::kVertex)
                 ? target::BitOf(target::Need::kVertexStores)
                 : 0;
  }
  return needs;
}

// Over the records that rpl.md 12.1 names, in their own encoding: it is deterministic and holds
// every row of them, and nothing of usage or spans.
Hash128 LayoutHash(const ir::ClosedVariant& variant, const layout::Layout& layout,
                   layout::TypeLayouts& types) {
  const RecordContext context{.variant = variant, .layout = layout, .types = types};
  WireWriter out;
  WriteAttributeSources(context, out);
  WriteSets(context, out);
  WritePushConstant(context, out);
  return CanonicalWriter("kiln.layout.1").Raw(1, out.bytes()).Key();
}

ByteView BytesOf(const Hash128& hash) { return std::as_bytes(std::span(hash.bytes)); }

}  // namespace

Metadata Write(const ir::ClosedVariant& variant, const layout::Layout& layout,
               const target::Target& target, layout::TypeLayouts& types,
               std::span<const ModuleFacts> modules, target::Needs needs) {
  const Usage usage = UsageOf(variant);
  const bool spans = target.debug == target::Debug::kFull;
  const RecordContext context{.variant = variant,
                              .layout = layout,
                              .types = types,
                              .usage = &usage,
                              .spans_of = spans ? modules : std::span<const ModuleFacts>{}};
  const bool graphics = variant.pipeline == ir::PipelineType::kGraphicsClassic;
  const GraphicsState state(context);
  const Hash128 layout_hash = LayoutHash(variant, layout, types);

  WireWriter out;
  out.Text(kPipelinePipelineType, ir::NameOf(variant.pipeline));
  for (const ir::EntryRef& entry : variant.entries) {
    out.Message(kPipelineEntryPoints, [&] {
      out.Text(kEntryPointStage, ir::NameOf(entry.stage));
      out.Text(kEntryPointName, entry.name);
    });
  }
  if (graphics) {
    state.WriteSettings(out);
  }
  WriteAttributeSources(context, out);
  WriteSets(context, out);
  WritePushConstant(context, out);
  if (graphics) {
    state.WriteOutputs(out);
  }
  WriteState(context, out);
  for (const ir::OptionUse& use : variant.option_uses) {
    out.Message(kPipelineOptionInfluence, [&] { WriteInfluence(*variant.pool, use, out); });
  }
  needs |= StoreNeeds(variant, usage);
  for (const std::string_view feature : target::FeaturesOf(needs)) {
    out.TextItem(kPipelineRequiredFeatures, feature);
  }
  out.Raw(kPipelineLayoutHash, BytesOf(layout_hash));
  for (const ir::Specialization& row : variant.specialization) {
    out.Message(kPipelineSpecialization, [&] { WriteSpecialization(*variant.pool, row, out); });
  }
  for (const ModuleFacts& module : modules) {
    out.RawItem(kPipelineModuleHashes, BytesOf(module.semantic_id));
  }
  for (const std::string_view extension : target::DeviceExtensionsOf(needs, target.environment)) {
    out.TextItem(kPipelineRequiredExtensions, extension);
  }
  if (target.form == target::Form::kSpirv) {
    out.Text(kPipelineSpirvVersion,
             fmt::format("{}.{}", target.spirv_version >> 16, target.spirv_version >> 8 & 0xff));
  }
  if (!graphics) {
    WriteWorkgroupSize(variant, out);
  }
  return {.bytes = std::move(out).bytes(), .layout_hash = layout_hash};
}

}  // namespace kiln::metadata
