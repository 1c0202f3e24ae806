// SPDX-License-Identifier: MIT
// What a daemon sends -> a source of libkiln, through kiln.h as every program would do it.
#pragma once

#include <vector>

#include <kiln/client.h>

#include "client/startup_fetch.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::c {

// Errors: FAILED_PRECONDITION if the source is that of a pack.
Result<void> AddContent(kiln_source* source, ByteView bytes);
// Errors: NOT_FOUND for content that was not added.
Result<void> AddArtifact(kiln_source* source, const client::StartupArtifact& artifact);

// Views of what `options` owns.
std::vector<kiln_option> OptionsFor(const std::vector<client::Option>& options);

}  // namespace kiln::c
