// SPDX-License-Identifier: MIT
// The layout of a program as JSON or protobuf, the public form of it. Additive: readers ignore
// members they do not know. See spec/layout 14.3, 14.4, 11.2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// The stages whose reached code mentions a parameter; computed elsewhere, part of no number.
struct ParameterUsage {
  std::string_view parameter;
  std::vector<std::string_view> stages;
};

// Requires, here and below: a layout without errors.
std::string ReflectionJson(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes,
                           const std::vector<ParameterUsage>& usage = {});

// The same as the protobuf message kiln.v1.LayoutReflection, serialised.
Bytes ReflectionBytes(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes,
                      const std::vector<ParameterUsage>& usage = {});

// Of everything but varyings and usage: variants with equal hashes bind alike.
Hash128 LayoutHash(const Program& program, const ProgramLayout& layout, ByteLayouts& bytes);

}  // namespace kiln::layout
