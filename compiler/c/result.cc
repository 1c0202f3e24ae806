// SPDX-License-Identifier: MIT
#include "compiler/c/result.h"

#include <memory>
#include <string>
#include <utility>

#include "runtime/c/foreign_call.h"
#include "runtime/c/option_view.h"
#include "runtime/c/version.h"

// This file is the boundary: nothing of C++ may leave it. ForeignCall turns every exception into an
// error, and views that are handed out live as long as the result.
using namespace kiln;
using namespace kiln::c;

namespace {

// Everything is copied into the request. The caller's arrays have to be there for the call alone.
Result<std::vector<embed::Source>> TakeSources(const kiln_compiler_info& info) {
  KILN_TRY(const auto rows, TakeArray(info.sources, info.source_count, "info.sources"));
  std::vector<embed::Source> sources;
  for (const kiln_compiler_source& row : rows) {
    KILN_TRY(const std::string_view path, TakeText(row.path, "info.sources.path"));
    // Not TakeText: whether a source is well-formed UTF-8 is for the front end to say, with a
    // place.
    KILN_TRY(const auto text, TakeArray(row.text.data, row.text.size, "info.sources.text"));
    sources.push_back({std::string(path), std::string(text.begin(), text.end())});
  }
  return sources;
}

// Names of functions are taken as they are: which ones there are, the compiler says.
Result<std::vector<embed::EntryPoint>> TakeEntries(const kiln_compiler_info& info) {
  KILN_TRY(const auto rows, TakeArray(info.entries, info.entry_count, "info.entries"));
  std::vector<embed::EntryPoint> entries;
  for (const kiln_compiler_entry& row : rows) {
    // Enumerations of C hold any number: each one is checked before it is cast.
    KILN_TRY_VOID(CheckNumber(row.stage, KILN_STAGE_COMPUTE, "info.entries.stage"));
    KILN_TRY(const std::string_view function, TakeText(row.function, "info.entries.function"));
    entries.push_back({static_cast<embed::Stage>(row.stage), std::string(function)});
  }
  return entries;
}

// The number of a word among `words`; empty: `usual`.
// The words stand in the order of the enumeration that their number is cast to.
template <size_t kCount>
Result<uint32_t> TakeWord(kiln_text text, const std::string_view (&words)[kCount], uint32_t usual,
                          std::string_view name) {
  KILN_TRY(const std::string_view word, TakeText(text, name));
  if (word.empty()) {
    return usual;
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    if (words[i] == word) {
      return i;
    }
  }
  return Error{
      ErrorCode::kInvalidArgument,
      "'" + std::string(name) + "' is '" + std::string(word) + "', which is none of its words",
      "WORD"};
}

// The request owns all it has, so the caller's memory may go as soon as the call returns.
Result<embed::CompileRequest> TakeRequest(const kiln_compiler_info& info) {
  embed::CompileRequest request;
  KILN_TRY(request.sources, TakeSources(info));
  KILN_TRY(request.entries, TakeEntries(info));
  KILN_TRY(const auto options, TakeOptions(info.options, info.option_count));
  // The runtime's reader of options is used, so both libraries understand an option the same way.
  for (const runtime::OptionSetting& option : options) {
    request.options.push_back({option.name, option.value});
  }
  KILN_TRY(const uint32_t pipeline,
           TakeWord(info.pipeline, {"graphics_classic", "compute"}, 0, "info.pipeline"));
  KILN_TRY(const uint32_t debug, TakeWord(info.debug, {"none", "names", "full"}, 1, "info.debug"));
  KILN_TRY(const std::string_view environment, TakeText(info.environment, "info.environment"));
  KILN_TRY_VOID(CheckNumber(info.form, KILN_COMPILER_WGSL, "info.form"));
  KILN_TRY_VOID(CheckNumber(info.combined, 1, "info.combined"));
  request.pipeline = static_cast<embed::Pipeline>(pipeline);
  request.debug = static_cast<embed::Debug>(debug);
  // An empty word leaves what a new request has.
  if (!environment.empty()) {
    request.environment = environment;
  }
  request.form = static_cast<embed::Form>(info.form);
  request.combined = info.combined != 0;
  return request;
}

// A module of WGSL may hold all stages; it has none of its own.
kiln_stage StageOf(const embed::CompiledModule& module) {
  return module.stage.has_value() ? static_cast<kiln_stage>(*module.stage)
                                  : static_cast<kiln_stage>(KILN_STAGE_ALL);
}

// Bytes stay the result's; they are valid until it is destroyed.
kiln_compiler_bytes BytesOf(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

// Content is found by its digest, so bytes that the source has already cost nothing.
Result<kiln_digest> AddContent(kiln_source* source, const Bytes& bytes) {
  kiln_digest digest{};
  KILN_TRY_VOID(CallKiln([&](kiln_error** error) {
    return kiln_source_add_content(source, bytes.data(), bytes.size(), &digest, error);
  }));
  return digest;
}

// A result goes into a source of the runtime through its C interface, as everybody else's would:
// this library and the runtime may be of different builds.
Result<void> AddTo(const kiln_compiler_result& result, kiln_source* source, kiln_text program) {
  kiln_artifact_info info;
  KILN_INIT(info);
  info.program = program;
  std::vector<kiln_module> modules;
  // Equal modules become one content, as contents are found by their digests.
  for (const embed::CompiledModule& module : result.compiled.modules) {
    KILN_TRY(const kiln_digest code, AddContent(source, module.code));
    modules.push_back({StageOf(module), code});
  }
  std::vector<kiln_option> options;
  for (const embed::Option& option : result.options) {
    options.push_back(OptionView(option.name, option.value));
  }
  KILN_TRY(info.metadata, AddContent(source, result.compiled.metadata));
  info.options = options.data();
  info.option_count = options.size();
  info.modules = modules.data();
  info.module_count = modules.size();
  return CallKiln(
      [&](kiln_error** error) { return kiln_source_add_artifact(source, &info, error); });
}

}  // namespace

// A compile that fails is a good call with a result that says so: messages are read from it.
kiln_result kiln_compiler_compile(const kiln_compiler_info* info, kiln_compiler_result** result,
                                  kiln_error** error) {
  // The versions are compared before a single field of `info` is used: its layout is what the
  // header of that version says. The second check is of the runtime that is loaded.
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY(const kiln_compiler_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(result, "result"));
    KILN_TRY_VOID(CheckVersion(given.header_version));
    KILN_TRY_VOID(CheckVersion(kiln_version_number()));
    KILN_TRY(embed::CompileRequest request, TakeRequest(given));
    auto made = std::make_unique<kiln_compiler_result>();
    KILN_TRY(made->compiled, embed::Compile(request));
    // The options stay with the result, because an artifact is looked up by them.
    made->options = std::move(request.options);
    made->spirv = request.form == embed::Form::kSpirv;
    *result = made.release();
    return {};
  });
}

