package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skrzynka/mail"
)

// contact is a row of the contact table inside a transaction.
type contact struct {
	id      int64
	account int64
	address string
	state   mail.ContactState
	until   int64
	version int64
}

// contact returns the row of an address, made as active when there is none.
func (t *tx) contact(account int64, address string) (contact, error) {
	c := contact{account: account, address: mail.AddressKey(address)}
	if c.address == "" {
		return c, invalid("A contact needs an address.")
	}
	if _, err := t.exec(`INSERT INTO contact (account_id, address, state, created_at, updated_at) VALUES (?,?,'active',?,?)
		ON CONFLICT (account_id, address) DO NOTHING`, account, c.address, t.now, t.now); err != nil {
		return c, err
	}
	_, err := t.row(`SELECT id, state, paused_until, version FROM contact WHERE account_id = ? AND address = ?`,
		[]any{account, c.address}, &c.id, &c.state, &c.until, &c.version)
	return c, err
}

// cause is why something changes: the words, the event behind it, and the
// subjects whose timeline shows it.
type cause struct {
	why     string
	event   int64
	related []string
}

// setContact moves a contact by comparing its version, and writes the audit
// line. It reports whether anything changed.
func (t *tx) setContact(c *contact, to mail.ContactState, until time.Time, why cause) (bool, error) {
	if c.state == to && ms(until) == c.until {
		return false, nil
	}
	n, err := t.exec(`UPDATE contact SET before = CASE WHEN state = ?1 THEN before ELSE state END, state = ?1, paused_until = ?2, why = ?3, event_id = ?4,
			version = version + 1, updated_at = ?5 WHERE id = ?6 AND version = ?7`,
		to, ms(until), why.why, orNull(why.event), t.now, c.id, c.version)
	if err != nil {
		return false, err
	}
	if n == 0 {
		return false, conflict("The contact %s was changed at the same moment.", c.address)
	}
	l := line{account: c.account, action: "contact." + string(to), subject: contactSubject(c.address), why: why.why,
		from: string(c.state), to: string(to), related: why.related}
	if !until.IsZero() {
		l.to += " until " + until.UTC().Format(time.DateOnly)
	}
	c.state, c.until, c.version = to, ms(until), c.version+1
	t.changed("contacts", "", c.address)
	return true, t.audit(l)
}

func contactSubject(address string) string { return "contact:" + mail.AddressKey(address) }

const contactColumns = `SELECT c.name, k.address, k.state, k.paused_until, k.why, coalesce(k.event_id,0), k.version, k.created_at, k.updated_at,
	(SELECT count(*) FROM attempt_recipient r JOIN plan p ON p.attempt_id = r.attempt_id
		WHERE r.address = k.address AND p.account_id = k.account_id AND p.state IN ('unsent','active','paused','held'))
	FROM contact k JOIN account c ON c.id = k.account_id `

func scanContact(r scanner) (c mail.Contact, err error) {
	var until, created, updated int64
	err = r.Scan(&c.Account, &c.Address, &c.State, &until, &c.Why, &c.EventID, &c.Version, &created, &updated, &c.Open)
	c.Until, c.CreatedAt, c.UpdatedAt = at(until), at(created), at(updated)
	return c, err
}

// Contact returns what is known of an address; an unknown one is NOT_FOUND.
func (s *Store) Contact(ctx context.Context, account, address string) (mail.Contact, error) {
	found, err := all(ctx, s.r, scanContact, contactColumns+`WHERE c.name = ? AND k.address = ?`, account, mail.AddressKey(address))
	if err != nil {
		return mail.Contact{}, err
	}
	if len(found) == 0 {
		return mail.Contact{}, notFound("Nothing is known of %s yet.", mail.AddressKey(address))
	}
	return found[0], nil
}

// Contacts lists the contacts of an account ("": all), the last changed first.
func (s *Store) Contacts(ctx context.Context, account string, limit int) ([]mail.Contact, error) {
	if limit <= 0 {
		limit = 200
	}
	if account == "" {
		return all(ctx, s.r, scanContact, contactColumns+`ORDER BY k.updated_at DESC, k.id DESC LIMIT ?`, limit)
	}
	return all(ctx, s.r, scanContact, contactColumns+`WHERE c.name = ? ORDER BY k.updated_at DESC, k.id DESC LIMIT ?`, account, limit)
}

// SuppressContact stops everything that would be sent to an address by itself,
// by a person's decision. Open plans that write to it stop. It is reversible.
func (s *Store) SuppressContact(ctx context.Context, account, address, why string) error {
	if why == "" {
		why = "suppressed by a person"
	}
	return s.write(ctx, func(t *tx) error {
		id, err := t.accountID(account)
		if err != nil {
			return err
		}
		c, err := t.contact(id, address)
		if err != nil {
			return err
		}
		changed, err := t.setContact(&c, mail.ContactSuppressed, time.Time{}, cause{why: why})
		if err != nil || !changed {
			return err
		}
		plans, err := t.plansTo(id, c.address, "", time.Time{})
		if err != nil {
			return err
		}
		for i := range plans {
			if _, err := t.stopPlan(&plans[i], mail.PlanStopped, cause{why: c.address + " was suppressed: " + why, related: []string{contactSubject(c.address)}}); err != nil {
				return err
			}
		}
		return t.bumpEpoch()
	})
}

// AllowContact takes a suppression, or any other state, back: the contact is
// active again. Plans that were stopped stay stopped.
func (s *Store) AllowContact(ctx context.Context, account, address, why string) error {
	if why == "" {
		why = "allowed by a person"
	}
	return s.write(ctx, func(t *tx) error {
		id, err := t.accountID(account)
		if err != nil {
			return err
		}
		var n int
		if ok, err := t.row(`SELECT 1 FROM contact WHERE account_id = ? AND address = ?`, []any{id, mail.AddressKey(address)}, &n); err != nil || !ok {
			if err == nil {
				err = notFound("Nothing is known of %s: nothing keeps mail from it.", mail.AddressKey(address))
			}
			return err
		}
		c, err := t.contact(id, address)
		if err != nil {
			return err
		}
		_, err = t.setContact(&c, mail.ContactActive, time.Time{}, cause{why: why})
		return err
	})
}

// Suppressed returns, for those of the addresses (by AddressKey) that nothing
// is sent to by itself, why.
func (s *Store) Suppressed(ctx context.Context, account string, keys []string) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range keys {
		var state, why string
		var when int64
		ok, err := scanRow(s.r.QueryRowContext(ctx, `SELECT k.state, k.why, k.updated_at FROM contact k JOIN account c ON c.id = k.account_id
			WHERE c.name = ? AND k.address = ? AND k.state IN ('bounced','suppressed')`, account, mail.AddressKey(k)), &state, &why, &when)
		if err != nil {
			return nil, fail(err)
		}
		if ok {
			out[k] = fmt.Sprintf("%s (%s)", strings.TrimSuffix(why, "."), at(when).Format(time.DateOnly))
		}
	}
	return out, nil
}
