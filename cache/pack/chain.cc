// SPDX-License-Identifier: MIT
// Opens a pack with the packs below it (spec/cache 10). The files are found by the ids in their
// headers among the candidates, so their names do not matter.
#include "cache/pack/chain.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "cache/pack/errors.h"

namespace kiln::pack {
namespace {

// Reads a header only to choose among files; Pack::Open checks what it says.
std::optional<Header> HeaderOf(const std::string& path) {
  const Result<MappedFile> file = MappedFile::Open(path);
  if (!file.ok() || file->bytes().size() < sizeof(Header)) {
    return std::nullopt;
  }
  Header header;
  std::memcpy(&header, file->bytes().data(), sizeof(header));
  return header.magic == kMagic ? std::optional(header) : std::nullopt;
}

// A base that is not among the candidates is no error here: Pack::Open refuses the delta with the
// id of what is missing.
Result<std::unique_ptr<Pack>> OpenLink(const std::string& path,
                                       std::span<const std::string> candidates,
                                       const ReadOptions& options, uint32_t links) {
  ReadOptions with_base = options;
  with_base.base = nullptr;
  const std::optional<Header> header = HeaderOf(path);
  if (header.has_value() && !header->base_pack.zero()) {
    // The bound ends the recursion, also where two files claim to be each other's base.
    if (links == kMaxLinks) {
      return PackError(kLimit, fmt::format("'{}': more than {} packs lie below, or a pack is its "
                                           "own base: flatten them",
                                           path, kMaxLinks));
    }
    for (const std::string& candidate : candidates) {
      const std::optional<Header> other = HeaderOf(candidate);
      // The id in an unchecked header only chooses the file. Pack::Open computes the id of what it
      // reads, so a file that lies about it is refused there.
      if (other.has_value() && other->pack_id == header->base_pack) {
        KILN_TRY(with_base.base, OpenLink(candidate, candidates, options, links + 1));
        break;
      }
    }
  }
  return Pack::Open(path, with_base);
}

}  // namespace

Result<std::unique_ptr<Pack>> OpenChain(const std::string& path,
                                        std::span<const std::string> candidates,
                                        const ReadOptions& options) {
  return OpenLink(path, candidates, options, 0);
}

}  // namespace kiln::pack
