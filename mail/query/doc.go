// Package query reads what a person types into the search prompt, and folds
// text so that a search finds it whatever its case, accents or script. It is
// pure: the store and the indexer both use it, so that a word is looked for in
// the form in which it was indexed.
package query
