package store

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"skrzynka/mail"
)

// taken is a decision with a class and effects.
func taken(class mail.InboundClass, named []string, effects ...mail.Effect) func(mail.Around) mail.Decision {
	return func(mail.Around) mail.Decision {
		return mail.Decision{Class: class, RuleSet: 1, NamedIDs: named, Effects: effects, Detail: []byte(`{"class":"` + class + `"}`)}
	}
}

// arrive is the arrival of a stored message that names ids.
func arrive(id int64, sender string, names ...string) mail.Arrival {
	sum := sha256.Sum256([]byte("message " + itoa(id)))
	return mail.Arrival{MessageID: id, Names: names, Sender: sender, Evidence: sum[:]}
}

// planned is a plan of one step, due at a time, on an attempt.
func planned(t testing.TB, s *Store, attempt string, due time.Time) mail.Plan {
	t.Helper()
	p, err := s.AddPlan(context.Background(), mail.Plan{Account: "me", AttemptID: attempt, State: mail.PlanActive,
		Steps: []mail.FollowStep{{Delay: mail.Delay{Days: 3}, Body: "Any news?", DueAt: due}, {Delay: mail.Delay{Days: 4}, Body: "Last try."}}})
	must(t, err)
	return p
}

// sentTo is an outbound attempt that was accepted.
func sentTo(t testing.TB, s *Store, key, address string) mail.Attempt {
	t.Helper()
	a := outbound(key, "hello "+key)
	a.To = []mail.Address{{Addr: address}}
	a = openAttempt(t, s, a)
	settle(t, s, a.ID, mail.Settled{Status: mail.StatusSent})
	return a
}

// fillAnswers puts something into every table of what arrived and what
// followed. It needs a message with a body, and one without.
func fillAnswers(t testing.TB, s *Store, message int64) {
	t.Helper()
	ctx := context.Background()
	a := sentTo(t, s, "fill", "ada@example.org")
	planned(t, s, a.ID, s.clock.Now())
	got, err := s.RecordInbound(ctx, arrive(message, "ada@example.org", a.RFCMessageID), taken(mail.ClassUnmapped, []string{a.RFCMessageID},
		mail.Effect{Kind: mail.EffectReview, Why: "a test"}))
	must(t, err)
	_, err = s.w.Exec(`/* test */ INSERT INTO event_place (account_id, folder, uid_validity, uid, event_id, at) VALUES (1, 'Other', 1, 1, ?, 1);
		INSERT OR IGNORE INTO inbound_due (message_id, account_id) SELECT id, account_id FROM message`, got.EventID)
	must(t, err)
	must(t, s.SetFresh(ctx, "me", s.clock.Now()))
}
