// SPDX-License-Identifier: MIT
// Every setting begins with its default and is then overwritten by what the variant says, in order,
// so the last one wins. Outputs begin with the pipeline's defaults, a row for each.
#include "compiler/emit/metadata/graphics_state.h"

#include <algorithm>
#include <bit>
#include <string>

#include "compiler/base/check.h"
#include "compiler/emit/metadata/fields.h"
#include "compiler/ir/settings.h"

namespace kiln::metadata {
namespace {

using ir::Setting;

struct SettingField {
  Setting setting;
  uint32_t field;
};

// Fields of message Settings, ascending.
constexpr SettingField kSettingFields[] = {
    {Setting::kPolygonMode, kSettingsPolygonMode},
    {Setting::kCullMode, kSettingsCullMode},
    {Setting::kDepthTest, kSettingsDepthTest},
    {Setting::kDepthWrite, kSettingsDepthWrite},
    {Setting::kDepthCompareOperation, kSettingsDepthCompareOperation},
    {Setting::kDepthBoundsTest, kSettingsDepthBoundsTest},
    {Setting::kDepthMin, kSettingsDepthMin},
    {Setting::kDepthMax, kSettingsDepthMax},
    {Setting::kStencilTest, kSettingsStencilTest},
    {Setting::kStencilFrontOnFail, kSettingsStencilFrontOnFail},
    {Setting::kStencilFrontOnDepthFail, kSettingsStencilFrontOnDepthFail},
    {Setting::kStencilFrontOnPass, kSettingsStencilFrontOnPass},
    {Setting::kStencilFrontCompare, kSettingsStencilFrontCompare},
    {Setting::kStencilFrontCompareMask, kSettingsStencilFrontCompareMask},
    {Setting::kStencilFrontWriteMask, kSettingsStencilFrontWriteMask},
    {Setting::kStencilFrontReference, kSettingsStencilFrontReference},
    {Setting::kStencilBackOnFail, kSettingsStencilBackOnFail},
    {Setting::kStencilBackOnDepthFail, kSettingsStencilBackOnDepthFail},
    {Setting::kStencilBackOnPass, kSettingsStencilBackOnPass},
    {Setting::kStencilBackCompare, kSettingsStencilBackCompare},
    {Setting::kStencilBackCompareMask, kSettingsStencilBackCompareMask},
    {Setting::kStencilBackWriteMask, kSettingsStencilBackWriteMask},
    {Setting::kStencilBackReference, kSettingsStencilBackReference},
};

// Fields of message ColorOutput that are settings, ascending.
constexpr SettingField kOutputFields[] = {
    {Setting::kColorOutputUseBlend, kColorOutputUseBlend},
    {Setting::kColorOutputWriteR, kColorOutputWriteR},
    {Setting::kColorOutputWriteG, kColorOutputWriteG},
    {Setting::kColorOutputWriteB, kColorOutputWriteB},
    {Setting::kColorOutputWriteA, kColorOutputWriteA},
    {Setting::kColorOutputSourceColorBlendFactor, kColorOutputSourceColorBlendFactor},
    {Setting::kColorOutputDestinationColorBlendFactor, kColorOutputDestinationColorBlendFactor},
    {Setting::kColorOutputColorBlendOperation, kColorOutputColorBlendOperation},
    {Setting::kColorOutputSourceAlphaBlendFactor, kColorOutputSourceAlphaBlendFactor},
    {Setting::kColorOutputDestinationAlphaBlendFactor, kColorOutputDestinationAlphaBlendFactor},
    {Setting::kColorOutputAlphaBlendOperation, kColorOutputAlphaBlendOperation},
};

constexpr SettingField kBlendConstantFields[] = {
    {Setting::kColorBlendConstantR, kBlendConstantsR},
    {Setting::kColorBlendConstantG, kBlendConstantsG},
    {Setting::kColorBlendConstantB, kBlendConstantsB},
    {Setting::kColorBlendConstantA, kBlendConstantsA},
};

// Settings are a table; their number in the enumeration is their row.
size_t RowOf(Setting setting) { return static_cast<size_t>(setting); }

// A field is written by the type that its setting has in the table. Defaults of the message are
// left out by the writer, as proto3 wants it.
template <class Values>
void WriteFields(std::span<const SettingField> fields, const Values& values, WireWriter& out) {
  for (const SettingField& row : fields) {
    const auto& value = values[RowOf(row.setting)];
    switch (ir::FactsOf(row.setting).type) {
      case ir::SettingType::kFlag:
      case ir::SettingType::kByte:
      case ir::SettingType::kSize:
        out.Number(row.field, value.bits);
        break;
      case ir::SettingType::kFloat:
        out.Real(row.field, value.bits);
        break;
      case ir::SettingType::kString:
        out.Text(row.field, value.text);
        break;
    }
  }
}

// Widths are not told: an attachment converts, and only the kind of number matters to a blend
// state.
std::string_view ItemText(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
    case ir::Scalar::kF16:
    case ir::Scalar::kF64:
      return "float";
    case ir::Scalar::kU32:
    case ir::Scalar::kU16:
    case ir::Scalar::kU64:
      return "uint";
    case ir::Scalar::kS32:
    case ir::Scalar::kS16:
    case ir::Scalar::kS64:
      return "sint";
    case ir::Scalar::kNone:
    case ir::Scalar::kBool:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace

bool IsColorOutput(const ir::SpecialisedDecl& decl) {
  return decl.kind == ir::DeclKind::kContainer &&
         decl.container() == ir::ContainerKind::kColorOutput;
}

GraphicsState::GraphicsState(const RecordContext& context) : context_(context) {
  // The defaults of the language, for the pipeline and for each output; then what the variant says.
  for (const ir::SettingFacts& facts : ir::AllSettings()) {
    // One row for each setting, also for those of outputs: the two lists then have the same
    // numbers.
    pipeline_.push_back({.bits = facts.default_bits, .text = facts.default_text});
  }
  size_t outputs = 0;
  // Outputs of containers come first, then rows of entry points.
  for (const ir::SpecialisedDecl* decl : context.variant.interface) {
    outputs += IsColorOutput(*decl) ? decl->members.size() : 0;
  }
  ListRows();
  outputs += rows_.size();
  // Each output begins with the defaults, of which it uses its own part.
  outputs_.assign(outputs, pipeline_);
  for (const ir::SpecialisedSetting& setting : context.variant.settings) {
    const ir::SettingFacts* facts = ir::FindSetting(setting.name);
    KILN_CHECK(facts != nullptr, "setting '{}'", setting.name);
    const bool has_block = setting.block != ir::kNoBlock;
    KILN_CHECK(!has_block || setting.block < outputs, "{} block {}", setting.name, setting.block);
    // A setting without a block is of the pipeline, one with a block of that output.
    Settings& values = has_block ? outputs_[setting.block] : pipeline_;
    values[static_cast<size_t>(facts - ir::AllSettings().data())] = {.bits = setting.bits,
                                                                     .text = setting.text};
  }
}

void GraphicsState::WriteSettings(WireWriter& out) const {
  out.Message(kPipelineSettings, [&] { WriteFields(kSettingFields, pipeline_, out); });
}

// The outputs of a fragment entry point of a typed module, by location. A second source of blending
// is no output of its own.
void GraphicsState::ListRows() {
  for (const ir::EntryRef& entry : context_.variant.entries) {
    for (const ir::InterfaceRow& row : entry.io) {
      const ir::Attribute* location = row.Find(ir::AttributeKey::kLocation);
      if (entry.stage != ir::Stage::kFragment || row.direction != ir::Direction::kOut ||
          location == nullptr || row.Find(ir::AttributeKey::kIndex) != nullptr) {
        continue;
      }
      const uint32_t count = ItemsOf(row.type);
      // Locations may have gaps, which WriteRow fills.
      rows_.resize(std::max<size_t>(rows_.size(), location->a + count));
      for (uint32_t i = 0; i < count; ++i) {
        rows_[location->a + i] = {.row = &row, .item = i};
      }
    }
  }
}

// Vectors in a row: of a matrix its columns.
uint32_t GraphicsState::ItemsOf(ir::TypeId id) const {
  uint32_t count = 1;
  while (context_.pool()[id].kind == ir::TypeKind::kArray) {
    count *= context_.pool()[id].extent;
    id = ir::TypeId{context_.pool()[id].element};
  }
  const ir::Type& type = context_.pool()[id];
  return type.kind == ir::TypeKind::kMatrix ? count * type.columns : count;
}

// Fields in the order of their numbers: some are settings and stand between the others.
void GraphicsState::WriteOutput(const Output& output, const Settings& settings,
                                WireWriter& out) const {
  out.Number(kColorOutputComponentsCount, output.rows);
  WriteFields(kOutputFields, settings, out);
  out.Text(kColorOutputName, output.name);
  out.Number(kColorOutputLocation, output.location);
  out.Text(kColorOutputItem, ItemText(output.scalar));
  WriteSpan(context_, kColorOutputSpan, output.origin, out);
  WriteTags(context_, kColorOutputTags, output.tags, out);
}

void GraphicsState::WriteField(const ir::SpecialisedMember& field, WireWriter& out) const {
  const uint32_t location = context_.layout.LocationOf(field.member);
  const ir::Type& type = context_.pool()[field.type];
  WriteOutput({.name = std::string(context_.pool().Text(field.name)),
               .rows = type.rows,
               .scalar = type.scalar,
               .location = location,
               .origin = field.origin,
               .tags = field.tags},
              outputs_[location], out);
}

// A location that nobody writes is an output without components.
void GraphicsState::WriteRow(uint32_t location, WireWriter& out) const {
  const auto [row, item] = rows_[location];
  if (row == nullptr) {
    // A copy, as the settings of the location itself stay as they are.
    Settings none = outputs_[location];
    for (const Setting setting : {Setting::kColorOutputWriteR, Setting::kColorOutputWriteG,
                                  Setting::kColorOutputWriteB, Setting::kColorOutputWriteA}) {
      none[RowOf(setting)].bits = 0;
    }
    return WriteOutput({.location = location}, none, out);
  }
  ir::TypeId id = row->type;
  while (context_.pool()[id].kind == ir::TypeKind::kArray) {
    id = ir::TypeId{context_.pool()[id].element};
  }
  std::string name = row->field.valid() ? std::string(context_.pool().Text(row->field))
                                        : "target" + std::to_string(location);
  // The second and further vectors of an array or matrix are told by their number.
  if (row->field.valid() && ItemsOf(row->type) > 1) {
    name += "[" + std::to_string(item) + "]";
  }
  WriteOutput({.name = name,
               .rows = context_.pool()[id].rows,
               .scalar = context_.pool()[id].scalar,
               .location = location,
               .origin = row->origin,
               .tags = row->tags},
              outputs_[location], out);
}

// The fields of the message in ascending order: outputs, blend constants, fixed state.
void GraphicsState::WriteOutputs(WireWriter& out) const {
  for (const ir::SpecialisedDecl* decl : context_.variant.interface) {
    if (IsColorOutput(*decl)) {
      for (const ir::SpecialisedMember& field : decl->members) {
        out.Message(kPipelineColorOutputs, [&] { WriteField(field, out); });
      }
    }
  }
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    out.Message(kPipelineColorOutputs, [&] { WriteRow(i, out); });
  }
  out.Message(kPipelineBlendConstants, [&] { WriteFields(kBlendConstantFields, pipeline_, out); });
  out.Message(kPipelineFixedState, [&] { WriteFixedState(out); });
}

// spec/rpl 9.3; what is false or 0 there is the default of the message.
void GraphicsState::WriteFixedState(WireWriter& out) const {
  out.Text(kFixedStateTopology, "triangle_list");
  out.Real(kFixedStateLineWidth, std::bit_cast<uint32_t>(1.0F));
  out.TextItem(kFixedStateDynamicState, "viewport");
  out.TextItem(kFixedStateDynamicState, "scissor");
  // The range of depths is set while recording, and only if the pipeline tests it.
  if (pipeline_[RowOf(Setting::kDepthBoundsTest)].bits != 0) {
    out.TextItem(kFixedStateDynamicState, "depth_bounds");
  }
  out.Text(kFixedStateFrontFace, "clockwise");
  out.Text(kFixedStateViewportY, "up");
  out.Number(kFixedStateSampleCount, 1);
}

}  // namespace kiln::metadata
