// SPDX-License-Identifier: MIT
// Explain records as bytes: canonical tags, so that equal records are equal bytes. A tag is never
// given a second meaning; a new field gets a new one, which older builds refuse. See spec/cache 11
#pragma once

#include "cache/explain/explain.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::cache {

// `seq` is left out: whoever keeps the record gives it.
Bytes EncodeExplain(const ExplainRecord& record);
// Takes hostile bytes. Errors: kCorrupt.
Result<ExplainRecord> DecodeExplain(ByteView bytes);

}  // namespace kiln::cache
