// SPDX-License-Identifier: MIT
// What a front end made of one source, on its way out of a worker process: the image of an open
// module and diagnostics. See spec/daemon 12.4
//
//   u64 bytes of the diagnostics | diagnostics (diag/encode) | image, none if the source is wrong
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"

namespace kiln::worker {

Bytes EncodeReading(const Diagnosed<ir::Module>& read);

// Every byte may be hostile: the image is verified, and no place is outside of a source of that
// many bytes. Locations name module 0. Errors: kCorrupt; kFailedPrecondition for an image of
// another build.
Result<Diagnosed<ir::Module>> DecodeReading(ir::Language language, ByteView bytes,
                                            uint64_t source_bytes);

// "rpl a/b.rpl" and an input of InputOf -> what DecodeReading takes. Errors: kInvalidArgument for a
// language without a front end and for malformed input.
Result<Bytes> ReadSource(const std::string& language_and_path, ByteView input);
std::string LanguageAndPath(ir::Language language, const std::string& path);
// u32 limits, in the order of their table | source
Bytes InputOf(const LanguageLimits& limits, std::string_view source);

}  // namespace kiln::worker
