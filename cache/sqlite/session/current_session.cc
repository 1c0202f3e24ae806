// SPDX-License-Identifier: MIT
// The session over the file that is current. Replacing the file exchanges the pointer; calls that
// are under way keep the former session alive until they end.
#include "cache/sqlite/session/current_session.h"

#include <string>
#include <utility>

namespace kiln::cache::sqlite {

// Whoever has the pointer may finish with the session, even if the file is replaced meanwhile.
std::shared_ptr<Session> CurrentSession::Get() const {
  const MutexLock lock(mutex_);
  return session_;
}

std::shared_ptr<Session> CurrentSession::Exchange(std::shared_ptr<Session> session) {
  const MutexLock lock(mutex_);
  return std::exchange(session_, std::move(session));
}

Result<ReaderPool::Loan> CurrentSession::Read(const Call& call) const {
  const std::shared_ptr<Session> session = Get();
  if (session == nullptr) {
    return Error{.code = ErrorCode::kUnavailable, .context = "the cache has no database"};
  }
  KILN_TRY(ReaderPool::Loan loan, session->readers().Take(call));
  // The loan holds the session, so the readers outlive a replacement of the file.
  loan.KeepAlive(session);
  return loan;
}

// kBusy tells the caller to come again: without a database a new one is about to be opened.
Result<void> CurrentSession::Write(Writer::Change change, const Call& call) const {
  const std::shared_ptr<Session> session = Get();
  if (session == nullptr) {
    return Error{.code = ErrorCode::kBusy, .context = "the cache has no database"};
  }
  if (session->writer() == nullptr) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "another process owns the cache",
                 .reason = std::string(kReadOnly)};
  }
  return session->writer()->Run(std::move(change), {}, call);
}

void CurrentSession::Post(Writer::Change change, const Writer::Weight& weight) const {
  WithWriter([&](Writer& writer) {
    // A deadline of now: if the queue is full, the change is dropped instead of waited for.
    static_cast<void>(writer.Post(std::move(change), weight, {.deadline = clock_.Monotonic()}));
  });
}

void CurrentSession::WithWriter(const std::function<void(Writer&)>& use) const {
  const std::shared_ptr<Session> session = Get();
  if (session != nullptr && session->writer() != nullptr) {
    use(*session->writer());
  }
}

}  // namespace kiln::cache::sqlite
