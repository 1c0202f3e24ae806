// SPDX-License-Identifier: MIT
// BEGIN IMMEDIATE, COMMIT, ROLLBACK.
#include "cache/sqlite/transaction.h"

namespace kiln::cache::sqlite {

Result<Transaction> Transaction::Begin(Connection& connection) {
  // The lock for writing is taken at once: a transaction that began by reading could not be
  // upgraded while another process writes.
  KILN_TRY_VOID(connection.Execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::~Transaction() { RollBack(); }

void Transaction::RollBack() {
  Connection* connection = std::exchange(connection_, nullptr);
  if (connection == nullptr || connection->autocommit()) {
    return;  // over; SQLite rolls back by itself after some errors
  }
  static_cast<void>(connection->Execute("ROLLBACK"));  // fails only when nothing is open
}

// A COMMIT that fails leaves the transaction open as a rule, on a full disk for example, and the
// next BEGIN would fail.
Result<void> Transaction::Commit() {
  Result<void> done = connection_->Execute("COMMIT");
  if (!done.ok()) {
    RollBack();
    return done;
  }
  connection_ = nullptr;
  return done;
}

}  // namespace kiln::cache::sqlite
