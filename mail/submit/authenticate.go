package submit

import (
	"encoding/base64"
	"strings"

	"github.com/emersion/go-sasl"

	"skrzynka/auth"
	"skrzynka/mail"
)

// maxChallenges bounds an AUTH exchange; none in use needs more than three.
const maxChallenges = 8

// authenticate runs AUTH (RFC 4954). What is sent and the server's challenges
// are kept nowhere.
func (s *Session) authenticate(t *transaction, creds auth.Credentials) bool {
	t.begin(mail.StepAuth)
	if s.tls == "" {
		return t.stop(mail.FaultTLS, "there is no TLS to authenticate over")
	}
	client, err := auth.Mechanism(creds, strings.Fields(s.ext["AUTH"]))
	if err != nil {
		return t.stop(mail.FaultLocal, "the server offers no way to sign in that fits the credentials")
	}
	mech, first, err := client.Start()
	if err != nil {
		return t.stop(mail.FaultLocal, "the credentials cannot be used")
	}
	line := "AUTH " + mech
	if first != nil {
		line += " " + encodeSASL(first)
	}
	for range maxChallenges {
		reply, ok := s.command(t, line, s.timeouts.Command, 3)
		if !ok {
			// Success is the one reply that is not a challenge.
			if t.ev.Fault == mail.FaultGarbage && reply.Class() == 2 {
				t.ev.Fault, t.ev.Detail, t.ev.Reply = mail.FaultNone, "", mail.Reply{}
				return true
			}
			if t.ev.Fault == mail.FaultRefused && reply.Class() == 5 {
				creds.Refused()
			}
			return false
		}
		t.ev.Steps[len(t.ev.Steps)-1].Note = ""
		if reply.Code != 334 {
			return t.stop(mail.FaultGarbage, "the server answered AUTH with a code that means nothing here")
		}
		if line, ok = respond(client, reply.Text); !ok {
			_, _ = s.command(&transaction{}, "*", s.timeouts.Quit, 5) // ends the exchange
			return t.stop(mail.FaultLocal, "the server asked a question while signing in that has no answer")
		}
	}
	return t.stop(mail.FaultGarbage, "the server never stopped asking while signing in")
}

// respond answers one challenge, which may be no base64 at all.
func respond(client sasl.Client, challenge string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(challenge))
	if err != nil {
		b = []byte(challenge)
	}
	answer, err := client.Next(b)
	if err != nil {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(answer), true
}

// encodeSASL writes an initial response; an empty one is "=" (RFC 4954
// section 4).
func encodeSASL(b []byte) string {
	if len(b) == 0 {
		return "="
	}
	return base64.StdEncoding.EncodeToString(b)
}
