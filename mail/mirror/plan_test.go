package mirror

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPlan(t *testing.T) {
	stored := LocalFolder{UIDValidity: 7, UIDNext: 101, LastUID: 100, Count: 90, HighestModSeq: 500}
	same := Mailbox{UIDValidity: 7, UIDNext: 101, Messages: 90, HighestModSeq: 500}
	with := func(m Mailbox, f func(*Mailbox)) Mailbox { f(&m); return m }
	local := func(f func(*LocalFolder)) LocalFolder { l := stored; f(&l); return l }
	diff := func(messages int) Action { return Action{Kind: DiffUIDs, From: 1, To: 100, Messages: messages} }
	all := Action{Kind: FlagsAll, From: 1, To: 100}

	for _, tc := range []struct {
		name      string
		local     LocalFolder
		remote    Mailbox
		condStore bool
		want      []Action
	}{
		{"step 1: nothing changed, no traffic", stored, same, true, nil},
		{"step 1: both empty", LocalFolder{UIDValidity: 7, UIDNext: 1}, Mailbox{UIDValidity: 7, UIDNext: 1}, true, nil},
		{"step 1: UIDVALIDITY changed", stored, with(same, func(m *Mailbox) { m.UIDValidity = 8 }), true,
			[]Action{{Kind: ReRead}, {Kind: FetchNew, From: 1, To: 100}}},
		{"step 1: UIDVALIDITY changed and folder emptied", stored, Mailbox{UIDValidity: 8, UIDNext: 1}, true, []Action{{Kind: ReRead}}},
		{"step 1: server without UIDVALIDITY", local(func(l *LocalFolder) { l.UIDValidity = 0 }), Mailbox{UIDNext: 101, Messages: 90}, false,
			[]Action{{Kind: ReRead}, {Kind: FetchNew, From: 1, To: 100}}},
		{"never read", LocalFolder{}, same, true, []Action{{Kind: FetchNew, From: 1, To: 100}}},
		{"never read, empty there", LocalFolder{}, Mailbox{UIDValidity: 7, UIDNext: 1}, true, nil},
		{"step 2: flags changed", stored, with(same, func(m *Mailbox) { m.HighestModSeq = 510 }), true,
			[]Action{{Kind: FlagsSince, From: 1, To: 100, Since: 500}}},
		{"step 2: mod-sequence fell", stored, with(same, func(m *Mailbox) { m.HighestModSeq = 400 }), true, []Action{all}},
		{"step 2: mod-sequence never stored", local(func(l *LocalFolder) { l.HighestModSeq = 0 }), same, true, []Action{all}},
		{"step 2: NOMODSEQ folder", stored, with(same, func(m *Mailbox) { m.HighestModSeq = 0 }), true, []Action{all}},
		{"step 3: expunged, nothing new", stored, with(same, func(m *Mailbox) { m.Messages = 88; m.HighestModSeq = 501 }), true,
			[]Action{{Kind: FlagsSince, From: 1, To: 100, Since: 500}, diff(88)}},
		{"step 3: more there than stored", stored, with(same, func(m *Mailbox) { m.Messages = 91 }), true, []Action{diff(91)}},
		{"step 3: everything expunged", stored, with(same, func(m *Mailbox) { m.Messages = 0; m.HighestModSeq = 501 }), true, []Action{diff(0)}},
		{"step 4: new mail", stored, with(same, func(m *Mailbox) { m.UIDNext = 104; m.Messages = 93; m.HighestModSeq = 503 }), true,
			[]Action{{Kind: FetchNew, From: 101, To: 103}, {Kind: FlagsSince, From: 1, To: 100, Since: 500}, diff(93)}},
		{"step 4: new mail already expunged, count equal", stored, with(same, func(m *Mailbox) { m.UIDNext = 104 }), true,
			[]Action{{Kind: FetchNew, From: 101, To: 103}, diff(90)}},
		{"step 4: server without UIDNEXT", stored, with(same, func(m *Mailbox) { m.UIDNext = 0 }), true,
			[]Action{{Kind: FetchNew, From: 101, To: 0}, diff(90)}},
		{"step 4: UIDNEXT not stored", local(func(l *LocalFolder) { l.UIDNext = 0 }), same, true, nil},
		{"UIDNEXT fell", stored, with(same, func(m *Mailbox) { m.UIDNext = 50 }), true, []Action{diff(-1)}},
		{"step 5: no CONDSTORE", stored, same, false, []Action{all}},
		{"step 5: no CONDSTORE, flags fresh", local(func(l *LocalFolder) { l.FlagsFresh = true }), same, false, nil},
		{"step 5: no CONDSTORE, expunged: the list is the diff", stored, with(same, func(m *Mailbox) { m.Messages = 80 }), false, []Action{all}},
		{"step 5: no CONDSTORE, flags fresh, expunged", local(func(l *LocalFolder) { l.FlagsFresh = true }),
			with(same, func(m *Mailbox) { m.Messages = 80 }), false, []Action{diff(80)}},
		{"nothing stored although mail is there", LocalFolder{UIDValidity: 7, UIDNext: 101}, same, true,
			[]Action{{Kind: FetchNew, From: 1, To: 100}}},
		{"bodies missing", local(func(l *LocalFolder) { l.MissingBodies = []uint32{4, 9} }), same, true,
			[]Action{{Kind: FetchBodies, UIDs: []uint32{4, 9}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Plan(tc.local, tc.remote, tc.condStore); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct {
		name                         string
		local, remote, gone, unknown []uint32
	}{
		{"equal, any order", []uint32{3, 1, 2}, []uint32{1, 2, 3}, nil, nil},
		{"gone and unknown", []uint32{1, 2, 5, 9}, []uint32{2, 3, 9, 10}, []uint32{1, 5}, []uint32{3, 10}},
		{"repeats", []uint32{4, 4}, []uint32{5, 5}, []uint32{4}, []uint32{5}},
		{"nothing there", []uint32{1, 2}, nil, []uint32{1, 2}, nil},
		{"nothing stored", nil, []uint32{1, 2}, nil, []uint32{1, 2}},
		{"both empty", nil, nil, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			gone, unknown := Diff(tc.local, tc.remote)
			if !slices.Equal(gone, tc.gone) || !slices.Equal(unknown, tc.unknown) {
				t.Errorf("gone %v unknown %v, want %v and %v", gone, unknown, tc.gone, tc.unknown)
			}
		})
	}
}

// Applying a diff to the local set always gives the remote set.
func TestDiffIsComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOf(rapid.Uint32Range(1, 40))
		local, remote := set.Draw(t, "local"), set.Draw(t, "remote")
		gone, unknown := Diff(local, remote)
		var after []uint32
		for _, u := range append(sorted(local), unknown...) {
			if !slices.Contains(gone, u) {
				after = append(after, u)
			}
		}
		if !slices.Equal(sorted(after), sorted(remote)) {
			t.Fatalf("local %v - %v + %v is not %v", local, gone, unknown, remote)
		}
	})
}

func TestBatches(t *testing.T) {
	for _, tc := range []struct {
		name string
		uids []uint32
		size int
		want [][]uint32
	}{
		{"newest first, ascending inside", []uint32{1, 2, 3, 4, 5}, 2, [][]uint32{{4, 5}, {2, 3}, {1}}},
		{"unordered with repeats", []uint32{9, 1, 9, 4}, 2, [][]uint32{{4, 9}, {1}}},
		{"exact", []uint32{1, 2}, 2, [][]uint32{{1, 2}}},
		{"size zero counts as one", []uint32{1, 2}, 0, [][]uint32{{2}, {1}}},
		{"empty", nil, 5, [][]uint32{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Batches(tc.uids, tc.size); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
