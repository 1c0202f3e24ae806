// SPDX-License-Identifier: MIT
// Who changed what, and who was refused, in two files of lines of JSON (spec/daemon 11). Refusals
// have a file of their own, because strangers cause them and must not push out the acts. One mutex
// guards both.
#include "server/ops/audit_log.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/base/printable.h"
#include "server/ops/stamp.h"

namespace kiln::ops {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kLook = std::chrono::seconds(10);  // how often the untold is looked for
constexpr size_t kMostText = 256;                     // bytes of one member

std::string LineOf(const Json& object) {
  // Texts that callers chose may have bytes that are no UTF-8, which dump replaces, and characters
  // that a terminal obeys, which are spelled out.
  return PrintableJson(object.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string AuditLog::RefusalsPath(const std::string& path) {
  std::filesystem::path refusals(path);
  refusals.replace_extension(".refused" + refusals.extension().string());
  return refusals.string();
}

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, Clock& clock,
                                                 LogSink& log, const Limits& limits) {
  KILN_TRY(std::unique_ptr<RotatedFile> acts, RotatedFile::Open(path, limits.acts));
  KILN_TRY(std::unique_ptr<RotatedFile> refusals,
           RotatedFile::Open(RefusalsPath(path), limits.refusals));
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(acts), std::move(refusals), clock, log));
}

AuditLog::AuditLog(std::unique_ptr<RotatedFile> acts, std::unique_ptr<RotatedFile> refusals,
                   Clock& clock, LogSink& log)
    : clock_(clock),
      log_(log),
      acts_{.file = std::move(acts), .quota = LineQuota(kActs)},
      refusals_{.file = std::move(refusals), .quota = LineQuota(kRefusals)} {}

// What was held back and never told would be lost with the process, and the file would claim that
// nothing more happened.
AuditLog::~AuditLog() {
  const MutexLock lock(mutex_);
  TellUntold(acts_, true);
  TellUntold(refusals_, true);
}

// The line is in the file when this returns, but not on the disk: nothing waits for fsync here.
void AuditLog::Write(const Party& party, const AuditLine& line) {
  const MutexLock lock(mutex_);
  const std::optional<uint64_t> held_back =
      // The owner's acts are told in full. He cannot be made to write by others, and his own disk
      // is his own affair.
      party.is_owner() ? 0 : acts_.quota.Take(party.name(), clock_.Monotonic());
  if (held_back.has_value()) {
    Append(acts_, line, *held_back);
  }
  TellUntold(acts_, false);
}

std::optional<uint64_t> AuditLog::WriteRefusal(const Party& party, const AuditLine& line) {
  const MutexLock lock(mutex_);
  const std::optional<uint64_t> held_back = refusals_.quota.Take(party.name(), clock_.Monotonic());
  if (held_back.has_value()) {
    Append(refusals_, line, *held_back);
  }
  TellUntold(refusals_, false);
  return held_back;
}

// Members that say nothing are left out. Texts are cut, since some of them are the caller's choice.
void AuditLog::Append(Book& book, const AuditLine& line, uint64_t held_back) {
  Json object{{"ts", StampOf(clock_.UnixTime())}, {"event", line.event}};
  const auto add = [&](const char* key, std::string_view value) {
    if (!value.empty()) {
      object[key] = value.substr(0, kMostText);
    }
  };
  add("peer", line.peer);
  add("subject", line.subject);
  add("token", line.token);
  add("method", line.method);
  add("object", line.object);
  add("result", line.result);
  if (line.count != 0) {
    object["count"] = line.count;
  }
  add("trace", line.trace);
  if (held_back != 0) {
    object["held_back"] = held_back;
  }
  AppendText(book, LineOf(object));
}

void AuditLog::TellUntold(Book& book, bool all) {
  const Duration now = clock_.Monotonic();
  // There is no timer: the lines of others carry the count out. Looking goes through up to ten
  // thousand parties, so it is not done with each line.
  if (!all && now - book.looked_at < kLook) {
    return;
  }
  book.looked_at = now;
  for (const LineQuota::HeldBack& row : book.quota.Untold(now, all)) {
    AppendText(book, LineOf({{"ts", StampOf(clock_.UnixTime())},
                             {"event", "held back"},
                             {"party", row.party},
                             {"held_back", row.lines}}));
  }
}

void AuditLog::AppendText(Book& book, const std::string& text) {
  const Result<void> written = book.file->Append(text);
  // Told once, and again only after a line could be written: a full disk would otherwise fill the
  // log, too.
  if (!written.ok() && !book.failing) {
    log_.Write(LogLevel::kError, "audit", "the audit log cannot be written",
               {{"file", book.file->path()}, {"cause", written.error().context}});
  }
  book.failing = !written.ok();
}

}  // namespace kiln::ops
