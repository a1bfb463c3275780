CREATE TABLE account (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  email      TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE attachment (
  id         INTEGER PRIMARY KEY,
  draft_id   INTEGER REFERENCES draft(id) ON DELETE CASCADE,
  attempt_id TEXT REFERENCES attempt(id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  name       TEXT NOT NULL,
  type       TEXT NOT NULL,
  size       INTEGER NOT NULL,
  sha256     TEXT NOT NULL,
  content    BLOB NOT NULL,
  CHECK ((draft_id IS NULL) <> (attempt_id IS NULL))
) STRICT;

CREATE TABLE attempt (
  id              TEXT PRIMARY KEY,
  account_id      INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind            TEXT NOT NULL CHECK (kind IN ('reply','outbound')),
  message_id      INTEGER REFERENCES message(id), -- no cascade: evidence is never lost with a message
  idempotency_key TEXT NOT NULL CHECK (idempotency_key <> ''),
  key_released    INTEGER NOT NULL DEFAULT 0 CHECK (key_released IN (0,1)),
  payload_digest  BLOB NOT NULL,
  from_name       TEXT NOT NULL DEFAULT '',
  from_addr       TEXT NOT NULL,
  recipients      TEXT NOT NULL,             -- JSON {"to":[…],"cc":[…],"bcc":[…]}
  subject         TEXT NOT NULL DEFAULT '',
  body            TEXT NOT NULL,
  attachments     TEXT NOT NULL DEFAULT '[]',-- JSON [{"name","type","size","sha256"}]
  status          TEXT NOT NULL CHECK (status IN ('pending','sending','sent','failed','uncertain')),
  owner           TEXT NOT NULL DEFAULT '',  -- the process whose lock file says that it lives
  held            TEXT NOT NULL DEFAULT '',  -- why it waits for a person
  handover_at     INTEGER,                   -- the handover mark
  rfc_message_id  TEXT NOT NULL,
  other_ids       TEXT NOT NULL DEFAULT '[]',
  provider_id     TEXT,
  error_code      TEXT,
  error_text      TEXT,
  retryable       INTEGER NOT NULL DEFAULT 0 CHECK (retryable IN (0,1)),
  evidence        TEXT NOT NULL DEFAULT '{}',
  findings        TEXT NOT NULL DEFAULT '[]',-- what probes, answers and bounces proved later
  accepted_late   INTEGER NOT NULL DEFAULT 0 CHECK (accepted_late IN (0,1)),
  bounced         INTEGER NOT NULL DEFAULT 0 CHECK (bounced IN (0,1)),
  bytes           BLOB,                      -- what DATA carried; dropped when the retry record expires
  bytes_digest    BLOB NOT NULL,
  copy_status     TEXT NOT NULL DEFAULT 'pending' CHECK (copy_status IN ('pending','saved','failed','skipped','unknown')),
  copy_folder     TEXT NOT NULL DEFAULT '',
  copy_validity   INTEGER NOT NULL DEFAULT 0,
  copy_uid        INTEGER NOT NULL DEFAULT 0,
  copy_uid_next   INTEGER NOT NULL DEFAULT 0,
  copy_owner      TEXT NOT NULL DEFAULT '',
  copy_begun_at   INTEGER,                   -- APPEND had begun
  copy_error_code TEXT NOT NULL DEFAULT '',
  copy_error_text TEXT NOT NULL DEFAULT '',
  retry_of        TEXT REFERENCES attempt(id) ON DELETE SET NULL,
  auto_tries      INTEGER NOT NULL DEFAULT 0,-- how many automatic tries led to this attempt
  next_try_at     INTEGER,                   -- the outbox tries again then; NULL: only a person does
  resolution      TEXT CHECK (resolution IN ('confirmed_sent','confirmed_not_sent','resent')),
  resolved_at     INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  sent_at         INTEGER,
  CHECK ((kind = 'reply') = (message_id IS NOT NULL)),
  CHECK (kind = 'outbound' OR key_released = 0),
  CHECK (resolution IS NULL OR status = 'uncertain'),
  CHECK ((resolution IS NULL) = (resolved_at IS NULL)),
  CHECK ((status = 'sent') = (sent_at IS NOT NULL)),
  CHECK (status IN ('sending','uncertain','sent','failed') OR handover_at IS NULL)
) STRICT;

CREATE TABLE attempt_message_id (
  message_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  PRIMARY KEY (message_id, attempt_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt_recipient (
  address    TEXT NOT NULL,
  attempt_id TEXT NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  PRIMARY KEY (address, attempt_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL CHECK (actor IN ('person','sync','worker','recovery')),
  account_id INTEGER REFERENCES account(id) ON DELETE CASCADE,
  action     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  why        TEXT NOT NULL DEFAULT '',
  from_state TEXT NOT NULL DEFAULT '',
  to_state   TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE audit_related (
  audit_id INTEGER NOT NULL REFERENCES audit(id) ON DELETE CASCADE,
  subject  TEXT NOT NULL,
  PRIMARY KEY (subject, audit_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE body (
  id       INTEGER PRIMARY KEY,
  digest   BLOB NOT NULL UNIQUE,
  size     INTEGER NOT NULL,                 -- of the bytes before encoding
  encoding TEXT NOT NULL CHECK (encoding IN ('','zstd')),
  bytes    BLOB NOT NULL
) STRICT;

CREATE TABLE classification (
  id       INTEGER PRIMARY KEY,
  event_id INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  class    TEXT NOT NULL CHECK (class <> ''),
  actor    TEXT NOT NULL CHECK (actor IN ('person','sync','worker','recovery')),
  rule_set INTEGER NOT NULL,                 -- 0: a person decided
  note     TEXT NOT NULL DEFAULT '',
  detail   TEXT NOT NULL DEFAULT '',         -- JSON: reasons, recipients, return date
  at       INTEGER NOT NULL
) STRICT;

CREATE TABLE contact (
  id           INTEGER PRIMARY KEY,
  account_id   INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  address      TEXT NOT NULL CHECK (address <> ''), -- by mail.AddressKey
  state        TEXT NOT NULL CHECK (state IN ('active','replied','paused','bounced','suppressed')),
  before       TEXT NOT NULL DEFAULT 'active',      -- the state before this one
  paused_until INTEGER NOT NULL DEFAULT 0,
  why          TEXT NOT NULL DEFAULT '',
  event_id     INTEGER REFERENCES event(id) ON DELETE SET NULL,
  version      INTEGER NOT NULL DEFAULT 1,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  UNIQUE (account_id, address)
) STRICT;

CREATE TABLE draft (
  id              INTEGER PRIMARY KEY,
  account_id      INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind            TEXT NOT NULL CHECK (kind IN ('reply','outbound')),
  message_id      INTEGER REFERENCES message(id) ON DELETE SET NULL,
  forward         INTEGER NOT NULL DEFAULT 0 CHECK (forward IN (0,1)),
  retry_of        TEXT REFERENCES attempt(id) ON DELETE SET NULL,
  from_name       TEXT NOT NULL DEFAULT '',
  from_addr       TEXT NOT NULL DEFAULT '',
  recipients      TEXT NOT NULL,             -- JSON {"to":[…],"cc":[…],"bcc":[…]}
  subject         TEXT NOT NULL DEFAULT '',
  body            TEXT NOT NULL DEFAULT '',
  in_reply_to     TEXT NOT NULL DEFAULT '',
  refs            TEXT NOT NULL DEFAULT '',
  send_at         INTEGER,                   -- the undo window and 'send later' are the same: a draft with a time
  send_owner      TEXT NOT NULL DEFAULT '',
  idempotency_key TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE effect (
  id                INTEGER PRIMARY KEY,
  event_id          INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  classification_id INTEGER NOT NULL REFERENCES classification(id) ON DELETE CASCADE,
  account_id        INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind              TEXT NOT NULL,
  target            TEXT NOT NULL,
  evidence          BLOB NOT NULL,
  done              TEXT NOT NULL DEFAULT '', -- what changed, '' when nothing had to
  at                INTEGER NOT NULL,
  UNIQUE (account_id, kind, target, evidence)
) STRICT;

CREATE TABLE event (
  id             INTEGER PRIMARY KEY,
  account_id     INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  folder         TEXT NOT NULL,
  uid_validity   INTEGER NOT NULL,
  uid            INTEGER NOT NULL,
  message_id     INTEGER REFERENCES message(id) ON DELETE SET NULL,
  rfc_message_id TEXT NOT NULL,
  in_reply_to    TEXT NOT NULL,
  refs           TEXT NOT NULL,
  from_name      TEXT NOT NULL,
  from_addr      TEXT NOT NULL,
  from_key       TEXT NOT NULL,              -- by mail.AddressKey
  subject        TEXT NOT NULL,
  received       INTEGER NOT NULL,
  size           INTEGER NOT NULL,
  header_digest  BLOB NOT NULL,              -- with rfc_message_id and size: the same mail in another place
  evidence       BLOB NOT NULL,              -- what it says, without the traces of its way
  class          TEXT NOT NULL DEFAULT '',   -- the present one; '' for mail older than the account here
  outcome        TEXT NOT NULL DEFAULT '',
  at             INTEGER NOT NULL,
  UNIQUE (account_id, folder, uid_validity, uid)
) STRICT;

CREATE TABLE event_attempt (
  event_id   INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  PRIMARY KEY (event_id, attempt_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_place (
  account_id   INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  folder       TEXT NOT NULL,
  uid_validity INTEGER NOT NULL,
  uid          INTEGER NOT NULL,
  event_id     INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  at           INTEGER NOT NULL,
  PRIMARY KEY (account_id, folder, uid_validity, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE folder (
  id           INTEGER PRIMARY KEY,
  account_id   INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  delimiter    TEXT NOT NULL DEFAULT '',
  kind         TEXT NOT NULL DEFAULT '' CHECK (kind IN ('','inbox','sent','drafts','archive','junk','trash','all')),
  special_use  TEXT NOT NULL DEFAULT '' CHECK (special_use IN ('','inbox','sent','drafts','archive','junk','trash','all')),
  selectable   INTEGER NOT NULL DEFAULT 1 CHECK (selectable IN (0,1)),
  uid_validity INTEGER NOT NULL DEFAULT 0,
  uid_next     INTEGER NOT NULL DEFAULT 0,
  mod_seq      INTEGER NOT NULL DEFAULT 0,   -- RFC 7162: every change up to here is stored
  total        INTEGER NOT NULL DEFAULT 0,   -- kept by triggers, never counted
  unread       INTEGER NOT NULL DEFAULT 0,
  synced_at    INTEGER NOT NULL DEFAULT 0,
  UNIQUE (account_id, name)
) STRICT;

CREATE TABLE fresh (
  account_id INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE inbound_due (
  message_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE
) STRICT;

CREATE TABLE journal (
  id         INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  batch      TEXT NOT NULL,                  -- one action of a person; the unit of undo
  message_id INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  action     TEXT NOT NULL CHECK (action IN ('flag','move')),
  flag       TEXT NOT NULL DEFAULT '',       -- 'seen', 'flagged', 'answered'
  on_off     INTEGER NOT NULL DEFAULT 0,
  from_folder INTEGER,
  from_validity INTEGER NOT NULL DEFAULT 0,
  from_uid   INTEGER NOT NULL DEFAULT 0,
  to_folder  INTEGER,
  state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting','begun','done','failed','undone')),
  tries      INTEGER NOT NULL DEFAULT 0,
  error      TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE message (
  id            INTEGER PRIMARY KEY,
  account_id    INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  folder_id     INTEGER NOT NULL REFERENCES folder(id) ON DELETE CASCADE,
  uid_validity  INTEGER NOT NULL,
  uid           INTEGER NOT NULL,
  mod_seq       INTEGER NOT NULL DEFAULT 0,
  seen          INTEGER NOT NULL DEFAULT 0 CHECK (seen IN (0,1)),
  flagged       INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0,1)),
  answered      INTEGER NOT NULL DEFAULT 0 CHECK (answered IN (0,1)),
  draft         INTEGER NOT NULL DEFAULT 0 CHECK (draft IN (0,1)),
  deleted       INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0,1)),
  keywords      TEXT NOT NULL DEFAULT '',
  internal_date INTEGER NOT NULL,
  date          INTEGER NOT NULL,            -- what the list is ordered by
  size          INTEGER NOT NULL,            -- RFC822.SIZE
  message_id    TEXT NOT NULL DEFAULT '',
  in_reply_to   TEXT NOT NULL DEFAULT '',
  refs          TEXT NOT NULL DEFAULT '',    -- References, separated by spaces
  from_name     TEXT NOT NULL DEFAULT '',
  from_addr     TEXT NOT NULL DEFAULT '',
  to_text       TEXT NOT NULL DEFAULT '',
  subject       TEXT NOT NULL DEFAULT '',
  snippet       TEXT NOT NULL DEFAULT '',
  attachments   INTEGER NOT NULL DEFAULT 0,
  header_digest BLOB NOT NULL,               -- with message_id, size and date: the same mail after a renumbering
  header        BLOB,                        -- raw header block while there is no body
  body_id       INTEGER REFERENCES body(id),
  vanished_at   INTEGER,                     -- gone from the server, kept because an attempt or a draft refers to it
  -- A message whose place on the server is not known yet (moved here, not
  -- confirmed) has uid_validity 0, which no server uses, and its own id as uid.
  UNIQUE (folder_id, uid_validity, uid)
) STRICT;

CREATE TABLE message_ref (
  ref        TEXT NOT NULL,
  message_id INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  how        TEXT NOT NULL CHECK (how IN ('answer','bounce')),
  PRIMARY KEY (ref, message_id, how)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plan (
  id         TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  attempt_id TEXT REFERENCES attempt(id) ON DELETE CASCADE,
  draft_id   INTEGER REFERENCES draft(id) ON DELETE CASCADE,
  state      TEXT NOT NULL CHECK (state IN ('unsent','active','paused','held','stopped','done','cancelled')),
  before     TEXT NOT NULL DEFAULT '',       -- the state before this one
  why        TEXT NOT NULL DEFAULT '',
  event_id   INTEGER REFERENCES event(id) ON DELETE SET NULL,
  resume_at  INTEGER NOT NULL DEFAULT 0,
  version    INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((attempt_id IS NULL) <> (draft_id IS NULL))
) STRICT;

CREATE TABLE poison (
  folder_id    INTEGER NOT NULL REFERENCES folder(id) ON DELETE CASCADE,
  uid_validity INTEGER NOT NULL,
  uid          INTEGER NOT NULL,
  reason       TEXT NOT NULL,
  tries        INTEGER NOT NULL DEFAULT 1,
  at           INTEGER NOT NULL,
  PRIMARY KEY (folder_id, uid_validity, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE review (
  event_id    INTEGER PRIMARY KEY REFERENCES event(id) ON DELETE CASCADE,
  account_id  INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  state       TEXT NOT NULL CHECK (state IN ('open','resolved','ignored')),
  why         TEXT NOT NULL,
  note        TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  resolved_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE step (
  id         TEXT PRIMARY KEY,
  plan_id    TEXT NOT NULL REFERENCES plan(id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  days       INTEGER NOT NULL,
  working    INTEGER NOT NULL CHECK (working IN (0,1)),
  extra      INTEGER NOT NULL,               -- milliseconds beside the days
  body       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('waiting','claimed','sending','sent','failed','uncertain','cancelled')),
  due_at     INTEGER NOT NULL DEFAULT 0,     -- 0: the step before it is not sent yet
  note       TEXT NOT NULL DEFAULT '',
  owner      TEXT NOT NULL DEFAULT '',
  token      TEXT NOT NULL DEFAULT '',       -- versions of plan and contacts when it was claimed
  attempt_id TEXT REFERENCES attempt(id),
  tries      INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  UNIQUE (plan_id, position)
) STRICT;

CREATE INDEX attachment_attempt ON attachment (attempt_id) WHERE attempt_id IS NOT NULL;

CREATE INDEX attachment_draft   ON attachment (draft_id) WHERE draft_id IS NOT NULL;

CREATE INDEX attempt_account ON attempt (account_id, created_at);

CREATE INDEX attempt_copy    ON attempt (created_at) WHERE status = 'sent' AND copy_status = 'pending';

CREATE UNIQUE INDEX attempt_key ON attempt (idempotency_key) WHERE key_released = 0;

CREATE INDEX attempt_key_all ON attempt (idempotency_key);

CREATE INDEX attempt_lineage ON attempt (retry_of, created_at) WHERE retry_of IS NOT NULL;

CREATE INDEX attempt_list    ON attempt (created_at);

CREATE INDEX attempt_message ON attempt (message_id, created_at) WHERE message_id IS NOT NULL;

CREATE INDEX attempt_message_id_attempt ON attempt_message_id (attempt_id);

CREATE INDEX attempt_mid     ON attempt (rfc_message_id);

CREATE INDEX attempt_open    ON attempt (status, created_at) WHERE status IN ('failed','uncertain') AND resolution IS NULL;

CREATE INDEX attempt_recipient_id ON attempt_recipient (attempt_id);

CREATE INDEX attempt_record  ON attempt (created_at) WHERE bytes IS NOT NULL AND kind = 'outbound';

CREATE INDEX attempt_retry   ON attempt (next_try_at) WHERE next_try_at IS NOT NULL;

CREATE INDEX attempt_status  ON attempt (status, created_at);

CREATE INDEX audit_account ON audit (account_id);

CREATE INDEX audit_related_id ON audit_related (audit_id);

CREATE INDEX audit_subject ON audit (subject, id);

CREATE INDEX classification_event ON classification (event_id, id);

CREATE INDEX contact_event   ON contact (event_id) WHERE event_id IS NOT NULL;

CREATE INDEX contact_paused  ON contact (paused_until) WHERE state = 'paused';

CREATE INDEX contact_updated ON contact (updated_at);

CREATE INDEX draft_account ON draft (account_id);

CREATE INDEX draft_due     ON draft (send_at) WHERE send_at IS NOT NULL;

CREATE INDEX draft_key ON draft (idempotency_key);

CREATE INDEX draft_list    ON draft (updated_at);

CREATE INDEX draft_message ON draft (message_id) WHERE message_id IS NOT NULL;

CREATE INDEX draft_retry   ON draft (retry_of) WHERE retry_of IS NOT NULL;

CREATE INDEX effect_classification ON effect (classification_id);

CREATE INDEX effect_event          ON effect (event_id, id);

CREATE INDEX event_attempt_attempt ON event_attempt (attempt_id);

CREATE INDEX event_class   ON event (class, id) WHERE class <> '';

CREATE INDEX event_from    ON event (from_key, received) WHERE class <> '';

CREATE INDEX event_mail    ON event (account_id, rfc_message_id, size);

CREATE INDEX event_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE INDEX event_place_event ON event_place (event_id);

CREATE INDEX inbound_due_account ON inbound_due (account_id, message_id);

CREATE INDEX journal_account ON journal (account_id);

CREATE INDEX journal_batch   ON journal (batch);

CREATE INDEX journal_from    ON journal (from_folder, from_validity, from_uid) WHERE action = 'move' AND state IN ('waiting','begun');

CREATE INDEX journal_message ON journal (message_id);

CREATE INDEX journal_open  ON journal (account_id, id) WHERE state IN ('waiting','begun');

CREATE INDEX journal_to      ON journal (to_folder) WHERE action = 'move' AND state IN ('waiting','begun');

CREATE INDEX message_account  ON message (account_id);

CREATE INDEX message_body     ON message (body_id) WHERE body_id IS NOT NULL;

CREATE INDEX message_bodyless ON message (folder_id, date DESC, id DESC) WHERE body_id IS NULL AND vanished_at IS NULL;

CREATE INDEX message_list     ON message (folder_id, date DESC, id DESC) WHERE vanished_at IS NULL;

CREATE INDEX message_mid      ON message (message_id) WHERE message_id <> '';

CREATE INDEX message_noid     ON message (account_id, size) WHERE message_id = '';

CREATE INDEX message_ref_id ON message_ref (message_id);

CREATE INDEX message_vanished ON message (account_id) WHERE vanished_at IS NOT NULL;

CREATE INDEX plan_account        ON plan (account_id);

CREATE UNIQUE INDEX plan_attempt ON plan (attempt_id) WHERE attempt_id IS NOT NULL AND state IN ('unsent','active','paused','held');

CREATE INDEX plan_attempt_all    ON plan (attempt_id) WHERE attempt_id IS NOT NULL;

CREATE UNIQUE INDEX plan_draft   ON plan (draft_id) WHERE draft_id IS NOT NULL;

CREATE INDEX plan_event          ON plan (event_id) WHERE event_id IS NOT NULL;

CREATE INDEX plan_open           ON plan (state) WHERE state IN ('unsent','active','paused','held');

CREATE INDEX plan_updated        ON plan (updated_at);

CREATE INDEX review_account ON review (account_id);

CREATE INDEX review_state   ON review (state, event_id);

CREATE INDEX step_attempt ON step (attempt_id) WHERE attempt_id IS NOT NULL;

CREATE INDEX step_busy    ON step (state) WHERE state IN ('claimed','sending');

CREATE INDEX step_due     ON step (due_at) WHERE state = 'waiting' AND due_at > 0;

CREATE TRIGGER attempt_born BEFORE INSERT ON attempt WHEN NEW.status <> 'pending' BEGIN
  SELECT RAISE(ABORT, 'an attempt begins as pending');
END;

CREATE TRIGGER attempt_fixed BEFORE UPDATE OF id, account_id, kind, message_id, idempotency_key, payload_digest, rfc_message_id, bytes_digest, recipients, body, created_at ON attempt
WHEN OLD.id <> NEW.id OR OLD.account_id <> NEW.account_id OR OLD.kind <> NEW.kind OR OLD.message_id IS NOT NEW.message_id
  OR OLD.idempotency_key <> NEW.idempotency_key OR OLD.payload_digest <> NEW.payload_digest OR OLD.rfc_message_id <> NEW.rfc_message_id
  OR OLD.bytes_digest <> NEW.bytes_digest OR OLD.recipients <> NEW.recipients OR OLD.body <> NEW.body OR OLD.created_at <> NEW.created_at BEGIN
  SELECT RAISE(ABORT, 'what an attempt sends does not change');
END;

CREATE TRIGGER attempt_kept BEFORE DELETE ON attempt
WHEN EXISTS (SELECT 1 FROM account WHERE id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'an attempt stays as long as its account');
END;

CREATE TRIGGER attempt_message_id_born AFTER INSERT ON attempt BEGIN
  INSERT OR IGNORE INTO attempt_message_id (message_id, attempt_id) VALUES (NEW.rfc_message_id, NEW.id);
END;

CREATE TRIGGER attempt_message_id_other AFTER UPDATE OF other_ids ON attempt WHEN NEW.other_ids <> OLD.other_ids BEGIN
  INSERT OR IGNORE INTO attempt_message_id (message_id, attempt_id) SELECT value, NEW.id FROM json_each(NEW.other_ids);
END;

CREATE TRIGGER attempt_move BEFORE UPDATE OF status ON attempt
WHEN NOT (OLD.status = NEW.status
  OR (OLD.status = 'pending' AND NEW.status = 'sending')
  OR (OLD.status = 'sending' AND NEW.status IN ('sent','failed','uncertain'))) BEGIN
  SELECT RAISE(ABORT, 'illegal move of an attempt''s status');
END;

CREATE TRIGGER attempt_resolved BEFORE UPDATE OF resolution ON attempt
WHEN OLD.resolution IS NOT NULL AND NEW.resolution IS NOT OLD.resolution BEGIN
  SELECT RAISE(ABORT, 'a resolution is given once');
END;

CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
WHEN OLD.account_id IS NULL OR EXISTS (SELECT 1 FROM account WHERE id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER body_replaced AFTER UPDATE OF body_id ON message WHEN OLD.body_id IS NOT NULL AND NEW.body_id IS NOT OLD.body_id BEGIN
  DELETE FROM body WHERE id = OLD.body_id AND NOT EXISTS (SELECT 1 FROM message WHERE body_id = OLD.body_id);
END;

CREATE TRIGGER body_unused AFTER DELETE ON message WHEN OLD.body_id IS NOT NULL BEGIN
  DELETE FROM body WHERE id = OLD.body_id AND NOT EXISTS (SELECT 1 FROM message WHERE body_id = OLD.body_id);
END;

CREATE TRIGGER classification_fixed BEFORE UPDATE ON classification BEGIN
  SELECT RAISE(ABORT, 'the history of classes only grows');
END;

CREATE TRIGGER inbound_arrived AFTER INSERT ON message
WHEN NEW.body_id IS NOT NULL AND (SELECT kind FROM folder WHERE id = NEW.folder_id) NOT IN ('sent','drafts') BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id) VALUES (NEW.id, NEW.account_id);
END;

CREATE TRIGGER inbound_discovered AFTER UPDATE OF body_id ON message
WHEN OLD.body_id IS NULL AND NEW.body_id IS NOT NULL
  AND (SELECT kind FROM folder WHERE id = NEW.folder_id) NOT IN ('sent','drafts') BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id) VALUES (NEW.id, NEW.account_id);
END;

CREATE TRIGGER inbound_unreadable AFTER UPDATE OF tries ON poison WHEN NEW.tries = 5 BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id)
    SELECT m.id, m.account_id FROM message m JOIN folder f ON f.id = m.folder_id
    WHERE m.folder_id = NEW.folder_id AND m.uid_validity = NEW.uid_validity AND m.uid = NEW.uid AND f.kind NOT IN ('sent','drafts');
END;

CREATE TRIGGER message_count_delete AFTER DELETE ON message WHEN OLD.vanished_at IS NULL BEGIN
  UPDATE folder SET total = total - 1, unread = unread - (OLD.seen = 0) WHERE id = OLD.folder_id;
END;

CREATE TRIGGER message_count_insert AFTER INSERT ON message WHEN NEW.vanished_at IS NULL BEGIN
  UPDATE folder SET total = total + 1, unread = unread + (NEW.seen = 0) WHERE id = NEW.folder_id;
END;

CREATE TRIGGER message_count_update AFTER UPDATE OF seen, vanished_at, folder_id ON message
WHEN NEW.seen <> OLD.seen OR NEW.folder_id <> OLD.folder_id OR (NEW.vanished_at IS NULL) <> (OLD.vanished_at IS NULL) BEGIN
  UPDATE folder SET total = total - 1, unread = unread - (OLD.seen = 0) WHERE id = OLD.folder_id AND OLD.vanished_at IS NULL;
  UPDATE folder SET total = total + 1, unread = unread + (NEW.seen = 0) WHERE id = NEW.folder_id AND NEW.vanished_at IS NULL;
END;

CREATE TRIGGER plan_follows_draft AFTER INSERT ON attempt BEGIN
  UPDATE plan SET attempt_id = NEW.id, draft_id = NULL, version = version + 1, updated_at = NEW.created_at
    WHERE draft_id = (SELECT id FROM draft WHERE idempotency_key = NEW.idempotency_key);
END;

CREATE TRIGGER plan_move BEFORE UPDATE OF state ON plan
WHEN OLD.state <> NEW.state AND (OLD.state IN ('done','cancelled') OR (OLD.state = 'stopped' AND NEW.state <> 'held')) BEGIN
  SELECT RAISE(ABORT, 'a plan that has ended does not go on');
END;

CREATE TRIGGER step_move BEFORE UPDATE OF state ON step
WHEN NOT (OLD.state = NEW.state
  OR (OLD.state = 'waiting' AND NEW.state IN ('claimed','cancelled'))
  OR (OLD.state = 'claimed' AND NEW.state IN ('waiting','sending','cancelled','failed'))
  OR (OLD.state = 'sending' AND NEW.state IN ('sent','failed','uncertain','waiting'))
  OR (OLD.state = 'cancelled' AND NEW.state = 'waiting')
  OR (OLD.state IN ('failed','uncertain') AND NEW.state IN ('sent','waiting','cancelled'))) BEGIN
  SELECT RAISE(ABORT, 'illegal move of a step''s state');
END;
