package progress

import (
	"fmt"
	"os"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/krops-go/krops/internal/lifecycle"
)

const tick = 100 * time.Millisecond

// tree is the live display: a line for each step, with what it waits for below
// the ones that run.
type tree struct {
	program *tea.Program
	ended   chan error
}

func newTree(out *os.File, steps []lifecycle.Step) *tree {
	m := model{width: 80, now: time.Now()}
	for _, s := range steps {
		m.rows = append(m.rows, row{name: s.Name, title: s.Title})
	}
	t := &tree{
		// Keys and signals stay with the command: Ctrl-C ends the run in order.
		program: tea.NewProgram(m, tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler()),
		ended:   make(chan error, 1),
	}
	go func() {
		_, err := t.program.Run()
		t.ended <- err
	}()
	return t
}

func (t *tree) Observe(e lifecycle.Event) { t.program.Send(e) }

func (t *tree) Close() error {
	t.program.Quit()
	return <-t.ended
}

type row struct {
	name, title, detail string
	kind                lifecycle.EventKind // empty before the step starts
	began               time.Time
	elapsed             time.Duration
}

type model struct {
	rows  []row
	width int
	now   time.Time
	frame int
}

type tickMsg time.Time

func next() tea.Cmd { return tea.Tick(tick, func(t time.Time) tea.Msg { return tickMsg(t) }) }

func (m model) Init() tea.Cmd { return next() }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		m.now = time.Time(msg)
		m.frame++
		return m, next()
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case lifecycle.Event:
		m.rows = append([]row(nil), m.rows...)
		for i := range m.rows {
			if m.rows[i].name == msg.Step {
				m.rows[i].observe(msg)
			}
		}
	}
	return m, nil
}

func (r *row) observe(e lifecycle.Event) {
	if e.Kind == lifecycle.Started {
		r.began = e.Time
	}
	if e.Kind != lifecycle.Waiting {
		r.kind = e.Kind
	}
	r.detail, r.elapsed = e.Detail, e.Elapsed
}

var (
	spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	dim     = lipgloss.NewStyle().Faint(true)
	good    = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	bad     = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
)

func (m model) View() string {
	var b strings.Builder
	for _, r := range m.rows {
		line, detail := r.show(m)
		b.WriteString(ansi.Truncate(line, m.width, "…") + "\n")
		if detail != "" {
			b.WriteString(ansi.Truncate(dim.Render("    "+strings.ReplaceAll(detail, "\n", " ")), m.width, "…") + "\n")
		}
	}
	return b.String()
}

// show gives a step's line, never by colour alone, and what stands below it.
func (r row) show(m model) (line, detail string) {
	switch r.kind {
	case "":
		return dim.Render("  · " + r.title), ""
	case lifecycle.Started:
		return fmt.Sprintf("  %s %s %s", spinner[m.frame%len(spinner)], r.title, dim.Render(seconds(max(0, m.now.Sub(r.began))))), r.detail
	case lifecycle.Failed:
		return bad.Render("  ✗ "+r.title) + " " + dim.Render(seconds(r.elapsed)), ""
	case lifecycle.AlreadyDone:
		return good.Render("  ✓ ") + r.title + " " + dim.Render("already done"), ""
	default:
		return good.Render("  ✓ ") + r.title + " " + dim.Render(seconds(r.elapsed)), ""
	}
}
