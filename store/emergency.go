package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"skrzynka/mail"
)

func (s *Store) emergencyPath() string { return filepath.Join(s.dir, "emergency.log") }

// Emergency appends entry as one JSON line beside the database and returns
// when it is on the disk. It is for a terminal state that could not be
// committed: what was seen is then not lost, though the row stays as it is.
func (s *Store) Emergency(entry any) error {
	b, err := json.Marshal(struct {
		At    string `json:"at"`
		Owner string `json:"owner"`
		Entry any    `json:"entry"`
	}{s.clock.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"), s.Owner(), entry})
	if err != nil {
		return mail.Errorf(mail.CodeInternal, "", "The emergency entry cannot be written: %w.", err)
	}
	f, err := os.OpenFile(s.emergencyPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return dirError(s.emergencyPath(), err)
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return dirError(s.emergencyPath(), err)
	}
	return nil
}

// EmergencyEntries returns the lines of the emergency log, oldest first. A
// line that was cut short is left out.
func (s *Store) EmergencyEntries() ([]json.RawMessage, error) {
	f, err := os.Open(s.emergencyPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, dirError(s.emergencyPath(), err)
	}
	defer f.Close() //nolint:errcheck // only read
	var out []json.RawMessage
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if json.Valid(sc.Bytes()) {
			out = append(out, json.RawMessage(append([]byte(nil), sc.Bytes()...)))
		}
	}
	return out, nil
}
