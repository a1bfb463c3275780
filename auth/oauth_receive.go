package auth

import (
	"context"
	"crypto/subtle"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"skrzynka/mail"
)

// What the browser is shown. Nothing of the request is in it.
const (
	pageDone  = "Skrzynka has its answer. Close this window and go back to the terminal.\n"
	pageWrong = "This is not the answer that Skrzynka waits for.\n"
)

// answer is what the authorization server sent the browser back with.
type answer struct {
	code string
	err  error
}

// receiver waits for the one redirect that ends an authorization. It listens on
// the loopback interface only.
type receiver struct {
	uri     string // the redirect URI
	answers chan answer

	acct  *mail.Account
	p     provider
	state string
	want  *url.URL
	port  string

	taken  atomic.Bool
	server *http.Server
	once   sync.Once
}

// receive listens on a free port. The path of the redirect URI is random where
// the provider allows for one.
func receive(acct *mail.Account, p provider, state string) (*receiver, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, mail.Errorf(mail.CodeUnsupported, "Use --device where the service has it.", "This machine does not let the program listen on 127.0.0.1.")
	}
	r := &receiver{answers: make(chan answer, 1), acct: acct, p: p, state: state, port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	r.want = &url.URL{Scheme: "http", Host: net.JoinHostPort(p.redirectHost, r.port)}
	if p.freePath {
		r.want.Path = "/" + oauth2.GenerateVerifier()
	}
	r.uri = r.want.String()
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = r.server.Serve(l) }()
	if p.redirectHost == "localhost" {
		// A browser may try ::1 first: nobody else is to have that port there.
		if l6, err := net.Listen("tcp6", net.JoinHostPort("::1", r.port)); err == nil {
			go func() { _ = r.server.Serve(l6) }()
		}
	}
	return r, nil
}

// close stops listening, after a page that is being written.
func (r *receiver) close() {
	r.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if r.server.Shutdown(ctx) != nil {
			_ = r.server.Close()
		}
	})
}

// ServeHTTP takes the first request for the redirect URI, whatever it holds;
// every other one is refused.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Connection", "close")
	if req.Method != http.MethodGet || !r.same(req.Host, req.URL.Path) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, pageWrong)
		return
	}
	if !r.taken.CompareAndSwap(false, true) {
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, pageWrong)
		return
	}
	a := r.check(req.URL.RawQuery)
	page := pageDone
	if a.err != nil {
		page = pageWrong
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, page)
	r.answers <- a
}

// same reports whether host and path are the redirect URI's. The host keeps out
// pages whose name was made to point to this machine.
func (r *receiver) same(host, path string) bool {
	if path == "" {
		path = "/"
	}
	want := r.want.Path
	if want == "" {
		want = "/"
	}
	hostOK := host == "127.0.0.1:"+r.port || host == "localhost:"+r.port || host == "[::1]:"+r.port
	return hostOK && subtle.ConstantTimeCompare([]byte(path), []byte(want)) == 1
}

// pasted is check for an address that a person copied.
func (r *receiver) pasted(line string) answer {
	u, err := url.Parse(line)
	if err != nil || u.Scheme != "http" || !r.same(u.Host, u.Path) {
		return answer{err: mail.Errorf(mail.CodeInvalid, "Copy it from the address line when the browser cannot show the page; it begins with http://"+r.want.Host+".",
			"What was pasted is not the address the browser ended on.")}
	}
	return r.check(u.RawQuery)
}

// check reads the parameters of the redirect (RFC 6749 section 4.1.2), each of
// which may be there once. State ties them to this sign-in, iss (RFC 9207) to
// the service that was asked.
func (r *receiver) check(query string) answer {
	q, err := url.ParseQuery(query)
	one := func(name string) string {
		if v := q[name]; len(v) == 1 {
			return v[0]
		}
		return ""
	}
	again := "Try again: skrzynka account login " + r.acct.Name
	if err != nil || subtle.ConstantTimeCompare([]byte(one("state")), []byte(r.state)) != 1 {
		return answer{err: unavailable(again, "The browser brought an answer that does not belong to this sign-in.")}
	}
	if q.Has("iss") && !r.p.issuedBy(one("iss")) {
		return answer{err: unavailable(again, "The browser brought the answer of another service than %s.", r.p.name)}
	}
	if q.Has("error") {
		said := serviceWords(one("error"), one("error_description"), []string{one("code"), r.state})
		return answer{err: unavailable(again, "%s did not let you sign in%s.", r.p.name, said)}
	}
	code := one("code")
	if code == "" {
		return answer{err: unavailable(again, "The browser brought an answer without a code.")}
	}
	return answer{code: code}
}
