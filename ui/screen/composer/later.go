package composer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"skrzynka/ui/kit"
)

func (m *Model) later() tea.Cmd {
	if !m.check() {
		return nil
	}
	follow := kit.Item{Label: "Follow up if nobody answers…", Match: "answer", Run: func() tea.Cmd {
		// The plan hangs on the stored draft, and starts when it has been sent.
		return tea.Sequence(m.save(), kit.Open(kit.Page{Kind: kit.KindFollowUp, ID: "draft:" + strconv.FormatInt(m.draft.ID, 10)}))
	}}
	return Later(m.env, "Send later, or follow up", func(at time.Time) tea.Cmd { return m.submit(at, false) }, follow)
}

// Later offers times to send at, in the person's zone, and hands the chosen one
// to run.
func Later(env *kit.Env, title string, run func(at time.Time) tea.Cmd, more ...kit.Item) tea.Cmd {
	now := env.Now()
	menu := &kit.Menu{Env: env, Title: title, Placeholder: "when? it is " + now.Format("Mon 15:04 MST")}
	item := func(label string, at time.Time) {
		menu.Items = append(menu.Items, kit.Item{Label: label, Right: When(at, now), Run: func() tea.Cmd { return run(at) }})
	}
	clock := func(days, hour int) time.Time {
		y, mo, d := now.Date()
		return time.Date(y, mo, d+days, hour, 0, 0, 0, now.Location())
	}
	item("In an hour", now.Add(time.Hour).Truncate(time.Minute))
	if evening := clock(0, 18); now.Before(evening.Add(-time.Minute)) {
		item("This evening", evening)
	}
	item("Tomorrow morning", clock(1, 8))
	days := (int(time.Monday) - int(now.Weekday()) + 7) % 7
	if days == 0 {
		days = 7
	}
	if days > 1 {
		item("On Monday", clock(days, 8))
	}
	menu.Items = append(menu.Items, kit.Item{Label: "At another time…", Run: func() tea.Cmd { return askTime(env, title, "", "", run) }})
	menu.Items = append(menu.Items, more...)
	return kit.Show(menu)
}

// askTime asks for a time and, when it cannot be read, asks again and says why.
func askTime(env *kit.Env, title, value, wrong string, run func(at time.Time) tea.Cmd) tea.Cmd {
	ask := &kit.Ask{Env: env, Title: title, Text: wrong + "A day and a time, such as " + env.Now().AddDate(0, 0, 3).Format("2006-01-02") + " 09:00, or a time alone."}
	ask.Input.Set(value)
	ask.Run = func(s string) tea.Cmd {
		at, err := parseTime(s, env.Now())
		if err != nil {
			return askTime(env, title, s, err.Error()+". ", run)
		}
		return run(at)
	}
	return kit.Show(ask)
}

// parseTime reads a day and a time, or a time alone: the next one.
func parseTime(s string, now time.Time) (time.Time, error) {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "T", " ")), " ")
	for _, layout := range []string{"2006-01-02 15:04", "2006-1-2 15:04", "2006-01-02 15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			if !t.After(now) {
				return t, fmt.Errorf("%s has passed", When(t, now))
			}
			return t, nil
		}
	}
	if t, err := time.ParseInLocation("15:04", s, now.Location()); err == nil {
		y, mo, d := now.Date()
		at := time.Date(y, mo, d, t.Hour(), t.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(y, mo, d+1, t.Hour(), t.Minute(), 0, 0, now.Location())
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time", s)
}
