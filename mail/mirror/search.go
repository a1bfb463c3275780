package mirror

import (
	"context"
	"strings"

	"github.com/emersion/go-imap/v2"

	"skrzynka/mail"
)

// UIDs lists the UIDs of folder within r, ascending.
func (s *Session) UIDs(ctx context.Context, folder string, validity uint32, r Range) ([]uint32, error) {
	var out []uint32
	err := s.run(ctx, "listing messages", listBudget, func() error {
		box, err := s.openAt(folder, validity, true)
		if err != nil {
			return err
		}
		for _, part := range (Set{r}).commands() {
			uids, err := s.search(&imap.SearchCriteria{UID: []imap.UIDSet{part}}, box)
			if err != nil {
				return err
			}
			for _, u := range uids {
				if (Set{r}).Has(u) { // "n:*" names the last message whatever n is
					out = append(out, u)
				}
			}
		}
		out = sorted(out)
		return nil
	})
	return out, err
}

// search runs one UID SEARCH over the folder that is open, with RETURN (ALL)
// where the server has it (RFC 4731), which answers in ranges.
func (s *Session) search(c *imap.SearchCriteria, box Mailbox) ([]uint32, error) {
	var opts *imap.SearchOptions
	if s.caps.ESearch {
		opts = &imap.SearchOptions{ReturnAll: true}
	}
	data, err := s.client.UIDSearch(c, opts).Wait()
	if err != nil {
		return nil, err
	}
	s.w.item()
	// The folder may have grown since it was opened, but not without bound.
	return expand(data.All, box.Messages+1_000_000)
}

// maxSearchValue is how long a searched header value may be.
const maxSearchValue = 998

// SearchMessageID looks for messages whose Message-ID header holds one of ids,
// each with its angle brackets. An id that is empty, longer than 998 bytes or
// not visible ASCII cannot be searched for and is skipped. Servers compare by
// substring and without case: the caller compares what it then fetches.
func (s *Session) SearchMessageID(ctx context.Context, folder string, ids []string) ([]mail.UID, error) {
	var values []string
	for _, id := range ids {
		if visibleASCII(id) {
			values = append(values, id)
		}
	}
	return s.searchHeader(ctx, folder, "Message-ID", values)
}

// SearchHeader looks for messages whose header field holds value. An empty
// value finds every message that has the field. Field must be a field name
// (RFC 5322 section 3.6.8), value without NUL, CR and LF and not over 998 bytes.
func (s *Session) SearchHeader(ctx context.Context, folder, field, value string) ([]mail.UID, error) {
	if !fieldName(field) || len(value) > maxSearchValue || strings.ContainsAny(value, "\x00\r\n") {
		return nil, mail.Errorf(mail.CodeInvalid, "Search for something shorter, in one line.", "This header cannot be searched for.")
	}
	return s.searchHeader(ctx, folder, field, []string{value})
}

func (s *Session) searchHeader(ctx context.Context, folder, field string, values []string) ([]mail.UID, error) {
	if len(values) == 0 {
		return nil, nil
	}
	var found []uint32
	var box Mailbox
	err := s.run(ctx, "searching", listBudget, func() (err error) {
		// Opened anew: what was just delivered must be found.
		if box, err = s.open(folder, true, true); err != nil {
			return err
		}
		for _, v := range values {
			uids, err := s.search(&imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: field, Value: v}}}, box)
			if err != nil {
				return err
			}
			found = append(found, uids...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]mail.UID, 0, len(found))
	for _, u := range sorted(found) {
		out = append(out, mail.UID{Validity: box.UIDValidity, UID: u})
	}
	return out, nil
}

func visibleASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxSearchValue
}

func fieldName(s string) bool { return visibleASCII(s) && !strings.ContainsAny(s, `:"\(){%*]`) }
