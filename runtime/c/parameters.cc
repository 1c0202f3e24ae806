// SPDX-License-Identifier: MIT
// Blocks of parameters of the C interface: where each value of a buffer lies, by name or by tag,
// and writes of values into memory of the caller. A block never owns that memory and never touches
// a device.
#include "runtime/c/parameters.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/source.h"

using namespace kiln;
using namespace kiln::c;

namespace {

Error NoBuffer(std::string_view program, std::string_view what) {
  return {ErrorCode::kNotFound, fmt::format("program '{}' has no {}", program, what), ""};
}

// By name and over all sets: a caller in C does not say which set it means.
Result<artifact::Buffer> FindBuffer(artifact::PipelineMetadata metadata, std::string_view program,
                                    std::string_view name) {
  // In the order of the sets; the first buffer of the name counts.
  for (artifact::Set& set : metadata.sets) {
    for (artifact::Buffer& buffer : set.buffers) {
      if (buffer.name == name) {
        return std::move(buffer);
      }
    }
  }
  return NoBuffer(program, fmt::format("buffer '{}' in this variant", name));
}

// Push constants become a buffer, so that one set of functions serves all kinds of blocks.
Result<artifact::Buffer> PushOf(artifact::PipelineMetadata metadata, std::string_view program) {
  if (!metadata.push_constant) {
    return NoBuffer(program, "push constants in this variant");
  }
  artifact::Buffer out;
  out.name = metadata.push_constant->name;
  out.main_size = metadata.push_constant_size;
  out.main_parameters = std::move(metadata.push_constant->members);
  return out;
}

// The metadata are read and thrown away but for the one buffer, which the object keeps.
Result<void> Fill(kiln_parameters& out, const kiln_source& source, const kiln_variant& variant,
                  std::string_view name, kiln_parameter_part part) {
  KILN_TRY(const runtime::SourceArtifact found, FindArtifact(source, variant));
  KILN_TRY(artifact::PipelineMetadata metadata, ReadMetadata(source, found));
  KILN_TRY(out.buffer, part == KILN_PARAMETERS_PUSH
                           ? PushOf(std::move(metadata), found.program)
                           : FindBuffer(std::move(metadata), found.program, name));
  // Asked before the block is made: a tail of items without a size could not be indexed.
  if (part == KILN_PARAMETERS_TAIL && out.buffer.tail_item_size == 0) {
    return NoBuffer(found.program, fmt::format("tail in buffer '{}'", name));
  }
  const bool tail = part == KILN_PARAMETERS_TAIL;
  out.block =
      tail ? runtime::ParameterBlock::Tail(out.buffer) : runtime::ParameterBlock::Main(out.buffer);
  out.size = tail ? out.buffer.tail_item_size : out.buffer.main_size;
  // Handles are made once. A write of a frame then looks nothing up.
  for (uint32_t slot = 0; slot < out.block.parameters().size(); ++slot) {
    out.handles.push_back(out.block.Handle(runtime::Slot{slot}));
  }
  return {};
}

// The number of a slot is valid for this object alone, as long as it lives.
Result<void> Find(const kiln_parameters* parameters, kiln_text text, uint32_t* slot, bool by_tag) {
  KILN_TRY_VOID(NotNull(parameters, "parameters"));
  const std::string_view what = by_tag ? "tag" : "name";
  KILN_TRY(const std::string_view name, TakeText(text, what));
  KILN_TRY_VOID(NotNull(slot, "slot"));
  const runtime::Slot found =
      by_tag ? parameters->block.FindTag(name) : parameters->block.Find(name);
  if (!found) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("'{}' has no value of the {} '{}'", parameters->buffer.name, what, name), ""};
  }
  *slot = found.index;
  return {};
}

}  // namespace

// The block is read of one variant. Another variant of the program may lay the same buffer out in
// another way.
kiln_result kiln_parameters_create(const kiln_source* source, const kiln_variant* variant,
                                   kiln_text buffer, kiln_parameter_part part,
                                   kiln_parameters** parameters, kiln_error** error) {
  return Call(source, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const kiln_variant given, Take(variant, "variant"));
    KILN_TRY(const std::string_view name, TakeText(buffer, "buffer"));
    KILN_TRY_VOID(CheckNumber(part, KILN_PARAMETERS_PUSH, "part"));
    KILN_TRY_VOID(NotNull(parameters, "parameters"));
    auto made = std::make_unique<kiln_parameters>();
    made->context = source->context;
    KILN_TRY_VOID(Fill(*made, *source, given, name, part));
    *parameters = made.release();
    return {};
  });
}

uint32_t kiln_parameters_size(const kiln_parameters* parameters) {
  return parameters == nullptr ? 0 : parameters->size;
}

kiln_result kiln_parameters_find(const kiln_parameters* parameters, kiln_text name, uint32_t* slot,
                                 kiln_error** error) {
  return Call(parameters, error, [&] { return Find(parameters, name, slot, false); });
}

kiln_result kiln_parameters_find_tag(const kiln_parameters* parameters, kiln_text tag,
                                     uint32_t* slot, kiln_error** error) {
  return Call(parameters, error, [&] { return Find(parameters, tag, slot, true); });
}

// Called for values of each draw: no lookup, no allocation, and no error object as long as it
// works.
kiln_result kiln_parameters_write(const kiln_parameters* parameters, uint32_t slot, void* memory,
                                  size_t memory_size, const void* value, size_t value_size,
                                  uint32_t item, kiln_error** error) {
  return Call(parameters, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(parameters, "parameters"));
    KILN_TRY_VOID(CheckArray(memory, memory_size, "memory"));
    KILN_TRY(const auto bytes,
             TakeArray(static_cast<const std::byte*>(value), value_size, "value"));
    // A slot is a plain number to the caller, who may have it from another object.
    if (slot >= parameters->handles.size()) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("there is no slot {}", slot), "INDEX"};
    }
    const std::span<std::byte> into(static_cast<std::byte*>(memory), memory_size);
    // The fast way says only whether it worked; the slow one is taken for the message.
    if (parameters->handles[slot].Write(into, bytes, item)) {
      return {};
    }
    return parameters->block.Write(runtime::Slot{slot}, into, bytes, item);  // which says why not
  });
}

void kiln_parameters_destroy(kiln_parameters* parameters) { Destroy(parameters); }
