// SPDX-License-Identifier: MIT
// A pack as a source of artifacts: variants by name and options, content by digest, and the list of
// what is built first (spec/pso 5.2). Everything is const, so threads share it without a lock.
#include "runtime/pipeline/pack_source.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/artifact/metadata_enums.h"

namespace kiln::runtime {
namespace {

using cache::TypedValue;

// As OptionRow::type has them.
constexpr std::string_view kTypeNames[] = {"a flag", "a uint", "a sint", "a float", "an enum"};

Error WrongOption(ErrorCode code, std::string_view program, std::string_view what) {
  return {code, fmt::format("'{}': {}", program, what), ""};
}

// The numbers of the types are those of the pack; a text has no bits and does not come here. A type
// above those was refused when the pack was opened.
TypedValue FromBits(uint32_t type, uint32_t bits) {
  switch (type) {
    case 0:
      return TypedValue::Flag(bits != 0);
    case 1:
      return TypedValue::Uint(bits);
    case 2:
      return TypedValue::Sint(static_cast<int32_t>(bits));
    default:
      return TypedValue::Float(std::bit_cast<float>(bits));
  }
}

TypedValue DefaultOf(const pack::Tables& tables, const pack::OptionRow& option) {
  // The default of an enumeration is an index into its values.
  return option.type == 4
             ? TypedValue::Text(tables.String(option.first_value + option.default_bits))
             : FromBits(option.type, option.default_bits);
}

// The setting as a value of the option's type.
Result<TypedValue> ValueOf(std::string_view program, const pack::Tables& tables,
                           const pack::OptionRow& option, const OptionSetting& setting) {
  // The alternatives of the setting have the order of the types in the pack, so their index is the
  // type.
  if (setting.value.index() != option.type) {
    return WrongOption(ErrorCode::kInvalidArgument, program,
                       fmt::format("option '{}' is {}, not {}", setting.name,
                                   kTypeNames[std::min<uint32_t>(option.type, 4)],
                                   kTypeNames[setting.value.index()]));
  }
  switch (setting.value.index()) {
    case 0:
      return TypedValue::Flag(std::get<bool>(setting.value));
    case 1:
      return TypedValue::Uint(std::get<uint32_t>(setting.value));
    case 2:
      return TypedValue::Sint(std::get<int32_t>(setting.value));
    case 3:
      return TypedValue::Float(std::get<float>(setting.value));
    default:
      break;
  }
  // Texts of enumerations are compared by value, and the view of the pack's own text lives as long
  // as the pack.
  const auto& text = std::get<std::string>(setting.value);
  for (uint32_t i = 0; i < option.value_count; ++i) {
    if (tables.String(option.first_value + i) == text) {
      return TypedValue::Text(tables.String(option.first_value + i));
    }
  }
  return WrongOption(ErrorCode::kNotFound, program,
                     fmt::format("option '{}' has no value '{}'", setting.name, text));
}

// Of "material/pass" and "material/pass/variant"; empty for other names. See spec/daemon 6.7.1
std::string_view PassOf(std::string_view program) {
  const size_t slash = program.find('/');
  if (slash == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = program.substr(slash + 1);
  return rest.substr(0, rest.find('/'));
}

}  // namespace

// The bytes may point into the mapped file; `owner` keeps the pack open for as long.
Result<SourceBytes> PackSource::Read(const Digest& content) const {
  const auto row = pack_->FindBlob(content.id);
  if (!row) {
    return Error{ErrorCode::kNotFound, fmt::format("the pack lacks content {}", content.id.hex()),
                 ""};
  }
  KILN_TRY(const cache::Blob blob, pack_->GetBlob(*row));
  return SourceBytes{blob.bytes, blob.owner};
}

SourceArtifact PackSource::ArtifactOf(uint32_t row) const {
  const pack::Tables& tables = pack_->tables();
  const pack::ArtifactRow& artifact = tables.artifacts[row];
  const auto digest = [&](uint32_t blob) {
    return Digest{tables.blobs[blob].id, tables.blobs[blob].raw_size};
  };
  SourceArtifact out;
  out.program = tables.String(tables.programs[tables.entries[artifact.entry].program].name);
  out.metadata = digest(artifact.metadata);
  for (uint32_t i = 0; i < artifact.code_count; ++i) {
    const pack::CodeRow& code = tables.code[artifact.first_code + i];
    CodeRef& ref = out.code.emplace_back();
    ref.digest = digest(code.blob);
    // The pack keeps stages one higher; zero means that the code has all of them.
    if (code.stage != 0) {
      ref.stage = static_cast<artifact::Stage>(code.stage - 1);
    }
  }
  return out;
}

// A target that was configured must be there: another form of the code would not fit the device.
Result<uint32_t> PackSource::FindEntry(std::string_view program) const {
  const auto row = pack_->FindProgram(program);
  if (!row) {
    return Error{ErrorCode::kNotFound, fmt::format("the pack has no program '{}'", program), ""};
  }
  const pack::ProgramRow& found = pack_->tables().programs[*row];
  // Without a target in the configuration, the first one of the program is taken.
  if (config_.target.empty() && found.entry_count > 0) {
    return found.first_entry;
  }
  const auto entry = pack_->FindEntry(*row, config_.target);
  if (!entry) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the pack has no '{}' of '{}'", config_.target, program), ""};
  }
  return *entry;
}

Result<SourceArtifact> PackSource::Find(std::string_view program,
                                        std::span<const OptionSetting> options) const {
  // The pack finds a variant by the values of all options, so what is not set gets its default
  // before the search.
  KILN_TRY(const uint32_t entry, FindEntry(program));
  const pack::Tables& tables = pack_->tables();
  const pack::ProgramRow& row = tables.programs[tables.entries[entry].program];
  const auto declared = tables.OptionsOf(row);
  std::vector<TypedValue> values;
  // The values have the order of the declarations, which is that of the pack's keys.
  values.reserve(declared.size());
  for (const pack::OptionRow& option : declared) {
    values.push_back(DefaultOf(tables, option));
  }
  for (const OptionSetting& setting : options) {
    const auto found = std::ranges::find_if(declared, [&](const pack::OptionRow& option) {
      return tables.String(option.name) == setting.name;
    });
    if (found == declared.end()) {
      return WrongOption(ErrorCode::kNotFound, program,
                         fmt::format("there is no option '{}'", setting.name));
    }
    KILN_TRY(values[static_cast<size_t>(found - declared.begin())],
             ValueOf(program, tables, *found, setting));
  }
  const auto artifact = pack_->FindArtifact(entry, values);
  if (!artifact) {
    return WrongOption(ErrorCode::kNotFound, program, "the pack lacks this variant");
  }
  SourceArtifact out = ArtifactOf(*artifact);
  out.options.assign(options.begin(), options.end());
  return out;
}

PassSignature PackSource::SignatureOf(const pack::PassRow& row) const {
  PassSignature signature;
  for (uint32_t i = 0; i < row.color_count; ++i) {
    // The format of the swapchain is known only on the running machine, so packs leave a mark in
    // its place.
    signature.color.push_back(row.color_formats[i] == pack::kSwapchainFormat
                                  ? config_.swapchain_format
                                  : static_cast<VkFormat>(row.color_formats[i]));
  }
  signature.depth_stencil = static_cast<VkFormat>(row.depth_format);
  signature.samples = static_cast<VkSampleCountFlagBits>(row.samples);
  signature.view_mask = row.view_mask;
  return signature;
}

std::map<std::string, PassSignature> PackSource::Passes() const {
  std::map<std::string, PassSignature> passes;
  for (const pack::PassRow& row : pack_->tables().passes) {
    passes.emplace(pack_->tables().String(row.name), SignatureOf(row));
  }
  return passes;
}

// The name of the pass is for messages; what counts is its signature.
WarmItem PackSource::WarmOf(const pack::WarmRow& row) const {
  const pack::Tables& tables = pack_->tables();
  WarmItem item;
  item.artifact = ArtifactOf(tables.pipelines[row.pipeline].artifact);
  if (row.pass != pack::kNone) {
    item.signature = SignatureOf(tables.passes[row.pass]);
    item.pass = tables.String(tables.passes[row.pass].name);
  }
  // A lane that this version does not know is the least urgent one.
  item.lane = row.lane < kLanes ? static_cast<Lane>(row.lane) : Lane::kBackground;
  for (const pack::HintRow& hint : tables.Hints(row)) {
    item.hints.push_back(
        {hint.set, hint.binding, hint.sampler_class, static_cast<VkFormat>(hint.format)});
  }
  return item;
}

std::vector<WarmItem> PackSource::WarmList() const {
  const pack::Tables& tables = pack_->tables();
  std::vector<WarmItem> items;
  if (!tables.warm.empty()) {  // in the order of building already
    for (const pack::WarmRow& row : tables.warm) {
      items.push_back(WarmOf(row));
    }
    return items;
  }
  // Without a list each pipeline is built for each pass that it can be meant for: for its own if
  // its name tells one, otherwise for all of them.
  for (const pack::PipelineRow& row : tables.pipelines) {
    WarmItem item;
    item.artifact = ArtifactOf(row.artifact);
    // Without passes the signature is unknown, and the program gets its default one.
    if (tables.passes.empty()) {
      items.push_back(std::move(item));
      continue;
    }
    const std::string_view own = PassOf(item.artifact.program);
    const bool listed = std::ranges::any_of(
        tables.passes, [&](const pack::PassRow& pass) { return tables.String(pass.name) == own; });
    for (const pack::PassRow& pass : tables.passes) {
      if (listed && tables.String(pass.name) != own) {
        continue;
      }
      item.signature = SignatureOf(pass);
      item.pass = tables.String(pass.name);
      items.push_back(item);
    }
  }
  return items;
}

}  // namespace kiln::runtime
