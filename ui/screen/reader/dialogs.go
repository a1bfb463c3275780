package reader

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// files offers the attachments; choosing one saves it.
func (m *Model) files() tea.Cmd {
	return m.offer("Save an attachment", func(view.File) bool { return true })
}

func (m *Model) images() tea.Cmd { return m.offer("Save an image", isImage) }

func (m *Model) offer(title string, want func(view.File) bool) tea.Cmd {
	msg, ok := m.message()
	if !ok {
		return nil
	}
	menu := &kit.Menu{Env: m.env, Title: title, Foot: "enter save  esc cancel", Placeholder: "to " + kit.Clean(m.env.DownloadDir)}
	var parts []int
	for _, f := range msg.Files {
		if !want(f) {
			continue
		}
		parts = append(parts, f.Part)
		right := f.Type.String() + "  " + kit.Size(f.Size)
		if f.Risky {
			right = "runs when opened  " + right
		}
		menu.Items = append(menu.Items, kit.Item{Label: f.Name.String(), Right: right, Warn: f.Risky,
			Run: func() tea.Cmd { return m.save([]int{f.Part}) }})
	}
	if len(parts) > 1 {
		menu.Items = append(menu.Items, kit.Item{Label: fmt.Sprintf("All %d files", len(parts)), Run: func() tea.Cmd { return m.save(parts) }})
	}
	return kit.Show(menu)
}

func (m *Model) save(parts []int) tea.Cmd {
	engine, id, dir := m.engine, m.id, m.env.DownloadDir
	return kit.Call(func(ctx context.Context) (tea.Msg, error) {
		var paths []string
		for _, part := range parts {
			path, err := engine.SaveAttachment(ctx, id, part, dir)
			if err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
		return savedNotice(paths), nil
	})
}

// links lists the numbered links; choosing one first shows where it leads.
func (m *Model) links() tea.Cmd {
	msg, ok := m.message()
	if !ok {
		return nil
	}
	menu := &kit.Menu{Env: m.env, Title: "Links", Placeholder: "a number, or a part of the address", Foot: "enter look  esc close"}
	for _, l := range msg.Links {
		menu.Items = append(menu.Items, kit.Item{Label: fmt.Sprintf("%d  %s", l.N, l.URL), Match: l.Text.String(),
			Run: func() tea.Cmd { return m.link(l) }})
	}
	return kit.Show(menu)
}

// link shows the whole address before anything is done with it. Only a link of
// the web or an address to write to may leave for the browser.
func (m *Model) link(l view.Link) tea.Cmd {
	url := l.URL.String()
	c := &kit.Confirm{Env: m.env, Title: "Link to " + kit.Clip(host(l.URL), 50), Text: []string{url},
		Choices: []kit.Choice{{Key: "c", Label: "Copy the address", Run: func() tea.Cmd {
			return tea.Batch(tea.SetClipboard(url), kit.Say(kit.Good, "Copied "+url))
		}}}}
	if text := l.Text.String(); text != "" && text != url {
		c.Text = append(c.Text, "Shown as: "+text)
	}
	if open := m.env.Open; open != nil && opens(url) {
		c.Choices = append(c.Choices, kit.Choice{Key: "o", Label: "Open in the browser", Run: func() tea.Cmd {
			return kit.Call(func(context.Context) (tea.Msg, error) {
				if err := open(url); err != nil {
					return nil, err
				}
				return kit.Notice{Text: "Opened " + host(l.URL)}, nil
			})
		}})
	}
	return kit.Show(c)
}

func opens(url string) bool {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}
