// SPDX-License-Identifier: MIT
// JSON text -> FrameDescription: names become masks, layouts and formats.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/graph/formats.h"
#include "runtime/graph/graph_file.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

Error Malformed(std::string context) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = std::move(context),
          .reason = "MALFORMED_FILE"};
}

Result<std::string> Text(const Json& object, const char* member, std::string_view where) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) {
    return Malformed(fmt::format("{} has no text '{}'", where, member));
  }
  return found->get<std::string>();
}

std::string TextOr(const Json& object, const char* member, std::string_view fallback) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string(fallback);
}

uint64_t NumberOr(const Json& object, const char* member, uint64_t fallback) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_number()) {
    return fallback;
  }
  if (found->is_number_unsigned()) {
    return found->get<uint64_t>();
  }
  const double value = found->get<double>();
  return value > 0 && value < 1e18 ? static_cast<uint64_t>(value) : 0;
}

uint32_t SmallOr(const Json& object, const char* member, uint32_t fallback) {
  return static_cast<uint32_t>(std::min<uint64_t>(NumberOr(object, member, fallback), 0xFFFFFFFF));
}

bool FlagOf(const Json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// A list member as an array; absent is empty.
Result<Json> List(const Json& object, const char* member, std::string_view where) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) {
    return Json::array();
  }
  if (!found->is_array()) {
    return Malformed(fmt::format("'{}' of {} is no list", member, where));
  }
  return *found;
}

// Names joined by '|', or a list of names.
std::string NamesOf(const Json& object, std::initializer_list<const char*> members) {
  for (const char* member : members) {
    const auto found = object.find(member);
    if (found == object.end()) {
      continue;
    }
    if (found->is_string()) {
      return found->get<std::string>();
    }
    std::string joined;
    for (size_t i = 0; found->is_array() && i < found->size(); ++i) {
      const Json& item = (*found)[i];
      joined += joined.empty() ? "" : "|";
      joined += item.is_string() ? item.get<std::string>() : std::string("?");
    }
    return joined;
  }
  return {};
}

Result<Stages> ParseStageNames(const std::string& names, std::string_view where) {
  const std::optional<Stages> stages = ParseStages(names);
  if (!stages.has_value()) {
    return Malformed(fmt::format("{} names stages '{}', which Vulkan does not have", where, names));
  }
  return *stages;
}

Result<VkImageLayout> ParseLayoutName(const Json& object, const char* member,
                                      std::string_view where) {
  const std::string name = TextOr(object, member, "UNDEFINED");
  const std::optional<VkImageLayout> layout = ParseLayout(name);
  if (!layout.has_value()) {
    return Malformed(fmt::format("{} names layout '{}', which Vulkan does not have", where, name));
  }
  return *layout;
}

Result<Range> ParseRange(const Json& object, std::string_view where) {
  Range range;
  const auto edge = [&](const char* member, uint16_t fallback) {
    return static_cast<uint16_t>(std::min<uint64_t>(NumberOr(object, member, fallback), 0xFFFF));
  };
  const bool one_mip = object.contains("mip") && !object.contains("mips");
  const bool one_layer = object.contains("layer") && !object.contains("layers");
  range.mip = edge("mip", 0);
  range.mips = one_mip ? uint16_t{1} : edge("mips", kWhole);
  range.layer = edge("layer", 0);
  range.layers = one_layer ? uint16_t{1} : edge("layers", kWhole);
  const std::string aspects = NamesOf(object, {"aspect", "aspects"});
  for (size_t at = 0; at < aspects.size();) {
    const size_t end = std::min(aspects.find('|', at), aspects.size());
    const std::string_view name = std::string_view(aspects).substr(at, end - at);
    if (name != "COLOR" && name != "DEPTH" && name != "STENCIL") {
      return Malformed(
          fmt::format("{} names aspect '{}', not COLOR, DEPTH or STENCIL", where, name));
    }
    range.aspects |= name == "COLOR"   ? VK_IMAGE_ASPECT_COLOR_BIT
                     : name == "DEPTH" ? VK_IMAGE_ASPECT_DEPTH_BIT
                                       : VK_IMAGE_ASPECT_STENCIL_BIT;
    at = end + 1;
  }
  return range;
}

