-- SPDX-License-Identifier: MIT
-- The tables of cache.db (spec/cache 6.3). FORMAT.md has one sentence per column. The text is compiled
-- into the binary; user_version (database.cc) rises with every change that an older kiln cannot read.

CREATE TABLE meta (k TEXT PRIMARY KEY, v ANY NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE space (space INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE dict (dict INTEGER PRIMARY KEY, id BLOB NOT NULL, data BLOB NOT NULL) STRICT;

CREATE TABLE block (
  bid INTEGER PRIMARY KEY,
  id BLOB NOT NULL CHECK (length(id) = 16),
  raw_size INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  dict INTEGER NOT NULL,
  data BLOB NOT NULL) STRICT;

CREATE TABLE blob (
  rid INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  raw_size INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  dict INTEGER NOT NULL DEFAULT 0,
  put_s INTEGER NOT NULL,
  block INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL DEFAULT 0,
  sum BLOB NOT NULL CHECK (length(sum) = 16),
  data BLOB NOT NULL) STRICT;
CREATE INDEX blob_block ON blob (block) WHERE block <> 0;

CREATE TABLE form (form INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

CREATE TABLE entry (
  eid INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  level INTEGER NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 16),
  kind INTEGER NOT NULL,
  expires_s INTEGER,
  used_q INTEGER NOT NULL,
  cost_us INTEGER NOT NULL,
  form INTEGER NOT NULL DEFAULT 0,
  value BLOB NOT NULL,
  sum BLOB NOT NULL CHECK (length(sum) = 16),
  UNIQUE (space, level, key)) STRICT;
CREATE INDEX entry_lru ON entry (used_q, eid);
CREATE INDEX entry_expiry ON entry (expires_s) WHERE expires_s IS NOT NULL;

CREATE TABLE ref (
  eid INTEGER NOT NULL,
  rid INTEGER NOT NULL,
  PRIMARY KEY (eid, rid)) STRICT, WITHOUT ROWID;
CREATE INDEX ref_rid ON ref (rid);

CREATE TABLE alias (
  space INTEGER NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 16),
  eid INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (space, key)) STRICT, WITHOUT ROWID;
CREATE INDEX alias_eid ON alias (eid);

CREATE TABLE pin (
  pin INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  made_s INTEGER NOT NULL,
  until_s INTEGER,
  note TEXT NOT NULL DEFAULT '',
  owner TEXT NOT NULL DEFAULT 'owner') STRICT;

CREATE TABLE pin_entry (
  eid INTEGER NOT NULL,
  pin INTEGER NOT NULL,
  PRIMARY KEY (eid, pin)) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  owner TEXT PRIMARY KEY,
  floor_q INTEGER NOT NULL,
  until_s INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE batch (
  id BLOB PRIMARY KEY,
  spec BLOB NOT NULL,
  state INTEGER NOT NULL,
  counts BLOB NOT NULL,
  updated_s INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE explain (
  slot BLOB NOT NULL,
  seq INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (slot, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE quarantine (
  qid INTEGER PRIMARY KEY,
  at_s INTEGER NOT NULL,
  what TEXT NOT NULL,
  id BLOB NOT NULL,
  reason TEXT NOT NULL,
  bytes BLOB) STRICT;
