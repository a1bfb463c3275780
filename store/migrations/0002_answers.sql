-- Answers that count: what arrived, what it is taken to be, what followed.

-- Whole messages whose event is not recorded yet. A trigger fills it in the
-- commit that stores the body, so that no crash can lose one.
CREATE TABLE inbound_due (
  message_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE
) STRICT;
CREATE INDEX inbound_due_account ON inbound_due (account_id, message_id);
CREATE TRIGGER inbound_discovered AFTER UPDATE OF body_id ON message
WHEN OLD.body_id IS NULL AND NEW.body_id IS NOT NULL
  AND (SELECT kind FROM folder WHERE id = NEW.folder_id) NOT IN ('sent','drafts') BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id) VALUES (NEW.id, NEW.account_id);
END;
CREATE TRIGGER inbound_arrived AFTER INSERT ON message
WHEN NEW.body_id IS NOT NULL AND (SELECT kind FROM folder WHERE id = NEW.folder_id) NOT IN ('sent','drafts') BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id) VALUES (NEW.id, NEW.account_id);
END;
-- A message that cannot be read is an event too.
CREATE TRIGGER inbound_unreadable AFTER UPDATE OF tries ON poison WHEN NEW.tries = 5 BEGIN
  INSERT OR IGNORE INTO inbound_due (message_id, account_id)
    SELECT m.id, m.account_id FROM message m JOIN folder f ON f.id = m.folder_id
    WHERE m.folder_id = NEW.folder_id AND m.uid_validity = NEW.uid_validity AND m.uid = NEW.uid AND f.kind NOT IN ('sent','drafts');
END;
INSERT INTO inbound_due (message_id, account_id) SELECT id, account_id FROM message WHERE body_id IS NOT NULL AND vanished_at IS NULL;

