// SPDX-License-Identifier: MIT
// kiln inspect: a SPIR-V file as text.
#include <cstring>

#include <fmt/format.h>
#include <spirv-tools/libspirv.hpp>

#include "client/cli/project.h"
#include "client/cli/verbs.h"
#include "compiler/artifact/metadata.h"

namespace kiln::cli {
namespace {

Result<std::vector<uint32_t>> WordsOf(const client::Source& file) {
  if (file.text.size() % sizeof(uint32_t) != 0 || file.text.size() < 5 * sizeof(uint32_t)) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = fmt::format("'{}' has {} bytes, which are no SPIR-V module", file.path,
                                        file.text.size()),
                 .reason = {}};
  }
  std::vector<uint32_t> words(file.text.size() / sizeof(uint32_t));
  std::memcpy(words.data(), file.text.data(), file.text.size());
  return words;
}

Result<std::string> Disassembly(const client::Source& file) {
  KILN_TRY(const std::vector<uint32_t> words, WordsOf(file));
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  std::string message;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                               const char* what) { message = what; });
  if (!tools.Disassemble(
          words, &text,
          SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES)) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = fmt::format("'{}': {}", file.path, message),
                 .reason = {}};
  }
  return text;
}

Result<std::string> View(const client::Source& file) {
  if (!file.path.ends_with(".meta")) {
    return Disassembly(file);
  }
  KILN_TRY(const artifact::PipelineMetadata metadata, artifact::DecodeMetadata(AsBytes(file.text)));
  return artifact::MetadataText(metadata);
}

}  // namespace

int RunInspect(const Global& global, const InspectArguments& arguments) {
  const Result<client::Source> file = ReadSource(arguments.what, arguments.what);
  if (!file.ok()) {
    return Fail(global, file.error());
  }
  const Result<std::string> text = View(*file);
  if (!text.ok()) {
    return Fail(global, text.error());
  }
  fmt::print("{}", *text);
  return kSuccess;
}

}  // namespace kiln::cli
