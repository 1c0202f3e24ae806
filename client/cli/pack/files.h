// SPDX-License-Identifier: MIT
// What the verbs of packs share: opening a pack with its bases, keys, exit codes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "cache/pack/signing/signing_key.h"
#include "client/cli/global.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// Declares the packs below a delta.
void AddBases(CLI::App& verb, std::vector<std::string>& bases);

// With its bases, which are named or lie beside it. `require_signature`: file of a public key;
// empty: none is asked for. Errors: PACK_*; those of the file.
Result<std::unique_ptr<pack::Pack>> OpenPack(const std::string& file,
                                             const std::vector<std::string>& bases = {},
                                             const std::string& require_signature = {});

// A private key; nothing for no file.
Result<std::optional<pack::SigningKey>> KeyOf(const std::string& file);

// Whether --out names a file for results that is to be a pack.
bool IsPackFile(const std::string& path);

// Errors of a pack that was asked for by name are damage, except that its base is not there.
int FailPack(const Global& global, Error error);

}  // namespace kiln::cli
