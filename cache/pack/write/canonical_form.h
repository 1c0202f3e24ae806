// SPDX-License-Identifier: MIT
// Whether a pack is the one that the writer makes of its contents. Sums and ids say that bytes are
// those that somebody wrote; this says that nothing else was written: no row out of its order, no
// row that nothing names, no byte that means nothing. See spec/cache 10.4
#pragma once

#include "cache/pack/reader.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// `file`: the bytes that the pack was opened from, of which the end may be missing. What cannot be
// known is left alone: what the contents say (names, keys, hashes, formats, who built it) and how a
// section or block was compressed.
// Errors: PACK_CORRUPT naming the section; PACK_NEEDS_NEWER for a minor version that this reader
// does not know all of.
Result<void> CheckCanonicalForm(const Pack& pack, ByteView file);

}  // namespace kiln::pack