Result<Access> ParseAccess(const Json& object, std::string_view where) {
  Access access;
  KILN_TRY(access.stages, ParseStageNames(NamesOf(object, {"stage", "stages"}), where));
  const std::string names = NamesOf(object, {"access", "accesses"});
  const std::optional<Accesses> accesses = ParseAccesses(names);
  if (!accesses.has_value()) {
    return Malformed(
        fmt::format("{} names accesses '{}', which Vulkan does not have", where, names));
  }
  access.accesses = *accesses;
  KILN_TRY(access.layout, ParseLayoutName(object, "layout", where));
  KILN_TRY(access.range, ParseRange(object, where));
  return access;
}

// A texture that states bytes instead of an extent is a row of texels.
void StateBytes(TextureDesc& desc, uint64_t bytes) {
  const std::optional<FormatInfo> info = InfoOf(desc.format);
  const uint64_t texel = info.has_value() && info->bytes != 0 ? info->bytes : 1;
  const uint64_t texels = (bytes + texel - 1) / texel;
  desc.size = {static_cast<uint32_t>(std::min<uint64_t>(texels, 0xFFFFFFFF)), 1, 1};
}

Result<void> ParseTexture(const Json& object, FileResource& out) {
  const std::string format = TextOr(object, "format", "");
  TextureDesc& desc = out.texture;
  if (!format.empty()) {
    // A name that is not known stays UNDEFINED, which no texture has: UNSUPPORTED_FORMAT.
    desc.format = ParseFormat(format).value_or(VK_FORMAT_UNDEFINED);
  }
  const bool extent = object.contains("width") || object.contains("height");
  out.described = extent || object.contains("bytes");
  desc.size = {SmallOr(object, "width", 0), SmallOr(object, "height", extent ? 1 : 0),
               SmallOr(object, "depth", 1)};
  desc.type = desc.size.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
  desc.mips = SmallOr(object, "mips", 1);
  desc.layers = SmallOr(object, "layers", 1);
  const uint32_t samples = SmallOr(object, "samples", 1);
  if (samples == 0 || samples > 64 || (samples & (samples - 1)) != 0) {
    return Malformed(fmt::format("resource '{}' has {} samples", out.name, samples));
  }
  desc.samples = static_cast<VkSampleCountFlagBits>(samples);
  if (!extent && object.contains("bytes")) {
    desc.format = format.empty() ? VK_FORMAT_R8_UNORM : desc.format;
    StateBytes(desc, NumberOr(object, "bytes", 0));
  }
  return {};
}

Result<FileResource> ParseResource(const Json& object) {
  if (!object.is_object()) {
    return Malformed("'resources' has an item that is no object");
  }
  FileResource out;
  KILN_TRY(out.name, Text(object, "name", "a resource"));
  const std::string where = fmt::format("resource '{}'", out.name);
  const std::string kind = TextOr(object, "kind", "texture");
  if (kind != "texture" && kind != "buffer") {
    return Malformed(fmt::format("{} has kind '{}', not texture or buffer", where, kind));
  }
  out.kind = kind == "texture" ? ResourceKind::kTexture : ResourceKind::kBuffer;
  if (out.kind == ResourceKind::kTexture) {
    KILN_TRY_VOID(ParseTexture(object, out));
  } else {
    out.buffer.size = NumberOr(object, "bytes", 0);
    out.described = object.contains("bytes");
  }
  const std::string heap = TextOr(object, "heap", "");
  if (!heap.empty() && heap != "upload" && heap != "readback" && heap != "device") {
    return Malformed(fmt::format("{} has heap '{}', not upload or readback", where, heap));
  }
  out.buffer.memory = heap == "upload"     ? MemoryKind::kUpload
                      : heap == "readback" ? MemoryKind::kReadback
                                           : MemoryKind::kDevice;
  out.imported = FlagOf(object, "imported");
  out.states_layout = object.contains("initial_layout");
  KILN_TRY(out.state.layout, ParseLayoutName(object, "initial_layout", where));
  KILN_TRY(out.state.stages, ParseStageNames(TextOr(object, "initial_stage", "NONE"), where));
  out.state.accesses = ParseAccesses(TextOr(object, "initial_access", "NONE")).value_or(0);
  out.previous = TextOr(object, "from_previous_frame", "");
  return out;
}

