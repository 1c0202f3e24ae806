// SPDX-License-Identifier: MIT
// What a front end is given and what it made, on the way into a worker process and out of it: a
// source with its settings and the files that it may include; the image of an open module and
// diagnostics, with the files that it was made of and what includes asked for. See spec/daemon 12.4
//
//   in:   u32 limits, in the order of their table
//         domain "kiln.toread.1"; 1: source, 2: list of (setting, value), 3: list of (macro,
//         value), 4: list of include roots, 5: list of (path, text), 6: list of (macro, "=value"
//         or nothing)?
//   out:  domain "kiln.read.1"; 1: diagnostics (diag/encode)?, 2: image, none if the source is
//         wrong, 3: files (ir/module_files)?, 4: probes (source/probe_list)?
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/source_file.h"

namespace kiln::worker {

// What a front end reads; views.
struct ReadInputs {
  const SourceFile& source;
  const hlsl::Settings& settings;
  std::span<const SourceFile* const> files;  // that may be included, each path once
};

Bytes EncodeReading(const driver::ParsedSource& read);

// Every byte may be hostile: the image is verified, no place is outside of the texts that it was
// made of, and nothing is said of files but what is true of these. Locations name module 0. Errors:
// kCorrupt; kFailedPrecondition for an image of another build.
Result<driver::ParsedSource> DecodeReading(ir::Language language, ByteView bytes,
                                           const ReadInputs& inputs);

// "rpl a/b.rpl" and an input of InputOf -> what DecodeReading takes. Errors: kInvalidArgument for a
// language without a front end and for malformed input.
Result<Bytes> ReadSource(const std::string& language_and_path, ByteView input);
std::string LanguageAndPath(ir::Language language, const std::string& path);
Bytes InputOf(const LanguageLimits& limits, const ReadInputs& inputs);

}  // namespace kiln::worker
