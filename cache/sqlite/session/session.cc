// SPDX-License-Identifier: MIT
// Opening in the right order, closing in reverse.
#include "cache/sqlite/session/session.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace kiln::cache::sqlite {
namespace {

// The writer over the file that is there, or over an empty one if the tables that are there are not
// those that its statements were written for. Tried twice at most: a damaged file is set aside
// once, and the empty one that follows cannot be damaged in the same way.
Result<Writer::Side> OpenSide(const Session::Options& options, Clock& clock, LogSink& log,
                              Counters& counters) {
  for (bool again = false;; again = true) {
    KILN_TRY(Connection connection, OpenWriter(options.file, clock, log));
    // A long WAL that an earlier process left is shortened by the writer, in the background.
    std::error_code none;
    const auto wal_bytes = std::filesystem::file_size(options.file.path() + "-wal", none);
    connection.set_wal_frames(none ? 0 : static_cast<int64_t>(wal_bytes) / kPageSize);
    Result<Writer::Side> side =
        Writer::Side::Prepare(std::move(connection), clock, counters, options.writes);
    if (side.ok()) {
      const Result<int64_t> rows =
          side->connection->QueryInt("SELECT EXISTS (SELECT 1 FROM entry)");
      counters.absence.Start(rows.ok() && *rows == 0 ? AbsenceFilter::File::kIsEmpty
                                                     : AbsenceFilter::File::kHasRows);
    }
    if (side.ok() || again || !TellsOfDamage(side.error())) {
      return side;
    }
    KILN_TRY_VOID(SetDamagedAside(options.file, side.error().context, log));
  }
}

}  // namespace

Result<std::shared_ptr<Session>> Session::OpenOwned(const Options& options, Clock& clock,
                                                    LogSink& log, Counters& counters,
                                                    Writer::Hooks hooks) {
  KILN_TRY(Writer::Side side, OpenSide(options, clock, log, counters));
  auto session = std::make_shared<Session>(options, clock);
  session->writer_ = std::make_unique<Writer>(std::move(side), session->readers_, clock, counters,
                                              options.writer, std::move(hooks));
  return session;
}

// The loan is given back at once. It only shows that the file can be read.
Result<std::shared_ptr<Session>> Session::OpenReadOnly(const Options& options, Clock& clock) {
  auto session = std::make_shared<Session>(options, clock);
  KILN_TRY(const ReaderPool::Loan loan, session->readers_.Take({}));  // proves that it can be read
  return session;
}

void Session::Close() {
  // Readers first: the writer's last checkpoint then meets no reader.
  readers_.Close();
  if (writer_ != nullptr) {
    writer_->Stop();
  }
}

}  // namespace kiln::cache::sqlite
