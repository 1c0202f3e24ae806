// SPDX-License-Identifier: MIT
// Images: questions to those that are sampled go to the surroundings, storage images are memory.
#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_cells.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle::running {
namespace {

using ir::Builtin;
using ir::ImageFormat;

// Normalised integers of `steps`: what a store keeps of a number. Exact for 0 and 1 alone, else off
// by a step if the number lies in the middle between two, and by rounding when it is read.
Cell Normalised(const Cell& cell, double low, double steps) {
  if (!std::isfinite(cell.error) || std::isnan(FloatOf(cell))) {
    return {};
  }
  const double scaled = std::clamp(double{FloatOf(cell)}, low, 1.0) * steps;
  const double kept = std::nearbyint(scaled);
  const double margin = 0.5 - std::fabs(scaled - kept);
  const double off = margin < 1.0 / 64 + cell.error * steps ? 1 / steps + cell.error : 0;
  return Near(kept / steps, 2, off);
}

Cell IntegerOf(const Cell& cell, int64_t value, int64_t low, int64_t high) {
  return value < low || value > high ? Cell{} : cell;
}

// What a texel of this format keeps of a component. Integers that do not fit are open.
Cell Stored(ImageFormat format, const Cell& cell) {
  const auto number = static_cast<int32_t>(cell.bits);
  switch (format) {
    case ImageFormat::kRgba32Float:
    case ImageFormat::kR32Float:
    case ImageFormat::kRgba32Sint:
    case ImageFormat::kR32Sint:
    case ImageFormat::kRgba32Uint:
    case ImageFormat::kR32Uint:
      return cell;
    case ImageFormat::kRgba16Float:
      return RoundedToHalf(cell);
    case ImageFormat::kRgba8Unorm:
      return Normalised(cell, 0, 255);
    case ImageFormat::kRgba8Snorm:
      return Normalised(cell, -1, 127);
    case ImageFormat::kRgba16Sint:
      return IntegerOf(cell, number, -32768, 32767);
    case ImageFormat::kRgba8Sint:
      return IntegerOf(cell, number, -128, 127);
    case ImageFormat::kRgba16Uint:
      return IntegerOf(cell, cell.bits, 0, 65535);
    case ImageFormat::kRgba8Uint:
      return IntegerOf(cell, cell.bits, 0, 255);
    default:
      break;  // not a format of RPL
  }
  KILN_UNREACHABLE();
}

bool HasOneComponent(ImageFormat format) {
  return format == ImageFormat::kR32Float || format == ImageFormat::kR32Sint ||
         format == ImageFormat::kR32Uint;
}

std::vector<float> FloatsOf(const Value& value) {
  std::vector<float> numbers;
  for (const Cell& cell : value) {
    numbers.push_back(FloatOf(cell));
  }
  return numbers;
}

}  // namespace

// Requires: sampling, fetch, image_size or image_levels of an image that is sampled.
Value Invocation::AskImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                           const std::vector<Slot>& slots) {
  const auto call = inst.As<ir::BuiltinCallInst>();
  const std::span<const uint32_t> arguments = specialised.List(call.arguments);
  const bool samples = ir::IsSampling(call.builtin);
  size_t next = samples ? 1 : 0;
  const Place& image = slots[arguments[next++]].place;
  SampleRequest request{.builtin = call.builtin,
                        .sampler = samples ? slots[arguments[0]].place.handle : "",
                        .image = image.handle,
                        .item = image.item,
                        .stage = entry_.stage};
  bool exact = true;
  const auto take = [&]() -> const Value& {
    const Value& value = slots[arguments[next++]].value;
    exact = exact && AllExact(value);
    return value;
  };
  if (samples) {
    const Value& coordinate = take();
    request.coordinate = FloatsOf(coordinate);
    if (ir::IsImplicitLod(call.builtin) && entry_.stage == ir::Stage::kFragment) {
      const std::vector<Value> quad = QuadOf(&inst, coordinate);
      request.ddx = FloatsOf(Derivative(Builtin::kDdxFine, quad));
      request.ddy = FloatsOf(Derivative(Builtin::kDdyFine, quad));
    }
  } else if (call.builtin == Builtin::kFetch) {
    for (const Cell& cell : take()) {
      request.texel.push_back(cell.bits);
    }
  }
  if (ir::SamplesDepth(call.builtin)) {
    request.reference = FloatOf(take()[0]);
  }
  if (call.builtin == Builtin::kSampleLod || call.builtin == Builtin::kSampleDrefLod) {
    request.lod = FloatOf(take()[0]);
  } else if (call.builtin == Builtin::kSampleGrad) {
    request.ddx = FloatsOf(take());
    request.ddy = FloatsOf(take());
  } else if (call.builtin == Builtin::kGather) {
    request.component = take()[0].bits;
  } else if (call.builtin == Builtin::kFetch || call.builtin == Builtin::kImageSize) {
    request.lod = static_cast<float>(take()[0].bits);
  }
  return exact ? around_.sample(request) : Value(CellCount(pool_, inst.type));
}

Flow Invocation::UseStorageImage(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                                 const std::vector<Slot>& slots, Value& result) {
  const auto call = inst.As<ir::BuiltinCallInst>();
  const std::span<const uint32_t> arguments = specialised.List(call.arguments);
  StorageImage& image = around_.images.at(slots[arguments[0]].place.handle);
  if (call.builtin == Builtin::kImageSize) {
    result = ExactValue(std::span(image.size).first(CellCount(pool_, inst.type)));
    return Flow::kNext;
  }
  uint32_t texel = 0;
  const Value& position = slots[arguments[1]].value;
  if (!AllExact(position)) {
    return Undecided("a texel is not exact");
  }
  for (size_t i = position.size(); i > 0; --i) {
    if (position[i - 1].bits >= image.size[i - 1]) {
      return Undecided("a texel is out of range");
    }
    texel = texel * image.size[i - 1] + position[i - 1].bits;
  }
  const auto begin = image.texels.begin() + ptrdiff_t{texel} * 4;
  if (call.builtin == Builtin::kImageLoad) {
    result = {begin, begin + 4};
    return Flow::kNext;
  }
  const Value& value = slots[arguments[2]].value;
  for (size_t i = 0; i < (HasOneComponent(image.format) ? 1 : 4); ++i) {
    begin[static_cast<std::ptrdiff_t>(i)] = Stored(image.format, value[i]);
  }
  return Flow::kNext;
}

}  // namespace kiln::oracle::running
