// SPDX-License-Identifier: MIT
// The records of metadata that describe declarations (vertex inputs, resources of descriptor sets,
// the push constant, fields of state): each function writes the fields of one message. Which
// records there are, and in which order, is decided in write.cc.
#pragma once

#include <span>

#include "compiler/emit/metadata/usage.h"
#include "compiler/emit/metadata/wire.h"
#include "compiler/emit/metadata/write.h"

namespace kiln::metadata {

struct RecordContext {
  const ir::SpecialisedProgram& variant;
  const layout::Layout& layout;
  layout::TypeLayouts& types;
  // Null: only what the layout hash covers is written, so no stages, spans and comparisons.
  const Usage* usage = nullptr;
  std::span<const ModuleFacts> spans_of = {};  // empty: no spans
  // A record that would have more bytes is not written to its end, and has more all the same.
  uint64_t most = kNoLimit;

  const ir::Pool& pool() const { return *variant.pool; }
};

void WriteSource(const RecordContext& context, const ir::SpecialisedDecl& container,
                 WireWriter& out);
// The same of a vertex buffer of an entry point with an interface of its own.
void WriteEntrySource(const RecordContext& context, const layout::VertexSource& source,
                      WireWriter& out);
void WriteBuffer(const RecordContext& context, const ir::SpecialisedDecl& buffer, WireWriter& out);
void WriteSampler(const RecordContext& context, const ir::SpecialisedDecl& sampler,
                  WireWriter& out);
// `sampler` is combined with the image in one descriptor, or null.
void WriteImage(const RecordContext& context, const ir::SpecialisedDecl& image,
                const ir::SpecialisedDecl* sampler, WireWriter& out);
void WritePushConstant(const RecordContext& context, const ir::SpecialisedDecl& block,
                       WireWriter& out);
void WriteStateField(const RecordContext& context, const ir::SpecialisedDecl& container,
                     const ir::SpecialisedMember& field, WireWriter& out);

// What two stages exchange in a row of their interfaces, or in an item of a row that is an array.
struct StateRow {
  const ir::InterfaceRow* row = nullptr;
  ir::TypeId type{};
  uint32_t item = ir::kNoRow;
  uint32_t location = 0;
  bool written = false;
  bool read = false;
};
void WriteStateRow(const RecordContext& context, const StateRow& state, WireWriter& out);

// Stages of a declaration, one bit for each ir::Stage; 0 without usage.
uint32_t StagesOf(const RecordContext& context, ir::DeclId decl);

// Field `field` of a record, with the span of its declaration.
void WriteSpan(const RecordContext& context, uint32_t field, const ir::Origin& origin,
               WireWriter& out);
void WriteTags(const RecordContext& context, uint32_t field, std::span<const ir::StringId> tags,
               WireWriter& out);

}  // namespace kiln::metadata