Result<std::vector<FileAccess>> ParseAccesses(const Json& pass, const char* member,
                                              std::string_view where) {
  std::vector<FileAccess> out;
  KILN_TRY(const Json list, List(pass, member, where));
  for (const Json& item : list) {
    if (!item.is_object()) {
      return Malformed(fmt::format("'{}' of {} has an item that is no object", member, where));
    }
    FileAccess access;
    const bool write = item.contains("old") || item.contains("new");
    KILN_TRY(access.resource, Text(item, write ? "old" : "resource", where));
    const std::string here = fmt::format("{}, '{}',", where, access.resource);
    if (write) {
      KILN_TRY(access.result, Text(item, "new", here));
    }
    KILN_TRY(access.access, ParseAccess(item, here));
    access.temporal = FlagOf(item, "temporal");
    access.discard = FlagOf(item, "discard");
    const std::string contents = TextOr(item, "contents", "written");
    access.contents = contents == "clear"       ? ContentKind::kClear
                      : contents == "undefined" ? ContentKind::kUndefined
                                                : ContentKind::kAllWritten;
    out.push_back(std::move(access));
  }
  return out;
}

Result<std::vector<FileSemaphoreUse>> ParseSemaphores(const Json& pass, const char* member,
                                                      std::string_view where) {
  std::vector<FileSemaphoreUse> out;
  KILN_TRY(const Json list, List(pass, member, where));
  for (const Json& item : list) {
    if (!item.is_object()) {
      return Malformed(fmt::format("'{}' of {} has an item that is no object", member, where));
    }
    FileSemaphoreUse use;
    KILN_TRY(use.semaphore, Text(item, "semaphore", where));
    use.value = NumberOr(item, "value", 0);
    KILN_TRY(use.stages, ParseStageNames(NamesOf(item, {"stage", "stages"}), where));
    out.push_back(std::move(use));
  }
  return out;
}

std::optional<PassKind> ParsePassKind(std::string_view name) {
  if (name == "transition" || name == "transition only" || name == "transition_only") {
    return PassKind::kTransition;
  }
  return name == "graphics"   ? std::optional(PassKind::kGraphics)
         : name == "compute"  ? std::optional(PassKind::kCompute)
         : name == "transfer" ? std::optional(PassKind::kTransfer)
         : name == "host"     ? std::optional(PassKind::kHost)
                              : std::nullopt;
}

Result<FilePass> ParsePass(const Json& object) {
  if (!object.is_object()) {
    return Malformed("'passes' has an item that is no object");
  }
  FilePass out;
  KILN_TRY(out.name, Text(object, "name", "a pass"));
  const std::string where = fmt::format("pass '{}'", out.name);
  const std::string type = TextOr(object, "type", "graphics");
  const std::optional<PassKind> kind = ParsePassKind(type);
  if (!kind.has_value()) {
    return Malformed(fmt::format("{} has type '{}'", where, type));
  }
  out.kind = *kind;
  out.side_effect = FlagOf(object, "side_effect");
  KILN_TRY(out.reads, ParseAccesses(object, "reads", where));
  KILN_TRY(out.creates, ParseAccesses(object, "creates", where));
  KILN_TRY(out.writes, ParseAccesses(object, "writes", where));
  KILN_TRY(out.waits, ParseSemaphores(object, "waits", where));
  KILN_TRY(out.signals, ParseSemaphores(object, "signals", where));
  for (const FileAccess& write : out.writes) {
    if (write.result.empty()) {
      return Malformed(
          fmt::format("{} writes '{}' without 'old' and 'new'", where, write.resource));
    }
  }
  return out;
}

}  // namespace

Result<FrameDescription> ParseFrame(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return Malformed("the file is no JSON object");
  }
  FrameDescription out;
  constexpr uint64_t kMaxFrames = 1'000'000;
  out.frames = static_cast<uint32_t>(
      std::max<uint64_t>(1, std::min(NumberOr(json, "frames", 1), kMaxFrames)));
  KILN_TRY(const Json resources, List(json, "resources", "the frame"));
  for (const Json& item : resources) {
    KILN_TRY(FileResource resource, ParseResource(item));
    out.resources.push_back(std::move(resource));
  }
  KILN_TRY(const Json passes, List(json, "passes", "the frame"));
  for (const Json& item : passes) {
    KILN_TRY(FilePass pass, ParsePass(item));
    out.passes.push_back(std::move(pass));
  }
  out.lists_outputs = json.contains("outputs");
  KILN_TRY(const Json outputs, List(json, "outputs", "the frame"));
  for (const Json& item : outputs) {
    if (!item.is_string()) {
      return Malformed("'outputs' has an item that is no name");
    }
    out.outputs.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace kiln::graph
