// SPDX-License-Identifier: MIT
// What a front end made of one source, on its way out of a worker process: the image of an open
// module and diagnostics. Spec: daemon §12.4
//
//   u64 bytes of the diagnostics | diagnostics (diag/encode) | image, none if the source is wrong
#pragma once

#include <string>

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

// A job to read a source, as the text of its message: language, limits in the order of their table,
// path.
struct ReadingJob {
  ir::Language language = ir::Language::kRpl;
  std::string path;
  LanguageLimits limits = {};

  friend bool operator==(const ReadingJob&, const ReadingJob&) = default;
};
std::string TextOf(const ReadingJob& job);
// Errors: kInvalidArgument for a language that nobody reads and for what is no such text.
Result<ReadingJob> ReadingJobOf(const std::string& text);

// The text of a job and a source -> what DecodeReading takes. Errors: as ReadingJobOf.
Result<Bytes> ReadSource(const std::string& job, ByteView source);

}  // namespace kiln::worker
