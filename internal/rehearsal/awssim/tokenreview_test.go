package awssim_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
)

// presign signs GetCallerIdentity for a cluster the way EKS clients do.
func (b *bench) presign(t *testing.T, cred awssim.Credential, cluster string) *v4.PresignedHTTPRequest {
	t.Helper()
	client := sts.NewPresignClient(sts.NewFromConfig(b.config(cred)))
	request, err := client.PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
			if cluster != "" {
				o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("x-k8s-aws-id", cluster))
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return request
}

func encoded(url string) string {
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(url))
}

func (b *bench) review(t *testing.T, cluster, token string) authenticationv1.TokenReview {
	t.Helper()
	body, err := json.Marshal(authenticationv1.TokenReview{
		TypeMeta: metav1.TypeMeta{Kind: "TokenReview", APIVersion: "authentication.k8s.io/v1"},
		Spec:     authenticationv1.TokenReviewSpec{Token: token},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	b.server.TokenReviewHandler("eu-central-1", cluster).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)))
	if answer.Code != http.StatusOK {
		t.Fatalf("got %d: %s", answer.Code, answer.Body)
	}
	if len(token) > 20 && strings.Contains(answer.Body.String(), token) {
		t.Errorf("the answer holds the token")
	}
	var review authenticationv1.TokenReview
	if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil {
		t.Fatal(err)
	}
	return review
}

func TestTokenReview(t *testing.T) {
	other := awssim.Credential{AccessKeyID: "AKIAOTHER", SecretAccessKey: "other", ARN: "arn:aws:iam::111122223333:user/other", UserID: "AIDAOTHER"}
	forger := awssim.Credential{AccessKeyID: admin.AccessKeyID, SecretAccessKey: "guessed"}
	b := newBench(t, awssim.WithCredentials(other))
	b.createCluster(t, "one")
	good := b.presign(t, admin, "one").URL

	t.Run("accepts the cluster's admin", func(t *testing.T) {
		want := authenticationv1.TokenReview{
			TypeMeta: metav1.TypeMeta{Kind: "TokenReview", APIVersion: "authentication.k8s.io/v1"},
			Status: authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
				Username: "admin", Groups: []string{"system:masters"}, UID: "aws-iam-authenticator:111122223333:AIDAADMIN",
				Extra: map[string]authenticationv1.ExtraValue{"accessKeyId": {"AKIAADMIN"}, "arn": {admin.ARN}},
			}},
		}
		if diff := cmp.Diff(want, b.review(t, "one", encoded(good))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	for name, token := range map[string]string{
		"a token of another kind":        "eyJhbGciOiJSUzI1NiJ9.e30.x",
		"what is not base64":             "k8s-aws-v1.%%%",
		"padded base64":                  "k8s-aws-v1." + base64.URLEncoding.EncodeToString([]byte(good+"x")) + "=",
		"what is no URL":                 encoded("http://[::1"),
		"another host":                   encoded(strings.Replace(good, b.url, "http://sts.example.com", 1)),
		"another scheme":                 encoded(strings.Replace(good, "http://", "https://", 1)),
		"another path":                   encoded(strings.Replace(good, "/?", "/x?", 1)),
		"another action":                 encoded(strings.Replace(good, "GetCallerIdentity", "AssumeRole", 1)),
		"an added parameter":             encoded(good + "&X=1"),
		"a repeated parameter":           encoded(good + "&Action=GetCallerIdentity"),
		"a changed signature":            encoded(good[:len(good)-1] + "_"),
		"a wrong secret":                 encoded(b.presign(t, forger, "one").URL),
		"a token for another cluster":    encoded(b.presign(t, admin, "two").URL),
		"a token for no cluster":         encoded(b.presign(t, admin, "").URL),
		"a principal without any access": encoded(b.presign(t, other, "one").URL),
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			got := b.review(t, "one", token)
			if got.Status.Authenticated || got.Status.User.Username != "" || got.Status.Error == "" {
				t.Errorf("got %+v", got.Status)
			}
		})
	}
	t.Run("refuses the admin at a cluster that does not know him", func(t *testing.T) {
		if got := b.review(t, "two", encoded(b.presign(t, admin, "two").URL)); got.Status.Authenticated {
			t.Errorf("got %+v", got.Status)
		}
	})
	t.Run("refuses what is no review", func(t *testing.T) {
		for _, body := range []string{"", "{}", `{"kind":"Pod"}`} {
			answer := httptest.NewRecorder()
			b.server.TokenReviewHandler("eu-central-1", "one").ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
			if answer.Code != http.StatusBadRequest {
				t.Errorf("%q: got %d", body, answer.Code)
			}
		}
	})
	t.Run("refuses all after Close", func(t *testing.T) {
		closed := newBench(t)
		closed.createCluster(t, "one")
		closed.close(t)
		if got := closed.review(t, "one", encoded(closed.presign(t, admin, "one").URL)); got.Status.Authenticated {
			t.Errorf("got %+v", got.Status)
		}
	})
}

func TestATokenLivesAQuarterOfAnHour(t *testing.T) {
	signed := time.Now()
	clock := testingclock.NewFakePassiveClock(signed)
	b := newBench(t, awssim.WithSignatureClock(clock))
	b.createCluster(t, "one")
	token := encoded(b.presign(t, admin, "one").URL)
	for age, want := range map[time.Duration]bool{14 * time.Minute: true, 16 * time.Minute: false} {
		clock.SetTime(signed.Add(age))
		if got := b.review(t, "one", token); got.Status.Authenticated != want {
			t.Errorf("at %s: got %+v", age, got.Status)
		}
	}
}

func TestAPresignedIdentityCallReachesSTS(t *testing.T) {
	b := newBench(t)
	for cluster, want := range map[string]int{"one": http.StatusOK, "two": http.StatusForbidden} {
		signed := b.presign(t, admin, "one")
		request, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("x-k8s-aws-id", cluster)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != want {
			t.Errorf("with the header of cluster %s: got %s: %s", cluster, response.Status, body)
		}
		if found := strings.Contains(string(body), "<Arn>"+admin.ARN+"</Arn>"); found != (want == http.StatusOK) {
			t.Errorf("with the header of cluster %s: got %s", cluster, body)
		}
	}
}
