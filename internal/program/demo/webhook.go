package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const longestGreeting = 40

// validate is a webhook that lets in a ConfigMap only with a greeting that is
// fit to be said.
func (d *demo) validate(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	var cm corev1.ConfigMap
	err := json.NewDecoder(r.Body).Decode(&review)
	if err == nil && review.Request == nil {
		err = fmt.Errorf("the review has no request")
	}
	if err == nil {
		err = json.Unmarshal(review.Request.Object.Raw, &cm)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if fault := unfit(cm.Data["greeting"]); fault != "" {
		review.Response.Allowed = false
		review.Response.Result = &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity, Message: fault}
	}
	fmt.Fprintf(d.pod.Log, "reviewed ConfigMap %s/%s: allowed=%t\n", review.Request.Namespace, review.Request.Name, review.Response.Allowed)
	review.Request = nil
	writeJSON(w, review)
}

func unfit(greeting string) string {
	switch {
	case strings.TrimSpace(greeting) == "":
		return "data.greeting is empty: say something"
	case len(greeting) > longestGreeting:
		return fmt.Sprintf("data.greeting has %d bytes, and nobody listens for more than %d", len(greeting), longestGreeting)
	default:
		return ""
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// The client that went away has no use for the error.
	_ = json.NewEncoder(w).Encode(v)
}
