// SPDX-License-Identifier: MIT
// How results of a daemon get into a kiln_source of libkiln. The two libraries talk through the
// public C interface only, never through C++ types, because an engine may load them from different
// builds.
#include "client/c/deliver.h"

#include <cstring>

#include "runtime/c/foreign_call.h"
#include "runtime/c/option_view.h"

namespace kiln::c {
namespace {

kiln_digest ToC(const kiln::Digest& digest) {
  kiln_digest out{};
  std::memcpy(out.id, digest.id.bytes.data(), sizeof(out.id));
  out.size = digest.size;
  return out;
}

}  // namespace

// The digest is computed anew by libkiln, so a blob that was damaged on the way gets another one
// and is never found.
Result<void> AddContent(kiln_source* source, ByteView bytes) {
  kiln_digest digest;
  return CallKiln([&](kiln_error** error) {
    return kiln_source_add_content(source, bytes.data(), bytes.size(), &digest, error);
  });
}

std::vector<kiln_option> OptionsFor(const std::vector<client::Option>& options) {
  // Views of the caller's options; they are valid as long as `options`.
  std::vector<kiln_option> out;
  for (const client::Option& option : options) {
    out.push_back(OptionView(option.name, option.value));
  }
  return out;
}

// All arrays are views that live until the call returns; libkiln copies what it keeps.
Result<void> AddArtifact(kiln_source* source, const client::StartupArtifact& artifact) {
  std::vector<kiln_module> modules;
  for (const client::StageCode& code : artifact.artifact.code) {
    // The daemon's "none" is a module of all stages.
    const auto stage = code.stage == client::Stage::kNone
                           ? static_cast<kiln_stage>(KILN_STAGE_ALL)
                           : static_cast<kiln_stage>(static_cast<int>(code.stage) - 1);
    modules.push_back({stage, ToC(code.digest)});
  }
  const std::vector<kiln_option> options = OptionsFor(artifact.options);
  kiln_artifact_info info;
  // The structure goes through the public interface of libkiln with its size, as if an engine had
  // filled it: the two libraries may be of different builds.
  KILN_INIT(info);
  info.program = TextOf(artifact.program);
  info.options = options.data();
  info.option_count = options.size();
  info.metadata = ToC(artifact.artifact.metadata);
  info.modules = modules.data();
  info.module_count = modules.size();
  return CallKiln(
      [&](kiln_error** error) { return kiln_source_add_artifact(source, &info, error); });
}

}  // namespace kiln::c
