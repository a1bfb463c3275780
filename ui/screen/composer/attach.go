package composer

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail"
	"skrzynka/ui/kit"
)

// attached is the draft after a file was attached or removed.
type attached struct {
	m     *Model
	draft mail.Draft
	says  string
}

func (m *Model) askFile() tea.Cmd {
	m.attach = &pathDialog{env: m.env, run: m.attachFile}
	return kit.Show(m.attach)
}

func (m *Model) attachFile(path string) tea.Cmd {
	s, engine, version, d := m.saver, m.engine, m.version, m.current()
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		id, err := s.save(ctx, version, d)
		if err != nil {
			return nil, err
		}
		got, err := engine.Attach(ctx, id, path)
		if err != nil {
			return nil, err
		}
		return attached{m, got, "Attached " + kit.Clean(filepath.Base(path)) + "."}, nil
	})
}

func (m *Model) detach() tea.Cmd {
	menu := &kit.Menu{Env: m.env, Title: "Remove an attachment", Foot: "enter remove  esc cancel"}
	for i, f := range m.draft.Attachments {
		menu.Items = append(menu.Items, kit.Item{Label: kit.Clean(f.Name), Right: kit.Size(f.Size), Run: func() tea.Cmd {
			engine, id := m.engine, m.draft.ID
			return kit.Call(func(ctx context.Context) (tea.Msg, error) {
				got, err := engine.Detach(ctx, id, i)
				if err != nil {
					return nil, err
				}
				return attached{m, got, "Removed " + kit.Clean(f.Name) + "; the file itself is untouched."}, nil
			})
		}})
	}
	return kit.Show(menu)
}

// afterAttach takes over the attachments and nothing else: what is written here
// is newer than what the engine has.
func (m *Model) afterAttach(r attached) tea.Cmd {
	m.draft.Attachments = r.draft.Attachments
	if m.version == 0 {
		m.version, m.saved = 1, 1 // something of the person's own is in it now
	}
	return kit.Say(kit.Good, r.says)
}

// pathDialog asks for a file; tab completes its path.
type pathDialog struct {
	env   *kit.Env
	input kit.Input
	run   func(path string) tea.Cmd
	found []string
	note  string
	x, y  int
}

// completions are the paths that begin as what was typed.
type completions struct {
	d     *pathDialog
	typed string
	paths []string
}

// Update implements kit.Dialog.
func (d *pathDialog) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case completions:
		d.take(msg)
	case tea.PasteMsg:
		d.input.Insert(pasted(msg.Content))
	case tea.KeyPressMsg:
		switch msg.String() {
		case "tab":
			typed := d.input.Value()
			return func() tea.Msg { return completions{d, typed, complete(typed)} }, false
		case "enter":
			path := expand(pasted(d.input.Value()))
			if path == "" {
				return nil, true
			}
			return d.run(path), true
		}
		if changed, _ := d.input.Update(msg); changed {
			d.found, d.note = nil, ""
		}
	}
	return nil, false
}

// take completes as far as all candidates agree, and lists them.
func (d *pathDialog) take(c completions) {
	if c.d != d || c.typed != d.input.Value() {
		return
	}
	d.found, d.note = nil, ""
	switch len(c.paths) {
	case 0:
		d.note = "no such file"
	case 1:
		d.input.Set(c.paths[0])
	default:
		common := c.paths[0]
		for _, p := range c.paths[1:] {
			for !strings.HasPrefix(p, common) {
				_, size := lastRune(common)
				common = common[:len(common)-size]
			}
		}
		if len(common) > len(c.typed) {
			d.input.Set(common)
		}
		d.found = c.paths
	}
}

func lastRune(s string) (rune, int) {
	r := []rune(s)
	if len(r) == 0 {
		return 0, 0
	}
	return r[len(r)-1], len(string(r[len(r)-1]))
}

// View implements kit.Dialog.
func (d *pathDialog) View(w, h int) string {
	t := d.env.Theme
	w = min(w, 76)
	in := max(1, w-4)
	d.input.Placeholder = "~/report.pdf"
	line, x := d.input.View(t, in)
	d.x, d.y = x+2, 1
	lines := []string{line}
	if d.note != "" {
		lines = append(lines, t.Warn.Paint(d.note))
	}
	room := max(0, min(8, h-4))
	for i, p := range d.found {
		if i == room {
			lines = append(lines, t.Dim.Paint("…"))
			break
		}
		name := filepath.Base(p)
		if strings.HasSuffix(p, string(filepath.Separator)) {
			name += string(filepath.Separator)
		}
		lines = append(lines, t.Dim.Paint(kit.Clip(kit.Clean(name), in)))
	}
	return kit.Box(t, "Attach a file", "tab complete  enter attach  esc cancel", lines, w, h)
}

// Cursor implements kit.Dialog.
func (d *pathDialog) Cursor() *tea.Cursor { return tea.NewCursor(d.x, d.y) }

// pasted reads a path as a terminal or a file manager drops it: quoted, with
// escaped spaces, or as a file URL.
func pasted(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "file://"); ok {
		if p, err := url.PathUnescape(rest); err == nil {
			return p
		}
	}
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	if filepath.Separator == '/' {
		return strings.ReplaceAll(s, `\ `, " ")
	}
	return s
}

// expand replaces a leading ~ by the home folder.
func expand(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, path[1:]) + trailing(path)
}

func trailing(path string) string {
	if len(path) > 1 && strings.HasSuffix(path, "/") {
		return "/"
	}
	return ""
}

// complete lists the paths that begin as typed, written as they were typed.
// Hidden files are offered when their dot was typed.
func complete(typed string) []string {
	i := strings.LastIndexByte(typed, filepath.Separator) + 1
	dir, prefix := typed[:i], typed[i:]
	if typed == "~" {
		return []string{"~/"}
	}
	look := expand(dir)
	if look == "" {
		look = "."
	}
	entries, err := os.ReadDir(look)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || prefix == "" && strings.HasPrefix(name, ".") {
			continue
		}
		folder := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			if info, err := os.Stat(filepath.Join(look, name)); err == nil {
				folder = info.IsDir()
			}
		}
		if folder {
			name += string(filepath.Separator)
		}
		if out = append(out, dir+name); len(out) == 500 {
			break
		}
	}
	slices.Sort(out)
	return out
}
