// SPDX-License-Identifier: MIT
// Sources of the C interface: a pack that is complete, or a memory that a caller fills. Both are
// shared with the pipelines that are made from them and live as long as any of these.
#include "runtime/c/source.h"

#include <cstring>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/pack.h"
#include "runtime/pipeline/pack_source.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// The digest of C is plain bytes, so it can be written into files by the caller.
kiln::Digest FromC(const kiln_digest& digest) {
  kiln::Digest out;
  std::memcpy(out.id.bytes.data(), digest.id, sizeof(digest.id));
  out.size = digest.size;
  return out;
}

// A pack is read-only and shared; what is added to it would be seen by nobody else.
Result<void> CheckInMemory(const kiln_source& source) {
  if (source.memory == nullptr) {
    return Error{ErrorCode::kFailedPrecondition, "the source is that of a pack, which is complete",
                 "SOURCE"};
  }
  return {};
}

// A digest without content would fail much later, when its pipeline is built.
Result<void> CheckAdded(const runtime::MemorySource& memory, const kiln::Digest& digest,
                        std::string_view what) {
  if (!memory.Has(digest)) {
    return Error{ErrorCode::kNotFound,
                 std::string(what) + " " + digest.id.hex() + " was not added to the source", ""};
  }
  return {};
}

// Content has to be there before the artifact that names it. An artifact that is found can then be
// built, and nobody meets a half of it.
Result<void> AddArtifact(runtime::MemorySource& memory, const kiln_artifact_info& info) {
  runtime::SourceArtifact artifact;
  KILN_TRY(const std::string_view program, TakeText(info.program, "info.program"));
  KILN_TRY(const auto options, TakeOptions(info.options, info.option_count));
  KILN_TRY(const auto modules, TakeArray(info.modules, info.module_count, "info.modules"));
  artifact.program = program;
  artifact.metadata = FromC(info.metadata);
  KILN_TRY_VOID(CheckAdded(memory, artifact.metadata, "metadata"));
  for (const kiln_module& module : modules) {
    // The number behind the last stage says that one module holds all of them.
    KILN_TRY_VOID(CheckNumber(module.stage, KILN_STAGE_ALL, "info.modules.stage"));
    runtime::CodeRef& code = artifact.code.emplace_back();
    code.digest = FromC(module.code);
    if (module.stage != KILN_STAGE_ALL) {
      code.stage = static_cast<artifact::Stage>(module.stage);
    }
    KILN_TRY_VOID(CheckAdded(memory, code.digest, "code"));
  }
  // What an artifact of this name and these options was before is replaced.
  memory.AddArtifact(artifact, options);
  return {};
}

}  // namespace

namespace kiln::c {

Result<runtime::SourceArtifact> FindArtifact(const kiln_source& source,
                                             const kiln_variant& variant) {
  KILN_TRY(const std::string_view program, TakeText(variant.program, "variant.program"));
  KILN_TRY(const auto options, TakeOptions(variant.options, variant.option_count));
  return source.source->Find(program, options);
}

// Decoded anew for each call: these calls are made while loading and never in a frame.
Result<artifact::PipelineMetadata> ReadMetadata(const kiln_source& source,
                                                const runtime::SourceArtifact& artifact) {
  KILN_TRY(const runtime::SourceBytes bytes, source.source->Read(artifact.metadata));
  return artifact::DecodeMetadata(bytes.bytes);
}

}  // namespace kiln::c

kiln_result kiln_source_from_pack(kiln_pack* pack, const kiln_pack_source_info* info,
                                  kiln_source** source, kiln_error** error) {
  return Call(pack, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pack, "pack"));
    KILN_TRY(const kiln_pack_source_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const std::string_view target, TakeText(given.target, "info.target"));
    runtime::PackSourceConfig config;
    config.target = target;
    if (given.swapchain_format != VK_FORMAT_UNDEFINED) {
      // Programs that draw to the screen have one pipeline for each format; this is the one that is
      // taken.
      config.swapchain_format = given.swapchain_format;
    }
    auto made = std::make_unique<kiln_source>();
    made->context = pack->context;
    made->source = std::make_shared<runtime::PackSource>(pack->pack, std::move(config));
    *source = made.release();
    return {};
  });
}

kiln_result kiln_source_in_memory(kiln_context* context, kiln_source** source, kiln_error** error) {
  return Call(context, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(context, "context"));
    KILN_TRY_VOID(NotNull(source, "source"));
    auto made = std::make_unique<kiln_source>();
    made->context = context->context;
    made->memory = std::make_shared<runtime::MemorySource>();
    // Both point to the same object: one to add to, one to read from, as of any source.
    made->source = made->memory;
    *source = made.release();
    return {};
  });
}

kiln_result kiln_source_add_content(kiln_source* source, const void* bytes, size_t count,
                                    kiln_digest* digest, kiln_error** error) {
  return Call(source, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const auto view, TakeArray(static_cast<const std::byte*>(bytes), count, "bytes"));
    KILN_TRY_VOID(NotNull(digest, "digest"));
    KILN_TRY_VOID(CheckInMemory(*source));
    // The digest is computed here and not taken from the caller, who could claim another one.
    const kiln::Digest id = DigestOf(ByteView(view));
    KILN_TRY_VOID(source->memory->AddBytes(id, Bytes(view.begin(), view.end())));
    std::memcpy(digest->id, id.id.bytes.data(), sizeof(digest->id));
    digest->size = id.size;
    return {};
  });
}

kiln_result kiln_source_add_artifact(kiln_source* source, const kiln_artifact_info* info,
                                     kiln_error** error) {
  return Call(source, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const kiln_artifact_info given, Take(info, "info"));
    KILN_TRY_VOID(CheckInMemory(*source));
    return AddArtifact(*source->memory, given);
  });
}

void kiln_source_destroy(kiln_source* source) { Destroy(source); }