uint32_t kiln_compiler_result_succeeded(const kiln_compiler_result* result) {
  // Getters take a null result, so that a caller need not ask twice after a failed call.
  return result != nullptr && result->compiled.succeeded ? 1 : 0;
}

kiln_text kiln_compiler_result_text(const kiln_compiler_result* result) {
  return result == nullptr ? kiln_text{} : TextOf(result->compiled.report);
}

uint32_t kiln_compiler_result_message_count(const kiln_compiler_result* result) {
  return result == nullptr ? 0 : static_cast<uint32_t>(result->compiled.messages.size());
}

// Views into the result. They are valid until it is destroyed.
kiln_result kiln_compiler_result_message(const kiln_compiler_result* result, uint32_t index,
                                         kiln_compiler_message* message, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(result, "result"));
    KILN_TRY_VOID(CheckRoom(message, "message"));
    // A failed compile has messages too, so nothing asks here whether it succeeded.
    if (index >= result->compiled.messages.size()) {
      return OutOfRange("message", index, result->compiled.messages.size());
    }
    const embed::Message& from = result->compiled.messages[index];
    Give(kiln_compiler_message{.struct_size = 0,
                               .severity = static_cast<kiln_compiler_severity>(from.severity),
                               .code = TextOf(from.code),
                               .text = TextOf(from.text),
                               .path = TextOf(from.path),
                               .line = from.line,
                               .column = from.column},
         message);
    return {};
  });
}

uint32_t kiln_compiler_result_module_count(const kiln_compiler_result* result) {
  return result == nullptr ? 0 : static_cast<uint32_t>(result->compiled.modules.size());
}

kiln_result kiln_compiler_result_module(const kiln_compiler_result* result, uint32_t index,
                                        kiln_compiler_module* module, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(result, "result"));
    KILN_TRY_VOID(CheckRoom(module, "module"));
    if (index >= result->compiled.modules.size()) {
      return OutOfRange("module", index, result->compiled.modules.size());
    }
    const embed::CompiledModule& from = result->compiled.modules[index];
    Give(kiln_compiler_module{.struct_size = 0, .stage = StageOf(from), .code = BytesOf(from.code)},
         module);
    return {};
  });
}

kiln_compiler_bytes kiln_compiler_result_metadata(const kiln_compiler_result* result) {
  return result == nullptr ? kiln_compiler_bytes{} : BytesOf(result->compiled.metadata);
}

// Only a result of SPIR-V that succeeded has an artifact.
kiln_result kiln_compiler_result_add_to(const kiln_compiler_result* result, kiln_source* source,
                                        kiln_text program, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(result, "result"));
    KILN_TRY_VOID(NotNull(source, "source"));
    if (!result->compiled.succeeded || !result->spirv) {
      return Error{ErrorCode::kFailedPrecondition,
                   result->spirv ? "the compile failed; its messages say why"
                                 : "pipelines are made of SPIR-V, and this is WGSL",
                   "RESULT"};
    }
    return AddTo(*result, source, program);
  });
}

void kiln_compiler_result_destroy(kiln_compiler_result* compiler_result) {
  ForeignDestroy(compiler_result);
}
