package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestServices(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: lonely}
spec: {selector: {app: nobody}, ports: [{port: 80}]}
`)
	n.do("run", "web", "--image=krops.dev/demo", "--labels=app=web")
	n.do("run", "caller", "--image=krops.dev/demo")
	n.await("web", notReady)
	n.await("caller", notReady)
	service, err := n.client.CoreV1().Services(n.name).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ip := n.pod("web").Status.PodIP
	for _, url := range []string{
		"http://web", "http://web." + n.name, "http://web." + n.name + ".svc", "http://web." + n.name + ".svc.cluster.local",
		"http://" + service.Spec.ClusterIP, "http://headless:8080", "http://" + ip + ":8080",
	} {
		eventually(t, func(context.Context) error {
			got, err := n.ask("caller", "/fetch?url="+url)
			if err == nil && got != "Hello from web" {
				err = fmt.Errorf("it says %q", got)
			}
			if err != nil {
				err = fmt.Errorf("%s from a pod: %w", url, err)
			}
			return err
		})
	}
	for url, want := range map[string]string{
		"http://lonely":                    "has no ready pod",
		"http://absent." + n.name + ".svc": "not found",
		"http://web:81":                    "has no port 81",
	} {
		if got, err := n.ask("caller", "/fetch?url="+url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s from a pod: got %q, %v, want an error that says %q", url, got, err, want)
		}
	}
	// Through the API server, as kubectl and dashboards do.
	eventually(t, func(ctx context.Context) error {
		text, err := n.client.CoreV1().Services(n.name).ProxyGet("http", "web", "http", "/", nil).DoRaw(ctx)
		if err == nil && strings.TrimSpace(string(text)) != "Hello from web" {
			err = fmt.Errorf("it says %q", text)
		}
		return err
	})
}

func TestLogs(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "web", "--image=krops.dev/demo", "--", "--fail-after=4s")
	n.await("web", notReady)
	if out := n.do("logs", "web"); !strings.Contains(out, "begins with --fail-after=4s\ndemo serves port 8080\n") {
		t.Errorf("the log is %q", out)
	}
	if out := n.do("logs", "web", "--tail=1"); out != "demo serves port 8080\n" {
		t.Errorf("the log's last line is %q", out)
	}
	if out := n.do("logs", "web", "--since-time=2999-01-01T00:00:00Z"); out != "" {
		t.Errorf("the log of the far future is %q", out)
	}
	if out := n.do("logs", "web", "--since=1h", "--timestamps"); !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\S+Z demo serves port 8080$`).MatchString(out) {
		t.Errorf("the log with times is %q", out)
	}
	if _, err := n.try("logs", "web", "-p"); err == nil || !strings.Contains(err.Error(), "previous terminated container") {
		t.Errorf("the log of a former life that was not: %v", err)
	}
	// Followed, it shows what comes and ends with the container.
	if out := n.do("logs", "-f", "web"); !strings.Contains(out, "demo was told to fail after 4s") {
		t.Errorf("the followed log is %q", out)
	}
	eventually(t, func(context.Context) error {
		out, err := n.try("logs", "web", "-p")
		if err == nil && !strings.Contains(out, "demo was told to fail after 4s") {
			err = fmt.Errorf("the log of the former life is %q", out)
		}
		return err
	})
}

func TestExec(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "web", "--image=krops.dev/demo")
	n.do("run", "simulated", "--image=nginx")
	n.await("web", notReady)
	n.await("simulated", notReady)
	if out := n.do("exec", "web", "--", "greet"); out != "Hello\n" {
		t.Errorf("greet says %q", out)
	}
	cat := n.kubectlCommand("exec", "-i", "-n", n.name, "web", "--", "cat")
	cat.Stdin = strings.NewReader("to and fro")
	if out, err := output(cat); err != nil || out != "to and fro" {
		t.Errorf("cat says %q, %v", out, err)
	}
	if _, err := n.try("exec", "web", "--", "sh"); exitCode(err) != 1 || !strings.Contains(err.Error(), "demo knows the commands") {
		t.Errorf("a command that the program does not know: %v", err)
	}
	if _, err := n.try("exec", "simulated", "--", "sh"); exitCode(err) != 126 || !strings.Contains(err.Error(), "no program stands for its image") {
		t.Errorf("a command in a simulated container: %v", err)
	}
}

func TestPortForward(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "web", "--image=krops.dev/demo")
	n.await("web", notReady)
	cmd := n.kubectlCommand("port-forward", "-n", n.name, "pod/web", ":8080")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
	if address == "" {
		t.Fatalf("kubectl port-forward says %q", line)
	}
	for range 2 {
		resp, err := http.Get("http://" + address + "/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(text) != "Hello from web\n" {
			t.Errorf("through the forwarded port: %q, %v", text, err)
		}
	}
}
