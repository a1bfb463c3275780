package ui

import (
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/composer"
	"skrzynka/ui/screen/mailbox"
	"skrzynka/ui/screen/raw"
	"skrzynka/ui/screen/reader"
)

// pages makes the screen of each kind of page. A constructor must do nothing
// but keep its arguments: it is also called with a nil engine.
var pages = map[kit.Kind]func(env *kit.Env, engine Engine, p kit.Page) kit.Screen{
	kit.KindMail: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		scope, name := mailbox.Inbox()
		return mailbox.New(env, engine, scope, name)
	},
	kit.KindSearch: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return mailbox.New(env, engine, view.Scope{Query: p.ID}, "Search")
	},
	kit.KindMessage: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return reader.New(env, engine, p.Number())
	},
	kit.KindCompose: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return composer.New(env, engine, p.Number())
	},
	kit.KindRaw: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return raw.New(env, engine, p.Number())
	},
}
