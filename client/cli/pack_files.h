// SPDX-License-Identifier: MIT
// What the verbs of packs share: opening a pack with its bases, keys, exit codes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "cache/pack/signature.h"
#include "client/cli/batch_run.h"
#include "client/cli/store_arguments.h"

namespace kiln::cli {

// With its bases, which are named or lie beside it. Errors: PACK_*; those of the file.
Result<std::unique_ptr<pack::Pack>> OpenPack(const std::string& file,
                                             const PackArguments& arguments);

// What a pack has of one variant and target. The bytes live as long as the pack.
struct PackedArtifact {
  struct Code {
    std::string stage;  // "vertex"; empty for a module of all stages
    cache::Blob blob;
  };
  std::string target;
  Hash128 live_key;
  std::vector<Code> code;
  std::optional<cache::Blob> metadata;
};
// `options`: NAME=VALUE; those that are not named have their defaults. `target` empty: all of them.
// Errors: kNotFound with NOT_IN_PACK; kInvalidArgument for options; as Pack::GetBlob.
Result<std::vector<PackedArtifact>> ArtifactsIn(const pack::Pack& pack, const std::string& program,
                                                const std::vector<std::string>& options,
                                                const std::string& target);

// A private key; nothing for no file.
Result<std::optional<pack::SigningKey>> KeyOf(const std::string& file);

// Whether --out names a file for results that is to be a pack.
bool IsPackFile(const std::string& path);
// A batch that went well as the file arguments.out, with what the manifest says of passes, and with
// warm list, base and signature of the arguments.
Result<client::BuiltPack> PackBatch(client::Client& client, const Project& project,
                                    const std::string& batch, const PackArguments& arguments);

// Errors of a pack that was asked for by name are damage, except that its base is not there.
int FailPack(const Global& global, Error error);

}  // namespace kiln::cli
