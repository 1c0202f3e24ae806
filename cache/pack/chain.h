// SPDX-License-Identifier: MIT
// Opens a delta together with the packs below it, which may be any of some files. spec/cache 10.9
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cache/pack/reader.h"

namespace kiln::pack {

// `candidates`: paths of packs among which the bases are; those that are not needed are not opened.
// Errors: as Pack::Open; PACK_BASE_MISSING if no candidate is the base; PACK_LIMIT for a chain of
// more than kMaxLinks links, so also for one that leads back to itself.
Result<std::unique_ptr<Pack>> OpenChain(const std::string& path,
                                        std::span<const std::string> candidates,
                                        const ReadOptions& options);

}  // namespace kiln::pack
