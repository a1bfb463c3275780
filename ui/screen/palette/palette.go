// Package palette offers every action by name, with its key, and why it is off.
package palette

import (
	"strings"

	"skrzynka/ui/kit"
)

// New makes the dialog for the levels of actions that are live, the most
// specific first.
func New(env *kit.Env, levels ...[]kit.Action) kit.Dialog {
	menu := &kit.Menu{Env: env, Title: "Commands", Placeholder: "type what you want to do", Foot: "enter run  esc close"}
	seen := map[string]bool{}
	for _, level := range levels {
		for _, a := range level {
			if a.Hidden || seen[a.ID] || a.Run == nil {
				continue
			}
			seen[a.ID] = true
			_, why := a.Can()
			label := strings.TrimSuffix(a.Title, "…")
			menu.Items = append(menu.Items, kit.Item{Label: label, Right: env.Keys.Label(a), Off: why, Match: a.Group + " " + a.ID, Run: a.Run})
		}
	}
	return menu
}
