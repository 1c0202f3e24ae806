// SPDX-License-Identifier: MIT
// What a pipeline needs, for engines that make their pipelines themselves: bindings, vertex
// attributes, push constants, and the whole as text.
#include "runtime/c/pipeline_desc.h"

#include <algorithm>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/source.h"
#include "runtime/pipeline/formats.h"
#include "runtime/pipeline/print_desc.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// The device is not asked: the description holds for every device.
Result<runtime::PipelineDesc> Describe(const kiln_source& source, const kiln_variant& variant,
                                       const kiln_pass_signature* signature) {
  KILN_TRY(const runtime::SourceArtifact artifact, FindArtifact(source, variant));
  KILN_TRY(const artifact::PipelineMetadata metadata, ReadMetadata(source, artifact));
  // Without a signature of the caller the one that follows from the outputs of the shaders is
  // taken, which is right for most passes.
  if (signature == nullptr) {
    return runtime::DescFrom(artifact.program, metadata, runtime::DefaultSignature(metadata));
  }
  KILN_TRY(const runtime::PassSignature given, TakeSignature(signature));
  return runtime::DescFrom(artifact.program, metadata, given);
}

// The text is a view of the description and lives as long as it does.
kiln_vertex_attribute AttributeOf(const runtime::PipelineDesc& desc,
                                  const runtime::VertexAttributeDesc& attribute) {
  kiln_vertex_attribute out{};
  out.name = TextOf(attribute.name);
  out.location = attribute.location;
  out.binding = attribute.binding;
  out.offset = attribute.offset;
  // The format follows from the type in the shader; a caller with packed data puts its own in its
  // place.
  out.format = runtime::VertexFormat(attribute.item, attribute.components);
  // In C one struct says all of an attribute, so what belongs to its buffer is repeated in each.
  const auto buffer = std::ranges::find(desc.vertex_bindings, attribute.binding,
                                        &VkVertexInputBindingDescription::binding);
  if (buffer != desc.vertex_bindings.end()) {
    out.stride = buffer->stride;
    out.per_instance = buffer->inputRate == VK_VERTEX_INPUT_RATE_INSTANCE ? 1 : 0;
  }
  return out;
}

}  // namespace

kiln_result kiln_pipeline_desc_create(const kiln_source* source, const kiln_variant* variant,
                                      const kiln_pass_signature* signature,
                                      kiln_pipeline_desc** desc, kiln_error** error) {
  return Call(source, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const kiln_variant given, Take(variant, "variant"));
    KILN_TRY_VOID(NotNull(desc, "desc"));
    auto made = std::make_unique<kiln_pipeline_desc>();
    made->context = source->context;
    KILN_TRY(made->desc, Describe(*source, given, signature));
    // Bindings of all sets in one list, since C callers ask by a number.
    for (uint32_t set = 0; set < made->desc.sets.size(); ++set) {
      for (const runtime::BindingDesc& binding : made->desc.sets[set]) {
        // The rows are viewed; `desc` is not changed any more once the object is handed out.
        made->bindings.emplace_back(set, &binding);
      }
    }
    // Made at once and not when it is asked for, so that the object never changes and threads may
    // share it.
    made->text = runtime::PrintDesc(made->desc);
    *desc = made.release();
    return {};
  });
}

uint32_t kiln_pipeline_desc_binding_count(const kiln_pipeline_desc* desc) {
  return desc == nullptr ? 0 : static_cast<uint32_t>(desc->bindings.size());
}

kiln_result kiln_pipeline_desc_binding(const kiln_pipeline_desc* desc, uint32_t index,
                                       kiln_binding* binding, kiln_error** error) {
  return Call(desc, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(desc, "desc"));
    KILN_TRY_VOID(CheckRoom(binding, "binding"));
    if (index >= desc->bindings.size()) {
      return OutOfRange("binding", index, desc->bindings.size());
    }
    const auto& [set, row] = desc->bindings[index];
    Give(kiln_binding{.struct_size = 0,
                      .set = set,
                      .binding = row->binding,
                      .type = row->type,
                      .count = row->count,
                      .bytes = row->bytes,
                      .name = TextOf(row->name)},
         binding);
    return {};
  });
}

uint32_t kiln_pipeline_desc_attribute_count(const kiln_pipeline_desc* desc) {
  return desc == nullptr ? 0 : static_cast<uint32_t>(desc->desc.vertex_attributes.size());
}

kiln_result kiln_pipeline_desc_attribute(const kiln_pipeline_desc* desc, uint32_t index,
                                         kiln_vertex_attribute* attribute, kiln_error** error) {
  return Call(desc, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(desc, "desc"));
    KILN_TRY_VOID(CheckRoom(attribute, "attribute"));
    const auto& all = desc->desc.vertex_attributes;
    if (index >= all.size()) {
      return OutOfRange("attribute", index, all.size());
    }
    Give(AttributeOf(desc->desc, all[index]), attribute);
    return {};
  });
}

uint32_t kiln_pipeline_desc_push_size(const kiln_pipeline_desc* desc) {
  return desc == nullptr ? 0 : desc->desc.push_size;
}

kiln_text kiln_pipeline_desc_text(const kiln_pipeline_desc* desc) {
  return desc == nullptr ? kiln_text{} : TextOf(desc->text);
}

void kiln_pipeline_desc_destroy(kiln_pipeline_desc* desc) { Destroy(desc); }