-- Every Message-ID that is ours: those attempts were sent with, and those a
-- provider gave the same mail.
CREATE TABLE attempt_message_id (
  message_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  PRIMARY KEY (message_id, attempt_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_message_id_attempt ON attempt_message_id (attempt_id);
INSERT INTO attempt_message_id (message_id, attempt_id) SELECT rfc_message_id, id FROM attempt;
INSERT OR IGNORE INTO attempt_message_id (message_id, attempt_id) SELECT o.value, a.id FROM attempt a, json_each(a.other_ids) o;
CREATE TRIGGER attempt_message_id_born AFTER INSERT ON attempt BEGIN
  INSERT OR IGNORE INTO attempt_message_id (message_id, attempt_id) VALUES (NEW.rfc_message_id, NEW.id);
END;
CREATE TRIGGER attempt_message_id_other AFTER UPDATE OF other_ids ON attempt WHEN NEW.other_ids <> OLD.other_ids BEGIN
  INSERT OR IGNORE INTO attempt_message_id (message_id, attempt_id) SELECT value, NEW.id FROM json_each(NEW.other_ids);
END;

-- One message that arrived, once. The folder is kept by name: the event outlives
-- the folder and the message.
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
CREATE INDEX event_mail    ON event (account_id, rfc_message_id, size);
CREATE INDEX event_message ON event (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX event_from    ON event (from_key, received) WHERE class <> '';
CREATE INDEX event_class   ON event (class, id) WHERE class <> '';

-- The other places the same mail was seen in.
CREATE TABLE event_place (
  account_id   INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  folder       TEXT NOT NULL,
  uid_validity INTEGER NOT NULL,
  uid          INTEGER NOT NULL,
  event_id     INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  at           INTEGER NOT NULL,
  PRIMARY KEY (account_id, folder, uid_validity, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_place_event ON event_place (event_id);

-- The attempts an event is about.
CREATE TABLE event_attempt (
  event_id   INTEGER NOT NULL REFERENCES event(id) ON DELETE CASCADE,
  attempt_id TEXT NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  PRIMARY KEY (event_id, attempt_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_attempt_attempt ON event_attempt (attempt_id);

-- What an event was taken to be, by whom: a history that only grows.
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
CREATE INDEX classification_event ON classification (event_id, id);
CREATE TRIGGER classification_fixed BEFORE UPDATE ON classification BEGIN
  SELECT RAISE(ABORT, 'the history of classes only grows');
END;

-- What was applied. One effect on one target for one piece of evidence is
-- applied once, however often and wherever the mail is seen.
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
CREATE INDEX effect_event          ON effect (event_id, id);
CREATE INDEX effect_classification ON effect (classification_id);

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
CREATE INDEX contact_event   ON contact (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX contact_updated ON contact (updated_at);
CREATE INDEX contact_paused  ON contact (paused_until) WHERE state = 'paused';

-- A plan hangs on a message that was sent, or on the draft it will be sent from.
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
CREATE UNIQUE INDEX plan_attempt ON plan (attempt_id) WHERE attempt_id IS NOT NULL AND state IN ('unsent','active','paused','held');
CREATE UNIQUE INDEX plan_draft   ON plan (draft_id) WHERE draft_id IS NOT NULL;
CREATE INDEX plan_attempt_all    ON plan (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX plan_open           ON plan (state) WHERE state IN ('unsent','active','paused','held');
CREATE INDEX plan_event          ON plan (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX plan_updated        ON plan (updated_at);
CREATE INDEX plan_account        ON plan (account_id);
-- What has ended does not go on by itself: only a correction reopens a stopped
-- plan, and then it is held.
CREATE TRIGGER plan_move BEFORE UPDATE OF state ON plan
WHEN OLD.state <> NEW.state AND (OLD.state IN ('done','cancelled') OR (OLD.state = 'stopped' AND NEW.state <> 'held')) BEGIN
  SELECT RAISE(ABORT, 'a plan that has ended does not go on');
END;
-- The draft becomes an attempt: the plan follows it, in the same commit.
CREATE TRIGGER plan_follows_draft AFTER INSERT ON attempt BEGIN
  UPDATE plan SET attempt_id = NEW.id, draft_id = NULL, version = version + 1, updated_at = NEW.created_at
    WHERE draft_id = (SELECT id FROM draft WHERE idempotency_key = NEW.idempotency_key);
END;
CREATE INDEX draft_key ON draft (idempotency_key);

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
CREATE INDEX step_due     ON step (due_at) WHERE state = 'waiting' AND due_at > 0;
CREATE INDEX step_busy    ON step (state) WHERE state IN ('claimed','sending');
CREATE INDEX step_attempt ON step (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE TRIGGER step_move BEFORE UPDATE OF state ON step
WHEN NOT (OLD.state = NEW.state
  OR (OLD.state = 'waiting' AND NEW.state IN ('claimed','cancelled'))
  OR (OLD.state = 'claimed' AND NEW.state IN ('waiting','sending','cancelled','failed'))
  OR (OLD.state = 'sending' AND NEW.state IN ('sent','failed','uncertain','waiting'))
  OR (OLD.state = 'cancelled' AND NEW.state = 'waiting')
  OR (OLD.state IN ('failed','uncertain') AND NEW.state IN ('sent','waiting','cancelled'))) BEGIN
  SELECT RAISE(ABORT, 'illegal move of a step''s state');
END;

-- What could not be mapped with certainty: waits for a person.
CREATE TABLE review (
  event_id    INTEGER PRIMARY KEY REFERENCES event(id) ON DELETE CASCADE,
  account_id  INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  state       TEXT NOT NULL CHECK (state IN ('open','resolved','ignored')),
  why         TEXT NOT NULL,
  note        TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  resolved_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX review_state   ON review (state, event_id);
CREATE INDEX review_account ON review (account_id);

-- The last pass that read all watched folders to their end.
CREATE TABLE fresh (
  account_id INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL
) STRICT;
