package ui

import (
	"skrzynka/mail/view"
	"skrzynka/ui/kit"
	"skrzynka/ui/screen/accounts"
	"skrzynka/ui/screen/attempt"
	"skrzynka/ui/screen/attempts"
	"skrzynka/ui/screen/composer"
	"skrzynka/ui/screen/drafts"
	"skrzynka/ui/screen/firstrun"
	"skrzynka/ui/screen/followups"
	"skrzynka/ui/screen/mailbox"
	"skrzynka/ui/screen/raw"
	"skrzynka/ui/screen/reader"
	"skrzynka/ui/screen/retry"
	"skrzynka/ui/screen/review"
	"skrzynka/ui/screen/threads"
	"skrzynka/ui/screen/timeline"
	"skrzynka/ui/screen/uncertain"
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
	kit.KindDrafts: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		return drafts.New(env, engine)
	},
	kit.KindAttempts: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return attempts.New(env, engine, p.ID)
	},
	kit.KindAttempt: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return attempt.New(env, engine, p.ID)
	},
	kit.KindRetry: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		return retry.New(env, engine)
	},
	kit.KindUncertain: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return uncertain.New(env, engine, p.ID)
	},
	kit.KindAudit: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return timeline.New(env, engine, p.ID)
	},
	kit.KindFollowUps: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		return followups.New(env, engine)
	},
	kit.KindFollowUp: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return followups.NewWrite(env, engine, p.ID)
	},
	kit.KindThreads: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return threads.New(env, engine, p.ID)
	},
	kit.KindReview: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		return review.New(env, engine)
	},
	kit.KindAccounts: func(env *kit.Env, engine Engine, _ kit.Page) kit.Screen {
		return accounts.New(env, engine)
	},
	kit.KindFirstRun: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		setup, _ := engine.(firstrun.Setup)
		return firstrun.New(env, setup, p.ID != "")
	},
	kit.KindRaw: func(env *kit.Env, engine Engine, p kit.Page) kit.Screen {
		return raw.New(env, engine, p.Number())
	},
}
