package store

import (
	"context"

	"skrzynka/mail"
)

// SyncAccounts makes a row for every account of the configuration and takes
// over a changed address. Accounts that are no longer configured stay until
// RemoveAccount.
func (s *Store) SyncAccounts(ctx context.Context, accounts []mail.Account) error {
	return s.write(ctx, func(t *tx) error {
		for i := range accounts {
			a := &accounts[i]
			if a.Name == "" {
				return invalid("An account needs a name.")
			}
			n, err := t.exec(`INSERT INTO account (name, email, created_at) VALUES (?,?,?)
				ON CONFLICT (name) DO UPDATE SET email = excluded.email WHERE email <> excluded.email`, a.Name, a.Email, t.now)
			if err != nil {
				return err
			}
			if n > 0 {
				t.changed("accounts", a.Name, "")
			}
		}
		return nil
	})
}

// RemoveAccount removes an account and everything that belongs to it: mail,
// drafts, attempts with their evidence, and its lines of the audit log.
func (s *Store) RemoveAccount(ctx context.Context, name string) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM account WHERE name = ?`, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return notFound("There is no account %q in the database.", name)
		}
		if err := t.tidyIndexes(); err != nil {
			return err
		}
		for _, topic := range []string{"accounts", "folders", "messages", "attempts", "drafts", "audit"} {
			t.changed(topic, name, "")
		}
		return nil
	})
}

// AccountID returns the row of an account.
func (s *Store) AccountID(ctx context.Context, name string) (id int64, err error) {
	ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT id FROM account WHERE name = ?`, name), &id)
	if err != nil {
		return 0, fail(err)
	}
	if !ok {
		return 0, notFound("There is no account %q in the database.", name)
	}
	return id, nil
}

func (t *tx) accountID(name string) (id int64, err error) {
	ok, err := t.row(`SELECT id FROM account WHERE name = ?`, []any{name}, &id)
	if err == nil && !ok {
		err = notFound("There is no account %q in the database.", name)
	}
	return id, err
}

// Accounts lists the names that have a row, in order.
func (s *Store) Accounts(ctx context.Context) ([]string, error) {
	return all(ctx, s.r, scanOne[string], `SELECT name FROM account ORDER BY name`)
}
