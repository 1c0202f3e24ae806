// SPDX-License-Identifier: MIT
// What the verbs of packs share: opening a pack with its bases, keys, exit codes.
#pragma once

#include <memory>
#include <optional>

#include "cache/pack/reader.h"
#include "cache/pack/signature.h"
#include "client/cli/store.h"

namespace kiln::cli {

// With its bases, which are named or lie beside it. Errors: PACK_*; those of the file.
Result<std::unique_ptr<pack::Pack>> OpenPack(const std::string& file,
                                             const PackArguments& arguments);

// A private key; nothing for no file.
Result<std::optional<pack::SigningKey>> KeyOf(const std::string& file);

// Errors of a pack that was asked for by name are damage, except that its base is not there.
int FailPack(const Global& global, Error error);

}  // namespace kiln::cli
