// SPDX-License-Identifier: MIT
// Stored form of diagnostics. A location is kept as (module, span number) where there is one,
// without byte positions, so that an edit that moves text does not change what is stored; after
// reading, FillPositions looks the positions up in the current images. Locations without a span
// number (of sources that did not parse) keep their bytes. See spec/cache 2.4.3
//
//   domain "kiln.diagnostics.2"; field 1: list of
//     (code text, location, list of (name, value), list of (kind u32, location, arguments),
//      list of (kind u32, arguments), list of at most one (form u32, confidence u32, location,
//      text))
//   location = module u32, span number u32, begin u32, end u32
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"

namespace kiln {

Bytes EncodeDiagnostics(std::span<const Diagnostic> diagnostics);

// Of diagnostics that went through SortAndMerge, which bounds them. Every byte may be hostile. What
// is returned can be printed: every placeholder has its argument. Errors: kCorrupt for anything
// that EncodeDiagnostics does not write.
Result<std::vector<Diagnostic>> DecodeDiagnostics(ByteView bytes);

// Span of (module, span number), or nullopt if there is no such row.
using SpanLookup = std::function<std::optional<Span>(uint32_t module, uint32_t span_number)>;

// Sets the byte positions of all locations that have a span number; an unknown row becomes the
// start of its module.
void FillPositions(std::vector<Diagnostic>& diagnostics, const SpanLookup& lookup);

}  // namespace kiln
