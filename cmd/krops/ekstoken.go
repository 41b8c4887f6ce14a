package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1"

	"github.com/krops-go/krops/internal/aws/ekscluster"
	"github.com/krops-go/krops/internal/aws/session"
)

type eksTokenOptions struct {
	cluster, region             string
	endpointURL, credentialFile string
}

func newEKSTokenCommand() *cobra.Command {
	var o eksTokenOptions
	command := &cobra.Command{
		Use:    "eks-token",
		Short:  "Print a token for an EKS cluster (called by kubectl through the kubeconfig)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEKSToken(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	f := command.Flags()
	f.StringVar(&o.cluster, "cluster", "", "name of the EKS cluster")
	f.StringVar(&o.region, "region", "", "region of the EKS cluster")
	f.StringVar(&o.endpointURL, "endpoint-url", "", "URL that stands for AWS, instead of AWS's own")
	f.StringVar(&o.credentialFile, "credentials-file", "", "AWS credentials file, instead of the ambient credentials")
	for _, name := range []string{"cluster", "region"} {
		// It fails only for a flag that does not exist.
		_ = command.MarkFlagRequired(name)
	}
	return command
}

func runEKSToken(ctx context.Context, o eksTokenOptions, out io.Writer) error {
	cfg, err := session.Config(ctx, o.region, session.Settings{EndpointURL: o.endpointURL, SharedCredentialsFile: o.credentialFile})
	if err != nil {
		return err
	}
	token, err := ekscluster.NewToken(ctx, cfg, o.cluster)
	if err != nil {
		return err
	}
	expires := metav1.NewTime(token.Expires)
	return json.NewEncoder(out).Encode(clientauthentication.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthentication.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status:   &clientauthentication.ExecCredentialStatus{Token: token.Value, ExpirationTimestamp: &expires},
	})
}
