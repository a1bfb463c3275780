package inbound

import (
	"skrzynka/mail"
)

// matchOwn recognises mail we sent ourselves: by the folder, by a Message-ID of
// ours (a copy that came back through a list or an alias), or by its From. A
// forged From of ours ends here too, without effect.
func matchOwn(f *facts, r *Result) (mail.InboundClass, bool) {
	if f.in.Folder == mail.FolderSent || f.in.Folder == mail.FolderDrafts {
		r.because("own-folder", f.in.Folder.String())
		return mail.ClassOwn, true
	}
	if f.ours(f.h.MessageID) {
		r.because("own-message-id", f.h.MessageID)
		return mail.ClassOwn, true
	}
	if f.sender == "" {
		return "", false
	}
	key := mail.AddressKey(f.sender)
	for _, own := range f.in.OwnAddresses {
		if mail.AddressKey(own) == key {
			r.because("own-address", f.sender)
			return mail.ClassOwn, true
		}
	}
	return "", false
}

// matchUnparsed recognises what could not be read: no message at all, or one
// without a single header field.
func matchUnparsed(f *facts, r *Result) (mail.InboundClass, bool) {
	switch {
	case f.m == nil:
		r.because("unparsed", "the message could not be read")
	case len(f.h.Fields) == 0:
		r.because("unparsed", "no header field could be read")
	default:
		return "", false
	}
	return mail.ClassUnparsed, true
}
