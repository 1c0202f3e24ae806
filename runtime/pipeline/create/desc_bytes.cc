// SPDX-License-Identifier: MIT
// One list of fields serves both directions.
#include "runtime/pipeline/create/desc_bytes.h"

#include <algorithm>
#include <type_traits>

namespace kiln::runtime {
namespace {

// Writer and Reader have the same face, and Fields is a template over it. So the order of the
// fields is written once, and a field cannot be written and forgotten in reading. Appends; it never
// fails.
class Writer {
 public:
  template <class T>
  void Scalar(T& value) {
    AppendLittle(bytes_, value);
  }
  void Text(std::string& text) {
    Count(text.size());
    Append(bytes_, AsBytes(text));
  }
  size_t Count(size_t count) {
    AppendLittle(bytes_, static_cast<uint32_t>(count));
    return count;
  }
  Bytes Take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// After the first thing that does not fit everything is zero.
class Reader {
 public:
  explicit Reader(ByteView bytes) : left_(bytes) {}

  template <class T>
  void Scalar(T& value) {
    value = T{};
    if (Fits(sizeof(T))) {
      value = ReadLittle<T>(left_);
      left_ = left_.subspan(sizeof(T));
    }
  }
  void Text(std::string& text) {
    const size_t size = Count(0);
    text.assign(AsText(left_.first(size)));
    left_ = left_.subspan(size);
  }
  // Of things of at least one byte each.
  // A count is refused if there are fewer bytes left than items, as each item takes one at least.
  // So a damaged count cannot ask for more items than the message has bytes.
  size_t Count(size_t /*count*/) {
    uint32_t count = 0;
    Scalar(count);
    return Fits(count) ? count : 0;
  }
  bool ok() const { return ok_; }
  bool whole() const { return ok_ && left_.empty(); }

 private:
  bool Fits(size_t size) {
    ok_ = ok_ && size <= left_.size();
    return ok_;
  }

  ByteView left_;
  bool ok_ = true;
};

// A flag is one byte, and any value but zero is true: reading a bool with another bit pattern would
// be undefined.
template <class Io, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void Fields(Io& io, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    uint8_t byte = value ? 1 : 0;
    io.Scalar(byte);
    value = byte != 0;
  } else {
    io.Scalar(value);
  }
}

template <class Io>
void Fields(Io& io, std::string& text) {
  io.Text(text);
}

// Declared in advance: lists and the structures that have lists call one another.
template <class Io, class... T>
void All(Io& io, T&... values);

template <class Io, class T>
void List(Io& io, std::vector<T>& list) {
  const size_t count = io.Count(list.size());
  if constexpr (std::is_same_v<Io, Writer>) {
    for (T& item : list) {
      All(io, item);
    }
  } else {
    // Grown by what is read: an item in memory is far larger than the byte that it takes at least,
    // so a count that is wrong would cost a hundred times the message.
    for (size_t i = 0; i < count && io.ok(); ++i) {
      All(io, list.emplace_back());
    }
  }
}

template <class Io>
void Fields(Io& io, StageDesc& stage) {
  All(io, stage.stage, stage.entry);
}
template <class Io>
void Fields(Io& io, VkSpecializationMapEntry& entry) {
  All(io, entry.constantID, entry.offset, entry.size);
}
template <class Io>
void Fields(Io& io, VertexAttributeDesc& attribute) {
  All(io, attribute.name, attribute.location, attribute.binding, attribute.offset, attribute.item,
      attribute.components);
}
template <class Io>
void Fields(Io& io, BindingDesc& binding) {
  All(io, binding.binding, binding.type, binding.count, binding.name, binding.bytes, binding.image,
      binding.item, binding.format, binding.comparison);
}
template <class Io>
void Fields(Io& io, OutputDesc& output) {
  All(io, output.name, output.location, output.item, output.components);
}
template <class Io>
void Fields(Io& io, VkVertexInputBindingDescription& binding) {
  All(io, binding.binding, binding.stride, binding.inputRate);
}
template <class Io>
void Fields(Io& io, VkStencilOpState& face) {
  All(io, face.failOp, face.passOp, face.depthFailOp, face.compareOp, face.compareMask,
      face.writeMask, face.reference);
}
template <class Io>
void Fields(Io& io, VkPipelineColorBlendAttachmentState& blend) {
  All(io, blend.blendEnable, blend.srcColorBlendFactor, blend.dstColorBlendFactor,
      blend.colorBlendOp, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, blend.alphaBlendOp,
      blend.colorWriteMask);
}
template <class Io>
void Fields(Io& io, RasterDesc& raster) {
  All(io, raster.topology, raster.primitive_restart, raster.polygon_mode, raster.cull_mode,
      raster.front_face, raster.depth_clamp, raster.discard, raster.depth_bias, raster.line_width);
}
template <class Io>
void Fields(Io& io, MultisampleDesc& samples) {
  All(io, samples.samples, samples.sample_shading, samples.alpha_to_coverage, samples.alpha_to_one);
}
template <class Io>
void Fields(Io& io, DepthStencilDesc& depth) {
  All(io, depth.depth_test, depth.depth_write, depth.depth_compare, depth.bounds_test,
      depth.bounds_min, depth.bounds_max, depth.stencil_test, depth.front, depth.back);
}
template <class Io, class T>
void Fields(Io& io, std::vector<T>& list) {
  List(io, list);
}
template <class Io, class T, size_t N>
void Fields(Io& io, std::array<T, N>& items) {
  // The length of an array is known to both sides and is not written.
  for (T& item : items) {
    All(io, item);
  }
}
template <class Io>
void Fields(Io& io, PassSignature& signature) {
  All(io, signature.color, signature.depth_stencil, signature.samples, signature.view_mask);
}

template <class Io, class... T>
void All(Io& io, T&... values) {
  (Fields(io, values), ...);
}

// A field of PipelineDesc that is not listed here is lost on its way to the child process, and the
// child makes another pipeline.
template <class Io>
void Fields(Io& io, PipelineDesc& desc) {
  All(io, desc.name, desc.bind_point, desc.stages, desc.specialization, desc.specialization_values,
      desc.sets, desc.push_size, desc.layout_hash.bytes, desc.layout_stages, desc.vertex_bindings,
      desc.vertex_attributes, desc.raster, desc.multisample, desc.depth_stencil, desc.outputs,
      desc.attachments, desc.blend_constants, desc.logic_op, desc.dynamic_states, desc.viewport_y,
      desc.signature, desc.workgroup_size, desc.required_features, desc.required_extensions);
}

}  // namespace

// The encoding is for a child process of the same program and is never stored, so it has no
// version.
Bytes EncodeDesc(const PipelineDesc& desc) {
  Writer writer;
  PipelineDesc copy = desc;  // a reader changes what it is given, a writer does not
  Fields(writer, copy);
  return writer.Take();
}

Result<PipelineDesc> DecodeDesc(ByteView bytes) {
  Reader reader(bytes);
  PipelineDesc desc;
  Fields(reader, desc);
  // Bytes that are left over are an error as well: then the two sides do not agree about the
  // format.
  if (!reader.whole()) {
    return Error{ErrorCode::kCorrupt, "these bytes are no pipeline description", ""};
  }
  return desc;
}

}  // namespace kiln::runtime
