package outbox_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skrzynka/mail"
)

// imapPeer is a small IMAP server with a Sent folder that can do something else
// at every step of an APPEND.
type imapPeer struct {
	mu      sync.Mutex
	addr    *net.TCPAddr
	caFile  string
	at      map[string]func(c *imapConn) bool // false cuts the connection
	folders []string                          // lines of LIST: attributes and name
	caps    string
	stored  map[string][][]byte // by folder
	appends int                 // literals that came whole
	conns   int
}

// The points of a session, in order.
const (
	imapConnect = "connect" // accepted, before TLS
	imapLogin   = "LOGIN"
	imapList    = "LIST"
	imapExamine = "EXAMINE"
	imapSearch  = "UID"
	imapStatus  = "STATUS"
	imapAppend  = "APPEND" // before the go-ahead
	imapHalf    = "half"   // half of the literal came
	imapWhole   = "whole"  // all of it came, nothing is stored
	imapStored  = "stored" // stored, before the answer
	imapAnswer  = "answer" // answered
	imapLogout  = "LOGOUT"
)

func startIMAP(t testing.TB) *imapPeer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "imap"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &imapPeer{addr: l.Addr().(*net.TCPAddr), caFile: filepath.Join(t.TempDir(), "imap.pem"), at: map[string]func(*imapConn) bool{},
		folders: []string{`() "/" INBOX`, `(\Sent) "/" Sent`}, caps: "IMAP4rev1 UIDPLUS SPECIAL-USE", stored: map[string][][]byte{}}
	must(t, os.WriteFile(p.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	cfg := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	var running sync.WaitGroup
	var open sync.Map
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, true)
			running.Go(func() {
				defer c.Close()
				(&imapConn{p: p, tcp: c, Conn: tls.Server(c, cfg)}).run()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		running.Wait()
	})
	return p
}

// on sets what happens at a point; false from do cuts the connection.
func (p *imapPeer) on(point string, do func(c *imapConn) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[point] = do
}

// sent lists what a folder holds.
func (p *imapPeer) sent(folder string) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([][]byte(nil), p.stored[folder]...)
}

func (p *imapPeer) count() (conns, appends int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns, p.appends
}

// side puts the server into an account, with sent copies on.
func (p *imapPeer) side(a mail.Account) mail.Account {
	a.IMAP = mail.Server{Host: "127.0.0.1", Port: p.addr.Port, Security: mail.SecurityTLS, CAFile: p.caFile}
	a.SentCopy = mail.SentCopyPolicy{Enabled: true, OnFailure: mail.OnFailureWarn, ProviderKeep: "auto"}
	a.FolderKinds = map[string]mail.FolderKind{}
	return a
}

type imapConn struct {
	net.Conn
	p   *imapPeer
	tcp net.Conn
	r   *bufio.Reader
	tag string
}

func (c *imapConn) say(format string, args ...any) bool {
	_, err := fmt.Fprintf(c.Conn, format+"\r\n", args...)
	return err == nil
}

// point does what is set for it; false ends the connection.
func (c *imapConn) point(name string) bool {
	c.p.mu.Lock()
	do := c.p.at[name]
	c.p.mu.Unlock()
	return do == nil || do(c)
}

var (
	literalAtEnd = regexp.MustCompile(`\{(\d+)\}$`)
	searchedIDs  = regexp.MustCompile(`<[^<>" ]+@[^<>" ]+>`)
)

func (c *imapConn) run() {
	c.p.mu.Lock()
	c.p.conns++
	c.p.mu.Unlock()
	if !c.point(imapConnect) {
		return
	}
	c.r = bufio.NewReader(c.Conn)
	if !c.say("* OK ready") {
		return
	}
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		var rest string
		c.tag, rest, _ = strings.Cut(line, " ")
		verb, args, _ := strings.Cut(rest, " ")
		verb = strings.ToUpper(verb)
		if !c.point(verb) || !c.do(verb, args) {
			return
		}
	}
}

func (c *imapConn) do(verb, args string) bool {
	switch verb {
	case "CAPABILITY":
		c.say("* CAPABILITY %s", c.p.caps)
	case "LIST":
		for _, f := range c.p.folders {
			c.say("* LIST %s", f)
		}
	case "STATUS":
		name := folderOf(args)
		c.say("* STATUS %s (MESSAGES %d UIDNEXT %d UIDVALIDITY 9)", name, len(c.p.sent(name)), len(c.p.sent(name))+1)
	case "EXAMINE", "SELECT":
		n := len(c.p.sent(folderOf(args)))
		c.say("* FLAGS (\\Seen)\r\n* %d EXISTS\r\n* OK [UIDVALIDITY 9] x\r\n* OK [UIDNEXT %d] x", n, n+1)
	case "UID":
		uids := ""
		for i, m := range c.p.sent("Sent") {
			for _, id := range searchedIDs.FindAllString(args, -1) {
				if messageID(m) == id {
					uids += " " + strconv.Itoa(i+1)
				}
			}
		}
		c.say("* SEARCH%s", uids)
	case "APPEND":
		return c.append(args)
	case "LOGOUT":
		c.say("* BYE\r\n%s OK", c.tag)
		return false
	case "LOGIN", "NOOP", "CLOSE", "UNSELECT":
	default:
		return c.say("%s BAD what", c.tag)
	}
	return c.say("%s OK done", c.tag)
}

func folderOf(args string) string {
	name, _, _ := strings.Cut(args, " ")
	return strings.Trim(name, `"`)
}

func (c *imapConn) append(args string) bool {
	m := literalAtEnd.FindStringSubmatch(args)
	if m == nil {
		return c.say("%s BAD no literal", c.tag)
	}
	n, _ := strconv.Atoi(m[1])
	c.say("+ go ahead")
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b[:n/2]); err != nil || !c.point(imapHalf) {
		return false
	}
	if _, err := io.ReadFull(c.r, b[n/2:]); err != nil {
		return false
	}
	if _, err := c.r.ReadString('\n'); err != nil {
		return false
	}
	folder := folderOf(args)
	c.p.mu.Lock()
	c.p.appends++
	c.p.mu.Unlock()
	if !c.point(imapWhole) {
		return false
	}
	c.p.mu.Lock()
	c.p.stored[folder] = append(c.p.stored[folder], b)
	uid := len(c.p.stored[folder])
	c.p.mu.Unlock()
	if !c.point(imapStored) {
		return false
	}
	if strings.Contains(c.p.caps, "UIDPLUS") {
		c.say("%s OK [APPENDUID 9 %d] done", c.tag, uid)
	} else {
		c.say("%s OK done", c.tag)
	}
	return c.point(imapAnswer)
}
