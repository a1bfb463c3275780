package auth

import (
	"os"
	"strings"
	"testing"

	"skrzynka/mail"
)

// The keyring of this session keeps a token longer than one entry of any
// platform, and forgets all of it.
func TestLongTokenInARealKeyring(t *testing.T) {
	if os.Getenv("SKRZYNKA_TEST_KEYRING") == "" {
		const why = "no keyring of this session to write to: set SKRZYNKA_TEST_KEYRING=1 where there is one"
		if os.Getenv("SKRZYNKA_TEST_REQUIRE") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	bus := func(name string) string { return os.Getenv(name) }
	k, acct := NewKeyring(OSRing(bus)), &mail.Account{Name: "test-" + mail.NewID(), Auth: mail.AuthOAuth2}
	for _, n := range []int{1800, 5000, 8 << 10, 900} {
		want := NewSecret(strings.Repeat("0.AX-_", n/6))
		if err := k.storeToken(t.Context(), acct, want); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got, err := k.loadToken(t.Context(), acct); err != nil || got != want {
			t.Errorf("%d bytes: not what was stored, %v", n, err)
		}
	}
	if err := k.forgetToken(t.Context(), acct); err != nil {
		t.Error(err)
	}
	wantUnavailable(t, "forgotten", errOf(k.loadToken(t.Context(), acct)), "account login")
}
