// SPDX-License-Identifier: MIT
// What a frame declares. Names are copied by the graph; what is wrong about a declaration is
// recorded there and told when the frame is executed.
#include "runtime/c/frame_declarations.h"

#include <algorithm>
#include <cstring>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/frame_graph.h"
#include "runtime/graph/read_back.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// A zero in a struct means the default, which is one for all sizes and counts of a texture.
uint32_t AtLeastOne(uint32_t number) { return std::max(number, 1U); }

Result<graph::TextureDesc> DescOf(const kiln_texture_info& info) {
  KILN_TRY_VOID(CheckNumber(info.type, VK_IMAGE_TYPE_3D, "info.type"));
  graph::TextureDesc desc;
  // The type of a zeroed struct is 1D, which nobody means by a texture of two sizes.
  desc.type = info.type == VK_IMAGE_TYPE_1D && info.height > 1 ? VK_IMAGE_TYPE_2D : info.type;
  desc.format = info.format;
  desc.size = {AtLeastOne(info.width), AtLeastOne(info.height), AtLeastOne(info.depth)};
  desc.mips = AtLeastOne(info.mips);
  desc.layers = AtLeastOne(info.layers);
  if (info.samples != 0) {
    desc.samples = info.samples;
  }
  desc.extra_usage = info.extra_usage;
  return desc;
}

Result<graph::Contents> ContentsOf(kiln_contents contents, const VkClearValue& clear) {
  KILN_TRY_VOID(CheckNumber(contents, KILN_CONTENTS_ALL_WRITTEN, "info.contents"));
  // The enumerators of both sides have the same order, so a number in range is a right one.
  return graph::Contents{static_cast<graph::ContentKind>(contents), clear};
}

// The name is a view of the caller's text and lives for the call; the graph copies what it keeps.
// Both kinds of a buffer, made and imported, take the same words.
struct BufferWords {
  std::string_view name;
  graph::BufferDesc desc;
};

Result<BufferWords> WordsOf(const kiln_buffer_info& info) {
  KILN_TRY(const std::string_view name, TakeText(info.name, "info.name"));
  KILN_TRY_VOID(CheckNumber(info.memory, KILN_MEMORY_READBACK, "info.memory"));
  return BufferWords{name, {info.size, static_cast<graph::MemoryKind>(info.memory)}};
}

}  // namespace

namespace kiln::c {

// A handle is two words in C. The frame of the graph has 31 bits, so the upper bit of its word is
// free for the flag of a temporal resource.
// Ids are numbers in C and can be forged or kept too long; the graph compares frame and index with
// what it gave, so a wrong one is an error that it reports.
kiln_texture ToC(graph::TextureId id) { return {id.index, id.frame | uint32_t{id.temporal} << 31}; }
graph::TextureId FromC(kiln_texture texture) {
  return {texture.index, texture.frame & 0x7fff'ffffU, texture.frame >> 31};
}
kiln_buffer ToC(graph::BufferId id) { return {id.index, id.frame | uint32_t{id.temporal} << 31}; }
graph::BufferId FromC(kiln_buffer buffer) {
  return {buffer.index, buffer.frame & 0x7fff'ffffU, buffer.frame >> 31};
}
graph::PassId FromC(kiln_pass pass) { return {pass.index, pass.frame}; }
// An access of C has no range: it is of the whole texture. Reading a part of a texture is for users
// of the C++ interface.
graph::Access FromC(const kiln_access& access) {
  return {
      .stages = access.stages, .accesses = access.accesses, .layout = access.layout, .range = {}};
}

}  // namespace kiln::c

kiln_result kiln_graph_add_pass(kiln_graph* graph, const kiln_pass_info* info, kiln_pass* pass,
                                kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_pass_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(pass, "pass"));
    KILN_TRY(const std::string_view name, TakeText(given.name, "info.name"));
    KILN_TRY_VOID(CheckNumber(given.kind, KILN_PASS_HOST, "info.kind"));
    // A number that is checked, because a bool of C++ with another value than 0 and 1 is undefined.
    KILN_TRY_VOID(CheckNumber(given.side_effect, 1, "info.side_effect"));
    const graph::PassId made =
        graph->graph.CreatePass({.name = name,
                                 .kind = static_cast<graph::PassKind>(given.kind),
                                 .side_effect = given.side_effect != 0});
    // A pass without a callback is allowed: it may stand for its accesses only.
    if (given.record != nullptr) {
      // The graph outlives its callbacks, so it may be captured by its address.
      graph->graph.SetCallback(made, [record = given.record, user = given.record_user, graph](
                                         runtime::Device&, const graph::Resources& resources,
                                         graph::CommandBuffer& commands) {
        // The frame lives on the stack during the callback only, and the header says so.
        kiln_frame frame;
        frame.context = graph->context;
        frame.resources = &resources;
        frame.commands = &commands;
        record(user, &frame);
      });
    }
    *pass = {made.index, made.frame};
    return {};
  });
}

