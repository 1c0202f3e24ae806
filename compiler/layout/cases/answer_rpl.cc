// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/answer_rpl.h"

#include <string>
#include <utility>

#include "compiler/layout/cases/case_program.h"
#include "compiler/layout/cases/records.h"
#include "compiler/layout/reflection/dump.h"

namespace kiln::layout {
namespace {

// RPL is compiled for these two.
constexpr Platform kRplPlatforms[] = {Platform::kVulkan, Platform::kWebgpu};

// What a case file expects of one block: rules, and sizes where it ends in an array.
Json DescribeBlock(const PlacedLeaf& leaf, ByteLayouts& bytes) {
  const TypeLayout& layout = bytes.Of(leaf.content, *leaf.rules);
  Json described = {{"rules", TraitsOf(*leaf.rules).name}};
  // Offsets are told only with a tail: for blocks of fixed size the section `layout` has them.
  if (layout.unsized) {
    described["offsets"] = layout.offsets;
    described["tail_offset"] = layout.size;
    described["tail_stride"] = layout.tail_stride;
  }
  described["main_size"] = MainSize(layout);
  return described;
}

// Fields of the declaration and places of the layout are two lists of one order.
Json DescribeVertexBuffer(const PlacedContainer& placed, const Container& container) {
  Json fields = Json::array();
  for (size_t i = 0; i < placed.fields.size(); ++i) {
    const PackedPlace& place = placed.fields[i];
    fields.push_back({{"name", container.fields[i].name},
                      {"offset", place.offset},
                      {"size", place.size},
                      {"format", ItemFormatText(container.fields[i].format)},
                      {"location", place.location},
                      {"count", place.location_count}});
  }
  return {{"name", placed.name},
          {"binding", placed.binding},
          {"rate", placed.role == ContainerRole::kInstance ? "instance" : "vertex"},
          {"size", placed.size},
          {"fields", std::move(fields)}};
}

// The parts that Vulkan's answer has besides bindings; each only if there is something in it.
void AddContainers(const Program& program, const ProgramLayout& layout, Json& described) {
  Json buffers = Json::array();
  Members state;
  Members color;
  // Placed containers come in the order of the declarations, over all units.
  size_t next = 0;
  for (const Unit& unit : program.units) {
    for (const Container& container : unit.containers) {
      const PlacedContainer& placed = layout.containers[next++];
      if (placed.role == ContainerRole::kVertex || placed.role == ContainerRole::kInstance) {
        buffers.push_back(DescribeVertexBuffer(placed, container));
        continue;
      }
      // State and colours have locations only and are written as one line for each field.
      Members& part = placed.role == ContainerRole::kState ? state : color;
      for (size_t i = 0; i < placed.fields.size(); ++i) {
        part.Add(container.fields[i].name, placed.fields[i].location);
      }
    }
  }
  if (!buffers.empty()) {
    described["vertex_buffers"] = std::move(buffers);
  }
  if (!state.empty()) {
    described["state"] = std::move(state).Take();
  }
  if (!color.empty()) {
    described["color"] = std::move(color).Take();
  }
}

// One platform: errors, or bindings, blocks and containers.
Json Describe(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes) {
  if (!layout.ok()) {
    return DescribeErrors(layout);
  }
  Members bindings;
  Members blocks;
  for (const PlacedParameter& parameter : layout.parameters) {
    for (const PlacedLeaf& leaf : parameter.leaves) {
      bindings.Add(leaf.path, PlacesText(program.platform, leaf));
      if (leaf.content.valid()) {
        blocks.Add(leaf.path, DescribeBlock(leaf, bytes));
      }
    }
  }
  Json described = Json::object();
  if (!bindings.empty()) {
    described["bindings"] = std::move(bindings).Take();
  }
  // Bytes are told once, by the answer of Vulkan.
  if (program.platform == Platform::kVulkan) {
    if (!blocks.empty()) {
      described["blocks"] = std::move(blocks).Take();
    }
    AddContainers(program, layout, described);
  }
  return described;
}

}  // namespace

// The answer is computed anew, for comparing and for updating case files.
Result<Json> AnswerRpl(const Json& item) {
  CaseModules modules;
  KILN_TRY_VOID(modules.Read(item));
  Json expect = Json::object();
  for (const Platform platform : kRplPlatforms) {
    const ProgramLayout layout = modules.LayOutFor(platform);
    Json described = Describe(modules.program(), layout, modules.bytes());
    // A platform without anything to say has no member, which keeps the files short.
    if (!described.empty()) {
      expect[std::string(PlatformName(platform))] = std::move(described);
    }
  }
  return expect;
}

// The same as text, for people.
Result<std::string> DumpRpl(const Json& item) {
  CaseModules modules;
  KILN_TRY_VOID(modules.Read(item));
  std::string text;
  for (const Platform platform : kRplPlatforms) {
    const ProgramLayout layout = modules.LayOutFor(platform);
    text += Dump(modules.program(), layout, modules.bytes());
  }
  return text;
}

}  // namespace kiln::layout
