// SPDX-License-Identifier: MIT
// A block is flattened before it is written: nested members become dotted names, so that whoever
// reads metadata sets a parameter by its name. Fields are written in ascending order of their
// numbers.
#include "compiler/emit/metadata/records.h"

#include <algorithm>
#include <span>
#include <string>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/metadata/fields.h"
#include "compiler/emit/metadata/flatten.h"
#include "compiler/emit/metadata/image_name.h"
#include "compiler/ir/enum_names.h"
#include "compiler/layout/attributes.h"

namespace kiln::metadata {
namespace {

// In the order of the pipeline, which is that of the enumeration.
constexpr ir::Stage kStages[] = {ir::Stage::kVertex, ir::Stage::kFragment, ir::Stage::kCompute};

// "vector3", "matrix4x4": columns, then rows.
std::string ClassText(const ir::Type& type) {
  const auto digit = [](uint8_t number) { return static_cast<char>('0' + number); };
  const bool matrix = type.kind == ir::TypeKind::kMatrix;
  std::string text = matrix ? "matrix" : "vector";
  if (matrix) {
    text += digit(type.columns);
    text += 'x';
  }
  return text += digit(type.rows);
}

// Without usage (for the layout hash) nothing is written.
void WriteStages(const RecordContext& context, uint32_t field, ir::DeclId decl, WireWriter& out) {
  // A stage is a bit, in the order of the enumeration.
  const uint32_t stages = StagesOf(context, decl);
  for (const ir::Stage stage : kStages) {
    if ((stages >> static_cast<uint32_t>(stage) & 1U) != 0) {
      out.TextItem(field, ir::NameOf(stage));
    }
  }
}

// Where an attribute comes from: a field of a container, or a row of an interface.
struct AttributeField {
  std::string name;
  ir::TypeId type;
  std::span<const ir::StringId> tags;
  ir::Origin origin;
};

// `attribute` says where it lies, `field` what the author called it.
void WriteAttribute(const RecordContext& context, const AttributeField& field,
                    const layout::Attribute& attribute, WireWriter& out) {
  out.Text(kAttributeName, field.name);
  out.Number(kAttributeLocation, attribute.location);
  out.Number(kAttributeOffset, attribute.offset);
  out.Text(kAttributeClass, ClassText(context.pool()[field.type]));
  out.Text(kAttributeItemFormat, layout::ItemFormatText(attribute.format));
  WriteTags(context, kAttributeTags, field.tags, out);
  out.Number(kAttributeLocationCount, attribute.location_count);
  out.Number(kAttributeColumnStride, attribute.column_stride);
  WriteSpan(context, kAttributeSpan, field.origin, out);
}

// What both kinds of sources have before their attributes.
void WriteSourceHead(std::string_view name, const layout::VertexSource& source, WireWriter& out) {
  out.Text(kAttributeSourceName, name);
  out.Text(kAttributeSourceRate, source.per_instance ? "instance" : "vertex");
  out.Number(kAttributeSourceBinding, source.binding);
  out.Number(kAttributeSourceBlockSize, source.stride);
}

// One message for each parameter, in the order of their offsets. Tags are those of a member, and so
// as many times there as the struct that has it.
void WriteParameters(const RecordContext& context, uint32_t field,
                     const std::vector<FlatParameter>& parameters, WireWriter& out) {
  for (const FlatParameter& parameter : parameters) {
    CheckStop();
    if (out.bytes().size() > context.most) {
      return;
    }
    out.Message(field, [&] {
      out.Text(kParameterName, parameter.name);
      out.Text(kParameterType, ir::TypeText(context.pool(), parameter.type));
      out.Number(kParameterOffset, parameter.offset);
      out.Number(kParameterTotalItemCount, parameter.item_count);
      // What is not declared in a source has neither tags nor a place.
      if (parameter.member != nullptr) {
        WriteTags(context, kParameterTags, parameter.member->tags, out);
      }
      out.Numbers(kParameterDimensions, parameter.dimensions);
      out.Number(kParameterArrayStride, parameter.array_stride);
      out.Number(kParameterMatrixStride, parameter.matrix_stride);
      if (parameter.member != nullptr) {
        WriteSpan(context, kParameterSpan, parameter.member->origin, out);
      }
    });
  }
}

// Descriptors of an array of buffers or samplers, all dimensions together; zero of a single one.
uint32_t ArraySize(const ir::Pool& pool, ir::TypeId type) {
  uint32_t count = 0;
  for (; pool[type].kind == ir::TypeKind::kArray; type = ir::TypeId{pool[type].element}) {
    count = (count == 0 ? 1 : count) * pool[type].extent;
  }
  return count;
}

}  // namespace

// A declaration beyond the table was mentioned by nobody.
uint32_t StagesOf(const RecordContext& context, ir::DeclId decl) {
  const Usage* usage = context.usage;
  return usage != nullptr && decl.value < usage->stages.size() ? usage->stages[decl.value] : 0;
}

// A source of RPL: a container, whose members are its attributes.
void WriteSource(const RecordContext& context, const ir::SpecialisedDecl& container,
                 WireWriter& out) {
  const layout::VertexSource& source = context.layout.SourceOf(container.decl);
  WriteSourceHead(context.pool().Text(container.name), source, out);
  for (size_t i = 0; i < container.members.size(); ++i) {
    CheckStop();
    const ir::SpecialisedMember& member = container.members[i];
    out.Message(kAttributeSourceAttributes, [&] {
      WriteAttribute(context,
                     {.name = std::string(context.pool().Text(member.name)),
                      .type = member.type,
                      .tags = member.tags,
                      .origin = member.origin},
                     source.attributes[i], out);
    });
  }
  WriteSpan(context, kAttributeSourceSpan, container.origin, out);
}

// The vertex entry point exists: the layout has made this source of its rows.
void WriteEntrySource(const RecordContext& context, const layout::VertexSource& source,
                      WireWriter& out) {
  const ir::EntryRef& entry =
      *std::ranges::find(context.variant.entries, ir::Stage::kVertex, &ir::EntryRef::stage);
  WriteSourceHead(source.name, source, out);
  for (const layout::Attribute& attribute : source.attributes) {
    CheckStop();
    const ir::InterfaceRow& row = entry.io[attribute.row];
    AttributeField field{.name = std::string(context.pool().Text(row.field)),
                         .type = attribute.type,
                         .tags = row.tags,
                         .origin = row.origin};
    // Parts of a row, items of an array or columns, are told apart by their number.
    if (attribute.part != ir::kNoRow) {
      field.name += "[" + std::to_string(attribute.part) + "]";
    }
    out.Message(kAttributeSourceAttributes,
                [&] { WriteAttribute(context, field, attribute, out); });
  }
}

// The parameters of the main part and of the item at the end are two lists: an engine allocates the
// first once and the second as often as it likes.
void WriteBuffer(const RecordContext& context, const ir::SpecialisedDecl& buffer, WireWriter& out) {
  const layout::Block& block = context.layout.BlockOf(buffer.decl);
  const FlatBlock flat = Flatten(context.variant, buffer, block.rules, context.types, context.most);
  out.Text(kBufferName, context.pool().Text(buffer.name));
  out.Number(kBufferBinding, context.layout.PlacementOf(buffer.decl).binding);
  out.Text(kBufferType, ir::NameOf(buffer.buffer()));
  out.Number(kBufferMainSize, block.main_size);
  out.Number(kBufferTailItemSize, block.tail_item_size);
  WriteParameters(context, kBufferMainParameters, flat.parameters, out);
  out.Text(kBufferTailName, flat.tail_name);
  WriteParameters(context, kBufferTailItemParameters, flat.tail_parameters, out);
  out.Number(kBufferTailOffset, block.tail_offset);
  out.Text(kBufferTailField, flat.tail_field);
  if (flat.tail_type.valid()) {
    out.Text(kBufferTailType, ir::TypeText(context.pool(), flat.tail_type));
  }
  WriteStages(context, kBufferStages, buffer.decl, out);
  out.Number(kBufferArraySize, ArraySize(context.pool(), buffer.type));
  WriteSpan(context, kBufferSpan, buffer.origin, out);
}

// `comparison` follows from how the sampler is used, and the hash of a layout has no usage.
void WriteSampler(const RecordContext& context, const ir::SpecialisedDecl& sampler,
                  WireWriter& out) {
  out.Text(kSamplerName, context.pool().Text(sampler.name));
  out.Number(kSamplerBinding, context.layout.PlacementOf(sampler.decl).binding);
  WriteStages(context, kSamplerStages, sampler.decl, out);
  out.Flag(kSamplerComparison, context.usage != nullptr && context.usage->Compared(sampler.decl));
  out.Number(kSamplerArraySize, ArraySize(context.pool(), sampler.type));
  WriteSpan(context, kSamplerSpan, sampler.origin, out);
}

// Images, storage images and texel buffers are one kind of record; written ones have two fields
// more.
void WriteImage(const RecordContext& context, const ir::SpecialisedDecl& image,
                const ir::SpecialisedDecl* sampler, WireWriter& out) {
  const ir::Pool& pool = context.pool();
  const ir::Type& declared = pool[image.type];
  const bool array = declared.kind == ir::TypeKind::kArray;
  // An array of images is told by its number of items, so the type is that of one.
  const ir::TypeId item = array ? ir::TypeId{declared.element} : image.type;
  const ir::ImageTraits traits = ir::UnpackImage(pool[item].extent);
  out.Text(kImageName, pool.Text(image.name));
  out.Number(kImageBinding, context.layout.PlacementOf(image.decl).binding);
  // The format of a storage image is a field of its own.
  out.Text(kImageType, ImageName(traits));
  out.Number(kImageImageArraySize, array ? declared.extent : 1);
  out.Flag(kImageIsArray, array);
  WriteStages(context, kImageStages, image.decl, out);
  if (traits.storage) {
    out.Text(kImageFormat, ir::NameOf(traits.format));
    out.Text(kImageAccess, ir::NameOf(image.access()));
  }
  // What a texel is decides no layout, as formats of sampled images never did.
  if (context.usage != nullptr) {
    out.Text(kImageItem, TexelItem(pool[item].scalar));
  }
  if (sampler != nullptr) {
    out.Text(kImageSampler, pool.Text(sampler->name));
    out.Flag(kImageComparison, context.usage != nullptr && context.usage->Compared(sampler->decl));
  }
  WriteSpan(context, kImageSpan, image.origin, out);
}

// A field of a state container, with what the stages do with it.
void WriteStateField(const RecordContext& context, const ir::SpecialisedDecl& container,
                     const ir::SpecialisedMember& field, WireWriter& out) {
  out.Text(kStateFieldContainer, context.pool().Text(container.name));
  out.Text(kStateFieldName, context.pool().Text(field.name));
  out.Text(kStateFieldType, ir::TypeText(context.pool(), field.type));
  out.Number(kStateFieldLocation, context.layout.LocationOf(field.member));
  out.Flag(kStateFieldWritten, context.usage->Touched(field.member, ir::MemberUse::kWrite));
  out.Flag(kStateFieldRead, context.usage->Touched(field.member, ir::MemberUse::kRead));
  WriteSpan(context, kStateFieldSpan, field.origin, out);
}

// The same for a row of an interface between stages, which modules of HLSL and WGSL have
// instead of containers.
void WriteStateRow(const RecordContext& context, const StateRow& state, WireWriter& out) {
  const ir::Pool& pool = context.pool();
  const ir::InterfaceRow& row = *state.row;
  // A row of a struct is called by its field, another one by its parameter.
  std::string name(pool.Text(row.field.valid() ? row.field : row.name));
  if (state.item != ir::kNoRow) {
    name += "[" + std::to_string(state.item) + "]";
  }
  // The struct that the row is part of is its container, as in RPL.
  out.Text(kStateFieldContainer, row.source.valid() ? pool.Text(row.source) : "");
  out.Text(kStateFieldName, name);
  out.Text(kStateFieldType, ir::TypeText(pool, state.type));
  out.Number(kStateFieldLocation, state.location);
  out.Flag(kStateFieldWritten, state.written);
  out.Flag(kStateFieldRead, state.read);
  WriteSpan(context, kStateFieldSpan, row.origin, out);
}

// Places are written with full debug information only; otherwise no module has any.
void WriteSpan(const RecordContext& context, uint32_t field, const ir::Origin& origin,
               WireWriter& out) {
  if (origin.module >= context.spans_of.size()) {
    return;
  }
  const ModuleFacts& module = context.spans_of[origin.module];
  const Span span = module.view->SpanOf(origin.span);
  out.Message(field, [&] {
    out.Text(kSpanPath, module.path);
    out.Number(kSpanBegin, span.begin);
    out.Number(kSpanEnd, span.end);
  });
}

// In the order of the source.
void WriteTags(const RecordContext& context, uint32_t field, std::span<const ir::StringId> tags,
               WireWriter& out) {
  for (const ir::StringId tag : tags) {
    out.TextItem(field, context.pool().Text(tag));
  }
}

// There is one at most, and its members are written like those of a buffer.
void WritePushConstant(const RecordContext& context, const ir::SpecialisedDecl& block,
                       WireWriter& out) {
  const layout::Rules rules = context.layout.BlockOf(block.decl).rules;
  const FlatBlock flat = Flatten(context.variant, block, rules, context.types, context.most);
  // The layout hash covers what lies where and not how it is called.
  if (context.usage != nullptr) {
    out.Text(kPushConstantName, context.pool().Text(block.name));
  }
  WriteStages(context, kPushConstantStages, block.decl, out);
  WriteParameters(context, kPushConstantMembers, flat.parameters, out);
  WriteSpan(context, kPushConstantSpan, block.origin, out);
}

}  // namespace kiln::metadata
