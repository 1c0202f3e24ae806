// SPDX-License-Identifier: MIT
// Every setting begins with its default and is then overwritten by what the variant says, in order,
// so the last one wins. Outputs begin with the pipeline's defaults, a row for each.
#include "compiler/emit/metadata/graphics_state.h"

#include <bit>

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

size_t RowOf(Setting setting) { return static_cast<size_t>(setting); }

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
  for (const ir::SettingFacts& facts : ir::AllSettings()) {
    pipeline_.push_back({.bits = facts.default_bits, .text = facts.default_text});
  }
  size_t outputs = 0;
  for (const ir::SpecialisedDecl* decl : context.variant.interface) {
    outputs += IsColorOutput(*decl) ? decl->members.size() : 0;
  }
  outputs_.assign(outputs, pipeline_);
  for (const ir::SpecialisedSetting& setting : context.variant.settings) {
    const ir::SettingFacts* facts = ir::FindSetting(setting.name);
    KILN_CHECK(facts != nullptr, "setting '{}'", setting.name);
    const bool has_block = setting.block != ir::kNoBlock;
    KILN_CHECK(!has_block || setting.block < outputs, "{} block {}", setting.name, setting.block);
    std::vector<Final>& values = has_block ? outputs_[setting.block] : pipeline_;
    values[static_cast<size_t>(facts - ir::AllSettings().data())] = {.bits = setting.bits,
                                                                     .text = setting.text};
  }
}

void GraphicsState::WriteSettings(WireWriter& out) const {
  out.Message(kPipelineSettings, [&] { WriteFields(kSettingFields, pipeline_, out); });
}

void GraphicsState::WriteOutput(const ir::SpecialisedMember& field, WireWriter& out) const {
  const uint32_t location = context_.layout.LocationOf(field.member);
  const ir::Type& type = context_.pool()[field.type];
  out.Number(kColorOutputComponentsCount, type.rows);
  WriteFields(kOutputFields, outputs_[location], out);
  out.Text(kColorOutputName, context_.pool().Text(field.name));
  out.Number(kColorOutputLocation, location);
  out.Text(kColorOutputItem, ItemText(type.scalar));
  WriteSpan(context_, kColorOutputSpan, field.origin, out);
  WriteTags(context_, kColorOutputTags, field.tags, out);
}

void GraphicsState::WriteOutputs(WireWriter& out) const {
  for (const ir::SpecialisedDecl* decl : context_.variant.interface) {
    if (IsColorOutput(*decl)) {
      for (const ir::SpecialisedMember& field : decl->members) {
        out.Message(kPipelineColorOutputs, [&] { WriteOutput(field, out); });
      }
    }
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
  if (pipeline_[RowOf(Setting::kDepthBoundsTest)].bits != 0) {
    out.TextItem(kFixedStateDynamicState, "depth_bounds");
  }
  out.Text(kFixedStateFrontFace, "clockwise");
  out.Text(kFixedStateViewportY, "up");
  out.Number(kFixedStateSampleCount, 1);
}

}  // namespace kiln::metadata
