// SPDX-License-Identifier: MIT
// JSON text -> FrameDescription: names become masks, layouts and formats.
#include "runtime/graph/file/parse_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/graph/formats.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

// One reason for all faults of the file; the text says which.
Error Malformed(std::string context) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = std::move(context),
          .reason = "MALFORMED_FILE"};
}

// The member, or null if it is absent or null.
const Json* Member(const Json& object, const char* member) {
  const auto found = object.find(member);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// An absent member and a null one mean the same, as several writers of JSON put null for nothing.
Result<std::string> TextOr(const Json& object, const char* member, std::string_view fallback,
                           std::string_view where) {
  const Json* found = Member(object, member);
  if (found == nullptr) {
    return std::string(fallback);
  }
  if (!found->is_string()) {
    return Malformed(fmt::format("'{}' of {} is no text", member, where));
  }
  return found->get<std::string>();
}

Result<std::string> TextMember(const Json& object, const char* member, std::string_view where) {
  if (Member(object, member) == nullptr) {
    return Malformed(fmt::format("{} has no text '{}'", where, member));
  }
  return TextOr(object, member, "", where);
}

// A whole number up to `largest`.
Result<uint64_t> NumberOr(const Json& object, const char* member, uint64_t fallback,
                          uint64_t largest, std::string_view where) {
  const Json* found = Member(object, member);
  if (found == nullptr) {
    return fallback;
  }
  std::optional<uint64_t> value;
  // Negative numbers are neither of the two kinds and are refused below.
  if (found->is_number_unsigned()) {
    value = found->get<uint64_t>();
  } else if (found->is_number_float()) {  // 4096.0, 1e6
    const double number = found->get<double>();
    // Above this number doubles leave integers out, and what was meant is uncertain.
    constexpr double kExact = 9007199254740992.0;
    if (number >= 0 && number <= kExact && std::floor(number) == number) {
      // Tools of other languages write whole numbers as floats.
      value = static_cast<uint64_t>(number);
    }
  }
  if (!value.has_value() || *value > largest) {
    return Malformed(
        fmt::format("'{}' of {} is no whole number from 0 to {}", member, where, largest));
  }
  return *value;
}

Result<uint32_t> SmallOr(const Json& object, const char* member, uint32_t fallback,
                         std::string_view where) {
  KILN_TRY(const uint64_t value, NumberOr(object, member, fallback, 0xFFFFFFFF, where));
  return static_cast<uint32_t>(value);
}

Result<bool> FlagOf(const Json& object, const char* member, std::string_view where) {
  const Json* found = Member(object, member);
  if (found != nullptr && !found->is_boolean()) {
    return Malformed(fmt::format("'{}' of {} is neither true nor false", member, where));
  }
  return found != nullptr && found->get<bool>();
}

// A list member as an array; absent is empty.
// A copy of the list, as absent lists need something to give back.
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
Result<std::string> NamesOf(const Json& object, std::initializer_list<const char*> members,
                            std::string_view where) {
  // The first member that is there: singular and plural are both accepted.
  for (const char* member : members) {
    const Json* found = Member(object, member);
    if (found == nullptr) {
      continue;
    }
    if (found->is_string()) {
      return found->get<std::string>();
    }
    std::string joined;
    for (size_t i = 0; found->is_array() && i < found->size(); ++i) {
      const Json& item = (*found)[i];
      // A list means the same as its names joined by bars, so both are read by one function.
      joined += joined.empty() ? "" : "|";
      // What is no text becomes a name that Vulkan does not have, and is refused as such with the
      // place.
      joined += item.is_string() ? item.get<std::string>() : std::string("?");
    }
    if (!found->is_array()) {
      return Malformed(fmt::format("'{}' of {} is neither text nor a list", member, where));
    }
    return joined;
  }
  return std::string();
}

Result<Stages> ParseStageMember(const Json& object, std::initializer_list<const char*> members,
                                std::string_view where) {
  KILN_TRY(const std::string names, NamesOf(object, members, where));
  const std::optional<Stages> stages = ParseStages(names);
  if (!stages.has_value()) {
    return Malformed(fmt::format("{} names stages '{}', which Vulkan does not have", where, names));
  }
  return *stages;
}

Result<Accesses> ParseAccessMember(const Json& object, std::initializer_list<const char*> members,
                                   std::string_view where) {
  KILN_TRY(const std::string names, NamesOf(object, members, where));
  const std::optional<Accesses> accesses = ParseAccesses(names);
  if (!accesses.has_value()) {
    return Malformed(
        fmt::format("{} names accesses '{}', which Vulkan does not have", where, names));
  }
  return *accesses;
}

Result<VkImageLayout> ParseLayoutName(const Json& object, const char* member,
                                      std::string_view where) {
  // Without a layout the graph chooses the one that the access needs.
  KILN_TRY(const std::string name, TextOr(object, member, "UNDEFINED", where));
  const std::optional<VkImageLayout> layout = ParseLayout(name);
  if (!layout.has_value()) {
    return Malformed(fmt::format("{} names layout '{}', which Vulkan does not have", where, name));
  }
  return *layout;
}

// Counts are clamped below kWhole, which has a meaning of its own; a clamped range is outside of
// every texture and is refused where it is declared.
Result<Range> ParseRange(const Json& object, std::string_view where) {
  Range range;
  const auto edge = [&](const char* member, uint16_t fallback) -> Result<uint16_t> {
    if (Member(object, member) == nullptr) {
      return fallback;
    }
    KILN_TRY(const uint64_t value, NumberOr(object, member, 0, ~uint64_t{0}, where));
    // More than any texture has: out of bounds, and not the whole.
    return static_cast<uint16_t>(std::min<uint64_t>(value, kWhole - 1));
  };
  // A first level without a count means this level alone; without both, all levels are meant.
  const auto several = [&](const char* first, const char* count) {
    return Member(object, first) == nullptr || Member(object, count) != nullptr ? kWhole
                                                                                : uint16_t{1};
  };
  KILN_TRY(range.mip, edge("mip", 0));
  KILN_TRY(range.mips, edge("mips", several("mip", "mips")));
  KILN_TRY(range.layer, edge("layer", 0));
  KILN_TRY(range.layers, edge("layers", several("layer", "layers")));
  KILN_TRY(const std::string aspects, NamesOf(object, {"aspect", "aspects"}, where));
  // Aspects are few and have no table: three words and the bar.
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

// All parts may be left out; the graph completes them as it does for code.
Result<Access> ParseAccess(const Json& object, std::string_view where) {
  Access access;
  KILN_TRY(access.stages, ParseStageMember(object, {"stage", "stages"}, where));
  KILN_TRY(access.accesses, ParseAccessMember(object, {"access", "accesses"}, where));
  KILN_TRY(access.layout, ParseLayoutName(object, "layout", where));
  KILN_TRY(access.range, ParseRange(object, where));
  return access;
}

// A texture that states bytes instead of an extent is a row of texels. For files of other engines
// that know sizes but no extents; only the memory matters for such a row.
void StateBytes(TextureDesc& desc, uint64_t bytes) {
  const std::optional<FormatInfo> info = InfoOf(desc.format);
  const uint64_t texel = info.has_value() && info->bytes != 0 ? info->bytes : 1;
  // Rounded up, so that all the bytes have a place.
  const uint64_t texels = bytes / texel + (bytes % texel != 0 ? 1 : 0);
  constexpr uint32_t kLargest = 0xFFFFFFFF;  // more than that is above every limit
  desc.size = texels > kLargest ? VkExtent3D{kLargest, kLargest, 1}
                                : VkExtent3D{static_cast<uint32_t>(texels), 1, 1};
}

// A name, or the number that is written for a format without one. Another text stays UNDEFINED,
// which no texture has, and is kept for the message.
void TakeFormat(const std::string& text, FileResource& out) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (const std::optional<VkFormat> format = ParseFormat(text); format.has_value()) {
    out.texture.format = *format;
  } else if (error == std::errc() && rest == end && number >= 0) {
    out.texture.format = static_cast<VkFormat>(number);
  } else if (text != "UNDEFINED" && text != "VK_FORMAT_UNDEFINED") {
    out.unknown_format = text;
  }
}

Result<void> ParseTexture(const Json& object, std::string_view where, FileResource& out) {
  KILN_TRY(const std::string format, TextOr(object, "format", "", where));
  TextureDesc& desc = out.texture;
  if (!format.empty()) {
    TakeFormat(format, out);
  }
  // Either an extent or bytes describe a texture; without both it is that of what it is the past
  // of.
  const bool bytes = Member(object, "bytes") != nullptr;
  const bool extent = Member(object, "width") != nullptr || Member(object, "height") != nullptr;
  out.described = extent || bytes;
  KILN_TRY(desc.size.width, SmallOr(object, "width", 0, where));
  // A width alone is a texture of one row.
  KILN_TRY(desc.size.height, SmallOr(object, "height", extent ? 1 : 0, where));
  KILN_TRY(desc.size.depth, SmallOr(object, "depth", 1, where));
  desc.type = desc.size.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
  KILN_TRY(desc.mips, SmallOr(object, "mips", 1, where));
  KILN_TRY(desc.layers, SmallOr(object, "layers", 1, where));
  KILN_TRY(const uint32_t samples, SmallOr(object, "samples", 1, where));
  // A power of two, as the bits of Vulkan are.
  if (samples == 0 || samples > 64 || (samples & (samples - 1)) != 0) {
    return Malformed(fmt::format("{} has {} samples", where, samples));
  }
  desc.samples = static_cast<VkSampleCountFlagBits>(samples);
  if (!extent && bytes) {
    desc.format = format.empty() ? VK_FORMAT_R8_UNORM : desc.format;
    KILN_TRY(const uint64_t count, NumberOr(object, "bytes", 0, ~uint64_t{0}, where));
    StateBytes(desc, count);
  }
  return {};
}

// The members of a resource follow spec/graph; unknown ones are ignored, so that tools may add
// their own.
Result<FileResource> ParseResource(const Json& object) {
  if (!object.is_object()) {
    return Malformed("'resources' has an item that is no object");
  }
  FileResource out;
  KILN_TRY(out.name, TextMember(object, "name", "a resource"));
  const std::string where = fmt::format("resource '{}'", out.name);
  // Textures are what most frames consist of.
  KILN_TRY(const std::string kind, TextOr(object, "kind", "texture", where));
  if (kind != "texture" && kind != "buffer") {
    return Malformed(fmt::format("{} has kind '{}', not texture or buffer", where, kind));
  }
  out.kind = kind == "texture" ? ResourceKind::kTexture : ResourceKind::kBuffer;
  if (out.kind == ResourceKind::kTexture) {
    KILN_TRY_VOID(ParseTexture(object, where, out));
  } else {
    KILN_TRY(out.buffer.size, NumberOr(object, "bytes", 0, ~uint64_t{0}, where));
    out.described = Member(object, "bytes") != nullptr;
  }
  KILN_TRY(const std::string heap, TextOr(object, "heap", "", where));
  if (!heap.empty() && heap != "upload" && heap != "readback" && heap != "device") {
    return Malformed(fmt::format("{} has heap '{}', not upload or readback", where, heap));
  }
  out.buffer.memory = heap == "upload"     ? MemoryKind::kUpload
                      : heap == "readback" ? MemoryKind::kReadback
                                           : MemoryKind::kDevice;
  KILN_TRY(out.imported, FlagOf(object, "imported", where));
  KILN_TRY(out.state.layout, ParseLayoutName(object, "initial_layout", where));
  KILN_TRY(out.state.stages, ParseStageMember(object, {"initial_stage", "initial_stages"}, where));
  KILN_TRY(out.state.accesses,
           ParseAccessMember(object, {"initial_access", "initial_accesses"}, where));
  KILN_TRY(out.previous, TextOr(object, "from_previous_frame", "", where));
  return out;
}

// One function for the three lists of a pass. Which list an access stands in decides what it does;
// the members are the same.
Result<std::vector<FileAccess>> FileAccesses(const Json& pass, const char* member,
                                             std::string_view where) {
  std::vector<FileAccess> out;
  KILN_TRY(const Json list, List(pass, member, where));
  for (const Json& item : list) {
    if (!item.is_object()) {
      return Malformed(fmt::format("'{}' of {} has an item that is no object", member, where));
    }
    FileAccess access;
    // A write has two names, the version that it overwrites and the one that it makes.
    const bool write = item.contains("old") || item.contains("new");
    KILN_TRY(access.resource, TextMember(item, write ? "old" : "resource", where));
    const std::string here = fmt::format("{}, '{}',", where, access.resource);
    if (write) {
      KILN_TRY(access.result, TextMember(item, "new", here));
    }
    KILN_TRY(access.access, ParseAccess(item, here));
    KILN_TRY(access.temporal, FlagOf(item, "temporal", here));
    KILN_TRY(access.discard, FlagOf(item, "discard", here));
    // What a pass creates, it fills, unless the file says otherwise.
    KILN_TRY(const std::string contents, TextOr(item, "contents", "written", here));
    if (contents != "written" && contents != "clear" && contents != "undefined") {
      return Malformed(
          fmt::format("{} has contents '{}', not written, clear or undefined", here, contents));
    }
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
    KILN_TRY(use.semaphore, TextMember(item, "semaphore", where));
    KILN_TRY(use.value, NumberOr(item, "value", 0, ~uint64_t{0}, where));
    KILN_TRY(use.stages, ParseStageMember(item, {"stage", "stages"}, where));
    out.push_back(std::move(use));
  }
  return out;
}

std::optional<PassKind> ParsePassKind(std::string_view name) {
  // Three spellings that are in use.
  if (name == "transition" || name == "transition only" || name == "transition_only") {
    return PassKind::kTransition;
  }
  return name == "graphics"   ? std::optional(PassKind::kGraphics)
         : name == "compute"  ? std::optional(PassKind::kCompute)
         : name == "transfer" ? std::optional(PassKind::kTransfer)
         : name == "host"     ? std::optional(PassKind::kHost)
                              : std::nullopt;
}

// Only the shape of the file is checked here. Names are looked up when the graph is built, with the
// messages that an engine gets too.
Result<FilePass> ParsePass(const Json& object) {
  if (!object.is_object()) {
    return Malformed("'passes' has an item that is no object");
  }
  FilePass out;
  KILN_TRY(out.name, TextMember(object, "name", "a pass"));
  const std::string where = fmt::format("pass '{}'", out.name);
  // The usual kind of pass needs no word.
  KILN_TRY(const std::string type, TextOr(object, "type", "graphics", where));
  const std::optional<PassKind> kind = ParsePassKind(type);
  if (!kind.has_value()) {
    return Malformed(fmt::format("{} has type '{}'", where, type));
  }
  out.kind = *kind;
  KILN_TRY(out.side_effect, FlagOf(object, "side_effect", where));
  KILN_TRY(out.reads, FileAccesses(object, "reads", where));
  KILN_TRY(out.creates, FileAccesses(object, "creates", where));
  KILN_TRY(out.writes, FileAccesses(object, "writes", where));
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

// The first thing that is wrong ends the reading, with the place in words: files are written by
// hand or by tools, and either wants to know where.
Result<FrameDescription> ParseFrame(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return Malformed("the file is no JSON object");
  }
  FrameDescription out;
  // Frames are planned one by one; more than that is a typing mistake.
  constexpr uint64_t kMaxFrames = 10'000;
  KILN_TRY(const uint64_t frames, NumberOr(json, "frames", 1, kMaxFrames, "the frame"));
  // Zero frames would plan nothing, so one is planned.
  out.frames = static_cast<uint32_t>(std::max<uint64_t>(frames, 1));
  KILN_TRY(const Json resources, List(json, "resources", "the frame"));
  std::map<std::string, bool> imported;  // by name
  for (const Json& item : resources) {
    KILN_TRY(FileResource resource, ParseResource(item));
    const auto [other, added] = imported.emplace(resource.name, resource.imported);
    // A name twice would leave open which description counts.
    if (!added && !(other->second && resource.imported)) {  // two imports are IMPORTED_TWICE
      return Malformed(fmt::format("resource '{}' stands twice in 'resources'", resource.name));
    }
    out.resources.push_back(std::move(resource));
  }
  KILN_TRY(const Json passes, List(json, "passes", "the frame"));
  for (const Json& item : passes) {
    KILN_TRY(FilePass pass, ParsePass(item));
    out.passes.push_back(std::move(pass));
  }
  // Without a list every result is an output, which is not the same as an empty list.
  out.lists_outputs = Member(json, "outputs") != nullptr;
  KILN_TRY(const Json outputs, List(json, "outputs", "the frame"));
  for (const Json& item : outputs) {
    if (!item.is_string()) {
      return Malformed("'outputs' has an item that is no name");
    }
    out.outputs.push_back(item.get<std::string>());
  }
  return out;
}

// Told after parsing and for all resources at once, since a format of another engine is mostly
// missing in more than one place.
std::vector<GraphError> UnknownFormats(const FrameDescription& description) {
  std::vector<GraphError> errors;
  for (const FileResource& resource : description.resources) {
    if (resource.unknown_format.empty()) {
      continue;
    }
    const std::string_view closest = ClosestFormat(resource.unknown_format);
    GraphError error;
    error.code = "UNSUPPORTED_FORMAT";
    error.message =
        fmt::format("UNSUPPORTED_FORMAT: '{}' has format '{}', which kiln does not know{}",
                    resource.name, resource.unknown_format,
                    closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest));
    error.resources = {resource.name};
    errors.push_back(std::move(error));
  }
  return errors;
}

}  // namespace kiln::graph
