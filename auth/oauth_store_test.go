package auth

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestLongTokensAreKeptWhole(t *testing.T) {
	r := &fakeRing{m: map[string]string{}}
	// In this order: each replaces the one before, short and long.
	for _, n := range []int{1, 1198, 1199, 1200, 1201, 2400, 2401, 5000, 12, 8 << 10, 8 << 10, maxParts * ringMaxSecret, 100} {
		v := strings.Repeat("0123456789", n/10+1)[:n]
		if err := writeLong(r, "a b", v); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got, err := readLong(r, "a b"); err != nil || got != v {
			t.Errorf("%d bytes: read %d back, %v", n, len(got), err)
		}
		entries := 1
		if n+2 > ringMaxSecret {
			entries += (n + ringMaxSecret - 1) / ringMaxSecret
		}
		if len(r.m) != entries {
			t.Errorf("%d bytes: %d entries, want %d: something old is left", n, len(r.m), entries)
		}
		for k, e := range r.m {
			if len(e) > ringMaxSecret {
				t.Errorf("%d bytes: entry %s has %d", n, k, len(e))
			}
		}
	}
	if err := writeLong(r, "another", strings.Repeat("x", 3000)); err != nil {
		t.Fatal(err)
	}
	if err := forgetLong(r, "a b"); err != nil {
		t.Fatal(err)
	}
	if _, err := readLong(r, "a b"); !errors.Is(err, ErrNoEntry) {
		t.Errorf("forgotten: %v", err)
	}
	if v, err := readLong(r, "another"); err != nil || len(v) != 3000 {
		t.Errorf("another account's: %d bytes, %v", len(v), err)
	}
	k := NewKeyring(r)
	wantUnavailable(t, "too long", k.storeToken(t.Context(), oauthAccount("google"), NewSecret(strings.Repeat("x", maxParts*ringMaxSecret+1))), "longer")
}

// cutRing fails from the n-th change on, like a process that dies.
type cutRing struct {
	*fakeRing
	left int
}

var errCut = errors.New("cut")

func (c *cutRing) Set(s, u, v string) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.fakeRing.Set(s, u, v)
}

func (c *cutRing) Delete(s, u string) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.fakeRing.Delete(s, u)
}

// Whenever writing stops, the old token is there or the new one.
func TestInterruptedWriteLeavesAWholeToken(t *testing.T) {
	short, long, longer := "short", strings.Repeat("long-", 700), strings.Repeat("longer", 900)
	for _, tc := range []struct{ name, old, next string }{
		{"short, long", short, long}, {"long, longer", long, longer}, {"longer, long", longer, long}, {"long, short", long, short}, {"short, short", short, "other"},
	} {
		for cut := 0; ; cut++ {
			r := &fakeRing{m: map[string]string{}}
			if err := writeLong(r, "a", tc.old); err != nil {
				t.Fatal(err)
			}
			c := &cutRing{r, cut}
			err := writeLong(c, "a", tc.next)
			got, readErr := readLong(r, "a")
			if readErr != nil || got != tc.old && got != tc.next || err == nil && got != tc.next || errors.Is(err, errCut) && got != tc.old {
				t.Fatalf("%s, cut after %d: write says %v, read %d bytes, %v", tc.name, cut, err, len(got), readErr)
			}
			// And the next write puts everything right.
			if err := writeLong(r, "a", longer+"!"); err != nil {
				t.Fatal(err)
			}
			if got, err := readLong(r, "a"); err != nil || got != longer+"!" {
				t.Fatalf("%s, after cut %d: read %d bytes, %v", tc.name, cut, len(got), err)
			}
			if c.left >= 0 {
				break
			}
		}
	}
}

func TestDamagedTokenIsNotUsed(t *testing.T) {
	whole := map[string]string{}
	r := &fakeRing{m: whole}
	if err := writeLong(r, "personal", strings.Repeat(canary, 500)); err != nil {
		t.Fatal(err)
	}
	head := serviceOAuth2 + "/personal"
	for name, damage := range map[string]func(m map[string]string){
		"a part is missing":  func(m map[string]string) { delete(m, servicePart+"/personal/a/1") },
		"a part is another":  func(m map[string]string) { m[servicePart+"/personal/a/1"] = strings.Repeat("x", 1200) },
		"another digest":     func(m map[string]string) { m[head] = "2 a 3 0011223344556677" },
		"no head of ours":    func(m map[string]string) { m[head] = "a password" },
		"nothing":            func(m map[string]string) { m[head] = "" },
		"empty token":        func(m map[string]string) { m[head] = "1 " },
		"too many parts":     func(m map[string]string) { m[head] = fmt.Sprintf("2 a %d 00", maxParts+1) },
		"no parts":           func(m map[string]string) { m[head] = "2 a 0 e3b0c44298fc1c14" },
		"a slot of its own":  func(m map[string]string) { m[head] = "2 c 1 00" },
		"count is no number": func(m map[string]string) { m[head] = "2 a x 00" },
	} {
		m := maps.Clone(whole)
		damage(m)
		k := NewKeyring(&fakeRing{m: m})
		_, err := k.loadToken(t.Context(), oauthAccount("google"))
		wantUnavailable(t, name, err, "damaged. Sign in again: skrzynka account login personal")
		quiet(t, name, err.Error())
		if err := k.storeToken(t.Context(), oauthAccount("google"), NewSecret("fresh")); err != nil {
			t.Errorf("%s: signing in again: %v", name, err)
		}
		if s, err := k.loadToken(t.Context(), oauthAccount("google")); err != nil || s.Reveal() != "fresh" {
			t.Errorf("%s: after signing in again %v", name, err)
		}
	}
}
