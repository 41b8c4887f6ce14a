package ekssim_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

func addonInput() *eks.CreateAddonInput {
	return &eks.CreateAddonInput{
		ClusterName: aws.String("c1"), AddonName: aws.String("vpc-cni"), AddonVersion: aws.String("v1.21.1-eksbuild.3"),
		ResolveConflicts: types.ResolveConflictsOverwrite, Tags: map[string]string{"kubernetes.io/cluster/c1": "owned"},
	}
}

func (e *env) addon() (*types.Addon, error) {
	e.t.Helper()
	out, err := call[eks.DescribeAddonOutput](e, e.eks, "DescribeAddon", &eks.DescribeAddonInput{ClusterName: aws.String("c1"), AddonName: aws.String("vpc-cni")})
	if err != nil {
		return nil, err
	}
	return out.Addon, nil
}

func (e *env) addons() []string {
	e.t.Helper()
	return must[eks.ListAddonsOutput](e, e.eks, "ListAddons", &eks.ListAddonsInput{ClusterName: aws.String("c1")}).Addons
}

func TestAddonLife(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	if got := e.addons(); len(got) != 0 {
		t.Fatalf("a new cluster has the add-ons %v, which clients would delete", got)
	}
	created := must[eks.CreateAddonOutput](e, e.eks, "CreateAddon", addonInput()).Addon
	if created.Status != types.AddonStatusCreating {
		t.Fatalf("right after creation: %s", created.Status)
	}
	a, err := e.addon() // no waiter, and held all the same
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != types.AddonStatusActive || a.CreatedAt == nil || a.ModifiedAt == nil || a.Health == nil || a.ConfigurationValues != nil {
		t.Errorf("it is %+v", a)
	}

	u := must[eks.UpdateAddonOutput](e, e.eks, "UpdateAddon", &eks.UpdateAddonInput{
		ClusterName: aws.String("c1"), AddonName: aws.String("vpc-cni"), AddonVersion: aws.String("v1.22.3-eksbuild.1"),
		ConfigurationValues: aws.String(`{"env":{}}`),
	}).Update
	_, err = call[eks.DeleteAddonOutput](e, e.eks, "DeleteAddon", &eks.DeleteAddonInput{ClusterName: aws.String("c1"), AddonName: aws.String("vpc-cni")})
	refused(t, err, "ResourceInUseException")
	if a, err = e.addon(); err != nil || a.Status != types.AddonStatusActive || *a.AddonVersion != "v1.22.3-eksbuild.1" || *a.ConfigurationValues != `{"env":{}}` {
		t.Errorf("after the update: %+v, %v", a, err)
	}
	done := must[eks.DescribeUpdateOutput](e, e.eks, "DescribeUpdate", &eks.DescribeUpdateInput{Name: aws.String("c1"), AddonName: aws.String("vpc-cni"), UpdateId: u.Id})
	if done.Update.Status != types.UpdateStatusSuccessful {
		t.Errorf("the update is %s", done.Update.Status)
	}

	must[eks.DeleteAddonOutput](e, e.eks, "DeleteAddon", &eks.DeleteAddonInput{ClusterName: aws.String("c1"), AddonName: aws.String("vpc-cni")})
	_, err = e.addon()
	refused(t, err, "ResourceNotFoundException")
	if got := e.addons(); len(got) != 0 {
		t.Errorf("it is still listed: %v", got)
	}
}

func TestCreateAddonRefuses(t *testing.T) {
	for name, change := range map[string]func(*eks.CreateAddonInput){
		"an unknown add-on":  func(in *eks.CreateAddonInput) { in.AddonName = aws.String("none") },
		"an unknown version": func(in *eks.CreateAddonInput) { in.AddonVersion = aws.String("v0") },
		"an incompatible one": func(in *eks.CreateAddonInput) {
			in.AddonName, in.AddonVersion = aws.String("kube-proxy"), aws.String("v1.35.0-eksbuild.2")
		},
		"an unknown role": func(in *eks.CreateAddonInput) {
			in.ServiceAccountRoleArn = aws.String("arn:aws:iam::111122223333:role/none")
		},
		"broken configuration":  func(in *eks.CreateAddonInput) { in.ConfigurationValues = aws.String("{") },
		"an unknown resolution": func(in *eks.CreateAddonInput) { in.ResolveConflicts = "MERGE" },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.createCluster()
			in := addonInput()
			change(in)
			_, err := call[eks.CreateAddonOutput](e, e.eks, "CreateAddon", in)
			refused(t, err, "InvalidParameterException")
		})
	}
}

func TestCreateAddonTwice(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	in := addonInput()
	in.ClientRequestToken = aws.String("t1")
	first := must[eks.CreateAddonOutput](e, e.eks, "CreateAddon", in).Addon
	if again := must[eks.CreateAddonOutput](e, e.eks, "CreateAddon", in).Addon; *again.AddonArn != *first.AddonArn {
		t.Error("the replay made another add-on")
	}
	in.ClientRequestToken = aws.String("t2")
	_, err := call[eks.CreateAddonOutput](e, e.eks, "CreateAddon", in)
	refused(t, err, "ResourceInUseException")
}

func TestEveryVersionHasADefaultOfEveryAddon(t *testing.T) {
	e := newEnv(t)
	for _, minor := range []string{"1.33", "1.34", "1.35", "1.36"} {
		out := must[eks.DescribeAddonVersionsOutput](e, e.eks, "DescribeAddonVersions", &eks.DescribeAddonVersionsInput{KubernetesVersion: aws.String(minor)})
		var names []string
		for _, a := range out.Addons {
			names = append(names, *a.AddonName)
			defaults := 0
			for _, v := range a.AddonVersions {
				if c := v.Compatibilities; len(c) != 1 || *c[0].ClusterVersion != minor {
					t.Errorf("%s %s on %s lists %+v", *a.AddonName, *v.AddonVersion, minor, c)
				} else if c[0].DefaultVersion {
					defaults++
				}
			}
			if defaults != 1 {
				t.Errorf("%s has %d defaults on %s", *a.AddonName, defaults, minor)
			}
		}
		if want := []string{"aws-ebs-csi-driver", "coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"}; !slices.Equal(names, want) {
			t.Errorf("%s offers %v", minor, names)
		}
	}
}
