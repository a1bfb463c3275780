-- Full text over every stored body, and conversations.

-- The index. It holds no text: rows are deleted by their rowid, and what is
-- shown of a hit is read from the message. Text is folded before it comes here
-- (package query), so the tokenizer has only ASCII to look at.
CREATE VIRTUAL TABLE search USING fts5(subject, sender, recipients, body, files,
  content='', contentless_delete=1, tokenize='ascii');
INSERT INTO search (search, rank) VALUES ('hashsize', 8388608);
INSERT INTO search (search, rank) VALUES ('automerge', 8);

-- One row of the index is one body, in however many folders it is. Its id
-- grows with the date of the mail: the newest hits are read first, and no sort
-- is needed. It is 64 times the minute since 1970, plus a number.
CREATE TABLE indexed (
  id      INTEGER PRIMARY KEY,
  body_id INTEGER NOT NULL UNIQUE REFERENCES body(id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER indexed_gone AFTER DELETE ON indexed BEGIN
  DELETE FROM search WHERE rowid = OLD.id;
END;

-- Bodies that are not in the index yet. A trigger fills it in the commit that
-- stores the body.
CREATE TABLE index_due (
  body_id INTEGER PRIMARY KEY REFERENCES body(id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER index_due_new AFTER INSERT ON body BEGIN
  INSERT INTO index_due (body_id) VALUES (NEW.id);
END;
INSERT INTO index_due (body_id) SELECT id FROM body;

CREATE INDEX message_unread  ON message (folder_id, date DESC, id DESC) WHERE seen = 0 AND vanished_at IS NULL;
CREATE INDEX message_flagged ON message (folder_id, date DESC, id DESC) WHERE flagged = 1 AND vanished_at IS NULL;

-- The conversation a message belongs to; 0 while nobody has looked. Its number
-- is that of one of its messages and says nothing else.
ALTER TABLE message ADD COLUMN thread_id INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_thread ON message (thread_id, folder_id, vanished_at, date DESC, id DESC) WHERE thread_id <> 0;
CREATE INDEX message_unthreaded ON message (id) WHERE thread_id = 0;

-- The Message-IDs of each conversation, also of messages that are not here: by
-- a 64-bit hash of account and Message-ID.
CREATE TABLE thread_key (
  key       INTEGER PRIMARY KEY,
  thread_id INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_key_thread ON thread_key (thread_id);

-- Messages that name no other, by a hash of account and subject without its
-- prefixes: answers of programs that write no References find their place here.
CREATE TABLE thread_subject (
  key        INTEGER NOT NULL,
  date       INTEGER NOT NULL,
  message_id INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  answer     INTEGER NOT NULL CHECK (answer IN (0,1)),  -- the subject has a prefix
  PRIMARY KEY (key, date, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_subject_message ON thread_subject (message_id);
