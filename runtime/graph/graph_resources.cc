// SPDX-License-Identifier: MIT
// Graph: textures and buffers, brought to what they have in common.
#include <fmt/format.h>

#include "runtime/graph/formats.h"
#include "runtime/graph/graph.h"

namespace kiln::graph {
namespace {

ChainRow TextureRow(const TextureDesc& desc, Object object) {
  ChainRow row{};
  row.kind = ResourceKind::kTexture;
  row.object = object;
  row.type = desc.type;
  row.format = desc.format;
  row.extent = desc.size;
  row.mips = desc.mips;
  row.layers = desc.layers;
  row.samples = desc.samples;
  row.usage = desc.extra_usage;
  row.flags = desc.flags;
  row.aspects = AspectsOfFormat(desc.format);
  row.previous = kNone;
  row.acquire = kNone;
  return row;
}

ChainRow BufferRow(const BufferDesc& desc, Object object) {
  ChainRow row{};
  row.kind = ResourceKind::kBuffer;
  row.object = object;
  row.size = desc.size;
  row.mips = 1;
  row.layers = 1;
  row.samples = 1;
  row.memory = desc.memory;
  row.previous = kNone;
  row.acquire = kNone;
  return row;
}

}  // namespace

template <class Id>
Id Graph::MakeId(uint32_t version) const {
  Id id;
  id.index = version;
  id.frame = rows_.frame;
  id.temporal = version < rows_.versions.size() ? rows_.versions[version].temporal : 0U;
  return id;
}

TextureId Graph::CreateTexture(PassId pass, const TextureCreate& create, Where where) {
  return MakeId<TextureId>(Create(pass,
                                  {.name = create.name,
                                   .chain = TextureRow(create.desc, Object::kTransient),
                                   .access = create.access,
                                   .contents = create.contents,
                                   .keep = create.keep},
                                  where));
}

void Graph::ReadTexture(PassId pass, const TextureRead& read, Where where) {
  Read(pass, HandleOf(read.texture), read.access, where);
}

TextureId Graph::WriteTexture(PassId pass, const TextureWrite& write, Where where) {
  return MakeId<TextureId>(Write(pass,
                                 {.name = write.name,
                                  .old = HandleOf(write.texture),
                                  .access = write.access,
                                  .discard = write.discard,
                                  .keep = write.keep},
                                 where));
}

TextureId Graph::ImportTexture(const TextureImport& import, Where where) {
  ChainBinding binding;
  binding.image = import.image;
  binding.view = import.view;
  return MakeId<TextureId>(Import({.name = import.name,
                                   .chain = TextureRow(import.desc, Object::kImported),
                                   .state = import.state,
                                   .binding = binding,
                                   .acquire = import.acquire},
                                  where));
}

TextureId Graph::HistoryTexture(const TextureHistory& history, Where where) {
  const ChainRow chain = TextureRow(history.desc, Object::kHistory);
  if (!CheckDescription(chain, history.name, kNone, where)) {
    return MakeId<TextureId>(kPoisoned);
  }
  ChainBinding binding;
  binding.clear = history.initial;
  return MakeId<TextureId>(History(history.name, chain, binding, HandleOf(history.previous)));
}

void Graph::ExportTexture(TextureId texture, const Access& final_state, Where where) {
  Export(HandleOf(texture), final_state, where);
}

BufferId Graph::CreateBuffer(PassId pass, const BufferCreate& create, Where where) {
  return MakeId<BufferId>(Create(pass,
                                 {.name = create.name,
                                  .chain = BufferRow(create.desc, Object::kTransient),
                                  .access = create.access,
                                  .contents = create.contents,
                                  .keep = create.keep},
                                 where));
}

void Graph::ReadBuffer(PassId pass, const BufferRead& read, Where where) {
  Read(pass, HandleOf(read.buffer), read.access, where);
}

BufferId Graph::WriteBuffer(PassId pass, const BufferWrite& write, Where where) {
  return MakeId<BufferId>(Write(pass,
                                {.name = write.name,
                                 .old = HandleOf(write.buffer),
                                 .access = write.access,
                                 .discard = write.discard,
                                 .keep = write.keep},
                                where));
}

BufferId Graph::ImportBuffer(const BufferImport& import, Where where) {
  ChainBinding binding;
  binding.buffer = import.buffer;
  binding.offset = import.offset;
  return MakeId<BufferId>(Import({.name = import.name,
                                  .chain = BufferRow(import.desc, Object::kImported),
                                  .state = import.state,
                                  .binding = binding,
                                  .acquire = import.acquire},
                                 where));
}

BufferId Graph::HistoryBuffer(const BufferHistory& history, Where where) {
  const ChainRow chain = BufferRow(history.desc, Object::kHistory);
  if (!CheckDescription(chain, history.name, kNone, where)) {
    return MakeId<BufferId>(kPoisoned);
  }
  if (history.desc.memory != MemoryKind::kDevice) {
    Fail("TEMPORAL_KIND", fmt::format("'{}' lies in host memory and has no history", history.name),
         kNone, kNone, where);
    return MakeId<BufferId>(kPoisoned);
  }
  ChainBinding binding;
  binding.clear.color.uint32[0] = history.initial;
  return MakeId<BufferId>(History(history.name, chain, binding, HandleOf(history.previous)));
}

void Graph::ExportBuffer(BufferId buffer, const Access& final_state, Where where) {
  Export(HandleOf(buffer), final_state, where);
}

void Graph::MarkOutput(TextureId texture, Where where) { Output(HandleOf(texture), where); }
void Graph::MarkOutput(BufferId buffer, Where where) { Output(HandleOf(buffer), where); }

}  // namespace kiln::graph
