package inbox

import (
	"encoding/json"

	"skrzynka/mail"
	"skrzynka/mail/inbound"
)

// Correction is what a person decided about an event.
type Correction struct {
	Class   mail.InboundClass
	Attempt string // the attempt it is about, "" for those it names
	Contact string // the address it is from or about, "" for its sender
	Note    string
}

// Correct makes the decision of a person's correction: what follows from the
// class, without the doubts the rules have about claims. detail is the stored
// classification.
func (r *Recorder) Correct(c Correction, a mail.Around, stored json.RawMessage, sender string) mail.Decision {
	var res inbound.Result
	if json.Unmarshal(stored, &res) != nil {
		res = inbound.Result{}
	}
	p := person{Correction: c, about: attempts(a.Named), res: res, who: sender, r: r}
	if c.Contact != "" {
		p.who = c.Contact
	}
	p.decide()
	d := mail.Decision{Class: c.Class, Note: c.Note, NamedIDs: res.NamedIDs, Effects: p.out}
	if c.Attempt != "" {
		d.Tie = []string{c.Attempt}
	}
	return d
}

// Again runs the present rules over a message that was recorded before.
func (r *Recorder) Again(raw []byte, a mail.Around) mail.Decision {
	msg := read(raw)
	d := r.decide(msg, nil, a)
	return d
}

type person struct {
	Correction
	about []inbound.Attempt
	res   inbound.Result
	who   string
	r     *Recorder
	out   []mail.Effect
}

const saysSo = "a person says so"

func (p *person) add(e mail.Effect) {
	e.Why = saysSo
	p.out = append(p.out, e)
}

// each adds an effect for every attempt it is about, else one for the address.
func (p *person) each(e mail.Effect) {
	for _, a := range p.about {
		e.Attempt = a.ID
		p.add(e)
	}
	if len(p.about) == 0 && p.who != "" {
		e.Address = p.who
		p.add(e)
	}
}

func (p *person) decide() {
	switch p.Class {
	case mail.ClassHumanReply:
		if who := p.recipient(p.who); who != "" {
			p.add(mail.Effect{Kind: mail.EffectReplied, Address: who})
		}
		p.each(mail.Effect{Kind: mail.EffectStop})
	case mail.ClassAutoReply:
		e := mail.Effect{Kind: mail.EffectHold, Address: p.who}
		if d := p.res.ReturnDate; d != nil {
			e.Kind, e.Until = mail.EffectPause, d.BackOn()
			if p.r.ResumeAt != nil {
				e.Until = p.r.ResumeAt(e.Until)
			}
		}
		p.each(e)
	case mail.ClassBounceHard:
		for _, addr := range p.bounced() {
			p.add(mail.Effect{Kind: mail.EffectSuppress, Address: addr})
			p.note(addr, inbound.NoteBounced)
		}
		p.each(mail.Effect{Kind: mail.EffectStop})
	case mail.ClassBounceSoft:
		for _, addr := range p.bounced() {
			p.note(addr, inbound.NoteRefused)
		}
	case mail.ClassComplaint:
		for _, addr := range p.bounced() {
			p.add(mail.Effect{Kind: mail.EffectSuppress, Address: addr})
		}
		p.each(mail.Effect{Kind: mail.EffectStop})
	case mail.ClassDSNSuccess:
		for _, addr := range p.bounced() {
			p.note(addr, inbound.NoteDelivered)
		}
	case mail.ClassMDN:
		p.note(p.who, inbound.NoteRead)
	}
}

func (p *person) note(addr string, n inbound.Note) {
	for _, a := range p.about {
		p.add(mail.Effect{Kind: mail.EffectNote, Attempt: a.ID, Address: addr, Note: string(n)})
	}
}

// recipient is the address a person answered from, as we had written to it:
// the only recipient when they answered from another one.
func (p *person) recipient(addr string) string {
	only := ""
	for _, a := range p.about {
		for _, rcpt := range a.Recipients {
			if mail.AddressKey(rcpt) == mail.AddressKey(addr) {
				return rcpt
			}
			if only != "" && mail.AddressKey(only) != mail.AddressKey(rcpt) {
				return ""
			}
			only = rcpt
		}
	}
	if len(p.about) == 0 {
		return addr
	}
	return only
}

// bounced are the addresses a report is about: those it names that we wrote
// to, else the only recipient, else the contact a person named.
func (p *person) bounced() []string {
	if p.Contact != "" {
		return []string{p.Contact}
	}
	var out []string
	for _, b := range p.res.Recipients {
		for _, addr := range []string{b.Address, b.OrigAddress} {
			for _, a := range p.about {
				for _, rcpt := range a.Recipients {
					if addr != "" && mail.AddressKey(rcpt) == mail.AddressKey(addr) {
						out = append(out, rcpt)
					}
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	only := ""
	for _, a := range p.about {
		for _, rcpt := range a.Recipients {
			if only != "" && mail.AddressKey(only) != mail.AddressKey(rcpt) {
				return nil
			}
			only = rcpt
		}
	}
	if only == "" {
		return nil
	}
	return []string{only}
}
