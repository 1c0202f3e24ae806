// SPDX-License-Identifier: MIT
#include "client/cli/output/code_form.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "client/manifest_programs.h"

namespace kiln::cli {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;

// The attribute of an entry point is a character that no other form has outside of comments; the
// others name their dialect or its library before anything else. The first row that is found
// decides.
struct Mark {
  std::string_view text;
  client::Form form;
};
constexpr std::array kMarks{
    Mark{"#version", client::Form::kGlsl},  Mark{"#include <metal", client::Form::kMsl},
    Mark{"@vertex", client::Form::kWgsl},   Mark{"@fragment", client::Form::kWgsl},
    Mark{"@compute", client::Form::kWgsl},  Mark{"SV_Position", client::Form::kHlsl},
    Mark{"SV_Target", client::Form::kHlsl}, Mark{"[numthreads", client::Form::kHlsl},
    Mark{"cbuffer ", client::Form::kHlsl},
};

}  // namespace

std::optional<client::Form> FormOfCode(ByteView code) {
  uint32_t first = 0;
  if (code.size() >= sizeof(first)) {
    std::memcpy(&first, code.data(), sizeof(first));
  }
  if (first == kSpirvMagic && code.size() % sizeof(first) == 0) {
    return client::Form::kSpirv;
  }
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  for (const Mark& mark : kMarks) {
    if (text.find(mark.text) != std::string_view::npos) {
      return mark.form;
    }
  }
  return std::nullopt;
}

std::string_view CodeExtension(ByteView code) {
  const std::optional<client::Form> form = FormOfCode(code);
  return form.has_value() ? client::ExtensionOf(*form) : ".code";
}

}  // namespace kiln::cli