kiln_result kiln_graph_create_texture(kiln_graph* graph, kiln_pass pass,
                                      const kiln_texture_info* info, kiln_access access,
                                      kiln_texture* texture, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_texture_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(texture, "texture"));
    KILN_TRY(const std::string_view name, TakeText(given.name, "info.name"));
    KILN_TRY(const graph::TextureDesc desc, DescOf(given));
    KILN_TRY(const graph::Contents contents, ContentsOf(given.contents, given.clear));
    *texture = ToC(graph->graph.CreateTexture(
        FromC(pass),
        {.name = name, .desc = desc, .access = FromC(access), .contents = contents, .keep = {}}));
    return {};
  });
}

// The state is the one that the image has when the frame begins; a wrong one is a race that only
// validation sees.
kiln_result kiln_graph_import_texture(kiln_graph* graph, const kiln_texture_info* info,
                                      kiln_access state, kiln_texture* texture,
                                      kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_texture_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(texture, "texture"));
    KILN_TRY(const std::string_view name, TakeText(given.name, "info.name"));
    KILN_TRY(const graph::TextureDesc desc, DescOf(given));
    *texture = ToC(graph->graph.ImportTexture({.name = name,
                                               .desc = desc,
                                               .image = given.image,
                                               .view = given.view,
                                               .state = FromC(state)}));
    return {};
  });
}

kiln_result kiln_graph_read_texture(kiln_graph* graph, kiln_pass pass, kiln_texture texture,
                                    kiln_access access, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    graph->graph.ReadTexture(FromC(pass), {FromC(texture), FromC(access)});
    return {};
  });
}

// A write gives a new id for what the texture then holds; the old one goes on meaning what was
// there before.
kiln_result kiln_graph_write_texture(kiln_graph* graph, kiln_pass pass, kiln_texture texture,
                                     kiln_access access, kiln_texture* written,
                                     kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY_VOID(NotNull(written, "written"));
    *written = ToC(graph->graph.WriteTexture(
        FromC(pass), {.name = {}, .texture = FromC(texture), .access = FromC(access), .keep = {}}));
    return {};
  });
}

// Without an export nobody outside may use the texture after the frame.
kiln_result kiln_graph_export_texture(kiln_graph* graph, kiln_texture texture, kiln_access state,
                                      kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    graph->graph.ExportTexture(FromC(texture), FromC(state));
    return {};
  });
}

kiln_result kiln_graph_create_buffer(kiln_graph* graph, kiln_pass pass,
                                     const kiln_buffer_info* info, kiln_access access,
                                     kiln_buffer* buffer, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_buffer_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(buffer, "buffer"));
    KILN_TRY(const BufferWords words, WordsOf(given));
    KILN_TRY(const graph::Contents contents, ContentsOf(given.contents, {}));
    *buffer = ToC(graph->graph.CreateBuffer(FromC(pass), {.name = words.name,
                                                          .desc = words.desc,
                                                          .access = FromC(access),
                                                          .contents = contents,
                                                          .keep = {}}));
    return {};
  });
}

kiln_result kiln_graph_import_buffer(kiln_graph* graph, const kiln_buffer_info* info,
                                     kiln_access state, kiln_buffer* buffer, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_buffer_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(buffer, "buffer"));
    KILN_TRY(const BufferWords words, WordsOf(given));
    *buffer = ToC(graph->graph.ImportBuffer({.name = words.name,
                                             .desc = words.desc,
                                             .buffer = given.buffer,
                                             .offset = given.offset,
                                             .state = FromC(state)}));
    return {};
  });
}

kiln_result kiln_graph_read_buffer(kiln_graph* graph, kiln_pass pass, kiln_buffer buffer,
                                   kiln_access access, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    graph->graph.ReadBuffer(FromC(pass), {FromC(buffer), FromC(access)});
    return {};
  });
}

kiln_result kiln_graph_write_buffer(kiln_graph* graph, kiln_pass pass, kiln_buffer buffer,
                                    kiln_access access, kiln_buffer* written, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY_VOID(NotNull(written, "written"));
    *written = ToC(graph->graph.WriteBuffer(
        FromC(pass), {.name = {}, .buffer = FromC(buffer), .access = FromC(access), .keep = {}}));
    return {};
  });
}

// The description is given a second time; it must be the one that the texture was made with.
kiln_result kiln_graph_read_back(kiln_graph* graph, kiln_texture texture,
                                 const kiln_texture_info* info, kiln_buffer* buffer,
                                 kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const kiln_texture_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(buffer, "buffer"));
    KILN_TRY(const graph::TextureDesc desc, DescOf(given));
    *buffer = ToC(graph::ReadBack(graph->graph, FromC(texture), desc));
    return {};
  });
}
