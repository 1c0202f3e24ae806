// SPDX-License-Identifier: MIT
#include "server/worker/reading.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "compiler/diag/encode.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/source_file.h"

namespace kiln::worker {
namespace {

Error Corrupt(const char* what) {
  return {.code = ErrorCode::kCorrupt, .context = what, .reason = {}};
}

bool IsInside(const Location& where, uint64_t size) {
  return !where.known() ||
         (where.module == 0 && where.bytes.begin <= where.bytes.end && where.bytes.end <= size);
}

bool IsInside(const Diagnostic& diagnostic, uint64_t size) {
  return IsInside(diagnostic.primary, size) &&
         std::ranges::all_of(diagnostic.labels,
                             [&](const Label& label) { return IsInside(label.where, size); });
}

}  // namespace

Bytes EncodeReading(const Diagnosed<ir::Module>& read) {
  const Bytes diagnostics =
      read.diagnostics.empty() ? Bytes() : EncodeDiagnostics(read.diagnostics);
  const ByteView image = read.value.has_value() ? ByteView(read.value->image()) : ByteView();
  const auto size = static_cast<uint64_t>(diagnostics.size());
  Bytes bytes(sizeof(size) + diagnostics.size() + image.size());
  std::memcpy(bytes.data(), &size, sizeof(size));
  std::ranges::copy(image, std::ranges::copy(diagnostics, bytes.begin() + sizeof(size)).out);
  return bytes;
}

Result<Diagnosed<ir::Module>> DecodeReading(ir::Language language, ByteView bytes,
                                            uint64_t source_bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) {
    return Corrupt("no reading of a source");
  }
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes = bytes.subspan(sizeof(size));
  if (size > bytes.size()) {
    return Corrupt("a reading that ends in its diagnostics");
  }
  Diagnosed<ir::Module> read;
  if (size != 0) {
    KILN_TRY(read.diagnostics, DecodeDiagnostics(bytes.first(size)));
  }
  if (const ByteView image = bytes.subspan(size); !image.empty()) {
    KILN_TRY(ir::Module module, driver::LoadModule(language, image));
    const std::span<const Span> spans = module.view().spans;
    if (!std::ranges::all_of(spans, [&](const Span& span) {
          return span.begin <= span.end && span.end <= source_bytes;
        })) {
      return Corrupt("an image with places outside of its source");
    }
    FillPositions(read.diagnostics, [&](uint32_t, uint32_t number) {
      return number < spans.size() ? std::optional(spans[number]) : std::nullopt;
    });
    read.value = std::move(module);
  } else if (read.diagnostics.empty()) {
    return Corrupt("a reading without image and diagnostics");
  }
  if (!std::ranges::all_of(read.diagnostics, [&](const Diagnostic& diagnostic) {
        return IsInside(diagnostic, source_bytes);
      })) {
    return Corrupt("a diagnostic outside of its source");
  }
  return read;
}

std::string TextOf(const ReadingJob& job) {
  std::string text(driver::LanguageText(job.language));
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    text += ' ' + std::to_string(job.limits.*row.value);
  }
  return text + ' ' + job.path;
}

Result<ReadingJob> ReadingJobOf(const std::string& text) {
  ReadingJob job;
  std::istringstream in(text);
  std::string language;
  in >> language;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    in >> job.limits.*row.value;
  }
  (void)in.get();  // the space before the path, which is all of the rest
  std::getline(in, job.path, '\0');
  const std::optional<ir::Language> known = driver::LanguageOf(job.path);
  job.language = known.value_or(job.language);
  if (!known.has_value() || TextOf(job) != text) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "no front end reads '" + text + "'",
                 .reason = {}};
  }
  return job;
}

Result<Bytes> ReadSource(const std::string& job, ByteView source) {
  KILN_TRY(const ReadingJob asked, ReadingJobOf(job));
  return EncodeReading(driver::ParseSource(asked.language,
                                           SourceFile(asked.path, std::string(AsText(source))),
                                           /*module=*/0, asked.limits));
}

}  // namespace kiln::worker
