// SPDX-License-Identifier: MIT
#include "compiler/recipe/validate.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/target/spirv_tools.h"

namespace kiln::recipe {
namespace {

// 16 KiB: a broken module can give a message for each of its words, and a report goes back over a
// socket.
constexpr size_t kMaxReport = size_t{16} << 10;

}  // namespace

void Report::Add(std::string_view line) {
  // A line that does not fit is left out whole; shorter ones after it may still come.
  if (text_.size() + line.size() + 1 <= kMaxReport) {
    text_ += text_.empty() ? "" : "\n";
    text_ += line;
  }
}

Bytes BytesOf(std::span<const uint32_t> words) {
  Bytes bytes(words.size_bytes());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

RecipeResult Validate(std::span<const uint32_t> words, target::Environment environment) {
  Report report;
  spvtools::SpirvTools tools(target::SpirvToolsEnvironment(environment));
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        report.Add(fmt::format("word {}: {}", at.index, message));
      });
  const bool valid = tools.Validate(words.data(), words.size());
  return {
      .ok = valid, .bytes = valid ? BytesOf(words) : Bytes(), .report = std::move(report).text()};
}

}  // namespace kiln::recipe
