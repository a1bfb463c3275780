package auth

import (
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"skrzynka/mail"
)

// provider is what is known of a service that signs in with OAuth2. The client
// is not part of it: its id comes from the account's configuration.
type provider struct {
	name     string // as a person knows it
	endpoint oauth2.Endpoint
	scopes   []string
	// unlisted are the scopes that an answer does not name even when they are
	// granted.
	unlisted  []string
	authorize map[string]string // further parameters of the authorization request
	// issuer is what "iss" (RFC 9207) must be where an answer has it; "*" stands
	// for one segment of the path.
	issuer string
	// redirectHost is the host of the redirect URI. With freePath a path of our
	// own is put behind it; else the service compares the path with the
	// registration, where there is none.
	redirectHost string
	freePath     bool
	noDevice     string // why there is no device code, "" where there is one
	note         string // what a person should know before signing in
}

// providers is the table of services, by the name used in the configuration.
var providers = map[string]provider{
	"google": {
		name: "Google",
		endpoint: oauth2.Endpoint{
			AuthURL:   "https://accounts.google.com/o/oauth2/v2/auth",
			TokenURL:  "https://oauth2.googleapis.com/token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
		scopes:       []string{"https://mail.google.com/"},
		authorize:    map[string]string{"access_type": "offline", "prompt": "consent"}, // else there is no refresh token the second time
		issuer:       "https://accounts.google.com",
		redirectHost: "127.0.0.1",
		freePath:     true,
		noDevice:     "Google's device sign-in cannot grant access to mail.",
		note: "Google shows a warning for a client that it has not verified; while the client's project is in testing, " +
			"the sign-in ends after 7 days. An app password is the easier way.",
	},
	"microsoft": {
		name: "Microsoft",
		endpoint: oauth2.Endpoint{
			AuthURL:       "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
			TokenURL:      "https://login.microsoftonline.com/common/oauth2/v2.0/token",
			DeviceAuthURL: "https://login.microsoftonline.com/common/oauth2/v2.0/devicecode",
			AuthStyle:     oauth2.AuthStyleInParams,
		},
		scopes: []string{"https://outlook.office.com/IMAP.AccessAsUser.All", "https://outlook.office.com/SMTP.Send",
			"offline_access"},
		unlisted:     []string{"offline_access"},
		authorize:    map[string]string{"prompt": "select_account"},
		issuer:       "https://login.microsoftonline.com/*/v2.0",
		redirectHost: "localhost",
		note: "The client needs the redirect URI http://localhost for mobile and desktop applications. " +
			"An organization may want its administrator to allow the client, or may switch off IMAP, SMTP or the device code.",
	},
}

// registration is the provider of acct and the client it is used with.
func (o *OAuth2) registration(acct *mail.Account) (provider, *oauth2.Config, error) {
	p, ok := o.providers[acct.OAuth2.Provider]
	if !ok || acct.OAuth2.ClientID == "" {
		return provider{}, nil, mail.Errorf(mail.CodeConfigInvalid, "Set provider and client_id in the account's auth.oauth2 table.",
			"The account %q does not say which OAuth2 client it signs in with.", acct.Name)
	}
	return p, &oauth2.Config{ClientID: acct.OAuth2.ClientID, ClientSecret: acct.OAuth2.ClientSecret,
		Endpoint: p.endpoint, Scopes: p.scopes}, nil
}

// issuedBy reports whether iss is the provider's issuer.
func (p provider) issuedBy(iss string) bool {
	want, got := strings.Split(p.issuer, "/"), strings.Split(iss, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && (want[i] != "*" || got[i] == "") {
			return false
		}
	}
	return true
}

// missing returns the scopes that granted, a list separated by spaces, lacks.
// Services differ in the case of letters, and some leave out the part before
// the last slash.
func (p provider) missing(granted string) []string {
	have := map[string]bool{}
	for s := range strings.FieldsSeq(strings.ToLower(granted)) {
		have[s] = true
	}
	for _, s := range p.unlisted {
		have[strings.ToLower(s)] = true
	}
	var out []string
	for _, s := range p.scopes {
		full := strings.ToLower(s)
		short := full[strings.LastIndexByte(full, '/')+1:]
		if !have[full] && (short == "" || !have[short]) {
			out = append(out, s)
		}
	}
	return out
}

// hostOf is the host of an endpoint, for sentences.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "the sign-in service"
	}
	return u.Hostname()
}
