// Package architecture holds the rules of which package may reach which, as
// tests; docs/architecture.md has the picture.
package architecture
