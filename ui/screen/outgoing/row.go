package outgoing

import (
	"fmt"
	"strings"
	"time"

	"skrzynka/mail/view"
	"skrzynka/ui/kit"
)

// Subject is an attempt's subject, ready to be painted.
func Subject(a view.Attempt) string {
	if s := kit.Clean(a.Subject); strings.TrimSpace(s) != "" {
		return s
	}
	return "(no subject)"
}

// Recipients are the first recipient and how many more there are.
func Recipients(a view.Attempt) string {
	all := append(append(append([]string{}, a.To...), a.Cc...), a.Bcc...)
	switch len(all) {
	case 0:
		return "(nobody)"
	case 1:
		return kit.Clean(all[0])
	}
	return fmt.Sprintf("%s +%d", kit.Clean(all[0]), len(all)-1)
}

// Retry says when the outbox tries again by itself, "" when it does not.
func Retry(a view.Attempt, now time.Time) string {
	if a.NextTryAt == nil {
		return ""
	}
	s := "tries again " + In(a.NextTryAt.Sub(now))
	if a.AutoTriesMax > 0 {
		s += fmt.Sprintf(", %d of %d", a.AutoTries+1, a.AutoTriesMax)
	}
	return s
}

// In says how long something takes to come: "in 38 s", "in 4 min".
func In(d time.Duration) string {
	switch {
	case d <= 0:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("in %d s", (d+time.Second-1)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("in %d min", (d+time.Minute-1)/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("in %d h", d/time.Hour)
	}
	return fmt.Sprintf("in %d days", d/(24*time.Hour))
}

// Paint draws an attempt as two lines: what it is, and why it stands so.
func Paint(env *kit.Env, a view.Attempt, s kit.RowState, w int) []string {
	reason := a.Says.String()
	if r := Retry(a, env.Now()); r != "" {
		reason = r + " · " + reason
	}
	return Two(env, s, w, env.Theme.Badge(a.Badge), Recipients(a), Subject(a), kit.Ago(a.CreatedAt, env.Now()), reason)
}

// badgeWidth is the room a badge has in a row.
func badgeWidth(w int) int {
	switch {
	case w >= 100:
		return 20
	case w >= 60:
		return 16
	}
	return 13
}

// Indent is where the second line of a row begins.
func Indent(w int) int {
	if w < 34 {
		return min(2, w)
	}
	return 3 + badgeWidth(w)
}

// Two draws the two lines of a row of mail that goes out.
func Two(env *kit.Env, s kit.RowState, w int, badge kit.Cell, to, subject, age, reason string) []string {
	t, base := env.Theme, s.Base(env.Theme)
	mark := kit.Cell{Text: " "}
	if s.Marked {
		mark = kit.Cell{Text: t.Glyph.Mark, Style: t.Accent}
	}
	bw := badgeWidth(w)
	cells := []kit.Cell{mark, {Text: " "}, {Text: kit.Fit(badge.Text, bw), Style: badge.Style}, {Text: " "}}
	used := 3 + bw
	if w < 34 {
		cells = []kit.Cell{mark, {Text: kit.Clip(badge.Text, 11), Style: badge.Style}, {Text: " "}}
		used = 2 + cells[1].Width()
	}
	ageWidth := 0
	if w >= 60 {
		ageWidth = 11
	}
	if w >= 60 {
		tw := min(max(w/4, 16), 32)
		cells = append(cells, kit.Cell{Text: kit.Fit(to, tw)}, kit.Cell{Text: "  "})
		used += tw + 2
	}
	room := max(0, w-used-ageWidth-1)
	cells = append(cells, kit.Cell{Text: kit.Fit(subject, room), Style: t.Strong})
	if ageWidth > 0 {
		cells = append(cells, kit.Cell{Text: kit.FitRight(age, ageWidth), Style: t.Dim})
	}
	indent := Indent(w)
	if w >= 34 && w < 60 {
		reason = to + ": " + reason
	}
	return []string{kit.Row(base, w, cells...),
		kit.Row(base, w, kit.Cell{Text: kit.Spaces(indent)}, kit.Cell{Text: kit.Clip(reason, max(0, w-indent-1)), Style: t.Dim})}
}
