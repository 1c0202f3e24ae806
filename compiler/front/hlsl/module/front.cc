// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/module/front.h"

#include <utility>

#include "compiler/front/hlsl/module/stream_files.h"
#include "compiler/front/hlsl/preprocess/dump.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"

namespace kiln::hlsl {

ParsedModule Parse(const SourceFile& root, const SourceSet& files, const Settings& settings,
                   const Hash128& /*fingerprint*/, uint32_t ordinal, const LanguageLimits& limits) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal, limits);
  ParsedModule out{.module = {.value = {}, .diagnostics = std::move(read.diagnostics)},
                   .files = FilesOf(read.stream),
                   .probes = std::move(read.stream.probes)};
  if (!HasErrors(out.module.diagnostics)) {  // what follows is not part of this build
    out.module.diagnostics.push_back(Make(Code::kHlsl8004, {.module = ordinal, .bytes = {0, 0}})
                                         .With("text", Quoted(root.path))
                                         .With("family", "HLSL behind its preprocessor"));
  }
  SortAndMerge(out.module.diagnostics);
  return out;
}

std::vector<Probe> ProbesOf(const SourceFile& root, const SourceSet& files,
                            const Settings& settings) {
  return Preprocess(root, files, settings, 0).stream.probes;
}

DumpedStage DumpLexed(const SourceFile& root) {
  DumpedStage out;
  out.files.files.push_back({.path = root.path, .digest = root.digest, .first = 0, .included = {}});
  out.text.value = DumpTokens(root);
  return out;
}

DumpedStage DumpPreprocessed(const SourceFile& root, const SourceSet& files,
                             const Settings& settings, uint32_t ordinal) {
  PreprocessResult read = Preprocess(root, files, settings, ordinal);
  DumpedStage out{.text = {.value = {}, .diagnostics = std::move(read.diagnostics)},
                  .files = FilesOf(read.stream)};
  if (!HasErrors(out.text.diagnostics)) {
    out.text.value = DumpPreprocessed(read.stream, root, files);
  }
  SortAndMerge(out.text.diagnostics);
  return out;
}

}  // namespace kiln::hlsl
