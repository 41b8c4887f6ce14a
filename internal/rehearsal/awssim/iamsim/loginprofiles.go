package iamsim

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const minPassword = 8

// loginProfile is a password for the console. Nobody logs in, so the password
// itself is not kept.
type loginProfile struct {
	CreatedAt   time.Time
	MustBeReset bool
}

func (s *Service) loginProfileOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateLoginProfile", s.createLoginProfile, "UserName", "Password", "PasswordResetRequired"),
		service.Read("GetLoginProfile", s.getLoginProfile, "UserName"),
		service.Write("DeleteLoginProfile", s.deleteLoginProfile, "UserName"),
		service.Read("ListMFADevices", s.listMFADevices, "UserName", "Marker", "MaxItems"),
		service.Read("ListVirtualMFADevices", s.listVirtualMFADevices, "AssignmentStatus", "Marker", "MaxItems"),
		service.Read("ListSSHPublicKeys", s.listSSHPublicKeys, "UserName", "Marker", "MaxItems"),
		service.Read("ListSigningCertificates", s.listSigningCertificates, "UserName", "Marker", "MaxItems"),
		service.Read("ListServiceSpecificCredentials", s.listServiceSpecificCredentials, "UserName", "ServiceName"),
		service.Read("ListAccountAliases", s.listAccountAliases, "Marker", "MaxItems"),
	}
}

func noLoginProfile(u *user) error {
	return noSuchEntity("Login Profile for User %s cannot be found.", u.Name)
}

func (u *user) shownLogin() *types.LoginProfile {
	return &types.LoginProfile{UserName: aws.String(u.Name), CreateDate: aws.Time(u.Login.CreatedAt), PasswordResetRequired: u.Login.MustBeReset}
}

func (s *Service) createLoginProfile(c *service.Call, in *iam.CreateLoginProfileInput) (*iam.CreateLoginProfileOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	if u.Login != nil {
		return nil, alreadyExists("Login Profile for user %s already exists.", u.Name)
	}
	if len(aws.ToString(in.Password)) < minPassword {
		return nil, service.Refuse("PasswordPolicyViolation", "Password should have a minimum length of %d", minPassword)
	}
	u.Login = &loginProfile{CreatedAt: c.World.Now().UTC(), MustBeReset: in.PasswordResetRequired}
	return &iam.CreateLoginProfileOutput{LoginProfile: u.shownLogin()}, nil
}

func (s *Service) getLoginProfile(c *service.Call, in *iam.GetLoginProfileInput) (*iam.GetLoginProfileOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	if u.Login == nil {
		return nil, noLoginProfile(u)
	}
	return &iam.GetLoginProfileOutput{LoginProfile: u.shownLogin()}, nil
}

func (s *Service) deleteLoginProfile(c *service.Call, in *iam.DeleteLoginProfileInput) (*iam.DeleteLoginProfileOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err != nil {
		return nil, err
	}
	if u.Login == nil {
		return nil, noLoginProfile(u)
	}
	u.Login = nil
	return &iam.DeleteLoginProfileOutput{}, nil
}

// What follows are the other credentials a user could have, and none has.
// Whoever removes a user asks for them.

func (s *Service) listMFADevices(c *service.Call, in *iam.ListMFADevicesInput) (*iam.ListMFADevicesOutput, error) {
	_, err := s.userOf(c, in.UserName)
	return &iam.ListMFADevicesOutput{MFADevices: []types.MFADevice{}}, err
}

func (s *Service) listVirtualMFADevices(*service.Call, *iam.ListVirtualMFADevicesInput) (*iam.ListVirtualMFADevicesOutput, error) {
	return &iam.ListVirtualMFADevicesOutput{VirtualMFADevices: []types.VirtualMFADevice{}}, nil
}

func (s *Service) listSSHPublicKeys(c *service.Call, in *iam.ListSSHPublicKeysInput) (*iam.ListSSHPublicKeysOutput, error) {
	_, err := s.userOf(c, in.UserName)
	return &iam.ListSSHPublicKeysOutput{SSHPublicKeys: []types.SSHPublicKeyMetadata{}}, err
}

func (s *Service) listSigningCertificates(c *service.Call, in *iam.ListSigningCertificatesInput) (*iam.ListSigningCertificatesOutput, error) {
	_, err := s.userOf(c, in.UserName)
	return &iam.ListSigningCertificatesOutput{Certificates: []types.SigningCertificate{}}, err
}

func (s *Service) listServiceSpecificCredentials(c *service.Call, in *iam.ListServiceSpecificCredentialsInput) (*iam.ListServiceSpecificCredentialsOutput, error) {
	_, err := s.userOf(c, in.UserName)
	return &iam.ListServiceSpecificCredentialsOutput{ServiceSpecificCredentials: []types.ServiceSpecificCredentialMetadata{}}, err
}

func (s *Service) listAccountAliases(*service.Call, *iam.ListAccountAliasesInput) (*iam.ListAccountAliasesOutput, error) {
	return &iam.ListAccountAliasesOutput{AccountAliases: []string{}}, nil
}
