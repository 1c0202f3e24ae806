// SPDX-License-Identifier: MIT
// `kiln pack verify` (spec/cli 6.10): reads and hashes all content of a pack, decodes its
// metadata and checks its signature (spec/cache 10). A signature by another key than the required
// one is refused when the pack is opened, before anything of it is trusted.
#include "client/cli/pack/verify.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/errors.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/pack/files.h"
#include "compiler/artifact/metadata.h"

namespace kiln::cli {
namespace {

// An engine reads the metadata of each artifact and believes what is in their bounds: content that
// has the id it should have may still be what no engine takes. The error names an artifact. Each
// blob is looked at once, in the order of blocks, of which the pack keeps only some in memory.
Result<void> CheckMetadata(const pack::Pack& pack) {
  const pack::Tables& tables = pack.tables();
  std::map<std::pair<uint32_t, uint32_t>, Hash128> by_place;  // block and blob; whose they are
  for (const pack::ArtifactRow& row : tables.artifacts) {
    if (row.metadata != pack::kNone) {
      by_place.try_emplace({tables.blobs[row.metadata].block, row.metadata}, row.live_key);
    }
  }
  for (const auto& [place, live_key] : by_place) {
    KILN_TRY(const cache::Blob blob, pack.GetBlob(place.second));
    const Result<artifact::PipelineMetadata> metadata = artifact::DecodeMetadata(blob.bytes);
    if (!metadata.ok()) {
      return pack::PackError(pack::kCorrupt,
                             fmt::format("metadata of artifact {}: {}; build the pack again",
                                         live_key.hex(), metadata.error().context));
    }
  }
  return {};
}

}  // namespace

// Without --require-signature a pack is only checked against itself. That finds damage and no
// forgery, hence the text says nothing about a signer.
int RunPackVerify(const Global& global, const PackVerifyArguments& arguments) {
  const std::string& file = arguments.file;
  const Result<std::unique_ptr<pack::Pack>> pack =
      OpenPack(file, arguments.bases, arguments.require_signature);
  Result<void> verified = pack.ok() ? (*pack)->Verify() : Result<void>(pack.error());
  if (verified.ok()) {
    verified = CheckMetadata(**pack);
  }
  if (!verified.ok()) {
    return FailPack(global, verified.error());
  }
  const pack::Tables& tables = (*pack)->tables();
  if (!global.json && !global.quiet) {
    Print("{}: sound; {} blobs in {} blocks{}\n", file, tables.blobs.size(), tables.blocks.size(),
          (*pack)->signer().has_value() ? ", signed with the key that was asked for" : "");
  }
  NoteResult("pack verify", 0,
             Counts{{"blobs", tables.blobs.size()}, {"blocks", tables.blocks.size()}});
  return kSuccess;
}

void AddPackVerify(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackVerifyArguments>();
  CLI::App* verify = AddVerb(
      pack, line,
      {"verify", "Read and check everything",
       "  kiln pack verify demo.kpack\n  kiln pack verify demo.kpack --require-signature kiln.pub"},
      [&line, arguments] { return RunPackVerify(line.global, *arguments); });
  verify->add_option("file", arguments->file, "Pack file")->required();
  AddBases(*verify, arguments->bases);
  verify->add_option("--require-signature", arguments->require_signature, "File of a public key");
}

}  // namespace kiln::cli
