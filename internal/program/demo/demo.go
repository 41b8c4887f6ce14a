// Package demo is a small program to try an embedded cluster with: a web server
// that greets, a validating webhook, an aggregated API, and ways to fail.
package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/krops-go/krops/internal/program"
)

// Image is the repository of the image that the program stands for.
const Image = "krops.dev/demo"

const serveWithin = 30 * time.Second

type options struct {
	port, tlsPort     int
	certDir, greeting string
	failAfter         time.Duration
	exit, panic, lose bool
	hang              bool
}

func parse(args []string) (options, error) {
	var o options
	fs := pflag.NewFlagSet("demo", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&o.port, "port", 8080, "")
	fs.IntVar(&o.tlsPort, "tls-port", 8443, "served when there is a certificate")
	fs.StringVar(&o.certDir, "cert-dir", "/etc/demo/tls", "")
	fs.StringVar(&o.greeting, "greeting-file", "/etc/demo/config/greeting", "")
	fs.BoolVar(&o.exit, "exit", false, "end at once, with success")
	fs.DurationVar(&o.failAfter, "fail-after", 0, "end with an error after this time")
	fs.BoolVar(&o.panic, "panic", false, "panic at once")
	fs.BoolVar(&o.lose, "panic-beside", false, "panic in a goroutine beside the program")
	fs.BoolVar(&o.hang, "hang", false, "pay no attention when told to end")
	return o, fs.Parse(args)
}

// Run is the program.
func Run(ctx context.Context, pod *program.Pod) error {
	o, err := parse(pod.Args)
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	fmt.Fprintf(pod.Log, "demo %s/%s begins with %s\n", pod.Namespace, pod.Name, strings.Join(pod.Args, " "))
	switch {
	case o.exit:
		fmt.Fprintln(pod.Log, "demo is done")
		return nil
	case o.panic:
		panic("demo was told to panic")
	case o.lose:
		pod.Go(func() { panic("demo was told to panic beside") })
	}
	d := &demo{pod: pod, greetingFile: o.greeting}
	pod.OnExec(d.exec)
	if err := d.serve(ctx, o); err != nil {
		return err
	}
	var failing <-chan time.Time
	if o.failAfter > 0 {
		failing = time.After(o.failAfter)
	}
	select {
	case <-ctx.Done():
	case <-failing:
		return fmt.Errorf("demo was told to fail after %s", o.failAfter)
	}
	fmt.Fprintln(pod.Log, "demo is told to end")
	if o.hang {
		select {}
	}
	return nil
}

type demo struct {
	pod          *program.Pod
	greetingFile string
}

// serve opens the ports; both servers end with ctx.
func (d *demo) serve(ctx context.Context, o options) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /{$}", d.greet)
	mux.HandleFunc("GET /env/{name}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, d.pod.Env[r.PathValue("name")]) })
	mux.HandleFunc("GET /file/{path...}", d.file)
	mux.HandleFunc("GET /fetch", d.fetch)
	if err := d.listen(ctx, o.port, mux, nil); err != nil {
		return err
	}
	certificate := func() (tls.Certificate, error) {
		return tls.LoadX509KeyPair(d.pod.Path(path.Join(o.certDir, "tls.crt")), d.pod.Path(path.Join(o.certDir, "tls.key")))
	}
	if _, err := certificate(); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	secure := http.NewServeMux()
	secure.HandleFunc("POST /validate", d.validate)
	secure.HandleFunc("GET /apis/"+groupVersion.String(), discover)
	secure.HandleFunc("GET /apis/"+groupVersion.String()+"/greetings", d.listGreetings)
	return d.listen(ctx, o.tlsPort, secure, &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The front proxy shows who it is; the API server, calling the webhook,
		// does not.
		ClientAuth: tls.RequestClientCert,
		// Read each time, so that a renewed one counts at once.
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c, err := certificate()
			return &c, err
		},
	})
}

func (d *demo) listen(ctx context.Context, port int, h http.Handler, config *tls.Config) error {
	l, err := d.pod.Listener(port)
	if err != nil {
		return err
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: serveWithin}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	d.pod.Go(func() {
		defer stop()
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(d.pod.Log, "serving port", port, "ended:", err)
		}
	})
	fmt.Fprintln(d.pod.Log, "demo serves port", port)
	return nil
}

func (d *demo) greeting() string {
	text, err := os.ReadFile(d.pod.Path(d.greetingFile))
	if err != nil {
		return "Hello"
	}
	return strings.TrimSpace(string(text))
}

func (d *demo) greet(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, "%s from %s\n", d.greeting(), d.pod.Name)
}

// file shows, appends to, or lists what lies at a path of the container.
func (d *demo) file(w http.ResponseWriter, r *http.Request) {
	name := d.pod.Path("/" + r.PathValue("path"))
	if line := r.URL.Query().Get("append"); line != "" {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, line)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_, _ = w.Write(text)
}

// fetch passes on what another server of the cluster answers.
func (d *demo) fetch(w http.ResponseWriter, r *http.Request) {
	client := &http.Client{Timeout: serveWithin, Transport: &http.Transport{DialContext: d.pod.Dial, DisableKeepAlives: true}}
	resp, err := client.Get(r.URL.Query().Get("url"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// exec answers the commands greet and cat.
func (d *demo) exec(_ context.Context, e program.Exec) error {
	switch {
	case len(e.Command) == 1 && e.Command[0] == "greet":
		_, err := fmt.Fprintln(e.Stdout, d.greeting())
		return err
	case len(e.Command) == 1 && e.Command[0] == "cat" && e.Stdin != nil:
		_, err := io.Copy(e.Stdout, e.Stdin)
		return err
	default:
		return fmt.Errorf("demo knows the commands greet and cat (of its standard input), not %q", strings.Join(e.Command, " "))
	}
}
