package compose

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"skrzynka/mail"
)

// PayloadDigest is the SHA-256 of what an idempotency key stands for: kind,
// account, the normalized body, the attachments' digests in order, and for a
// reply the answered message, for an outbound message the recipients (as
// AddressKey) and the subject. Every item is preceded by its length, every
// list by its count, so that no two payloads are written alike.
func PayloadDigest(kind mail.AttemptKind, account string, messageID int64, to, cc, bcc []mail.Address, subject, body string, attachments []mail.AttachmentRef) []byte {
	h := sha256.New()
	put(h, "skrzynka payload 1")
	put(h, string(kind))
	put(h, account)
	if kind == mail.KindReply {
		count(h, uint64(messageID))
	} else {
		for _, list := range [][]mail.Address{to, cc, bcc} {
			count(h, uint64(len(list)))
			for _, a := range list {
				put(h, a.Key())
			}
		}
		put(h, subject)
	}
	put(h, NormalizeBody(body))
	count(h, uint64(len(attachments)))
	for _, a := range attachments {
		put(h, a.SHA256)
	}
	return h.Sum(nil)
}

func put(h hash.Hash, s string) {
	count(h, uint64(len(s)))
	_, _ = h.Write([]byte(s))
}

func count(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:])
}
