// SPDX-License-Identifier: MIT
// A write transaction: rolled back unless it was committed.
#pragma once

#include "cache/sqlite/connection.h"

namespace kiln::cache::sqlite {

// Borrows the connection, which must outlive it.
class Transaction {
 public:
  // BEGIN IMMEDIATE: takes the write lock now, so that nothing after it can fail for being late.
  static Result<Transaction> Begin(Connection& connection);

  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // On failure nothing was written and the transaction is over.
  Result<void> Commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  void RollBack();

  Connection* connection_;  // null: over
};

}  // namespace kiln::cache::sqlite
